"""What is said between the local API and its client besides the values of `core`."""

from typing import Annotated

from palmclaw.core.events import Answer
from palmclaw.core.schema import Length
from palmclaw.core.traffic import QueueChange
from palmclaw.core.values import dataclass

HOST = "localhost"
"""The only name by which the API is asked; a page in a browser that was led here asks by another."""
LARGEST_JSON = 2_000_000
LARGEST_MEDIA = 20_000_000
KEEP_ALIVE = 25.0
"""Seconds between signs of life to a listener."""


@dataclass(frozen=True, slots=True)
class Which:
    """One session."""

    session: Annotated[str, Length(1, 1_000)]


@dataclass(frozen=True, slots=True)
class Listening:
    """Signals of one session, or of all; `since` is the `id` of the last one known."""

    session: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to an approval, and from where it was given."""

    question: str
    answer: Answer
    by: str = "api"


@dataclass(frozen=True, slots=True)
class Queueing:
    """A session's queue: a look at it, a change of it, or back to what is configured."""

    session: Annotated[str, Length(1, 1_000)]
    change: QueueChange | None = None
    reset: bool = False


@dataclass(frozen=True, slots=True)
class Choosing:
    """The model to ask in a session; empty: the configured one."""

    session: Annotated[str, Length(1, 1_000)]
    model: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """What a file is called."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Present:
    """Who answers."""

    pid: int
    version: str
