"""Child processes: real ones, with children of their own, that obey, that do not, and that write without end."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from palmclaw.core.errors import ToolError
from palmclaw.guard import processes
from palmclaw.guard.processes import MOST, Background, Finished, Processes

ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
STUBBORN = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"


async def quick(seconds: float) -> None:
    """Time that runs ten times as fast."""
    await asyncio.sleep(seconds / 10)


@dataclass
class Shell:
    processes: Processes
    folder: Path

    async def run(self, script: str, timeout: float = 30, limit: int = 10_000) -> Finished:
        return await self.processes.run(["sh", "-c", script], self.folder, ENV, timeout, limit)

    async def start(self, script: str) -> Background:
        return await self.processes.start(["sh", "-c", script], self.folder, ENV)

    async def written(self, name: str) -> int:
        """The process id in a file that a script has written, or is about to."""
        path = self.folder / name
        while not (path.exists() and path.read_text().strip()):
            await asyncio.sleep(0.005)
        return int(path.read_text())

    def is_forgotten(self) -> bool:
        return not self.processes._children


@pytest.fixture
async def shell(tmp_path: Path) -> AsyncIterator[Shell]:
    made = Shell(Processes(quick), tmp_path)
    yield made
    await made.processes.close()
    assert made.is_forgotten()


def lives(pid: int) -> bool:
    """Whether a process runs; a dead one that nobody has reaped yet does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


async def dies(pid: int) -> None:
    while lives(pid):
        await asyncio.sleep(0.005)


async def test_output_code_folder_and_environment(shell: Shell) -> None:
    told = await shell.run("echo out; echo err >&2; pwd; echo $PATH; env | wc -l; exit 3")
    lines = told.output.splitlines()
    assert (told.code, told.truncated, told.timed_out) == (3, False, False)
    assert lines[:4] == ["out", "err", str(shell.folder), ENV["PATH"]]
    assert await shell.run("kill -9 $$") == Finished(-9, "")
    assert await shell.run("printf '\\303\\244\\377'") == Finished(0, "ä\ufffd")


@pytest.mark.parametrize("program", ["cat", f"{sys.executable} -c 'input()'", "exec </dev/tty; cat", "read line"])
async def test_f060_a_program_that_wants_to_be_typed_to_ends_at_once(shell: Shell, program: str) -> None:
    told = await shell.run(program)
    assert not told.timed_out
    assert (told.code == 0) == (program == "cat")


@pytest.mark.parametrize("rest", ["", " >/dev/null 2>&1"])
async def test_f061_a_child_left_behind_does_not_keep_anybody_waiting(shell: Shell, rest: str) -> None:
    told = await shell.run(f"sleep 300{rest} & echo $! > pid; echo started")
    assert told == Finished(0, "started\n")
    left = await shell.written("pid")
    assert lives(left)
    await shell.processes.close()
    await dies(left)


@pytest.mark.parametrize("rest", ["", " >/dev/null 2>&1"])
async def test_what_was_left_behind_is_forgotten_when_it_has_ended(shell: Shell, rest: str) -> None:
    await shell.run(f"sleep 0.2{rest} & echo $! > pid")
    assert not shell.is_forgotten()
    await dies(await shell.written("pid"))
    while not shell.is_forgotten():
        await shell.run("true")


