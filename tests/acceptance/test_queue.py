"""What a message does to a running turn: the acceptance cases Q."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from palmclaw.core.errors import Unavailable
from palmclaw.core.events import Answer, ApprovalAsked, Event, MessageAdded, Notice, Stop, Taken, TurnEnded, TurnStarted
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Role, Stamp
from palmclaw.core.session import JOINED
from palmclaw.core.traffic import Address, Drop, Fate, Inbound, Mode, Origin, QueueChange, QueueSettings, Receipt
from palmclaw.runtime.commands import mode_named
from palmclaw.runtime.turns import Silent
from tests.acceptance.rig import HERE, Gate, Pace, Rig, Say, call, dies, rigged

COLLECT = QueueSettings(Mode.COLLECT, debounce=0.0)
FOLLOWUP = QueueSettings(Mode.FOLLOWUP, debounce=0.0)


@dataclass
class Busy:
    """A turn for “A” that waits in the model until it is let on."""

    gate: Gate
    receipt: Receipt


async def busy(rig: Rig, session: str = HERE, answer: str = "A is done") -> Busy:
    gate = Gate()
    rig.model.will(Say(answer, gate=gate), session=session)
    receipt = await rig.say("A", session)
    await gate.reached.wait()
    return Busy(gate, receipt)


def stamps(rig: Rig, request: int = -1) -> list[str]:
    """What stands on the user messages of a request, behind the time."""
    users = [m for m in rig.model.requests[request].messages if m.role is Role.USER]
    marks = ["".join(p.text for p in m.parts if isinstance(p, Stamp)) for m in users]
    return [mark.strip("[]").partition(" · ")[2] for mark in marks]


async def origins(rig: Rig) -> list[str]:
    """On whose word each turn ran, in order."""
    query = "SELECT origin FROM turn ORDER BY (SELECT min(position) FROM message WHERE turn=turn.id)"
    return [row[0] for row in await rig.database.run(lambda db: db.execute(query).fetchall())]


@pytest.mark.parametrize("mode", [None, *Mode])
async def test_q01_an_idle_session_runs_at_once(tmp_path: Path, mode: Mode | None) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(debounce=60.0)) as rig:
        receipt = await rig.say("hello", mode=mode)
        await rig.ends()
        assert receipt == Receipt(1, HERE, Fate.WAITING, 1)
        assert rig.fates() == {receipt.id: ["waiting", "started"]}
        assert await rig.said() == [("user", "hello"), ("assistant", "ok")]
        assert pace.asleep == []
        await rig.check_whole()


async def test_q02_a_steered_message_is_answered_in_the_same_turn(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        a = await busy(rig, answer="first answer")
        rig.model.will("second answer")
        b = await rig.say("B", mode=Mode.STEER)
        a.gate.open()
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "first answer"),
            ("user", "B"),
            ("assistant", "second answer"),
        ]
        assert rig.turns() == [(a.receipt.id,)]
        assert rig.fates() == {a.receipt.id: ["waiting", "started"], b.id: ["waiting", "steered"]}
        assert stamps(rig) == ["", JOINED]
        await rig.check_whole()


async def test_q03_calls_that_have_not_begun_are_skipped(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.gates["t1"] = Gate()
        rig.model.will(Say(calls=(call("write", "t1"), call("write", "t2"), call("write", "t3"))), "done")
        await rig.say("A")
        await rig.gates["t1"].reached.wait()
        await rig.say("B", mode=Mode.STEER)
        rig.gates["t1"].open()
        await rig.ends()
        assert rig.ran == ["t1"]
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "write,write,write"),
            ("write", "t1 done"),
            ("write", "skipped"),
            ("write", "skipped"),
            ("user", "B"),
            ("assistant", "done"),
        ]
        second = rig.model.requests[1].messages
        assert [r.call_id for m in second for r in m.results] == ["c-t1", "c-t2", "c-t3"]
        assert len(rig.model.requests) == 2
        await rig.check_whole()


async def test_q04_a_batch_that_has_begun_comes_to_its_end(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.gates |= {"t1": Gate(), "t2": Gate()}
        rig.model.will(Say(calls=(call("look", "t1"), call("look", "t2"))), "done")
        await rig.say("A")
        for gate in rig.gates.values():
            await gate.reached.wait()
        await rig.say("B", mode=Mode.STEER)
        rig.gates["t2"].open()
        rig.gates["t1"].open()
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "look,look"),
            ("look", "t1 done"),
            ("look", "t2 done"),
            ("user", "B"),
            ("assistant", "done"),
        ]
        await rig.check_whole()


async def test_q05_a_batch_that_has_not_begun_does_not_begin(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(call("look", "t1"), call("look", "t2")), gate=gate), "done")
        await rig.say("A")
        await gate.reached.wait()
        await rig.say("B", mode=Mode.STEER)
        gate.open()
        await rig.ends()
        assert rig.ran == []
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "look,look"),
            ("look", "skipped"),
            ("look", "skipped"),
            ("user", "B"),
            ("assistant", "done"),
        ]
        await rig.check_whole()


async def test_q08_a_parked_message_outlives_the_turn_that_it_was_to_join(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate, error=Unavailable("the service is down")), "B it is")
        a = await rig.say("A")
        await gate.reached.wait()
        b = await rig.say("B", mode=Mode.STEER)
        gate.open()
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("note", "the service is down"),
            ("user", "B"),
            ("assistant", "B it is"),
        ]
        assert rig.turns() == [(a.id,), (b.id,)]
        assert rig.fates() == {a.id: ["waiting", "started"], b.id: ["waiting", "started"]}
        await rig.check_whole()


async def test_q08_a_parked_message_is_cancelled_by_a_stop(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        a = await busy(rig)
        b = await rig.say("B", mode=Mode.STEER)
        stop = await rig.say("/stop")
        await rig.ends()
        assert stop.text == "Stopped. 1 waiting message taken away."
        assert await rig.said() == [("user", "A"), ("note", "Stopped by you.")]
        assert rig.turns() == [(a.receipt.id,)]
        assert rig.fates()[b.id] == ["waiting", "cancelled"]
        await rig.check_whole()


async def test_q08_a_parked_message_does_not_join_a_turn_that_is_interrupted(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.preparing.append(preparing := Gate())
        a = await rig.say("A")
        await preparing.reached.wait()
        b = await rig.say("B", mode=Mode.STEER)
        c = await rig.say("C", mode=Mode.INTERRUPT)
        rig.preparing.clear()
        preparing.open()
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("note", "Stopped by you."),
            ("user", "B"),
            ("user", "C"),
            ("assistant", "ok"),
        ]
        assert rig.turns() == [(a.id,), (b.id, c.id)]
        await rig.check_whole()


async def test_q09_a_message_whose_joining_nobody_confirmed_is_not_said_again(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        a = await busy(rig)
        b = await rig.say("B", mode=Mode.STEER)
        rig.database.fatal = dies("Sessions.append", done=True, time=2)
        a.gate.open()
        await rig.dead()
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "A is done"),
            ("user", "B"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("assistant", "ok"),
        ]
        assert await rig.rows() == {a.receipt.id: "started", b.id: "steered"}
        assert rig.turns() == [(a.receipt.id, b.id)]
        await rig.check_whole()


async def test_q11_all_that_waits_joins_at_once_in_the_order_of_its_coming(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.gates["t1"] = Gate()
        rig.model.will(Say(calls=(call("write", "t1"),)), "done")
        await rig.say("A")
        await rig.gates["t1"].reached.wait()
        for text in ("B", "C", "D"):
            await rig.say(text, mode=Mode.STEER)
        rig.gates["t1"].open()
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "write"),
            ("write", "t1 done"),
            ("user", "B"),
            ("user", "C"),
            ("user", "D"),
            ("assistant", "done"),
        ]
        assert len(rig.model.requests) == 2
        await rig.check_whole()


@pytest.mark.parametrize(
    "other",
    [
        Inbound(HERE, "B", Origin.OTHER, "guest"),
        Inbound(HERE, "B", Origin.JOB),
        Inbound(HERE, "B", model="another"),
        Inbound(HERE, "B", address=Address("chat", "1")),
    ],
    ids=["guest", "job", "model", "address"],
)
async def test_q12_who_may_do_otherwise_does_not_join(tmp_path: Path, other: Inbound) -> None:
    async with rigged(tmp_path) as rig:
        a = await busy(rig)
        b = await rig.gateway.take(other)
        assert b == Receipt(2, HERE, Fate.WAITING, 1)
        c = await rig.say("C", mode=Mode.FOLLOWUP)  # what comes behind it keeps its place
        a.gate.open()
        await rig.ends(3)
        assert await rig.heard_by_model() == ["A", "B", "C"]
        assert rig.turns() == [(a.receipt.id,), (b.id,), (c.id,)]
        await rig.check_whole()


async def test_q12_what_comes_behind_one_that_cannot_join_waits_behind_it(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        a = await busy(rig)
        b = await rig.say("B", mode=Mode.FOLLOWUP)
        c = await rig.say("C", mode=Mode.STEER)
        a.gate.open()
        await rig.ends(2)
        assert await rig.heard_by_model() == ["A", "B", "C"]
        assert rig.turns() == [(a.receipt.id,), (b.id,)]
        assert rig.fates()[c.id] == ["waiting", "steered"]
        await rig.check_whole()


async def test_q13_each_follow_up_is_a_turn_after_a_silence(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.FOLLOWUP, debounce=0.5)) as rig:
        a = await busy(rig)
        b = await rig.say("B")
        await pace.forward(0.1)
        c = await rig.say("C")
        await pace.forward(0.2)
        a.gate.open()
        await rig.ends()
        assert pace.asleep == [0.3]
        await pace.forward(0.29)
        assert rig.turns() == [(a.receipt.id,)]
        await pace.forward(0.01)
        await rig.ends(3)
        assert rig.turns() == [(a.receipt.id,), (b.id,), (c.id,)]
        assert await rig.heard_by_model() == ["A", "B", "C"]
        await rig.check_whole()


async def test_q13_each_of_them_waits_for_a_silence_of_its_own(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.FOLLOWUP, debounce=0.5)) as rig:
        a = await busy(rig)
        b = await rig.say("B")
        a.gate.open()
        await rig.ends()
        await pace.forward(0.4)
        c = await rig.say("C")
        await pace.forward(0.4)
        assert rig.turns() == [(a.receipt.id,)]
        await pace.forward(0.1)
        await rig.ends(3)
        assert rig.turns() == [(a.receipt.id,), (b.id,), (c.id,)]
        await rig.check_whole()


async def test_q15_what_waited_becomes_one_turn(tmp_path: Path) -> None:
    there, pictures = Address("chat", "1"), [Media(f"m{n}", "image/png", f"{n}.png") for n in range(3)]
    async with rigged(tmp_path, queue=COLLECT) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        a = await rig.say("A", address=there)
        await gate.reached.wait()
        receipts = [
            await rig.say(text, address=there, media=(picture,))
            for text, picture in zip(("B", "C", "D"), pictures, strict=True)
        ]
        assert [r.position for r in receipts] == [1, 2, 3]
        gate.open()
        await rig.ends(2)
        b, c, d = (r.id for r in receipts)
        assert rig.turns() == [(a.id,), (b, c, d)]
        assert await rig.heard_by_model() == ["A", "B", "C", "D"]
        assert stamps(rig)[1:] == [
            "message 1 of 3 that waited",
            "message 2 of 3 that waited",
            "message 3 of 3 that waited",
        ]
        log = await rig.log()
        assert [p for m in log for p in m.parts if isinstance(p, Media)] == pictures
        fates = rig.fates()
        assert [fates[row][-1] for row in (b, c, d)] == ["started", "merged", "merged"]
        await rig.check_whole()


async def test_q17_only_neighbours_of_one_kind_share_a_turn(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=COLLECT) as rig:
        a = await busy(rig)
        b, c = await rig.say("B"), await rig.say("C")
        d, e = [await rig.say(text, origin=Origin.OTHER, sender="guest") for text in ("D", "E")]
        a.gate.open()
        await rig.ends(3)
        assert rig.turns() == [(a.receipt.id,), (b.id, c.id), (d.id, e.id)]
        assert await origins(rig) == ["owner", "owner", "other"]
        await rig.check_whole()


async def test_q18_nothing_is_taken_up_before_a_silence_and_nothing_twice(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.COLLECT, debounce=0.5)) as rig:
        a = await busy(rig)
        rows = [(await rig.say("1")).id]
        a.gate.open()
        await rig.ends()
        for text in ("2", "3", "4"):
            await pace.forward(0.3)
            await rig.calm()
            assert rig.turns() == [(a.receipt.id,)]
            rows.append((await rig.say(text)).id)
        await pace.forward(0.5)
        await rig.ends(2)
        assert rig.turns() == [(a.receipt.id,), tuple(rows)]
        assert await rig.heard_by_model() == ["A", "1", "2", "3", "4"]
        assert pace.asleep == []
        await rig.check_whole()


async def test_q19_what_could_not_be_begun_still_waits(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=COLLECT) as rig:
        a = await busy(rig)
        b, c = await rig.say("B"), await rig.say("C")
        full = "CREATE TRIGGER full BEFORE INSERT ON turn BEGIN SELECT RAISE(ABORT, 'no more turns'); END"
        await rig.database.run(lambda db: db.execute(full))
        a.gate.open()
        await rig.until(lambda events: any(isinstance(e, Notice) for e in events))
        await rig.calm()
        (notice,) = [e for e in rig.events() if isinstance(e, Notice)]
        assert (notice.fault.code, "no more turns" in notice.fault.message) == ("storage", True)
        assert [await rig.fate(b), await rig.fate(c)] == [("waiting", 1), ("waiting", 2)]
        assert pace.asleep == [5.0]
        await pace.forward(5.0)
        await rig.calm()
        assert pace.asleep == [10.0]
        await rig.database.run(lambda db: db.execute("DROP TRIGGER full"))
        await pace.forward(10.0)
        await rig.ends(2)
        assert rig.turns() == [(a.receipt.id,), (b.id, c.id)]
        assert await rig.heard_by_model() == ["A", "B", "C"]
        assert await rig.gateway.stores.inbox.waiting() == ()
        await rig.check_whole()


async def test_q19_of_a_turn_that_lost_a_message_the_others_still_run(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=COLLECT) as rig:
        a = await busy(rig)
        b, c, d = [await rig.say(text) for text in ("B", "C", "D")]
        rig.database.holds["Sessions.before"] = beginning = Gate()
        a.gate.open()
        await beginning.reached.wait()
        assert (await rig.gateway.withdraw(c.id)).fate is Fate.CANCELLED
        beginning.open()
        await rig.ends(2)
        assert rig.turns() == [(a.receipt.id,), (b.id, d.id)]
        assert await rig.heard_by_model() == ["A", "B", "D"]
        assert await rig.rows() == {1: "started", b.id: "started", c.id: "cancelled", d.id: "merged"}
        await rig.check_whole()


async def test_q20_an_interrupting_message_ends_the_turn_and_runs_next(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.gates["t1"] = Gate()
        rig.model.will(Say(calls=(call("write", "t1"), call("write", "t2"))), "B it is")
        await rig.say("A")
        await rig.gates["t1"].reached.wait()
        await rig.say("B", mode=Mode.INTERRUPT)
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "write,write"),
            ("write", "outcome_unknown"),
            ("write", "interrupted"),
            ("note", "Stopped by you."),
            ("user", "B"),
            ("assistant", "B it is"),
        ]
        kinds = [type(e) for e in rig.events() if isinstance(e, TurnStarted | TurnEnded)]
        assert kinds == [TurnStarted, TurnEnded, TurnStarted, TurnEnded]
        assert rig.gateway.lanes.get(HERE) is None
        await rig.check_whole()


async def test_q20_an_interrupting_message_brings_along_what_waits(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.FOLLOWUP, debounce=30.0)) as rig:
        a = await busy(rig)
        b = await rig.say("B")
        guest = await rig.say("G", origin=Origin.OTHER, sender="guest")
        c = await rig.say("C")
        d = await rig.say("D", mode=Mode.INTERRUPT)
        await rig.ends(2)
        assert rig.turns() == [(a.receipt.id,), (b.id, c.id, d.id)]
        assert await rig.heard_by_model() == ["A", "B", "C", "D"]
        assert await rig.fate(guest) == ("waiting", 1)
        await pace.forward(30.0)
        await rig.ends(3)
        assert rig.turns()[2:] == [(guest.id,)]
        await rig.check_whole()


async def test_q20_an_interrupting_message_that_is_refused_interrupts_nothing(tmp_path: Path) -> None:
    queue = QueueSettings(Mode.FOLLOWUP, 0.0, 1, Drop.NEW)
    async with rigged(tmp_path, queue=queue) as rig:
        a = await busy(rig)
        b = await rig.say("B")
        c = await rig.say("C", mode=Mode.INTERRUPT)
        await rig.calm()
        assert c == Receipt(c.id, HERE, Fate.DROPPED, reason="1 messages wait already")
        a.gate.open()
        await rig.ends(2)
        assert rig.stops() == ["done", "done"]
        assert rig.turns() == [(a.receipt.id,), (b.id,)]
        await rig.check_whole()


async def waiting(rig: Rig, *texts: str) -> tuple[Busy, list[Receipt]]:
    a = await busy(rig)
    return a, [await rig.say(text) for text in texts]


async def test_q23_full_and_the_new_one_gives_way(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.FOLLOWUP, 0.0, 2, Drop.NEW)) as rig:
        a, (b, c, d) = await waiting(rig, "B", "C", "D")
        assert d == Receipt(d.id, HERE, Fate.DROPPED, reason="2 messages wait already")
        assert [await rig.fate(r) for r in (b, c, d)] == [("waiting", 1), ("waiting", 2), ("dropped", 0)]
        a.gate.open()
        await rig.ends(3)
        assert await rig.heard_by_model() == ["A", "B", "C"]
        assert rig.fates()[d.id] == ["dropped"]
        await rig.check_whole()


async def test_q24_full_and_the_oldest_gives_way(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.FOLLOWUP, 0.0, 2, Drop.OLD)) as rig:
        a, (b, c, d) = await waiting(rig, "B", "C", "D")
        assert [await rig.fate(r) for r in (b, c, d)] == [("dropped", 0), ("waiting", 1), ("waiting", 2)]
        assert (await rig.gateway.receipt(b.id)).reason == "more than 2 messages waited"
        a.gate.open()
        await rig.ends(3)
        assert await rig.heard_by_model() == ["A", "C", "D"]
        assert not any("B" in m.text for m in await rig.log())
        await rig.check_whole()


async def test_q26_full_and_a_line_of_the_oldest_is_left(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.COLLECT, 0.0, 2, Drop.SUMMARIZE)) as rig:
        long = "8" * 200
        a, receipts = await waiting(rig, *[str(n) for n in range(8)], f"{long} and more", "9")
        kept = [r.id for r in receipts[8:]]
        assert [(await rig.fate(r))[0] for r in receipts] == ["summarized"] * 8 + ["waiting"] * 2
        a.gate.open()
        await rig.ends(2)
        summary = "(8 messages came while more than 2 waited; this is left of them:)\n- 6\n- 7"
        assert await rig.heard_by_model() == ["A", summary, f"{long} and more", "9"]
        assert rig.turns() == [(a.receipt.id,), tuple(kept)]
        assert {tuple(rig.fates()[r.id]) for r in receipts[:8]} == {("waiting", "summarized", "merged")}
        await rig.check_whole()


async def test_q26_what_is_left_is_said_even_when_the_others_are_taken_back(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.FOLLOWUP, 0.0, 1, Drop.SUMMARIZE)) as rig:
        a, (b, c) = await waiting(rig, "B", "C")
        await rig.gateway.withdraw(c.id)
        a.gate.open()
        await rig.ends(2)
        assert await rig.heard_by_model() == [
            "A",
            "(1 messages came while more than 1 waited; this is left of them:)\n- B",
        ]
        assert rig.fates()[b.id] == ["waiting", "summarized", "merged"]
        assert rig.gateway.lanes.get(HERE) is None
        await rig.check_whole()


async def test_q26_a_line_of_a_guest_does_not_come_with_the_owners_authority(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.FOLLOWUP, 0.0, 1, Drop.SUMMARIZE)) as rig:
        a = await busy(rig)
        guest = await rig.say("G", origin=Origin.OTHER, sender="guest")
        b = await rig.say("B")
        a.gate.open()
        await rig.ends(3)
        left = "(1 messages came while more than 1 waited; this is left of them:)\n- G"
        assert await rig.heard_by_model() == ["A", left, "B"]
        assert [(m.sender, m.tainted) for m in await rig.log() if m.role is Role.USER][1:] == [
            ("guest", True),
            ("", False),
        ]
        assert rig.turns()[1:] == [(), (b.id,)]
        assert rig.fates()[guest.id] == ["waiting", "summarized", "merged"]
        assert await origins(rig) == ["owner", "other", "owner"]
        await rig.check_whole()


async def test_q28_queue_alone_is_kept_for_the_session_and_answered(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        receipt = await rig.say("/queue collect debounce:2s cap:25 drop:old")
        text = "Messages that come while I work: collect (silence 2 s, at most 25, full: old)."
        assert receipt == Receipt(receipt.id, HERE, Fate.ANSWERED, text=text)
        assert rig.model.requests == []
        assert await rig.gateway.queue(HERE) == QueueSettings(Mode.COLLECT, 2.0, 25, Drop.OLD)
        assert await rig.gateway.queue("another") == QueueSettings(debounce=0.0)
    async with rigged(tmp_path) as rig:
        assert await rig.gateway.queue(HERE) == QueueSettings(Mode.COLLECT, 2.0, 25, Drop.OLD)
        assert rig.fates() == {}
        await rig.check_whole()


async def test_q29_queue_with_a_message_holds_for_that_message(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        await busy(rig)
        b = await rig.say("/queue interrupt please fix")
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("note", "Stopped by you."),
            ("user", "please fix"),
            ("assistant", "ok"),
        ]
        assert rig.fates()[b.id] == ["waiting", "started"]
        assert await rig.gateway.queue(HERE) == FOLLOWUP
        await rig.check_whole()


async def test_q29_its_own_words_come_back_after_a_crash_too(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=COLLECT) as rig:
        a = await busy(rig)
        b = await rig.say("/queue followup please fix")
        c = await rig.say("/steer and this")
        await rig.calm()
        rig.database.is_dead = True
    async with rigged(tmp_path, queue=COLLECT) as rig:
        await rig.ends(2)
        assert await rig.heard_by_model() == ["A", "please fix", "and this"]
        assert rig.turns() == [(a.receipt.id,), (b.id,)]
        assert await rig.rows() == {a.receipt.id: "started", b.id: "started", c.id: "steered"}
        await rig.check_whole()


async def test_q30_reset_lets_the_channel_and_then_all_decide(tmp_path: Path) -> None:
    chat = Address("chat", "1")
    channels = {"chat": QueueChange(Mode.COLLECT)}
    async with rigged(tmp_path, queue=FOLLOWUP, channels=channels) as rig:
        await rig.say("/queue interrupt cap:3", address=chat)
        assert await rig.gateway.queue(HERE) == QueueSettings(Mode.INTERRUPT, 0.0, 3)
        receipt = await rig.say("/queue reset", address=chat)
        assert receipt.fate is Fate.ANSWERED
        assert await rig.gateway.queue(HERE) == FOLLOWUP
        state = await rig.gateway.stores.inbox.state(HERE)
        assert state.queue == QueueChange()
        rules = rig.gateway.lanes.rules
        assert rules.of(Inbound(HERE, "", address=chat), state.queue).mode is Mode.COLLECT
        assert rules.of(Inbound(HERE, "", address=Address("mail", "1")), state.queue).mode is Mode.FOLLOWUP
        await rig.check_whole()


async def test_q31_a_strangers_command_is_plain_text(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        receipt = await rig.say("/queue steer", origin=Origin.OTHER, sender="guest")
        await rig.ends()
        assert receipt.fate is Fate.WAITING
        assert await rig.said() == [("user", "/queue steer"), ("assistant", "ok")]
        assert await rig.gateway.queue(HERE) == FOLLOWUP
        await rig.check_whole()


@pytest.mark.parametrize(
    ("chat", "session", "own", "turns"),
    [
        ("mail", None, None, [(2, 3)]),
        ("telegram", None, None, [(2,), (3,)]),
        ("telegram", Mode.COLLECT, None, [(2, 3)]),
        ("telegram", Mode.COLLECT, Mode.FOLLOWUP, [(2,), (3,)]),
    ],
)
async def test_q32_message_before_session_before_channel_before_all(
    tmp_path: Path, chat: str, session: Mode | None, own: Mode | None, turns: list[tuple[int, ...]]
) -> None:
    there = Address(chat, "1")
    async with rigged(tmp_path, queue=COLLECT, channels={"telegram": QueueChange(Mode.FOLLOWUP)}) as rig:
        await rig.gateway.queue(HERE, QueueChange(session))
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A", address=there)
        await gate.reached.wait()
        await rig.say("B", mode=own, address=there)
        await rig.say("C", mode=own, address=there)
        gate.open()
        await rig.ends(1 + len(turns))
        assert rig.turns() == [(1,), *turns]
        await rig.check_whole()


async def test_q33_older_names_of_modes_are_understood(tmp_path: Path) -> None:
    assert (mode_named("steer-backlog"), mode_named("queue")) == (Mode.FOLLOWUP, Mode.STEER)
    async with rigged(tmp_path) as rig:
        await rig.say("/queue steer-backlog")
        assert (await rig.gateway.queue(HERE)).mode is Mode.FOLLOWUP
        await rig.say("/queue queue")
        assert (await rig.gateway.queue(HERE)).mode is Mode.STEER
        await rig.check_whole()


async def test_q35_a_heartbeat_is_dropped_where_something_runs_or_waits(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, pace=pace, queue=QueueSettings(Mode.FOLLOWUP, debounce=5.0)) as rig:
        a = await busy(rig)
        first = await rig.say("beat", origin=Origin.JOB, yields=True)
        assert first == Receipt(2, HERE, Fate.DROPPED, reason="something else runs")
        b = await rig.say("B")
        a.gate.open()
        await rig.ends()
        second = await rig.say("beat", origin=Origin.JOB, yields=True)
        assert second.fate is Fate.DROPPED
        assert await rig.fate(b) == ("waiting", 1)
        await pace.forward(5.0)
        await rig.ends(2)
        assert await rig.heard_by_model() == ["A", "B"]
        assert rig.fates()[first.id] == ["dropped"]
        await rig.check_whole()


async def test_q35_a_heartbeat_gives_way_to_a_person(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate), "hello")
        beat = await rig.say("beat", origin=Origin.JOB, yields=True)
        await gate.reached.wait()
        b = await rig.say("B")
        await rig.ends(2)
        assert rig.turns() == [(beat.id,), (b.id,)]
        assert rig.stops() == ["stopped", "done"]
        assert await rig.said() == [
            ("user", "beat"),
            ("note", "Stopped by you."),
            ("user", "B"),
            ("assistant", "hello"),
        ]
        await rig.check_whole()


async def test_q36_an_answer_goes_to_the_question_and_not_into_the_queue(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(calls=(call("send", "t1"),)), "sent")
        a = await rig.say("A", address=(there := Address("chat", "1")))
        await rig.until(lambda events: any(isinstance(e, ApprovalAsked) for e in events))
        await rig.calm()
        answer = await rig.say("Yes.", address=there)
        await rig.ends()
        assert (answer.fate, answer.text) == (Fate.ANSWERED, "Answered: yes.")
        assert rig.ran == ["t1"]
        assert await rig.said() == [("user", "A"), ("assistant", "send"), ("send", "t1 done"), ("assistant", "sent")]
        assert rig.fates() == {a.id: ["waiting", "started"], answer.id: ["answered"]}
        assert await rig.gateway.questions() == ()
        await rig.check_whole()


async def test_q36_anything_else_waits_and_lets_the_question_stand(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(calls=(call("send", "t1"),)), "not sent")
        await rig.say("A")
        await rig.until(lambda events: any(isinstance(e, ApprovalAsked) for e in events))
        await rig.calm()
        b = await rig.say("what is it about?")
        assert b.position == 1
        (question,) = await rig.gateway.questions()
        await rig.gateway.answer(question.asked.id, Answer.NO, "test")
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("assistant", "send"),
            ("send", "declined"),
            ("user", "what is it about?"),
            ("assistant", "not sent"),
        ]
        await rig.check_whole()


async def test_q37_steer_while_nothing_runs_is_an_ordinary_message(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=FOLLOWUP) as rig:
        receipt = await rig.say("/steer go left")
        await rig.ends()
        assert receipt.fate is Fate.WAITING
        assert await rig.said() == [("user", "go left"), ("assistant", "ok")]
        a = await busy(rig)
        await rig.say("/tell go right")
        a.gate.open()
        await rig.ends(2)
        assert await rig.heard_by_model() == ["go left", "A", "go right"]
        assert len(rig.turns()) == 2
        await rig.check_whole()


class Late(Silent):
    """Says B, once, when something of the turn has been stored."""

    def __init__(self, when: type) -> None:
        self.when = when
        self.said: list[Receipt] = []
        self.rig: Rig | None = None

    async def hear(self, event: Event) -> None:
        if isinstance(event, self.when) and not self.said and self.rig is not None:
            self.said.append(await self.rig.say("B", mode=Mode.STEER))


@pytest.mark.parametrize(("when", "turns"), [(MessageAdded, [(1,)]), (TurnEnded, [(1,), (2,)])])
async def test_q38_before_the_end_it_joins_and_after_it_it_begins_a_turn(
    tmp_path: Path, when: type, turns: list[tuple[int, ...]]
) -> None:
    late = Late(when)
    async with rigged(tmp_path, voice=lambda work: late) as rig:
        late.rig = rig
        rig.model.will("A is done", "and B")
        await rig.say("A")
        await rig.ends(len(turns))
        assert rig.turns() == turns
        assert await rig.said() == [("user", "A"), ("assistant", "A is done"), ("user", "B"), ("assistant", "and B")]
        await rig.check_whole()


async def test_q38_where_the_turn_has_no_rounds_left_it_begins_another(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=Limits(rounds=1)) as rig:
        a = await busy(rig)
        b = await rig.say("B", mode=Mode.STEER)
        a.gate.open()
        await rig.ends(2)
        assert rig.stops() == ["done", "done"]
        assert rig.turns() == [(a.receipt.id,), (b.id,)]
        assert await rig.said() == [("user", "A"), ("assistant", "A is done"), ("user", "B"), ("assistant", "ok")]
        await rig.check_whole()


async def test_q41_a_parked_message_that_is_taken_back_was_never_said(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.preparing.append(preparing := Gate())
        a = await rig.say("A")
        await preparing.reached.wait()
        b, c = await rig.say("B", mode=Mode.STEER), await rig.say("C", mode=Mode.STEER)
        taken = await rig.gateway.withdraw(b.id)
        assert taken == Receipt(b.id, HERE, Fate.CANCELLED, reason="taken back")
        preparing.open()
        await rig.ends()
        assert await rig.said() == [("user", "A"), ("user", "C"), ("assistant", "ok")]
        assert rig.turns() == [(a.id,)]
        assert rig.stops() == [Stop.DONE.value]
        assert {k: v[-1] for k, v in rig.fates().items()} == {a.id: "started", b.id: "cancelled", c.id: "steered"}
        await rig.check_whole()


async def test_q41_one_that_is_taken_back_while_it_joins_does_not_bar_the_way(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.preparing.append(preparing := Gate())
        a = await rig.say("A")
        await preparing.reached.wait()
        b, c = await rig.say("B", mode=Mode.STEER), await rig.say("C", mode=Mode.STEER)
        rig.database.holds |= {"Sessions.append": (joining := Gate()), "Inbox.get": (telling := Gate())}
        preparing.open()
        await joining.reached.wait()
        withdrawing = asyncio.create_task(rig.gateway.withdraw(b.id))
        await telling.reached.wait()  # the store has cancelled it, and its lane does not know yet
        joining.open()
        await rig.ends()
        telling.open()
        assert (await withdrawing).fate is Fate.CANCELLED
        assert rig.turns() == [(a.id,)]
        assert await rig.said() == [("user", "A"), ("user", "C"), ("assistant", "ok")]
        assert len(rig.model.requests) == 1
        assert await rig.rows() == {a.id: "started", b.id: "cancelled", c.id: "steered"}
        await rig.check_whole()


async def test_q42_every_message_has_one_visible_fate(tmp_path: Path) -> None:
    queue = QueueSettings(Mode.COLLECT, 0.0, 2, Drop.NEW)
    async with rigged(tmp_path, queue=queue) as rig:
        a = await busy(rig)
        steered = await rig.say("steered", mode=Mode.STEER)
        queued, merged = await rig.say("queued"), await rig.say("merged", queue=QueueChange(cap=3))
        dropped = await rig.say("dropped")
        cancelled = await rig.say("cancelled", queue=QueueChange(cap=4))
        await rig.gateway.withdraw(cancelled.id)
        answered = await rig.say("/status")
        twice = await rig.say("twice", external_id="x1", queue=QueueChange(cap=9))
        again = await rig.say("twice", external_id="x1", queue=QueueChange(cap=9))
        assert again == twice == Receipt(twice.id, HERE, Fate.WAITING, 4)
        assert answered.text == "Working on your message. 3 messages waiting."
        assert [r.position for r in (steered, queued, merged, dropped, cancelled)] == [1, 2, 3, 0, 4]
        a.gate.open()
        await rig.ends(2)
        told = {row: fates[-1] for row, fates in rig.fates().items()}
        assert told == {
            a.receipt.id: "started",
            steered.id: "steered",
            queued.id: "started",
            merged.id: "merged",
            dropped.id: "dropped",
            cancelled.id: "cancelled",
            answered.id: "answered",
            twice.id: "merged",
        }
        reasons = [e.receipt.reason for e in rig.events() if isinstance(e, Taken) and e.receipt.fate is Fate.DROPPED]
        assert reasons == ["3 messages wait already"]
        await rig.check_whole()
