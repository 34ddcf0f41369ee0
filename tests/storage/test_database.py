"""The database: migrations, transactions, refusals of the disk, many processes at once."""

import asyncio
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from palmclaw.agent.context import stamped
from palmclaw.core.errors import HomeBusy, SessionNotFound, StorageError
from palmclaw.core.events import Answer, Stop, TurnEnded
from palmclaw.core.messages import Message, Role, Text, ToolCall, ToolResult, Usage, user_message
from palmclaw.core.ports import CallState, Snapshot, Summary, Tail
from palmclaw.core.records import Beginning
from palmclaw.core.session import JOINED
from palmclaw.core.tools import Effect
from palmclaw.core.traffic import Inbound
from palmclaw.storage.database import Database
from palmclaw.storage.journal import Approvals, CallJournal
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.sessions import CACHED_MESSAGES, CACHED_SESSIONS, SessionInfo, Sessions
from tests.children import bare

NOW = datetime(2026, 6, 15, 9, 5, tzinfo=UTC)


async def version(database: Database) -> int:
    found: int = await database.run(lambda db: db.execute("PRAGMA user_version").fetchone()[0])
    return found


async def test_a_new_file_is_private_and_up_to_date(tmp_path: Path) -> None:
    database = Database(tmp_path / "deep" / "db")
    assert await version(database) >= 1
    assert stat.S_IMODE((tmp_path / "deep" / "db").stat().st_mode) == 0o600
    modes = await database.run(
        lambda db: [db.execute(f"PRAGMA {p}").fetchone()[0] for p in ("journal_mode", "synchronous", "foreign_keys")]
    )
    assert modes == ["wal", 2, 1]
    await database.close()


async def test_a_note_does_not_wait_for_the_disk_and_everything_else_does(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")

    def level(db: sqlite3.Connection) -> int:
        found: int = db.execute("PRAGMA synchronous").fetchone()[0]
        return found

    assert [await database.run(level), await database.note(level), await database.run(level)] == [2, 1, 2]
    await database.note(lambda db: db.execute("INSERT INTO session (id, created, updated) VALUES ('a', '', '')"))
    with pytest.raises(StorageError):
        await database.note(lambda db: db.execute("INSERT INTO nowhere VALUES (1)"))
    assert await database.run(lambda db: db.execute("SELECT id FROM session").fetchall()) == [("a",)]
    await database.close()


async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "db").touch(0o644)
    database = Database(tmp_path / "db")
    await version(database)
    assert stat.S_IMODE((tmp_path / "db").stat().st_mode) == 0o600
    await database.close()


async def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")

    def work(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO session (id, created, updated) VALUES ('s', '', '')")
        db.execute("INSERT INTO nowhere VALUES (1)")

    with pytest.raises(StorageError, match="nowhere"):
        await database.run(work)
    assert await Sessions(database).listed() == ()
    await database.close()


async def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db") as db:
        db.execute("PRAGMA user_version=999")
    db.close()
    for readonly in (False, True):
        database = Database(tmp_path / "db", readonly)
        with pytest.raises(StorageError, match="newer PalmClaw"):
            await version(database)
        await database.close()


async def test_a_damaged_file_is_named_and_kept(tmp_path: Path) -> None:
    (tmp_path / "db").write_bytes(b"not a database at all" * 100)
    database = Database(tmp_path / "db")
    with pytest.raises(StorageError, match="damaged"):
        await version(database)
    await database.close()
    assert (tmp_path / "db").read_bytes().startswith(b"not a database")


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    database = Database(tmp_path / "file" / "db")
    with pytest.raises(StorageError, match="cannot write"):
        await version(database)
    await database.close()


async def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await sessions.begin(Beginning("t1", (Inbound("s", "hi"),), (user_message("hi"),)))
    await database.run(lambda db: db.execute("PRAGMA max_page_count=1"))
    with pytest.raises(StorageError, match="no space left"):
        await sessions.append("s", "t1", user_message("x" * 1_000_000))
    await database.run(lambda db: db.execute("PRAGMA max_page_count=100000"))
    await sessions.append("s", "t1", user_message("after"))
    assert [m.text for m in await sessions.all("s")] == ["hi", "after"]
    assert [m.text for m in (await sessions.tail("s", 9)).messages] == ["hi", "after"]
    await database.close()


async def test_a_file_that_another_program_keeps_locked_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    database = Database(tmp_path / "db", patience=0.05)
    sessions = Sessions(database)
    await sessions.begin(Beginning("t1", (Inbound("s", "hi"),), (user_message("hi"),)))
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="db locked; nothing was stored"):
            await sessions.append("s", "t1", user_message("x"))
        other.execute("ROLLBACK")
    await sessions.append("s", "t1", user_message("after"))
    assert [m.text for m in await sessions.all("s")] == ["hi", "after"]
    await database.close()


