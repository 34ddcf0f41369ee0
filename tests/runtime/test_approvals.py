"""Questions to the owner: stored before they are asked, answered once, closed with whoever asked. The store is real."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import BadArguments, StorageError
from palmclaw.core.events import Answer, ApprovalAnswered, ApprovalAsked
from palmclaw.core.messages import ToolCall
from palmclaw.core.runtime import NotOpen, Question
from palmclaw.core.tools import Effect, Preview
from palmclaw.runtime.approvals import Desk
from palmclaw.storage.database import Database
from palmclaw.storage.questions import Questions
from tests.agent.kit import bench, call

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
ASKED = ApprovalAsked(
    "0a1b2c3d",
    ToolCall("c1", "send", {"to": "Mei", "text": "hi"}),
    Effect.SEND,
    Preview("Send a text message", "Mei", (("Text", "hi 😀"),)),
    "sends",
    (Answer.ONCE, Answer.SESSION),
)
OPEN = Question(ASKED, "s1", "t1", "2026-06-15T12:00:00.000+00:00", "2026-06-15T12:10:00.000+00:00")


@dataclass
class Counter:
    """Turn slots, as the lanes would count them."""

    log: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def lend(self, turn: str) -> AsyncIterator[None]:
        self.log.append(f"lent {turn}")
        try:
            yield
        finally:
            self.log.append(f"back {turn}")


@dataclass
class Disk:
    """Can be held up, or be full."""

    held: asyncio.Event | None = None
    full: bool = False


@dataclass(frozen=True)
class Slow(Questions):
    """A store on such a disk."""

    disk: Disk = field(default_factory=Disk)

    async def answer(self, question: str, answer: Answer, by: str, at: str) -> bool:
        done = await super().answer(question, answer, by, at)
        if self.disk.held:
            await self.disk.held.wait()
        return done

    async def void(self, question: str, by: str, at: str) -> None:
        if self.disk.full:
            raise StorageError("no space left")
        if self.disk.held:
            await self.disk.held.wait()
        await super().void(question, by, at)


@dataclass
class Clock:
    """Time that passes when the test says so."""

    passed: float = 0.0
    sleeping: list[tuple[float, asyncio.Event]] = field(default_factory=list)

    def wall(self) -> datetime:
        return NOON + timedelta(seconds=self.passed)

    async def sleep(self, seconds: float) -> None:
        self.sleeping.append((self.passed + seconds, asyncio.Event()))
        await self.sleeping[-1][1].wait()

    def passes(self, seconds: float) -> None:
        self.passed += seconds
        for until, event in self.sleeping:
            if until <= self.passed:
                event.set()


@dataclass
class Room:
    desk: Desk
    store: Slow
    clock: Clock

    def asks(self, question: ApprovalAsked = ASKED) -> "asyncio.Task[Answer]":
        return asyncio.create_task(self.desk.ask("s1", "t1", question))

    async def asked(self) -> "asyncio.Task[Answer]":
        """A task that waits at the desk, its question stored."""
        task = self.asks()
        while not await self.desk.questions():
            await asyncio.sleep(0)
        return task

    async def row(self) -> tuple[Any, ...]:
        query = "SELECT answer, by, answered FROM question"
        found: tuple[Any, ...] = await self.store.database.run(lambda db: db.execute(query).fetchone())
        return found


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    database, clock = Database(tmp_path / "db"), Clock()
    store = Slow(database)
    yield Room(Desk(store, sleep=clock.sleep, wall=clock.wall), store, clock)
    await database.close()


async def test_a_question_is_stored_listed_answered_and_over(room: Room) -> None:
    task = await room.asked()
    assert await room.desk.questions() == (OPEN,)
    room.clock.passes(5)
    await room.desk.answer("0a1b2c3d", Answer.SESSION, "terminal")
    assert await task is Answer.SESSION
    assert await room.desk.questions() == ()
    assert await room.store.find("0a1b2c3d") == replace(OPEN, answer=Answer.SESSION, by="terminal")
    assert await room.row() == ("session", "terminal", "2026-06-15T12:00:05.000+00:00")


async def test_an_answer_at_the_very_moment_of_asking_finds_its_question(room: Room) -> None:
    task = room.asks()
    await asyncio.sleep(0)  # the task has run up to its first wait: the event is out, the row under way
    await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")
    assert await task is Answer.ONCE


async def test_two_surfaces_cannot_both_win(room: Room) -> None:
    task = await room.asked()
    answers = [room.desk.answer("0a1b2c3d", a, by) for a, by in ((Answer.NO, "terminal"), (Answer.ONCE, "web"))]
    first, second = await asyncio.gather(*answers, return_exceptions=True)
    assert first is None
    assert str(second) == "question 0a1b2c3d is closed: terminal has answered 'no'"
    assert isinstance(second, NotOpen)
    assert await task is Answer.NO


async def test_an_answer_that_was_not_offered_is_refused_and_the_question_stays(room: Room) -> None:
    task = await room.asked()
    with pytest.raises(BadArguments, match="answer: expected 'once' or 'session' or 'no', got 'always'"):
        await room.desk.answer("0a1b2c3d", Answer.ALWAYS, "web")
    await room.desk.answer("0a1b2c3d", Answer.UNASKED, "web")
    assert await task is Answer.UNASKED


async def test_nobody_can_answer_what_never_was(room: Room) -> None:
    with pytest.raises(NotOpen, match="there is no question ffffffff"):
        await room.desk.answer("ffffffff", Answer.ONCE, "web")


async def test_a_question_ends_with_its_asker(room: Room) -> None:
    task = await room.asked()
    room.clock.passes(599)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await room.row())[:2] == ("no", "stopped")
    assert await room.desk.questions() == ()
    with pytest.raises(NotOpen, match="question 0a1b2c3d is closed: its turn was stopped"):
        await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")
    assert (await room.row())[:2] == ("no", "stopped")


async def test_silence_is_a_no_and_an_answer_after_it_says_so(room: Room) -> None:
    task = await room.asked()
    while not room.clock.sleeping:
        await asyncio.sleep(0)
    room.clock.passes(599.9)
    await asyncio.sleep(0)
    assert not task.done()
    room.clock.passes(0.1)
    assert await task is Answer.NO
    assert await room.row() == ("no", "deadline", "2026-06-15T12:10:00.000+00:00")
    assert await room.desk.questions() == ()
    with pytest.raises(NotOpen, match="question 0a1b2c3d is closed: its deadline has passed"):
        await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")


async def test_an_answer_that_crosses_the_deadline_does_nothing_and_says_so(room: Room) -> None:
    task = await room.asked()
    room.store.disk.held = asyncio.Event()
    answering = asyncio.create_task(room.desk.answer("0a1b2c3d", Answer.ONCE, "web"))
    while not (await room.row())[0]:
        await asyncio.sleep(0)
    room.clock.passes(600)
    while not room.desk._voiding:
        await asyncio.sleep(0)
    room.store.disk.held.set()
    with pytest.raises(NotOpen, match="its turn is over, and nothing was done"):
        await answering
    assert await task is Answer.NO
    assert (await room.row())[:2] == ("no", "deadline")


@pytest.mark.parametrize("late", [False, True])
async def test_an_answer_that_crosses_the_stop_does_nothing_and_says_so(room: Room, late: bool) -> None:
    task = await room.asked()
    room.store.disk.held = asyncio.Event()
    answering = asyncio.create_task(room.desk.answer("0a1b2c3d", Answer.ONCE, "web"))
    while not (await room.row())[0]:  # the answer is in the store, but nobody has heard it yet
        await asyncio.sleep(0)
    if late:  # in the same breath: the answer is on its way to the task when the task is cancelled
        room.store.disk.held.set()
        asyncio.get_running_loop().call_soon(task.cancel)
    else:
        task.cancel()
        await asyncio.sleep(0)
        room.store.disk.held.set()
    with pytest.raises(NotOpen, match="its turn is over, and nothing was done"):
        await answering
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await room.row())[:2] == ("no", "stopped")


async def test_an_impatient_asker_does_not_wait_for_the_disk(room: Room) -> None:
    task = await room.asked()
    room.store.disk.held = asyncio.Event()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await room.row() == ("", "", "")
    room.store.disk.held.set()
    await room.desk.close()
    assert (await room.row())[:2] == ("no", "stopped")


async def test_a_full_disk_at_the_end_is_no_question_that_can_be_answered(room: Room) -> None:
    task = await room.asked()
    room.store.disk.full = True
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await room.desk.questions() == ()
    with pytest.raises(NotOpen, match="its turn is over"):
        await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")


async def test_a_store_that_refuses_is_told(room: Room) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("DROP TABLE question")

    await room.store.database.run(broken)
    with pytest.raises(StorageError):
        await room.desk.ask("s1", "t1", ASKED)


async def test_where_nobody_can_answer_nobody_is_asked(room: Room) -> None:
    room.desk.anybody = lambda session: session != "s1"
    assert await room.desk.ask("s1", "t1", ASKED) is Answer.UNASKED
    assert await room.store.find("0a1b2c3d") is None


async def test_the_slot_is_lent_while_a_person_thinks(room: Room) -> None:
    slots = Counter()
    room.desk.while_asking = slots.lend
    task = await room.asked()
    while not slots.log:
        await asyncio.sleep(0)
    assert slots.log == ["lent t1"]
    await room.desk.answer("0a1b2c3d", Answer.NO, "web")
    assert await task is Answer.NO
    assert slots.log == ["lent t1", "back t1"]


async def test_a_yes_is_a_yes_however_long_the_turn_waits_to_go_on(room: Room) -> None:
    free = asyncio.Event()

    @asynccontextmanager
    async def lent(turn: str) -> AsyncIterator[None]:
        yield
        await free.wait()

    room.desk.while_asking = lent
    task = await room.asked()
    await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")
    room.clock.passes(700)
    await asyncio.sleep(0)
    free.set()
    assert await task is Answer.ONCE
    assert (await room.row())[:2] == ("once", "web")


async def test_the_start_closes_what_an_earlier_process_was_asking(room: Room) -> None:
    await room.store.open(OPEN)
    assert await room.desk.questions() == ()
    assert await room.desk.close_dead() == 1
    assert await room.desk.close_dead() == 0
    assert (await room.row())[:2] == ("no", "restart")
    with pytest.raises(NotOpen, match="PalmClaw has been restarted since"):
        await room.desk.answer("0a1b2c3d", Answer.ONCE, "web")


async def test_a_question_that_cannot_be_read_hides_no_other(room: Room) -> None:
    await room.store.open(OPEN)
    await room.store.open(replace(OPEN, asked=replace(ASKED, id="ffff0000")))
    await room.store.database.run(lambda db: db.execute("UPDATE question SET body='{' WHERE id='0a1b2c3d'"))
    assert [q.asked.id for q in await room.store.unanswered()] == ["ffff0000"]
    assert await room.store.find("0a1b2c3d") is None


async def test_through_the_gate_each_question_has_its_own_id_and_its_deadline(tmp_path: Path) -> None:
    made = await bench(tmp_path)
    desk = Desk(Questions(made.database))
    made.toolbox = replace(made.toolbox, ports=replace(made.toolbox.ports, approver=desk))
    running = asyncio.create_task(made.run(call("send", to="+85291110003", text="hi")))
    while not (waiting := await desk.questions()):
        await asyncio.sleep(0)
    await desk.answer(waiting[0].asked.id, Answer.ONCE, "web")
    assert (await running).results[0].error is None

    desk.seconds = 0.05
    error = (await made.run(call("send", "c2", to="+85291110003", text="hi"))).results[0].error
    assert error is not None
    assert error.code == "declined"
    asked = [e for e in made.events if isinstance(e, ApprovalAsked)]
    answered = [e.answer for e in made.events if isinstance(e, ApprovalAnswered)]
    assert answered == [Answer.ONCE, Answer.NO]
    assert len({e.id for e in asked}) == 2
    assert [len(bytes.fromhex(e.id)) for e in asked] == [4, 4]
    last = await Questions(made.database).find(asked[1].id)
    assert last is not None
    assert (last.session, last.turn, last.answer, last.by) == ("s1", made.turn.id, Answer.NO, "deadline")
    await made.database.close()
