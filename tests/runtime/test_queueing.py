"""How messages wait: the words of it, the rules of it, and the real thing against a second telling of the rules."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from palmclaw.core.errors import Unavailable
from palmclaw.core.messages import Media
from palmclaw.core.ports import Delta, Request
from palmclaw.core.runtime import NotOpen
from palmclaw.core.traffic import Address, Drop, Fate, Inbound, Mode, Origin, QueueChange, QueueSettings
from palmclaw.runtime.commands import (
    Command,
    QueueCommand,
    answer,
    command,
    drop_named,
    means_stop,
    mode_named,
    queue_command,
)
from palmclaw.runtime.lanes import QueueRules
from palmclaw.runtime.queueing import Batch, Item, Line, added, batch, merged, settled, steerable, summary, without
from tests.acceptance.rig import HERE, OPEN, Death, Gate, Model, Pace, Rig, Say, call, rigged
from tests.runtime.queue_model import CAP, SILENCE, Reference, Said

T = TypeVar("T")


@pytest.mark.parametrize(
    ("rest", "read"),
    [
        ("", QueueCommand()),
        ("collect", QueueCommand(QueueChange(Mode.COLLECT))),
        ("Coalesce", QueueCommand(QueueChange(Mode.COLLECT))),
        ("steering", QueueCommand(QueueChange(Mode.STEER))),
        ("queue", QueueCommand(QueueChange(Mode.STEER))),
        ("follow-ups", QueueCommand(QueueChange(Mode.FOLLOWUP))),
        ("steer-backlog", QueueCommand(QueueChange(Mode.FOLLOWUP))),
        ("INTERRUPTS", QueueCommand(QueueChange(Mode.INTERRUPT))),
        ("abort", QueueCommand(QueueChange(Mode.INTERRUPT))),
        ("debounce:500", QueueCommand(QueueChange(debounce=0.5))),
        ("debounce:500ms", QueueCommand(QueueChange(debounce=0.5))),
        ("debounce=2s", QueueCommand(QueueChange(debounce=2.0))),
        ("debounce:0.5s", QueueCommand(QueueChange(debounce=0.5))),
        ("debounce:0", QueueCommand(QueueChange(debounce=0.0))),
        ("debounce:1M", QueueCommand(QueueChange(debounce=60.0))),
        ("debounce:1h", QueueCommand(QueueChange(debounce=60.0))),
        ("debounce:1d", QueueCommand(QueueChange(debounce=60.0))),
        ("cap:25", QueueCommand(QueueChange(cap=25))),
        ("cap=5000", QueueCommand(QueueChange(cap=1_000))),
        ("cap:0", QueueCommand()),
        ("collect cap:0 drop:new", QueueCommand(QueueChange(Mode.COLLECT, drop=Drop.NEW))),
        ("drop:oldest", QueueCommand(QueueChange(drop=Drop.OLD))),
        ("drop=newest", QueueCommand(QueueChange(drop=Drop.NEW))),
        ("drop:Summary", QueueCommand(QueueChange(drop=Drop.SUMMARIZE))),
        ("collect debounce:2s cap:25 drop:old", QueueCommand(QueueChange(Mode.COLLECT, 2.0, 25, Drop.OLD))),
        ("cap:2 cap:3", QueueCommand(QueueChange(cap=3))),
        ("default", QueueCommand(reset=True)),
        ("Reset", QueueCommand(reset=True)),
        ("clear", QueueCommand(reset=True)),
        ("reset now", QueueCommand(reset=True, text="now")),
        ("interrupt please  fix\nit", QueueCommand(QueueChange(Mode.INTERRUPT), text="please  fix\nit")),
        ("interrupt steer", QueueCommand(QueueChange(Mode.INTERRUPT), text="steer")),
        ("cap:2 collect", QueueCommand(QueueChange(Mode.COLLECT, cap=2))),
        ("nonsense", QueueCommand(text="nonsense")),
        ("collect debounce:soon", QueueCommand(QueueChange(Mode.COLLECT), text="debounce:soon")),
        ("debounce:-1", QueueCommand(text="debounce:-1")),
        ("cap:-1", QueueCommand(text="cap:-1")),
        ("cap:two", QueueCommand(text="cap:two")),
        (f"cap:{'9' * 5_000}", QueueCommand(text=f"cap:{'9' * 5_000}")),
        ("drop:all", QueueCommand(text="drop:all")),
        ("speed:2", QueueCommand(text="speed:2")),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_queue_is_read_up_to_the_first_word_that_is_no_setting(rest: str, read: QueueCommand) -> None:
    assert queue_command(rest) == read


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/stop", Command("stop")),
        ("  /STOP  ", Command("stop")),
        ("/stop@palmclaw_bot", Command("stop")),
        ("/queue: collect", Command("queue", "collect")),
        ("/queue@bot: collect", Command("queue", "collect")),
        ("/steer go left\nand then right", Command("steer", "go left\nand then right")),
        ("/approve a1 yes", Command("approve", "a1 yes")),
        ("/queue collect:", Command("queue", "collect:")),
        ("/stopwatch", None),
        ("/etc/passwd is a file", None),
        ("/", None),
        ("what is /stop", None),
        ("", None),
    ],
)
def test_a_command_is_the_first_word(text: str, found: Command | None) -> None:
    assert command(text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("stop", "Stop.", "STOP!!!", " stop ", "please stop", "Please  stop", "stop please", "stop it", "stop that"),
        *("stop now", "stop everything", "abort", "cancel", "cancel that", "halt", "esc", "escape", "exit", "quit"),
        *(
            "interrupt",
            "“stop”",
            "stop…",
            "停",
            "停！",
            "停下",
            "停止。",
            "停一下",
            "停下来",
            "请停",
            "快停下",
            "别做了",
        ),
        *("不要做了", "取消", "中止", "终止", "打断", "住手", "para", "detente", "alto", "arrête", "stopp", "Halt an"),
        *("aufhören", "Стоп!", "やめて", "止めて", "그만", "توقف"),
    ],
)
def test_words_that_mean_stop(text: str) -> None:
    assert means_stop(text)
    assert command(text) == Command("stop")


@pytest.mark.parametrize(
    "text",
    [
        *("wait", "please stop using tabs", "don't stop", "stop the music", "stopped", "unstoppable", "stop?or go"),
        *(
            "stop stop",
            "please",
            "",
            "…",
            "no",
            "不要停",
            "停车",
            "取消订单",
            "请",
            "para mí",
            "exit code 1",
            "nonstop",
        ),
    ],
)
def test_words_that_do_not(text: str) -> None:
    assert not means_stop(text)


def test_words_that_answer() -> None:
    said = {
        word: answer(word)
        for word in ("Yes", "ok.", " 1 ", "好！", "session", "本次", "A", "总是", "no", "N!", "不", "maybe")
    }
    assert [a.value if a else None for a in said.values()] == [
        *["once"] * 4,
        *["session"] * 2,
        *["always"] * 2,
        *["no"] * 3,
        None,
    ]


def test_names_of_modes_and_of_who_gives_way() -> None:
    assert [mode_named(w) for w in ("Steer", " queue ", "follow-up", "nonsense")] == [
        Mode.STEER,
        Mode.STEER,
        Mode.FOLLOWUP,
        None,
    ]
    assert [drop_named(w) for w in ("OLD", "newest", "summary", "all")] == [Drop.OLD, Drop.NEW, Drop.SUMMARIZE, None]


BASE = QueueSettings()


def test_the_last_one_that_says_something_wins() -> None:
    change = QueueChange(Mode.COLLECT, cap=5)
    assert settled(BASE, change, QueueChange(cap=7), QueueChange(debounce=0.0)) == QueueSettings(Mode.COLLECT, 0.0, 7)
    assert merged(change, QueueChange(cap=7, drop=Drop.OLD)) == QueueChange(Mode.COLLECT, None, 7, Drop.OLD)


def test_a_report_joins_what_runs_whatever_the_session_wants() -> None:
    rules = QueueRules(BASE, {"chat": QueueChange(Mode.FOLLOWUP)})
    report = Inbound(HERE, "", sender="subagent:1", address=Address("chat", "1"))
    assert rules.of(report, QueueChange(Mode.COLLECT)).mode is Mode.STEER
    assert rules.of(Inbound(HERE, "", address=Address("chat", "1")), QueueChange()).mode is Mode.FOLLOWUP


def item(row: int, text: str = "", mode: Mode = Mode.STEER, **more: Any) -> Item:
    return Item(row, Inbound(HERE, text or str(row), **more), mode)


def test_who_is_joining_neither_gives_way_nor_joins_twice() -> None:
    line = Line((item(1), item(2)), joining=1)
    full = QueueSettings(cap=2, drop=Drop.OLD)
    change = added(line, item(3), full)
    assert (change.line.items, change.fates) == (
        (item(1), item(3)),
        ((2, Fate.DROPPED, "more than 2 messages waited"),),
    )
    refused = added(Line((item(1),), joining=1), item(2), QueueSettings(cap=1, drop=Drop.OLD))
    assert refused.fates == ((2, Fate.DROPPED, "1 messages wait already"),)
    assert steerable(line, item(0)) is None
    assert without(line, (1,)) == Line((item(2),))
    assert without(line, (2,)) == Line((item(1),), joining=1)


def test_nobody_joins_while_something_is_left_of_earlier_ones() -> None:
    assert steerable(Line((item(2),), (item(1),)), item(0)) is None
    assert steerable(Line((item(2),)), item(0)) == item(2)
    assert steerable(Line((item(2, model="x"),)), item(0, model="x")) == item(2, model="x")
    assert steerable(Line((item(2, model="x"),)), item(0)) is None


def test_a_batch_without_a_message_that_was_taken_back() -> None:
    taken = Batch((item(1), item(2)), (item(3),))
    assert taken.rows == (1, 2, 3)
    assert (taken.without(2), taken.without(3)) == (Batch((item(1),), (item(3),)), Batch((item(1), item(2))))
    assert batch(Line()) == Batch()


def test_what_is_left_of_several_kinds_comes_kind_by_kind() -> None:
    guest = item(3, origin=Origin.OTHER)
    line = Line((item(5), item(6)), (item(1), item(2), guest, item(4)))
    taken = []
    while (next_ := batch(line)) != Batch():
        taken.append(next_.rows)
        line = without(line, next_.rows)
    assert taken == [(1, 2), (3,), (5, 4), (6,)]


def test_what_is_left_has_the_least_trusted_of_its_senders() -> None:
    picture = (Media("m", "image/png"),)
    owner, guest = item(1, "a  long\nstory"), item(2, "x" * 200, origin=Origin.OTHER, sender="guest", media=picture)
    report = item(3, "done", sender="subagent:1", tainted=True)
    left = summary((owner, guest, report), 2)
    assert left == Inbound(
        HERE,
        f"(3 messages came while more than 2 waited; this is left of them:)\n- {'x' * 159}…\n- done",
        Origin.OTHER,
        "guest",
        tainted=True,
    )
    assert summary((), 2) is None
    mixed = summary((owner, report), 9)
    assert mixed is not None
    assert (mixed.sender, mixed.tainted, mixed.text.splitlines()[1:]) == (
        "subagent:1",
        True,
        ["- a long story", "- done"],
    )


class Held(Model):
    """Answers when the test says what."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: asyncio.Future[Say] | None = None

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked = asyncio.get_running_loop().create_future()
        try:
            say = await self.asked
        finally:
            self.asked = None
        self.scripts[request.session] = [say]
        async for delta in super().stream(request):
            yield delta


