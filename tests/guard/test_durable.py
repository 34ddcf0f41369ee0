"""A file is replaced whole or not at all, and nothing else beside it is touched."""

import fcntl
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from palmclaw.core.errors import StorageError
from palmclaw.guard.durable import arriving, aside, erase, is_unfinished, locked, opened, replaced


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """As if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_a_file_is_replaced_and_its_neighbours_stay(tmp_path: Path) -> None:
    for name in ("notes.new", "notes.tmp", ".notes.jsonl.new"):
        (tmp_path / name).write_text("mine")
    replaced(tmp_path / "notes.jsonl", b"1")
    replaced(tmp_path / "notes.jsonl", b"22")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {
        "notes.jsonl": "22", "notes.new": "mine", "notes.tmp": "mine", ".notes.jsonl.new": "mine",
    }  # fmt: skip
    assert stat.S_IMODE((tmp_path / "notes.jsonl").stat().st_mode) == 0o600


def test_a_file_that_others_could_read_is_private_again(tmp_path: Path) -> None:
    (tmp_path / "key").touch(0o666)
    replaced(tmp_path / "key", b"secret")
    replaced(tmp_path / "log", b"open", 0o640)
    assert [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("key", "log")] == [0o600, 0o640]


def test_a_full_disk_leaves_the_old_file_and_no_piece(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with small_files(10), pytest.raises(StorageError, match=r"cannot write .*/a: File too large") as caught:
        replaced(path, b"x" * 100)
    assert caught.value.hint == "Is the disk full or read-only?"
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a": "old"}


def test_an_interrupt_leaves_no_piece(tmp_path: Path) -> None:
    def interrupted(folder: int) -> None:
        with arriving("a", folder) as unfinished:
            (tmp_path / unfinished).write_text("half")
            raise KeyboardInterrupt

    with opened(tmp_path) as folder, pytest.raises(KeyboardInterrupt):
        interrupted(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="No such file"):
        replaced(tmp_path / "no" / "a", b"")


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    replaced(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "x"
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "real"):
        with pytest.raises(StorageError, match="it is no regular file"):
            replaced(tmp_path / name, b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_many_writers_leave_one_whole_file(tmp_path: Path) -> None:
    contents = [bytes([65 + n]) * 100_000 for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: replaced(tmp_path / "a", content), contents * 4))
    assert (tmp_path / "a").read_bytes() in contents
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    code = (
        "import os, sys; from pathlib import Path; from palmclaw.guard import durable\n"
        "os.rename = lambda *a, **k: os.kill(os.getpid(), 9)\n"
        "durable.replaced(Path(sys.argv[1]), b'new')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "a").read_text() == "old"
    assert [is_unfinished(p.name) for p in sorted(tmp_path.iterdir())] == [True, False]


def test_names_of_pieces_are_their_own() -> None:
    assert aside() != aside()
    assert is_unfinished(aside())
    assert not any(map(is_unfinished, ("a.new", ".palmclaw-.new", f"{aside()}x", f"x{aside()}")))


def test_erasing_takes_everything_and_follows_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "a").touch()
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    (tmp_path / "gone" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    with opened(tmp_path) as folder:
        for name in ("gone", "link", "nothing"):
            erase(name, folder)
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")) == ["kept", "kept/a"]


def test_writers_of_a_file_take_turns(tmp_path: Path) -> None:
    with locked(tmp_path / "a.json"), (tmp_path / "a.lock").open() as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with locked(tmp_path / "a.json"):
        pass
    with pytest.raises(StorageError, match="cannot write"), locked(tmp_path / "none" / "a.json"):
        pass
