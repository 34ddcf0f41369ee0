"""Outside content and personal data colour the answers made from them, so that a repetition does not wash them clean.

A reply is outside content itself when such content arrived in its own turn, or when it repeats a stretch of any that is
in the window; it is private when personal data arrived in its own turn. It colours nothing for ever: an answer about
something else, in a later turn, is clean (docs/decisions/010), though it is not looked through for the memory.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from palmclaw.core.messages import Message, Role
from palmclaw.core.ports import Request

STRETCH, STEP = 24, 8
_NOISE = re.compile(r"\W+")


def coloured(reply: Message, request: Request) -> Message:
    """The reply with the flags of what it was made from."""
    arrived = tuple(_of_this_turn(request.messages))
    foreign = [m for m in request.messages if m.tainted]
    tainted = any(m.tainted for m in arrived) or (bool(foreign) and _repeats(reply, foreign))
    private = any(m.private for m in arrived)
    return replace(reply, tainted=tainted, private=private, exposed=bool(foreign))


def _of_this_turn(messages: tuple[Message, ...]) -> Iterator[Message]:
    """From the newest user message on."""
    for message in reversed(messages):
        yield message
        if message.role is Role.USER:
            return


def _repeats(reply: Message, foreign: list[Message]) -> bool:
    """Some stretch of letters and digits of the reply stands in the foreign content."""
    known = {text[at : at + STRETCH] for m in foreign for text in _texts(m) for at in range(0, len(text), STEP)}
    said = "".join(_texts(reply))
    return any(said[at : at + STRETCH] in known for at in range(len(said) - STRETCH + 1))


def _texts(message: Message) -> list[str]:
    calls = [repr(c.arguments) for c in message.calls]
    return [_NOISE.sub("", t) for t in (message.text, *calls, *(r.content for r in message.results))]
