"""Measures PalmClaw beside a bare `openai` SDK loop and prints the table. See README.md in this folder."""

import argparse
import json
import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from installs import ROOT, Install, extra, made, needing_a_compiler, palmclaw
from interrupt import MODEL, TOOL, interrupted
from measure import Ran, Service, addressed, closed_url, run, service, tool_rounds

ROUNDS = 20
TALK = "How much battery is left? Look at the device status again and again."
TYPICAL = "text Mei Lin that I'm ten minutes late"
PARTS = ("start", "rounds", "long", "protocols", "interrupt", "down", "size")
PROTOCOLS = ("openai_chat", "openai_responses", "anthropic")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report; `ratio` is ours to the SDK's, `met` whether the goal is reached.

    The goal is the most that the figure may be, for a share (`%`) the least.
    """

    measure: str
    unit: str
    ours: float
    sdk: float | None
    goal: float | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.sdk if self.sdk else None

    @property
    def met(self) -> bool | None:
        if self.goal is None:
            return None
        return self.ours >= self.goal if self.unit == "%" else self.ours <= self.goal


@dataclass(frozen=True, slots=True)
class Bench:
    """The two programs under measurement, a folder to work in, and how often each thing is done."""

    work: Path
    ours: Install
    sdk: Install
    tokenizer: Install | None
    runs: int

    def palmclaw(self, to: Service, home: Path, text: str, protocol: str = "openai_chat") -> Ran:
        return _done(to.run(self._chat("--approve", "never", text), self._palmclaw(home, protocol), self.work))

    def bare(self, to: Service, text: str, history: int = 0) -> Ran:
        return _done(to.run(self._bare(text, history), {}, self.work))

    def home(self, name: str) -> Path:
        """A fresh home directory."""
        folder = self.work / "homes" / name
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def _chat(self, *words: str) -> list[str | Path]:
        return [self.ours.python, "-m", "palmclaw", "chat", *words]

    def _palmclaw(self, home: Path, protocol: str = "openai_chat") -> dict[str, str]:
        return {"PALMCLAW_HOME": str(home), "PALMCLAW_PROVIDER": protocol, "PALMCLAW_MODEL": "m"}

    def _bare(self, text: str, history: int) -> list[str | Path]:
        return [self.sdk.python, ROOT / "bench" / "sdk_loop.py", text, "--history", str(history)]

    def start(self) -> list[Row]:
        """Process start to first request, and the peak of that; homes are fresh."""
        ours, sdk = [], []
        with service(self.work, [{"text": "Hello."}], repeat=True) as to:
            for number in range(self.runs + 1):
                ours.append(self.palmclaw(to, self.home(f"start{number}"), "hi"))
                sdk.append(self.bare(to, "hi"))
        ours, sdk = ours[1:], sdk[1:]  # the first run only warms the disk
        first = median(r.until_first_request for r in ours), median(r.until_first_request for r in sdk)
        peak = median(r.megabytes for r in ours), median(r.megabytes for r in sdk)
        return [
            Row("process start → first model request", "s", *first, goal=0.40),
            Row("peak resident memory of that", "MB", *peak, goal=48),
            self._first_request(ours[0]),
        ]

    def _first_request(self, ran: Ran) -> Row:
        return self._size("first request for “hi”", ran.requests[0]["body"], 1200)

    def _size(self, name: str, body: str, goal: float | None) -> Row:
        if self.tokenizer is None:
            return Row(name, "tokens", len(body) / 4, None, goal, "estimated: characters / 4")
        argv = [self.tokenizer.python, ROOT / "bench" / "count_tokens.py"]
        counted = subprocess.run(argv, input=body, capture_output=True, text=True, check=True).stdout
        return Row(name, "tokens", int(counted), None, goal, "o200k, the whole body as JSON")

    def rounds(self, earlier: int, goal: float) -> Row:
        """What a program needs between an answer and its next request, in a turn of 20 requests."""
        ours, sdk = [], []
        turns = earlier // (2 * ROUNDS)  # one turn stores its question and two messages for each later round
        script = tool_rounds(ROUNDS) * ((turns + 2) * self.runs)
        with service(self.work, script) as to:
            for number in range(self.runs):
                home = self.home(f"rounds{earlier}-{number}")
                for _ in range(turns):
                    self.palmclaw(to, home, TALK)
                ours += self.palmclaw(to, home, TALK).gaps
                sdk += self.bare(to, TALK, earlier).gaps
        name = f"overhead per round, {earlier} earlier messages" if earlier else "overhead per round, fresh session"
        note = f"{ROUNDS} rounds; ours stored, the SDK's not"
        return Row(name, "ms", 1000 * median(ours), 1000 * median(sdk), goal, note)

    def long(self, count: int) -> list[Row]:
        """The same in a conversation of so many messages, and how soon its first request comes: beside one of 200."""
        gaps: dict[int, list[float]] = {200: [], count: []}
        starts: dict[int, list[float]] = {200: [], count: []}
        with service(self.work, tool_rounds(ROUNDS) * (7 * self.runs)) as to:
            for number in range(self.runs):
                home = self.home(f"long{number}")
                for _ in range(5):
                    self.palmclaw(to, home, TALK)
                for size in gaps:
                    lengthened(home / "palmclaw.db", size)
                    ran = self.palmclaw(to, home, TALK)
                    gaps[size] += ran.gaps
                    starts[size].append(ran.until_first_request)
        note = (
            f"beside it: {1000 * median(gaps[200]):.2f} ms and {median(starts[200]):.2f} s with 200 messages, same run"
        )
        return [
            Row(f"overhead per round, {count:,} earlier messages", "ms", 1000 * median(gaps[count]), None, 7.0, note),
            Row(f"start to first request, {count:,} earlier messages", "s", median(starts[count]), None, None, note),
        ]

    def protocols(self) -> list[Row]:
        """The same turns in each wire protocol: the time between two requests, their size, what of them stays."""
        return [*self._rounds_by_protocol(), *self._sizes_by_protocol(), *_kept_by_protocol()]

    def _rounds_by_protocol(self) -> list[Row]:
        """One program after the other in each run, so that what else the machine does meets them alike."""
        gaps: dict[str, list[float]] = {name: [] for name in ("sdk", *PROTOCOLS)}
        with service(self.work, tool_rounds(ROUNDS) * (len(gaps) * self.runs)) as to:
            for number in range(self.runs):
                gaps["sdk"] += self.bare(to, TALK).gaps
                for name in PROTOCOLS:
                    gaps[name] += self.palmclaw(to, self.home(f"{name}{number}"), TALK, name).gaps
        sdk, note = 1000 * median(gaps["sdk"]), f"{ROUNDS} rounds; the SDK's loop speaks chat completions"
        return [Row(f"overhead per round, {n}", "ms", 1000 * median(gaps[n]), sdk, 5.0, note) for n in PROTOCOLS]

    def _sizes_by_protocol(self) -> list[Row]:
        rows = []
        with service(self.work, [{"text": "Hello."}], repeat=True) as to:
            for name in PROTOCOLS:
                for text, goal in (("hi", 1200), (TYPICAL, None)):
                    ran = self.palmclaw(to, self.home(f"size-{name}"), text, name)
                    rows.append(self._size(f"request for “{text}”, {name}", ran.requests[0]["body"], goal))
        return rows

    def down(self) -> list[Row]:
        """Nobody answers at the address: how long until that is said, and how."""
        ours, sdk = [], []
        for number in range(self.runs):
            environ = addressed(closed_url())
            home = self._palmclaw(self.home(f"down{number}"))
            ours.append(run(self._chat("hi"), {**environ, **home}, self.work))
            sdk.append(run(self._bare("hi", 0), environ, self.work))
        words = next((w for w in ours[0].words.splitlines() if w.strip()), "")
        codes = {r.code for r in ours}
        note = f"exit code {', '.join(map(str, sorted(codes)))}: {words.replace('|', '/')}"
        seconds = median(r.seconds for r in ours), median(r.seconds for r in sdk)
        return [Row("model service down: time to the error", "s", *seconds, 3.0, note)]

    def interrupt(self) -> list[Row]:
        """From the signal to the last event of the turn."""
        cases = {"while the model thinks": (MODEL, '"user"'), "while a tool hangs": (TOOL, '"tool_started"')}
        rows = []
        for name, (script, sign) in cases.items():
            times = [interrupted(self.ours.python, self.home(f"interrupt{n}"), script, sign) for n in range(self.runs)]
            rows.append(Row(f"interrupt to the end of the turn, {name}", "s", median(times), None, 0.1))
        return rows

    def size(self) -> list[Row]:
        ours, sdk = needing_a_compiler(self.ours), needing_a_compiler(self.sdk)
        counts = len(self.ours.distributions), len(self.sdk.distributions)
        return [
            Row("installed size, with .pyc", "MB", self.ours.megabytes, self.sdk.megabytes, 60),
            Row("distributions", "", *counts, goal=30),
            Row("of these without a wheel for Android", "", len(ours), len(sdk), 0, ", ".join(ours)),
        ]


def lengthened(file: Path, count: int) -> None:
    """Put copies of the conversation before it, to about so many messages; requests hold the same as without."""
    with closing(sqlite3.connect(file)) as db, db:
        rows = db.execute("SELECT session, turn, role, body FROM message ORDER BY position").fetchall()
        session, here = rows[0][0], len(rows)
        added = max(0, count - here) // here * here
        db.execute("UPDATE message SET position=position-?", (here,))  # out of the way, since no two may share a place
        db.execute("UPDATE message SET position=position+?", (here + added,))
        more = ((session, at, f"{at // here}-{rows[at % here][1]}", *rows[at % here][2:]) for at in range(added))
        db.executemany("INSERT INTO message (session, position, turn, role, body) VALUES (?, ?, ?, ?, ?)", more)
        db.execute("UPDATE summary SET upto=upto+?, trimmed=trimmed+? WHERE upto>0", (added, added))


def _kept_by_protocol() -> list[Row]:
    """The story of tests/prefix.py, told by the working tree in the Python that runs this."""
    argv = [sys.executable, "-m", "tests.prefix", "--json"]
    found = json.loads(subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    goals = {"rounds": 99.0, "turns": 95.0}
    return [
        Row(f"prefix kept, {kind}, {name}", "%", 100 * share, None, goals.get(kind))
        for name, shares in found.items()
        for kind, share in shares.items()
    ]


def _done(ran: Ran) -> Ran:
    if ran.code != 0 or not ran.requests:
        raise SystemExit(f"a measured program failed (exit code {ran.code}):\n{ran.words}")
    return ran


def table(rows: list[Row], about: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = [
        f"# {about['when']}",
        "",
        f"Python {about['python']}, {about['machine']}, medians of {about['runs']} runs",
        "",
    ]
    lines += ["| measure | palmclaw | bare openai SDK | ratio | goal | met | note |", "|---|--:|--:|--:|--:|---|---|"]
    for row in rows:
        met = "" if row.met is None else "yes" if row.met else "**no**"
        ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
        bound = "≥" if row.unit == "%" else "≤"
        goal = "" if row.goal is None else f"{bound} {_number(row.goal)} {row.unit}".rstrip()
        cells = [row.measure, _shown(row.ours, row.unit), _shown(row.sdk, row.unit), ratio, goal, met, row.note]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(value: float | None, unit: str) -> str:
    return "–" if value is None else f"{_number(value)} {unit}".rstrip()


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="how often each thing is measured (at least 5)")
    parser.add_argument("--work", type=Path, default=ROOT / ".bench", help="environments, homes and the report")
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to measure")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        options.work,
        palmclaw(options.work),
        made(options.work / "sdk", extra("bench", "openai")),
        _tokenizer(options.work),
        max(5, options.runs),
    )
    parts: dict[str, Callable[[], list[Row]]] = {
        "start": bench.start,
        "rounds": lambda: [bench.rounds(0, 5.0), bench.rounds(200, 7.0)],
        "long": lambda: bench.long(100_000),
        "protocols": bench.protocols,
        "interrupt": bench.interrupt,
        "down": bench.down,
        "size": bench.size,
    }
    rows = [row for name, part in parts.items() if not options.only or name in options.only for row in part()]
    about = {
        "when": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "runs": bench.runs,
    }
    report = table(rows, about)
    values = [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in rows]
    (options.work / "report.json").write_text(
        json.dumps({"about": about, "rows": values}, indent=1, ensure_ascii=False)
    )
    (options.work / "report.md").write_text(report)
    print(report)


def _tokenizer(work: Path) -> Install | None:
    """A tokenizer that brings its vocabulary along, where it can be had."""
    try:
        return made(work / "tokens", extra("bench", "bpe-openai"))
    except subprocess.CalledProcessError:
        return None


if __name__ == "__main__":
    main()
