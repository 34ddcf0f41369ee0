"""Moves onto another file system: whole, without following links, and never with a loss."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from palmclaw.core.errors import ToolError
from palmclaw.core.tools import Access
from palmclaw.guard.carrying import _copy_file, _copy_folder, carry
from palmclaw.guard.durable import opened
from palmclaw.guard.workspace import Workspace
from tests.guard.test_durable import small_files

MEMORY = Path("/dev/shm")


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system than `tmp_path`."""
    if not MEMORY.is_dir() or MEMORY.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is one file system only")
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


def tree(folder: Path) -> dict[str, str]:
    """Every path below, with what it holds."""
    return {
        p.relative_to(folder).as_posix(): f"-> {os.readlink(p)}" if p.is_symlink() else p.read_text()
        for p in sorted(folder.rglob("*"))
        if p.is_symlink() or p.is_file()
    }


def carried(source: Path, target: Path) -> None:
    with opened(source.parent) as start, opened(target.parent) as end:
        carry(source.name, start, target.name, end)


def test_a_file_keeps_its_mode_and_its_day(tmp_path: Path, other: Path) -> None:
    (other / "photo.jpg").write_bytes(b"x" * 2_500_000)
    os.chmod(other / "photo.jpg", 0o640)
    os.utime(other / "photo.jpg", ns=(10**18, 10**18))
    carried(other / "photo.jpg", tmp_path / "mine.jpg")
    status = (tmp_path / "mine.jpg").stat()
    assert (status.st_size, stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (2_500_000, 0o640, 10**18)
    assert [p.name for p in (*tmp_path.iterdir(), *other.iterdir())] == ["mine.jpg"]


def test_a_folder_goes_with_all_in_it_and_follows_no_link(tmp_path: Path, other: Path) -> None:
    (other / "kept").write_text("kept")
    (other / "d/e").mkdir(parents=True)
    (other / "d/e/a.txt").write_text("a")
    (other / "d/link").symlink_to(other / "kept")
    (other / "d/up").symlink_to(other)
    carried(other / "d", tmp_path / "d")
    assert tree(tmp_path) == {"d/e/a.txt": "a", "d/link": f"-> {other}/kept", "d/up": f"-> {other}"}
    assert tree(other) == {"kept": "kept"}


def test_a_full_disk_leaves_everything_where_it_was(tmp_path: Path, other: Path) -> None:
    (other / "d").mkdir()
    (other / "d/a").write_text("a")
    (other / "d/b").write_text("b" * 100)
    before = tree(other)
    with small_files(10), pytest.raises(OSError, match="too large"):
        carried(other / "d", tmp_path / "d")
    assert (tree(other), list(tmp_path.iterdir())) == (before, [])


def test_a_special_file_is_not_carried_across(tmp_path: Path, other: Path) -> None:
    (other / "d").mkdir()
    os.mkfifo(other / "d/pipe")
    with pytest.raises(OSError, match="special file"):
        carried(other / "d", tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_a_folder_is_carried_as_a_link(tmp_path: Path, other: Path) -> None:
    (other / "kept").mkdir()
    (other / "link").symlink_to(other / "kept")
    carried(other / "link", tmp_path / "link")
    assert tree(tmp_path) == {"link": f"-> {other}/kept"}
    assert (other / "kept").is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not delete")
def test_what_may_not_be_taken_away_is_not_doubled(tmp_path: Path, other: Path) -> None:
    (other / "a").write_text("a")
    os.chmod(tmp_path, 0o777)
    with opened(other) as start, opened(tmp_path) as end:
        os.chmod(other, 0o555)
        os.seteuid(65_534)
        try:
            with pytest.raises(PermissionError):
                carry("a", start, "a", end)
        finally:
            os.seteuid(0)
    assert (tree(other), list(tmp_path.iterdir())) == ({"a": "a"}, [])


def test_what_became_a_link_meanwhile_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/a").write_text("a")
    (tmp_path / "folder").symlink_to(tmp_path / "kept")
    (tmp_path / "file").symlink_to(tmp_path / "kept/a")
    with opened(tmp_path) as handle:
        with pytest.raises(OSError, match="Not a directory"):
            _copy_folder("folder", handle, "new", handle)
        with pytest.raises(OSError, match="symbolic links"):
            _copy_file("file", handle, "new.txt", handle)
    assert "a" not in {p.name for p in (tmp_path / "new").iterdir()}


def test_what_cannot_be_renamed_for_another_reason_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "d/e").mkdir(parents=True)
    (tmp_path / "d/a").write_text("a")
    with pytest.raises(OSError, match="Invalid argument") as caught:
        carried(tmp_path / "d", tmp_path / "d/e/d")
    assert caught.value.errno == errno.EINVAL
    assert tree(tmp_path) == {"d/a": "a"}


def test_on_one_file_system_nothing_is_copied(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    number = (tmp_path / "a").stat().st_ino
    carried(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").stat().st_ino == number
    with pytest.raises(FileNotFoundError):
        carried(tmp_path / "a", tmp_path / "c")


def test_files_of_another_file_system_are_moved_both_ways_and_deleted(tmp_path: Path, other: Path) -> None:
    (tmp_path / "mine").mkdir()
    space = Workspace({"session": tmp_path / "mine", str(other): other})
    for name in ("a", "b"):
        (other / name).write_text(name)

    def path(text: str) -> Path:
        return space.real(space.resolve(text, Access.WRITE))

    space.move(space.resolve(f"{other}/a", Access.WRITE), space.resolve("deep/a", Access.WRITE))
    space.discard(space.resolve(f"{other}/b", Access.WRITE), tmp_path / "trash", lambda place: None)
    assert (path("deep/a").read_text(), (tmp_path / "trash/b").read_text(), list(other.iterdir())) == ("a", "b", [])
    space.move(space.resolve("deep", Access.WRITE), space.resolve(f"{other}/deep", Access.WRITE))
    assert tree(other) == {"deep/a": "a"}
    with pytest.raises(ToolError, match="no space left") as caught, small_files(0):
        space.move(space.resolve(f"{other}/deep", Access.WRITE), space.resolve("x", Access.WRITE))
    assert caught.value.code == "storage_full"
    shutil.rmtree(other / "deep")
