"""The edges of the system. Everything that does I/O stands behind one of these."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from palmclaw.core.events import Answer, ApprovalAsked, ModelChanged, ReasoningDelta, Retrying, Steered, TextDelta
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, ToolCall, ToolResult, Usage
from palmclaw.core.tools import Effect, Service, Tool
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass


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
    """Someone who can say yes or no to a call; UNASKED when there is nobody to ask.

    It always comes to an answer: silence that lasts too long is a NO.
    """

    async def ask(self, session: str, turn: str, question: ApprovalAsked) -> Answer: ...


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
class Snapshot:
    """What every request of a session begins with: its awake tool families and the text before the history.

    `known` is the memory that the session has been told of, in that text or since. `system` is empty where the next
    request begins anew with what is known by then.
    """

    families: frozenset[str]
    system: str
    known: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What requests show of the older part of a session's log: `text` in place of all before `upto`.

    `upto` and `trimmed` are positions in the log; results before `trimmed` are shown by their beginning and end.
    """

    upto: int = 0
    text: str = ""
    tainted: bool = False
    private: bool = False
    trimmed: int = 0


class Snapshots(Protocol):
    """How a session's requests begin; it outlives the process, so that a restart does not change a byte."""

    async def snapshot(self, session: str) -> Snapshot | None: ...

    async def keep(self, session: str, snapshot: Snapshot) -> None: ...

    async def summary(self, session: str) -> Summary: ...

    async def sum_up(self, session: str, summary: Summary) -> None: ...


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


class OutboxState(StrEnum):
    """How far a message on its way out has come. `sending` after a restart means that nobody knows."""

    WAITING = "waiting"
    SENDING = "sending"
    SENT = "sent"
    UNKNOWN = "unknown"
    FAILED = "failed"


PREVIEW = "preview:"
"""How the key of a preview begins. In a stored message's `edits` such a key stands for the channel's id of it."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A stored message on its way out. `remote` is the channel's id of it; `created` ISO 8601 in UTC."""

    id: int
    session: str
    turn: str
    outbound: Outbound
    state: OutboxState
    attempts: int = 0
    remote: str = ""
    error: str = ""
    created: str = ""


class OutboxStore(Protocol):
    """What is to be sent and what became of it; each call is one transaction. Raises StorageError."""

    async def add(self, session: str, turn: str, outbounds: Sequence[Outbound]) -> tuple[int, ...]:
        """Store messages in order; one whose key is there already is left as it was."""
        ...

    async def waiting(self) -> tuple[Address, ...]: ...

    async def state(self, row: int) -> OutboxState | None: ...

    async def next(self, address: Address) -> OutboxRow | None: ...

    async def claim(self, row: int) -> OutboxRow | None:
        """Mark a waiting message as being sent, before it can be; None when it no longer waits."""
        ...

    async def sent(self, row: int, remote: str) -> None: ...

    async def again(self, row: int, error: str) -> None: ...

    async def alone(self, row: int) -> None: ...

    async def failed(self, row: int, error: str) -> None: ...

    async def unknown(self, row: int, error: str) -> None: ...

    async def preview(self, session: str, turn: str, outbound: Outbound) -> int:
        """Remember that a preview is about to be sent; `outbound` is what it becomes should its turn die."""
        ...

    async def shown(self, row: int, remote: str) -> None: ...

    async def forget(self, row: int) -> None: ...

    async def recover(self) -> tuple[OutboxRow, ...]:
        """After a crash: what was being sent is unknown, and is returned; previews of turns that died are mended."""
        ...


class Routes(Protocol):
    """Which tool families are awake in a session; the set only grows until the session idles."""

    def find(self, session: str, need: str) -> Sequence[Tool]:
        """Wake the families that fit a need in words; returns their tools."""
        ...


class Steering(Protocol):
    """Messages that came while a turn was running and may join it."""

    @property
    def has_some(self) -> bool: ...

    def next(self) -> Steered | None:
        """The first of them; whoever takes it yields it, and with that it is stored."""
        ...


class Nobody:
    """Nobody says anything meanwhile."""

    has_some = False

    def next(self) -> Steered | None:
        return None


CLOCK: Service[Clock] = Service("clock")
LIMITS: Service[Limits] = Service("limits")
ROUTES: Service[Routes] = Service("routes")
