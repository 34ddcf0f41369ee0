"""The outbox: stored before it is sent, sent once, unknown after a crash, in order at each address."""

import sqlite3
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from palmclaw.core.messages import Media
from palmclaw.core.ports import OutboxRow, OutboxState
from palmclaw.core.traffic import Address, Outbound
from palmclaw.storage.database import Database
from palmclaw.storage.outbox import Outbox, add

HERE, THERE = Address("chat", "1"), Address("chat", "1", "topic")
ONE, TWO = (
    Outbound(HERE, "one", "t:0"),
    Outbound(HERE, "two", "t:1", (Media("m1", "image/png", "a.png"),)),
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "db")
    yield database
    await database.close()


async def test_from_waiting_to_sent(database: Database) -> None:
    outbox = Outbox(database)
    assert await outbox.add("s", "t", (ONE, TWO)) == (1, 2)
    waiting = await outbox.next(HERE)
    assert waiting is not None
    assert waiting.created.endswith("+00:00")
    assert waiting == OutboxRow(1, "s", "t", ONE, OutboxState.WAITING, created=waiting.created)

    claimed = await outbox.claim(1)
    assert claimed == replace(waiting, state=OutboxState.SENDING, attempts=1)
    assert await outbox.claim(1) is None
    await outbox.sent(1, "remote-1")
    after = await outbox.next(HERE)
    assert after is not None
    assert after.outbound == TWO
    assert await outbox.counts() == {"sent": 1, "waiting": 1}
    assert [r.id for r in await outbox.open()] == [2]


async def test_the_same_key_is_stored_once(database: Database) -> None:
    outbox = Outbox(database)
    assert await outbox.add("s", "t", (ONE,)) == (1,)
    first, second = await outbox.add("s", "t", (replace(ONE, text="other"), TWO))
    assert first == 1 < second
    assert [r.outbound for r in await outbox.open()] == [ONE, TWO]


async def test_stored_with_something_else_or_not_at_all(database: Database) -> None:
    def work(db: sqlite3.Connection) -> None:
        add(db, "s", "t", (ONE,), "2026-01-01T00:00:00+00:00")
        raise sqlite3.OperationalError("no")

    with pytest.raises(Exception, match="no"):
        await database.run(work)
    assert await Outbox(database).open() == ()


async def test_each_address_has_its_own_order(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (replace(ONE, address=THERE), TWO, replace(TWO, key="t:2", address=THERE)))
    assert await outbox.waiting() == (THERE, HERE)
    await outbox.claim(1)
    assert await outbox.waiting() == (HERE, THERE)
    there, here = await outbox.next(THERE), await outbox.next(HERE)
    assert [r.id for r in (there, here) if r] == [3, 2]
    assert await outbox.next(Address("chat", "2")) is None


async def test_what_certainly_failed_may_wait_again_or_be_given_up(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (ONE, TWO))
    await outbox.claim(1)
    await outbox.again(1, "too fast")
    again = await outbox.claim(1)
    assert again is not None
    assert (again.attempts, again.error) == (2, "too fast")
    await outbox.failed(1, "no such chat \ud800")
    await outbox.claim(2)
    await outbox.unknown(2, "no answer")
    assert [(r.id, r.state, r.error) for r in await outbox.troubles()] == [
        (1, "failed", "no such chat \ufffd"),
        (2, "unknown", "no answer"),
    ]


async def test_what_was_being_sent_when_the_process_died_is_unknown(tmp_path: Path) -> None:
    first = Database(tmp_path / "db")
    await Outbox(first).add("s", "t", (ONE, TWO))
    await Outbox(first).claim(1)
    await first.close()

    second = Database(tmp_path / "db")
    outbox = Outbox(second)
    (row,) = await outbox.recover()
    assert (row.id, row.session, row.turn, row.state) == (1, "s", "t", OutboxState.UNKNOWN)
    assert "may have arrived" in row.error
    assert [r.id for r in await outbox.open()] == [2]
    assert await outbox.recover() == ()
    assert await outbox.troubles() == (row,)
    await second.close()


PREVIEW = Outbound(HERE, "(interrupted)", "preview:t:0", edits="preview:t:0")


