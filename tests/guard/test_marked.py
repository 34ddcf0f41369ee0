"""A mark is there before the file is, and goes only after it; whatever fails or dies between."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from palmclaw.core.errors import ToolError
from palmclaw.core.tools import Access, CheckedPath
from palmclaw.guard.marked import Marked
from palmclaw.guard.marks import Marks
from palmclaw.guard.workspace import Workspace


@dataclass(frozen=True)
class Failing(Workspace):
    """A workspace whose every change dies in the middle."""

    def replace(self, path: CheckedPath, content: bytes) -> None:
        Workspace.replace(self, path, content)
        raise KeyboardInterrupt

    def move(self, source: CheckedPath, target: CheckedPath) -> None:
        Workspace.move(self, source, target)
        raise KeyboardInterrupt


@pytest.fixture
def files(tmp_path: Path) -> Marked:
    for name in ("mine", "card"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("a")
    workspace = Workspace({"session": tmp_path / "mine", "/card": tmp_path / "card"})
    return Marked(workspace, Marks(tmp_path / "marks.json"))


def at(files: Marked, text: str) -> CheckedPath:
    scheme = "/card" if text.startswith("/card") else "session"
    parts = tuple(text.removeprefix("/card").strip("/").split("/"))
    return CheckedPath(scheme, parts, Access.WRITE)


def dying(files: Marked, *, tainted: bool) -> Marked:
    return replace(files, workspace=Failing(files.workspace.roots), tainted=tainted)


def test_a_write_that_dies_leaves_a_marked_file(files: Marked) -> None:
    with pytest.raises(KeyboardInterrupt):
        dying(files, tainted=True).write(at(files, "a.txt"), b"theirs")
    assert files.is_outside(at(files, "a.txt"))
    with pytest.raises(KeyboardInterrupt):
        dying(files, tainted=False).write(at(files, "a.txt"), b"mine")
    assert files.is_outside(at(files, "a.txt"))
    files.write(at(files, "a.txt"), b"mine")
    assert not files.is_outside(at(files, "a.txt"))


def test_a_move_that_dies_leaves_a_marked_file(files: Marked) -> None:
    files.marks.add(files.workspace.real(at(files, "a.txt")))
    with pytest.raises(KeyboardInterrupt):
        dying(files, tainted=False).move(at(files, "a.txt"), at(files, "b.txt"))
    assert files.is_outside(at(files, "b.txt"))
    with pytest.raises(KeyboardInterrupt):
        dying(files, tainted=False).move(at(files, "/card/a.txt"), at(files, "c.txt"))
    assert files.is_outside(at(files, "c.txt"))


def test_a_clean_write_that_fails_washes_nothing(files: Marked) -> None:
    files.marks.add(files.workspace.real(at(files, "d")))
    os.mkdir(files.workspace.real(at(files, "d")))
    with pytest.raises(ToolError):
        files.write(at(files, "d"), b"mine")
    assert files.is_outside(at(files, "d"))


def test_only_a_whole_clean_rewrite_washes(files: Marked) -> None:
    path = at(files, "a.txt")
    replace(files, tainted=True).write(path, b"theirs")
    files.write(path, b"theirs and mine", whole=False)
    assert files.is_outside(path)
    files.write(path, b"theirs", outside=True)
    assert files.is_outside(path)
    files.write(path, b"mine")
    assert not files.is_outside(path)


def test_what_comes_from_outside_or_moves_beside_it_is_marked(files: Marked) -> None:
    assert files.is_outside(at(files, "/card/a.txt"))
    replace(files, tainted=True).move(at(files, "a.txt"), at(files, "b.txt"))
    files.move(at(files, "/card/a.txt"), at(files, "c.txt"))
    assert [files.is_outside(at(files, name)) for name in ("a.txt", "b.txt", "c.txt")] == [False, True, True]
    files.workspace.replace(at(files, "d.txt"), b"mine")
    files.move(at(files, "d.txt"), at(files, "e.txt"))
    assert not files.is_outside(at(files, "e.txt"))


def test_the_trash_keeps_marks(files: Marked, tmp_path: Path) -> None:
    trash = tmp_path / "trash"
    files.workspace.replace(at(files, "d/x.txt"), b"x")
    files.workspace.replace(at(files, "clean.txt"), b"x")
    files.marks.add(files.workspace.real(at(files, "d/x.txt")))
    for name in ("d", "/card/a.txt", "clean.txt"):
        files.discard(at(files, name), trash)
    assert [files.marks.holds(trash / name) for name in ("d/x.txt", "a.txt", "clean.txt")] == [True, True, False]
    assert not files.is_outside(at(files, "d/x.txt"))


def test_a_file_is_marked_in_the_trash_before_it_is_there(files: Marked, tmp_path: Path) -> None:
    files.marks.add(files.workspace.real(at(files, "a.txt")))
    seen: list[bool] = []

    class Watching(Workspace):
        def discard(self, path: CheckedPath, trash: Path, before: object) -> None:
            assert callable(before)
            before(trash / "a.txt")
            seen.append(files.marks.holds(trash / "a.txt"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace(files, workspace=Watching(files.workspace.roots)).discard(at(files, "a.txt"), tmp_path / "trash")
    assert seen == [True]
    assert files.is_outside(at(files, "a.txt"))
