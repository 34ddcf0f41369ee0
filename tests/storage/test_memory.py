"""MEMORY.md on disk: whatever a person makes of the file, whenever the process dies, nothing is lost or done twice."""

import asyncio
import codecs
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import StorageError
from palmclaw.core.memory import (
    Add,
    By,
    Change,
    Done,
    Drop,
    How,
    Kept,
    MemoryBroken,
    MemoryFull,
    Progress,
    Source,
)
from palmclaw.core.messages import user_message
from palmclaw.core.notes import page
from palmclaw.core.records import Beginning
from palmclaw.core.remembering import applied
from palmclaw.core.traffic import Inbound
from palmclaw.storage.database import Database, Work
from palmclaw.storage.memory import RECORDED, Edit, KeptMemory, MemoryRecord, Postponed, Recorded
from palmclaw.storage.memory_file import MOST, MemoryFile
from palmclaw.storage.sessions import Sessions
from tests.children import bare

AGENT = Source(By.AGENT, "main")
DATED = Source(By.AGENT, "main", "2026-11-30")
TEA = "# Memory\n\n## Notes\n- Likes tea <!-- 2026-11-30 agent main -->\n"


@dataclass(frozen=True)
class Calendar:
    """It is always the same day."""

    def now(self) -> datetime:
        return datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass(slots=True)
class Dying(Database):
    """A database whose process dies just before or just after a transaction."""

    left: int = -1
    after: bool = True

    async def run(self, work: Work[Any]) -> Any:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise KeyboardInterrupt
        result = await Database.run(self, work)
        if self.left == 0:
            raise KeyboardInterrupt
        return result


@dataclass
class Place:
    """A home's memory; `again` is the next process's."""

    folder: Path
    database: Database

    @property
    def path(self) -> Path:
        return self.folder / "memory" / "MEMORY.md"

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    def again(self, database: Database | None = None, limit: int = 8_000) -> KeptMemory:
        return KeptMemory(MemoryFile(self.path), database or self.database, Calendar(), limit)

    def write(self, content: bytes) -> None:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(content)

    async def record(self) -> list[tuple[str, str, str]]:
        """Who changed it from what to what, the oldest first; only the entries' words."""
        rows = await MemoryRecord(self.database).newest()
        return [(r.source.by.value, words(r.before), words(r.after)) for r in reversed(rows)]


def words(text: str) -> str:
    return ", ".join(e.text for e in page(text).entries)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    database = Database(tmp_path / "palmclaw.db")
    yield Place(tmp_path, database)
    await database.close()


async def test_nothing_is_remembered_yet(place: Place) -> None:
    memory = place.again()
    assert await memory.read() == Kept()
    assert await memory.change([Drop("x")], AGENT) == (Done(Drop("x"), How.GONE),)
    assert not place.path.exists()
    assert await place.record() == []


async def test_a_change_is_in_the_file_and_on_record(place: Place) -> None:
    memory = place.again()
    assert await memory.change([Add("Likes tea")], AGENT) == (Done(Add("Likes tea"), How.ADDED, "Likes tea"),)
    assert place.text == TEA
    assert await memory.read() == Kept(TEA)
    (row,) = await MemoryRecord(place.database).newest()
    assert row == Recorded(row.id, row.at, AGENT, "", TEA, Edit((Add("Likes tea"),), DATED))
    assert place.path.stat().st_mode & 0o777 == 0o600
    assert place.path.parent.stat().st_mode & 0o777 == 0o700


async def test_a_file_that_has_not_changed_is_not_read_again(place: Place) -> None:
    place.write(b"- mine\n")
    memory = place.again()
    first = await memory.read()
    place.database._thread.shutdown()  # nothing may be asked of it any more
    assert await memory.read() is first
    place.database._thread = Database(place.folder)._thread


async def test_what_a_person_edits_is_noticed_and_wins(place: Place) -> None:
    memory = place.again()
    await memory.change([Add("Likes tea")], AGENT)
    place.write(b"- Likes coffee\n- Has a dog\n")
    assert await memory.read() == Kept("- Likes coffee\n- Has a dog\n")
    place.write(b"- Likes coffee\n")
    await memory.change([Add("Has a cat"), Drop("Likes tea")], AGENT)
    assert words(place.text) == "Likes coffee, Has a cat"
    place.path.unlink()
    assert await memory.read() == Kept()
    await memory.change([Add("New")], AGENT)
    assert await place.record() == [
        ("agent", "", "Likes tea"),
        ("owner", "Likes tea", "Likes coffee, Has a dog"),
        ("owner", "Likes coffee, Has a dog", "Likes coffee"),
        ("agent", "Likes coffee", "Likes coffee, Has a cat"),
        ("owner", "Likes coffee, Has a cat", ""),
        ("agent", "", "New"),
    ]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 6))
