"""What the runtime grants to tools that look at conversations, speak in them, or give work to sub-agents."""

from typing import Annotated, Protocol

from palmclaw.core.errors import ToolError
from palmclaw.core.schema import Between, Doc
from palmclaw.core.tools import Service
from palmclaw.core.traffic import Address
from palmclaw.core.values import dataclass


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One conversation in a list. `state`: running, waiting or at rest; times are ISO 8601 in UTC."""

    id: str
    title: str
    updated: str
    messages: int
    state: str = "at rest"
    parent: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """A message that holds the words searched for, or most of their pieces (`near`); `text` is the part around them."""

    session: str
    position: int
    role: str
    at: str
    text: str
    tainted: bool = False
    near: bool = False


@dataclass(frozen=True, slots=True)
class Charge:
    """What a sub-agent was told to do, by whom, and with what. `depth` counts from 1; `tools` empty: what fits."""

    task: str
    label: str
    parent: str
    tools: tuple[str, ...] = ()
    rounds: int = 10
    depth: int = 1
    turn: str = ""


class Conversations(Protocol):
    """Every session of this home, seen from one of them. Raises ToolError for a name that is none or several."""

    async def listed(self) -> tuple[SessionLine, ...]: ...

    async def found(self, name: str) -> SessionLine:
        """The session that an id or a title means: an exact match, else the only one that holds it."""
        ...

    async def search(self, words: str, session: str = "", limit: int = 10) -> tuple[Found, ...]:
        """Messages that hold all the words, the newest first."""
        ...

    async def target(self, name: str) -> tuple[str, Address | None]:
        """The session that is meant and where it can be reached. Raises ToolError, also for a channel that is off."""
        ...

    async def deliver(self, name: str, text: str, key: str, *, tainted: bool = False) -> str:
        """Say something in a session, and send it where its answers go, once for a key. Returns how that stands."""
        ...


class Crew(Protocol):
    """Sub-agents of the session that asks."""

    async def spawn(self, session: str, turn: str, charge: Charge, *, tainted: bool, private: bool = False) -> str:
        """Begin the work and return its session at once; the result comes as a message. Raises TooMany."""
        ...


class TooMany(ToolError):
    """No further sub-agent may be begun now, or not by this one."""

    def __init__(self, message: str) -> None:
        super().__init__("too_many", message, hint="Wait for the others, or do it yourself.")


@dataclass(frozen=True, slots=True)
class CrewLimits:
    """[subagents]: how many at once for one session, how deep they may have ones of their own, what none may use."""

    at_once: Annotated[int, Between(0, 8), Doc("sub-agents at once for one conversation")] = 2
    depth: Annotated[int, Between(1, 5), Doc("how deep sub-agents may have ones of their own")] = 1
    never: Annotated[tuple[str, ...], Doc("tools that no sub-agent has")] = ("ask", "message", "spawn")


CONVERSATIONS: Service[Conversations] = Service("conversations")
CREW: Service[Crew] = Service("crew")
