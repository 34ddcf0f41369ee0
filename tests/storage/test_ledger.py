"""What was spent: written once, summed up by day, model, session …; outlives its session and an old database."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from palmclaw.core.errors import StorageError
from palmclaw.core.messages import Usage, user_message
from palmclaw.core.ports import Snapshot, Spent
from palmclaw.core.records import Beginning
from palmclaw.core.traffic import Inbound
from palmclaw.storage.database import Database
from palmclaw.storage.findings import KEPT, FindingsFile
from palmclaw.storage.ledger import RequestLedger
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import Sessions

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)


@dataclass
class Clock:
    at: datetime = NOON

    def now(self) -> datetime:
        return self.at


FIRST = Spent("groq", "big", Usage(100, 10, cached=40, reasoning=3, requests=1, cache_write=7), 0.5, "s1", "t1")
SECOND = Spent("groq", "small", Usage(20, 2, requests=1, estimated=True), None, "s1", "t1", "memory")


async def test_sums(tmp_path: Path) -> None:
    database, clock = Database(tmp_path / "db"), Clock()
    ledger = RequestLedger(database, clock)
    assert await ledger.today() == (0, 0.0)
    await ledger.add(FIRST)
    await ledger.add(SECOND)
    assert await ledger.today() == (132, 0.5)
    clock.at += timedelta(days=1)
    await ledger.add(FIRST)
    assert await ledger.today() == (110, 0.5)

    days = await ledger.sums("day", 30)
    assert [(s.key, s.usd, s.unpriced) for s in days] == [("2026-06-16", 0.5, 0), ("2026-06-15", 0.5, 1)]
    assert days[1].usage == Usage(120, 12, cached=40, reasoning=3, requests=2, estimated=True, cache_write=7)
    assert [s.key for s in await ledger.sums("day", 1)] == ["2026-06-16"]
    assert {s.key for s in await ledger.sums("model", 2)} == {"groq big", "groq small"}
    assert {(s.key, s.usage.requests) for s in await ledger.sums("purpose", 2)} == {("turn", 2), ("memory", 1)}
    assert [s.usage.requests for s in await ledger.sums("session", 2)] == [3]
    assert [s.usage.requests for s in await ledger.sums("turn", 2)] == [3]
    assert len(await ledger.sums("request", 2)) == 3
    await database.close()


async def test_a_day_is_the_devices_own(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    late = datetime(2026, 6, 15, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    await RequestLedger(database, Clock(late)).add(FIRST)
    assert [s.key for s in await RequestLedger(database, Clock(late)).sums("day", 1)] == ["2026-06-15"]
    await database.close()


async def test_what_was_spent_outlives_its_session(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    ledger, sessions = RequestLedger(database, Clock()), Sessions(database)
    await sessions.begin(Beginning("t1", (Inbound("s1", "hi"),), (user_message("hi"),)))
    await ledger.add(FIRST)
    await sessions.delete("s1")
    assert (await ledger.today())[0] == 110
    await database.close()


def old_database(path: Path) -> None:
    """As the first version wrote it."""
    script = (Path(__file__).parents[2] / "src/palmclaw/storage/migrations/001_start.sql").read_text()
    with sqlite3.connect(path) as db:
        db.executescript(script)
        db.execute("INSERT INTO session VALUES ('s1', 'old', '2026', '2026')")
        db.execute("PRAGMA user_version=1")
    db.close()


async def test_an_old_database_is_read_without_being_changed_and_then_brought_up(tmp_path: Path) -> None:
    path = tmp_path / "db"
    old_database(path)
    before = path.read_bytes()
    reader = Database(path, readonly=True)
    assert await RequestLedger(reader, Clock()).sums("day", 9) == ()
    assert [s.title for s in await Sessions(reader).listed()] == ["old"]
    assert await Sessions(reader).model("s1") == ""
    await reader.close()
    assert path.read_bytes() == before
    writer = Database(path)
    await Sessions(writer).choose_model("s1", "groq/big")
    assert await Sessions(writer).model("s1") == "groq/big"
    await writer.close()


async def test_a_model_can_be_chosen_before_anything_was_said(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    assert await sessions.model("s1") == ""
    await sessions.choose_model("s1", "offline")
    await sessions.begin(Beginning("t1", (Inbound("s1", "hi there"),), (user_message("hi there"),), "offline"))
    assert [(s.title, s.turns) for s in await sessions.listed()] == [("hi there", 1)]
    assert await sessions.model("s1") == "offline"
    await database.close()


async def test_a_snapshot_is_kept_and_replaced(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await sessions.begin(Beginning("t1", (Inbound("s1", "hi"),), (user_message("hi"),)))
    assert await sessions.snapshot("s1") is None
    await sessions.keep("s1", Snapshot(frozenset({"b", "a"}), "one"))
    await sessions.keep("s1", Snapshot(frozenset({"a"}), "two"))
    again = Sessions(database)
    assert await again.snapshot("s1") == Snapshot(frozenset({"a"}), "two")
    await sessions.delete("s1")
    assert await again.snapshot("s1") is None
    await database.close()


async def test_attachments_are_kept_once_by_what_they_are(tmp_path: Path) -> None:
    folder = MediaFolder(tmp_path / "media")
    first = await folder.put(b"png", "image/png", "a.png")
    second = await folder.put(b"png", "image/png", "b.png")
    assert first.id == second.id
    assert (await folder.get(first.id), len(list((tmp_path / "media").iterdir()))) == (b"png", 1)
    assert [await folder.get(odd) for odd in ("0" * 64, "../db", "")] == [None] * 3


async def test_a_disk_that_refuses_attachments_is_named(tmp_path: Path) -> None:
    (tmp_path / "media").write_text("a file where the folder should be")
    with pytest.raises(StorageError, match="cannot write in"):
        await MediaFolder(tmp_path / "media").put(b"png", "image/png", "a.png")
    (tmp_path / "folder" / ("0" * 64)).mkdir(parents=True)
    assert await MediaFolder(tmp_path / "folder").get("0" * 64) is None


def test_findings_last_and_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    FindingsFile(path).put("a", "1")
    assert (FindingsFile(path).get("a"), FindingsFile(path).get("b")) == ("1", None)
    for damaged in ("{", "[1]", '{"a": 1}', "[" * 200_000, '{"a": "' + "x" * 1_000_001 + '"}'):
        path.write_text(damaged)
        assert FindingsFile(path).get("a") is None
    assert len(FindingsFile(tmp_path)) == 0
    found = FindingsFile(path)
    for number in range(KEPT + 1):
        found.put(str(number), "x")
    assert (FindingsFile(path).get("0"), FindingsFile(path).get(str(KEPT))) == (None, "x")
    nowhere = FindingsFile(tmp_path / "nowhere" / "findings.json")
    nowhere.put("a", "1")
    assert nowhere.get("a") == "1"