WHO = st.sampled_from(["owner", "owner", "guest"])
MODE = st.sampled_from([*Mode, Mode.STEER])


class Queue(RuleBasedStateMachine):
    """A real gateway over a real database, which is killed and started again, beside the reference."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.pace, self.expected = Pace(), Reference()
        self.expected.now = self.pace.at
        self.said = 0
        self.calls = 0
        self.before: set[int] = set()
        self.opened()

    def opened(self) -> None:
        self.model, self.stack = Held(), AsyncExitStack()
        queue = QueueSettings(Mode.STEER, SILENCE, CAP, Drop.SUMMARIZE)
        made = rigged(Path(self.folder.name), queue=queue, pace=self.pace, model=self.model)
        self.rig: Rig = self.run(self.stack.enter_async_context(made))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def calmly() -> T:
            result = await work
            await self.rig.calm() if hasattr(self, "rig") else None
            return result

        return self.loop.run_until_complete(calmly())

    @rule(who=WHO, mode=MODE, cap=st.sampled_from([1, 2, 3, 3]), drop=st.sampled_from(Drop))
    def say(self, who: str, mode: Mode, cap: int, drop: Drop) -> None:
        self.said += 1
        text = f"message {self.said}"
        inbound = Inbound(
            HERE,
            text,
            Origin.OWNER if who == "owner" else Origin.OTHER,
            who,
            queue=QueueChange(mode, None, cap, drop),
            external_id=str(self.said),
        )
        receipt = self.run(self.rig.gateway.take(inbound))
        assert receipt.id == self.said
        self.expected.say(Said(receipt.id, text, who, mode, cap), drop)

    @precondition(lambda self: self.said > 0)
    @rule(data=st.data())
    def say_again(self, data: st.DataObject) -> None:
        """The channel brings a message once more."""
        number = data.draw(st.integers(1, self.said))
        receipt = self.run(self.rig.gateway.take(Inbound(HERE, "again", external_id=str(number))))
        assert (receipt.id, receipt.fate.value) == (number, self.expected.fates[number])

    @precondition(lambda self: self.expected.turn is not None)
    @rule()
    def model_uses_a_tool(self) -> None:
        self.calls += 1
        key = f"t{self.calls}"
        turn, waiting = self.expected.turn, self.expected.waiting
        is_skipped = bool(waiting) and not self.expected.left and self.expected.may_join(waiting[0])
        self.model_says(Say(calls=(call("look", key),)))
        assert (key in self.rig.ran) == (not is_skipped and turn is not None and turn.who == "owner")
        self.expected.round()

    @precondition(lambda self: self.expected.turn is not None)
    @rule()
    def model_answers(self) -> None:
        self.model_says(Say("an answer"))
        self.expected.answer()

    @precondition(lambda self: self.expected.turn is not None)
    @rule()
    def model_fails(self) -> None:
        self.model_says(Say(error=Unavailable("down")))
        self.expected.end("unavailable")

    def model_says(self, say: Say) -> None:
        async def answered() -> None:
            assert self.model.asked is not None
            self.model.asked.set_result(say)

        self.run(answered())

    @rule()
    def stop(self) -> None:
        stopped = self.run(self.rig.gateway.stop(HERE))
        waited = len(self.expected.waiting) + len(self.expected.left)
        assert (stopped.running, stopped.waiting) == (self.expected.turn is not None, waited)
        self.expected.stop()

    @precondition(lambda self: self.said > 0)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        row = data.draw(st.integers(1, self.said))
        try:
            receipt = self.run(self.rig.gateway.withdraw(row))
        except NotOpen:
            assert not self.expected.withdraw(row)
        else:
            assert (receipt.fate, receipt.position) == (Fate.CANCELLED, 0)
            assert self.expected.withdraw(row)

    @rule(seconds=st.sampled_from([0.4, 1.0]))
    def time_passes(self, seconds: float) -> None:
        self.run(self.pace.forward(seconds))
        self.expected.now += seconds
        self.expected.move()

    @rule()
    def crash(self) -> None:
        self.rig.database.is_dead = True
        self.loop.run_until_complete(self.stack.aclose())
        del self.rig
        self.before = {row for row, fate in self.expected.fates.items() if fate not in OPEN}
        self.opened()
        self.run(asyncio.sleep(0))
        self.expected.crash()

    @invariant()
    def everything_stands_as_it_should(self) -> None:
        assert self.run(self.rig.rows()) == self.expected.fates
        lane = self.rig.gateway.lanes.get(HERE)
        assert ([i.inbox for i in lane.line.items] if lane else []) == [s.row for s in self.expected.waiting]
        positions = [self.run(self.rig.gateway.receipt(s.row)).position for s in self.expected.waiting]
        assert positions == list(range(1, len(positions) + 1))
        assert (self.model.asked is not None) == (self.expected.turn is not None)
        assert self.rig.stops() == self.expected.stops
        if self.expected.log:
            assert self.run(self.rig.heard_by_model()) == self.expected.log
        told = {row: [f for f in fates if f not in OPEN] for row, fates in self.rig.fates().items()}
        final = {row: [fate] for row, fate in self.expected.fates.items() if fate not in OPEN}
        news = {row: fates for row, fates in final.items() if row not in self.before}
        assert {row: fates for row, fates in told.items() if fates} == news

    def teardown(self) -> None:
        self.loop.run_until_complete(self.stack.aclose())
        self.loop.close()
        self.folder.cleanup()


def test_the_queue_does_what_the_reference_says() -> None:
    run_state_machine_as_test(
        Queue,
        settings=settings(
            max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


TEXTS = ("A", "B", "C", "G", "D", "E", "W", "X", "Y", "Z")


@dataclass
class Life:
    """A session's afternoon: messages in all modes, one taken back, an interruption, a stop; until it dies."""

    rig: Rig
    accepted: dict[str, int] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)

    async def lived(self) -> None:
        gates = [Gate(), Gate(), Gate()]
        rig = self.rig
        rig.gates["t1"] = gates[0]
        rig.model.will(Say(calls=(call("write", "t1"),)), "ok", Say(gate=gates[1]), Say(gate=gates[2]))
        await self.say("A", Mode.STEER)
        await gates[0].reached.wait()
        for text, mode in (("B", Mode.STEER), ("C", Mode.COLLECT), ("G", Mode.COLLECT), ("D", Mode.COLLECT)):
            await self.say(text, mode)
        await self.say("E", Mode.FOLLOWUP)
        await self.say("W", Mode.COLLECT)
        await rig.gateway.withdraw(self.accepted["W"])
        self.cancelled.add("W")
        gates[0].open()
        await gates[1].reached.wait()
        await self.say("X", Mode.INTERRUPT)
        await gates[2].reached.wait()
        await self.say("Y", Mode.COLLECT)
        await rig.gateway.stop(HERE)
        self.cancelled.add("Y")
        await self.say("Z", Mode.STEER)
        await rig.ends(4)

    async def say(self, text: str, mode: Mode) -> None:
        who = {"origin": Origin.OTHER, "sender": "guest"} if text == "G" else {}
        receipt = await self.rig.say(text, mode=mode, external_id=text, **who)
        self.accepted[text] = receipt.id