async def test_a_message_takes_the_place_of_a_preview(database: Database) -> None:
    outbox = Outbox(database)
    row = await outbox.preview("s", "t", PREVIEW)
    assert await outbox.next(HERE) is None
    await outbox.shown(row, "remote-9")
    await outbox.add("s", "t", (replace(ONE, edits="preview:t:0"),))
    assert await outbox.recover() == ()
    claimed = await outbox.claim(2)
    assert claimed is not None
    assert claimed.outbound == replace(ONE, edits="remote-9")
    assert await outbox.counts() == {"sending": 1, "sent": 1}


@pytest.mark.parametrize("lost", ["forgotten", "unknown"])
async def test_a_preview_that_is_not_there_is_not_edited(database: Database, lost: str) -> None:
    outbox = Outbox(database)
    row = await outbox.preview("s", "t", PREVIEW)
    await (outbox.forget(row) if lost == "forgotten" else outbox.unknown(row, "no answer"))
    (added,) = await outbox.add("s", "t", (replace(ONE, edits="preview:t:0"),))
    claimed = await outbox.claim(added)
    assert claimed is not None
    assert claimed.outbound == ONE


async def test_the_channels_own_ids_are_left_alone(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (replace(ONE, edits="m17"),))
    claimed = await outbox.claim(1)
    assert claimed is not None
    assert claimed.outbound.edits == "m17"


async def test_a_preview_of_a_turn_that_died_is_mended_once(database: Database) -> None:
    outbox = Outbox(database)
    row = await outbox.preview("s", "t", PREVIEW)
    await outbox.shown(row, "remote-9")
    assert await outbox.recover() == ()
    claimed = await outbox.claim(row)
    assert claimed is not None
    assert claimed.outbound == replace(PREVIEW, edits="remote-9")
    await outbox.sent(row, "remote-9")
    assert await outbox.recover() == ()
    assert await outbox.open() == ()


async def test_the_last_edit_of_a_preview_is_made_again_by_the_next_process(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.shown(await outbox.preview("s", "t", PREVIEW), "remote-9")
    edit = replace(ONE, edits="preview:t:0")
    await outbox.add("s", "t", (edit, TWO))
    assert (await outbox.claim(2), await outbox.claim(3)) != (None, None)
    assert [row.id for row in await outbox.recover()] == [3]
    again = await outbox.claim(2)
    assert again is not None
    assert (again.outbound, again.attempts) == (replace(ONE, edits="remote-9"), 2)


async def test_an_edit_that_cannot_be_made_waits_as_a_message_of_its_own(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (replace(ONE, edits="m17"), TWO))
    await outbox.claim(1)
    await outbox.alone(1)
    claimed = await outbox.claim(1)
    assert claimed is not None
    assert claimed.outbound == ONE
    assert [row.id for row in await outbox.recover()] == [1]


async def test_a_preview_that_nobody_knows_of_is_unknown(database: Database) -> None:
    outbox = Outbox(database)
    row = await outbox.preview("s", "t", PREVIEW)
    assert [r.id for r in await outbox.recover()] == [row]


async def test_old_rows_that_came_to_their_end_go(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (ONE, TWO))
    await outbox.preview("s", "t", PREVIEW)
    await outbox.shown(3, "r")
    await outbox.claim(1)
    await outbox.sent(1, "r")
    before = datetime(2026, 1, 1, tzinfo=UTC)
    assert await outbox.prune(before) == 0
    await database.run(lambda db: db.execute("UPDATE outbox SET created='2025-12-31T23:59:59.999+00:00'"))
    assert await outbox.prune(before) == 1
    assert await outbox.counts() == {"sent": 1, "waiting": 1}


async def test_a_damaged_row_does_not_hide_the_others(database: Database) -> None:
    outbox = Outbox(database)
    await outbox.add("s", "t", (ONE, TWO))
    await database.run(lambda db: db.execute("UPDATE outbox SET body='{' WHERE id=1"))
    assert [r.outbound for r in await outbox.open()] == [
        Outbound(HERE, "(a message here was damaged and is lost)", "t:0"),
        TWO,
    ]
