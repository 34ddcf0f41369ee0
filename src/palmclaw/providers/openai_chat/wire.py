"""Our request in the words of OpenAI's chat completions. Pure, and the same bytes for the same request."""

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from palmclaw.core.messages import Media, Message, Part, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool

NAME_CHARS = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def to_wire(request: Request) -> dict[str, Any]:
    """The body of the request; tools keep their order, and what has nothing to say is left out."""
    wire: dict[str, Any] = {
        "model": request.model,
        "messages": [*_system(request.system), *(w for m in request.messages for w in _message(m))],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    return wire | {"tools": [_tool(t) for t in request.tools]} if request.tools else wire


def as_bytes(wire: dict[str, Any]) -> bytes:
    """The body as it goes out; half characters that no encoding knows become question marks."""
    return json.dumps(wire, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _system(text: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": text}] if text.strip() else []


def _message(message: Message) -> Iterator[dict[str, Any]]:
    if message.role is Role.TOOL:
        yield from (_result(result) for result in message.results)
    elif message.role is Role.USER:
        content = "\n\n".join(_user_words(message.parts))
        if content:
            yield {"role": "user", "content": content}
    elif message.role is Role.ASSISTANT:
        content = message.text if message.text.strip() else ""
        calls = [_call(call) for call in message.calls]
        if calls:
            yield {"role": "assistant", "content": content or None, "tool_calls": calls}
        elif content:
            yield {"role": "assistant", "content": content}


def _user_words(parts: tuple[Part, ...]) -> Iterator[str]:
    """The text, a line for each attachment, and last the stamp."""
    text = "".join(p.text for p in parts if isinstance(p, Text))
    notes = [f"[attached: {p.name or p.id} ({p.mime})]" for p in parts if isinstance(p, Media)]
    stamps = [p.text for p in parts if isinstance(p, Stamp)]
    return (words for words in (text, *notes, *stamps) if words.strip())


def _result(result: ToolResult) -> dict[str, Any]:
    content = result.content if result.content.strip() else "(nothing)"
    return {"role": "tool", "tool_call_id": result.call_id, "content": content}


def _call(call: ToolCall) -> dict[str, Any]:
    """A call as the model is shown it again; arguments that could not be read never go back as they came."""
    arguments = "{}" if call.flaw else json.dumps(call.arguments, ensure_ascii=False, separators=(",", ":"))
    return {"id": call.id, "type": "function", "function": {"name": _name(call.name), "arguments": arguments}}


def _name(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:NAME_CHARS] or "unnamed"


@lru_cache(maxsize=256)
def _tool(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}
