"""A failure as the result of a call: the one form in which a model reads it."""

import json
from datetime import datetime

from palmclaw.core.errors import Fault
from palmclaw.core.messages import Message, Role, ToolCall, ToolResult, utc_now


def failed(call: ToolCall, fault: Fault, at: datetime | None = None) -> Message:
    """`{"error": {code, message, retryable, hint}}` without what is empty."""
    error = {"code": fault.code, "message": fault.message, "retryable": fault.retryable, "hint": fault.hint}
    content = json.dumps({"error": {k: v for k, v in error.items() if v}}, ensure_ascii=False, separators=(",", ":"))
    return Message(Role.TOOL, (ToolResult(call.id, call.name, content, fault),), at=at or utc_now())
