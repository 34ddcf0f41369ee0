"""Two hundred conversations with one gateway: what that takes, whether anything is lost, and how long people wait.

    .venv/bin/python bench/load.py
    .venv/bin/python bench/load.py --seconds 10 --sessions 40 --here --json

Ends with 1 when a message was lost or doubled, or a goal was missed. See README.md in this folder.
"""

import argparse
import asyncio
import json
import os
import platform
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the platform and the model are those of the tests

from tests.crash.checks import violations  # noqa: E402
from tests.crash.evidence import Evidence  # noqa: E402
from tests.crash.home import EXTENSION  # noqa: E402
from tests.crash.platform import OWNER, ChatPlatform  # noqa: E402
from tests.crash.talk import Said  # noqa: E402

from installs import palmclaw as installed  # noqa: E402
from palmclaw.core.traffic import Inbound  # noqa: E402
from palmclaw.paths import Home  # noqa: E402
from palmclaw.web.client import RemoteRuntime, attach  # noqa: E402
from run import Row, table  # noqa: E402

CONFIG = """
[provider]
name = "crashmodel"
least = {least}
pause = {pause}

[limits]
turns = {slots}

[channels.post]
kind = "post"
url = "{url}"
owners = ["{owner}"]
"""
OPEN = (
    "SELECT count(*) FROM inbox WHERE state IN ('waiting', 'summarized')",
    "SELECT count(*) FROM turn WHERE state='running'",
    "SELECT count(*) FROM outbox WHERE state IN ('waiting', 'sending')",
)
WAITS = """
SELECT (julianday(t.started) - julianday(i.received)) * 86400 FROM inbox i JOIN turn t ON t.id = i.turn
WHERE i.state IN ('started', 'merged')
"""


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked of the gateway. Everybody speaks once in a `period`, one in ten a second time soon after."""

    seconds: float = 120.0
    sessions: int = 200
    slots: int = 16
    least: float = 1.0
    pause: float = 3.0
    deaf: int = 4
    slow: int = 8

    @property
    def period(self) -> float:
        """A little more than all of them take, one after the other in all slots."""
        return 1.15 * self.sessions * (self.least + self.pause) / 2 / self.slots


@dataclass(slots=True)
class Figures:
    """Megabytes and seconds; `settled` is when the memory was small again after the last turn, None: it never was."""

    idle: float = 0.0
    peak: float = 0.0
    after: float = 0.0
    settled: float | None = None
    messages: int = 0
    steered: int = 0
    waits: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Crowd:
    """Everybody who talks: half of them in the chat platform, half through the local API."""

    load: Load
    platform: ChatPlatform
    runtime: RemoteRuntime
    chance: Random
    said: list[Said] = field(default_factory=list)
    count: int = 0

    async def speak(self) -> None:
        """In bursts, until the time is over; nobody begins what could not be answered any more."""
        until = time.monotonic() + self.load.seconds
        while time.monotonic() < until:
            next_burst = time.monotonic() + self.load.period
            await asyncio.gather(*(self._one(number) for number in range(self.load.sessions)))
            await asyncio.sleep(max(0.0, min(next_burst, until) - time.monotonic()))

    async def _one(self, number: int) -> None:
        await asyncio.sleep(self.chance.uniform(0, 1))
        await self._say(number)
        if self.chance.random() < 0.1:
            await asyncio.sleep(self.chance.uniform(0, 3))
            await self._say(number)

    async def _say(self, number: int) -> None:
        self.count += 1
        name = f"m{self.count}"
        if number % 2:
            await self.platform.writes("post", f"chat{number}", f"{name}: say")
            return
        await self.runtime.take(Inbound(f"session{number}", f"{name}: say", external_id=name))
        self.said.append(Said(name, f"session{number}", "", name))


async def measured(load: Load, python: Path, folder: Path) -> Figures:
    """Start a gateway, let the crowd at it, and look at what is left."""
    chance, figures = Random(1), Figures()
    async with ChatPlatform(chance, troubles=0.0) as chats:
        home = Home(folder / "home")
        home.root.mkdir(parents=True)
        of = {"least": load.least, "pause": load.pause, "slots": load.slots}
        home.config.write_text(CONFIG.format(url=chats.url, owner=OWNER, **of))
        async with serving(python, home) as process, remote(home) as runtime:
            await asyncio.sleep(3)
            figures.idle = resident(process.pid)
            crowd = Crowd(load, chats, runtime, chance)
            listeners = [asyncio.create_task(listen(home, 0.0)) for _ in range(load.deaf)]
            listeners += [asyncio.create_task(listen(home, 0.2)) for _ in range(load.slow)]
            await crowd.speak()
            await rested(home, chats)
            figures.settled = await settled(process.pid, figures.idle * 1.2)
            figures.after, figures.peak = resident(process.pid), resident(process.pid, "VmHWM")
            for listener in listeners:
                listener.cancel()
            await asyncio.wait(listeners)
        evidence = Evidence(home.database, (), chats, tuple(crowd.said))
        figures.wrong = violations(evidence)
        figures.messages = crowd.count
        if (kept := sum(bool(t.id) for t in evidence.inbox)) != crowd.count:
            figures.wrong.append(f"{crowd.count} messages were said, and {kept} are there")
        figures.steered = sum(t.state == "steered" for t in evidence.inbox)
        with closing(sqlite3.connect(home.database)) as connection:
            figures.waits = [row[0] for row in connection.execute(WAITS)]
    return figures


@asynccontextmanager
async def serving(python: Path, home: Home, *, extended: bool = True) -> AsyncIterator[asyncio.subprocess.Process]:
    """`palmclaw serve`, perhaps with the extension of the tests, ended in good order."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PALMCLAW_", "PYTHON", "COVERAGE"))}
    environ = kept | {"PALMCLAW_HOME": str(home.root)}
    if extended:
        environ["PYTHONPATH"] = f"{EXTENSION}{os.pathsep}{ROOT}"
    with (home.root / "said").open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            str(python), "-m", "palmclaw", "serve", env=environ, cwd=home.root, stderr=said
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 20)
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def remote(home: Home) -> AsyncIterator[RemoteRuntime]:
    """The gateway's API, once it answers."""
    until = time.monotonic() + 30
    while (runtime := await attach(home)) is None:
        if time.monotonic() > until:
            raise SystemExit(f"the gateway did not start:\n{(home.root / 'said').read_text()}")
        await asyncio.sleep(0.05)
    try:
        yield runtime
    finally:
        await runtime.close()


