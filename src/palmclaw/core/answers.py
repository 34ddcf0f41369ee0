"""What every decoder of a streamed answer needs, whatever the protocol: text in pieces, free ids, honest counts."""

from dataclasses import replace
from typing import Any

from palmclaw.core.messages import Reasoning, Text
from palmclaw.core.ports import Reply
from palmclaw.core.text import whole


class Voice:
    """Text that arrives in pieces, perhaps cut inside a character."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._half = ""

    def add(self, piece: str) -> str:
        """What of it may be shown now."""
        piece, self._half = self._half + piece, ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        piece = whole(piece)
        if piece:
            self._pieces.append(piece)
        return piece

    @property
    def all(self) -> str:
        """Everything said so far."""
        return "".join(self._pieces) + whole(self._half)

    def part(self, kind: type[Text] | type[Reasoning]) -> tuple[Text | Reasoning, ...]:
        """It as a part of a message, unless there is nothing but blanks in it."""
        return (kind(self.all),) if self.all.strip() else ()


def free_id(call_id: str, used: set[str]) -> str:
    """The call's own id, or where it has none or another call has it, the first that is free."""
    if call_id and call_id not in used:
        return call_id
    number = 1
    while f"call_{number}" in used:
        number += 1
    return f"call_{number}"


def count_in(box: Any, key: str) -> int:
    """A count of tokens out of an object on the wire; 0 for what is none."""
    value = box.get(key) if isinstance(box, dict) else None
    return int(value) if isinstance(value, int | float) and 0 <= value < 10**12 else 0


def counted(reply: Reply, sent: int) -> Reply:
    """The reply with an estimate of the `sent` bytes, where the service does not count."""
    return replace(reply, usage=replace(reply.usage, input=sent // 4)) if reply.usage.estimated else reply
