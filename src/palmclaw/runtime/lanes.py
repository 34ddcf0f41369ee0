"""All lanes: a session has one while it is not at rest, and what a crash left waiting comes back into it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import field, replace

from palmclaw.core.errors import StorageError
from palmclaw.core.records import Due, InboxStore, SessionState, Stored
from palmclaw.core.runtime import Lane as LaneStatus
from palmclaw.core.traffic import Fate, Inbound, Mode, QueueChange, QueueSettings, Receipt
from palmclaw.core.values import dataclass
from palmclaw.runtime.lane import House, Lane
from palmclaw.runtime.queueing import Item, may_interrupt, settled
from palmclaw.runtime.turns import resumed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueueRules:
    """How messages wait: for all, and otherwise by channel."""

    base: QueueSettings = QueueSettings()
    channels: Mapping[str, QueueChange] = field(default_factory=dict)

    def of(self, inbound: Inbound, session: QueueChange) -> QueueSettings:
        """What holds for this message: what it says itself before the session, that before the channel, then all."""
        channel = self.channels.get(inbound.address.channel, QueueChange()) if inbound.address else QueueChange()
        report = QueueChange(mode=Mode.STEER) if inbound.is_report else QueueChange()
        return settled(self.base, channel, session, report, inbound.queue)


@dataclass(slots=True, repr=False)
class Lanes:
    """Makes a lane when something comes for its session, and lets it go when it is at rest again."""

    house: House
    inbox: InboxStore
    rules: QueueRules = QueueRules()
    _lanes: dict[str, Lane] = field(default_factory=dict)
    _barred: set[str] = field(default_factory=set)
    _closing: bool = False

    def get(self, session: str) -> Lane | None:
        """The session's lane, unless it is at rest."""
        return self._lanes.get(session)

    async def enter(self, stored: Stored, state: SessionState) -> Receipt:
        """Put a stored message in line and see to it that the line moves; returns how it stands."""
        inbound, row = stored.inbound, stored.receipt.id
        lane = self._lane(inbound.session)
        if inbound.yields and not lane.is_idle:
            return await self._gone(lane, Receipt(row, inbound.session, Fate.DROPPED, reason="something else runs"))
        settings = self.rules.of(inbound, state.queue)
        told = lane.enter(Item(row, inbound, settings.mode), settings)
        if lane.line.position(row) and self._ends_the_turn(lane, inbound, settings.mode):
            lane.interrupt()
        self._run(lane)
        for receipt in told:
            if receipt.fate is not Fate.WAITING:
                await self._gone(lane, receipt)
            else:
                lane.tell(receipt)
        return next(r for r in told if r.id == row)

    async def load(self, stored: Stored) -> None:
        """A message that an earlier process left waiting comes back into its line; `run` lets the line move."""
        inbound, row = stored.inbound, stored.receipt.id
        lane = self._lane(inbound.session)
        settings = self.rules.of(inbound, (await self.inbox.state(inbound.session)).queue)
        item = Item(row, inbound, settings.mode)
        lane.settings = settings
        if stored.receipt.fate is Fate.SUMMARIZED:
            lane.line = replace(lane.line, summarized=(*lane.line.summarized, item))
        else:
            lane.line = replace(lane.line, items=(*lane.line.items, item))
            lane.tell(replace(stored.receipt, position=len(lane.line.items)))

    def go_on(self, due: Due) -> None:
        """A turn that a crash broke off comes first."""
        self._lane(due.session).broken.append(resumed(due))

    @contextmanager
    def barred(self, session: str) -> Iterator[None]:
        """No turn begins in a session meanwhile. Raises StorageError when it is not at rest."""
        if session in self._lanes:
            raise StorageError(f"{session} is at work", "Stop it first, with /stop in it.")
        lane = self._lane(session)
        self._barred.add(session)
        try:
            yield
        finally:
            self._barred.discard(session)
            if lane.is_idle:
                del self._lanes[session]
            else:
                self._run(lane)

    def run(self) -> None:
        """Let every line move that has something in it."""
        for lane in list(self._lanes.values()):
            self._run(lane)

    def of(self, sessions: Iterable[str]) -> list[Lane]:
        """The lanes of those of them that are not at rest."""
        return [lane for lane in map(self.get, sessions) if lane is not None]

    def is_stopped(self, session: str) -> bool:
        """Whether the session's turn is at its end because somebody ended it."""
        lane = self.get(session)
        return lane is not None and lane.running is not None and lane.running.interrupt.is_set

    def status(self) -> tuple[LaneStatus, ...]:
        """Every lane that there is."""
        return tuple(lane.status() for lane in self._lanes.values())

    @asynccontextmanager
    async def lent(self, turn: str) -> AsyncIterator[None]:
        """Give a turn's slot to others meanwhile."""
        for lane in self._lanes.values():
            if lane.running is not None and lane.running.work.id == turn:
                async with lane.running.slot.lent():
                    yield
                return
        yield

    async def close(self, grace: float) -> None:
        """Begin no turn any more, give the running ones some seconds, then leave them for the next start."""
        self._closing = True
        for lane in self._lanes.values():
            lane.is_closing = True
        tasks = [lane.task for lane in self._lanes.values() if lane.task and lane.running]
        if tasks and grace > 0:
            await asyncio.wait(tasks, timeout=grace)
        left = [lane.task for lane in self._lanes.values() if lane.task and not lane.task.done()]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    def _ends_the_turn(self, lane: Lane, inbound: Inbound, mode: Mode) -> bool:
        """It interrupts, and may; or a heartbeat runs, and a person speaks."""
        if lane.running is None or not may_interrupt(inbound, lane.running.work.last):
            return lane.running is not None and lane.running.work.last.yields and not inbound.yields
        return mode is Mode.INTERRUPT or (lane.running.work.last.yields and not inbound.yields)

    def _lane(self, session: str) -> Lane:
        if session not in self._lanes:
            self._lanes[session] = Lane(session, self.house)
        return self._lanes[session]

    def _run(self, lane: Lane) -> None:
        is_free = not self._closing and lane.session not in self._barred
        if is_free and (lane.task is None or lane.task.done()):
            lane.task = asyncio.create_task(lane.run(), name=f"lane {lane.session}")
            lane.task.add_done_callback(lambda task: self._rested(lane, task))

    def _rested(self, lane: Lane, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the lane of %s broke", lane.session, exc_info=error)
        if lane.is_idle:
            self._lanes.pop(lane.session, None)
        elif not self._closing:
            self._run(lane)

    async def _gone(self, lane: Lane, receipt: Receipt) -> Receipt:
        await self.inbox.mark((receipt.id,), receipt.fate, receipt.reason)
        lane.tell(receipt)
        return receipt