async def test_a_process_that_dies_anywhere_leaves_nothing_half_done(place: Place, step: int, after: bool) -> None:
    await place.again().change([Add("Likes tea")], AGENT)
    dying = Dying(place.folder / "palmclaw.db", left=step, after=after)
    memory = place.again(dying)
    with suppress(KeyboardInterrupt):
        await memory.change([Add("Has a dog")], AGENT)
    dying.left = -1
    await dying.close()
    was_stored = len(await MemoryRecord(place.database).newest()) == 2
    memory = place.again()
    kept = await memory.read()
    assert words(kept.text) == ("Likes tea, Has a dog" if was_stored else "Likes tea")
    assert kept.text == place.text
    assert await MemoryRecord(place.database).due() == ()
    await memory.change([Add("Has a dog")], AGENT)
    assert words(place.text) == "Likes tea, Has a dog"
    assert len(await MemoryRecord(place.database).newest()) == 2


async def died_before_the_file(place: Place, *changes: Change) -> None:
    """Leave a change that is stored, and not in the file."""
    dying = Dying(place.folder / "palmclaw.db", left=3)  # what is due, the newest, the change
    with pytest.raises(KeyboardInterrupt):
        await place.again(dying).change(changes, AGENT)
    await dying.close()
    assert len(await MemoryRecord(place.database).due()) == 1


async def test_a_person_who_edits_after_a_crash_wins_and_is_on_record(place: Place) -> None:
    place.write(b"- one\n- two\n")
    await place.again().read()
    await died_before_the_file(place, Add("three"), Drop("two"))
    assert place.text == "- one\n- two\n"
    place.write(b"- mine\n- two\n")
    assert words((await place.again().read()).text) == "mine, three"
    assert await place.record() == [
        *(("owner", "", "one, two"), ("owner", "one, two", "mine, two"), ("agent", "mine, two", "mine, three"))
    ]


@pytest.mark.parametrize("undone", ["- one\n", "- another\n"])
async def test_what_a_person_takes_back_after_a_crash_stays_taken_back(place: Place, undone: str) -> None:
    """The change was in the file; only the word for that was not stored any more."""
    place.write(b"- one\n")
    await place.again().read()
    dying = Dying(place.folder / "palmclaw.db", left=4, after=False)
    with pytest.raises(KeyboardInterrupt):
        await place.again(dying).change([Add("Boss is called Bob")], AGENT)
    await dying.close()
    changed = place.text
    assert "Bob" in changed
    place.write(undone.encode())
    await MemoryRecord(place.database).note(changed, undone)  # as `palmclaw memory undo` and `edit` do
    assert (await place.again().read()).text == undone
    assert await MemoryRecord(place.database).due() == ()


async def test_a_hand_that_brings_the_old_text_back_after_a_crash_wins_too(place: Place) -> None:
    """No command noticed it; but the file is younger than the change."""
    place.write(b"- one\n")
    await place.again().read()
    dying = Dying(place.folder / "palmclaw.db", left=4, after=False)
    with pytest.raises(KeyboardInterrupt):
        await place.again(dying).change([Add("two")], AGENT)
    await dying.close()
    (due,) = await MemoryRecord(place.database).due()
    place.write(b"- one\n")
    later = datetime.fromisoformat(due.at).timestamp() + 5
    os.utime(place.path, (later, later))
    memory = place.again()
    assert (await memory.read()).text == "- one\n"
    assert await MemoryRecord(place.database).due() == ()
    assert await place.record() == [("owner", "", "one"), ("agent", "one", "one, two"), ("owner", "one, two", "one")]
    await memory.change([Add("three")], AGENT)
    assert words(place.text) == "one, three"


async def test_what_is_owed_waits_while_a_folder_is_in_the_files_place(place: Place) -> None:
    place.write(b"- one\n")
    await place.again().read()
    await died_before_the_file(place, Add("two"))
    (due,) = await MemoryRecord(place.database).due()
    moved = place.path.rename(place.folder / "moved")
    place.path.mkdir()
    later = datetime.fromisoformat(due.at).timestamp() + 5
    os.utime(place.path, (later, later))
    memory = place.again()
    assert "is no file" in (await memory.read()).warning
    assert await MemoryRecord(place.database).due() == (due,)
    place.path.rmdir()
    moved.rename(place.path)
    assert words((await memory.read()).text) == "one, two"


