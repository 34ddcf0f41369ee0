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
from pathlib import Path
from typing import Protocol

import click

from palmclaw import __version__
from palmclaw.cli.diary import Diary
from palmclaw.cli.holding import serving
from palmclaw.cli.pages import Page
from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import StorageError
from palmclaw.core.runtime import Runtime
from palmclaw.core.values import dataclass
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.storage.lock import SERVING
from palmclaw.storage.logfile import LogFile, opened

LAST_LINES = 20


@click.command(cls=Page)
@click.option("--background", is_flag=True, help="Detach, and print the process's number once it answers.")
def serve(background: bool) -> None:
    """Keep the agent running: one gateway that the terminal, chat apps and schedules share.

    Ctrl-C ends it: running turns have a few seconds, what waits is taken up at the next start.

    Where one runs already, nothing is started twice: with --background that is well (exit code 0, and its number is
    printed), so a start script may call it again and again; without, it is an error (1).

    \b
    palmclaw serve --background
    palmclaw status
    palmclaw stop
    """
    home, words = home_of(os.environ), texts(os.environ)
    if background:
        sys.exit(asyncio.run(Background(home, words).start()))
    if (there := serving(home)) is not None:
        click.echo(there.said(words), err=True)
        sys.exit(1)
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

    ending, diary = asyncio.Event(), Diary()
    door = Door(home, ending.set)
    with _logged(home.log, diary.log), _told_by_signals(ending):
        async with AsyncExitStack() as stack:
            stack.push_async_callback(door.close)
            stack.push_async_callback(diary.close)
            runtime = await stack.enter_async_context(gateway())
            await door.open(runtime)
            diary.open(runtime)
            diary.log.info("gateway %s: serves, process %d", __version__, os.getpid())
            _say(words("serving", version=__version__, home=home.root, pid=os.getpid()), home.log)
            for finding in (await runtime.status()).findings:
                diary.log.warning("start: %s", finding)
                _say(words("finding", finding=words.told(finding)), home.log)
            await _first(ending.wait(), runtime.wait_closed())
            diary.log.info("gateway %s: ending", __version__)
            _say(words("ending"), home.log)
        diary.log.info("gateway %s: ended", __version__)
    _say(words("ended"), home.log)


def _say(text: str, log: Path) -> None:
    """To the person, if there is a terminal: what goes to the log anyway stands there already, with its time."""
    with suppress(OSError):
        if not (log.exists() and os.path.samestat(os.fstat(2), log.stat())):
            is_seen = sys.stderr.isatty()
            click.echo("\n".join(map(wrapped, text.split("\n"))) if is_seen else text, err=True)


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
def _logged(path: Path, diary: logging.Logger) -> Iterator[None]:
    """What the libraries complain of goes to the log too, and what happens."""
    log, file = logging.getLogger(), LogFile(path)
    log.addHandler(file)
    diary.setLevel(logging.INFO)
    try:
        yield
    finally:
        diary.setLevel(logging.NOTSET)
        log.removeHandler(file)
        file.close()


@dataclass(frozen=True, slots=True)
class Background:
    """A gateway of its own: no terminal, no parent, its output in the log."""

    home: Home
    words: Texts
    command: Sequence[str] = (sys.executable, "-m", "palmclaw", "serve")
    patience: float = 60.0
    patience_with_others: float = 10.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic

    async def start(self) -> int:
        """Returns the exit code: 0 when a gateway answers, also one that was there before."""
        if serving(self.home) is not None:
            return await self._already()
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
        elif serving(self.home) is not None:  # another one was quicker
            return await self._already()
        else:
            click.echo(self.words("not_started"), err=True)
            self._show_why(before)
        return 1

    async def _already(self) -> int:
        """Tell of the gateway that has the home: 0 when it answers, if need be after it has come up."""
        until = self.now() + self.patience_with_others
        while (there := serving(self.home)) is not None:
            if there.pid and await self._answers(there.pid):
                click.echo(there.said(self.words), err=True)
                if there.version not in ("", __version__):
                    click.echo(self.words("runs_other", theirs=there.version, ours=__version__), err=True)
                click.echo(there.pid)
                return 0
            if self.now() >= until:
                click.echo(self.words("silent", pid=there.pid, home=self.home.root), err=True)
                return 1
            await self.sleep(0.05)
        return await self.start()

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
