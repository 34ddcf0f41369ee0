"""The gateway at rest, on its way from a message to the model, and when somebody says stop.

    .venv/bin/python bench/gateway.py
    .venv/bin/python bench/gateway.py --runs 5 --only interrupt --here

See README.md in this folder.
"""

import argparse
import asyncio
import json
import platform
import shutil
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import median

from installs import ROOT, extra, made
from installs import palmclaw as installed
from load import remote, resident, serving  # which makes the tests' extension importable
from measure import service, tool_rounds
from palmclaw.core.events import Happening, ToolStarted, TurnEnded, TurnStarted
from palmclaw.core.traffic import Inbound
from palmclaw.paths import Home
from palmclaw.web.client import RemoteRuntime
from run import Row, table

SESSION = "bench"
IDLE = 30.0
"""Seconds over which a gateway at rest is watched."""
PARTS = ("idle", "warm", "interrupt")
CRASHMODEL = '[provider]\nname = "crashmodel"\npause = 0.0\n'
OPENAI = '[provider]\nname = "openai_chat"\nmodel = "m"\nbase_url = "{url}"\napi_key = "none"\n'


@dataclass(frozen=True, slots=True)
class Case:
    """What a turn is at when it is stopped: calls of this tool. A thread takes `rest` more seconds to end by itself."""

    name: str
    tool: str
    calls: int = 1
    rest: float = 0.0

    def asked(self, number: int) -> str:
        """A message that was never there before."""
        return f"m{number}: {self.tool} {' '.join(f'{number}k{n}' for n in range(self.calls))}"


CASES = (
    Case("a tool runs a program with children", "family"),
    Case("a tool runs a thread in C code", "spin", rest=2.5),
    Case("a tool writes a large transaction", "fill", rest=2.5),
    Case("the turn writes its log without a pause", "tick", calls=150),
)


@dataclass(slots=True)
class Ear:
    """Hears all that happens in the session."""

    runtime: RemoteRuntime
    heard: "asyncio.Queue[Happening]" = field(default_factory=asyncio.Queue)

    async def listen(self) -> None:
        async with aclosing(self.runtime.events(SESSION)) as signals:
            async for signal in signals:
                self.heard.put_nowait(signal.event)

    async def until(self, kind: type[Happening]) -> Happening:
        """The next happening of this kind."""
        async with asyncio.timeout(60):
            while not isinstance(found := await self.heard.get(), kind):
                pass
        return found


