"""The state of one running turn: whose word it runs on, and what was decided in it."""

import asyncio
from dataclasses import field

from palmclaw.agent.interrupt import Interrupt
from palmclaw.core.ports import Nobody, Steering
from palmclaw.core.tools import Effect
from palmclaw.core.traffic import Origin
from palmclaw.core.values import dataclass


@dataclass(slots=True)
class Turn:
    """Belongs to one turn alone, so that two conversations never share a decision.

    `task` is the message that began it, `words` all the owner's own words in the window; `model` is asked, as people
    write it (empty: the configured one); `tainted` and `private` describe the current request; `addresses` are where
    a job may send without being asked; `alone`: only the owner reads along; `steering` is what comes in meanwhile;
    `may_be_silent`: nobody is owed an answer. `weight` are the estimated tokens of the last request's history, `room`
    those that the next may have at most since the service called it too long (`overflows` times); `summed`: an older
    part has been summed up, or that was tried.
    """

    session: str
    id: str
    origin: Origin = Origin.OWNER
    interrupt: Interrupt = field(default_factory=Interrupt)
    steering: Steering = field(default_factory=Nobody)
    task: str = ""
    model: str = ""
    words: str = ""
    tainted: bool = False
    private: bool = False
    may_be_silent: bool = False
    room: int = 0
    weight: int = 0
    overflows: int = 0
    summed: bool = False
    addresses: frozenset[str] = frozenset()
    alone: bool = True
    declined: set[tuple[str, Effect | None]] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    under_way: set[str] = field(default_factory=set)
    dialog: asyncio.Lock = field(default_factory=asyncio.Lock)
