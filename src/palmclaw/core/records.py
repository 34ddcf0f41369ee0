"""What is kept of turns and of messages that wait; each operation is one transaction and raises StorageError."""

from collections.abc import Sequence
from dataclasses import field
from datetime import datetime
from typing import Protocol

from palmclaw.core.errors import StorageError
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import Message, Stamp
from palmclaw.core.ports import Log
from palmclaw.core.traffic import Address, Fate, Inbound, Origin, Outbound, QueueChange, Receipt
from palmclaw.core.values import dataclass


class Superseded(StorageError):
    """The turn is no longer the session's running one: what it still had to say is not kept."""

    code = "superseded"


class Withdrawn(StorageError):
    """The message was taken back before it could be used; `row` is its place in the inbox."""

    code = "withdrawn"

    def __init__(self, row: int) -> None:
        super().__init__(f"message {row} was taken back meanwhile")
        self.row = row


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a turn is begun with: one message or more, and the log entries they become.

    `inbox` are the rows of the messages, `summarized` those that left only a line. `continues` names the turn that a
    crash broke off; then there are no new entries. `known` is the memory that the session has been told of with them;
    None: nothing new.
    """

    turn: str
    inbounds: tuple[Inbound, ...]
    messages: tuple[Message, ...] = ()
    model: str = ""
    inbox: tuple[int, ...] = ()
    summarized: tuple[int, ...] = ()
    continues: str = ""
    known: str | None = None

    @property
    def shared(self) -> bool:
        """Whether anybody but the owner speaks in it or reads along."""
        return any(i.group or i.origin is Origin.OTHER for i in self.inbounds)

    @property
    def last(self) -> Inbound:
        """The message whose settings hold for the turn."""
        return self.inbounds[-1]


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that a crash left open, with the messages it had stored.

    `tried`: it was itself begun to go on with a broken one; `unwanted`: its owner had stopped it. `address` is where
    its answers go, if they go anywhere.
    """

    id: str
    session: str
    messages: tuple[Message, ...]
    tried: bool = False
    unwanted: bool = False
    address: Address | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A turn that a crash broke off and that is still to be gone on with."""

    turn: str
    inbounds: tuple[Inbound, ...]
    inbox: tuple[int, ...] = ()

    @property
    def session(self) -> str:
        return self.inbounds[-1].session


@dataclass(frozen=True, slots=True)
class News:
    """What a model is told beside a new message; `known` as in Beginning."""

    stamps: tuple[Stamp, ...] = ()
    known: str | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What must be known before a turn begins: the session's model, and whether its last turn was stopped.

    `shared`: others have spoken or read along in the session.
    """

    model: str = ""
    stopped: bool = False
    is_open: bool = False
    shared: bool = False


class Resume:
    """What is to become of a broken turn: gone on with, or left for the person; empty for one that came to its end."""

    NO = ""
    DUE = "due"
    DONE = "done"
    PERSON = "person"


class TurnStore(Log, Protocol):
    """Where turns and their messages are kept."""

    async def before(self, session: str) -> Before: ...

    async def begin(self, beginning: Beginning) -> None:
        """Store a turn, its first messages, and the fate of the inbox rows. Raises Withdrawn when one is not there."""
        ...

    async def append(
        self, session: str, turn: str, message: Message, *, inbox: int = 0, posts: Sequence[Outbound] = ()
    ) -> None:
        """Add an entry, with the inbox row that it was and what is to be sent of it.

        Raises Superseded when the turn no longer runs, Withdrawn when the row no longer waits.
        """
        ...

    async def end(self, turn: str, ended: TurnEnded, state: str = "ended", resume: str = Resume.NO) -> None: ...

    async def open_turns(self, session: str = "") -> tuple[OpenTurn, ...]:
        """The turns that no longer run and were never closed, of one session or of all; the oldest first."""
        ...

    async def due(self, session: str = "") -> tuple[Due, ...]:
        """The broken turns that are to be gone on with, the oldest first."""
        ...

    async def choose_model(self, session: str, model: str) -> None: ...

    async def begin_anew(self, session: str) -> None:
        """From now on a model reads nothing of what lies before."""
        ...

    async def delete(self, session: str) -> tuple[int, ...]:
        """Returns the inbox rows that still waited in it."""
        ...


@dataclass(frozen=True, slots=True)
class Stored:
    """A message in the inbox; `is_new` is False for one that had been stored before."""

    receipt: Receipt
    inbound: Inbound
    is_new: bool = True


@dataclass(frozen=True, slots=True)
class SessionState:
    """What a session wants of its queue, and since when messages sent before are void."""

    queue: QueueChange = field(default_factory=QueueChange)
    stopped: datetime | None = None
    parent: str = ""
    charge: str = ""


@dataclass(frozen=True, slots=True)
class Unreported:
    """A sub-agent's turn that has ended and of which its parent has not heard."""

    session: str
    turn: str
    stop: Stop
    error: str = ""


class CrewStore(Protocol):
    """Where sub-agents and the messages that began their parents' turns are kept."""

    async def begin(self, task: Inbound, parent: str, charge: str) -> Stored:
        """Make the session of a sub-agent, with its task in its queue; it uses its parent's model."""
        ...

    async def charged(self, session: str) -> str:
        """The charge of a sub-agent's session; empty for any other session."""
        ...

    async def at_work(self, parent: str) -> int:
        """How many sub-agents of a session are not done."""
        ...

    async def begun(self, turn: str) -> Inbound | None:
        """The message whose settings hold for a turn."""
        ...

    async def unreported(self, parent: str = "") -> tuple[Unreported, ...]: ...


class InboxStore(Protocol):
    """Where messages are kept from the moment they reach us."""

    async def put(self, inbound: Inbound, fate: Fate = Fate.WAITING, reason: str = "") -> Stored:
        """Store a message, once for each `external_id` of its channel."""
        ...

    async def mark(self, inbox: Sequence[int], fate: Fate, reason: str = "") -> tuple[int, ...]:
        """Give waiting messages another fate; returns those of them that did wait."""
        ...

    async def answered(self, receipt: Receipt, command: str, posts: Sequence[Outbound] = ()) -> None:
        """What a message commanded has been done: its fate, and what is to be sent of that, in one."""
        ...

    async def get(self, inbox: int) -> Stored | None: ...

    async def waiting(self, session: str = "") -> tuple[Stored, ...]:
        """What waits in one session or in all, summarized ones included, in the order of arrival."""
        ...

    async def state(self, session: str) -> SessionState: ...

    async def set_queue(self, session: str, change: QueueChange) -> None: ...

    async def stop(self, session: str, sent: datetime | None = None, upto: int = 0) -> tuple[Receipt, ...]:
        """Cancel what waits (up to a row) and every report, in sub-agents' sessions too; returns what was cancelled.

        No broken turn of theirs is gone on with. Of the channel's messages those that were sent before `sent` are void
        from now on.
        """
        ...

    async def home(self) -> Address | None:
        """Where the owner was last heard alone."""
        ...

    async def children(self, session: str) -> tuple[str, ...]:
        """The sessions of its sub-agents, and of theirs."""
        ...
