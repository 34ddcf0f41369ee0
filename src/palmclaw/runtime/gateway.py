"""The one door: every message of a surface, a channel or a schedule comes in here and is stored before it counts."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime

from palmclaw import __version__
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Answer, Signal, Taken
from palmclaw.core.messages import Media, utc_now
from palmclaw.core.records import SessionState, Stored
from palmclaw.core.runtime import Draining, NotOpen, Question, Status, Stopped
from palmclaw.core.traffic import Address, Fate, Inbound, Outbound, QueueChange, QueueSettings, Receipt
from palmclaw.core.values import dataclass
from palmclaw.runtime import commands
from palmclaw.runtime.approvals import Desk
from palmclaw.runtime.commands import Command
from palmclaw.runtime.feed import Feed
from palmclaw.runtime.incoming import is_later, is_older, is_void, may_command, plain
from palmclaw.runtime.lane import STOPPED, Held, Lane, Running
from palmclaw.runtime.lanes import Lanes
from palmclaw.runtime.queueing import merged, settled
from palmclaw.runtime.stores import Stores
from palmclaw.runtime.turns import Turns

SETTLE = 2.0
"""Seconds that a stop waits for the turn to be over before it says so anyway."""


Order = Callable[["Gateway", Stored, Command], Awaitable[str | Inbound]]
"""Does what a command says: returns the words that answer it, or the message that is left of it for the agent."""


async def _at_once(session: str) -> bool:
    return False


async def _nowhere(address: Address) -> frozenset[str]:
    return frozenset()


@dataclass(slots=True, repr=False)
class Gateway:
    """Implements Runtime. `order` does what the owner tells the runtime itself, `reply` is what is sent of the answer
    to a channel; `findings` are what the start found.

    `holders` are those who need the runtime, by name; `channels` says what each suffers from, `outbox` counts by state;
    `asked_at` knows which questions were sent to a chat, `exactly` what a person means by a model's name;
    `quiet` ends what goes on in a session's background, and says whether a person had asked for that.
    """

    stores: Stores
    turns: Turns
    lanes: Lanes
    feed: Feed
    desk: Desk
    order: Order
    findings: list[str] = field(default_factory=list)
    holders: Sequence[str] = ()
    channels: Mapping[str, str] = field(default_factory=dict)
    outbox: Callable[[], Awaitable[dict[str, int]]] | None = None
    reply: Callable[[Receipt, Inbound], Sequence[Outbound]] = lambda receipt, inbound: ()
    started: str = field(default_factory=lambda: utc_now().isoformat(timespec="seconds"))
    asked_at: Callable[[Address], Awaitable[frozenset[str]]] = _nowhere
    exactly: Callable[[str], str] = str
    quiet: Callable[[str], Awaitable[bool]] = _at_once
    _awake: set[str] = field(default_factory=set)
    _waking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _is_held: bool = False
    _closing: bool = False
    _closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self, session: str = "", *, at_once: bool = True) -> None:
        """Close what a crash broke off, then go on with what it left: in this session, or in all.

        Not `at_once`: with the first message, which then joins what goes on before a model is asked.
        """
        self._is_held = not at_once
        await self.recover()
        await self.wake(session)

    async def recover(self) -> None:
        """Close what a crash broke off; nothing runs yet."""
        for turn in await self.turns.recover():
            self.findings.append(f"a turn in {turn.session} had been broken off; it has been closed")
        if dead := await self.desk.close_dead():
            one, many = "1 open question was withdrawn", f"{dead} open questions were withdrawn"
            self.findings.append(one if dead == 1 else many)

    async def take(self, inbound: Inbound) -> Receipt:
        """Store a message of the owner's and let it take its way."""
        return await self.accept(inbound, may_command=may_command(inbound))

    async def accept(self, inbound: Inbound, *, may_command: bool) -> Receipt:
        """Store a message, do what it commands, or put it in line. Raises Draining before anything is stored."""
        if self._closing:
            raise Draining("PalmClaw is stopping")
        inbound = plain(inbound)
        await self.wake(inbound.session)
        said = await self._command(inbound) if may_command else None
        if said is not None and said.name == "stop":
            self._stop_at_once(inbound)
        state = await self.stores.inbox.state(inbound.session)
        if said is None and is_void(inbound, state):
            why = "it was sent before you said stop"
            return (await self.stores.inbox.put(inbound, Fate.CANCELLED, why)).receipt
        stored = await self.stores.inbox.put(inbound)
        if not stored.is_new:
            return await self._again(stored, state)
        if inbound.is_report and self.lanes.is_stopped(inbound.sender):
            await self.stores.inbox.mark((stored.receipt.id,), Fate.CANCELLED, STOPPED)
            return replace(stored.receipt, fate=Fate.CANCELLED, reason=STOPPED)
        receipt = await self._go(stored, said, state)
        if self._is_held:
            self._is_held = False
            self.lanes.run()
        return receipt

    async def _again(self, stored: Stored, state: SessionState) -> Receipt:
        """The same message once more: how it stands; one that waits and is in no line is put in it."""
        placed, lane = self._placed(stored.receipt), self.lanes.get(stored.receipt.session)
        is_lost = placed.fate is Fate.WAITING and placed.position == 0 and (lane is None or lane.running is None)
        is_plain = await self._command(stored.inbound) is None
        return await self.lanes.enter(stored, state) if is_lost and is_plain else placed

    def _stop_at_once(self, stop: Inbound) -> None:
        """However busy the store is; but one that a channel brings again must not end a later turn."""
        lane = self.lanes.get(stop.session)
        if lane is not None and (not stop.external_id or (lane.running and is_later(stop, lane.running.since))):
            lane.interrupt()

    async def enter(self, stored: Stored) -> Receipt:
        """Put in line what is stored already: a sub-agent's task."""
        return await self.lanes.enter(stored, SessionState())

    async def receipt(self, inbox: int) -> Receipt:
        """Where a message stands now."""
        return self._placed((await self._stored(inbox)).receipt)

    def events(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
        """Signals of one session, or of all."""
        return self.feed.subscribe(session, since)

    async def stop(self, session: str) -> Stopped:
        """Take away what waits, end the turn, end the sub-agents; returns when that is so."""
        return await self.stopped(session)

    async def stopped(self, session: str, sent: datetime | None = None, upto: int = 0) -> Stopped:
        """As `stop`; `sent` is when the channel's person said so, `upto` the row of the message that does."""
        was_busy = await self.quiet(session)
        lane = self.lanes.get(session)
        running = lane.running if lane else None
        held = lane.hold(upto) if lane else Held()
        if lane:
            lane.interrupt()  # at once, however busy the store is
        try:
            cancelled = await self.stores.inbox.stop(session, sent, upto)
        except StorageError:
            if lane:  # what could not be cancelled waits on, in its old place
                lane.give_back(held)
                self.lanes.run()
            raise
        finally:  # a full disk does not let the sub-agents go on
            below = self.lanes.of(await self.stores.inbox.children(session))
            gone = self._break_off(below, self.lanes.get(session))
        late = [receipt for receipt in gone if receipt not in cancelled]
        await self.stores.inbox.mark([receipt.id for receipt in late], Fate.CANCELLED, STOPPED)
        for receipt in (*cancelled, *late):
            self._forget(receipt)
        await _settled([turn for turn in (running, *(lane.running for lane in below)) if turn is not None])
        own = [receipt for receipt in cancelled if receipt.session == session]
        at_work = {r.session for r in cancelled} | {lane.session for lane in below}
        return Stopped(running is not None or was_busy, len(own), len(at_work - {session}))

    async def withdraw(self, inbox: int) -> Receipt:
        """Take back a message that still waits."""
        was_open = await self.stores.inbox.mark((inbox,), Fate.CANCELLED, "taken back")
        receipt = (await self._stored(inbox)).receipt
        if not was_open:
            raise NotOpen(f"message {inbox} waits no longer: it is {receipt.fate.value}")
        self._forget(receipt)
        return receipt

    async def answer(self, question: str, answer: Answer, by: str) -> None:
        """Answer an approval, once."""
        await self.desk.answer(question, answer, by)

    async def questions(self) -> tuple[Question, ...]:
        """The approvals that wait."""
        return await self.desk.questions()

    async def queue(self, session: str, change: QueueChange | None = None, *, reset: bool = False) -> QueueSettings:
        """How the session's messages wait, after this change to it."""
        before = (await self.stores.inbox.state(session)).queue
        kept = merged(QueueChange() if reset else before, change or QueueChange())
        if kept != before:
            await self.stores.inbox.set_queue(session, kept)
        return settled(self.lanes.rules.base, kept)

    async def choose_model(self, session: str, model: str) -> None:
        """Ask this model in the session from now on. Raises ConfigError for one that is not known."""
        await self.stores.records.choose_model(session, self.exactly(model) if model else "")

    async def delete(self, session: str) -> None:
        """Delete a session that is at rest."""
        with self.lanes.barred(session):
            await self.stopped(session)  # its sub-agents may still be at work
            for row in await self.stores.records.delete(session):
                self._forget(Receipt(row, session, Fate.CANCELLED, reason="its conversation was deleted"))

    async def revoke(self, number: int) -> None:
        """Take a lasting approval back."""
        await self.stores.grants.revoke(number)

    async def keep(self, content: bytes, mime: str, name: str) -> Media:
        """Store an attachment."""
        return await self.stores.media.put(content, mime, name)

    async def status(self) -> Status:
        """How the runtime is."""
        slots = self.lanes.house.slots
        return Status(
            __version__,
            os.getpid(),
            self.started,
            self.lanes.status(),
            slots.count,
            slots.count - slots.free,
            dict(self.channels),
            await self.outbox() if self.outbox else {},
            questions=len(await self.desk.questions()),
            findings=tuple(self.findings),
            holders=tuple(self.holders),
        )

    async def close(self, grace: float = 0.0) -> None:
        """Take nothing more, let running turns end if they can; what is left goes on at the next start."""
        self._closing = True
        await self.lanes.close(grace)
        await self.desk.close()
        self.feed.close()
        self._closed.set()

    async def wait_closed(self) -> None:
        """Until it has been closed."""
        await self._closed.wait()

    async def wake(self, session: str = "") -> None:
        """Bring back what an earlier process left in this session, or in all; once."""
        if "" in self._awake or session in self._awake:
            return
        async with self._waking:
            if session not in self._awake:
                children = await self.stores.inbox.children(session) if session else ()
                for name in (*children, session):
                    await self._bring_back(name)
                self._awake |= {session, *children}
                if not self._is_held:
                    self.lanes.run()

    async def _bring_back(self, session: str) -> None:
        for due in await self.stores.records.due(session):
            self.lanes.go_on(due)
        for stored in await self.stores.inbox.waiting(session):
            said = await self._command(stored.inbound) if may_command(stored.inbound) else None
            if said is not None and said.name in commands.NOT_AGAIN:
                why = "PalmClaw restarted before it was done"
                await self.stores.inbox.mark((stored.receipt.id,), Fate.DROPPED, why)
                continue
            left = stored.inbound if said is None else await self._do(stored, said)
            if isinstance(left, Inbound):
                await self.lanes.load(replace(stored, inbound=left))

    async def _command(self, inbound: Inbound) -> Command | None:
        """What the message commands. Bare words mean stop, or answer a question, only where there is one to mean.

        They answer only in a channel: a terminal shows the question and answers it by its id, so that what was typed
        before it was shown is never taken for its answer.
        """
        said = commands.command(inbound.text)
        if said is not None and inbound.text.lstrip().startswith("/"):
            return said
        if inbound.address and commands.answer(inbound.text) and await self.questions_to(inbound):
            return Command("approve", inbound.text)
        if said is None or self.lanes.get(inbound.session) is not None:
            return said
        children = await self.stores.inbox.children(inbound.session)
        return said if any(self.lanes.get(child) for child in children) else None

    async def questions_to(self, inbound: Inbound) -> list[str]:
        """The open questions that were delivered to where this is written, before it was."""
        sent = await self.asked_at(inbound.address) if inbound.address else frozenset()
        return [q.asked.id for q in await self.questions() if q.asked.id in sent and not is_older(inbound, q)]

    async def _go(self, stored: Stored, said: Command | None, state: SessionState) -> Receipt:
        if said is not None:
            done = await self._do(stored, said)
            if isinstance(done, Receipt):
                return done
            stored = replace(stored, inbound=done)
        return await self.lanes.enter(stored, state)

    async def _do(self, stored: Stored, said: Command) -> Receipt | Inbound:
        """Do what was commanded; what is left for the agent comes back as a message."""
        done = await self.order(self, stored, said)
        if isinstance(done, Inbound):
            return done
        receipt = replace(stored.receipt, fate=Fate.ANSWERED, text=done)
        await self.stores.inbox.answered(receipt, said.name, self.reply(receipt, stored.inbound))
        self._tell(receipt)
        return receipt

    async def _stored(self, inbox: int) -> Stored:
        stored = await self.stores.inbox.get(inbox)
        if stored is None:
            raise NotOpen(f"there is no message {inbox}")
        return stored

    def _break_off(self, below: Sequence[Lane], own: Lane | None) -> list[Receipt]:
        """End the sub-agents in one moment: what they have told is dropped, and from now on they tell nothing."""
        gone: list[Receipt] = []
        for lane in below:
            gone += lane.clear()
            lane.interrupt()
        return gone + (own.drop_reports() if own else [])

    def _forget(self, receipt: Receipt) -> None:
        """The store has cancelled a message: it leaves its line, and all are told."""
        if lane := self.lanes.get(receipt.session):
            lane.remove((receipt.id,))
        self._tell(receipt)

    def _placed(self, receipt: Receipt) -> Receipt:
        lane = self.lanes.get(receipt.session)
        return replace(receipt, position=lane.line.position(receipt.id)) if lane else receipt

    def _tell(self, receipt: Receipt) -> None:
        self.feed.publish(receipt.session, "", Taken(receipt))


async def _settled(turns: Sequence[Running]) -> None:
    """Wait until these turns are over, or SETTLE is."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLE):
            for turn in turns:
                await turn.ended.wait()
