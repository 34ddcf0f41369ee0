"""Who may speak to the agent and what they are asked, and the ports of where both are kept."""

from enum import StrEnum
from typing import Protocol

from palmclaw.core.events import Answer
from palmclaw.core.runtime import Question
from palmclaw.core.values import dataclass


class Role(StrEnum):
    """What a person may do: an owner everything, a guest talk."""

    OWNER = "owner"
    GUEST = "guest"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was let in by a pairing code; `id` is the channel's. Times are ISO 8601 in UTC."""

    channel: str
    id: str
    name: str
    role: Role
    since: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """A stranger's request to be let in, which the owner grants by its code until it expires."""

    code: str
    channel: str
    sender: str
    name: str
    asked: str
    expires: str


class People(Protocol):
    """Where paired people are kept; each call is one transaction. Raises StorageError."""

    async def role(self, channel: str, sender: str) -> Role | None:
        """What a paired person may do; None: nobody we know."""
        ...

    async def knock(self, pairing: Pairing, most: int) -> bool:
        """Keep a request; False, and nothing is kept, where the sender or `most` others there have one open."""
        ...

    async def admit(self, code: str, role: Role, at: str) -> Person:
        """Let in whoever was given the code. Raises NotOpen for one that is unknown or has expired."""
        ...

    async def forget(self, channel: str, sender: str) -> bool:
        """Take a person, or a request, away again; False when there was none."""
        ...

    async def listed(self, at: str) -> tuple[tuple[Person, ...], tuple[Pairing, ...]]:
        """Everybody who was let in, and the requests that are still open."""
        ...


class QuestionStore(Protocol):
    """Where questions to the owner are kept; each call is one transaction. Raises StorageError."""

    async def open(self, question: Question) -> None: ...

    async def answer(self, question: str, answer: Answer, by: str, at: str) -> bool:
        """Answer an open question; False, and nothing is changed, when it has its answer."""
        ...

    async def void(self, question: str, by: str, at: str) -> None:
        """Make it a no, whatever was answered: the one who asked is gone."""
        ...

    async def find(self, question: str) -> Question | None: ...

    async def unanswered(self) -> tuple[Question, ...]:
        """The open ones, the oldest first."""
        ...

    async def void_all(self, by: str, at: str) -> int:
        """Make every open question a no; returns how many."""
        ...
