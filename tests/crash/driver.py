"""Kills a real gateway again and again while people talk to it, and looks whether anything is lost or happens twice.

    python -m tests.crash.driver --kills 300 --seed 7

prints in which windows the kills fell, and what contradicts the rules.
"""

import argparse
import asyncio
import json
import shutil
import sqlite3
import sys
import tempfile
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from signal import SIGTERM

from palmclaw.core.messages import utc_now
from tests.crash.checks import violations
from tests.crash.evidence import Evidence
from tests.crash.home import Doomed, killed
from tests.crash.platform import ChatPlatform
from tests.crash.talk import Talk
from tests.crash.windows import START, WINDOWS, Death

LIFE = 1.0
"""Seconds that a gateway lives at most before a kill at a random instant, its start mostly not counted."""
PATIENCE = 5.0
"""Seconds until a gateway that does not come by its window is killed all the same."""
SHOWN = 20
"""Violations that are printed."""
REST = 90.0
"""Seconds in which everything must have come to rest after the last kill."""


@dataclass(slots=True)
class Report:
    """What a run has found. `windows` counts the kills by where they fell, `running` those that hit a running turn."""

    seed: int
    windows: Counter[str] = field(default_factory=Counter)
    running: int = 0
    messages: int = 0
    violations: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return self.windows.total()

    def __str__(self) -> str:
        lines = [f"{self.windows[w]:4} {w}" for w in (*WINDOWS, *sorted(self.windows.keys() - set(WINDOWS)))]
        share = f"{self.running} of {self.kills} kills hit a running turn; {self.messages} messages, seed {self.seed}"
        found = [f"VIOLATION {v}" for v in self.violations[:SHOWN]]
        return "\n".join((*lines, share, *found, f"{len(self.violations)} violations"))


