"""Which part of the log a request shows: whole tool chains, within a count and a token budget, moved in big steps."""

from collections.abc import Sequence
from dataclasses import replace

from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import Summary, Tail
from palmclaw.core.session import is_further, projected
from palmclaw.core.text import tokens
from palmclaw.core.values import dataclass
from palmclaw.guard.trust import wrapped

LEFT_OUT = "(left out to save room; call again if it is needed)"
TRIMMED = "…(middle left out to save room; call again if it is needed)…"
LIGHT = 20
KEPT_RESULTS = 4
MEDIA = 1_600
"""Tokens of an image, or of a page or two of a document."""
RESERVE = 20_000
"""Tokens of a model's window, at most, that stay free for its answer; a quarter of a small one."""
LEAST = 1_000
LONG_RESULT, END = 4_000, 1_500
"""Characters of a result that is trimmed when the provider's cache has gone cold, and of each end that stays."""
KEPT_TURNS = 3


@dataclass(frozen=True, slots=True)
class Space:
    """How much of a log a request may show: messages and, estimated, tokens."""

    messages: int
    tokens: int


def reserve(window: int) -> int:
    """Tokens of a model's window that stay free for the answer."""
    return min(RESERVE, window // 4)


def space(limits: Limits, window: int = 0, fixed: int = 0) -> Space:
    """What is left for history in a model's window (0: nobody knows) beside the `fixed` tokens before it."""
    room = limits.context_tokens
    if window > 0:
        room = min(room, window - reserve(window) - fixed)
    return Space(limits.context_messages, max(room, LEAST))


def since(tail: Tail, summary: Summary) -> tuple[Message, ...]:
    """The messages that no summary stands for; never less than the newest turn."""
    newest = _newest_turn(tail.messages)
    start = min(max(0, summary.upto - tail.start), newest)
    return tuple(tail.messages[start:])


def is_crowded(messages: Sequence[Message], room: Space) -> bool:
    """Whether there is more than a request may show."""
    return sum(map(_counts, messages)) > room.messages or heavy(messages) > room.tokens


def cut(messages: Sequence[Message], room: Space) -> int:
    """Where the kept part begins when room is made: at the beginning of a turn, so that no tool chain is split.

    Half of the space is free afterwards, so that many requests in a row begin with the same bytes and the provider's
    cache holds. 0: nothing but the newest turn is there.
    """
    newest, count, weighed = _newest_turn(messages), 0, 0
    at = len(messages)
    for place in range(len(messages) - 1, -1, -1):
        count, weighed = count + _counts(messages[place]), weighed + weight(messages[place])
        if place < newest and (count > room.messages // 2 or weighed > room.tokens // 2):
            break
        if place <= newest and _begins_turn(messages[place]):
            at = place
    return min(at, newest)


def shown(messages: Sequence[Message], summary: Summary, room: Space, start: int = 0) -> tuple[Message, ...]:
    """What a model is sent; `start` is the position of the first message in the log."""
    return (*earlier(summary), *_lightened(projected(trimmed(messages, summary, start)), room.tokens))


def trimmed(messages: Sequence[Message], summary: Summary, start: int) -> list[Message]:
    """The messages from that position on, the long results of old ones by their beginning and end."""
    return [_trimmed(m) if start + at < summary.trimmed else m for at, m in enumerate(messages)]


def earlier(summary: Summary) -> tuple[Message, ...]:
    """The summary as a message: fenced as history, so that nobody takes it for a request."""
    if not summary.text:
        return ()
    inner = wrapped(summary.text) if summary.tainted else summary.text
    told = Stamp(f"<earlier>\n{inner}\n</earlier>")
    return (Message(Role.USER, (told,), tainted=summary.tainted, private=summary.private, sender="summary"),)


def cold(messages: Sequence[Message], start: int, summary: Summary, room: Space) -> int:
    """How far results may be trimmed now that no cache holds them: up to the last three turns, where it is worth it."""
    if heavy(messages) * 10 < room.tokens * 3:
        return summary.trimmed
    turns = [at for at, m in enumerate(messages) if _begins_turn(m)]
    upto = turns[-KEPT_TURNS] if len(turns) >= KEPT_TURNS else 0
    worth = any(_trimmed(m) is not m for at, m in enumerate(messages[:upto]) if start + at >= summary.trimmed)
    return start + upto if worth else summary.trimmed


def heavy(messages: Sequence[Message]) -> int:
    """About how many tokens messages cost together."""
    return sum(weight(m) for m in messages)


def weight(message: Message) -> int:
    """About how many tokens a message costs; a note is never sent."""
    if not _counts(message):
        return 0
    return 4 + sum(MEDIA if isinstance(part, Media) else tokens(_words(part)) for part in message.parts)


def _lightened(messages: tuple[Message, ...], budget: int) -> tuple[Message, ...]:
    """Over the budget within one turn: its older results give way to a word, several at a time, the newest last."""
    over = heavy(messages) - budget
    if over <= 0:
        return messages
    step = max(1, budget // 4)
    wanted = -(-over // step) * step  # more than needed, so that the next rounds begin with the same bytes
    light = list(messages)
    for at in [at for at, m in enumerate(messages) if m.results and weight(m) > 2 * LIGHT][:-KEPT_RESULTS]:
        if wanted <= 0:
            break
        light[at] = _light(messages[at])
        wanted -= weight(messages[at]) - weight(light[at])
    return tuple(light)


def _light(message: Message) -> Message:
    parts = tuple(replace(r, content=LEFT_OUT) for r in message.results)
    return replace(message, parts=parts)


def _trimmed(message: Message) -> Message:
    """Long results by their beginning and end."""
    if not any(len(r.content) > LONG_RESULT for r in message.results):
        return message
    parts = tuple(replace(r, content=_ends(r.content)) for r in message.results)
    return replace(message, parts=parts)


def _ends(text: str) -> str:
    return f"{text[:END]}\n{TRIMMED}\n{text[-END:]}" if len(text) > LONG_RESULT else text


def _words(part: Text | Stamp | Reasoning | ToolCall | ToolResult) -> str:
    if isinstance(part, ToolCall):
        return repr(part.arguments)
    return part.content if isinstance(part, ToolResult) else part.text


def _counts(message: Message) -> bool:
    return message.role is not Role.NOTE


def _begins_turn(message: Message) -> bool:
    return message.role is Role.USER and not is_further(message)


def _newest_turn(messages: Sequence[Message]) -> int:
    found = [at for at, m in enumerate(messages) if _begins_turn(m)]
    return found[-1] if found else 0
