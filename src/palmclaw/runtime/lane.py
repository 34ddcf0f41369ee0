"""One lane for each session that is not at rest: its messages wait there, and become turns one after the other."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import field, replace
from typing import Protocol

from palmclaw.agent.interrupt import Interrupt
from palmclaw.core.errors import Fault
from palmclaw.core.events import Event, Happening, Notice, SlotAwaited, Steered, Taken, TurnEnded, TurnStarted
from palmclaw.core.messages import Message, utc_now
from palmclaw.core.records import Withdrawn
from palmclaw.core.runtime import Lane as LaneStatus
from palmclaw.core.traffic import Fate, Inbound, QueueSettings, Receipt
from palmclaw.core.values import dataclass
from palmclaw.runtime.queueing import Batch, Item, Line, added, batch, is_urgent, steerable, summary, without
from palmclaw.runtime.slots import Slot, Slots
from palmclaw.runtime.turns import Turns, Voice, Work

STOPPED = "stopped"
"""Why a message was cancelled that waited when somebody said stop."""
NOTICE_AFTER = 2.0
"""Seconds that a turn waits for a slot before anybody is told."""
FIRST_RETRY, LAST_RETRY = 5.0, 300.0
"""Seconds after which a turn that could not even be begun is tried again."""


class Publish(Protocol):
    """Tells all who listen."""

    def __call__(self, session: str, turn: str, event: Happening) -> object: ...


@dataclass(frozen=True, slots=True)
class House:
    """What all lanes share."""

    turns: Turns
    slots: Slots
    publish: Publish
    voice: Callable[[Work], Voice]
    entry: Callable[[Inbound], Message]
    over: Callable[[Work, TurnEnded], Awaitable[None]]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Held:
    """What was taken out of a line while it was not certain that it is cancelled."""

    items: tuple[Item, ...] = ()
    summarized: tuple[Item, ...] = ()
    broken: tuple[Work, ...] = ()


@dataclass(slots=True)
class Running:
    """The turn of a lane. `slot` is None until it is its time."""

    work: Work
    slot: Slot
    interrupt: Interrupt = field(default_factory=Interrupt)
    since: str = field(default_factory=lambda: utc_now().isoformat(timespec="seconds"))
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def item(self) -> Item:
        """What the turn is about, as it stood in line."""
        return Item(0, self.work.last, QueueSettings().mode)


@dataclass(slots=True, repr=False)
class Lane:
    """The queue of one session and the task that empties it; ends when nothing is left."""

    session: str
    house: House
    settings: QueueSettings = QueueSettings()
    line: Line = Line()
    broken: list[Work] = field(default_factory=list)
    running: Running | None = None
    task: "asyncio.Task[None] | None" = None
    heard: float = 0.0
    failures: int = 0
    is_closing: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_idle(self) -> bool:
        return self.running is None and self.line.is_empty and not self.broken

    def enter(self, item: Item, settings: QueueSettings) -> tuple[Receipt, ...]:
        """A new message, already stored: it waits, or somebody gives way; returns how all concerned stand now."""
        self.settings = settings
        change = added(self.line, item, settings)
        self.line, self.heard = change.line, self.house.now()
        self._changed.set()
        gone = tuple(Receipt(row, self.session, fate, reason=reason) for row, fate, reason in change.fates)
        position = self.line.position(item.inbox)
        stays = (Receipt(item.inbox, self.session, Fate.WAITING, position),) if position else ()
        return (*gone, *stays)

    def interrupt(self) -> bool:
        """End the running turn; what waits stays."""
        self._changed.set()
        if self.running is None:
            return False
        self.running.interrupt.set()
        return True

    def clear(self, upto: int = 0) -> list[Receipt]:
        """Take out what came before this row (0: all), and the work that a crash broke off; returns what was there."""
        self.broken.clear()
        return self._take_out(lambda item: upto == 0 or item.inbox < upto)

    def hold(self, upto: int = 0) -> Held:
        """Clear, but so that it can be given back."""
        line, broken = self.line, tuple(self.broken)
        gone = {receipt.id for receipt in self.clear(upto)}
        items, summarized = (tuple(i for i in part if i.inbox in gone) for part in (line.items, line.summarized))
        return Held(items, summarized, broken)

    def give_back(self, held: Held) -> None:
        """What was held stands in its old place again."""
        self.broken[:0] = held.broken
        items = tuple(sorted((*held.items, *self.line.items), key=lambda item: item.inbox))
        self.line = replace(self.line, items=items, summarized=(*held.summarized, *self.line.summarized))
        self._changed.set()

    def drop_reports(self) -> list[Receipt]:
        """Take out what sub-agents have told, and end a turn about it; returns what was there."""
        if self.running and self.running.work.last.is_report:
            self.interrupt()
        return self._take_out(lambda item: item.inbound.is_report)

    def _take_out(self, which: Callable[[Item], bool]) -> list[Receipt]:
        """A message that is being stored into the running turn stays: it has joined it."""
        waiting = [i for i in (*self.line.summarized, *self.line.items) if i.inbox != self.line.joining]
        gone = [i.inbox for i in waiting if which(i)]
        self.remove(gone)
        return [Receipt(row, self.session, Fate.CANCELLED, reason=STOPPED) for row in gone]

    def remove(self, rows: Sequence[int]) -> None:
        """Take these messages out of the line."""
        self.line = without(self.line, rows)
        self._changed.set()

    def tell(self, receipt: Receipt) -> None:
        """Publish what became of a message."""
        self.house.publish(self.session, "", Taken(receipt))

    def status(self) -> LaneStatus:
        """For the status page."""
        turn, since = (self.running.work.id, self.running.since) if self.running else ("", "")
        return LaneStatus(self.session, turn, len(self.line.items), since)

    @property
    def has_some(self) -> bool:
        """Whether a message may join the running turn (implements Steering)."""
        return self._steerable() is not None

    def next(self) -> Steered | None:
        """The first of the messages that may join (implements Steering)."""
        if self.line.joining:  # the one before has not been stored: it was taken back in the last moment
            self.line = without(self.line, (self.line.joining,))
        item = self._steerable()
        if item is None:
            return None
        self.line = replace(self.line, joining=item.inbox)
        return Steered(item.inbox, self.house.entry(item.inbound))

    def _steerable(self) -> Item | None:
        """Nobody joins a turn that is being stopped: it would not answer."""
        running = self.running
        return None if running is None or running.interrupt.is_set else steerable(self.line, running.item)

    async def run(self) -> None:
        """Empty the line. The first message of a lane at rest becomes a turn at once, later ones after a silence."""
        if self.failures:  # a lane that broke begins again as one that could not begin
            await self._silence()
        while not self.is_closing and self._has_work:
            slot = await self._slot()
            if slot is not None:
                try:
                    await self._next_turn(slot)
                finally:
                    slot.release()
            await self._silence()

    @property
    def _has_work(self) -> bool:
        return bool(self.broken) or not self.line.is_empty

    async def _slot(self) -> Slot | None:
        """A slot, or None when what it was for has been taken away meanwhile."""
        slots = self.house.slots
        if slots.free:
            return await slots.take()
        taking, telling = asyncio.ensure_future(slots.take()), asyncio.ensure_future(self._tell_of_waiting())
        try:
            while not taking.done() and self._has_work:
                await self._any_of(taking)
        finally:
            telling.cancel()
            taking.cancel()  # nothing happens to one that is done
        return taking.result() if taking.done() and not taking.cancelled() else None

    async def _tell_of_waiting(self) -> None:
        await self.house.sleep(NOTICE_AFTER)
        self.house.publish(self.session, "", SlotAwaited(NOTICE_AFTER))

    async def _silence(self) -> None:
        """Wait until nobody has said anything for a while; a message that interrupts is not kept waiting."""
        if self.failures:
            await self._any_of(self.house.sleep(min(FIRST_RETRY * 2.0 ** min(self.failures - 1, 10), LAST_RETRY)))
        while not self.line.is_empty and not is_urgent(self.line):
            left = self.heard + self.settings.debounce - self.house.now()
            if left <= 0:
                return
            await self._any_of(self.house.sleep(left))

    async def _any_of(self, awaited: Awaitable[object]) -> None:
        """Wait for this, or until something changes in the line."""
        self._changed.clear()
        change, other = asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(awaited)
        try:
            await asyncio.wait((change, other), return_when=asyncio.FIRST_COMPLETED)
        finally:
            change.cancel()
            if other is not awaited:
                other.cancel()

    async def _next_turn(self, slot: Slot) -> None:
        if self.broken:
            await self._turn(self.broken.pop(0), Batch(), slot)
            return
        taken = batch(self.line)
        self.line = without(self.line, taken.rows)
        inbounds, rows = tuple(i.inbound for i in taken.items), tuple(i.inbox for i in taken.items)
        left, summarized = summary(taken.summarized, self.settings.cap), tuple(i.inbox for i in taken.summarized)
        if inbounds:
            await self._turn(Work(inbounds, rows, left, summarized), taken, slot)
        elif left is not None:
            await self._turn(Work((left,), summarized=summarized), taken, slot)

    async def _turn(self, work: Work, taken: Batch, slot: Slot) -> None:
        """Run one turn and tell of it; what could not be begun goes back to the head of the line."""
        self.running = running = Running(work, slot)
        self.failures += 1
        try:
            await self._told(running)
        except Withdrawn as error:  # the others do not wait for that
            self._put_back(work, taken.without(error.row))
            self.failures = 0
        finally:
            self.running = None
            if self.failures:
                self._put_back(work, taken)
            self.line = replace(self.line, joining=0)
            running.ended.set()

    async def _told(self, running: Running) -> None:
        """Publish every event of the turn; a turn that could not be stored has none but a notice."""
        work = running.work
        voice = self.house.voice(work)
        async with aclosing(self.house.turns.run(work, running.interrupt, self, voice)) as events:
            async for event in events:
                if isinstance(event, TurnStarted):
                    self.failures = 0
                if self.failures:
                    assert isinstance(event, TurnEnded)
                    self.house.publish(self.session, "", Notice(event.error or _NOT_BEGUN))
                    return
                self.house.publish(self.session, work.id, event)
                self._follow(work, event)
                if isinstance(event, TurnEnded):
                    await self.house.over(work, event)

    def _follow(self, work: Work, event: Event | TurnStarted) -> None:
        """Tell what became of the messages that the event is about."""
        if isinstance(event, TurnStarted) and not work.continues:
            fates = [Fate.STARTED, *[Fate.MERGED] * (len(work.inbox) - 1)]
            for row, fate in zip(work.inbox, fates, strict=False):
                self.tell(Receipt(row, self.session, fate))
            for row in work.summarized:
                self.tell(Receipt(row, self.session, Fate.MERGED, reason="only its beginning is left"))
        elif isinstance(event, Steered):
            self.line = without(self.line, (event.inbox,))
            self.tell(Receipt(event.inbox, self.session, Fate.STEERED))

    def _put_back(self, work: Work, taken: Batch) -> None:
        if work.continues:
            self.broken.insert(0, work)
        self.line = replace(
            self.line,
            items=(*taken.items, *self.line.items),
            summarized=(*taken.summarized, *self.line.summarized),
        )


_NOT_BEGUN = Fault("not_begun", "The turn could not be begun.", retryable=True)