async def test_what_a_person_edits_beside_an_owed_change_is_on_record_and_the_change_is_made(place: Place) -> None:
    place.write(b"- one\n")
    await place.again().read()
    await died_before_the_file(place, Add("three"))
    place.write(b"- mine\n")
    await MemoryRecord(place.database).note("- one\n", "- mine\n")
    assert words((await place.again().read()).text) == "mine, three"
    assert await MemoryRecord(place.database).due() == ()


async def test_what_a_person_has_done_meanwhile_is_not_done_again(place: Place) -> None:
    place.write(b"- one\n- two\n")
    await place.again().read()
    await died_before_the_file(place, Drop("two"))
    place.write(b"- one")
    assert (await place.again().read()).text == "- one"
    assert await place.record() == [("owner", "", "one, two"), ("owner", "one, two", "one")]


async def test_what_no_longer_fits_after_a_crash_is_given_up(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    await died_before_the_file(place, Add("Likes tea"))
    place.write(b"x" * 7_990)
    assert (await place.again().read()).text == "x" * 7_990
    assert await place.record() == [("owner", "", "")]
    assert "had to be given up" in caplog.text


@dataclass(frozen=True, slots=True)
class Interfering(MemoryFile):
    """Somebody edits the file just before it is written."""

    edit: Callable[[], object] = lambda: None

    def rewrite(self, change: Callable[[str], str]) -> tuple[str, str]:
        self.edit()
        return MemoryFile.rewrite(self, change)


async def test_an_edit_between_reading_and_writing_is_kept(place: Place) -> None:
    place.write(b"- one\n")
    file = Interfering(place.path, edit=lambda: place.write(b"- uno\n- Likes TEA\n"))
    memory = KeptMemory(file, place.database, Calendar())
    assert await memory.change([Add("Likes tea"), Drop("one")], AGENT) == (
        Done(Add("Likes tea"), How.KEPT, "Likes TEA"),
        Done(Drop("one"), How.GONE),
    )
    assert place.text == "- uno\n- Likes TEA\n"
    assert (await place.record())[-1] == ("owner", "one", "uno, Likes TEA")


async def test_an_edit_between_that_fills_the_file_is_told(place: Place) -> None:
    memory = KeptMemory(Interfering(place.path, edit=lambda: place.write(b"x" * 7_990)), place.database, Calendar())
    with pytest.raises(MemoryFull):
        await memory.change([Add("Likes tea")], AGENT)
    assert place.text == "x" * 7_990
    assert await MemoryRecord(place.database).due() == ()


@pytest.mark.parametrize(
    ("raw", "text", "after"),
    [
        (b"\xef\xbb\xbf- a\n", "- a\n", b"\xef\xbb\xbf- a\n\n## Notes\n- b <!-- 2026-11-30 agent main -->\n"),
        (b"- a\r\n", "- a\r\n", b"- a\r\n\r\n## Notes\r\n- b <!-- 2026-11-30 agent main -->\r\n"),
        (
            codecs.BOM_UTF16_LE + "- 茶\n".encode("utf-16-le"),
            "- 茶\n",
            codecs.BOM_UTF16_LE + "- 茶\n\n## Notes\n- b <!-- 2026-11-30 agent main -->\n".encode("utf-16-le"),
        ),
        (
            codecs.BOM_UTF16_BE + "- 茶\n".encode("utf-16-be"),
            "- 茶\n",
            codecs.BOM_UTF16_BE + "- 茶\n\n## Notes\n- b <!-- 2026-11-30 agent main -->\n".encode("utf-16-be"),
        ),
    ],
)
async def test_marks_encodings_and_line_ends_are_kept(place: Place, raw: bytes, text: str, after: bytes) -> None:
    place.write(raw)
    memory = place.again()
    assert await memory.read() == Kept(text)
    await memory.change([Add("b")], AGENT)
    assert place.path.read_bytes() == after
    assert [p.name for p in place.path.parent.iterdir() if p.suffix == ".original"] == []


async def test_f078_a_damaged_file_is_read_told_and_kept_before_it_is_written(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    raw = b"- likes caf\xe9 noir\n"
    place.write(raw)
    memory = place.again()
    kept = await memory.read()
    assert kept.text == "- likes caf\ufffd noir\n"
    assert "no valid UTF-8" in kept.warning
    await place.again().read()
    assert caplog.text.count("no valid UTF-8") == 2  # once for each process
    assert place.path.read_bytes() == raw
    await memory.change([Add("b")], AGENT)
    assert place.text == "- likes caf\ufffd noir\n\n## Notes\n- b <!-- 2026-11-30 agent main -->\n"
    (original,) = place.path.parent.glob("*.original")
    assert original.read_bytes() == raw
    assert (await memory.read()).warning == ""


async def test_a_file_of_five_megabytes_is_neither_loaded_nor_changed(place: Place) -> None:
    place.write(b"- one\n" + "- 图书馆\n".encode() * 400_000)
    memory = place.again()
    kept = await memory.read()
    assert kept.text.startswith("- one\n- 图书馆\n")
    assert kept.text.endswith("- 图书馆\n")
    assert len(kept.text.encode()) <= MOST
    assert kept.warning.startswith("MEMORY.md has 4,800,006 bytes: the agent reads the first 65,536")
    with pytest.raises(MemoryBroken) as caught:
        await memory.change([Add("b")], AGENT)
    assert caught.value.hint == "Shorten it: palmclaw memory edit"
    assert place.path.stat().st_size == 4_800_006
    assert await place.record() == []


SPOILT: dict[str, Callable[[Path], None]] = {
    "folder": lambda path: path.mkdir(),
    "pipe": lambda path: os.mkfifo(path),
    "loop": lambda path: path.symlink_to(path),
    "no lock": lambda path: path.with_suffix(".lock").mkdir(),
}


@pytest.mark.parametrize("what", [*SPOILT, "no folder"])
async def test_what_is_no_file_is_told_and_left_alone(place: Place, what: str) -> None:
    if what == "no folder":
        place.path.parent.write_text("a file")
    else:
        place.path.parent.mkdir()
        SPOILT[what](place.path)
    memory = place.again()
    kept = await memory.read()
    assert kept.text == ""
    assert (kept.warning == "") == (what == "no lock")
    assert await memory.read() is kept or what in ("loop", "no folder")
    with pytest.raises(MemoryBroken):
        await memory.change([Add("b")], AGENT)
    assert await place.record() == ([("agent", "", "b")] if what == "no lock" else [])
    assert not place.path.is_file()


async def test_a_file_behind_a_link_is_changed_there(place: Place) -> None:
    place.path.parent.mkdir()
    real = place.folder / "notes.md"
    real.write_text("- mine\n")
    place.path.symlink_to(real)
    await place.again().change([Add("b", "Mine")], AGENT)
    assert place.path.is_symlink()
    assert words(real.read_text()) == "mine, b"


async def test_what_cannot_be_written_now_is_kept_for_later(place: Place) -> None:
    place.path.parent.mkdir()
    place.path.symlink_to(place.folder / "nowhere" / "notes.md")
    memory = place.again()
    assert await memory.read() == Kept()
    with pytest.raises(Postponed, match=r"cannot write .* the change is kept"):
        await memory.change([Add("b")], AGENT)
    kept = await memory.read()
    assert (kept.text, kept.warning[:12]) == ("", "cannot write")
    with pytest.raises(Postponed):
        await memory.change([Add("c")], AGENT)
    (place.folder / "nowhere").mkdir()
    assert words((await memory.read()).text) == "b"
    assert await place.record() == [("agent", "", "b")]


async def test_the_newest_hundred_changes_are_kept(place: Place) -> None:
    memory = place.again()
    for number in range(RECORDED + 5):
        await memory.change([Add(f"fact {number}") if number % 2 == 0 else Drop(f"fact {number - 1}")], AGENT)
    rows = await MemoryRecord(place.database).newest(1_000)
    assert len(rows) == RECORDED
    assert rows[0].after == place.text


async def test_what_cannot_be_read_of_a_record_hides_nothing(place: Place) -> None:
    await place.again().change([Add("a")], AGENT)
    await place.database.run(lambda db: db.execute("UPDATE memory_change SET edit='{', state='due'"))
    place.write(b"- mine\n")
    assert (await place.again().read()).text == "- mine\n"
    assert [r.edit for r in await MemoryRecord(place.database).newest()] == [Edit()]


async def test_a_file_that_is_not_there_begins_with_what_it_is_to_have(place: Place) -> None:
    seed = "<!-- yours -->\n\n## Food\n\n## Notes\n"
    memory = KeptMemory(MemoryFile(place.path, seed), place.database, Calendar())
    assert await memory.read() == Kept()
    assert [d.how for d in await memory.change([Drop("x")], AGENT)] == [How.GONE]
    assert not place.path.exists()
    await memory.change([Add("Likes tea", "food")], AGENT)
    assert place.text == "<!-- yours -->\n\n## Food\n- Likes tea <!-- 2026-11-30 agent main -->\n\n## Notes\n"
    place.path.unlink()
    dying = Dying(place.folder / "palmclaw.db", left=4)  # what is due, the newest, the person's, the change
    with pytest.raises(KeyboardInterrupt):
        await KeptMemory(MemoryFile(place.path, seed), dying, Calendar()).change([Drop("x"), Add("Has a dog")], AGENT)
    await dying.close()
    assert (
        words((await KeptMemory(MemoryFile(place.path, seed), place.database, Calendar()).read()).text) == "Has a dog"
    )


async def test_what_another_process_has_recorded_is_not_recorded_again(place: Place) -> None:
    memory = place.again()
    await memory.change([Add("one")], AGENT)
    before = place.text
    place.write(b"- mine\n- two\n")
    other = MemoryRecord(place.database)
    await other.note("- mine\n", "- mine\n- two\n")  # the edit before it had not been noticed
    await other.note("- mine\n", "- mine\n- two\n")
    assert (await memory.read()).text == "- mine\n- two\n"
    assert words(before) == "one"
    assert await place.record() == [("agent", "", "one"), ("owner", "one", "mine"), ("owner", "mine", "mine, two")]


async def test_two_processes_lose_nothing_of_each_other(place: Place) -> None:
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from palmclaw.core.memory import Add, Source\nfrom palmclaw.core.remembering import applied\n"
        "from palmclaw.storage.memory_file import MemoryFile\n"
        "file = MemoryFile(Path(sys.argv[1]))\n"
        "for n in range(40):\n    file.rewrite(lambda t: applied(t, [Add(f'theirs {n}')], Source())[0])\n"
    )
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, str(place.path), env=bare(), stderr=subprocess.PIPE
    )
    memory = place.again()
    for number in range(40):
        await memory.change([Add(f"ours {number}")], AGENT)
    _, said = await other.communicate()
    assert (other.returncode, said) == (0, b"")
    kept = await memory.read()
    expected = {f"{whose} {n}" for whose in ("ours", "theirs") for n in range(40)}
    assert {e.text for e in page(kept.text).entries} == expected
    rows = list(reversed(await MemoryRecord(place.database).newest(1_000)))
    assert all(one.after == two.before for one, two in pairwise(rows))
    assert rows[-1].after == place.text


