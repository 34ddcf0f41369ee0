"""The log: bounded, private, and it loses no line when somebody moves it away."""

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palmclaw.storage.logfile import LogFile
from tests.children import bare


@contextmanager
def logging_to(path: Path, limit: int = 1_000) -> Iterator[logging.Logger]:
    log, file = logging.Logger("test"), LogFile(path, limit)
    log.addHandler(file)
    try:
        yield log
    finally:
        file.close()


def said(path: Path) -> list[str]:
    return [line.rpartition(" ")[2] for line in path.read_text("utf-8").splitlines()]


def test_nothing_is_made_before_the_first_line_and_then_it_is_private(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with logging_to(path) as log:
        assert not path.exists()
        log.warning("嗨\udcff")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8").endswith(" WARNING test 嗨\\udcff\n")


def test_it_is_put_aside_when_it_has_grown_and_one_old_one_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with logging_to(path) as log:
        for number in range(200):
            log.warning("%d", number)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log", "log.1"]
    assert sum(p.stat().st_size for p in tmp_path.iterdir()) < 2_200
    kept = [*said(tmp_path / "log.1"), *said(path)]
    assert kept == [str(n) for n in range(200 - len(kept), 200)]


def test_what_another_start_left_is_put_aside_too(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n" * 1_000)
    with logging_to(path) as log:
        log.warning("new")
    assert (said(path), said(tmp_path / "log.1")[:1]) == (["new"], ["old"])


def test_a_log_that_was_moved_or_deleted_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with logging_to(path) as log, logging_to(path) as second:
        log.warning("a")
        second.warning("b")
        path.rename(tmp_path / "moved")
        log.warning("c")
        second.warning("d")
        path.unlink()
        second.warning("e")
    assert (said(tmp_path / "moved"), said(path)) == (["a", "b"], ["e"])


def test_a_disk_that_refuses_costs_the_line_and_not_the_program(tmp_path: Path) -> None:
    path = tmp_path / "there" / "log"
    with logging_to(path) as log:
        log.warning("lost")
        path.parent.mkdir()
        log.warning("kept")
    assert said(path) == ["kept"]


def test_the_programs_own_output_moves_along(tmp_path: Path) -> None:
    code = (
        "import logging, os, sys; from pathlib import Path; from palmclaw.storage.logfile import LogFile\n"
        "log = logging.Logger('x'); log.addHandler(LogFile(Path(sys.argv[1]), 100))\n"
        "os.write(2, b'first ' + b'x' * 100 + b'\\n'); log.warning('moved')\n"
        "os.write(1, b'out\\n'); os.write(2, b'err\\n')"
    )
    path = tmp_path / "log"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    command = [sys.executable, "-c", code, str(path)]
    subprocess.run(command, stdout=descriptor, stderr=descriptor, env=bare(), check=True)
    os.close(descriptor)
    assert [said(tmp_path / "log.1")[0][:1], *said(path)] == ["x", "moved", "out", "err"]
