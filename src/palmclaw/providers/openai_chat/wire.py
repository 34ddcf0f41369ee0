"""Our request in the words of OpenAI's chat completions. Pure, and the same bytes for the same request.

What does not change comes first and the messages last, so that each body begins as the one before it did.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from palmclaw.core.messages import Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool
from palmclaw.core.wire import DOCUMENTS, IMAGES, attached, safe_name, signed, without

PROTOCOL = "openai_chat"


@dataclass(frozen=True, slots=True)
class Dialect:
    """In what one service differs from another; see `OpenAIChatConfig`."""

    system_role: str = "system"
    token_field: str = "max_tokens"
    reasoning_field: str = ""
    schema_without: tuple[str, ...] = ()
    call_ids: str = "any"
    call_signature: str = ""


_UNSIGNED = {"google": {"google": {"thought_signature": "skip_thought_signature_validator"}}}
"""What stands in the place of a signature on a call that another model made."""


def to_wire(request: Request, dialect: Dialect = Dialect()) -> dict[str, Any]:
    """The body of the request; tools keep their order, and what has nothing to say is left out."""
    bound = {dialect.token_field: request.max_output} if request.max_output else {}
    tools = {"tools": [_tool(t, dialect.schema_without) for t in request.tools]} if request.tools else {}
    return {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **bound,
        **tools,
        "messages": [*_system(request.system, dialect), *_Messages(request, dialect).all()],
    }


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
        content = result.content if result.content.strip() else "(nothing)"
        return {"role": "tool", "tool_call_id": self._id(result.call_id), "content": content}

    def _call(self, call: ToolCall, *, own: bool) -> dict[str, Any]:
        """A call as the model is shown it again; arguments that could not be read never go back as they came."""
        arguments = "{}" if call.flaw else json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))
        function = {"name": safe_name(call.name), "arguments": arguments}
        wire: dict[str, Any] = {"id": self._id(call.id), "type": "function", "function": function}
        own_extra = signed(call.signature, PROTOCOL) if own else ""
        extra = json.loads(own_extra) if own_extra else _UNSIGNED.get(self.dialect.call_signature)
        return {**wire, "extra_content": extra} if extra else wire

    def _id(self, call_id: str) -> str:
        """The id as the service wants it; the same for a call and its result."""
        if self.dialect.call_ids == "any" or (len(call_id) == 9 and call_id.isascii() and call_id.isalnum()):
            return call_id
        return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _user_content(message: Message, media: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
    """Plain text where that is all there is: the text, a line for each attachment not shown, and last the stamp."""
    shown = [_seen(p, media[p.id]) for p in attached(message, media)]
    unseen = [p for p in message.parts if isinstance(p, Media) and p not in attached(message, media)]
    text = "".join(p.text for p in message.parts if isinstance(p, Text))
    notes = [f"[attached: {p.name or p.id} ({p.mime})]" for p in unseen]
    stamps = [p.text for p in message.parts if isinstance(p, Stamp)]
    words = "\n\n".join(w for w in (text, *notes, *stamps) if w.strip())
    return [{"type": "text", "text": words}, *shown] if shown else words


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