@dataclass(frozen=True, slots=True)
class Bench:
    """The Python that runs the gateway, a folder to work in, and how often each thing is done."""

    python: Path
    work: Path
    runs: int
    chance: Random

    @asynccontextmanager
    async def gateway(self, name: str, config: str) -> AsyncIterator[tuple[int, RemoteRuntime, Ear]]:
        """One that runs in a fresh home, with somebody who listens."""
        home = Home(self.work / "homes" / f"gateway-{name}")
        shutil.rmtree(home.root, ignore_errors=True)
        home.root.mkdir(parents=True)
        home.config.write_text(config)
        async with serving(self.python, home, extended=config == CRASHMODEL) as process, remote(home) as runtime:
            ear = Ear(runtime)
            listening = asyncio.create_task(ear.listen())
            try:
                yield process.pid, runtime, ear
            finally:
                listening.cancel()
                await asyncio.wait({listening})

    async def idle(self) -> list[Row]:
        """A gateway at rest: what it holds, and how often it wakes up."""
        with service(self.work, [{"text": "Hello."}], repeat=True) as to:
            async with self.gateway("idle", OPENAI.format(url=to.url)) as (pid, runtime, ear):
                await runtime.take(Inbound(SESSION, "hi"))  # so that everything is loaded
                await ear.until(TurnEnded)
                await asyncio.sleep(5)
                before = switches(pid)
                await asyncio.sleep(IDLE)
                count = switches(pid) - before
                megabytes = resident(pid)
        note = f"{count} in {IDLE:g} s, all threads; one listener"
        return [
            Row("idle gateway, resident memory", "MB", megabytes, None, 50, "after one turn"),
            Row("idle gateway, context switches", "per s", count / IDLE, None, 0.1, note),
        ]

    async def warm(self) -> list[Row]:
        """From just before a message is sent to the API until the model service has the whole request."""
        began = []
        with service(self.work, [{"text": "Hello."}], repeat=True) as to:
            async with self.gateway("warm", OPENAI.format(url=to.url)) as (_, runtime, ear):
                for _ in range(30 + 3):
                    began.append(time.monotonic())
                    await runtime.take(Inbound(SESSION, "hi"))
                    await ear.until(TurnEnded)
                    await asyncio.sleep(0.05)
                asked = [json.loads(line)["at"] for line in to.record.read_text().splitlines()]
        spent = 1_000 * median(done - start for start, done in zip(began[3:], asked[3:], strict=True))
        note = "median of 30; the SDK's: from an answer to its next request"
        return [Row("warm message → model request, through the gateway", "ms", spent, self._sdk(), 20, note)]

    def _sdk(self) -> float | None:
        sdk = made(self.work / "sdk", extra("bench", "openai"))
        with service(self.work, tool_rounds(20)) as to:
            ran = to.run([sdk.python, ROOT / "bench" / "sdk_loop.py", "hi"], {}, self.work)
        return 1_000 * median(ran.gaps)

    async def interrupt(self) -> list[Row]:
        """From just before stop is asked for until the answer says that nothing runs any more."""
        rows = [await self._thinking()]
        async with self.gateway("interrupt", CRASHMODEL) as (pid, runtime, ear):
            rows += [await self._stopped(case, pid, runtime, ear) for case in CASES]
        return rows

    async def _thinking(self) -> Row:
        spent: list[float] = []
        with service(self.work, [{"text": "never", "pause": 600}], repeat=True) as to:
            async with self.gateway("thinking", OPENAI.format(url=to.url)) as (_, runtime, ear):
                for _ in range(self.runs):
                    await runtime.take(Inbound(SESSION, "hi"))
                    await ear.until(TurnStarted)
                    await asyncio.sleep(self.chance.uniform(0.1, 0.3))
                    await self._stop(runtime, ear, spent)
        return _row("the model thinks", spent)

    async def _stopped(self, case: Case, pid: int, runtime: RemoteRuntime, ear: Ear) -> Row:
        spent, gone = [], []
        for number in range(self.runs):
            await runtime.take(Inbound(SESSION, case.asked(number)))
            await ear.until(ToolStarted)
            await asyncio.sleep(self.chance.uniform(0.1, 0.3))
            sessions = frozenset(children(pid))  # each of them leads one of its own
            await self._stop(runtime, ear, spent)
            began = time.monotonic()
            while children(pid, sessions):  # noqa: ASYNC110  # nobody tells of the end of another's child
                await asyncio.sleep(0.001)
            gone.append(time.monotonic() - began)
            await asyncio.sleep(case.rest)
        note = f"the programs are gone {1_000 * median(gone):.0f} ms later" if case.tool == "family" else ""
        return _row(case.name, spent, note)

    async def _stop(self, runtime: RemoteRuntime, ear: Ear, spent: list[float]) -> None:
        began = time.monotonic()
        stopped = await runtime.stop(SESSION)
        spent.append(time.monotonic() - began)
        ended = await ear.until(TurnEnded)
        if not stopped.running or not isinstance(ended, TurnEnded) or ended.stop != "cancelled":
            raise SystemExit(f"nothing was stopped: {stopped}, {ended}")


def _row(name: str, spent: list[float], note: str = "") -> Row:
    most = f"at most {1_000 * max(spent):.0f} ms"
    note = f"{most}; {note}" if note else most
    return Row(f"stop to idle while {name}", "ms", 1_000 * median(spent), None, 100, note)


def switches(pid: int) -> int:
    """How often the threads of a process were switched to or away, willingly or not."""
    count = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            lines = (task / "status").read_text().splitlines()
            count += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
    return count


def children(pid: int, sessions: frozenset[int] = frozenset()) -> set[int]:
    """The processes that a process has started, and those of these sessions."""
    found: dict[int, tuple[int, int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            state, parent, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            if state != "Z":
                found[int(stat.parent.name)] = int(parent), int(session)
    return {n for n, (parent, session) in found.items() if parent == pid or session in sessions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15, help="how often a turn is stopped in each way")
    parser.add_argument("--work", type=Path, default=ROOT / ".bench", help="environments, homes and the report")
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to measure")
    parser.add_argument("--here", action="store_true", help="measure this Python and this tree, as they are")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    python = Path(sys.executable) if options.here else installed(options.work).python
    bench = Bench(python, options.work.absolute(), options.runs, Random(1))
    parts: dict[str, Callable[[], Awaitable[list[Row]]]] = {
        "idle": bench.idle,
        "warm": bench.warm,
        "interrupt": bench.interrupt,
    }
    wanted = [part for name, part in parts.items() if not options.only or name in options.only]
    rows = [row for part in wanted for row in asyncio.run(part())]
    about = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runs": bench.runs,
    }
    print(table(rows, about))


if __name__ == "__main__":
    main()
