"""A whole runtime over a real database, with a model and tools that do what the test says, when the test says it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from palmclaw.agent.compaction import Compaction
from palmclaw.agent.context import Contents, SessionContext, stamped
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.agent.toolbox import Ports, Toolbox
from palmclaw.agent.turn import Turn
from palmclaw.core.desks import CREW, Charge, CrewLimits
from palmclaw.core.errors import ConfigError
from palmclaw.core.events import Compacted, Happening, Signal, Taken, TextDelta, TurnEnded, TurnStarted
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, Role, Text, ToolCall, Usage
from palmclaw.core.ports import Delta, Provider, Reply, Request
from palmclaw.core.session import JOINED
from palmclaw.core.tools import Effect, Module, Service, Tool, ToolContext, tool
from palmclaw.core.traffic import Address, Inbound, QueueChange, QueueSettings, Receipt
from palmclaw.guard.processes import PROCESSES, Processes
from palmclaw.guard.workspace import Workspace
from palmclaw.runtime.approvals import Desk
from palmclaw.runtime.compacting import Compacting
from palmclaw.runtime.feed import Feed
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.lane import House
from palmclaw.runtime.lanes import Lanes, QueueRules
from palmclaw.runtime.orders import Orders
from palmclaw.runtime.slots import Slots
from palmclaw.runtime.stores import Stores
from palmclaw.runtime.subagents import Subagents
from palmclaw.runtime.turns import Silent, Turns, Voice, Work, entry
from palmclaw.runtime.words import Words
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database
from palmclaw.storage.database import Work as Transaction
from palmclaw.storage.inbox import Inbox
from palmclaw.storage.journal import Approvals, CallJournal
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.questions import Questions
from palmclaw.storage.sessions import Sessions
from tests.agent.kit import PhonePermissions
from tests.runtime.crash_child import Clock, Facts

HERE = "s"
OPEN = ("waiting", "summarized")


@dataclass
class Pace:
    """Time that passes when the test says so; who sleeps is woken in the order of their hours."""

    at: float = 100.0
    _sleepers: "list[tuple[float, asyncio.Future[None]]]" = field(default_factory=list)

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        sleeper = (self.at + seconds, woken)
        self._sleepers.append(sleeper)
        try:
            await woken
        finally:
            self._sleepers.remove(sleeper)

    @property
    def asleep(self) -> list[float]:
        """For how long each sleeper still sleeps."""
        return sorted(round(due - self.at, 6) for due, _ in self._sleepers)

    async def forward(self, seconds: float) -> None:
        """Let so much time pass; whoever wakes may go to sleep again meanwhile."""
        end = self.at + seconds
        while True:
            for _ in range(20):
                await asyncio.sleep(0)
            due = [s for s in self._sleepers if s[0] <= end + 1e-9 and not s[1].done()]
            if not due:
                break
            self.at, woken = min(due, key=lambda s: s[0])
            woken.set_result(None)
        self.at = end


@dataclass(slots=True)
class MortalDatabase(Database):
    """A database whose process dies where the test says so: from then on nothing is stored and nobody gets an answer.

    `fatal` is asked before and after every transaction, with the name of the operation; a gate in `holds` keeps the
    operation of that name waiting.
    """

    fatal: Callable[[str, bool], bool] = lambda name, done: False
    holds: "dict[str, Gate]" = field(default_factory=dict)
    is_dead: bool = False
    under_way: int = 0

    async def run(self, work: Transaction[Any]) -> Any:
        return await self._mortal(work, Database.run)

    async def note(self, work: Transaction[Any]) -> Any:
        return await self._mortal(work, Database.note)

    async def _mortal(self, work: Transaction[Any], how: Callable[..., Awaitable[Any]]) -> Any:
        await self._step(work, done=False)
        self.under_way += 1
        try:
            result = await how(self, work)
        finally:
            self.under_way -= 1
        await self._step(work, done=True)
        return result

    async def _step(self, work: Transaction[Any], *, done: bool) -> None:
        name = work.__qualname__.partition(".<locals>")[0]
        if not done and name in self.holds:
            await self.holds[name].wait()
        self.is_dead = self.is_dead or self.fatal(name, done)
        if self.is_dead:
            await asyncio.Event().wait()


def dies(operation: str, *, done: bool, time: int = 1) -> Callable[[str, bool], bool]:
    """Dies just before or just after the named operation, when it is done the n-th time."""
    left = [time]

    def fatal(name: str, is_done: bool) -> bool:
        if name == operation and is_done is done:
            left[0] -= 1
        return left[0] <= 0

    return fatal


@dataclass
class Death:
    """The process dies just after its n-th transaction."""

    at: int
    count: int = 0

    def __call__(self, name: str, done: bool) -> bool:
        self.count += done
        return done and self.count == self.at


class Gate:
    """Something that waits until the test opens it; `reached` is set when somebody waits there."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._open = asyncio.Event()

    def open(self) -> None:
        self._open.set()

    def close(self) -> None:
        """Nobody passes any more, and nobody waits there yet."""
        self.reached.clear()
        self._open.clear()

    async def wait(self) -> None:
        self.reached.set()
        await self._open.wait()