async def test_changes_at_once_are_made_one_after_the_other(place: Place) -> None:
    memory = place.again()
    await asyncio.gather(*(memory.change([Add(f"fact {n}")], AGENT) for n in range(10)), memory.read())
    assert len(page(place.text).entries) == 10


async def test_a_change_that_is_cancelled_is_whole_or_not_there(place: Place) -> None:
    memory = place.again()
    await memory.read()
    for turns in range(12):
        task = asyncio.create_task(memory.change([Add(f"fact {turns}")], AGENT))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        kept = await memory.read()
        assert kept.text == (place.text if place.path.exists() else "")
        assert await MemoryRecord(place.database).due() == ()


async def talked(place: Place, count: int, session: str = "main") -> None:
    sessions = Sessions(place.database)
    if not await sessions.listed():
        await sessions.begin(Beginning("t", (Inbound(session, "hi"),), (user_message("hi"),)))
        count -= 1
    for number in range(count):
        await sessions.append(session, "", user_message(f"message {number}"))


async def test_how_far_a_session_was_looked_through_is_kept_with_what_came_of_it(place: Place) -> None:
    await talked(place, 10)
    memory = place.again()
    assert await memory.progress("nobody's") == Progress()
    assert await memory.progress("main") == Progress(0, 10)
    assert [await memory.failed("main", "why"), await memory.failed("main", "because", 3)] == [1, 2]
    assert await memory.progress("main") == Progress(0, 10, 2, 10, 3)
    assert await MemoryRecord(place.database).troubles(2) == (("main", 2, "because"),)
    done = await memory.keep("main", 5, [Add("Likes tea")])
    assert [d.how for d in done] == [How.ADDED]
    assert place.text == TEA.replace("agent", "consolidated")
    assert await memory.progress("main") == Progress(5, 10, 0, 0, 3)
    assert await memory.keep("main", 7, [], cycle=4) == ()
    assert [d.how for d in await memory.keep("main", 8, [Add("Likes tea")])] == [How.KEPT]
    assert await memory.progress("main") == Progress(8, 10, 0, 0, 4)
    assert await memory.failed("nobody's", "why") == 0
    assert [(n, m.text) for n, m in await memory.stretch("main", 8, 20)] == [(8, "message 7"), (9, "message 8")]


