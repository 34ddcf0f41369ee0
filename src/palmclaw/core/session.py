"""The session as an append-only log, and the pure projection of it that a model may be sent."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from palmclaw.core.errors import Fault
from palmclaw.core.messages import Message, Part, Reasoning, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.results import failed

INTERRUPTED = Fault("interrupted", "This call was interrupted before it ran; nothing was done.", retryable=True)
SKIPPED = Fault(
    "skipped",
    "Not run: the user said something meanwhile.",
    retryable=True,
    hint="Read it; call again if it still fits.",
)
UNKNOWN = Fault(
    "outcome_unknown",
    "This call was under way when it was interrupted; whether it took effect is unknown.",
    hint="Look at the current state first, and tell the user. Never just repeat it.",
)


JOINED = "said while you were at work"
"""On the stamp of a message that joined a running turn."""
_FURTHER = re.compile(rf"{JOINED}|message (?:[2-9]|\d\d+) of ")


def waited(number: int, of: int) -> str:
    """What stands on the stamp of one of several messages that waited together."""
    return f"message {number} of {of} that waited"


def is_further(message: Message) -> bool:
    """Whether a user message belongs to the same turn as the one before it."""
    first = next((p.text for p in message.parts if isinstance(p, Stamp)), "")
    return _FURTHER.search(first) is not None


def projected(log: Iterable[Message]) -> tuple[Message, ...]:
    """What a model may be sent of a log: each call has exactly one result behind it, and nothing is empty.

    Notes, orphaned and doubled results, blank texts and messages without content are left out; a call without a
    result is closed as unknown; a result that was stored late is put back behind its call.
    """
    kept = [m for m in (_trimmed(m) for m in log if m.role is not Role.NOTE) if m is not None]
    results = _first_results(kept)
    sent: list[Message] = []
    for message in kept:
        if message.role is Role.TOOL:
            continue
        sent.append(message)
        sent += [_answer(call, results, message) for call in message.calls]
    return tuple(sent)


def _trimmed(message: Message) -> Message | None:
    """The message without blank texts and, for a tool role, without anything but results; None when empty."""
    parts = tuple(p for p in message.parts if _says_something(p, message.role))
    if not any(isinstance(p, Text | ToolCall | ToolResult) or _is_media(p) for p in parts):
        return None
    return _with(message, parts)


def _says_something(part: Part, role: Role) -> bool:
    if isinstance(part, Text):
        return role is not Role.TOOL and bool(part.text.strip())
    if isinstance(part, ToolResult):
        return role is Role.TOOL
    if isinstance(part, ToolCall | Reasoning):
        return role is Role.ASSISTANT
    return role is Role.USER if isinstance(part, Stamp) else role is not Role.TOOL


def _is_media(part: Part) -> bool:
    return part.type == "media"


def _with(message: Message, parts: tuple[Part, ...]) -> Message:
    return message if message.parts == parts else replace(message, parts=parts)


def _first_results(log: Sequence[Message]) -> dict[tuple[int, str], Message]:
    """Results by (position of the asking message, call id): the first that follows the call counts."""
    asked: dict[str, int] = {}
    found: dict[tuple[int, str], Message] = {}
    for at, message in enumerate(log):
        for call in message.calls:
            asked[call.id] = at
        for result in message.results:
            if (owner := asked.get(result.call_id)) is not None:
                found.setdefault((owner, result.call_id), _with(message, (result,)))
    return {(id(log[at]), call_id): m for (at, call_id), m in found.items()}


def _answer(call: ToolCall, results: dict[tuple[int, str], Message], owner: Message) -> Message:
    found = results.get((id(owner), call.id))
    return found or failed(call, UNKNOWN, owner.at)  # only the journal could say more


def open_calls(log: Sequence[Message]) -> tuple[ToolCall, ...]:
    """The calls of a log that have no result yet, in the model's order."""
    answered = {r.call_id for m in log for r in m.results}
    return tuple(c for m in log for c in m.calls if c.id not in answered)
