"""The runtime put together: opened by whoever owns the home, a conversation or the gateway."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from palmclaw.agent.briefing import Briefing
from palmclaw.agent.compaction import Compaction
from palmclaw.agent.context import stamped
from palmclaw.agent.toolbox import Ports
from palmclaw.app import App, prompt
from palmclaw.core.channels import Channel
from palmclaw.core.desks import CONVERSATIONS, CREW
from palmclaw.core.device import DEVICE
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Answer, ApprovalAnswered, ApprovalAsked, Happening, TurnEnded
from palmclaw.core.memory import MEMORY, RECALL
from palmclaw.core.messages import Message, utc_now
from palmclaw.core.ports import CLOCK, LIMITS, ROUTES
from palmclaw.core.records import News, OpenTurn
from palmclaw.core.session import JOINED
from palmclaw.core.skill import SKILLS
from palmclaw.core.tools import Service
from palmclaw.core.traffic import SUBAGENT, Address, Inbound, Origin, Outbound, Receipt
from palmclaw.guard.marks import MARKS, Marks
from palmclaw.guard.processes import PROCESSES, Processes
from palmclaw.guard.workspace import TRASH, WORKSPACE, Workspace
from palmclaw.kits import Bench, Kit
from palmclaw.runtime.approvals import Desk
from palmclaw.runtime.background import Background
from palmclaw.runtime.bindings import agent_for, session_for
from palmclaw.runtime.compacting import Compacting
from palmclaw.runtime.conversations import SpokenHere
from palmclaw.runtime.feed import Feed
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.lane import House
from palmclaw.runtime.lanes import Lanes
from palmclaw.runtime.orders import Orders
from palmclaw.runtime.slots import Slots
from palmclaw.runtime.stores import Stores
from palmclaw.runtime.subagents import Subagents
from palmclaw.runtime.turns import Silent, Turns, Voice, Work, entry
from palmclaw.runtime.words import Words, language
from palmclaw.storage.conversations import ConversationRecords
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import Inbox
from palmclaw.storage.journal import Approvals, CallJournal
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.logfile import LogFile
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.memory import KeptMemory
from palmclaw.storage.memory_file import MemoryFile
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.questions import Questions
from palmclaw.storage.sessions import Sessions

if TYPE_CHECKING:
    from palmclaw.agent.consolidation import Consolidation
    from palmclaw.runtime.delivery import Delivery
    from palmclaw.runtime.reception import Reception

log = logging.getLogger(__name__)
KEPT = timedelta(days=30)
"""How long messages that have come to their end stay in the inbox and outbox; the conversation keeps its own."""
DAY = 86_400.0
GRACE = 5.0
"""Seconds that running turns have when the gateway ends."""


@asynccontextmanager
async def opened(app: App, purpose: str = "chat", session: str = "", *, at_once: bool = True) -> AsyncIterator[Gateway]:
    """Own the home, close what a crash left open, and be ready: for one session, or for all there are.

    `at_once`: what a crash broke off goes on now, not with the first message.

    Raises ConfigError, HomeBusy, StorageError.
    """
    async with AsyncExitStack() as stack:
        await _owned(app, purpose, stack)
        made = Rooms(app, {})
        gateway = made.gateway(stack)
        await gateway.start(session, at_once=at_once)
        await made.crew.recover(session)
        yield gateway


@asynccontextmanager
async def gateway(app: App, channels: Mapping[str, Channel] | None = None) -> AsyncIterator[Gateway]:
    """The runtime of `palmclaw serve`: every session, every channel; at the end running turns have some seconds."""
    channels = app.channels() if channels is None else channels
    async with AsyncExitStack() as stack:
        await _owned(app, SERVING, stack)
        made = Rooms(app, channels)
        for channel in channels.values():
            stack.push_async_callback(channel.close)
        gateway = made.gateway(stack)
        stack.push_async_callback(made.delivery.close)
        stack.push_async_callback(gateway.close, GRACE)
        made.reception = made.met(gateway)
        gateway.channels, gateway.asked_at = made.reception.wrong, made.reception.asked_at
        await gateway.recover()
        await made.delivery.start()
        await made.reception.prepare()
        await gateway.wake()
        await made.crew.recover()
        tidying = asyncio.create_task(_tidied(app.database))
        stack.callback(tidying.cancel)
        stack.push_async_callback(made.reception.close)
        made.reception.listen()
        yield gateway


async def _tidied(database: Database) -> None:
    """Once a day, for as long as the gateway runs: forget what nobody asks for any more."""
    while True:
        try:
            await Inbox(database).prune(utc_now() - KEPT)
            await Outbox(database).prune(utc_now() - KEPT)
        except StorageError as error:
            log.warning("what is old could not be forgotten: %s", error)
        await asyncio.sleep(DAY)


async def _owned(app: App, purpose: str, stack: AsyncExitStack) -> None:
    """Hold the home and open its database until the stack is left."""
    services = app.services
    services.provider(services.chosen("").service)  # what is wrong with it is said before anything is opened
    lock = HomeLock(app.home.lock)
    lock.acquire(purpose)
    stack.callback(lock.release)
    app.database = app.opening(app.home.database)
    stack.push_async_callback(app.database.close)
    stack.push_async_callback(app.models().close)
    _log_to(app)


class Rooms:
    """The parts that must know of each other while they are introduced."""

    def __init__(self, app: App, channels: Mapping[str, Channel]) -> None:
        self.app = app
        self.channels = channels
        self.sessions = Sessions(app.database)
        self.feed = Feed()
        self._delivery: Delivery | None = None
        self.words = Words(language(app.environ))
        self.reception: Reception | None = None
        models = app.models()
        self.memory = KeptMemory(MemoryFile(app.home.memory, app.templates.seed()), app.database, app.device)
        self.records = ConversationRecords(app.database)
        self._consolidation: Consolidation | None = None
        self.compaction = Compaction(models, self.sessions, prompt("SUMMARY"), self.flush, models.is_local)
        self.briefing = Briefing(self.sessions, self.memory, app.skills)
        self.crew: Subagents
        self.bench: Bench

    def gateway(self, stack: AsyncExitStack) -> Gateway:
        """The runtime, not yet started; the stack ends it."""
        app, database, limits = self.app, self.app.database, self.app.settings.limits
        grants, inbox, journal, processes = Approvals(database), Inbox(database), CallJournal(database), Processes()
        stack.push_async_callback(processes.close)
        desk = Desk(Questions(database), limits.approval_seconds, self.anybody)
        marks, records = Marks(app.home.marks), self.records
        desks: dict[Service[Any], Any] = {MEMORY: self.memory, RECALL: records, SKILLS: app.skills}

        def granted(kit: Kit, workspace: Workspace) -> dict[Service[Any], Any]:
            return {**_granted(app, kit, workspace), MARKS: marks, PROCESSES: processes, **desks}

        ports = Ports(desk, grants, app.device, journal)
        bench = Bench(app.kits, limits, ports, app.models(), self.sessions, app, granted)
        bench.compaction, bench.briefing = self.compaction, self.briefing
        self.bench, model = bench, str(app.services.chosen(""))
        turns = Turns(self.sessions, journal, app.device, bench.agent, model, bench.default, self.sorry, self.brief)
        house = House(turns, Slots(limits.turns), self.publish, self.voice, self.entry, self.over)
        lanes = Lanes(house, inbox, app.settings.queue)
        desk.while_asking = lanes.lent
        stores = Stores(self.sessions, inbox, MediaFolder(app.home.media), grants)
        self.compacting = Compacting(bench, lanes, self.words, self.publish, self.begins, self.said)
        orders = Orders(self.words, self.model, bench, self.compacting)
        made = Gateway(stores, turns, lanes, self.feed, desk, orders, reply=self.reply)
        made.outbox, made.exactly = Outbox(database).counts, app.exactly
        self.crew = Subagents(CrewRecords(database), self.sessions, app.kits.limits, made.take, made.enter)
        bench.charge = self.crew.charge
        desks[CREW] = self.crew
        desks[CONVERSATIONS] = SpokenHere(
            records, self.sessions, lanes, lambda: self.delivery, self.publish, self.session_of
        )
        self.background = Background(self.look, self.asked, lambda session: lanes.get(session) is None)
        made.quiet = self.quiet
        stack.push_async_callback(self.background.close)
        stack.push_async_callback(self.compacting.close)
        stack.push_async_callback(made.close)
        return made

    @property
    def delivery(self) -> "Delivery":
        """What sends to the channels; made, and loaded, when something is first sent."""
        if self._delivery is None:
            from palmclaw.runtime.delivery import Delivery

            delivering = {name: settings.delivery for name, settings in self.app.settings.channels.items()}
            self._delivery = Delivery(Outbox(self.app.database), self.channels, delivering, self.publish)
        return self._delivery

    @property
    def consolidation(self) -> "Consolidation":
        """What looks through conversations for the memory; made, and loaded, when it is first wanted."""
        if self._consolidation is None:
            from palmclaw.agent.consolidation import Consolidation

            models, window = self.app.models(), self.app.settings.limits.memory_messages
            self._consolidation = Consolidation(models, models, self.memory, self.memory, window)
        return self._consolidation

    async def look(self, session: str, model: str) -> bool:
        """Look through a conversation of the owner's alone, if it is time; whether it was. What is new can be found."""
        await self.records.index_some()
        if (await self.sessions.before(session)).shared:
            return False
        return await self.consolidation.run(session, model)

    async def flush(self, session: str, upto: int, *, cycle: int, model: str = "") -> bool:
        """Look through what is about to leave a conversation's window."""
        return await self.consolidation.flush(session, upto, cycle=cycle, model=model)

    async def begins(self, session: str) -> None:
        """Nothing goes on in a session's background any more."""
        await self.background.begins(session)

    async def quiet(self, session: str) -> bool:
        """The same, and nothing is summed up; whether it was."""
        await self.begins(session)
        return await self.compacting.stop(session)

    async def said(self, inbound: Inbound, text: str) -> None:
        """Words of the runtime's own, to where a message came from."""
        if inbound.address is not None:
            pieces = self.delivery.pieces(inbound.address, text, f"said-{token_hex(6)}")
            await self.delivery.post(inbound.session, "", pieces)

    def met(self, gateway: Gateway) -> "Reception":
        """Where the channels meet the gateway."""
        from palmclaw.runtime.access import Access
        from palmclaw.runtime.reception import Reception
        from palmclaw.storage.people import KnownPeople

        settings = self.app.settings
        access = Access({n: c.access for n, c in settings.channels.items()}, KnownPeople(self.app.database), self.words)
        return Reception(gateway, access, self.delivery, self.channels, settings.agents, self.words)

    def session_of(self, address: Address) -> str:
        """The session of a chat. Raises ConfigError where no agent talks there."""
        return session_for(agent_for(address, self.app.settings.agents), address)

    def publish(self, session: str, turn: str, event: Happening) -> None:
        """Tell all who listen; a sub-agent's questions are heard in its parent's conversation too."""
        self.feed.publish(session, turn, event)
        parent = self.crew.parent(session)
        if parent and isinstance(event, ApprovalAsked | ApprovalAnswered):
            self.publish(parent, turn, event)
        elif parent and isinstance(event, TurnEnded):  # it was stopped while it asked
            for asked in self.feed.asked(parent, turn):
                self.publish(parent, turn, ApprovalAnswered(asked.id, asked.call.id, Answer.UNASKED))
        elif self.reception is not None:
            self.reception.heard(session, event)

    def anybody(self, session: str) -> bool:
        """Whether anybody could answer a question there."""
        has_place = self.reception is not None and self.reception.place(session) is not None
        parent = self.crew.parent(session)
        return has_place or self.feed.is_heard(session) or (bool(parent) and self.anybody(parent))

    def voice(self, work: Work) -> Voice:
        """Speaks where the answers go."""
        inbound = work.last
        if inbound.address is None:
            return Silent()
        is_job = inbound.origin is Origin.JOB
        silent = is_job or inbound.group
        return self.delivery.voice(inbound.address, work.session, work.id, may_be_silent=silent, may_be_dropped=is_job)

    def entry(self, inbound: Inbound) -> Message:
        """A message as it joins a running turn."""
        return entry(inbound, stamped(inbound.text, self.app.device.now(), inbound.media, (JOINED,)))

    def reply(self, receipt: Receipt, inbound: Inbound) -> Sequence[Outbound]:
        """The answer to a command, on its way to where that came from."""
        address = inbound.address
        return self.delivery.pieces(address, receipt.text, f"inbox:{receipt.id}") if address else ()

    def sorry(self, turn: OpenTurn) -> Sequence[Outbound]:
        """What is said where the answers of a turn would have gone that broke twice."""
        if turn.address is None:
            return ()
        return self.delivery.pieces(turn.address, self.words("crashed_twice"), f"sorry:{turn.id}")

    async def over(self, work: Work, ended: TurnEnded) -> None:
        """A turn has come to its end."""
        await self.crew.over(work, ended)
        self.background.over(work, ended)

    async def brief(self, work: Work, alone: bool) -> News:
        """What the model is told beside the words of a new message; nothing goes on in the background any more."""
        await self.begins(work.session)
        if work.session.startswith(SUBAGENT):
            return News()
        said = [i.text for i in work.inbounds if i.origin is not Origin.OTHER and not i.is_report]
        return await self.briefing.news(work.session, said, await self.bench.kept(work.session), knows=alone)

    async def asked(self, session: str) -> str:
        """The model that a session's next message goes to, as it is written."""
        return await self.sessions.model(session) or await self.bench.default(session)

    async def model(self, session: str) -> str:
        """The same in words."""
        return str(self.app.services.chosen(await self.asked(session)))


def _granted(app: App, kit: Kit, workspace: Workspace) -> dict[Service[Any], Any]:
    return {
        DEVICE: app.device,
        CLOCK: app.device,
        ROUTES: kit.routes,
        WORKSPACE: workspace,
        LIMITS: app.settings.limits,
        TRASH: app.home.trash,
    }


def _log_to(app: App) -> None:
    """Bugs are written to a file of the home; the level can be raised by nobody but the owner of the code."""
    root = logging.getLogger("palmclaw")
    if not root.handlers:
        handler = LogFile(app.home.log)
        root.addHandler(handler)
        root.propagate = False
