"""One turn at a time in a session, so many at once in all, and nobody waits for another's lock: the cases L."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import StorageError, Unavailable
from palmclaw.core.events import SlotAwaited, ToolStarted, TurnEnded, TurnStarted
from palmclaw.core.messages import Message, Role, Text
from palmclaw.core.runtime import Stopped
from palmclaw.core.session import projected
from palmclaw.core.tools import Effect, ToolContext, tool
from palmclaw.core.traffic import Address, Fate, Mode, Origin, QueueChange, QueueSettings, Receipt
from tests.acceptance.rig import HERE, Gate, Named, Pace, Say, call, child_of, dies, rigged, spawning

FOLLOWUP = QueueSettings(Mode.FOLLOWUP, debounce=0.0)


async def test_l01_turns_of_one_session_never_overlap(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        gate = Gate()
        rig.model.will(Say("first", gate=gate), "second")
        a, b = await rig.say("A"), await rig.say("B")
        await gate.reached.wait()
        await rig.calm()
        assert len(rig.model.requests) == 1
        gate.open()
        await rig.ends(2)
        events = [(type(e), s.turn) for s in rig.heard if isinstance(e := s.event, TurnStarted | TurnEnded)]
        first, second = dict.fromkeys(turn for _, turn in events)
        assert events == [(TurnStarted, first), (TurnEnded, first), (TurnStarted, second), (TurnEnded, second)]
        assert rig.turns() == [(a.id,), (b.id,)]
        await rig.check_whole()


async def test_l02_of_three_sessions_two_run_and_the_third_says_that_it_waits(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, slots=2, pace=pace) as rig:
        gates = {name: Gate() for name in ("a", "b")}
        for name, gate in gates.items():
            rig.model.will(Say(gate=gate), session=name)
            await rig.say("hello", name)
            await gate.reached.wait()
        await rig.say("hello", "c")
        await rig.calm()
        status = await rig.gateway.status()
        assert [(lane.session, bool(lane.turn), lane.waiting) for lane in status.lanes] == [
            ("a", True, 0),
            ("b", True, 0),
            ("c", False, 1),
        ]
        assert (status.slots, status.busy) == (2, 2)
        await pace.forward(1.9)
        assert [e for e in rig.events("c") if isinstance(e, SlotAwaited)] == []
        await pace.forward(0.1)
        await rig.until(lambda events: SlotAwaited(2.0) in events, "c")
        await pace.forward(60)
        gates["b"].open()
        await rig.ends(1, "c")
        assert [e for e in rig.events("c") if isinstance(e, SlotAwaited)] == [SlotAwaited(2.0)]
        assert rig.stops("a") == []
        gates["a"].open()
        await rig.ends(1, "a")
        assert (await rig.gateway.status()).busy == 0
        assert pace.asleep == []
        await rig.check_whole()


async def test_l02_what_is_taken_back_gives_up_its_place_in_the_queue(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate), session="a")
        await rig.say("hello", "a")
        await gate.reached.wait()
        waiting = await rig.say("hello", "b")
        await rig.calm()
        assert rig.gateway.lanes.house.slots.awaited == 1
        await rig.gateway.withdraw(waiting.id)
        await rig.calm()
        assert rig.gateway.lanes.house.slots.awaited == 0
        assert rig.gateway.lanes.get("b") is None
        gate.open()
        await rig.ends(1, "a")
        await rig.say("hello", "c")
        await rig.ends(1, "c")
        await rig.check_whole()


async def test_l02_a_place_that_comes_when_nothing_is_left_goes_to_the_next(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        slots = rig.gateway.lanes.house.slots
        slot = await slots.take()
        waiting = await rig.say("hello", "a")
        await rig.calm()
        await rig.gateway.stores.inbox.mark((waiting.id,), Fate.CANCELLED)
        slot.release()
        rig.gateway._forget(replace(waiting, fate=Fate.CANCELLED))
        await rig.calm()
        assert (slots.free, rig.gateway.lanes.get("a")) == (1, None)
        assert rig.model.requests == []
        await rig.check_whole()


@pytest.mark.parametrize(("origin", "session"), [(Origin.JOB, "job:news"), (Origin.OWNER, HERE)], ids=["l03", "l04"])
async def test_l03_l04_one_place_is_enough_for_a_turn_and_its_sub_agents(
    tmp_path: Path, origin: Origin, session: str
) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        rig.model.will(Say(calls=(spawning("dig"),)), "begun", "thank you", session=session)
        rig.model.will("found it", session="dig")
        await rig.say("find it", session, origin=origin)
        await rig.ends(2, session)
        child = child_of(rig)
        assert await rig.said(child) == [("user", "dig"), ("assistant", "found it")]
        report = f"[Sub-agent helper ({child}) has finished]\nTask: dig\nResult: found it"
        assert await rig.said(session) == [
            ("user", "find it"),
            ("assistant", "spawn"),
            ("spawn", child),
            ("assistant", "begun"),
            ("user", report),
            ("assistant", "thank you"),
        ]
        await rig.check_whole()


async def test_l04_a_turn_that_waits_for_a_person_lends_its_place(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        there = Address("chat", "1")
        rig.model.will(Say(calls=(call("send", "t1"),)), "sent")
        await rig.say("A", address=there)
        while not await rig.gateway.questions():
            await asyncio.sleep(0.001)
        await rig.say("hello", "other")
        await rig.ends(1, "other")
        await rig.say("yes", address=there)
        await rig.ends(1)
        assert rig.ran == ["t1"]
        assert rig.gateway.lanes.house.slots.free == 1
        await rig.check_whole()


async def test_l05_what_waits_can_be_taken_away_and_the_turn_goes_on(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        gate = Gate()
        rig.model.will(Say("A is done", gate=gate))
        a = await rig.say("A")
        await gate.reached.wait()
        b, c = await rig.say("B"), await rig.say("C")
        taken = [await rig.gateway.withdraw(each.id) for each in (b, c)]
        assert taken == [Receipt(r.id, HERE, Fate.CANCELLED, reason="taken back") for r in (b, c)]
        (lane,) = (await rig.gateway.status()).lanes
        assert (lane.waiting, bool(lane.turn)) == (0, True)
        gate.open()
        await rig.ends()
        assert await rig.said() == [("user", "A"), ("assistant", "A is done")]
        assert rig.fates() == {
            a.id: ["waiting", "started"],
            b.id: ["waiting", "cancelled"],
            c.id: ["waiting", "cancelled"],
        }
        await rig.check_whole()


async def test_l08_other_writers_do_not_wait_for_the_turn(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say("A is done", gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        await rig.gateway.choose_model(HERE, "another")
        await rig.gateway.queue(HERE, QueueChange(cap=5))
        await rig.sessions.append(HERE, "", Message(Role.NOTE, (Text("a note of somebody else"),)))
        assert (await rig.sessions.model(HERE), len(await rig.log())) == ("another", 2)
        gate.open()
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("note", "a note of somebody else"),
            ("assistant", "A is done"),
        ]
        await rig.check_whole()


async def test_l09_a_turn_that_was_superseded_writes_nothing_any_more(tmp_path: Path) -> None:
    async with rigged(tmp_path) as old:
        gate = Gate()
        old.model.will(Say("of the old", gate=gate))
        a = await old.say("A")
        await gate.reached.wait()
        async with rigged(tmp_path) as new:
            new.model.will(Say("of the new", gate=(last := Gate())))
            await last.reached.wait()
            gate.open()
            await old.ends()
            assert old.stops() == ["superseded"]
            last.open()
            await new.ends()
            assert new.stops() == ["done"]
            assert await new.said() == [
                ("user", "A"),
                ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
                ("assistant", "of the new"),
            ]
            assert await new.rows() == {a.id: "started"}
            await new.check_whole()


async def test_l10_what_the_queue_stores_meanwhile_does_not_disturb_the_turn(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(call("write", "t1"),), gate=gate), "done", "and the others")
        await rig.say("A")
        await gate.reached.wait()
        for n, mode in enumerate((Mode.STEER, Mode.FOLLOWUP, Mode.COLLECT, Mode.STEER)):
            await rig.say(f"B{n}", mode=mode)
        gate.open()
        await rig.ends(3)
        assert rig.stops() == ["done"] * 3
        assert await rig.heard_by_model() == ["A", "B0", "B1", "B2", "B3"]
        await rig.check_whole()


@pytest.mark.parametrize("done", [False, True], ids=["before the effect is told", "after it is written down"])
async def test_l13_after_a_kill_the_log_is_whole_and_the_model_can_be_asked(tmp_path: Path, done: bool) -> None:
    async with rigged(tmp_path, fatal=dies("CallJournal.end", done=done)) as rig:
        rig.model.will(Say(calls=(call("write", "t1"), call("write", "t2"))))
        await rig.say("A")
        await rig.dead()
    async with rigged(tmp_path) as rig:
        await rig.ends()
        b = await rig.say("B")
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "write,write"),
            ("write", "t1 done" if done else "outcome_unknown"),
            ("write", "interrupted"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("assistant", "ok"),
            ("user", "B"),
            ("assistant", "ok"),
        ]
        for request in rig.model.requests:
            assert request.messages == projected(request.messages)
        assert rig.turns() == [(1,), (b.id,)]
        assert rig.ran == []
        await rig.check_whole()


async def test_l13_a_broken_turn_is_gone_on_with_once(tmp_path: Path) -> None:
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False)) as rig:
        await rig.say("A")
        await rig.dead()
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False, time=2)) as rig:
        await rig.dead()
    async with rigged(tmp_path) as rig:
        await rig.calm()
        assert rig.model.requests == []
        assert await rig.said() == [
            ("user", "A"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("note", "PalmClaw stopped twice while it worked on this, so it does not try again by itself."),
        ]
        assert rig.gateway.findings == ["a turn in s had been broken off; it has been closed"]
        await rig.say("go on")
        await rig.ends()
        assert (await rig.said())[-2:] == [("user", "go on"), ("assistant", "ok")]
        await rig.check_whole()


async def test_l13_a_new_message_may_join_the_turn_that_goes_on(tmp_path: Path) -> None:
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False)) as rig:
        await rig.say("A")
        await rig.dead()
    async with rigged(tmp_path, start="another") as rig:
        rig.model.will("both are done")
        b = await rig.say("B")
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("user", "B"),
            ("assistant", "both are done"),
        ]
        assert await rig.rows() == {1: "started", b.id: "steered"}
        await rig.check_whole()


@tool(module="test", effect=Effect.READ)
async def stubborn(args: Named, ctx: ToolContext) -> Any:
    """Does not hear that it was cancelled, and comes back late."""
    for _ in range(3):
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            ctx.progress("never mind")
    return "late"


async def test_l16_what_comes_late_of_an_earlier_turn_changes_nothing_in_the_new_session(tmp_path: Path) -> None:
    async with rigged(tmp_path, tools=(stubborn,)) as rig:
        rig.model.will(Say(calls=(call("stubborn"),)))
        await rig.say("A")
        await rig.until(lambda events: any(isinstance(e, ToolStarted) for e in events))
        await rig.calm()
        receipt = await rig.say("/new")
        assert (receipt.fate, receipt.text) == (Fate.ANSWERED, "We begin anew. What was said before is kept.")
        await rig.say("B")
        await rig.ends(2)
        before = await rig.said()
        await asyncio.sleep(0.3)
        assert await rig.said() == before
        assert [m.text for m in rig.model.requests[-1].messages] == ["B"]
        assert rig.stops() == ["stopped", "done"]
        rows = await rig.database.run(lambda db: db.execute("SELECT state, stop FROM turn").fetchall())
        assert sorted(rows) == [("ended", "cancelled"), ("ended", "done")]
        await rig.check_whole()


@pytest.mark.parametrize(
    ("error", "code"),
    [(Unavailable("down"), "unavailable"), (TimeoutError(), "internal"), (KeyError("b"), "internal")],
)
async def test_l17_a_failing_model_blocks_nothing(
    tmp_path: Path, error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        rig.model.will(Say(error=error), "fine")
        await rig.say("A")
        await rig.ends()
        await rig.say("B")
        await rig.ends(2)
        assert rig.stops() == [code, "done"]
        assert (await rig.said())[-2:] == [("user", "B"), ("assistant", "fine")]
        assert rig.gateway.lanes.house.slots.free == 1
        assert rig.gateway.lanes.status() == ()
        await rig.check_whole()


async def test_f058_a_session_at_rest_leaves_nothing_behind(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        for n in range(20):
            await rig.say("hello", f"s{n}")
            await rig.ends(1, f"s{n}")
        assert rig.gateway.lanes.status() == ()
        assert rig.gateway._awake == {""}
        assert await rig.gateway.stop(HERE) == Stopped()
        assert (await rig.gateway.status()).lanes == ()
        await rig.check_whole()


async def test_a_stop_that_cannot_be_stored_takes_nothing_away(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say("one", gate=gate), "two is done")
        await rig.say("one")
        await gate.reached.wait()
        two = await rig.say("two", mode=Mode.FOLLOWUP)
        full = (
            "CREATE TRIGGER full BEFORE UPDATE ON inbox WHEN new.state='cancelled' BEGIN SELECT RAISE(ABORT, 'x'); END"
        )
        await rig.database.run(lambda db: db.execute(full))
        with pytest.raises(StorageError):
            await rig.gateway.stop(HERE)
        await rig.ends(2)
        assert rig.fates()[two.id] == ["waiting", "started"]
        await rig.check_whole()
