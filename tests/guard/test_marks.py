"""Marks outlive moves, copies, crashes and each other's writers."""

import json
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import StorageError
from palmclaw.guard.marks import Marks


@pytest.fixture
def marks(tmp_path: Path) -> Marks:
    return Marks(tmp_path / "tainted.json")


def stored(marks: Marks) -> list[str]:
    paths: list[str] = json.loads(marks.file.read_text())
    return paths


def test_two_instances_lose_nothing_of_each_other(marks: Marks) -> None:
    other = Marks(marks.file)
    assert not other.holds(Path("/w/a"))
    marks.add(Path("/w/a"))
    other.add(Path("/w/b"))
    assert [m.holds(Path(p)) for m in (marks, other) for p in ("/w/a", "/w/b")] == [True] * 4
    marks.remove(Path("/w/b"))
    assert not other.holds(Path("/w/b"))
    assert stored(marks) == ["/w/a"]


def test_many_writers_lose_nothing(marks: Marks) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: (marks if n % 2 else Marks(marks.file)).add(Path(f"/w/{n}")), range(40)))
    assert stored(marks) == sorted(f"/w/{n}" for n in range(40))


def add_all(file: Path, start: int) -> None:
    for number in range(start, start + 20):
        Marks(file).add(Path(f"/w/{number}"))


def test_many_processes_lose_nothing(marks: Marks) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=add_all, args=(marks.file, start)) for start in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(stored(marks)) == 40


def test_they_are_the_owners_alone(marks: Marks) -> None:
    marks.add(Path("/w/a"))
    modes = [stat.S_IMODE(p.stat().st_mode) for p in marks.file.parent.iterdir()]
    assert modes == [0o600, 0o600]


def test_nothing_is_written_when_nothing_changes(marks: Marks) -> None:
    marks.remove(Path("/w/a"))
    assert not marks.file.exists()
    marks.add(Path("/w/a"))
    before = marks.file.stat().st_ino
    marks.add(Path("/w/a"))
    assert marks.file.stat().st_ino == before


def test_marks_go_with_what_is_moved(marks: Marks) -> None:
    for path in ("/w/d/a", "/w/d/e/b", "/w/other", "/w/dd"):
        marks.add(Path(path))
    with marks.moving(Path("/w/d"), Path("/s/new")):
        assert marks.holds(Path("/w/d/a"))
        assert marks.holds(Path("/s/new/a"))
    assert stored(marks) == ["/s/new/a", "/s/new/e/b", "/w/dd", "/w/other"]


def test_what_lies_in_a_marked_folder_takes_the_mark_along(marks: Marks) -> None:
    marks.add(Path("/w/d"))
    with marks.moving(Path("/w/d/a"), Path("/w/a")):
        pass
    assert stored(marks) == ["/w/a", "/w/d"]


def test_a_move_that_fails_washes_nothing(marks: Marks) -> None:
    marks.add(Path("/w/a"))
    with pytest.raises(OSError, match="full"), marks.moving(Path("/w/a"), Path("/w/b")):
        raise OSError("full")
    assert marks.holds(Path("/w/a"))


def test_what_is_gone_is_forgotten_with_all_below_it(marks: Marks) -> None:
    for path in ("/w/d", "/w/d/a", "/w/da"):
        marks.add(Path(path))
    marks.remove(Path("/w/d"))
    assert stored(marks) == ["/w/da"]


@pytest.mark.parametrize("content", [b"", b"{", b"5", b"\xff"])
def test_a_damaged_file_ends_the_turn_and_stays(marks: Marks, content: bytes) -> None:
    marks.file.write_bytes(content)
    for act in (marks.holds, marks.add):
        with pytest.raises(StorageError, match="is damaged") as caught:
            act(Path("/w/a"))
        assert "Delete it if you trust" in caught.value.hint
    assert marks.file.read_bytes() == content


def test_a_place_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="cannot read"):
        Marks(tmp_path / "folder").holds(Path("/w"))
    with pytest.raises(StorageError, match="cannot write"):
        Marks(tmp_path / "nowhere" / "marks.json").add(Path("/w"))
    assert os.listdir(tmp_path) == ["folder"]


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(lambda names: Path("/w", *names))


@given(marked=st.sets(PATHS, max_size=6), old=PATHS, inner=st.lists(st.sampled_from("abc"), max_size=3))
def test_no_move_washes_a_file(
    tmp_path_factory: pytest.TempPathFactory, marked: set[Path], old: Path, inner: list[str]
) -> None:
    file = tmp_path_factory.mktemp("marks") / "marks.json"
    file.write_text(json.dumps([str(p) for p in marked]))
    marks = Marks(file)
    before = marks.holds(old.joinpath(*inner))
    with marks.moving(old, Path("/s/new")):
        pass
    assert marks.holds(Path("/s/new").joinpath(*inner)) == before
    assert not any(p.is_relative_to(old) for p in map(Path, stored(marks)))
