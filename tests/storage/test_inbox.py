"""Messages from the moment they reach us until their fate is known."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import Media, user_message
from palmclaw.core.records import Beginning, SessionState, Stored, Unreported, Withdrawn
from palmclaw.core.traffic import Address, Drop, Fate, Inbound, Mode, Origin, QueueChange, Receipt
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import Inbox
from palmclaw.storage.sessions import Sessions

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
CHAT = Address("chat", "1")
WHOLE = Inbound(
    "s",
    "hello",
    Origin.OTHER,
    "555",
    "m",
    (Media("m1", "image/png", "a.png"),),
    Address("chat", "1", "t"),
    "x1",
    NOON,
    "Mei",
    QueueChange(Mode.COLLECT, 1.5, 3, Drop.OLD),
    tainted=True,
    yields=True,
    group=True,
)


@dataclass
class Shelf:
    inbox: Inbox
    sessions: Sessions
    crew: CrewRecords
    database: Database

    async def put(self, text: str, session: str = "s", **more: object) -> int:
        return (await self.inbox.put(Inbound(session, text, **more))).receipt.id  # type: ignore[arg-type]

    async def begin(self, turn: str, *rows: int, session: str = "s", summarized: tuple[int, ...] = ()) -> None:
        inbounds = (Inbound(session, "x"),)
        await self.sessions.begin(Beginning(turn, inbounds, (user_message("x"),), "m", rows, summarized))

    async def states(self) -> dict[int, str]:
        return dict(await self.database.run(lambda db: db.execute("SELECT id, state FROM inbox").fetchall()))

    async def turn_of(self, row: int) -> str:
        found = await self.database.run(lambda db: db.execute("SELECT turn FROM inbox WHERE id=?", (row,)).fetchone())
        return str(found[0])


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    database = Database(tmp_path / "palmclaw.db")
    yield Shelf(Inbox(database), Sessions(database), CrewRecords(database), database)
    await database.close()


async def test_a_message_comes_back_as_it_was(shelf: Shelf) -> None:
    stored = await shelf.inbox.put(WHOLE)
    assert stored == Stored(Receipt(1, "s", Fate.WAITING), WHOLE)
    assert await shelf.inbox.get(1) == stored
    assert await shelf.inbox.waiting() == (stored,)
    assert await shelf.inbox.get(2) is None


async def test_half_a_character_is_no_reason_to_lose_a_message(shelf: Shelf) -> None:
    stored = await shelf.inbox.put(Inbound("s", "half \ud83d"))
    found = await shelf.inbox.get(stored.receipt.id)
    assert found is not None
    assert found.inbound.text == "half \ufffd"


async def test_the_same_message_of_a_channel_is_taken_once(shelf: Shelf) -> None:
    first = await shelf.inbox.put(WHOLE)
    await shelf.inbox.mark((1,), Fate.DROPPED, "full")
    again = await shelf.inbox.put(replace(WHOLE, text="otherwise", session="another"))
    assert again == Stored(Receipt(1, "s", Fate.DROPPED, reason="full"), first.inbound, is_new=False)
    elsewhere = await shelf.inbox.put(replace(WHOLE, address=Address("mail", "1")))
    assert (elsewhere.is_new, elsewhere.receipt.id) == (True, 2)
    nowhere = [await shelf.inbox.put(Inbound("s", "no id")) for _ in range(2)]
    assert [s.is_new for s in nowhere] == [True, True]


async def test_a_message_may_be_stored_with_its_fate(shelf: Shelf) -> None:
    stored = await shelf.inbox.put(Inbound("s", "late"), Fate.CANCELLED, "too late")
    assert stored.receipt == Receipt(1, "s", Fate.CANCELLED, reason="too late")
    assert await shelf.inbox.waiting() == ()


async def test_only_what_is_open_can_be_given_another_fate(shelf: Shelf) -> None:
    a, b, c = [await shelf.put(text) for text in "abc"]
    assert await shelf.inbox.mark((a, b), Fate.SUMMARIZED, "full") == (a, b)
    assert await shelf.inbox.mark((a, 99), Fate.MERGED) == (a,)
    assert await shelf.inbox.mark((a, b, c), Fate.CANCELLED, "taken back") == (b, c)
    assert await shelf.states() == {a: "merged", b: "cancelled", c: "cancelled"}


async def test_what_is_open_comes_back_in_the_order_of_its_coming(shelf: Shelf) -> None:
    a, _, c = await shelf.put("a"), await shelf.put("b", "t"), await shelf.put("c")
    await shelf.inbox.mark((a,), Fate.SUMMARIZED)
    assert [s.receipt.id for s in await shelf.inbox.waiting("s")] == [a, c]
    assert [s.inbound.text for s in await shelf.inbox.waiting()] == ["a", "b", "c"]


async def test_a_turn_takes_its_messages_or_is_not_begun(shelf: Shelf) -> None:
    a, b, c = [await shelf.put(text) for text in "abc"]
    await shelf.inbox.mark((b,), Fate.CANCELLED)
    with pytest.raises(Withdrawn) as raised:
        await shelf.begin("t1", a, b)
    assert raised.value.row == b
    assert await shelf.states() == {a: "waiting", b: "cancelled", c: "waiting"}
    await shelf.begin("t2", a, c)
    assert await shelf.states() == {a: "started", b: "cancelled", c: "merged"}
    assert [await shelf.turn_of(row) for row in (a, b, c)] == ["t2", "", "t2"]


async def test_a_message_joins_a_turn_once(shelf: Shelf) -> None:
    a, b = await shelf.put("a"), await shelf.put("b")
    await shelf.begin("t1", a)
    await shelf.sessions.append("s", "t1", user_message("b"), inbox=b)
    with pytest.raises(Withdrawn, match=f"message {b} was taken back meanwhile"):
        await shelf.sessions.append("s", "t1", user_message("b"), inbox=b)
    assert [m.text for m in await shelf.sessions.all("s")] == ["x", "b"]
    assert await shelf.states() == {a: "started", b: "steered"}
    await shelf.sessions.end("t1", TurnEnded(Stop.ERROR), "interrupted", "due")
    (due,) = await shelf.sessions.due("s")
    assert due.inbox == (a, b)


async def test_what_a_session_wants_of_its_queue(shelf: Shelf) -> None:
    assert await shelf.inbox.state("s") == SessionState()
    change = QueueChange(Mode.COLLECT, 1.5, 3, Drop.OLD)
    await shelf.inbox.set_queue("s", change)
    assert await shelf.inbox.state("s") == SessionState(change)
    await shelf.inbox.set_queue("s", QueueChange())
    assert await shelf.inbox.state("s") == SessionState()


async def test_a_stop_takes_what_waits_up_to_a_row_and_no_more(shelf: Shelf) -> None:
    a, b = await shelf.put("a"), await shelf.put("b")
    other, stop, after = await shelf.put("o", "other"), await shelf.put("/stop"), await shelf.put("after")
    report = await shelf.put("a report", external_id="report:t9", sender="subagent:1")
    await shelf.inbox.mark((a,), Fate.SUMMARIZED)
    cancelled = await shelf.inbox.stop("s", upto=stop)
    assert cancelled == tuple(Receipt(row, "s", Fate.CANCELLED, reason="stopped") for row in (a, b, report))
    states = await shelf.states()
    assert states == {
        a: "cancelled",
        b: "cancelled",
        other: "waiting",
        stop: "waiting",
        after: "waiting",
        report: "cancelled",
    }
    assert [r.id for r in await shelf.inbox.stop("s")] == [stop, after]
    assert await shelf.inbox.stop("s") == ()


async def test_a_stop_gives_up_what_runs_and_what_was_to_be_gone_on_with(shelf: Shelf) -> None:
    for turn in ("done", "due", "running"):
        await shelf.begin(turn, await shelf.put(turn))
    await shelf.sessions.end("done", TurnEnded(Stop.DONE))
    await shelf.sessions.end("due", TurnEnded(Stop.ERROR), "interrupted", "due")
    await shelf.inbox.stop("s")
    query = "SELECT id, resume FROM turn ORDER BY id"
    rows = await shelf.database.run(lambda db: db.execute(query).fetchall())
    assert rows == [("done", ""), ("due", "person"), ("running", "person")]
    assert await shelf.sessions.due() == ()
    (left,) = await shelf.sessions.open_turns()
    assert left.unwanted


async def test_a_stop_knows_when_it_was_said_and_an_earlier_one_changes_nothing(shelf: Shelf) -> None:
    await shelf.inbox.stop("new", NOON)
    assert (await shelf.inbox.state("new")).stopped == NOON
    there = NOON.astimezone(timezone(timedelta(hours=8))) + timedelta(microseconds=1)
    await shelf.inbox.stop("new", there)
    await shelf.inbox.stop("new", NOON - timedelta(hours=1))
    await shelf.inbox.stop("new")
    assert (await shelf.inbox.state("new")).stopped == there


async def descended(shelf: Shelf) -> tuple[int, int]:
    """A sub-agent of "s" that has one itself; the rows of their tasks."""
    await shelf.sessions.choose_model("s", "m")
    rows = [
        (await shelf.crew.begin(Inbound(child, "task"), parent, "{}")).receipt.id
        for child, parent in (("subagent:1", "s"), ("subagent:2", "subagent:1"))
    ]
    return rows[0], rows[1]


async def test_a_stop_ends_sub_agents_and_theirs(shelf: Shelf) -> None:
    first, second = await descended(shelf)
    stranger = await shelf.put("x", "another")
    await shelf.begin("t1", first, session="subagent:1")
    await shelf.sessions.end("t1", TurnEnded(Stop.ERROR), "interrupted", "due")
    assert await shelf.inbox.children("s") == ("subagent:1", "subagent:2")
    assert await shelf.inbox.children("subagent:1") == ("subagent:2",)
    assert await shelf.inbox.children("subagent:2") == ()
    assert await shelf.inbox.stop("s", upto=1) == (Receipt(second, "subagent:2", Fate.CANCELLED, reason="stopped"),)
    assert await shelf.sessions.due() == ()
    assert await shelf.states() == {first: "started", second: "cancelled", stranger: "waiting"}
    assert await shelf.crew.at_work("s") == 0


async def test_a_stopped_sub_agent_has_nothing_to_report(shelf: Shelf) -> None:
    first, second = await descended(shelf)
    await shelf.begin("t1", first, session="subagent:1")
    await shelf.begin("t2", second, session="subagent:2")
    await shelf.sessions.end("t2", TurnEnded(Stop.DONE))
    assert await shelf.crew.unreported() == (Unreported("subagent:2", "t2", Stop.DONE),)
    assert await shelf.crew.at_work("s") == 1
    await shelf.inbox.stop("s")
    await shelf.sessions.end("t1", TurnEnded(Stop.DONE))
    assert await shelf.crew.unreported() == ()


async def test_what_is_known_of_a_sub_agent(shelf: Shelf) -> None:
    await descended(shelf)
    assert await shelf.crew.charged("subagent:1") == "{}"
    assert (await shelf.crew.charged("s"), await shelf.crew.charged("nobody")) == ("", "")
    assert await shelf.sessions.model("subagent:2") == "m"
    assert await shelf.crew.begun("none") is None
    begun = (Inbound("s", "one"), replace(WHOLE, text="two"))
    await shelf.sessions.begin(Beginning("t1", begun, (user_message("x"),)))
    assert await shelf.crew.begun("t1") == begun[-1]
    assert await shelf.inbox.state("subagent:1") == SessionState(parent="s", charge="{}")


async def test_old_words_are_forgotten_and_that_they_came_is_not(shelf: Shelf) -> None:
    done, waiting, young = await shelf.inbox.put(WHOLE), await shelf.put("waits"), await shelf.put("young")
    await shelf.inbox.mark((done.receipt.id, young), Fate.ANSWERED)
    old = "UPDATE inbox SET received='2020-01-01T00:00:00.000+00:00' WHERE id<>?"
    await shelf.database.run(lambda db: db.execute(old, (young,)))
    before = datetime(2020, 1, 2, tzinfo=timezone(timedelta(hours=8)))
    assert await shelf.inbox.prune(before) == 1
    assert await shelf.inbox.prune(before) == 0
    again = await shelf.inbox.put(WHOLE)
    assert again == Stored(Receipt(done.receipt.id, "s", Fate.ANSWERED), Inbound("s", "", Origin.OTHER), is_new=False)
    assert [s.inbound.text for s in await shelf.inbox.waiting()] == ["waits"]
    kept = await shelf.inbox.get(young)
    assert kept is not None
    assert (kept.inbound.text, waiting) == ("young", 2)


async def test_a_deleted_session_leaves_no_words_and_its_messages_do_not_come_again(shelf: Shelf) -> None:
    first = await shelf.inbox.put(WHOLE)
    waiting = await shelf.put("waits")
    await shelf.begin("t1", first.receipt.id)
    await shelf.sessions.delete("s")
    rows = await shelf.database.run(lambda db: db.execute("SELECT id, body, state FROM inbox").fetchall())
    assert rows == [(first.receipt.id, "", "started"), (waiting, "", "cancelled")]
    assert (await shelf.inbox.put(WHOLE)).is_new is False


async def test_where_the_owner_was_heard_last(shelf: Shelf) -> None:
    assert await shelf.inbox.home() is None
    await shelf.put("a", address=CHAT)
    await shelf.put("b", address=Address("chat", "group"), group=True)
    await shelf.put("c", address=Address("mail", "9"), origin=Origin.OTHER)
    await shelf.put("d")
    assert await shelf.inbox.home() == CHAT


async def test_what_cannot_be_read_any_more_does_not_hide_the_others(shelf: Shelf) -> None:
    broken, fine = await shelf.put("broken"), await shelf.put("fine")
    await shelf.database.run(lambda db: db.execute("UPDATE inbox SET body='{\"no\":1}' WHERE id=?", (broken,)))
    assert [(s.receipt.id, s.inbound.text) for s in await shelf.inbox.waiting()] == [(fine, "fine")]
    left = await shelf.inbox.get(broken)
    assert left is not None
    assert (left.receipt.fate, left.receipt.reason) == (Fate.CANCELLED, "damaged")
    assert left.inbound == Inbound("s", "", Origin.OTHER)  # nobody's word counts as the owner's
