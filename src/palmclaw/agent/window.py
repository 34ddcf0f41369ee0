"""Which part of the log a request shows: whole tool chains, within a count and a token budget, moved in big steps."""

from collections.abc import Sequence

from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, Role
from palmclaw.core.ports import Tail
from palmclaw.core.session import chain_start, projected
from palmclaw.core.text import tokens


def shown(tail: Tail, limits: Limits) -> tuple[Message, ...]:
    """The newest messages that fit; the newest user message is always among them.

    The start moves by half a window at a time, so that many requests in a row begin with the same bytes and the
    provider's cache holds.
    """
    messages = tail.messages
    start = chain_start(messages, max(0, _step_start(tail, limits.context_messages) - tail.start))
    newest = _newest_turn(messages)
    while start < newest and sum(weight(m) for m in messages[start:]) > limits.context_tokens:
        start = _next_turn(messages, start, newest)
    return projected(messages[start:])


def weight(message: Message) -> int:
    """About how many tokens a message costs."""
    return 4 + sum(tokens(_words(part)) for part in message.parts)


def _words(part: object) -> str:
    for name in ("text", "content", "arguments"):
        if (value := getattr(part, name, None)) is not None:
            return value if isinstance(value, str) else repr(value)
    return ""


def _step_start(tail: Tail, limit: int) -> int:
    end, step = tail.start + len(tail.messages), max(1, limit // 2)
    over = end - limit
    return -(-over // step) * step if over > 0 else 0


def _newest_turn(messages: Sequence[Message]) -> int:
    found = [at for at, m in enumerate(messages) if m.role is Role.USER]
    return found[-1] if found else 0


def _next_turn(messages: Sequence[Message], start: int, newest: int) -> int:
    """A quarter of what is left further on, at the beginning of a turn."""
    at = start + max(1, (newest - start) // 4)
    while at < newest and messages[at].role is not Role.USER:
        at += 1
    return min(at, newest)
