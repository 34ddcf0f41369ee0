"""Sub-agents: begun, bounded, stopped, and heard of by their parents once, whatever dies in between."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.desks import Charge, CrewLimits, TooMany
from palmclaw.core.errors import Unavailable
from palmclaw.core.events import TurnEnded
from palmclaw.core.messages import Message, Role
from palmclaw.core.runtime import Draining, Stopped
from palmclaw.core.tools import Effect, Outcome, ToolContext, tool
from palmclaw.core.traffic import Address, Fate, Inbound, Mode, Origin, QueueChange, QueueSettings
from palmclaw.runtime.subagents import RESULT
from tests.acceptance.rig import HERE, Death, Gate, Named, Rig, Say, call, child_of, dies, rigged, spawning

CHAT = Address("chat", "1")


def report(child: str, result: str, how: str = "has finished", task: str = "dig") -> str:
    return f"[Sub-agent helper ({child}) {how}]\nTask: {task}\nResult: {result}"


async def reports(rig: Rig) -> list[Message]:
    return [m for m in await rig.log() if m.role is Role.USER and m.sender.startswith("subagent:")]


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(tmp_path, slots=4) as made:
        yield made


async def test_the_result_comes_as_a_message_to_where_it_was_asked(rig: Rig) -> None:
    rig.model.will(Say(calls=(spawning("dig"),)), "begun", "thank you")
    rig.model.will("gold", session="dig")
    await rig.say("find gold", address=CHAT, sender="555", model="big")
    await rig.ends(2)
    child = child_of(rig)
    (said,) = await reports(rig)
    assert (said.text, said.sender, said.tainted) == (report(child, "gold"), child, False)
    query = "SELECT session, origin, sender, model FROM turn"
    turns = await rig.database.run(lambda db: db.execute(query).fetchall())
    assert sorted(turns) == sorted(
        [(HERE, "owner", "555", "big"), (child, "owner", f"subagent:{HERE}", "big"), (HERE, "owner", child, "")]
    )
    stored = await rig.gateway.stores.inbox.get(3)
    assert stored is not None
    assert (stored.inbound.address, stored.inbound.external_id.partition(":")[0]) == (CHAT, "report")
    assert rig.crew.parent(child) == ""
    await rig.check_whole()


async def test_a_report_joins_the_turn_that_still_runs(rig: Rig) -> None:
    gate = Gate()
    rig.model.will(Say(calls=(spawning("dig"),)), Say("begun", gate=gate), "thank you")
    rig.model.will("gold", session="dig")
    await rig.gateway.queue(HERE, QueueChange(Mode.FOLLOWUP))
    await rig.say("find gold")
    await rig.until(lambda events: bool(events), HERE)
    while not any(s.session.startswith("subagent:") and isinstance(s.event, TurnEnded) for s in rig.heard):
        await asyncio.sleep(0.001)
    await rig.calm()
    gate.open()
    await rig.ends()
    child = child_of(rig)
    assert await rig.said() == [
        ("user", "find gold"),
        ("assistant", "spawn"),
        ("spawn", child),
        ("assistant", "begun"),
        ("user", report(child, "gold")),
        ("assistant", "thank you"),
    ]
    await rig.check_whole()


async def test_a_failure_is_reported_too(rig: Rig) -> None:
    rig.model.will(Say(calls=(spawning("dig"),)), "begun", "a pity")
    rig.model.will(Say(error=Unavailable("no service")), session="dig")
    await rig.say("find gold")
    await rig.ends(2)
    (said,) = await reports(rig)
    assert said.text == report(child_of(rig), "(it said nothing)", "failed: no service")
    assert said.tainted
    await rig.check_whole()


async def test_a_long_result_is_cut(rig: Rig) -> None:
    rig.model.will(Say(calls=(spawning("dig" * 200),)), "begun")
    rig.model.will("x" * 2 * RESULT, session="dig" * 200)
    await rig.say("find gold")
    await rig.ends(2)
    (said,) = await reports(rig)
    assert len(said.text) < RESULT + 600
    assert "...[truncated]" in said.text
    assert said.text.splitlines()[1] == f"Task: {'dig' * 100}"


@tool(module="test", effect=Effect.READ)
async def page(args: Named, ctx: ToolContext) -> Any:
    """Read a page."""
    return Outcome("words of a stranger", tainted=True)


@tool(module="test", effect=Effect.CAPTURE)
async def camera(args: Named, ctx: ToolContext) -> Any:
    """Take a picture."""
    return "a picture"


async def test_what_a_stranger_told_a_sub_agent_stays_a_strangers_word(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(page, camera)) as rig:
        rig.model.will(Say(calls=(spawning("dig"),)), "begun", Say(calls=(call("camera", "c"),)), "no")
        rig.model.will(Say(calls=(call("page", "p"),)), "he says: camera", session="dig")
        await rig.say("find gold")
        await rig.ends(1)
        await rig.calm()
        (said,) = await reports(rig)
        assert (said.text.splitlines()[-1], said.tainted) == ("Result: he says: camera", True)
        (question,) = await rig.gateway.questions()
        assert question.asked.reason == "uses a sensor, and words of others are in this conversation"
        await rig.gateway.stop(HERE)
        await rig.check_whole()


async def test_a_tainted_turn_taints_what_it_begins(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(page,)) as rig:
        rig.model.will(Say(calls=(call("page", "p"),)), Say(calls=(spawning("dig"),)), "begun")
        await rig.say("find gold")
        await rig.ends(2)
        (first, *_) = await rig.log(child_of(rig))
        assert (first.text, first.tainted) == ("dig", True)
        await rig.check_whole()


async def test_a_report_is_neither_the_owners_word_nor_the_jobs(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(camera,)) as rig:
        rig.model.will(Say(calls=(spawning("dig"),)), "begun", Say(calls=(call("camera", "c"),)), session="job:x")
        rig.model.will("use the camera", session="dig")
        await rig.say("find gold", "job:x", origin=Origin.JOB)
        await rig.ends(1, "job:x")
        await rig.calm()
        (question,) = await rig.gateway.questions()
        assert (question.asked.call.name, question.session) == ("camera", "job:x")
        await rig.gateway.stop("job:x")
        await rig.check_whole()


async def test_a_report_gives_no_orders(rig: Rig) -> None:
    rig.model.will(Say(calls=(spawning("dig"),)), "begun", "well")
    gate = Gate()
    rig.model.will(Say("/stop", gate=gate), session="dig")
    await rig.say("find gold")
    await gate.reached.wait()
    receipt = await rig.gateway.take(Inbound(HERE, "/stop", sender=child_of(rig)))
    gate.open()
    await rig.ends(3)
    assert receipt.fate is Fate.WAITING
    assert [m.text for m in await reports(rig)] == ["/stop", report(child_of(rig), "/stop")]
    assert rig.stops() == ["done"] * 3


async def test_so_many_at_once_and_so_deep(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=4, crew=CrewLimits(at_once=1, depth=1)) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), Say(calls=(spawning("dig more"),)), "begun", "well")
        rig.model.will(Say(calls=(spawning("dig deeper"),)), Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await gate.reached.wait()
        await rig.ends(1)
        child = child_of(rig)
        assert (await rig.said())[:6] == [
            ("user", "find gold"),
            ("assistant", "spawn"),
            ("spawn", child),
            ("assistant", "spawn"),
            ("spawn", "too_many"),
            ("assistant", "begun"),
        ]
        assert (await rig.said(child))[2] == ("spawn", "too_many")
        results = [r for s in (HERE, child) for m in await rig.log(s) for r in m.results if r.error]
        assert [r.error.message for r in results if r.error] == [
            "1 sub-agents are at work already",
            "a sub-agent may not begin further ones here",
        ]
        gate.open()
        await rig.ends(2)
        rig.model.will(Say(calls=(spawning("again"),)), "begun")
        await rig.say("and again")
        await rig.ends(4)
        assert await rig.said(child_of(rig, 1)) == [("user", "again"), ("assistant", "ok")]
        await rig.check_whole()


async def test_too_many_is_an_error_of_the_tool(rig: Rig) -> None:
    await rig.say("hello")
    await rig.ends()
    (turn,) = {s.turn for s in rig.heard if s.turn}
    children = [await rig.crew.spawn(HERE, turn, Charge("dig", "a", HERE), tainted=False) for _ in range(2)]
    with pytest.raises(TooMany) as raised:
        await rig.crew.spawn(HERE, turn, Charge("dig", "a", HERE), tainted=False)
    assert (raised.value.fault.code, raised.value.fault.hint) == ("too_many", "Wait for the others, or do it yourself.")
    charge = await rig.crew.charge(children[0])
    assert charge == Charge("dig", "a", HERE, turn=turn)
    assert [rig.crew.parent(s) for s in (children[0], HERE)] == [HERE, ""]
    assert (await rig.crew.charge(HERE), await rig.crew.charge("subagent:none")) == (None, None)
    await rig.ends(2)


async def test_who_is_stopped_reports_nothing(rig: Rig) -> None:
    gate = Gate()
    rig.model.will(Say(calls=(spawning("dig"),)), "begun")
    rig.model.will(Say("gold", gate=gate), session="dig")
    await rig.say("find gold")
    await rig.ends()
    await gate.reached.wait()
    assert await rig.gateway.stop(HERE) == Stopped(subagents=1)
    gate.open()
    await rig.calm()
    assert await reports(rig) == []
    assert rig.stops(child_of(rig)) == ["stopped"]
    assert len(rig.turns()) == 1
    assert await rig.crew.recover() == 0
    assert rig.crew._charges == {}
    await rig.check_whole()


@pytest.mark.parametrize("operation", ["Sessions.end", "CrewRecords.begun", "Sessions.tail", "Inbox.put"])
async def test_no_report_comes_after_a_stop(tmp_path: Path, operation: str) -> None:
    async with rigged(tmp_path, slots=4) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), "begun")
        rig.model.will(Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await rig.ends()
        await gate.reached.wait()
        rig.sessions._tails.clear()
        rig.database.holds[operation] = held = Gate()
        gate.open()
        await held.reached.wait()
        stopping = asyncio.create_task(rig.gateway.stop(HERE))
        await rig.calm()
        held.open()
        assert await stopping == Stopped(subagents=1)
        await rig.calm()
        assert await reports(rig) == []
        assert len(rig.turns()) == 1
        assert await rig.crew.recover() == 0
        await rig.check_whole()


async def test_a_report_that_begins_a_turn_in_the_moment_of_a_stop_ends_with_it(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=4) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), "begun", Say(gate=(thanks := Gate())))
        rig.model.will(Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await rig.ends()
        await gate.reached.wait()
        rig.database.holds["Inbox.children"] = held = Gate()
        stopping = asyncio.create_task(rig.gateway.stop(HERE))
        await held.reached.wait()
        gate.open()
        await thanks.reached.wait()
        held.open()
        await stopping
        await rig.calm()
        assert rig.stops() == ["done", "stopped"]
        assert rig.gateway.lanes.status() == ()
        await rig.check_whole()


async def test_a_report_that_waits_in_the_moment_of_a_stop_is_dropped(tmp_path: Path) -> None:
    queue = QueueSettings(Mode.FOLLOWUP, 0.0)
    async with rigged(tmp_path, slots=4, queue=queue) as rig:
        gate, other = Gate(), Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), "begun", Say("fine", gate=other))
        rig.model.will(Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await rig.ends()
        rig.database.holds["Inbox.children"] = held = Gate()
        stopping = asyncio.create_task(rig.say("/stop"))
        await held.reached.wait()
        b = await rig.say("B", address=CHAT)  # said after the stop
        await other.reached.wait()
        gate.open()
        await rig.calm()
        held.open()
        await stopping
        other.open()
        await rig.ends(2)
        assert await rig.heard_by_model() == ["find gold", "B"]
        assert await rig.fate(b) == ("started", 0)
        assert rig.stops() == ["done", "done"]
        assert [row for row, fates in rig.fates().items() if fates[-1] == "cancelled"] == [b.id + 1]
        await rig.check_whole()


async def test_a_closing_gateway_leaves_the_report_for_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), "begun")
        rig.model.will(Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await rig.ends()
        await gate.reached.wait()
        closing = asyncio.create_task(rig.gateway.close(10.0))
        await rig.calm()
        with pytest.raises(Draining):
            await rig.say("too late")
        gate.open()
        await closing
        assert await reports(rig) == []
        child = child_of(rig)
    assert caplog.records == []
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert [m.text for m in await reports(rig)] == [report(child, "gold")]
        await rig.check_whole()


async def worked(rig: Rig) -> None:
    """A whole life of a sub-agent, as far as it comes."""
    rig.model.will(Say(calls=(spawning("dig"),)), "begun", "thank you")
    rig.model.will(Say(calls=(call("look", "l"),)), "gold", session="dig")
    saying = asyncio.create_task(rig.say("find gold", external_id="1", address=CHAT))
    while not rig.database.is_dead and rig.stops() != ["done", "done"]:
        await asyncio.sleep(0.001)
    if not rig.database.is_dead:
        await saying


async def test_the_parent_hears_once_whatever_dies_in_between(tmp_path: Path) -> None:
    unharmed = Death(0)
    async with rigged(tmp_path / "0", fatal=unharmed) as rig:
        await worked(rig)
        await rig.check_whole()
    for at in range(1, unharmed.count + 1):
        folder = tmp_path / str(at)
        async with rigged(folder, fatal=Death(at)) as rig:
            await worked(rig)
        async with rigged(folder) as rig:
            rig.model.will("ok", "thanks", "ok")
            await rig.say("find gold", external_id="1", address=CHAT)
            await rig.calm()
            told = [m.text for m in await reports(rig)]
            begun = {s.id for s in await rig.sessions.listed() if s.id.startswith("subagent:")}
            assert [t.splitlines()[0] for t in told] == [f"[Sub-agent helper ({s}) has finished]" for s in begun], at
            assert len(begun) <= 1
            for session in begun:
                users = [m.text for m in await rig.log(session) if m.role is Role.USER]
                assert users == ["dig"], at
            assert set((await rig.rows()).values()) <= {"started", "steered"}, at
            await rig.check_whole()


async def test_a_sub_agent_that_died_is_gone_on_with_and_then_reports(tmp_path: Path) -> None:
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False, time=4)) as rig:
        await worked(rig)
    async with rigged(tmp_path) as rig:
        rig.model.will("gold after all", session="dig")
        await rig.ends(1)
        await rig.calm()
        (child,) = {s.id for s in await rig.sessions.listed()} - {HERE}
        assert [m.text for m in await reports(rig)] == [report(child, "gold after all")]
        await rig.check_whole()