@pytest.mark.parametrize("seconds", [0.05, 5.0])
async def test_a_new_file_that_another_process_is_just_opening_is_waited_for(tmp_path: Path, seconds: float) -> None:
    database = Database(tmp_path / "db", patience=seconds)
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        looking = asyncio.create_task(version(database))
        if seconds < 1:
            with pytest.raises(StorageError, match="locked"):
                await looking
        else:
            await asyncio.sleep(0.05)
        other.execute("ROLLBACK")
    assert await (version(database) if seconds < 1 else looking) > 0
    await database.close()


async def test_reading_needs_no_file_and_makes_none(tmp_path: Path) -> None:
    database = Database(tmp_path / "db", readonly=True)
    assert await Sessions(database).listed() == ()
    await database.close()
    assert os.listdir(tmp_path) == []


async def test_a_reader_works_beside_the_writer_and_cannot_write(tmp_path: Path) -> None:
    writer, reader = Database(tmp_path / "db"), Database(tmp_path / "db", readonly=True)
    await Sessions(writer).begin(Beginning("t", (Inbound("s", "hi"),), (user_message("hi"),)))
    assert [i.id for i in await Sessions(reader).listed()] == ["s"]
    with pytest.raises(StorageError, match="cannot write"):
        await Sessions(reader).append("s", "t", user_message("x"))
    await writer.close()
    await reader.close()


def test_eight_processes_may_start_on_an_empty_home_at_once(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys; from pathlib import Path; from palmclaw.storage.database import Database\n"
        "async def main():\n"
        "    db = Database(Path(sys.argv[1]))\n"
        "    await db.run(lambda c: c.execute('SELECT * FROM session'))\n"
        "    await db.close()\n"
        "asyncio.run(main())"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "db")], env=bare()) for _ in range(8)]
    assert [c.wait(60) for c in children] == [0] * 8


def note(number: int) -> Message:
    return Message(Role.USER, (Text(f"m{number}"),))


async def turn(sessions: Sessions, number: int) -> None:
    """A turn begins with a message."""
    await sessions.begin(Beginning(f"t{number}", (Inbound("s", f"m{number}"),), (note(number),)))


