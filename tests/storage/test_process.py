"""Exactly one process: who holds a home, whether it is still that one, and a signal that reaches nobody else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.core.errors import HomeBusy
from palmclaw.storage.lock import Holder, HomeLock
from palmclaw.storage.process import Gateway, read, start_of, this_process, written
from tests.children import bare

SLEEPER = "import time; print('up', flush=True); time.sleep(600)"
HOLDER = (
    "import sys, time; from pathlib import Path; from palmclaw.storage.lock import HomeLock\n"
    "HomeLock(Path(sys.argv[1])).acquire('serve'); print('held', flush=True); time.sleep(600)"
)


def started(code: str, *arguments: str) -> "subprocess.Popen[bytes]":
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, env=bare())
    assert child.stdout is not None
    child.stdout.readline()
    return child


def ended(child: "subprocess.Popen[bytes]") -> int:
    child.kill()
    code = child.wait()
    assert child.stdout is not None
    child.stdout.close()
    return code


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    found = started(SLEEPER)
    yield found
    ended(found)


def test_word_of_a_gateway_is_kept_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    me = this_process()
    assert (me.pid, me.start, me.is_alive) == (os.getpid(), start_of(os.getpid()), True)
    written(tmp_path / "g", me)
    assert read(tmp_path / "g") == me
    for damaged in (b"", b"\0" * 107, b"{", b"[]", b'{"pid": "x"}', b'{"pid": 1}'):
        (tmp_path / "g").write_bytes(damaged)
        assert read(tmp_path / "g") is None
    assert read(tmp_path / "nothing") is None


def test_a_reused_number_is_another_process(child: "subprocess.Popen[bytes]") -> None:
    start = start_of(child.pid)
    assert start is not None
    real = Gateway(child.pid, start, "", "")
    reused = replace(real, start=start - 1)
    assert (real.is_alive, reused.is_alive) == (True, False)
    reused.kill(signal.SIGKILL)
    assert child.poll() is None
    real.kill(signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM
    real.kill(signal.SIGKILL)
    assert (real.is_alive, start_of(child.pid)) == (False, None)


def test_one_that_has_died_and_is_not_yet_buried_is_dead(child: "subprocess.Popen[bytes]") -> None:
    gateway = Gateway(child.pid, start_of(child.pid) or 0, "", "")
    os.kill(child.pid, signal.SIGKILL)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert Path(f"/proc/{child.pid}").exists()
    assert not gateway.is_alive


def test_where_the_kernel_does_not_say_when_the_number_has_to_do(child: "subprocess.Popen[bytes]") -> None:
    gateway = Gateway(child.pid, 0, "", "")
    assert gateway.is_alive
    gateway.kill(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not gateway.is_alive


@pytest.mark.parametrize("pid", [0, -1, 1, 10**30])
def test_numbers_that_mean_many_processes_or_none_are_nobody(pid: int) -> None:
    gateway = Gateway(pid, 0, "", "")
    assert not gateway.is_alive
    if pid <= 1:
        gateway.kill(signal.SIGTERM)


def test_without_handles_of_processes_the_number_is_used(
    child: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    Gateway(child.pid, start_of(child.pid) or 0, "", "").kill(signal.SIGTERM)
    assert child.wait() == -signal.SIGTERM


def test_who_holds_a_home_can_be_asked_without_taking_it(tmp_path: Path) -> None:
    lock, other = HomeLock(tmp_path / "lock"), HomeLock(tmp_path / "lock")
    assert lock.holder() is None
    assert not (tmp_path / "lock").exists()
    lock.acquire("serve")
    assert other.holder() == Holder(os.getpid(), "serve")
    (tmp_path / "lock").write_text("")
    assert other.holder() == Holder()
    lock.release()
    assert other.holder() is None
    holder = started(HOLDER, str(tmp_path / "lock"))
    assert lock.holder() == Holder(holder.pid, "serve")
    with pytest.raises(HomeBusy, match=rf"process {holder.pid} \(serve\)"):
        lock.acquire("chat")
    assert ended(holder) == -signal.SIGKILL
    assert lock.holder() is None
    lock.acquire("chat")
    lock.release()
