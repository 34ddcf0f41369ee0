"""One message that shows an answer while it is written, by being edited; the answer's first piece takes its place."""

import asyncio
import logging
from collections.abc import Callable

from palmclaw.core.errors import StorageError
from palmclaw.core.ports import OutboxState, OutboxStore
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass
from palmclaw.runtime.sending import Lines, Outcome

INTERRUPTED = "(interrupted)"
log = logging.getLogger(__name__)


@dataclass(slots=True)
class Preview:
    """At most one edit is under way, the newest text wins, `every` seconds lie between two.

    `draft` says what is to be seen now; nothing where it is empty. `has_begun`: it may be there, so whoever speaks
    next takes its place by `edits=key`. A turn that dies leaves it to be edited at the next start.
    """

    key: str
    session: str
    turn: str
    address: Address
    draft: Callable[[], str]
    lines: Lines
    store: OutboxStore
    every: float = 1.0
    has_begun: bool = False
    is_held: bool = False
    _is_broken: bool = False
    _shown: str = ""
    _remote: str = ""
    _is_resting: bool = False
    _task: "asyncio.Task[None] | None" = None

    def show(self) -> None:
        """There is something new to be seen."""
        if not self._is_broken and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._follow())

    def hold(self) -> None:
        """Send nothing more from now on: another message takes its place."""
        self.is_held = True

    def go_on(self) -> None:
        """No other message took its place."""
        self.is_held = False

    def end(self) -> None:
        """It is over; an edit that is under way still ends."""
        self.is_held = True
        if self._task is not None and self._is_resting:
            self._task.cancel()

    async def _follow(self) -> None:
        """Ends as soon as there is nothing new."""
        while not (self._is_broken or self.is_held):
            text = self.draft()
            if not text or text == self._shown:
                return
            async with self.lines.lock(self.address):
                wait = await self._safely_put(text)
            self._is_resting = True
            await self.lines.sleep(max(self.every, wait))
            self._is_resting = False

    async def _safely_put(self, text: str) -> float:
        try:
            return 0.0 if self.is_held else await self._put(text)
        except StorageError as error:
            log.warning("no preview at %s: %s", self.address.session, error)
            self._is_broken = True
            return 0.0

    async def _put(self, text: str) -> float:
        """Send it, or edit it; returns the seconds that the channel wants to have passed before the next time."""
        if not self.has_begun:
            if await self.store.next(self.address) is None and not self.is_held:  # what waits there goes first
                await self._begin(text)
            return 0.0
        outcome = await self.lines.attempt(Outbound(self.address, text, self.key, edits=self._remote))
        self._is_broken = outcome.state in (OutboxState.FAILED, OutboxState.UNKNOWN)
        if outcome.state is OutboxState.SENT:
            self._shown = text
        return outcome.wait

    async def _begin(self, text: str) -> None:
        self.has_begun = True
        if_it_dies = Outbound(self.address, INTERRUPTED, self.key, edits=self.key)
        row = await self.store.preview(self.session, self.turn, if_it_dies)
        outcome = await self.lines.attempt(Outbound(self.address, text, self.key))
        self._is_broken = outcome.state is not OutboxState.SENT
        self._shown, self._remote = text, outcome.remote
        await self._record(row, outcome)

    async def _record(self, row: int, outcome: Outcome) -> None:
        if outcome.state is OutboxState.SENT:
            await self.store.shown(row, outcome.remote)
        elif outcome.state is OutboxState.UNKNOWN:
            await self.store.unknown(row, outcome.reason)
        else:
            await self.store.forget(row)