async def test_a_child_left_behind_may_write_a_while_and_is_then_cut_off(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_SPARE", 200_000)
    script = "i=0; while [ $i -lt 5 ]; do echo more; i=$((i+1)); sleep 0.01; done; echo fine > wrote; exec yes"
    told = await shell.run(f"({script}) & echo $! > pid; echo started")
    assert told.output.startswith("started\n") or told.output.startswith("more")
    await dies(await shell.written("pid"))
    assert (shell.folder / "wrote").read_text() == "fine\n"


async def test_a_flood_from_a_child_left_behind_keeps_nobody_waiting(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_CHUNK", 10)  # slower than it writes
    monkeypatch.setattr(processes, "_SPARE", 30)
    told = await shell.run("yes & echo $! > pid; sleep 0.1", limit=100)
    assert (told.code, told.timed_out) == (0, False)
    await dies(await shell.written("pid"))


async def test_output_is_bounded_and_keeps_both_ends(shell: Shell) -> None:
    told = await shell.run("echo first; yes | head -c 1000000; echo last", limit=100)
    assert told.truncated
    assert told.output.startswith("first\ny\n")
    assert told.output.endswith("y\nlast\n")
    assert "\n...[999911 bytes left out]...\n" in told.output
    cut = await shell.run("i=0; while [ $i -lt 50 ]; do printf '\\303\\244'; i=$((i+1)); done", limit=10)
    assert cut.output == "ää\n...[90 bytes left out]...\nää"
    assert await shell.run("printf 12345", limit=5) == Finished(0, "12345")


async def test_a_timeout_ends_the_whole_group(shell: Shell) -> None:
    told = await shell.run("echo begun; sleep 300 & echo $! > pid; wait", timeout=2)
    assert told == Finished(-15, "begun\n", timed_out=True)
    await dies(await shell.written("pid"))


async def test_a_timeout_says_what_it_heard_though_the_child_does_not_end(shell: Shell) -> None:
    told = await shell.run(f"echo begun; {STUBBORN}", timeout=2)
    assert told == Finished(None, "begun\n", timed_out=True)
    await dies(await shell.written("pid"))


async def test_a_cancelled_caller_does_not_wait_and_the_stubborn_are_killed(tmp_path: Path) -> None:
    clock: list[asyncio.Event] = []

    async def stopped(seconds: float) -> None:
        clock.append(asyncio.Event())
        await clock[-1].wait()

    made = Shell(Processes(stopped), tmp_path)
    task = asyncio.create_task(made.run(f"sh -c '{STUBBORN.replace(chr(39), chr(34))}'; true"))
    child = await made.written("pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert lives(child)  # time stands still, and the caller has gone all the same

    async def runs(seconds: float) -> None:
        await asyncio.sleep(0)

    made.processes.sleep = runs
    for event in clock:
        event.set()
    await dies(child)
    await made.processes.close()
    assert made.is_forgotten()


async def test_the_obedient_are_not_killed(shell: Shell) -> None:
    script = "trap 'echo bye > said; exit 0' TERM; echo $$ > pid; while :; do sleep 0.01; done"
    task = asyncio.create_task(shell.run(script))
    child = await shell.written("pid")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await dies(child)
    assert (shell.folder / "said").read_text() == "bye\n"


async def test_a_cancellation_while_a_child_comes_to_life_leaves_none(shell: Shell) -> None:
    task = asyncio.create_task(shell.run("echo $$ > pid; exec sleep 300"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await shell.processes.close()
    assert shell.is_forgotten()
    path = shell.folder / "pid"
    assert not (path.exists() and path.read_text() and lives(int(path.read_text())))


async def test_a_cancellation_while_a_program_is_not_found(shell: Shell) -> None:
    task = asyncio.create_task(shell.processes.run(["no-such-program"], shell.folder, ENV, 5, 100))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    while shell.processes._spawning:
        await asyncio.sleep(0)


async def test_a_program_that_is_not_there(shell: Shell) -> None:
    wrong = [
        ((["no-such-program"], shell.folder), "not_found", "cannot run no-such-program: there is no no-such-program"),
        ((["true"], shell.folder / "no"), "not_found", f"cannot run true: there is no {shell.folder / 'no'}"),
        (([str(shell.folder)], shell.folder), "cannot_start", f"cannot run {shell.folder}: Permission denied"),
        ((["tr\0ue"], shell.folder), "cannot_start", "cannot run tr\0ue: embedded null byte"),
    ]
    for (argv, cwd), code, text in wrong:
        with pytest.raises(ToolError) as error:
            await shell.processes.run(argv, cwd, ENV, 5, 100)
        assert (error.value.code, str(error.value)) == (code, text)
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ToolError):
        await shell.processes.start(["no-such-program"], shell.folder, ENV)
    assert len(os.listdir("/proc/self/fd")) == descriptors


async def test_a_background_child_is_listed_and_stopped(shell: Shell) -> None:
    started = await shell.start("echo hello; sleep 300 & echo $! > pid; wait")
    assert started == Background(started.id, ("sh", "-c", started.argv[2]), None, started.output)
    inner = await shell.written("pid")
    while not shell.processes.listed()[0].output:
        await asyncio.sleep(0.005)
    assert shell.processes.listed() == (Background(started.id, started.argv, None, "hello\n"),)
    stopped = await shell.processes.stop(started.id)
    assert stopped == Background(started.id, started.argv, -15, "hello\n")
    assert await shell.processes.stop(started.id) == stopped
    assert shell.processes.listed() == (stopped,)
    await dies(inner)
    with pytest.raises(ToolError, match="no program 'zz' runs in the background"):
        await shell.processes.stop("zz")


async def test_background_children_are_few_and_the_finished_are_forgotten(shell: Shell) -> None:
    for _ in range(MOST):
        await shell.start("exec sleep 300")
    with pytest.raises(ToolError, match=f"{MOST} programs run in the background already"):
        await shell.start("true")
    for each in shell.processes.listed():
        await shell.processes.stop(each.id)
    for _ in range(3):
        last = await shell.start("true")
        while shell.processes.listed()[-1].code is None:
            await asyncio.sleep(0.005)
    assert len(shell.processes.listed()) == MOST + 1
    assert shell.processes.listed()[-1] == Background(last.id, ("sh", "-c", "true"), 0, "")


async def test_nothing_outlives_the_end_and_nothing_is_started_after_it(shell: Shell) -> None:
    await shell.start(STUBBORN)
    stubborn = await shell.written("pid")
    running = asyncio.create_task(shell.run("echo $$ > other; exec sleep 300"))
    other = await shell.written("other")
    born = asyncio.create_task(shell.run("echo $$ > third; exec sleep 300"))
    await asyncio.sleep(0)
    await shell.processes.close()
    assert (lives(stubborn), lives(other)) == (False, False)
    assert [await running, await born] == [Finished(-15, ""), Finished(-15, "")]  # it was started, and is not denied
    with pytest.raises(ToolError, match="PalmClaw is stopping; nothing was started"):
        await shell.run("true")


async def test_a_parent_whose_threads_are_all_busy_still_runs_and_ends_children(shell: Shell) -> None:
    """Threads that sit in C code, also those of the loop's own pool, are not needed here."""
    free = threading.Event()
    loop = asyncio.get_running_loop()
    busy = [loop.run_in_executor(None, free.wait) for _ in range(64)]
    try:
        assert await shell.run("echo fine") == Finished(0, "fine\n")
        task = asyncio.create_task(shell.run("echo $$ > pid; exec sleep 300"))
        child = await shell.written("pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await dies(child)
    finally:
        free.set()
        await asyncio.gather(*busy)


async def test_a_number_that_belongs_to_a_stranger_by_now_is_not_signalled(shell: Shell) -> None:
    await shell.run("sleep 300 & echo $! > pid")
    left = await shell.written("pid")
    (child,) = shell.processes._children
    number = child._process.pid
    assert child.signal(0)  # its own child is still in the group
    stranger = await asyncio.create_subprocess_exec("sleep", "300", start_new_session=True)
    child._process.pid = stranger.pid  # as if the kernel had given the number out again
    assert not child.signal(15)
    assert lives(stranger.pid)
    child._process.pid = number
    stranger.kill()
    await stranger.wait()
    await shell.processes.close()
    await dies(left)