async def listen(home: Home, every: float) -> None:
    """Somebody who follows everything and reads a little at times; 0: never again after the first words."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        await loop.sock_connect(connection, str(home.socket))
        await loop.sock_sendall(connection, b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await loop.sock_recv(connection, 200)
        if not every:
            await asyncio.Event().wait()
        while await loop.sock_recv(connection, 512):  # noqa: ASYNC110  # a slow reader, not a wait
            await asyncio.sleep(every)


async def rested(home: Home, chats: ChatPlatform, patience: float = 180.0) -> None:
    """Until nothing waits, runs or is to be sent."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        with closing(sqlite3.connect(f"file:{home.database}?mode=ro", uri=True)) as connection:
            if not chats.unread("post") and not any(connection.execute(q).fetchone()[0] for q in OPEN):
                return
        await asyncio.sleep(0.2)


async def settled(pid: int, megabytes: float, patience: float = 60.0) -> float | None:
    """Seconds until the process holds no more than that."""
    began = time.monotonic()
    while (spent := time.monotonic() - began) < patience:
        if resident(pid) <= megabytes:
            return spent
        await asyncio.sleep(0.5)
    return None


def resident(pid: int, which: str = "VmRSS") -> float:
    """What a process holds in memory, or held at most (VmHWM), in megabytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1_000 for line in status.splitlines() if line.startswith(f"{which}:"))


def rows(load: Load, found: Figures) -> list[Row]:
    """The figures with their goals."""
    middle, late = median(found.waits), quantiles(found.waits, n=20)[-1]
    about = f"{found.messages} messages in {load.sessions} sessions, {found.steered} of them joined a running turn"
    slots = f"{load.slots} turns at once, answers take {load.least:g}–{load.pause:g} s"
    when = "never" if found.settled is None else f"after {found.settled:.0f} s"
    return [
        Row("messages lost, doubled or out of order", "", len(found.wrong), None, 0, about),
        Row("resident memory, idle", "MB", found.idle, None, None, "three seconds after the start"),
        Row("resident memory, peak under load", "MB", found.peak, None, 120, f"{load.deaf + load.slow} slow listeners"),
        Row("resident memory after it, to idle", "×", found.after / found.idle, None, 1.2, when),
        Row("wait from accepted to begun, median", "s", middle, None, None, slots),
        Row("the same, 95 of 100, to the median", "×", late / middle, None, 3.0, f"{late:.1f} s"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--work", type=Path, default=ROOT / ".bench", help="environments and the report")
    parser.add_argument("--here", action="store_true", help="measure this Python and this tree, as they are")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    load = Load(options.seconds, options.sessions, options.slots)
    python = Path(sys.executable) if options.here else installed(options.work).python
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(load, python, Path(folder)))
    made = rows(load, found)
    about = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runs": 1,
    }
    print(json.dumps([{**asdict(r), "met": r.met} for r in made], indent=1) if options.json else table(made, about))
    for wrong in found.wrong:
        print(wrong, file=sys.stderr)
    sys.exit(0 if all(r.met is not False for r in made) else 1)


if __name__ == "__main__":
    main()
