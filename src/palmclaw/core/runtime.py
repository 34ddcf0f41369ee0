"""What every surface (terminal, web app, script) may do with the runtime, in this process or through its local API."""

from collections.abc import AsyncGenerator
from typing import Protocol

from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import Answer, ApprovalAsked, Signal
from palmclaw.core.messages import Media
from palmclaw.core.traffic import Inbound, QueueChange, QueueSettings, Receipt
from palmclaw.core.values import dataclass


class NotOpen(PalmclawError):
    """There is no such open question, waiting message or rule any more: it was answered, withdrawn or is over."""

    code = "not_open"


class Draining(PalmclawError):
    """The gateway is stopping: try again later. Nothing was stored."""

    code = "draining"
    retryable = True
    hint = "It is restarting or stopping: try again in a moment."


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a stop ended: whether a turn was running, how many waiting messages it took away, how many sub-agents."""

    running: bool = False
    waiting: int = 0
    subagents: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """An approval that waits for its answer, or has had it. Times are ISO 8601 in UTC."""

    asked: ApprovalAsked
    session: str
    turn: str
    at: str
    deadline: str
    answer: Answer | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One session that is not at rest: its running turn, if any, and how many messages wait."""

    session: str
    turn: str = ""
    waiting: int = 0
    since: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """How the runtime is. `findings` are what the start found and mended; `channels` by name: empty, or what is wrong.

    `memory` is the resident set in bytes, `started` ISO 8601 in UTC.
    """

    version: str
    pid: int
    started: str
    lanes: tuple[Lane, ...] = ()
    slots: int = 0
    busy: int = 0
    channels: dict[str, str] | None = None
    outbox: dict[str, int] | None = None
    questions: int = 0
    findings: tuple[str, ...] = ()
    memory: int = 0
    holders: tuple[str, ...] = ()


class Runtime(Protocol):
    """Implemented by runtime/gateway, and by the client of its API. All raise StorageError; Draining at the end."""

    async def take(self, inbound: Inbound) -> Receipt:
        """Store a message of the owner's and let it take its way. The receipt says what became of it at once."""
        ...

    async def receipt(self, inbox: int) -> Receipt:
        """Where a message stands now. Raises NotOpen for one that never was."""
        ...

    def events(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
        """Signals of one session, or of all: first how it stands, then everything after `since` or from now on.

        Subscribed from the first `anext` on, which returns at once.
        """
        ...

    async def stop(self, session: str) -> Stopped:
        """End the session's turn, take away what waits, end its sub-agents; harmless when nothing runs."""
        ...

    async def withdraw(self, inbox: int) -> Receipt:
        """Take back a message that still waits. Raises NotOpen."""
        ...

    async def answer(self, question: str, answer: Answer, by: str) -> None:
        """Answer an approval, once. Raises NotOpen when it has its answer, or its turn is over."""
        ...

    async def questions(self) -> tuple[Question, ...]:
        """The approvals that wait, the oldest first."""
        ...

    async def queue(self, session: str, change: QueueChange | None = None, *, reset: bool = False) -> QueueSettings:
        """How the session's messages wait, after this change to it."""
        ...

    async def choose_model(self, session: str, model: str) -> None:
        """Ask this model in the session from now on; empty: the configured one. Raises ConfigError."""
        ...

    async def delete(self, session: str) -> None:
        """Delete a session. Raises SessionNotFound; StorageError while it runs."""
        ...

    async def revoke(self, number: int) -> None:
        """Take a lasting approval back. Raises NotOpen."""
        ...

    async def keep(self, content: bytes, mime: str, name: str) -> Media:
        """Store an attachment."""
        ...

    async def status(self) -> Status: ...
