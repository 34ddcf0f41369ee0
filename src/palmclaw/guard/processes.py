"""Child processes of tools: without a terminal, bounded in time and output, ended as a group and always reaped."""

import asyncio
import errno
import os
import secrets
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from palmclaw.core.errors import ToolError
from palmclaw.core.tools import Service
from palmclaw.core.values import dataclass

GRACE = 2.0
"""Seconds between asking a group to end and killing it."""
MOST = 20
"""Background children that may run at once, and finished ones that stay listed."""
_STEP = 0.02
_MOMENT = 0.1
_CHUNK = 65_536
_SPARE = 1 << 20
"""Bytes that are still read away for whom an ended child left behind; whoever writes more is cut off."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child came out. `code` is negative for a signal, None where it was told to end and takes its time."""

    code: int | None
    output: str
    truncated: bool = False
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Background:
    """A child that outlives the turn which started it; `code` is None while it runs."""

    id: str
    argv: tuple[str, ...]
    code: int | None
    output: str
    truncated: bool = False


@dataclass(slots=True)
class _Output:
    """The beginning and the end of what a child writes, `limit` bytes together."""

    limit: int
    size: int = 0
    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = max(0, self.limit - self.limit // 2 - len(self.head))
        self.head += chunk[:room]
        self.tail += chunk[room:]
        del self.tail[: max(0, len(self.tail) - self.limit // 2)]

    @property
    def left_out(self) -> int:
        return self.size - len(self.head) - len(self.tail)

    @property
    def text(self) -> str:
        if not self.left_out:
            return (self.head + self.tail).decode("utf-8", "replace")
        ends = (part.decode("utf-8", "replace").strip("\ufffd") for part in (self.head, self.tail))
        return f"\n...[{self.left_out} bytes left out]...\n".join(ends)


class _Child:
    """One process, its group and what it writes. `exited` is done when the process itself has been reaped."""

    def __init__(self, argv: Sequence[str], process: asyncio.subprocess.Process, pipe: int, limit: int) -> None:
        self.argv = tuple(argv)
        self.output = _Output(limit)
        self.ending: asyncio.Task[None] | None = None
        self._process = process
        self._pipe = pipe
        self._spare = _SPARE
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(pipe, self._read)
        self.exited = self._loop.create_task(self._exit())

    @property
    def code(self) -> int | None:
        return self.exited.result() if self.exited.done() else None

    def signal(self, number: int) -> bool:
        """Signal the whole group; False when there is nobody in it, or nobody we may signal.

        While anybody is left in a group, no new process gets its number: one that has it is a stranger.
        """
        if self._process.returncode is not None and _exists(self._process.pid):
            return False
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def close_pipe(self) -> None:
        if self._pipe >= 0:
            self._loop.remove_reader(self._pipe)
            os.close(self._pipe)
            self._pipe = -1

    async def _exit(self) -> int:
        code = await self._process.wait()
        for _ in range(_SPARE // _CHUNK):  # what it wrote last, but not for ever what its own children write
            if not self._read():
                break
        return code

    def _read(self) -> bool:
        """Take what is there; False when that is nothing."""
        try:
            chunk = os.read(self._pipe, _CHUNK) if self._pipe >= 0 else b""
        except BlockingIOError:
            return False
        if not self.exited.done():
            self.output.add(chunk)
        else:
            self._spare -= len(chunk)
        if not chunk or self._spare < 0:
            self.close_pipe()
        return bool(chunk)


@dataclass(slots=True)
class Processes:
    """Every child that tools have started and that may still run. `close` ends them all."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _children: set[_Child] = field(default_factory=set)
    _background: dict[str, _Child] = field(default_factory=dict)
    _spawning: set["asyncio.Task[_Child]"] = field(default_factory=set)
    _closed: bool = False

    async def run(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float, limit: int) -> Finished:
        """Run a program until it exits, whoever it leaves behind; after `timeout` its group is ended.

        At most `limit` bytes of output are kept. When the caller is cancelled, so is the group, and nobody waits for
        it here. Raises ToolError when the program cannot be started.
        """
        child = await self._started(argv, cwd, env, limit)
        try:
            in_time = await self._within(child.exited, timeout)
            if not in_time:
                await self._within(self._end(child), _MOMENT)  # its last words
        except asyncio.CancelledError:
            self._end(child)
            raise
        return Finished(child.code, child.output.text, child.output.left_out > 0, not in_time)

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], limit: int = 20_000) -> Background:
        """Run a program in the background: it goes on when the turn ends or is stopped. Raises ToolError."""
        if sum(not child.exited.done() for child in self._background.values()) >= MOST:
            raise ToolError("too_many", f"{MOST} programs run in the background already", hint="Stop one first.")
        child, number = await self._started(argv, cwd, env, limit), secrets.token_hex(3)
        self._background[number] = child
        finished = [n for n, each in self._background.items() if each.exited.done()]
        for old in finished[: max(0, len(finished) - MOST)]:
            del self._background[old]
        return _shown(number, child)

    def listed(self) -> tuple[Background, ...]:
        """The background children, the oldest first, with those that have ended lately."""
        return tuple(_shown(number, child) for number, child in self._background.items())

    async def stop(self, number: str) -> Background:
        """End a background child and its group. Raises ToolError when there is none of that id."""
        if (child := self._background.get(number)) is None:
            raise ToolError("not_found", f"no program {number!r} runs in the background")
        if child in self._children:
            await asyncio.shield(self._end(child))
        return _shown(number, child)

    async def close(self) -> None:
        """End everything that was started here, with whatever that has left behind, and take no more."""
        self._closed = True
        if self._spawning:
            await asyncio.wait(self._spawning)
        endings = [self._end(child) for child in self._children]
        if endings:
            await asyncio.wait(endings, timeout=2 * GRACE)  # a child that hangs in the kernel cannot be waited for

    async def _started(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], limit: int) -> _Child:
        """A child; one that comes to life after its caller was cancelled is ended. Raises ToolError."""
        if self._closed:
            raise ToolError("closing", "PalmClaw is stopping; nothing was started", retryable=True)
        for child in tuple(self._children):
            self._look(child)
        task = asyncio.create_task(self._spawned(argv, cwd, env, limit))
        self._spawning.add(task)
        task.add_done_callback(self._spawning.discard)
        try:
            return await asyncio.shield(task)  # one that comes to life while `close` waits is ended by it
        except asyncio.CancelledError:
            task.add_done_callback(self._unwanted)
            raise

    async def _spawned(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], limit: int) -> _Child:
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        options: dict[str, Any] = {"cwd": cwd, "env": env, "stdin": asyncio.subprocess.DEVNULL}
        options |= {"stdout": theirs, "stderr": theirs, "start_new_session": True}
        try:
            process = await asyncio.create_subprocess_exec(*argv, **options)
        except (OSError, ValueError) as error:
            os.close(ours)
            raise _refused(argv, error) from error
        finally:
            os.close(theirs)
        child = _Child(argv, process, ours, limit)
        self._children.add(child)
        child.exited.add_done_callback(lambda exited: self._look(child))
        return child

    def _unwanted(self, task: "asyncio.Task[_Child]") -> None:
        if not task.cancelled() and task.exception() is None:
            self._end(task.result())

    def _look(self, child: _Child) -> None:
        """Forget a child when it is gone and has left nobody behind."""
        if child.exited.done() and not child.signal(0):
            self._children.discard(child)
            child.close_pipe()

    def _end(self, child: _Child) -> "asyncio.Task[None]":
        """Ask the group to end, now; the rest goes on in a task of its own."""
        if child.ending is None:
            child.signal(signal.SIGTERM)
            child.ending = asyncio.create_task(self._ended(child))
        return child.ending

    async def _ended(self, child: _Child) -> None:
        for _ in range(round(GRACE / _STEP)):
            if not child.signal(0):
                break
            await self.sleep(_STEP)
        else:
            child.signal(signal.SIGKILL)
        await child.exited
        self._children.discard(child)
        child.close_pipe()

    async def _within(self, task: "asyncio.Task[Any]", seconds: float) -> bool:
        timer = asyncio.ensure_future(self.sleep(seconds))
        try:
            await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        return task.done()


PROCESSES: Service[Processes] = Service("processes")


def _shown(number: str, child: _Child) -> Background:
    return Background(number, child.argv, child.code, child.output.text, child.output.left_out > 0)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return True


def _refused(argv: Sequence[str], error: OSError | ValueError) -> ToolError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return ToolError("not_found", f"cannot run {argv[0]}: there is no {error.filename}")
    why = error.strerror if isinstance(error, OSError) else error
    return ToolError("cannot_start", f"cannot run {argv[0]}: {why}")
