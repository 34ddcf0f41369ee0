"""What comes in and what goes out: addresses, messages on their way, and what became of them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from palmclaw.core.messages import Media
from palmclaw.core.schema import Between, Doc
from palmclaw.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Address:
    """Where a conversation lives: a channel, a chat in it, perhaps a thread."""

    channel: str
    chat: str
    thread: str = ""

    @property
    def session(self) -> str:
        return ":".join(p for p in (self.channel, self.chat, self.thread) if p)


SUBAGENT = "subagent:"
"""What a sub-agent's session begins with, and the sender of what agents write to each other."""


class Origin(StrEnum):
    """On whose word a turn runs: the phone's owner, a schedule of the owner's, or anybody else."""

    OWNER = "owner"
    JOB = "job"
    OTHER = "other"


class Mode(StrEnum):
    """What a message does to a turn that is running: join the next one, join this one, wait its turn, or end it."""

    COLLECT = "collect"
    STEER = "steer"
    FOLLOWUP = "followup"
    INTERRUPT = "interrupt"


class Drop(StrEnum):
    """Who gives way when too many wait: the oldest, the new one, or the oldest but for a line in a summary."""

    OLD = "old"
    NEW = "new"
    SUMMARIZE = "summarize"


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """How a session's messages wait. `debounce` is the seconds of silence before waiting messages become a turn."""

    mode: Annotated[Mode, Doc("what a message does to a running turn")] = Mode.STEER
    debounce: Annotated[float, Between(0, 60), Doc("seconds of silence before waiting messages are taken up")] = 0.5
    cap: Annotated[int, Between(1, 1_000), Doc("messages that may wait in one session")] = 20
    drop: Annotated[Drop, Doc("which one gives way when more come")] = Drop.SUMMARIZE


@dataclass(frozen=True, slots=True)
class QueueChange:
    """What a session, a channel or one message wants otherwise; None: as it was."""

    mode: Mode | None = None
    debounce: Annotated[float | None, Between(0, 60)] = None
    cap: Annotated[int | None, Between(1, 1_000)] = None
    drop: Drop | None = None


class Fate(StrEnum):
    """What became of a message. Only the first two can change again.

    `waiting`: in the session's queue; `summarized`: dropped but for a line that the next turn reads; `started`: began
    a turn; `steered`: joined a running one; `merged`: joined another message's turn; `answered`: it was a command or
    an answer, and needed no turn.
    """

    WAITING = "waiting"
    SUMMARIZED = "summarized"
    STARTED = "started"
    STEERED = "steered"
    MERGED = "merged"
    DROPPED = "dropped"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True)
class Inbound:
    """A message that reached us.

    `model` is asked in this turn alone; empty: whatever the session uses. `address` is where the answer goes; None:
    to whoever reads the session. `external_id` is the channel's own id of the message, taken once in its chat; `sent`
    is when it was sent by the channel's clock. `sender` is the channel's id of the person, `name` what they are
    called. `group`: others read along. `queue` holds for this message alone. `tainted`: its text holds words of
    others, `private`: the owner's personal data. `yields`: it is dropped where something runs or waits, and its turn
    ends when a person speaks (a heartbeat).
    """

    session: str
    text: str
    origin: Origin = Origin.OWNER
    sender: str = "owner"
    model: str = ""
    media: tuple[Media, ...] = ()
    address: Address | None = None
    external_id: str = ""
    sent: datetime | None = None
    name: str = ""
    queue: QueueChange = QueueChange()
    tainted: bool = False
    private: bool = False
    yields: bool = False
    group: bool = False

    @property
    def is_report(self) -> bool:
        """An agent wrote it, not a person: what a sub-agent is to do, or what it found out."""
        return self.sender.startswith(SUBAGENT)


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where a message stands. `position` counts from 1 among the waiting ones of its session; `text` answers it."""

    id: int
    session: str
    fate: Fate
    position: int = 0
    reason: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Outbound:
    """A message of ours on its way to a channel; never longer than the channel takes.

    The same `key` is sent once, whatever happens. `edits` is the channel's id of a message of ours that this one
    replaces.
    """

    address: Address
    text: str
    key: str
    media: tuple[Media, ...] = ()
    edits: str = ""
