"""What every decoder of an answer needs, whatever the protocol: text and calls in pieces, values of the wire."""

from typing import Any

from palmclaw.core.arguments import json_value, read_arguments
from palmclaw.core.messages import Reasoning, Text, ToolCall
from palmclaw.core.text import whole

MOST = 10**8
"""Who counts more tokens than this in one request has not counted."""


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


class Pieces:
    """A call's arguments in pieces; of endless ones, little more is kept than what shows that they are too long."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

    def add(self, piece: str, limit: int) -> None:
        """Text beyond the limit is not kept."""
        if piece and self._size <= limit:
            self._pieces.append(piece[: limit + 1])
            self._size += len(piece)

    @property
    def text(self) -> str:
        """The arguments as far as they have been said."""
        return "".join(self._pieces)


def read_call(call: ToolCall, text: str, limit: int, *, cut: bool = False) -> ToolCall:
    """The call with the arguments that the text spells; where the answer was `cut` in it, they may be incomplete."""
    arguments, flaw, raw = read_arguments(text, limit)
    if cut and not flaw and not isinstance(json_value(text), dict):
        flaw = "truncated"
    return ToolCall(call.id, call.name or "unnamed", arguments, flaw, raw, signature=call.signature)


def free_id(call_id: str, used: set[str]) -> str:
    """The call's own id, or where it has none or another call has it, the first that is free."""
    if call_id and call_id not in used:
        return call_id
    number = 1
    while f"call_{number}" in used:
        number += 1
    return f"call_{number}"


def count_in(box: Any, key: str) -> int:
    """A count of tokens out of an object on the wire, also one written as text; 0 for what is none."""
    value = box.get(key) if isinstance(box, dict) else None
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    return int(value) if isinstance(value, int | float) and 0 <= value < MOST else 0


def text_in(box: Any, key: str) -> str:
    """A text out of an object on the wire; empty for what is none."""
    value = box.get(key) if isinstance(box, dict) else None
    return value if isinstance(value, str) else ""


def index_in(box: Any, key: str = "index") -> int | None:
    """A place out of an object on the wire; None where it is not said."""
    value = box.get(key) if isinstance(box, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
