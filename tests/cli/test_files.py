"""Files through the whole program: what the owner opens, exports, deletes and takes back."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from palmclaw.app import assembled
from palmclaw.core.errors import ConfigError, StorageError
from palmclaw.guard.durable import aside
from palmclaw.guard.marks import Marks
from palmclaw.paths import Home
from tests.cli.test_commands import run


@pytest.fixture(autouse=True)
def home(home_dir: Path) -> Home:
    home_dir.mkdir()
    return Home(home_dir)


def script(home: Home, *calls: tuple[str, dict[str, Any]], files: str = "") -> None:
    """The agent makes these calls one after the other."""
    steps = [{"calls": [{"name": name, "arguments": arguments}]} for name, arguments in calls]
    (home.root / "script.json").write_text(json.dumps({"steps": [*steps, {"text": "done"}]}))
    table = f'[provider]\nname = "scripted"\nscript = "{home.root / "script.json"}"\n'
    home.config.write_text(table + files)


def results() -> list[dict[str, Any]]:
    told = json.loads(run("sessions", "show", "--json").stdout)
    return [part for m in told if m["role"] == "tool" for part in m["parts"]]


def test_an_opened_folder_that_holds_the_home_does_not_open_the_home(home: Home, tmp_path: Path) -> None:
    run("config", "set", "provider.api_key", "sk-test-1234567890")
    (tmp_path / "note.txt").write_text("seen")
    script(
        home,
        ("file_read", {"path": str(home.secrets)}),
        ("file_read", {"path": str(home.database)}),
        ("file_list", {"path": f"{home.root}/workspaces"}),
        ("file_list", {"path": str(tmp_path), "recursive": True}),
        ("file_search", {"path": str(tmp_path), "query": "sk-test"}),
        ("file_delete", {"path": str(tmp_path), "recursive": True}),
        files=f'[files]\noutside = ["{tmp_path}"]\n',
    )
    run("chat", "--approve", "always", "look around")
    told = [r["content"] for r in results()]
    assert ["out_of_bounds" in content for content in told] == [True, True, True, False, False, True]
    assert "note.txt" in told[3]
    assert "secrets.toml" not in told[3]
    assert "1234567890" not in "".join(told)
    assert home.secrets.exists()


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("relative", "relative is no absolute path"),
        ("shared", "shared is no absolute path"),
        ("{tmp}/nowhere", "there is no folder"),
        ("{tmp}/file", "there is no folder"),
        ("{tmp}/home", "is the agent's own folder"),
        ("{tmp}/home/workspaces", "is the agent's own folder"),
        ("{tmp}/alias/workspaces", "is the agent's own folder"),
    ],
)
def test_a_folder_that_cannot_be_opened_is_named(home: Home, tmp_path: Path, named: str, problem: str) -> None:
    (tmp_path / "file").touch()
    (home.root / "workspaces").mkdir()
    (tmp_path / "alias").symlink_to(home.root)
    text = named.format(tmp=tmp_path)
    with pytest.raises(ConfigError, match=problem) as caught:
        run("config", "set", "files.outside", text)
    assert (caught.value.key, home.config.exists()) == ("files.outside", False)
    home.config.write_text(f'[files]\noutside = ["{text}"]\n')
    with pytest.raises(ConfigError, match=problem):
        assembled(os.environ)
    run("config", "set", "provider.model", "x")
    run("config", "unset", "files.outside")
    assert assembled(os.environ).outside == {}


def test_a_folder_of_the_owners_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "papers").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    run("config", "set", "files.outside", "~/papers")
    app = assembled(os.environ)
    assert app.outside == {f"{tmp_path}/papers": tmp_path / "papers"}
    assert app.workspace("main").hidden == (app.home.root,)


def test_an_export_leaves_its_neighbours_alone(tmp_path: Path) -> None:
    run("chat", "turn the torch on")
    (tmp_path / "notes.new").write_text("precious")
    (tmp_path / "notes.jsonl").write_text("old")
    run("sessions", "export", "-o", str(tmp_path / "notes.jsonl"))
    assert (tmp_path / "notes.new").read_text() == "precious"
    assert len((tmp_path / "notes.jsonl").read_text().splitlines()) == 4
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="no regular file"):
        run("sessions", "export", "-o", str(tmp_path / "pipe"))


def test_settings_leave_their_neighbours_alone(home: Home) -> None:
    (home.root / "config.new").write_text("mine")
    run("config", "set", "provider.model", "x")
    assert (home.root / "config.new").read_text() == "mine"


def test_taking_a_file_back_does_not_wash_it(home: Home, tmp_path: Path) -> None:
    marks = Marks(home.marks)
    home.trash.mkdir()
    for name in ("theirs.txt", "mine.txt", aside()):
        (home.trash / name).write_text(name)
    marks.add(home.trash / "theirs.txt")
    assert run("trash", "list").stdout.split() == ["mine.txt", "theirs.txt"]
    (tmp_path / "alias").symlink_to(tmp_path)
    for name in ("theirs.txt", "mine.txt"):
        run("trash", "restore", name, str(tmp_path / "alias"))
    assert [marks.holds(tmp_path / name) for name in ("theirs.txt", "mine.txt")] == [True, False]
    assert not marks.holds(home.trash / "theirs.txt")


def test_a_place_that_cannot_be_restored_to(home: Home, tmp_path: Path) -> None:
    home.trash.mkdir()
    (home.trash / "a").write_text("a")
    assert "cannot restore to" in run("trash", "restore", "a", str(tmp_path / "no/a"), fails=True).output
    assert (home.trash / "a").read_text() == "a"


def test_what_is_deleted_for_good_is_forgotten(home: Home) -> None:
    run("trash", "empty", "--yes")
    home.trash.mkdir()
    (home.trash / "a").touch()
    Marks(home.marks).add(home.trash / "a")
    run("trash", "empty", "--yes")
    assert json.loads(home.marks.read_text()) == []


def test_a_long_file_is_read_on_through_the_gate(home: Home) -> None:
    folder = home.workspace("main")
    folder.mkdir(parents=True)
    (folder / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 2_001)))
    script(home, ("file_read", {"path": "long.txt", "max_lines": 5_000}))
    run("chat", "read it")
    (result,) = results()
    assert "[truncated]" not in result["content"]
    value = json.loads(result["content"])
    assert value["text"].endswith(f"line {value['next_line'] - 1}\n")
    assert len(result["content"]) > 4_900


def test_turns_share_their_marks(home: Home) -> None:
    """A file that one turn wrote beside outside content taints a later turn of another conversation."""
    script(
        home,
        ("sms_list", {}),
        ("file_write", {"path": "shared://note.txt", "text": "what somebody wrote"}),
    )
    run("chat", "--approve", "always", "note my messages")
    assert Marks(home.marks).holds(home.shared / "note.txt")
    script(home, ("file_read", {"path": "shared://note.txt"}))
    run("chat", "--session", "other", "read it")
    told = json.loads(run("sessions", "show", "other", "--json").stdout)
    assert [m.get("tainted", False) for m in told if m["role"] == "tool"] == [True]
