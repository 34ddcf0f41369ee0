"""Stop means stop, wherever it is said and whatever is being done: the acceptance cases A, over the whole runtime.

A-03 and A-04 are tried on processes alone in `test_processes.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import ToolError, Unavailable
from palmclaw.core.events import ApprovalAsked, Event, Retrying, Stop, TextDelta, ToolEnded, ToolStarted, TurnEnded
from palmclaw.core.messages import Cut, Stamp, Usage
from palmclaw.core.ports import Delta, Request, Spent
from palmclaw.core.runtime import NotOpen, Stopped
from palmclaw.core.tools import Effect, ToolContext, tool
from palmclaw.core.traffic import Address, Fate, Inbound, Mode, Origin, QueueSettings, Receipt
from palmclaw.guard.processes import PROCESSES
from palmclaw.runtime.budget import Budget, BudgetSettings, Prices
from palmclaw.runtime.models import Choice, Models
from palmclaw.runtime.patience import Patience
from palmclaw.runtime.turns import Silent
from tests.acceptance.rig import HERE, Gate, Pace, Rig, Say, call, child_of, dies, rigged, spawning
from tests.guard.test_processes import ENV, lives
from tests.guard.test_processes import dies as ends_with_all

FOLLOWUP = QueueSettings(Mode.FOLLOWUP, debounce=0.0)
CHAT = Address("chat", "1")


async def test_a01_a_stop_while_the_model_speaks(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(before="it begins", gate=gate), "new")
        await rig.say("A")
        await rig.until(lambda events: TextDelta("it begins") in events)
        receipt = await rig.say("/stop")
        assert receipt == Receipt(2, HERE, Fate.ANSWERED, text="Stopped.")
        assert rig.stops() == ["stopped"]
        (ended,) = [e for e in rig.events() if isinstance(e, TurnEnded)]
        assert ended.stop is Stop.CANCELLED
        log = await rig.log()
        assert await rig.said() == [("user", "A"), ("assistant", "it begins"), ("note", "Stopped by you.")]
        assert log[1].cut is Cut.INTERRUPTED
        assert len(rig.model.requests) == 1
        await rig.say("B")
        await rig.ends(2)
        (newest,) = [m for m in rig.model.requests[-1].messages if m.text == "B"]
        (stamp,) = [p.text for p in newest.parts if isinstance(p, Stamp)]
        assert stamp.endswith("· the user stopped your previous turn: parts of it may have been done]")
        await rig.say("C")
        await rig.ends(3)
        assert not any("stopped" in p.text for p in (await rig.log())[-2].parts if isinstance(p, Stamp))
        await rig.check_whole()


async def test_a01_a_stop_from_a_chat_does_not_wait_for_a_busy_store(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(before="it begins", gate=Gate()))
        await rig.say("A", address=CHAT, external_id="1")
        await rig.until(lambda events: TextDelta("it begins") in events)
        busy = rig.database.holds["Inbox.put"] = Gate()
        now = datetime.now(UTC) + timedelta(seconds=1)
        stopping = asyncio.create_task(rig.say("/stop", sent=now, address=CHAT, external_id="2"))
        await rig.ends()
        assert (rig.stops(), stopping.done()) == (["stopped"], False)
        busy.open()
        assert (await stopping).fate is Fate.ANSWERED
        await rig.check_whole()


async def test_a01_a_stop_that_a_chat_brings_again_does_not_end_the_next_turn(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        sent = datetime.now(UTC) - timedelta(minutes=1)
        await rig.say("/stop", sent=sent, address=CHAT, external_id="1")
        await rig.say("A", address=CHAT, external_id="2")
        await gate.reached.wait()
        again = await rig.say("/stop", sent=sent, address=CHAT, external_id="1")
        gate.open()
        await rig.ends()
        assert (again.id, again.fate, rig.stops()) == (1, Fate.ANSWERED, ["done"])
        await rig.check_whole()


async def test_a01_a_stop_before_the_model_was_asked(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.preparing.append(gate := Gate())
        await rig.say("A")
        await gate.reached.wait()
        stopping = asyncio.create_task(rig.gateway.stop(HERE))
        await rig.calm()
        gate.open()
        assert await stopping == Stopped(running=True)
        assert rig.model.requests == []
        assert await rig.said() == [("user", "A"), ("note", "Stopped by you.")]
        await rig.check_whole()


async def test_a01_a_stop_before_the_turn_was_stored(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.database.holds["Sessions.before"] = gate = Gate()
        a = await rig.say("A")
        await gate.reached.wait()
        stopping = asyncio.create_task(rig.gateway.stop(HERE))
        await rig.calm()
        gate.open()
        assert await stopping == Stopped(running=True, waiting=1)
        await rig.calm()
        assert await rig.gateway.receipt(a.id) == Receipt(a.id, HERE, Fate.CANCELLED, reason="stopped")
        assert rig.turns() == []
        assert rig.model.requests == []
        assert rig.gateway.lanes.get(HERE) is None
        await rig.check_whole()


class Between(Silent):
    """Says stop when the first call has come to its end, before the next one begins."""

    def __init__(self) -> None:
        self.rig: Rig | None = None
        self.stopping: asyncio.Task[Receipt] | None = None

    async def hear(self, event: Event) -> None:
        if isinstance(event, ToolEnded) and self.stopping is None and self.rig is not None:
            self.stopping = asyncio.create_task(self.rig.say("/stop"))
            await self.rig.calm()


async def test_a02_a_stop_between_two_calls(tmp_path: Path) -> None:
    between = Between()
    async with rigged(tmp_path, voice=lambda work: between) as rig:
        between.rig = rig
        rig.model.will(Say(calls=(call("write", "t1"), call("write", "t2"))))
        await rig.say("A")
        await rig.ends()
        assert between.stopping is not None
        assert (await between.stopping).text == "Stopped."
        assert rig.ran == ["t1"]
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "write,write"),
            ("write", "t1 done"),
            ("write", "interrupted"),
            ("note", "Stopped by you."),
        ]
        assert len(rig.model.requests) == 1
        await rig.check_whole()


async def test_a05_what_waits_is_taken_away_before_the_turn_is_ended(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        a = await rig.say("A")
        await gate.reached.wait()
        b, c = await rig.say("B"), await rig.say("C")
        stop = await rig.say("stop!")
        await rig.calm()
        assert stop.text == "Stopped. 2 waiting messages taken away."
        assert rig.turns() == [(a.id,)]
        assert rig.fates() == {
            a.id: ["waiting", "started"],
            b.id: ["waiting", "cancelled"],
            c.id: ["waiting", "cancelled"],
            stop.id: ["answered"],
        }
        assert await rig.said() == [("user", "A"), ("note", "Stopped by you.")]
        assert rig.gateway.lanes.get(HERE) is None
        await rig.check_whole()


async def test_a05_what_is_said_after_the_stop_is_heard(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate), "here I am")
        await rig.say("A")
        await gate.reached.wait()
        b, stop, c = await asyncio.gather(rig.say("B"), rig.say("/stop"), rig.say("C"))
        await rig.ends(2)
        assert b.id < stop.id < c.id
        assert await rig.rows() == {1: "started", b.id: "cancelled", stop.id: "answered", c.id: "started"}
        assert await rig.heard_by_model() == ["A", "C"]
        await rig.check_whole()


async def test_a05_a_stop_by_a_button_takes_all_that_came_before_it(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        rig.database.holds["Inbox.put"] = gate
        gate.close()
        saying = asyncio.create_task(rig.say("B"))
        await gate.reached.wait()
        gate.open()
        while not rig.database.under_way:  # it is being stored, and has not come into its line
            await asyncio.sleep(0)
        assert await rig.gateway.stop(HERE) == Stopped(running=True, waiting=1)
        b = await saying
        await rig.calm()
        assert rig.fates()[b.id] == ["waiting", "cancelled"]
        assert await rig.heard_by_model() == ["A"]
        await rig.check_whole()


async def test_a05_a_message_sent_before_the_stop_starts_nothing_when_it_comes_later(tmp_path: Path) -> None:
    noon = datetime(2026, 6, 15, 12, tzinfo=UTC)
    async with rigged(tmp_path) as rig:
        stop = await rig.say("/stop", sent=noon, address=CHAT)
        late = await rig.say("A", sent=noon - timedelta(seconds=1), address=CHAT, external_id="1")
        earlier = await rig.say("/stop", sent=noon - timedelta(seconds=2), address=CHAT)
        still = await rig.say("B", sent=noon, address=CHAT, external_id="2")
        heard = await rig.say("C", sent=noon + timedelta(seconds=1), address=CHAT, external_id="3")
        await rig.ends()
        assert [r.fate for r in (stop, late, earlier, still, heard)] == [
            Fate.ANSWERED,
            Fate.CANCELLED,
            Fate.ANSWERED,
            Fate.CANCELLED,
            Fate.WAITING,
        ]
        assert late.reason == "it was sent before you said stop"
        assert await rig.heard_by_model() == ["C"]
        await rig.check_whole()


async def family(rig: Rig) -> tuple[str, str]:
    """A turn with a sub-agent that has one of its own; all three are at work."""
    gates = {task: Gate() for task in ("dig", "dig deeper")}
    rig.model.will(Say(calls=(spawning("dig"),)), Say(gate=Gate()))
    rig.model.will(Say(calls=(spawning("dig deeper"),)), Say(gate=gates["dig"]), session="dig")
    rig.model.will(Say(gate=gates["dig deeper"]), session="dig deeper")
    await rig.say("A")
    await gates["dig"].reached.wait()
    await rig.calm()
    return child_of(rig), child_of(rig, 1)


@pytest.mark.parametrize("slots", [3, 2])
async def test_a06_sub_agents_and_theirs_stop_too(tmp_path: Path, slots: int) -> None:
    async with rigged(tmp_path, slots=slots) as rig:
        child, grandchild = await family(rig)
        more = await rig.say("more", child)
        receipt = await rig.say("/stop")
        await rig.calm()
        assert receipt.text == "Stopped. 2 sub-agents stopped."
        assert rig.stops() == rig.stops(child) == ["stopped"]
        assert rig.stops(grandchild) == (["stopped"] if slots == 3 else [])
        assert rig.fates(child)[more.id] == ["waiting", "cancelled"]
        assert rig.gateway.lanes.status() == ()
        assert rig.gateway.lanes.house.slots.free == slots
        assert await rig.heard_by_model() == ["A"]
        await rig.check_whole()


async def test_a06_a_sub_agent_can_be_stopped_alone(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=3) as rig:
        child, grandchild = await family(rig)
        assert await rig.gateway.stop(child) == Stopped(running=True, subagents=1)
        await rig.calm()
        assert (rig.stops(), rig.stops(child), rig.stops(grandchild)) == ([], ["stopped"], ["stopped"])
        await rig.gateway.stop(HERE)
        assert await rig.heard_by_model() == ["A"]
        await rig.check_whole()


@pytest.mark.parametrize(
    "text",
    [
        "stop",
        "Stop!",
        "STOP.",
        "please stop",
        "stop it",
        "abort",
        "esc",
        "/stop",
        "停",
        "请停止。",
        "别做了！",
        "стоп",
    ],
)
async def test_a08_words_that_say_nothing_but_stop(tmp_path: Path, text: str) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        receipt = await rig.say(text)
        assert (receipt.fate, receipt.text) == (Fate.ANSWERED, "Stopped.")
        assert rig.stops() == ["stopped"]
        await rig.check_whole()


@pytest.mark.parametrize(
    "text",
    ["please stop using tabs", "wait", "don't stop", "stop the music", "不要停", "停车场在哪", "/stopwatch", "."],
)
async def test_a08_words_that_say_more_are_a_message(tmp_path: Path, text: str) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say("A is done", gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        receipt = await rig.say(text)
        assert (receipt.fate, receipt.position) == (Fate.WAITING, 1)
        gate.open()
        await rig.ends()
        assert rig.stops() == ["done"]
        assert await rig.heard_by_model() == ["A", text]
        await rig.check_whole()


async def test_a08_a_bare_word_where_nothing_is_at_work_is_a_message(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await rig.say("stop")
        await rig.ends()
        assert await rig.said() == [("user", "stop"), ("assistant", "ok")]
        await rig.check_whole()


@pytest.mark.parametrize("text", ["/stop", "stop"])
async def test_a09_a_stranger_stops_nothing(tmp_path: Path, text: str) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say("A is done", gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        receipt = await rig.gateway.accept(Inbound(HERE, text, Origin.OTHER, "guest"), may_command=False)
        assert (receipt.fate, receipt.position) == (Fate.WAITING, 1)
        gate.open()
        await rig.ends(2)
        assert rig.stops() == ["done", "done"]
        assert await rig.heard_by_model() == ["A", text]
        await rig.check_whole()


async def test_a10_a_stop_where_nothing_runs_says_so_and_takes_away_what_waits(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.FOLLOWUP, debounce=5.0)) as rig:
        assert (await rig.say("/stop")).text == "Nothing is running."
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        b = await rig.say("B")
        gate.open()
        await rig.ends()
        assert (await rig.say("/stop")).text == "Nothing is running. 1 waiting message taken away."
        await pace.forward(60)
        await rig.calm()
        assert rig.fates()[b.id] == ["waiting", "cancelled"]
        assert await rig.heard_by_model() == ["A"]
        assert pace.asleep == []
        await rig.check_whole()


async def test_a10_a_stop_after_a_crash_ends_what_was_to_be_gone_on_with(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(gate=Gate()))
        await rig.say("A")
        await rig.say("B", mode=Mode.FOLLOWUP)
        await rig.calm()
        rig.database.is_dead = True
    async with rigged(tmp_path, start="another") as rig:
        assert await rig.gateway.stop(HERE) == Stopped(waiting=1)
        await rig.say("C")
        await rig.ends()
        assert await rig.heard_by_model() == ["A", "C"]
        assert await rig.rows() == {1: "started", 2: "cancelled", 3: "started"}
        await rig.check_whole()


@pytest.mark.parametrize(
    ("operation", "done"), [("Inbox.stop", True), ("Sessions.append", True), ("Sessions.end", False)]
)
async def test_a10_a_stop_is_not_forgotten_when_the_process_dies_in_it(
    tmp_path: Path, operation: str, done: bool
) -> None:
    async with rigged(tmp_path, fatal=dies(operation, done=done)) as rig:
        rig.model.will(Say(gate=(gate := Gate())))
        await rig.say("A")
        await gate.reached.wait()
        stopping = asyncio.create_task(rig.gateway.stop(HERE))
        await rig.dead()
        stopping.cancel()
    async with rigged(tmp_path) as rig:
        await rig.calm()
        assert rig.model.requests == []
        assert (await rig.said())[0] == ("user", "A")
        assert await rig.heard_by_model() == ["A"]
        assert await rig.database.run(lambda db: db.execute("SELECT stop, resume FROM turn").fetchall()) == [
            ("cancelled", "person")
        ]
        await rig.check_whole()


FAMILY = "sleep 300 & echo $! > child; echo $$ > parent; wait"


@dataclass(frozen=True)
class Script:
    script: str
    folder: str
    seconds: float = 60


@tool(module="test", effect=Effect.WRITE_WORKSPACE)
async def shell(args: Script, ctx: ToolContext) -> Any:
    """Run a program."""
    argv = ["sh", "-c", args.script]
    finished = await ctx.need(PROCESSES).run(argv, Path(args.folder), ENV, args.seconds, 1_000)
    if finished.timed_out:
        raise ToolError("timeout", f"ended after {args.seconds:g} s")
    return finished.output


def program(folder: Path, script: str = FAMILY, seconds: float = 60) -> Any:
    arguments = {"script": script, "folder": str(folder), "seconds": seconds}
    return type(call("shell"))("c1", "shell", arguments)


async def pid(folder: Path, name: str) -> int:
    path = folder / name
    while not (path.exists() and path.read_text().strip()):
        await asyncio.sleep(0.002)
    return int(path.read_text())


async def test_a13_a_program_that_takes_too_long_is_an_error_of_its_call_alone(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(shell,)) as rig:
        rig.model.will(Say(calls=(program(tmp_path, seconds=0.1),)), "it took too long")
        await rig.say("A")
        child = await pid(tmp_path, "child")
        await rig.ends()
        await ends_with_all(child)
        assert rig.stops() == ["done"]
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "shell"),
            ("shell", "timeout"),
            ("assistant", "it took too long"),
        ]
        await rig.check_whole()


async def test_a14_when_the_turn_fails_that_is_what_is_told_and_once(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(shell,)) as rig:
        slow = Unavailable("the model did not answer within 120 s")
        rig.model.will(Say(calls=(program(tmp_path, "exit 0", seconds=0.0),)), Say(error=slow))
        await rig.say("A")
        await rig.ends()
        (ended,) = [e for e in rig.events() if isinstance(e, TurnEnded)]
        assert (ended.stop, ended.error) == (Stop.ERROR, slow.fault)
        assert [line for line in await rig.said() if line[0] == "note"] == [("note", str(slow))]
        await rig.check_whole()


class Offered:
    """One service that is always down."""

    local = False

    def chosen(self, reference: str) -> Choice:
        return Choice("down", "m")

    def provider(self, service: str) -> "Offered":
        return self

    def takes(self, choice: Choice) -> frozenset[str]:
        return frozenset()

    def window(self, choice: Choice) -> int:
        return 0

    def prices(self, choice: Choice) -> Prices | None:
        return None

    def usd(self, choice: Choice, usage: Usage) -> float | None:
        return None

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if request.messages:
            raise Unavailable("down")
        yield TextDelta("")

    async def close(self) -> None:
        """Nothing to give back."""

    async def add(self, spent: Spent) -> None:
        raise AssertionError("nothing was spent")

    async def today(self) -> tuple[int, float]:
        return 0, 0.0


async def test_a15_a_stop_while_waiting_to_ask_again(tmp_path: Path) -> None:
    pace, service = Pace(), Offered()
    models = Models(service, service, Budget(BudgetSettings(), service), (), Patience(), pace.sleep, pace.now)
    async with rigged(tmp_path, provider=models) as rig:
        await rig.say("A")
        await rig.until(lambda events: any(isinstance(e, Retrying) for e in events))
        await rig.calm()
        assert len(pace.asleep) == 1
        assert (await rig.say("/stop")).text == "Stopped."
        await rig.calm()
        assert pace.asleep == []
        assert rig.stops() == ["stopped"]
        assert await rig.said() == [("user", "A"), ("note", "Stopped by you.")]
        await rig.check_whole()


async def test_a15_a_stop_while_a_person_is_asked(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(calls=(call("send", "t1"),)))
        await rig.say("A")
        await rig.until(lambda events: any(isinstance(e, ApprovalAsked) for e in events))
        await rig.calm()
        (question,) = await rig.gateway.questions()
        assert (await rig.say("/stop")).text == "Stopped."
        await rig.calm()
        assert await rig.gateway.questions() == ()
        late = await rig.say(f"/approve {question.asked.id} yes")
        assert late.text == f"question {question.asked.id} is closed: its turn was stopped"
        assert rig.ran == []
        assert (await rig.said())[-2:] == [("send", "interrupted"), ("note", "Stopped by you.")]
        await rig.check_whole()


Begin = Callable[[Rig], Awaitable[str]]
End = Callable[[Rig, str], Awaitable[object]]


async def from_a_channel(rig: Rig) -> str:
    await rig.say("A", "chat:1", address=CHAT, external_id="77", sender="555")
    return "chat:1"


async def from_the_api(rig: Rig) -> str:
    await rig.say("A", "main")
    return "main"


async def from_a_job(rig: Rig) -> str:
    await rig.say("A", "job:news", origin=Origin.JOB)
    return "job:news"


async def from_a_sub_agent(rig: Rig) -> str:
    rig.model.will(Say(calls=(spawning("A"),)), "begun", session="parent")
    await rig.say("go", "parent")
    await rig.until(lambda events: any(isinstance(e, TurnEnded) for e in events), "parent")
    return child_of(rig)


async def by_a_command(rig: Rig, session: str) -> object:
    return await rig.say("/stop", session)


async def by_a_word(rig: Rig, session: str) -> object:
    return await rig.say("stop", session, address=CHAT)


async def by_the_api(rig: Rig, session: str) -> object:
    return await rig.gateway.stop(session)


async def by_an_interrupting_message(rig: Rig, session: str) -> object:
    return await rig.say("B", session, mode=Mode.INTERRUPT)


async def by_its_parent(rig: Rig, session: str) -> object:
    return await rig.gateway.stop("parent")


BEGINS: list[Begin] = [from_a_channel, from_the_api, from_a_job, from_a_sub_agent]
ENDS: list[End] = [by_a_command, by_a_word, by_the_api, by_an_interrupting_message]


@pytest.mark.parametrize(("begin", "end"), [*((b, e) for b in BEGINS for e in ENDS), (from_a_sub_agent, by_its_parent)])
async def test_a17_however_it_began_and_is_stopped_its_processes_end(tmp_path: Path, begin: Begin, end: End) -> None:
    async with rigged(tmp_path, tools=(shell,)) as rig:
        rig.model.will(Say(calls=(program(tmp_path),)), session="A")
        session = await begin(rig)
        child, parent = await pid(tmp_path, "child"), await pid(tmp_path, "parent")
        assert lives(child)
        await end(rig, session)
        await rig.ends(1, session)
        await ends_with_all(child)
        await ends_with_all(parent)
        assert rig.stops(session)[0] == "stopped"
        said = await rig.said(session)
        assert said[:4] == [
            ("user", "A"),
            ("assistant", "shell"),
            ("shell", "outcome_unknown"),
            ("note", "Stopped by you."),
        ]
        if end is by_an_interrupting_message:
            await rig.ends(2, session)
            assert (await rig.said(session))[4:] == [("user", "B"), ("assistant", "ok")]
        else:
            assert said[4:] == []
        await rig.check_whole()


async def test_a17_what_has_begun_cannot_be_taken_back(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(shell,)) as rig:
        rig.model.will(Say(calls=(program(tmp_path),)), session="A")
        receipt = await rig.say("A")
        child = await pid(tmp_path, "child")
        with pytest.raises(NotOpen, match="message 1 waits no longer: it is started"):
            await rig.gateway.withdraw(receipt.id)
        assert lives(child)
        await rig.gateway.stop(HERE)
        await ends_with_all(child)
        await rig.check_whole()


async def test_a17_a_closing_gateway_ends_them_too_and_the_next_start_goes_on(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(shell,)) as rig:
        rig.model.will(Say(calls=(program(tmp_path),)), session="A")
        await rig.say("A")
        child = await pid(tmp_path, "child")
        await rig.until(lambda events: any(isinstance(e, ToolStarted) for e in events))
    await ends_with_all(child)
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "shell"),
            ("shell", "outcome_unknown"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("assistant", "ok"),
        ]
        await rig.check_whole()