async def test_f075_a_mark_beyond_the_end_is_none(place: Place) -> None:
    await talked(place, 8)
    memory = place.again()
    await memory.keep("main", 50, [])
    assert await memory.progress("main") == Progress(0, 8)


async def test_the_mark_never_goes_back(place: Place) -> None:
    await talked(place, 8)
    memory = place.again()
    await memory.keep("main", 6, [])
    await memory.keep("main", 4, [], 7)
    assert await memory.progress("main") == Progress(6, 8, 0, 0, 7)
    await memory.keep("main", 50, [])
    await memory.keep("main", 5, [])  # what cannot be is no mark
    assert await memory.progress("main") == Progress(5, 8, 0, 0, 7)


@pytest.mark.parametrize("after", [False, True])
async def test_the_mark_and_the_result_are_one_commit(place: Place, after: bool) -> None:
    await talked(place, 10)
    dying = Dying(place.folder / "palmclaw.db", left=3, after=after)
    with pytest.raises(KeyboardInterrupt):
        await place.again(dying).keep("main", 5, [Add("Likes tea")])
    dying.left = -1
    await dying.close()
    memory = place.again()
    assert (await memory.progress("main")).remembered == (5 if after else 0)
    assert words((await memory.read()).text) == ("Likes tea" if after else "")


