"""What is remembered across conversations: entries with their sources, changes to them, and the ports of both.

`core/notes` takes MEMORY.md apart, `core/remembering` applies changes to it.
"""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import Literal, Protocol

from palmclaw.core.desks import Found
from palmclaw.core.errors import ToolError
from palmclaw.core.messages import Message
from palmclaw.core.tools import Service
from palmclaw.core.values import dataclass

CAP = 8_000
"""Characters that the file may have, and that a model is shown of it."""


class By(StrEnum):
    """Who wrote an entry: a person into the file, the agent when told to, or the looking through of a conversation."""

    OWNER = "owner"
    AGENT = "agent"
    CONSOLIDATED = "consolidated"


@dataclass(frozen=True, slots=True)
class Source:
    """Where an entry comes from; `day` is ISO 8601."""

    by: By = By.OWNER
    session: str = ""
    day: str = ""

    @property
    def comment(self) -> str:
        """How it stands behind the entry."""
        session = re.sub(r"[\s<>]|--", "_", self.session)[:60]
        return f"<!-- {' '.join(w for w in (self.day, self.by.value, session) if w)} -->"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that is remembered: its number in the file from 1, and the lines it takes there, from 0."""

    number: int
    section: str
    text: str
    source: Source
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Add:
    """Remember something; near-equal words that stand there already are not repeated."""

    text: str
    section: str = ""
    type: Literal["add"] = "add"


@dataclass(frozen=True, slots=True)
class Replace:
    """Put other words in the place of an entry, which is named by its own."""

    old: str
    text: str
    type: Literal["replace"] = "replace"


@dataclass(frozen=True, slots=True)
class Drop:
    """Forget an entry, which is named by its words."""

    old: str
    type: Literal["drop"] = "drop"


Change = Add | Replace | Drop


class How(StrEnum):
    """What became of a change: the last four left the file as it was.

    `kept`: it says that already; `gone`: the entry is not there any more; `refused`: it may not be touched;
    `no_room`: the file is full.
    """

    ADDED = "added"
    REPLACED = "replaced"
    DROPPED = "dropped"
    KEPT = "kept"
    GONE = "gone"
    REFUSED = "refused"
    NO_ROOM = "no_room"


@dataclass(frozen=True, slots=True)
class Done:
    """What became of one change; `text` as the entry now stands, `before` what stood there."""

    change: Change
    how: How
    text: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """The file as it is, and in words what is wrong with it."""

    text: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Sight:
    """What a turn may see: of the memory, and of which conversations (None: of all)."""

    memory: bool = False
    sessions: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a conversation of `total` messages has been looked through, and how often that failed since.

    `failed_at` is how long it was then, `flushed` the last cycle in which it was looked through before a compaction.
    """

    remembered: int = 0
    total: int = 0
    failures: int = 0
    failed_at: int = 0
    flushed: int = -1


class MemoryFull(ToolError):
    """There is no room for more."""

    def __init__(self, size: int, limit: int) -> None:
        text = f"MEMORY.md would have {size:,} characters; it may have {limit:,}. Nothing was changed"
        super().__init__("memory_full", text, hint="Forget or shorten something first: palmclaw memory edit")


class MemoryBroken(ToolError):
    """The file cannot be read or written as it is."""

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__("memory_broken", problem, hint=hint)


class Memory(Protocol):
    """The one file of all conversations. Raises StorageError where the database refuses."""

    async def read(self) -> Kept:
        """The file as it is now; costs nothing while it has not changed. Never fails for what is in it."""
        ...

    async def change(self, changes: Sequence[Change], source: Source) -> tuple[Done, ...]:
        """Apply changes to the file as it is now. Raises MemoryFull, MemoryBroken."""
        ...


class Recall(Protocol):
    """What was said in earlier conversations."""

    async def sight(self, session: str, turn: str) -> Sight:
        """What this turn may see."""
        ...

    async def recall(self, words: str, sessions: Collection[str] | None = None, limit: int = 10) -> tuple[Found, ...]:
        """Messages of these sessions (None: of all) that hold all the words, or else most of them (`near`).

        Raises BadArguments where there are no words.
        """
        ...


class Consolidated(Protocol):
    """Where the looking through of conversations is kept. Raises StorageError."""

    async def progress(self, session: str) -> Progress: ...

    async def stretch(self, session: str, start: int, end: int) -> tuple[tuple[int, Message], ...]:
        """The messages at these positions, `end` not included."""
        ...

    async def keep(
        self, session: str, upto: int, changes: Sequence[Change], cycle: int | None = None
    ) -> tuple[Done, ...]:
        """All before `upto` has been looked through, and this came of it: one commit. Raises MemoryBroken."""
        ...

    async def failed(self, session: str, why: str, cycle: int | None = None) -> int:
        """Count a failure; returns how many in a row there are."""
        ...


MEMORY: Service[Memory] = Service("memory")
RECALL: Service[Recall] = Service("recall")
