"""`palmclaw memory`: beside a gateway or alone, in both languages, and nothing of a person's is lost."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from wcwidth import wcswidth

from palmclaw.cli.main import cli
from palmclaw.cli.texts import texts
from palmclaw.core.errors import PalmclawError
from palmclaw.core.memory import Add, By, MemoryBroken, MemoryFull, Source
from palmclaw.core.notes import page
from palmclaw.storage.database import Database
from palmclaw.storage.memory import KeptMemory, MemoryRecord
from palmclaw.storage.memory_file import MemoryFile
from tests.storage.test_memory import Calendar

LIKES = "## Likes\n- Likes tea\n- Likes green tea <!-- 2026-11-29 agent telegram:5 -->\n"


@pytest.fixture
def file(home_dir: Path) -> Path:
    path = home_dir / "memory" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    return path


def said(*arguments: str, given: str = "", **environ: str) -> Result:
    return CliRunner().invoke(cli, ["memory", *arguments], input=given, env=environ, terminal_width=40)


def remembered(path: Path) -> list[str]:
    return [e.text for e in page(path.read_text("utf-8")).entries]


def agent_adds(home: Path, *texts: str) -> None:
    """As a gateway does."""

    async def add() -> None:
        database = Database(home / "palmclaw.db")
        memory = KeptMemory(MemoryFile(home / "memory" / "MEMORY.md"), database, Calendar())
        for text in texts:
            await memory.change([Add(text)], Source(By.AGENT, "telegram:5"))
        await database.close()

    asyncio.run(add())


def record(home: Path) -> list[tuple[str, list[str]]]:
    async def read() -> list[tuple[str, list[str]]]:
        database = Database(home / "palmclaw.db", readonly=True)
        rows = await MemoryRecord(database).newest()
        await database.close()
        return [(r.source.by.value, [e.text for e in page(r.after).entries]) for r in reversed(rows)]

    return asyncio.run(read())


def editor(path: Path, code: str) -> str:
    """A program for EDITOR: Python that has the text as `text`, and may change the file behind our back."""
    script = path.with_name("editor.py")
    script.write_text(
        "import sys, time\nfrom pathlib import Path\nfile = Path(sys.argv[1])\ntext = file.read_text('utf-8')\n"
        f"real = Path({str(path)!r})\n{code}\n"
    )
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"


def test_what_is_remembered_is_shown(file: Path) -> None:
    assert said("show").output == "Nothing is remembered yet.\n"
    file.write_text(f"{LIKES}\n## 工作\n- 每周一开会 <!-- 2026-11-30 consolidated main -->\n")
    done = said("show")
    assert done.stdout.splitlines() == [
        *("Likes", "  1. Likes tea", "     you", "  2. Likes green tea"),
        *("     2026-11-29 the agent, in telegram:5", "工作", "  3. 每周一开会"),
        "     2026-11-30 from what was said in main",
    ]
    assert done.stderr == "129 of 8,000 characters\n"
    chinese = said("show", PALMCLAW_LANG="zh").output
    assert "2026-11-29 助手，在 telegram:5 里" in chinese
    assert [line for line in chinese.splitlines() if wcswidth(line) > 80] == []
    table = json.loads(said("show", "--json").output)
    assert table["entries"][1] == {
        **{"number": 2, "section": "Likes", "text": "Likes green tea"},
        **{"by": "agent", "session": "telegram:5", "day": "2026-11-29"},
    }
    assert (table["characters"], table["limit"], table["warning"]) == (129, 8_000, "")


def test_a_damaged_file_is_shown_with_a_warning(file: Path) -> None:
    file.write_bytes(b"- caf\xe9\n")
    done = said("show")
    assert "1. caf\ufffd" in done.stdout
    assert "MEMORY.md is no valid UTF-8" in done.stderr
    assert "不是有效的 UTF-8" in said("show", PALMCLAW_LANG="zh").stderr


def test_something_is_added_once_and_forgotten(file: Path, home_dir: Path) -> None:
    assert said("add", "Allergic to nuts", "--section", "Health").output == "Remembered: Allergic to nuts\n"
    assert said("add", "allergic to NUTS").output == "Remembered: allergic to NUTS\n"
    assert said("add", "allergic to NUTS").output == "That is remembered already: allergic to NUTS\n"
    assert json.loads(said("add", "Has a dog", "--json").output) == {"how": "added", "text": "Has a dog", "before": ""}
    assert remembered(file) == ["Has a dog", "allergic to NUTS"]
    assert file.read_text("utf-8").startswith("<!-- What the agent remembers")
    assert said("forget", "nuts").output == "Forgotten: allergic to NUTS\n"
    assert json.loads(said("forget", "1", "--json").output) == {"how": "dropped", "text": "", "before": "Has a dog"}
    assert record(home_dir) == [
        *(("owner", ["Allergic to nuts"]), ("owner", ["allergic to NUTS"])),
        *(("owner", ["Has a dog", "allergic to NUTS"]), ("owner", ["Has a dog"]), ("owner", [])),
    ]


def test_what_is_not_clear_is_not_forgotten(file: Path) -> None:
    file.write_text(LIKES)
    done = said("forget", "tea")
    assert done.exit_code == 1
    assert done.output == "Error: 2 entries fit; use the number:\n1. Likes tea\n2. Likes green tea\n"
    assert said("forget", "gin").output == "Error: nothing like 'gin' is remembered; see palmclaw memory show\n"
    assert "没有记住类似 'gin' 的事" in said("forget", "gin", PALMCLAW_LANG="zh").output
    assert file.read_text() == LIKES


@pytest.mark.parametrize(("size", "error"), [(7_990, MemoryFull), (100_000, MemoryBroken)])
def test_a_full_file_says_what_to_do(file: Path, size: int, error: type[PalmclawError]) -> None:
    file.write_text("x" * size)
    done = said("add", "Likes tea")
    assert isinstance(done.exception, error)
    words = texts({"LANG": "zh_CN.UTF-8"})
    assert all(re.search("[一-龥]", said) for said in words.fault(done.exception.fault))
    assert "palmclaw memory edit" in done.exception.hint
    assert file.read_text() == "x" * size


def test_the_file_is_edited(file: Path, home_dir: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf- mine\r\n")
    program = editor(file, "file.write_bytes(file.read_bytes() + b'- Has a dog\\r\\n')")
    done = said("edit", EDITOR=program)
    assert (done.exit_code, done.output) == (0, "Saved.\n")
    assert file.read_bytes() == b"\xef\xbb\xbf- mine\r\n- Has a dog\r\n"
    assert record(home_dir) == [("owner", ["mine"]), ("owner", ["mine", "Has a dog"])]
    assert said("edit", EDITOR="true").output == "Nothing was changed.\n"


def test_a_new_file_begins_with_its_sections(file: Path) -> None:
    program = editor(file, "file.write_text(text.replace('## Plans\\n', '## Plans\\n- Rome\\n'), 'utf-8')")
    assert said("edit", EDITOR=program).output == "Saved.\n"
    assert [(e.section, e.text) for e in page(file.read_text("utf-8")).entries] == [("Plans", "Rome")]


def test_two_edits_at_once_are_both_kept(file: Path) -> None:
    file.write_text("- mine\n")
    program = editor(file, "real.write_text('- theirs\\n'); file.write_text('- Has a dog\\n', 'utf-8')")
    done = said("edit", EDITOR=program)
    assert done.exit_code == 1
    assert "was changed by somebody else meanwhile; your text is in" in done.output
    assert file.read_text() == "- theirs\n"
    assert file.with_name("MEMORY-edited.md").read_text() == "- Has a dog\n"


def test_a_text_that_is_too_long_is_saved_and_told(file: Path) -> None:
    done = said("edit", EDITOR=editor(file, "file.write_text('- ' + 'x' * 9_000 + '\\n', 'utf-8')"))
    assert done.exit_code == 0
    assert "It has 9,003 characters; the agent sees the first 8,000" in done.output
    huge = "- 图书馆\n" * 10_000
    file.write_text(huge)
    assert said("edit", EDITOR=editor(file, "file.write_text(text[:24], 'utf-8')")).exit_code == 0
    assert file.read_text() == huge[:24]


def test_who_changed_what_and_when(file: Path, home_dir: Path) -> None:
    assert said("history").output == "Nothing has been changed yet.\n"
    agent_adds(home_dir, "Likes tea")
    file.write_text(file.read_text().replace("tea", "coffee"))
    done = said("history").output.splitlines()
    assert done[:3] == ["not recorded yet: your own edit", "  - - Likes tea", "  + - Likes coffee"]
    number, *when, who = done[3].split("  ")
    assert (number, len(when), who) == ("1", 1, "the agent, in telegram:5")
    assert done[4:] == ["  + # Memory", "  + ## Notes", "  + - Likes tea"]
    own, first = json.loads(said("history", "--json").output)
    assert (own["id"], own["by"], own["before"]) == (None, "owner", first["after"])
    assert (first["by"], first["session"], first["before"], first["due"]) == ("agent", "telegram:5", "", False)
    assert "你自己的改动" in said("history", PALMCLAW_LANG="zh").output


def test_what_has_not_reached_the_file_is_told(file: Path, home_dir: Path) -> None:
    agent_adds(home_dir, "one", "two")
    file.write_text(file.read_text().replace("- two <!-- 2026-11-30 agent telegram:5 -->\n", ""))

    async def due() -> None:
        database = Database(home_dir / "palmclaw.db")
        await database.run(lambda db: db.execute("UPDATE memory_change SET state='due' WHERE id=2"))
        await database.close()

    asyncio.run(due())
    lines = said("history").output.splitlines()
    assert lines[0].startswith("2  ")
    assert lines[1:3] == ["  (not in the file yet)", "  + - two"]


def test_the_last_change_is_taken_back(file: Path, home_dir: Path) -> None:
    agent_adds(home_dir, "one", "two")
    done = said("undo")
    assert (done.stdout, done.stderr) == ("  - - two\n", "Taken back.\n")
    assert remembered(file) == ["one"]
    assert [by for by, _ in record(home_dir)] == ["agent", "agent", "owner"]


@pytest.mark.parametrize(("answer", "left"), [("y\n", ["one"]), ("n\n", ["mine"]), ("", ["mine"])])
def test_what_a_person_wrote_is_taken_back_only_if_they_say_so(
    file: Path, home_dir: Path, answer: str, left: list[str]
) -> None:
    agent_adds(home_dir, "one")
    file.write_text("- mine\n")
    done = said("undo", given=answer)
    assert "That takes back what you wrote yourself. Do it" in done.stdout
    assert remembered(file) == left


def test_a_change_and_all_later_ones_are_taken_back(file: Path, home_dir: Path) -> None:
    agent_adds(home_dir, "one", "two", "three")
    assert said("undo", "2").exit_code == 0
    assert remembered(file) == ["one"]
    assert said("undo", "--yes").exit_code == 0
    assert remembered(file) == ["one", "two", "three"]
    assert said("undo", "77").output == "Error: there is no change 77; see palmclaw memory history\n"


def test_there_is_nothing_to_take_back(file: Path) -> None:
    assert said("undo").output == "Error: nothing has been changed yet\n"


def test_a_change_while_one_is_asked_is_kept(file: Path, home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent_adds(home_dir, "one")
    file.write_text("- mine\n")

    def confirmed(*args: Any, **how: Any) -> bool:
        file.write_text("- newer\n")
        return True

    monkeypatch.setattr("click.confirm", confirmed)
    done = said("undo")
    assert done.exit_code == 1
    assert "was changed meanwhile; nothing was taken back" in done.output
    assert file.read_text() == "- newer\n"


def test_without_a_database_that_can_be_written_the_file_changes_all_the_same(file: Path, home_dir: Path) -> None:
    (home_dir / "palmclaw.db").mkdir()
    assert said("add", "Likes tea").output == "Remembered: Likes tea\n"
    assert remembered(file) == ["Likes tea"]


def test_a_gateway_notices_what_was_done_beside_it(file: Path, home_dir: Path) -> None:
    async def beside() -> Sequence[str]:
        database = Database(home_dir / "palmclaw.db")
        memory = KeptMemory(MemoryFile(file), database, Calendar())
        await memory.change([Add("one")], Source(By.AGENT))
        await asyncio.to_thread(said, "add", "two")
        read = page((await memory.read()).text)
        await memory.change([Add("three")], Source(By.AGENT))
        await database.close()
        return [e.text for e in read.entries]

    assert asyncio.run(beside()) == ["one", "two"]
    assert remembered(file) == ["one", "two", "three"]
    assert [by for by, _ in record(home_dir)] == ["agent", "owner", "agent"]
