"""The one door: what is stored, woken, refused and told around the turns themselves."""

import asyncio
from pathlib import Path

import pytest

from palmclaw.core.errors import SessionNotFound, StorageError
from palmclaw.core.events import Answer, ApprovalAsked, Event, Notice, Standing, Taken
from palmclaw.core.messages import Media
from palmclaw.core.runtime import Draining, NotOpen, Stopped
from palmclaw.core.traffic import Address, Drop, Fate, Inbound, Mode, Origin, QueueSettings, Receipt
from palmclaw.runtime.turns import Silent, Work
from tests.acceptance.rig import HERE, Gate, Pace, Say, call, child_of, dies, rigged, spawning

CHAT = Address("chat", "1")


async def test_nothing_is_taken_any_more_once_it_ends(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        waiting = asyncio.create_task(rig.gateway.wait_closed())
        await rig.gateway.close()
        with pytest.raises(Draining):
            await rig.say("too late")
        await waiting
        assert await rig.rows() == {}


async def test_a_message_that_nobody_knows(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        for asked in (rig.gateway.receipt, rig.gateway.withdraw):
            with pytest.raises(NotOpen, match="there is no message 7"):
                await asked(7)


async def test_a_session_at_work_is_not_deleted(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A", external_id="1")
        await gate.reached.wait()
        with pytest.raises(StorageError, match="s is at work"):
            await rig.gateway.delete(HERE)
        gate.open()
        await rig.ends()
        await rig.gateway.delete(HERE)
        with pytest.raises(SessionNotFound):
            await rig.gateway.delete(HERE)
        assert await rig.say("A", external_id="1") == Receipt(1, HERE, Fate.STARTED)
        assert await rig.sessions.listed() == ()


@pytest.mark.parametrize("later", range(10))
async def test_what_comes_in_the_moment_of_the_deletion_is_cancelled_or_begins_anew(tmp_path: Path, later: int) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will("old", "new")
        await rig.say("first")
        await rig.ends()

        async def speak() -> Receipt:
            for _ in range(later):
                await rig.database.run(lambda db: None)
            return await rig.say("second")

        receipt, _ = await asyncio.gather(speak(), rig.gateway.delete(HERE))
        await rig.calm()
        fate = (await rig.gateway.receipt(receipt.id)).fate
        assert rig.gateway.lanes.status() == ()
        if fate is Fate.CANCELLED:
            assert (rig.fates()[receipt.id], await rig.sessions.listed()) == (["waiting", "cancelled"], ())
        else:
            assert (fate, await rig.heard_by_model()) == (Fate.STARTED, ["second"])
        await rig.check_whole()


async def test_the_sub_agents_of_a_deleted_session_stop_and_do_not_bring_it_back(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(calls=(spawning("dig"),)), "begun")
        rig.model.will(Say("gold", gate=gate), session="dig")
        await rig.say("find gold")
        await rig.ends()
        await gate.reached.wait()
        child = child_of(rig)
        await rig.gateway.delete(HERE)
        assert rig.stops(child) == ["stopped"]
        rig.model.will("gold after all", session=child)
        await rig.say("go on", child)
        await rig.ends(2, child)
        assert [info.id for info in await rig.sessions.listed()] == [child]
        await rig.check_whole()


async def test_an_attachment_is_kept_and_a_lasting_answer_taken_back(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        media = await rig.gateway.keep(b"bytes", "image/png", "a.png")
        assert media == Media(media.id, "image/png", "a.png")
        grants = rig.gateway.stores.grants
        await grants.add(HERE, "send", "+1555", Answer.ALWAYS)  # type: ignore[attr-defined]
        await rig.gateway.revoke(1)
        with pytest.raises(NotOpen, match="there is no lasting answer 1"):
            await rig.gateway.revoke(1)


async def test_what_the_start_has_found(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(calls=(call("send", "t1"),)))
        await rig.say("A")
        await rig.until(lambda events: any(isinstance(e, ApprovalAsked) for e in events))
        await rig.calm()
        (question,) = await rig.gateway.questions()
        rig.database.is_dead = True
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert (await rig.gateway.status()).findings == (
            "a turn in s had been broken off; it has been closed",
            "1 open question was withdrawn",
        )
        with pytest.raises(NotOpen, match="PalmClaw has been restarted since"):
            await rig.gateway.answer(question.asked.id, Answer.ONCE, "test")
        assert rig.ran == []
        assert (await rig.said())[2] == ("send", "interrupted")
        await rig.check_whole()


async def test_a_process_for_one_session_wakes_only_that_one(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        for session in ("s", "t"):
            rig.model.will(Say(gate=Gate()), session=session)
            await rig.say("A", session)
            await rig.say("B", session, mode=Mode.FOLLOWUP)
        await rig.calm()
        rig.database.is_dead = True
    async with rigged(tmp_path, start="s") as rig:
        await rig.ends(2)
        assert {r.session for r in rig.model.requests} == {"s"}
        assert rig.fates("s") == {2: ["waiting", "started"]}
        at_once = await asyncio.gather(*(rig.say(text, "t", mode=Mode.FOLLOWUP) for text in ("C", "D")))
        await rig.ends(4, "t")
        assert await rig.heard_by_model("t") == ["A", "B", "C", "D"]
        assert [r.id for r in at_once] == [5, 6]
        await rig.check_whole()


async def test_a_command_that_was_not_done_is_done_at_the_start(tmp_path: Path) -> None:
    async with rigged(tmp_path, fatal=dies("Inbox.put", done=True, time=3)) as rig:
        rig.model.will(Say(gate=Gate()))
        await rig.say("A")
        await rig.say("B", mode=Mode.FOLLOWUP)
        saying = asyncio.ensure_future(rig.say("/stop", external_id="3", address=CHAT))
        await rig.dead()
        saying.cancel()
    async with rigged(tmp_path) as rig:
        await rig.calm()
        assert rig.model.requests == []
        assert await rig.rows() == {1: "started", 2: "cancelled", 3: "answered"}
        again = await rig.say("/stop", external_id="3", address=CHAT)
        assert again == Receipt(3, HERE, Fate.ANSWERED, reason="stop")
        assert rig.gateway.lanes.status() == ()
        await rig.check_whole()


async def test_a_guests_words_are_no_command_after_a_restart_either(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        rig.model.will(Say(gate=(gate := Gate())), session="other")
        await rig.say("A", "other")
        await gate.reached.wait()
        await rig.gateway.accept(Inbound(HERE, "/new", Origin.OTHER, "guest"), may_command=False)
        await rig.calm()
        rig.database.is_dead = True
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert await rig.said() == [("user", "/new"), ("assistant", "ok")]
        await rig.check_whole()


async def test_what_gave_way_is_still_told_after_a_restart(tmp_path: Path) -> None:
    queue = QueueSettings(Mode.COLLECT, 0.0, 1, Drop.SUMMARIZE)
    async with rigged(tmp_path, queue=queue) as rig:
        rig.model.will(Say(gate=Gate()))
        for text in ("A", "B", "C", "D"):
            await rig.say(text)
        await rig.calm()
        rig.database.is_dead = True
    async with rigged(tmp_path, queue=queue) as rig:
        await rig.ends(2)
        left = "(2 messages came while more than 1 waited; this is left of them:)\n- C"
        assert await rig.heard_by_model() == ["A", left, "D"]
        assert await rig.rows() == {1: "started", 2: "merged", 3: "merged", 4: "started"}
        await rig.check_whole()


async def test_a_turn_that_goes_on_is_not_lost_when_it_cannot_be_begun(tmp_path: Path) -> None:
    pace = Pace()
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False)) as rig:
        await rig.say("A")
        await rig.dead()
    async with rigged(tmp_path, start="another", pace=pace) as rig:
        full = "CREATE TRIGGER full BEFORE INSERT ON turn BEGIN SELECT RAISE(ABORT, 'no more turns'); END"
        await rig.database.run(lambda db: db.execute(full))
        waking = asyncio.ensure_future(rig.say("B", mode=Mode.FOLLOWUP))
        await rig.until(lambda events: any(isinstance(e, Notice) for e in events))
        await rig.calm()
        assert (await waking).fate is Fate.WAITING
        await rig.database.run(lambda db: db.execute("DROP TRIGGER full"))
        await pace.forward(300.0)
        await rig.ends(2)
        assert await rig.said() == [
            ("user", "A"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("assistant", "ok"),
            ("user", "B"),
            ("assistant", "ok"),
        ]
        await rig.check_whole()


async def test_a_recovery_that_dies_is_done_again(tmp_path: Path) -> None:
    async with rigged(tmp_path, fatal=dies("Sessions.append", done=False)) as rig:
        await rig.say("A")
        await rig.dead()
    async with rigged(tmp_path, fatal=dies("Sessions.end", done=False)) as rig:
        await rig.dead()
    async with rigged(tmp_path) as rig:
        await rig.ends()
        assert await rig.said() == [
            ("user", "A"),
            ("note", "PalmClaw stopped in the middle of this turn; it has been closed."),
            ("assistant", "ok"),
        ]
        await rig.check_whole()


async def test_a_lane_with_a_bug_does_not_run_hot_and_loses_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pace, is_broken = Pace(), [True]

    def voice(work: Work) -> Silent:
        if is_broken[0]:
            raise KeyError("a bug")
        return Silent()

    async with rigged(tmp_path, voice=voice, pace=pace, slots=1) as rig:
        receipt = await rig.say("A")
        await rig.calm()
        assert [record.getMessage() for record in caplog.records] == ["the lane of s broke"]
        assert pace.asleep == [5.0]
        assert await rig.fate(receipt) == ("waiting", 1)
        assert rig.gateway.lanes.house.slots.free == 1
        await pace.forward(5.0)
        await rig.calm()
        assert (len(caplog.records), pace.asleep) == (2, [10.0])
        is_broken[0] = False
        await pace.forward(10.0)
        await rig.ends()
        assert await rig.said() == [("user", "A"), ("assistant", "ok")]
        await rig.check_whole()


class Failing(Silent):
    """A way out that fails in the middle of a turn."""

    async def hear(self, event: Event) -> None:
        raise StorageError("no space left")


async def test_a_turn_whose_words_cannot_be_kept_ends_with_that(tmp_path: Path) -> None:
    async with rigged(tmp_path, voice=lambda work: Failing()) as rig:
        await rig.say("A")
        await rig.ends()
        assert rig.stops() == ["storage"]
        assert await rig.said() == [("user", "A"), ("note", "no space left")]
        await rig.check_whole()


async def test_a_stop_that_cannot_be_stored_is_told_and_ends_the_turn_all_the_same(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(calls=(spawning("dig"),)), Say(gate=Gate()))
        rig.model.will(Say(gate=(gate := Gate())), session="dig")
        await rig.say("A")
        await gate.reached.wait()
        await rig.calm()
        b = await rig.say("B", mode=Mode.FOLLOWUP)
        full = "CREATE TRIGGER full BEFORE UPDATE ON inbox BEGIN SELECT RAISE(ABORT, 'disk'); END"
        await rig.database.run(lambda db: db.execute(full))
        with pytest.raises(StorageError):
            await rig.gateway.stop(HERE)
        await rig.ends()
        assert rig.stops() == rig.stops(child_of(rig)) == ["stopped"]
        assert rig.fates()[b.id] == ["waiting"]
        await rig.database.run(lambda db: db.execute("DROP TRIGGER full"))
        assert await rig.gateway.stop(HERE) == Stopped(waiting=1)
        await rig.calm()
        assert rig.fates()[b.id] == ["waiting", "cancelled"]
        assert await rig.heard_by_model() == ["A"]
        await rig.check_whole()


async def test_who_comes_late_sees_what_waits(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say(gate=(gate := Gate())))
        await rig.say("A")
        await gate.reached.wait()
        b, c = [await rig.say(text, mode=Mode.FOLLOWUP) for text in ("B", "C")]
        await rig.gateway.withdraw(b.id)
        signals = rig.gateway.events(HERE)
        first = (await anext(signals)).event
        await signals.aclose()
        await rig.calm()
        assert isinstance(first, Standing)
        assert [(r.id, r.position) for r in first.waiting][-1:] == [(c.id, 1)]
        assert Taken(Receipt(b.id, HERE, Fate.CANCELLED, reason="taken back")) in rig.events()
        gate.open()
        await rig.ends(2)
        await rig.check_whole()


def test_whose_work_it_is() -> None:
    owner, guest = Inbound(HERE, "A"), Inbound(HERE, "B", Origin.OTHER)
    assert [Work(w).is_owners for w in ((owner,), (owner, guest))] == [True, False]


async def test_a_place_is_lent_only_by_the_turn_that_has_it(tmp_path: Path) -> None:
    async with rigged(tmp_path, slots=1) as rig:
        rig.model.will(Say(gate=(gate := Gate())))
        await rig.say("A")
        await gate.reached.wait()
        async with rig.gateway.lanes.lent("nobody's turn"):
            assert rig.gateway.lanes.house.slots.free == 0
        gate.open()
        await rig.ends()
        await rig.check_whole()


async def test_a_failing_test_can_name_the_parts_that_know_each_other(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        rig.model.will(Say("done", gate=(gate := Gate())))
        await rig.say("A")
        await gate.reached.wait()
        lane = rig.gateway.lanes.get(HERE)
        assert max(len(repr(part)) for part in (rig, rig.gateway, rig.gateway.lanes, lane)) < 200
        gate.open()
        await rig.ends()
