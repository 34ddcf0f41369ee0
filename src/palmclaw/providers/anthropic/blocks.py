"""The blocks of an answer while they are being said: text, thoughts, calls."""

import json
from dataclasses import field
from typing import Any

from palmclaw.core.answers import Pieces, Voice
from palmclaw.core.messages import Reasoning, Text
from palmclaw.core.values import dataclass
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
    pieces: Pieces = field(default_factory=Pieces)

    @property
    def text(self) -> str:
        """The arguments as far as they have been said."""
        return self.pieces.text or (json.dumps(self.given) if self.given else "")


Block = Words | Thought | Call