async def test_the_tail_is_the_newest_part_with_its_place(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    for number in range(30):
        await turn(sessions, number)
    for source in (sessions, Sessions(database)):
        tail = await source.tail("s", 3)
        assert (tail.start, [m.text for m in tail.messages]) == (27, ["m27", "m28", "m29"])
    assert await sessions.tail("nobody", 3) == Tail(0, ())
    await database.close()


async def test_the_memory_of_tails_is_bounded_and_right(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    for number in range(CACHED_MESSAGES + 5):
        await turn(sessions, number)
    assert len(sessions._tails["s"][1]) <= CACHED_MESSAGES
    tail = await sessions.tail("s", CACHED_MESSAGES)
    assert (tail.start, tail.messages[0].text, len(tail.messages)) == (5, "m5", CACHED_MESSAGES)
    assert await Sessions(database).tail("s", CACHED_MESSAGES) == tail
    for number in range(CACHED_SESSIONS + 3):
        await sessions.tail(f"other{number}", 5)
    assert len(sessions._tails) <= CACHED_SESSIONS
    await turn(sessions, -1)
    assert (await sessions.tail("s", 1)).messages[0].text == "m-1"
    await database.close()


@pytest.mark.parametrize("broke_off", [False, True])
async def test_the_tail_reaches_back_to_where_the_newest_turn_began(tmp_path: Path, broke_off: bool) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await turn(sessions, 0)
    await turn(sessions, 1)
    at_work = "t1"
    if broke_off:
        at_work = "t2"
        await sessions.begin(Beginning(at_work, (Inbound("s", "m1"),), (), continues="t1"))
    for number in range(2, 30):
        joined = stamped(f"m{number}", NOW, (), (JOINED,)) if number in (3, 4) else None
        await sessions.append("s", at_work, joined or Message(Role.ASSISTANT, (Text(f"m{number}"),)))
    for source in (sessions, Sessions(database)):
        for count in (3, 28, 5):
            tail = await source.tail("s", count)
            assert (tail.start, tail.messages[0].text, len(tail.messages)) == (1, "m1", 29)
    await database.close()


async def test_what_was_said_outside_of_any_turn_is_no_part_of_the_newest(tmp_path: Path) -> None:
    """An ordinary turn goes on with none; a message that a tool said into the session has no turn either."""
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await turn(sessions, 0)
    await sessions.append("s", "", Message(Role.ASSISTANT, (Text("by the way"),)))
    for number in range(1, 30):
        await turn(sessions, number)
    for source in (sessions, Sessions(database)):
        assert (await source.tail("s", 3)).start == 28
    await database.close()


async def test_after_a_part_has_left_the_beginning_is_stale_and_no_sooner(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await turn(sessions, 0)
    begun = Snapshot(frozenset({"sms"}), "policy", "likes tea")
    await sessions.keep("s", begun)
    await sessions.sum_up("s", Summary(trimmed=4))
    assert await sessions.snapshot("s") == begun
    await sessions.sum_up("s", Summary(2, "we met", trimmed=4))
    stale = replace(begun, system="")
    assert (await sessions.snapshot("s"), await Sessions(database).snapshot("s")) == (stale, stale)
    await database.close()


async def test_a_message_that_may_be_stored_is_read_again(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await sessions.begin(Beginning("t", (Inbound("s", "m0"),), (note(0),)))
    task = asyncio.create_task(sessions.append("s", "t", note(1)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await sessions.append("s", "t", note(2))
    assert list((await sessions.tail("s", 9)).messages) == list(await sessions.all("s"))
    await database.close()


async def test_the_list_counts_messages_turns_and_tokens(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions = Sessions(database)
    await sessions.begin(Beginning("t1", (Inbound("a", ""),), (user_message("first\nwords"),), "m"))
    await sessions.end("t1", TurnEnded(Stop.DONE, Usage(10, 2)))
    await sessions.begin(Beginning("t2", (Inbound("a", ""),), (user_message("second"),), "m"))
    await sessions.end("t2", TurnEnded(Stop.ERROR, Usage(5, 1), StorageError("x").fault))
    found = await sessions.listed()
    first = found[0]
    assert found == (SessionInfo("a", "first words", first.created, first.updated, 2, 2, 15, 3),)
    await database.close()


async def test_deleting_a_session_takes_everything_of_it_and_nothing_else(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    sessions, journal, approvals = Sessions(database), CallJournal(database), Approvals(database)
    for name in ("a", "b"):
        await sessions.begin(Beginning(f"t{name}", (Inbound(name, ""),), (user_message(name),)))
        await journal.begin(f"t{name}", ToolCall("c", "x"), Effect.SEND, "d")
        await approvals.add(name, "send", "+1", Answer.SESSION)
    await approvals.add("a", "send", "+2", Answer.ALWAYS)
    await sessions.delete("a")
    assert [i.id for i in await sessions.listed()] == ["b"]
    assert await journal.outcomes("ta") == {}
    assert list(await journal.outcomes("tb")) == ["c"]
    held = [await approvals.holds(s, "send", t) for s, t in (("a", "+1"), ("b", "+1"), ("a", "+2"), ("b", "+2"))]
    assert held == [False, True, True, True]
    for act in (sessions.delete("a"), sessions.all("a")):
        with pytest.raises(SessionNotFound, match="'a'"):
            await act
    await database.close()


async def test_the_journal_keeps_how_a_call_came_out(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    await Sessions(database).begin(Beginning("t", (Inbound("s", ""),), (user_message("x"),)))
    journal = CallJournal(database)
    await journal.begin("t", ToolCall("c", "send"), Effect.SEND, "d")
    assert await journal.outcomes("t") == {"c": (CallState.RUNNING, None)}
    result = ToolResult("c", "send", "{}", StorageError("no").fault)
    await journal.end("t", "c", CallState.FAILED, result)
    assert await journal.outcomes("t") == {"c": (CallState.FAILED, result)}
    await database.close()


async def test_lasting_answers_are_for_one_tool_and_one_target(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    approvals = Approvals(database)
    await approvals.add("s", "send", "+1", Answer.ONCE)
    assert not await approvals.holds("s", "send", "+1")
    await approvals.add("s", "send", "+1", Answer.SESSION)
    asked = [("s", "send", "+1"), ("s", "send", "+2"), ("s", "call", "+1"), ("z", "send", "+1")]
    assert [await approvals.holds(*a) for a in asked] == [True, False, False, False]
    await database.close()


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    first, second = HomeLock(tmp_path / "home" / "lock"), HomeLock(tmp_path / "home" / "lock")
    first.acquire("chat")
    with pytest.raises(HomeBusy, match=r"in use by process \d+ \(chat\)"):
        second.acquire("chat")
    first.release()
    first.release()
    second.acquire("serve")
    second.release()


def test_a_lock_of_a_dead_process_is_no_lock(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from palmclaw.storage.lock import HomeLock\n"
        "HomeLock(Path(sys.argv[1])).acquire('chat'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "lock")], check=False).returncode == -9
    lock = HomeLock(tmp_path / "lock")
    lock.acquire("chat")
    lock.release()


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot write"):
        HomeLock(tmp_path / "file" / "lock").acquire("chat")


def test_close_without_use_is_harmless(tmp_path: Path) -> None:
    asyncio.run(Database(tmp_path / "db").close())
