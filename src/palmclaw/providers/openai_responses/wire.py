"""Our request in the words of OpenAI's Responses. Pure, and the same bytes for the same request.

What does not change comes first and the input last, so that each body begins as the one before it did. The service
keeps nothing: a thought goes back, encrypted as it came, to the model that had it, and only before what followed it.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from palmclaw.core.messages import Media, Message, Reasoning, Role, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool
from palmclaw.core.values import dataclass
from palmclaw.core.wire import DOCUMENTS, IMAGES, attached, compact, filled, safe_name, signed, wire_id, worded
from palmclaw.net import ceilings

PROTOCOL = "openai_responses"
_ID = re.compile(r"(?=[\s\S]*\S)[^\ud800-\udfff]{1,64}")

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Terms:
    """How one model of one service wants to be asked.

    `include`: thoughts are asked for in encrypted form; `least` and `most` bound the bounds of an answer that are
    taken; `refused` are the signatures that the service will not take back.
    """

    effort: str = ""
    include: bool = True
    least: int = 0
    most: int = 0
    refused: frozenset[str] = frozenset()


def to_wire(request: Request, terms: Terms = Terms()) -> dict[str, Any]:
    """The body of the request; tools keep their order, and what has nothing to say is left out."""
    bound = bounded(request, terms)
    return {
        "model": request.model,
        **({"instructions": request.system} if request.system.strip() else {}),
        "stream": True,
        "store": False,
        **({"include": ["reasoning.encrypted_content"]} if terms.include else {}),
        **({"reasoning": {"effort": terms.effort}} if terms.effort else {}),
        **({"max_output_tokens": bound} if bound else {}),
        **({"tools": [_tool(t) for t in request.tools]} if request.tools else {}),
        "input": list(_input(request, terms)),
    }


def bounded(request: Request, terms: Terms) -> int:
    """The most tokens that the answer may have; 0: as many as the service likes."""
    return max(terms.least, ceilings.least(request.max_output, terms.most)) if request.max_output > 0 else 0


def _input(request: Request, terms: Terms) -> Iterator[Item]:
    for message in request.messages:
        if message.role is Role.ASSISTANT:
            yield from _answered(message, own=message.model == request.model, refused=terms.refused)
        elif message.role is Role.USER:
            if content := _asked(message, request.media):
                yield {"type": "message", "role": "user", "content": content}
        elif message.role is Role.TOOL:
            yield from (_result(r) for r in message.results)


def _answered(message: Message, *, own: bool, refused: frozenset[str]) -> Iterator[Item]:
    """What the model said, each thought before what followed it; one that nothing follows stays away."""
    thoughts: list[Item] = []
    phase: Item = {}
    for part in message.parts:
        if isinstance(part, Reasoning):
            kept = _kept(part, refused) if own else {}
            if "phase" in kept:
                phase = kept
            elif kept:
                thoughts.append({"type": "reasoning", **kept})
        elif isinstance(part, ToolCall):
            yield from (*thoughts, _call(part))
            thoughts = []
        elif isinstance(part, Text) and part.text.strip():
            yield from (*thoughts, {"type": "message", "role": "assistant", "content": part.text, **phase})
            thoughts, phase = [], {}


def _kept(thought: Reasoning, refused: frozenset[str]) -> Item:
    """What was kept of a thought for the service's own eyes."""
    signature = signed(thought.signature, PROTOCOL)
    found: Item = json.loads(signature) if signature and signature not in refused else {}
    return found


def _call(call: ToolCall) -> Item:
    """A call as the model is shown it again; arguments that could not be read never go back as they came."""
    arguments = "{}" if call.flaw else compact(call.arguments)
    return {
        "type": "function_call",
        "call_id": wire_id(call.id, _ID),
        "name": safe_name(call.name),
        "arguments": arguments,
    }


def _result(result: ToolResult) -> Item:
    return {"type": "function_call_output", "call_id": wire_id(result.call_id, _ID), "output": filled(result)}


def _asked(message: Message, media: Mapping[str, bytes]) -> list[Item]:
    """The words, then what is to be seen."""
    seen = attached(message, media)
    words = worded(message, seen)
    return [*([{"type": "input_text", "text": words}] if words else []), *(_seen(p, media[p.id]) for p in seen)]


def _seen(media: Media, content: bytes) -> Item:
    url = f"data:{media.mime};base64,{b64encode(content).decode()}"
    if media.mime in IMAGES:
        return {"type": "input_image", "detail": "auto", "image_url": url}
    assert media.mime in DOCUMENTS
    return {"type": "input_file", "filename": media.name or "document.pdf", "file_data": url}


@lru_cache(maxsize=512)
def _tool(tool: Tool) -> Item:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.schema,
        "strict": False,
    }
