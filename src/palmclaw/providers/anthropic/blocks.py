"""The blocks of an answer while they are being said: text, thoughts, calls."""

import json
from dataclasses import dataclass, field
from typing import Any

from palmclaw.core.answers import Voice, free_id
from palmclaw.core.arguments import json_value, read_arguments
from palmclaw.core.messages import Reasoning, Text, ToolCall
from palmclaw.core.wire import sealed
from palmclaw.providers.anthropic.wire import PROTOCOL, REDACTED


@dataclass(slots=True)
class Words:
    """A block of text."""

    voice: Voice = field(default_factory=Voice)

    def part(self) -> Text | None:
        """The text, unless it is blank."""
        return Text(self.voice.all) if self.voice.all.strip() else None


@dataclass(slots=True)
class Thought:
    """A block of thinking; `data` is one that the service keeps to itself."""

    voice: Voice = field(default_factory=Voice)
    signature: str = ""
    data: str = ""

    def part(self) -> Reasoning | None:
        """The thought, kept also where only its signature can be seen."""
        seal = sealed(f"{REDACTED}{self.data}" if self.data else self.signature, PROTOCOL)
        return Reasoning(self.voice.all, seal) if seal or self.voice.all.strip() else None


@dataclass(slots=True)
class Call:
    """A block of tool use; its arguments come in pieces, or `given` whole at its beginning."""

    id: str = ""
    name: str = ""
    given: Any = None
    pieces: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def text(self) -> str:
        """The arguments as far as they have been said."""
        return "".join(self.pieces) if self.size else json.dumps(self.given) if self.given else ""

    def add(self, piece: str, limit: int) -> None:
        """Text beyond the limit is not kept."""
        if piece and self.size <= limit:
            self.pieces.append(piece[: limit + 1])
            self.size += len(piece)

    def part(self, used: set[str], limit: int, *, cut: bool) -> ToolCall:
        """The call under an id of its own; where the answer was `cut` in it, it may be incomplete."""
        arguments, flaw, raw = read_arguments(self.text, limit)
        if cut and not flaw and not isinstance(json_value(self.text), dict):
            flaw = "truncated"
        return ToolCall(free_id(self.id, used), self.name or "unnamed", arguments, flaw, raw)


Block = Words | Thought | Call