async def test_a_result_that_cannot_be_written_yet_is_not_lost(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    await talked(place, 10)
    place.path.parent.mkdir()
    place.path.symlink_to(place.folder / "nowhere" / "notes.md")
    memory = place.again()
    assert await memory.keep("main", 5, [Add("Likes tea")]) == ()
    assert "is not in the file yet" in caplog.text
    assert (await memory.progress("main")).remembered == 5
    (place.folder / "nowhere").mkdir()
    assert words((await memory.read()).text) == "Likes tea"


async def test_an_old_session_is_not_gone_through_from_its_beginning(place: Place) -> None:
    """In a home that was used before there was a memory."""
    old = sqlite3.connect(place.folder / "palmclaw.db")
    for script in sorted((files("palmclaw.storage") / "migrations").iterdir(), key=lambda f: f.name)[:4]:
        old.executescript(script.read_text("utf-8"))
    old.execute("INSERT INTO session (id, created, updated) VALUES ('main', '', ''), ('empty', '', '')")
    old.executemany("INSERT INTO message VALUES ('main', ?, '', 'note', '{}')", [(n,) for n in range(4)])
    old.execute("PRAGMA user_version=4")
    old.commit()
    old.close()
    assert await place.again().progress("main") == Progress(4, 4)
    assert await place.again().progress("empty") == Progress(0, 0)


async def test_a_database_that_refuses_changes_nothing(place: Place) -> None:
    await place.again().read()
    reading = Database(place.folder / "palmclaw.db", readonly=True)
    with pytest.raises(StorageError):
        await place.again(reading).change([Add("x")], AGENT)
    await reading.close()
    assert not place.path.exists()


def test_the_file_alone_can_be_changed_beside_a_gateway(tmp_path: Path) -> None:
    file = MemoryFile(tmp_path / "memory" / "MEMORY.md")
    assert file.rewrite(lambda text: applied(text, [Add("a")], Source())[0])[1] == file.text()
    with pytest.raises(ZeroDivisionError):
        file.rewrite(lambda text: str(1 // 0))
    (tmp_path / "other").write_text("no folder")
    with pytest.raises(MemoryBroken, match=r"cannot write in .*other: File exists"):
        MemoryFile(tmp_path / "other" / "MEMORY.md").rewrite(str)
    assert file.rewrite(lambda text: f"{text}\ud800")[1].endswith("\ud800")
    assert file.text().endswith("\ufffd")


@pytest.fixture(autouse=True)
def _logged(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("palmclaw").propagate = True
    caplog.set_level(logging.WARNING, "palmclaw")