async def test_wherever_it_dies_every_message_has_one_fate_and_is_said_once(tmp_path: Path) -> None:
    unharmed = Death(0)
    async with rigged(tmp_path / "0", fatal=unharmed) as rig:
        life = Life(rig)
        await life.lived()
        assert await rig.heard_by_model() == ["A", "B", "C", "D", "E", "X", "Z"]
        await rig.check_whole()
    for at in range(1, unharmed.count + 1):
        folder = tmp_path / str(at)
        async with rigged(folder, fatal=Death(at)) as rig:
            life = Life(rig)
            living, dying = asyncio.ensure_future(life.lived()), asyncio.ensure_future(rig.dead())
            await asyncio.wait((living, dying), return_when=asyncio.FIRST_COMPLETED)
            living.cancel()
            dying.cancel()
        async with rigged(folder) as rig:
            for text in TEXTS:  # the channel brings what was never acknowledged, and more
                await rig.say(text, mode=Mode.FOLLOWUP, external_id=text)
            await rig.calm()
            await check(rig, life, at)


async def check(rig: Rig, life: Life, at: int) -> None:
    query = "SELECT substr(external_id, 3), id, state FROM inbox ORDER BY id"  # after "s|", the session
    rows = {name: (row, state) for name, row, state in await rig.database.run(lambda db: db.execute(query).fetchall())}
    assert set(rows) == set(TEXTS), at
    assert {text: rows[text][0] for text in life.accepted} == life.accepted, at
    said = await rig.heard_by_model()
    for text, (_, state) in rows.items():
        assert state in ("started", "steered", "merged", "cancelled"), (at, text, state)
        assert said.count(text) == (state != "cancelled"), (at, text, state)
        assert text in "WYG" or state != "cancelled", (at, text, state)
    for text in life.cancelled:
        assert rows[text][1] == "cancelled", (at, text)
    owners = [text for text in said if text != "G"]
    assert owners == sorted(owners, key=lambda text: rows[text][0]), (at, said)
    await rig.check_whole()
