"""Our request in the words of OpenAI's chat completions. Pure, and the same bytes for the same request.

What does not change comes first and the messages last, so that each body begins as the one before it did.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from palmclaw.core.messages import Media, Message, Reasoning, Role, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool
from palmclaw.core.values import dataclass
from palmclaw.core.wire import (
    DOCUMENTS,
    IMAGES,
    attached,
    compact,
    filled,
    safe_name,
    signed,
    wire_id,
    without,
    worded,
)
from palmclaw.net.ceilings import least

PROTOCOL = "openai_chat"
TokenField = Literal["max_tokens", "max_completion_tokens"]
_NINE = re.compile(r"[A-Za-z0-9]{9}")
_ANY = re.compile(r"[^\ud800-\udfff]+")


@dataclass(frozen=True, slots=True)
class Dialect:
    """In what one service, or one model of it, differs from another; see `OpenAIChatConfig`."""

    usage: bool = True
    system_role: str = "system"
    token_field: TokenField = "max_tokens"
    ceiling: int = 0
    reasoning_field: str = ""
    schema_without: tuple[str, ...] = ()
    call_ids: str = "any"
    call_signature: str = ""


_UNSIGNED = {"google": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
"""What stands in the place of a signature on a call that another model made."""


def to_wire(request: Request, dialect: Dialect = Dialect()) -> dict[str, Any]:
    """The body of the request; tools keep their order, and what has nothing to say is left out."""
    sent = bounded(request, dialect)
    tools = {"tools": [_tool(t, dialect.schema_without) for t in request.tools]} if request.tools else {}
    return {
        "model": request.model,
        "stream": True,
        **({"stream_options": {"include_usage": True}} if dialect.usage else {}),
        **({dialect.token_field: sent} if sent else {}),
        **tools,
        "messages": [*_system(request.system, dialect), *_Messages(request, dialect).all()],
    }


def bounded(request: Request, dialect: Dialect) -> int:
    """The most tokens that the answer may have; 0: as many as the service likes."""
    return least(request.max_output, dialect.ceiling) if request.max_output > 0 else 0


def other_field(field: TokenField) -> TokenField:
    """The other name of the bound."""
    return "max_completion_tokens" if field == "max_tokens" else "max_tokens"


def _system(text: str, dialect: Dialect) -> list[dict[str, Any]]:
    return [{"role": dialect.system_role, "content": text}] if text.strip() else []


@dataclass(frozen=True, slots=True)
class _Messages:
    request: Request
    dialect: Dialect

    def all(self) -> Iterator[dict[str, Any]]:
        for message in self.request.messages:
            if message.role is Role.TOOL:
                yield from (self._result(result) for result in message.results)
            elif message.role is Role.USER:
                if content := _user_content(message, self.request.media):
                    yield {"role": "user", "content": content}
            elif message.role is Role.ASSISTANT:
                yield from self._assistant(message)

    def _assistant(self, message: Message) -> Iterator[dict[str, Any]]:
        content = message.text if message.text.strip() else ""
        own = message.model == self.request.model
        calls = [self._call(call, own=own) for call in message.calls]
        if not calls and not content:
            return
        wire: dict[str, Any] = {"role": "assistant", "content": content or None}
        thought = "".join(p.text for p in message.parts if isinstance(p, Reasoning)) if own else ""
        if self.dialect.reasoning_field and (thought or calls):
            wire[self.dialect.reasoning_field] = thought or " "  # with calls the field itself is demanded
        yield {**wire, "tool_calls": calls} if calls else wire

    def _result(self, result: ToolResult) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": self._id(result.call_id), "content": filled(result)}

    def _call(self, call: ToolCall, *, own: bool) -> dict[str, Any]:
        """A call as the model is shown it again; arguments that could not be read never go back as they came."""
        arguments = "{}" if call.flaw else compact(call.arguments)
        function = {"name": safe_name(call.name), "arguments": arguments}
        wire: dict[str, Any] = {"id": self._id(call.id), "type": "function", "function": function}
        own_extra = signed(call.signature, PROTOCOL) if own else ""
        extra = json.loads(own_extra) if own_extra else _UNSIGNED.get(self.dialect.call_signature)
        return {**wire, "extra_content": extra} if extra else wire

    def _id(self, call_id: str) -> str:
        """The id as the service wants it; the same for a call and its result."""
        nine = self.dialect.call_ids == "nine"
        return wire_id(call_id, _NINE, "{:.9}") if nine else wire_id(call_id, _ANY)


def _user_content(message: Message, media: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    """Plain text where that is all there is; then what is to be seen."""
    seen = attached(message, media)
    words = worded(message, seen)
    text = [{"type": "text", "text": words}] if words else []
    return [*text, *(_seen(p, media[p.id]) for p in seen)] if seen else words


def _seen(media: Media, content: bytes) -> dict[str, Any]:
    url = f"data:{media.mime};base64,{b64encode(content).decode()}"
    if media.mime in IMAGES:
        return {"type": "image_url", "image_url": {"url": url}}
    assert media.mime in DOCUMENTS
    return {"type": "file", "file": {"filename": media.name or "document.pdf", "file_data": url}}


@lru_cache(maxsize=512)
def _tool(tool: Tool, schema_without: tuple[str, ...] = ()) -> dict[str, Any]:
    schema = without(tool.schema, schema_without) if schema_without else tool.schema
    return {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": schema}}