@dataclass(frozen=True)
class Say:
    """One answer of the model: text, or calls, or an error; at `gate` it waits, after `before` has been said."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    gate: Gate | None = None
    before: str = ""
    error: Exception | None = None


class Model:
    """Answers each session's requests from its script; by default it says “ok”. Remembers every request.

    A script may also be of whatever session began with these words, or of requests with this purpose.
    """

    local = False

    def __init__(self) -> None:
        self.scripts: dict[str, list[Say]] = {}
        self.requests: list[Request] = []

    def will(self, *says: Say | str, session: str = HERE) -> None:
        """What it answers in a session, one after the other."""
        self.scripts.setdefault(session, []).extend(Say(s) if isinstance(s, str) else s for s in says)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        names = (request.purpose, request.session, request.messages[0].text)
        script = next((found for name in names if (found := self.scripts.get(name))), [Say("ok")])
        say = script.pop(0)
        if say.before:
            yield TextDelta(say.before)
        if say.gate is not None:
            await say.gate.wait()
        if say.error is not None:
            raise say.error
        if say.text:
            yield TextDelta(say.text)
        words = (Text(say.before + say.text),) if say.before + say.text else ()
        yield Reply(Message(Role.ASSISTANT, (*words, *say.calls), model="m"), Usage(10, 5, requests=1))

    async def close(self) -> None:
        """Nothing to give back."""


@dataclass(frozen=True)
class Named:
    """Which one, so that two calls differ."""

    name: str = ""


@dataclass(frozen=True)
class Windows:
    """Implements the port of that name over the one context of a rig."""

    context: SessionContext
    compaction: Compaction

    async def compact(self, session: str, focus: str, interrupt: Interrupt) -> Compacted | None:
        turn = Turn(session, "look", model="m", interrupt=interrupt)
        crowd = await self.context.crowd(turn, all_of_it=True)
        return await self.compaction.sum_up(turn, crowd, focus) if crowd else None

    async def contents(self, session: str) -> Contents:
        return await self.context.contents(Turn(session, "look", model="m"))


@dataclass(repr=False)
class Rig:
    """A gateway, its model, its tools (`gates` by the call's name hold them), and what they did.

    `preparing` holds every turn between its beginning and its first request, `resting` whoever waits until nothing goes
    on in the background; `told` is what chats were told afterwards.
    """

    gateway: Gateway
    model: Model
    sessions: Sessions
    database: MortalDatabase
    crew: Subagents
    ran: list[str]
    gates: dict[str, Gate]
    preparing: list[Gate]
    told: list[tuple[str, str]]
    resting: list[Gate]
    heard: list[Signal] = field(default_factory=list)
    news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def say(self, text: str, session: str = HERE, mode: Any = None, **more: Any) -> Receipt:
        """A message of the owner's, or of whoever is named."""
        change = more.pop("queue", QueueChange(mode=mode))
        return await self.gateway.take(Inbound(session, text, queue=change, **more))

    async def until(self, met: Callable[[list[Happening]], bool], session: str = HERE) -> None:
        """Wait until what was heard of the session meets this."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: met(self.events(session))), 10)

    async def ends(self, count: int = 1, session: str = HERE) -> None:
        """Wait until so many turns of the session have ended, and the lane is at rest or in the next one."""
        await self.until(lambda events: sum(isinstance(e, TurnEnded) for e in events) >= count, session)
        await self.calm()

    async def calm(self) -> None:
        """Wait until nothing goes on by itself any more: all that is still open waits for the test, or for time."""
        quiet = 0
        while quiet < 30 and not self.database.is_dead:
            await asyncio.sleep(0 if quiet else 0.0005)
            quiet = 0 if self.database.under_way else quiet + 1

    async def dead(self) -> None:
        """Wait until the process has died where it was told to."""
        while not self.database.is_dead:
            await asyncio.sleep(0.0005)

    def events(self, session: str = HERE) -> list[Happening]:
        return [s.event for s in self.heard if s.session == session]

    def turns(self, session: str = HERE) -> list[tuple[int, ...]]:
        """The inbox rows that each turn was begun with."""
        return [e.inbox for e in self.events(session) if isinstance(e, TurnStarted)]

    def stops(self, session: str = HERE) -> list[str]:
        """How each turn ended: the stop, or the code of its error."""
        ends = [e for e in self.events(session) if isinstance(e, TurnEnded)]
        return [e.error.code if e.error else e.stop.value for e in ends]

    def fates(self, session: str = HERE) -> dict[int, list[str]]:
        """What each message was told, in order."""
        found: dict[int, list[str]] = {}
        for event in self.events(session):
            if isinstance(event, Taken):
                found.setdefault(event.receipt.id, []).append(event.receipt.fate.value)
        return found

    async def fate(self, receipt: Receipt) -> tuple[str, int]:
        """Where a message stands now: its fate, and its position."""
        now = await self.gateway.receipt(receipt.id)
        return now.fate.value, now.position

    async def log(self, session: str = HERE) -> tuple[Message, ...]:
        return await self.sessions.all(session)

    async def said(self, session: str = HERE) -> list[tuple[str, str]]:
        """The log as (role, text) pairs; results as (tool, error code or content)."""
        lines: list[tuple[str, str]] = []
        for message in await self.log(session):
            for result in message.results:
                lines.append((result.name, result.error.code if result.error else result.content))
            if not message.results:
                lines.append((message.role.value, message.text or ",".join(c.name for c in message.calls)))
        return lines

    async def heard_by_model(self, session: str = HERE) -> list[str]:
        """Every user message of the log, in order."""
        return [m.text for m in await self.log(session) if m.role is Role.USER]

    async def rows(self) -> dict[int, str]:
        """The fate of every message, as it is stored."""
        return dict(await self.database.run(lambda db: db.execute("SELECT id, state FROM inbox").fetchall()))

    async def check_whole(self) -> None:
        """I0: each call has exactly one result before the next user message; each turn begun has one end; what each
        message was told ends with one fate, the one that is stored.
        """
        await self.calm()
        for info in await self.sessions.listed():
            open_calls: list[str] = []
            for message in await self.log(info.id):
                if message.role is Role.USER:
                    assert open_calls == [], f"{info.id}: calls without a result: {open_calls}"
                open_calls += [c.id for c in message.calls]
                for result in message.results:
                    open_calls.remove(result.call_id)
            assert open_calls == []
        begun = [s.turn for s in self.heard if isinstance(s.event, TurnStarted)]
        ended = [s.turn for s in self.heard if isinstance(s.event, TurnEnded)]
        assert sorted(begun) == sorted(ended)
        assert len(set(begun)) == len(begun)
        rows = await self.rows()
        for session in {s.session for s in self.heard}:
            for row, told in self.fates(session).items():
                final = [fate for fate in told if fate not in OPEN]
                assert (final or [told[-1]]) == [rows[row]], f"message {row} was told {told}, and is {rows[row]}"


def call(name: str, key: str = "") -> ToolCall:
    """A call of the tool `name`; its result, its gate and its place in `ran` are called `key`."""
    return ToolCall(f"c-{key or name}", name, {"name": key or name})


def made_tools(ran: list[str], gates: dict[str, Gate]) -> dict[str, Tool]:
    async def work(args: Named, ctx: ToolContext) -> Any:
        ran.append(args.name)
        if args.name in gates:
            await gates[args.name].wait()
        return f"{args.name} done"

    def of(name: str, effect: Effect) -> Tool:
        async def handler(args: Named, ctx: ToolContext) -> Any:
            return await work(args, ctx)

        handler.__doc__ = f"Do {name}."
        return tool(module="test", effect=effect, name=name)(handler)

    return {t.name: t for t in (of("look", Effect.READ), of("write", Effect.WRITE_WORKSPACE), of("send", Effect.SEND))}


@dataclass(frozen=True)
class Task:
    """What a sub-agent is to do."""

    task: str


@tool(module="test", effect=Effect.WRITE_WORKSPACE)
async def spawn(args: Task, ctx: ToolContext) -> Any:
    """Begin a sub-agent."""
    charge = Charge(args.task, "helper", ctx.session)
    return await ctx.need(CREW).spawn(ctx.session, ctx.turn, charge, tainted=ctx.tainted)


def spawning(task: str, key: str = "") -> ToolCall:
    """A call that begins a sub-agent."""
    return ToolCall(f"c-{key or task}", "spawn", {"task": task})


def child_of(rig: Rig, number: int = 0) -> str:
    """The session of a sub-agent, by the order of their coming."""
    return list(dict.fromkeys(s.session for s in rig.heard if s.session.startswith("subagent:")))[number]


@asynccontextmanager
async def rigged(
    folder: Path,
    *,
    queue: QueueSettings = QueueSettings(debounce=0.0),
    channels: dict[str, QueueChange] | None = None,
    slots: int = 2,
    tools: Sequence[Tool] = (),
    voice: Callable[[Work], Voice] = lambda work: Silent(),
    limits: Limits = Limits(),
    start: str = "",
    pace: Pace | None = None,
    model: Model | None = None,
    provider: Provider | None = None,
    crew: CrewLimits = CrewLimits(depth=2),
    language: str = "en",
    fatal: Callable[[str, bool], bool] | None = None,
    window: int = 0,
) -> AsyncIterator[Rig]:
    """A runtime over the database of `folder`, until the block is left: then it is closed in good order.

    Unless it has died meanwhile (`fatal`, or `database.is_dead` set by the test): then it does nothing any more.
    """
    before = asyncio.all_tasks()
    database, model = MortalDatabase(folder / "palmclaw.db"), model or Model()
    database.fatal = fatal or database.fatal
    ran, gates, preparing = list[str](), dict[str, Gate](), list[Gate]()
    sessions, feed, processes = Sessions(database), Feed(behind=100_000), Processes()
    services: dict[Service[Any], Any] = {PROCESSES: processes}
    asked = provider or model

    compaction = Compaction(asked, sessions, "sum up")

    async def agent(work: Work) -> Agent:
        for gate in tuple(preparing):
            await gate.wait()
        return Agent(asked, context, toolbox, limits, compaction)

    async def over(work: Work, ended: TurnEnded) -> None:
        await subagents.over(work, ended)

    def joined(inbound: Inbound) -> Message:
        return entry(inbound, stamped(inbound.text, Clock().now(), inbound.media, (JOINED,)))

    async def uses(session: str) -> str:
        return await sessions.model(session) or "m"

    def exactly(name: str) -> str:
        if name == "nonesuch":
            raise ConfigError("model", "there is no model nonesuch", "palmclaw models")
        return name

    offered = {**made_tools(ran, gates), spawn.name: spawn, **{t.name: t for t in tools}}
    modules = {"test": Module("test", "test", always=True, tools=tuple(offered))}
    journal, desk = CallJournal(database), Desk(Questions(database))
    ports = Ports(desk, Approvals(database), PhonePermissions(), journal)
    media = MediaFolder(folder / "media")
    context = SessionContext(
        "policy", sessions, sessions, media, Facts(window), ModuleRoutes(modules, offered), offered, modules, limits
    )
    toolbox = Toolbox(offered, Workspace({"session": folder, "shared": folder}), ports, limits, services)
    turns = Turns(sessions, journal, Clock(), agent)
    house = House(turns, Slots(slots), feed.publish, voice, joined, over)
    if pace is not None:
        desk.sleep = pace.sleep
        house = replace(house, sleep=pace.sleep, now=pace.now)
    lanes = Lanes(house, Inbox(database), QueueRules(queue, channels or {}))
    desk.while_asking = lanes.lent
    windows, told, resting = Windows(context, compaction), list[tuple[str, str]](), list[Gate]()

    async def at_rest(session: str) -> None:
        for gate in tuple(resting):
            await gate.wait()

    async def tell(inbound: Inbound, text: str) -> None:
        told.append((inbound.session, text))

    compacting = Compacting(windows, lanes, Words(language), feed.publish, at_rest, tell)
    orders = Orders(Words(language), uses, windows, compacting)
    gateway = Gateway(Stores(sessions, Inbox(database), media, Approvals(database)), turns, lanes, feed, desk, orders)
    gateway.exactly, gateway.quiet = exactly, compacting.stop

    async def asked_at(address: Address) -> frozenset[str]:
        """Here every question arrives at once in the chat that its turn answers to."""

        def is_there(session: str) -> bool:
            lane = gateway.lanes.get(session)
            return lane is not None and lane.running is not None and lane.running.work.last.address == address

        return frozenset(q.asked.id for q in await gateway.questions() if is_there(q.session))

    gateway.asked_at = asked_at
    subagents = Subagents(CrewRecords(database), sessions, crew, gateway.take, gateway.enter)
    services[CREW] = subagents
    rig = Rig(gateway, model, sessions, database, subagents, ran, gates, preparing, told, resting)
    listening = asyncio.create_task(_listen(rig))
    await asyncio.sleep(0)
    try:
        starting = asyncio.ensure_future(_started(rig, start))
        dying = asyncio.ensure_future(rig.dead())
        await asyncio.wait((starting, dying), return_when=asyncio.FIRST_COMPLETED)
        dying.cancel()
        if not database.is_dead:
            await starting
        yield rig
    finally:
        if not database.is_dead:
            await gateway.close()
            await listening
        lanes._closing = True
        await _killed(before)
        await processes.close()
        await database.close()


async def _started(rig: Rig, session: str) -> None:
    await rig.gateway.start(session)
    await rig.crew.recover()


async def _killed(before: "set[asyncio.Task[Any]]") -> None:
    """End whatever still runs, and whatever that begins in its end."""
    while left := asyncio.all_tasks() - before - {asyncio.current_task()}:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=0.05)


async def _listen(rig: Rig) -> None:
    async with aclosing(rig.gateway.events()) as signals:
        async for signal in signals:
            async with rig.news:
                rig.heard.append(signal)
                rig.news.notify_all()