@dataclass(slots=True)
class Run:
    """One home, its people, and whoever kills its gateways, half of them in one of these `windows`."""

    doomed: Doomed
    platform: ChatPlatform
    talk: Talk
    chance: Random
    report: Report
    windows: Sequence[str] = WINDOWS

    async def kill(self) -> None:
        """Let a gateway live for a while, and note where it died."""
        death = self._chosen() if self.chance.random() < 0.5 else None
        began = utc_now().isoformat(timespec="milliseconds")
        child = await self.doomed.begin(death)
        if death is None and self.chance.random() < 0.8:
            await self._at_work(child)
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE if death else self.chance.uniform(0.0, LIFE)):
                await child.wait()
        code = await killed(child)
        if code != -9:
            raise RuntimeError(f"a gateway ended by itself, with {code}:\n{self.doomed.last_words}")
        self.report.windows[self.doomed.windows.last] += 1
        running, waiting = self._looked(began)
        self.report.running += running > 0
        self.talk.backlog = waiting

    async def _at_work(self, child: Process) -> None:
        """Until it has begun with something; else a slow machine would see only starts that are killed."""
        while self.doomed.windows.last == START and child.returncode is None:
            await asyncio.sleep(0.005)

    def _chosen(self) -> Death:
        """The window in which the fewest have died, soon or a little later, exactly there or a moment after it."""
        rarest = min(self.windows, key=lambda w: (self.report.windows[w], self.chance.random()))
        return Death(rarest, self.chance.randint(1, 4), self.chance.choice((0.0, self.chance.uniform(0, 0.001))))

    def _looked(self, began: str) -> tuple[int, int]:
        """How many turns of the dead process were running, and how many messages wait; by a copy of what it left."""
        with tempfile.TemporaryDirectory() as folder:
            for suffix in ("", "-wal"):
                file = self.doomed.home.database.with_name(f"palmclaw.db{suffix}")
                if file.exists():
                    shutil.copy(file, folder)
            with closing(sqlite3.connect(Path(folder) / "palmclaw.db")) as connection:
                try:
                    running = connection.execute(_RUNNING, (began,)).fetchone()[0]
                    waiting = connection.execute(_WAITING).fetchone()[0]
                except sqlite3.OperationalError:  # it died before it had made its tables
                    return 0, 0
                return running, waiting

    async def rest(self) -> None:
        """Let the last gateway finish what there is, and end it in good order."""
        child = await self.doomed.begin()
        try:
            async with asyncio.timeout(REST):
                await self.talk.end()
                while not await self._is_at_rest():
                    if child.returncode is not None:
                        raise RuntimeError(f"the last gateway ended by itself:\n{self.doomed.last_words}")
                    await asyncio.sleep(0.1)
        except TimeoutError:
            self.report.violations.append(f"nothing has come to rest: {self._open()}")
        await self._ended(child)

    async def _ended(self, child: Process) -> None:
        with suppress(ProcessLookupError):
            child.send_signal(SIGTERM)
        try:
            async with asyncio.timeout(20):
                code = await child.wait()
        except TimeoutError:
            code = await killed(child)
        if code != 0:
            self.report.violations.append(f"the last gateway did not end well: {code}")

    async def _is_at_rest(self) -> bool:
        for _ in range(3):
            if self._open() != (0, 0, 0, 0):
                return False
            await asyncio.sleep(0.1)
        return True

    def _open(self) -> tuple[int, ...]:
        """Unread updates, open messages, unfinished turns, unsent messages."""
        unread = sum(len(self.platform.unread(channel)) for channel in self.platform.acknowledged)
        with closing(sqlite3.connect(f"file:{self.doomed.home.database}?mode=ro", uri=True)) as connection:
            counts = (connection.execute(query).fetchone()[0] for query in _OPEN)
            return (unread, *counts)

    def judge(self) -> None:
        """Compare what is left with the rules."""
        rung = self.doomed.folder / "rung"
        keys = tuple(rung.read_text().split()) if rung.exists() else ()
        evidence = Evidence(self.doomed.home.database, keys, self.platform, tuple(self.talk.said))
        self.report.messages = len(evidence.inbox)
        self.report.violations += violations(evidence)
        self.report.violations += [f"bug: {line}" for line in self.doomed.bugs]


_RUNNING = "SELECT count(*) FROM turn WHERE state='running' AND started>=?"
_WAITING = "SELECT count(*) FROM inbox WHERE state='waiting'"
_OPEN = (
    "SELECT count(*) FROM inbox WHERE state IN ('waiting', 'summarized')",
    "SELECT count(*) FROM turn WHERE state='running' OR resume='due'",
    "SELECT count(*) FROM outbox WHERE state IN ('waiting', 'sending')",
)


async def run(folder: Path, kills: int, seed: int, without: str = "", windows: Sequence[str] = WINDOWS) -> Report:
    """Kill so many gateways, then let everything come to rest; `without` switches a commit off."""
    async with _begun(folder, seed, without) as found:
        found.windows = windows
        for _ in range(kills):
            await found.kill()
        await found.rest()
        found.judge()
        return found.report


@asynccontextmanager
async def _begun(folder: Path, seed: int, without: str) -> AsyncIterator[Run]:
    chance = Random(seed)
    async with ChatPlatform(chance) as platform:
        doomed = Doomed(folder, platform.url, without)
        talk = Talk(platform, doomed.home, chance)
        await talk.begin()
        try:
            yield Run(doomed, platform, talk, chance, Report(seed))
        finally:
            await talk.close()
            await doomed.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", choices=("", "journal", "inbox"), default="")
    parser.add_argument("--folder", type=Path, help="where to leave everything; a temporary one without it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).absolute()
        report = asyncio.run(run(folder, options.kills, options.seed, options.without))
        if options.folder:
            (folder / "report.json").write_text(json.dumps({"seed": report.seed, "violations": report.violations}))
    print(report)
    sys.exit(1 if report.violations else 0)


if __name__ == "__main__":
    main()
