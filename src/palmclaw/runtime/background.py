"""What is done for the memory while nobody waits: one conversation at a time, and never while it is talked in."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field

from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.traffic import SUBAGENT
from palmclaw.core.values import dataclass
from palmclaw.runtime.turns import Work

log = logging.getLogger(__name__)
PAUSE = 3.0
"""Seconds of rest after a turn: who says one thing and leaves is not kept waiting, nor charged."""
SETTLE = 2.0
"""Seconds that cancelled work has to come to its end."""
_WELL = (Stop.DONE, Stop.TERMINAL_TOOL, Stop.ROUND_LIMIT)


@dataclass(slots=True, repr=False)
class Background:
    """`look` looks through a session with a model for what is worth remembering, if it is time and the owner's alone.

    `model` is the one that a session asks, `at_rest` whether nothing runs or waits in it.
    """

    look: Callable[[str, str], Awaitable[bool]]
    model: Callable[[str], Awaitable[str]]
    at_rest: Callable[[str], bool]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    pause: float = PAUSE
    _tasks: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)
    _closing: bool = False

    def over(self, work: Work, ended: TurnEnded) -> None:
        """A turn has ended: look through its conversation soon. Never a sub-agent's; a heartbeat is not worth it."""
        session = work.session
        if self._closing or session in self._tasks or ended.stop not in _WELL or not _is_worth_it(work):
            return
        task = asyncio.create_task(self._soon(session), name=f"memory of {session}")
        self._tasks[session] = task
        task.add_done_callback(lambda done: self._ended(session, done))

    async def begins(self, session: str) -> None:
        """Somebody speaks or says stop there: returns when nothing is done any more."""
        await self._end([session])

    async def close(self) -> None:
        """Begin nothing any more, and end what runs; whatever was stored is made up for by the next start."""
        self._closing = True
        await self._end(list(self._tasks))

    async def _end(self, sessions: Sequence[str]) -> None:
        tasks = [self._tasks.pop(session) for session in sessions if session in self._tasks]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=SETTLE)

    async def _soon(self, session: str) -> None:
        await self.sleep(self.pause)
        async with self._one:
            if not self.at_rest(session):  # the end of that turn comes here too
                return
            try:
                await self.look(session, await self.model(session))
            except PalmclawError as error:
                log.warning("%s was not looked through for memory: %s", session, error)

    def _ended(self, session: str, task: "asyncio.Task[None]") -> None:
        if self._tasks.get(session) is task:
            del self._tasks[session]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("looking through %s for memory broke", session, exc_info=error)


def _is_worth_it(work: Work) -> bool:
    return not work.session.startswith(SUBAGENT) and not all(i.yields for i in work.inbounds)
