"""Runs a program against the scripted model service and reads the clock."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVER = "tests.servers.chat_server"
FIELDS = ("battery", "storage", "network", "volume", "ringer", "brightness", "torch", "dnd", "model", "time")


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a program: seconds, exit code, peak memory, and what it asked the service."""

    started: float
    seconds: float
    code: int
    megabytes: float
    requests: tuple[dict[str, Any], ...]
    words: str

    @property
    def until_first_request(self) -> float:
        return float(self.requests[0]["at"]) - self.started

    @property
    def gaps(self) -> list[float]:
        """Seconds between the end of an answer and the next complete request."""
        pairs = zip(self.requests, self.requests[1:], strict=False)
        return [float(after["at"]) - float(before["done"]) for before, after in pairs]


@dataclass(frozen=True, slots=True)
class Service:
    url: str
    record: Path

    def run(self, argv: Sequence[str | Path], environ: Mapping[str, str], folder: Path) -> Ran:
        """Start the program, wait for it, and collect its requests."""
        before = len(self._lines())
        ran = run(argv, {**environ, **addressed(self.url)}, folder)
        return Ran(ran.started, ran.seconds, ran.code, ran.megabytes, tuple(self._lines()[before:]), ran.words)

    def _lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []


@contextmanager
def service(folder: Path, answers: list[dict[str, Any]], *, repeat: bool = False) -> Iterator[Service]:
    """The scripted model service as a process of its own; it ends by itself even when nobody stops it."""
    script, record = folder.resolve() / "answers.json", folder.resolve() / "requests.jsonl"
    script.write_text(json.dumps(answers))
    record.unlink(missing_ok=True)
    argv = [sys.executable, "-m", SERVER, "--script", str(script), "--record", str(record), "--seconds", "600"]
    argv.append("--sums-up")
    with subprocess.Popen(argv + ["--repeat"] * repeat, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield Service(process.stdout.readline().strip(), record)
        finally:
            process.terminate()


def run(argv: Sequence[str | Path], environ: Mapping[str, str], folder: Path) -> Ran:
    """Start a program in `folder` and wait for it. The peak is the child's own: this process stays smaller."""
    output = folder / "output.txt"
    with output.open("w+") as file:
        started = time.monotonic()
        process = subprocess.Popen(
            [str(a) for a in argv],
            env={**_quiet(), **environ},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - started
    unit = 1_000_000 if sys.platform == "darwin" else 1_000
    return Ran(started, seconds, process.returncode, usage.ru_maxrss / unit, (), output.read_text())


def addressed(url: str) -> dict[str, str]:
    return {"PALMCLAW_BASE_URL": url, "OPENAI_BASE_URL": url}


def tool_rounds(count: int) -> list[dict[str, Any]]:
    """A turn of `count` requests: all but the last ask for a tool, each time with other arguments."""
    rounds = [{"calls": [{"name": "device_status", "arguments": {"fields": _some(n)}}]} for n in range(count - 1)]
    return [*rounds, {"text": "Done."}]


def closed_url() -> str:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def _some(number: int) -> list[str]:
    """One or two fields, never the same selection twice in a turn."""
    first, second = number % len(FIELDS), number // len(FIELDS)
    return [FIELDS[first]] if second == 0 else [FIELDS[first], FIELDS[(first + second) % len(FIELDS)]]


def _quiet() -> dict[str, str]:
    """The environment without proxies and without settings of the person who runs this."""
    kept = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    return {k: v for k, v in kept.items() if not k.startswith(("PALMCLAW_", "OPENAI_", "PYTHON"))}
