"""The edges of the system. Everything that does I/O stands behind one of these."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from palmclaw.core.events import Answer, ApprovalAsked, ModelChanged, ReasoningDelta, Retrying, TextDelta, TurnEnded
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, ToolCall, ToolResult, Usage
from palmclaw.core.tools import Effect, Service, Tool


@dataclass(frozen=True, slots=True)
class Address:
    """Where a conversation lives: a channel, a chat in it, perhaps a thread."""

    channel: str
    chat: str
    thread: str = ""

    @property
    def session(self) -> str:
        return ":".join(p for p in (self.channel, self.chat, self.thread) if p)


class Origin(StrEnum):
    """On whose word a turn runs: the phone's owner, a schedule of the owner's, or anybody else."""

    OWNER = "owner"
    JOB = "job"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Inbound:
    """A message that reached us. `model` is asked in this turn alone; empty: whatever the session uses."""

    session: str
    text: str
    origin: Origin = Origin.OWNER
    sender: str = "owner"
    model: str = ""
    media: tuple[Media, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One model request. `system` and `tools` keep their bytes from request to request, so a cache can hold.

    `model` is its name on the wire, `choice` what the owner asked for (`service/model`; empty: the configured one).
    `media` holds the bytes of the attachments that the model is to see, by their id; of others it reads the name.
    `max_output` bounds the answer in tokens; 0: as long as the model likes. `purpose` says what it is for.
    """

    model: str
    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    session: str = ""
    media: Mapping[str, bytes] = field(default_factory=dict)
    max_output: int = 0
    purpose: str = "turn"
    turn: str = ""
    choice: str = ""


class Finish(StrEnum):
    """Why the model stopped."""

    STOP = "stop"
    TOOLS = "tools"
    LENGTH = "length"
    FILTER = "filter"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reply:
    """The complete answer to a Request; always the last item of a provider's stream."""

    message: Message
    usage: Usage = Usage()
    finish: Finish = Finish.STOP


Delta = TextDelta | ReasoningDelta | Retrying | ModelChanged | Reply


class Provider(Protocol):
    """A model service. Raises ProviderError; yields deltas, then exactly one Reply.

    `local`: requests cost nothing, so every tool is offered to it without routing.
    """

    @property
    def local(self) -> bool: ...

    def stream(self, request: Request) -> AsyncIterator[Delta]: ...

    async def close(self) -> None:
        """Give back connections; the provider may be used again afterwards."""
        ...


class Clock(Protocol):
    """The time, as the phone has it."""

    def now(self) -> datetime:
        """An aware moment in the device's own zone."""
        ...


class Approver(Protocol):
    """Someone who can say yes or no to a call; UNASKED when there is nobody to ask."""

    async def ask(self, question: ApprovalAsked) -> Answer: ...


class Grants(Protocol):
    """Approvals that outlive a call: tool and target, for a session or for ever."""

    async def holds(self, session: str, tool: str, target: str) -> bool: ...

    async def add(self, session: str, tool: str, target: str, answer: Answer) -> None: ...


class Grant(StrEnum):
    """The state of a device permission."""

    GRANTED = "granted"
    ASK = "ask"
    DENIED = "denied"


class Permissions(Protocol):
    """What the phone's own permission system allows."""

    async def state(self, permission: str) -> Grant: ...

    async def request(self, permission: str) -> Grant:
        """Start the system's dialog and wait for the person; the caller bounds the wait."""
        ...


class CallState(StrEnum):
    """How far a call in the journal got. `running` after a restart means that nobody knows."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Journal(Protocol):
    """Written before an effect and after it, so that no effect is ever repeated blindly."""

    async def begin(self, turn: str, call: ToolCall, effect: Effect, digest: str) -> None: ...

    async def end(self, turn: str, call_id: str, state: CallState, result: ToolResult) -> None: ...

    async def outcomes(self, turn: str) -> Mapping[str, tuple[CallState, ToolResult | None]]:
        """What is known of a turn's calls, by call id."""
        ...


@dataclass(frozen=True, slots=True)
class Tail:
    """The newest part of a session's log; `start` is the position of its first message in the whole log."""

    start: int
    messages: Sequence[Message]


class Log(Protocol):
    """A session's append-only history."""

    async def tail(self, session: str, count: int) -> Tail:
        """The newest `count` messages at most, oldest first."""
        ...


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """A turn that a crash left open, with the messages it had stored."""

    id: str
    session: str
    messages: tuple[Message, ...]


class TurnStore(Log, Protocol):
    """Where turns and their messages are kept; each call is one transaction. Raises StorageError."""

    async def begin(self, turn: str, inbound: Inbound, message: Message, model: str) -> None: ...

    async def append(self, session: str, turn: str, message: Message) -> None: ...

    async def end(self, turn: str, ended: TurnEnded, state: str = "ended") -> None: ...

    async def open_turns(self) -> tuple[OpenTurn, ...]: ...

    async def model(self, session: str) -> str:
        """The model that the owner chose for this session; empty: the configured one."""
        ...


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What every request of a session begins with: its awake tool families and the text before the history."""

    families: frozenset[str]
    system: str


class Snapshots(Protocol):
    """Snapshots outlive the process, so that a restart does not change a byte."""

    async def snapshot(self, session: str) -> Snapshot | None: ...

    async def keep(self, session: str, snapshot: Snapshot) -> None: ...


class MediaStore(Protocol):
    """Attachments by the digest of their bytes. Raises StorageError."""

    async def put(self, content: bytes, mime: str, name: str) -> Media: ...

    async def get(self, media_id: str) -> bytes | None: ...


@dataclass(frozen=True, slots=True)
class Spent:
    """One model request and what it cost; `usd` is None where no price is known."""

    service: str
    model: str
    usage: Usage
    usd: float | None = None
    session: str = ""
    turn: str = ""
    purpose: str = "turn"


class Ledger(Protocol):
    """What was spent on model services. Days are the device's own."""

    async def add(self, spent: Spent) -> None: ...

    async def today(self) -> tuple[int, float]:
        """Tokens (input and output) and US dollars spent since midnight."""
        ...


class Findings(Protocol):
    """Small facts found out once and worth keeping, such as a service's endpoint; losing them costs a request."""

    def get(self, key: str) -> str | None: ...

    def put(self, key: str, value: str) -> None: ...


class Forgetful:
    """Findings that last as long as the process."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        return self._found.get(key)

    def put(self, key: str, value: str) -> None:
        self._found[key] = value


class Routes(Protocol):
    """Which tool families are awake in a session; the set only grows until the session idles."""

    def find(self, session: str, need: str) -> Sequence[Tool]:
        """Wake the families that fit a need in words; returns their tools."""
        ...


CLOCK: Service[Clock] = Service("clock")
LIMITS: Service[Limits] = Service("limits")
ROUTES: Service[Routes] = Service("routes")
