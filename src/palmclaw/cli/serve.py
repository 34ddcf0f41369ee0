"""`palmclaw serve`: the gateway as a process, in the foreground or on its own."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import click

from palmclaw import __version__
from palmclaw.cli.gateway_words import CHINESE, ENGLISH
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import StorageError
from palmclaw.core.runtime import Runtime
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.storage.lock import SERVING
from palmclaw.storage.logfile import LogFile, opened

LAST_LINES = 20


@click.command()
@click.option("--background", is_flag=True, help="Detach, and print the process's number once it answers.")
def serve(background: bool) -> None:
    """Keep the agent running: one gateway that the terminal, chat apps and schedules share.

    Ctrl-C ends it: running turns have a few seconds, what waits is taken up at the next start.

    \b
    palmclaw serve --background
    palmclaw status
    palmclaw stop
    """
    words = texts(os.environ, ENGLISH, CHINESE)
    if background:
        sys.exit(asyncio.run(Background(home_of(os.environ), words).start()))
    from palmclaw.app import assembled
    from palmclaw.house import gateway
    from palmclaw.runtime.supervisor import Supervisor

    app = assembled(os.environ)
    asyncio.run(served(app.home, lambda: Supervisor(lambda: gateway(app)).hold(SERVING), words))


class Serving(Runtime, Protocol):
    """The runtime of a gateway. Leaving its context ends it: no new messages, a grace for running turns."""

    async def wait_closed(self) -> None:
        """Until it has ended by itself."""
        ...


async def served(home: Home, gateway: Callable[[], AbstractAsyncContextManager[Serving]], words: Texts) -> None:
    """Run the gateway and its API until a signal, the API or the gateway itself ends it.

    The door closes last, so that whoever listens hears how the last turns end.
    """
    from palmclaw.web.server import Door

    ending = asyncio.Event()
    door = Door(home, ending.set)
    with _logged(home.log), _told_by_signals(ending):
        async with AsyncExitStack() as stack:
            stack.push_async_callback(door.close)
            runtime = await stack.enter_async_context(gateway())
            await door.open(runtime)
            _say(words("serving", version=__version__, home=home.root, pid=os.getpid()))
            for finding in (await runtime.status()).findings:
                _say(words("finding", finding=finding))
            await _first(ending.wait(), runtime.wait_closed())
            _say(words("ending"))
    _say(words("ended"))


def _say(text: str) -> None:
    """To the person, if the terminal is still there."""
    with suppress(OSError):
        click.echo(text, err=True)


async def _first(*ends: Awaitable[object]) -> None:
    """Until one of them is there; its failure is ours."""
    tasks = [asyncio.ensure_future(end) for end in ends]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


@contextmanager
def _told_by_signals(ending: asyncio.Event) -> Iterator[None]:
    """The first signal ends the gateway in good order; the second one at once, which loses nothing that is stored."""

    def told(number: int) -> None:
        if ending.is_set():
            os._exit(128 + number)
        ending.set()

    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, told, number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


@contextmanager
def _logged(path: Path) -> Iterator[None]:
    """What the libraries complain of goes to the log too."""
    log, file = logging.getLogger(), LogFile(path)
    log.addHandler(file)
    try:
        yield
    finally:
        log.removeHandler(file)
        file.close()


@dataclass(frozen=True, slots=True)
class Background:
    """A gateway of its own: no terminal, no parent, its output in the log."""

    home: Home
    words: Texts
    command: Sequence[str] = (sys.executable, "-m", "palmclaw", "serve")
    patience: float = 60.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic

    async def start(self) -> int:
        """Returns the exit code: 0 when it answers."""
        before = self._logged_so_far()
        child = self._spawned()
        until = self.now() + self.patience
        while child.poll() is None and self.now() < until:
            if await self._answers(child.pid):
                click.echo(self.words("background"), err=True)
                click.echo(child.pid)
                return 0
            await self.sleep(0.05)
        if child.poll() is None:
            click.echo(self.words("slow", pid=child.pid, seconds=f"{self.patience:g}"), err=True)
        else:
            click.echo(self.words("not_started"), err=True)
            self._show_why(before)
        return 1

    async def _answers(self, pid: int) -> bool:
        from palmclaw.web.client import attach

        remote = await attach(self.home, 0.0)
        if remote is None:
            return False
        try:
            return (await remote.present()).pid == pid
        finally:
            await remote.close()

    def _spawned(self) -> "subprocess.Popen[bytes]":
        try:
            self.home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            log = opened(self.home.log)
        except OSError as error:
            raise StorageError(
                f"cannot write in {self.home.root}: {error.strerror}", "Choose another home with PALMCLAW_HOME."
            ) from error
        environ = {**os.environ, "PALMCLAW_HOME": str(self.home.root)}
        try:
            return subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environ
            )
        finally:
            os.close(log)

    def _logged_so_far(self) -> int:
        return self.home.log.stat().st_size if self.home.log.exists() else 0

    def _show_why(self, before: int) -> None:
        with self.home.log.open("rb") as log:
            log.seek(before if before <= self._logged_so_far() else 0)
            for line in log.read().decode("utf-8", "replace").splitlines()[-LAST_LINES:]:
                click.echo(line, err=True)
