"""Which part of the log a request shows: whole tool chains, within a count and a token budget, moved in big steps."""

from collections.abc import Sequence
from dataclasses import replace

from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import Tail
from palmclaw.core.session import chain_start, is_further, projected
from palmclaw.core.text import tokens

LEFT_OUT = "(left out to save room; call again if it is needed)"
LIGHT = 20
KEPT_RESULTS = 4
MEDIA = 1_600
"""Tokens of an image, or of a page or two of a document."""


def shown(tail: Tail, limits: Limits) -> tuple[Message, ...]:
    """The newest messages that fit; the newest turn is always among them, from the message that began it.

    The start moves by half a window at a time, so that many requests in a row begin with the same bytes and the
    provider's cache holds.
    """
    messages = tail.messages
    newest = _newest_turn(messages)
    start = min(newest, chain_start(messages, max(0, _step_start(tail, limits.context_messages) - tail.start)))
    while start < newest and sum(weight(m) for m in messages[start:]) > limits.context_tokens:
        start = _next_turn(messages, start, newest)
    return _lightened(projected(messages[start:]), limits.context_tokens)


def weight(message: Message) -> int:
    """About how many tokens a message costs."""
    return 4 + sum(MEDIA if isinstance(part, Media) else tokens(_words(part)) for part in message.parts)


def _lightened(messages: tuple[Message, ...], budget: int) -> tuple[Message, ...]:
    """Over the budget within one turn: its older results give way to a word, several at a time, the newest last."""
    over = sum(weight(m) for m in messages) - budget
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


def _words(part: Text | Stamp | Reasoning | ToolCall | ToolResult) -> str:
    if isinstance(part, ToolCall):
        return repr(part.arguments)
    return part.content if isinstance(part, ToolResult) else part.text


def _step_start(tail: Tail, limit: int) -> int:
    end, step = tail.start + len(tail.messages), max(1, limit // 2)
    over = end - limit
    return -(-over // step) * step if over > 0 else 0


def _newest_turn(messages: Sequence[Message]) -> int:
    found = [at for at, m in enumerate(messages) if m.role is Role.USER and not is_further(m)]
    return found[-1] if found else 0


def _next_turn(messages: Sequence[Message], start: int, newest: int) -> int:
    """A quarter of what is left further on, at the beginning of a turn."""
    at = start + max(1, (newest - start) // 4)
    while at < newest and messages[at].role is not Role.USER:
        at += 1
    return min(at, newest)
