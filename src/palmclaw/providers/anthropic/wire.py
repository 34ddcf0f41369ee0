"""Our request in the words of Anthropic's Messages. Pure, and the same bytes for the same request.

What does not change comes first and the messages last, so that each body begins as the one before it did. A thought
goes back to the model that had it exactly as it came, in its place among the blocks, or not at all.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from palmclaw.core.messages import Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool
from palmclaw.core.values import dataclass
from palmclaw.core.wire import DOCUMENTS, IMAGES, attached, filled, safe_name, signed, wire_id, worded
from palmclaw.net.ceilings import least

PROTOCOL = "anthropic"
REDACTED = "redacted:"
"""Begins the signature of a thought whose text the service keeps to itself."""
UNKNOWN_CEILING = 32_000
"""The most tokens of an answer of a model that nobody knows."""
BEFORE = "(What was said before this is left out.)"
GO_ON = "(Go on.)"
LEAST_THINKING = 1_024
ROOM_TO_ANSWER = 1_024
LOOKBACK = 18
"""Blocks after which a mark of the last request is too far back to be found; the service looks at 20."""

Block = dict[str, Any]
_ID = re.compile(r"[a-zA-Z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Terms:
    """How one model of one service wants to be asked.

    `max_tokens`: the most that it says at once; `thinking`: a budget, which an `adaptive` model sets itself;
    `refused` are the signatures that the service will not take back.
    """

    max_tokens: int = UNKNOWN_CEILING
    thinking: int = 0
    adaptive: bool = False
    cache: bool = True
    refused: frozenset[str] = frozenset()


def to_wire(request: Request, terms: Terms = Terms()) -> dict[str, Any]:
    """The body of the request; tools keep their order, and what has nothing to say is left out."""
    bound = bounded(request, terms)
    tools = [_tool(t) for t in request.tools]
    system = [_text(request.system)] if request.system.strip() else []
    turns = _turns(request, terms)
    if terms.cache:
        tools, system, turns = _marked(tools), _marked(system), _remembered(turns)
    return {
        "model": request.model,
        "max_tokens": bound,
        "stream": True,
        **_thinking(terms, bound, turns),
        **({"tools": tools} if tools else {}),
        **({"system": system} if system else {}),
        "messages": turns,
    }


def bounded(request: Request, terms: Terms) -> int:
    """The most tokens that the answer may have."""
    return least(terms.max_tokens, request.max_output)


def _thinking(terms: Terms, bound: int, turns: list[Block]) -> dict[str, Any]:
    """What is asked for in thoughts. A budget needs room, and a chain of calls that began with a thought."""
    if not terms.thinking:
        return {}
    if terms.adaptive:
        return {"thinking": {"type": "adaptive", "display": "summarized"}}
    budget = min(terms.thinking, bound - ROOM_TO_ANSWER)
    if budget < LEAST_THINKING or not _began_with_a_thought(turns):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _began_with_a_thought(turns: list[Block]) -> bool:
    """False within a chain of calls that was begun without a thought, perhaps by another model."""
    at = len(turns) - 1
    while at > 1 and turns[at]["content"][0]["type"] == "tool_result":
        at -= 2
    return at == len(turns) - 1 or turns[at + 1]["content"][0]["type"] in ("thinking", "redacted_thinking")


def _turns(request: Request, terms: Terms) -> list[Block]:
    """The messages as turns of user and assistant by turns; the first and the last are always the user's."""
    turns: list[Block] = []
    for role, blocks in _said(request, terms):
        if not turns and role == "assistant":
            turns.append({"role": "user", "content": [_text(BEFORE)]})
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    if not turns or turns[-1]["role"] == "assistant":
        turns.append({"role": "user", "content": [_text(GO_ON)]})  # newer models refuse to continue a text
    return turns


def _said(request: Request, terms: Terms) -> Iterator[tuple[str, list[Block]]]:
    """Each message that says something, in blocks."""
    for message in request.messages:
        if message.role is Role.ASSISTANT:
            blocks = _answered(message, request.model, terms.refused)
        elif message.role is Role.USER:
            blocks = _asked(message, request.media)
        else:
            blocks = [_result(r) for r in message.results] if message.role is Role.TOOL else []
        if blocks:
            yield "assistant" if message.role is Role.ASSISTANT else "user", blocks


def _answered(message: Message, model: str, refused: frozenset[str]) -> list[Block]:
    """Nothing where only thoughts are left."""
    blocks = [b for p in message.parts if (b := _block(p, message.model == model, refused)) is not None]
    return blocks if any(b["type"] in ("text", "tool_use") for b in blocks) else []


def _block(part: Part, own: bool, refused: frozenset[str]) -> Block | None:
    if isinstance(part, Text) and part.text.strip():
        return _text(part.text)
    if isinstance(part, ToolCall):
        arguments = {} if part.flaw else part.arguments
        return {"type": "tool_use", "id": wire_id(part.id, _ID), "name": safe_name(part.name), "input": arguments}
    signature = signed(part.signature, PROTOCOL) if isinstance(part, Reasoning) and own else ""
    if not isinstance(part, Reasoning) or not signature or signature in refused:
        return None
    if signature.startswith(REDACTED):
        return {"type": "redacted_thinking", "data": signature.removeprefix(REDACTED)}
    return {"type": "thinking", "thinking": part.text, "signature": signature}


def _result(result: ToolResult) -> Block:
    block = {"type": "tool_result", "tool_use_id": wire_id(result.call_id, _ID), "content": filled(result)}
    return {**block, "is_error": True} if result.error else block


def _asked(message: Message, media: Mapping[str, bytes]) -> list[Block]:
    """What is to be seen first, then the words."""
    seen = attached(message, media)
    words = worded(message, seen)
    return [*(_seen(p, media[p.id]) for p in seen), *([_text(words)] if words else [])]


def _seen(media: Media, content: bytes) -> Block:
    source = {"type": "base64", "media_type": media.mime, "data": b64encode(content).decode()}
    if media.mime in IMAGES:
        return {"type": "image", "source": source}
    assert media.mime in DOCUMENTS
    return {"type": "document", "source": source, **({"title": media.name} if media.name else {})}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _remembered(turns: list[Block]) -> list[Block]:
    """The newest turn marked; the one that the last request ended with too, where that is far back."""
    places = [len(turns) - 1]
    if len(turns) > 2 and len(turns[-1]["content"]) + len(turns[-2]["content"]) > LOOKBACK:
        places.append(len(turns) - 3)
    return [{**t, "content": _marked(t["content"])} if at in places else t for at, t in enumerate(turns)]


def _marked(blocks: list[Block]) -> list[Block]:
    """The blocks, of which the service is to remember everything up to the last one."""
    return [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}] if blocks else []


@lru_cache(maxsize=512)
def _tool(tool: Tool) -> Block:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
