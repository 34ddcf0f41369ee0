"""Sums a conversation up because somebody asks for it: beside everything else, and a stop ends it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import field
from typing import Protocol

from palmclaw.agent.interrupt import Interrupt, Interrupted
from palmclaw.core.errors import PalmclawError, StorageError
from palmclaw.core.events import Compacted
from palmclaw.core.traffic import Inbound
from palmclaw.core.values import dataclass
from palmclaw.runtime.lane import Publish
from palmclaw.runtime.lanes import Lanes
from palmclaw.runtime.words import Words

log = logging.getLogger(__name__)
SETTLE = 2.0
"""Seconds that one which was stopped has to come to its end."""


class Windows(Protocol):
    """Sums up all but the newest turn of a session; None: there is nothing else. Raises PalmclawError, Interrupted."""

    async def compact(self, session: str, focus: str, interrupt: Interrupt) -> Compacted | None: ...


@dataclass(slots=True, repr=False)
class Compacting:
    """`quiet` ends what goes on in a session's background; `say` sends words to where a message came from."""

    window: Windows
    lanes: Lanes
    words: Words
    publish: Publish
    quiet: Callable[[str], Awaitable[object]]
    say: Callable[[Inbound, str], Awaitable[None]]
    _running: "dict[str, tuple[Interrupt, asyncio.Task[str]]]" = field(default_factory=dict)

    async def begin(self, inbound: Inbound, focus: str) -> str:
        """What is answered: in a chat that it has begun, and the outcome later; elsewhere the outcome.

        Raises StorageError while the session is at work.
        """
        session, barred, interrupt = inbound.session, ExitStack(), Interrupt()
        barred.enter_context(self.lanes.barred(session))
        task = asyncio.create_task(self._run(barred, inbound, focus, interrupt), name=f"compaction of {session}")
        self._running[session] = interrupt, task
        task.add_done_callback(lambda done: self._running.pop(session, None))
        return self.words("compacting") if inbound.address else await asyncio.shield(task)

    async def stop(self, session: str) -> bool:
        """End it, and return when it has; whether there was any."""
        if session not in self._running:
            return False
        interrupt, task = self._running[session]
        interrupt.set()
        await asyncio.wait({task}, timeout=SETTLE)
        return True

    async def close(self) -> None:
        """End whatever runs: nothing is stored of it."""
        for session in list(self._running):
            await self.stop(session)

    async def _run(self, barred: ExitStack, inbound: Inbound, focus: str, interrupt: Interrupt) -> str:
        with barred:
            said = await self._said(inbound.session, focus, interrupt)
        if inbound.address:
            try:
                await self.say(inbound, said)
            except StorageError as error:
                log.warning("%s was not told what became of /compact: %s", inbound.session, error)
        return said

    async def _said(self, session: str, focus: str, interrupt: Interrupt) -> str:
        try:
            await self.quiet(session)
            done = await self.window.compact(session, focus, interrupt)
        except Interrupted:
            return self.words("compaction_stopped")
        except PalmclawError as error:
            return f"{error}\n{error.hint}".strip()
        if done is None:
            return self.words("nothing_older")
        self.publish(session, "", done)
        return self.words("compacted", count=done.messages, before=done.before, after=done.after)
