"""Gateways as real processes, for tests: start one, see that it answers, and let none outlive its test."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL

from palmclaw.paths import Home
from palmclaw.storage.process import read
from tests.children import bare
from tests.servers.desk_gateway import COMMAND

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Gateways:
    """Of one home."""

    home: Home
    children: list["subprocess.Popen[str]"] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """What every process of the test is given."""
        return {"PALMCLAW_HOME": str(self.home.root), "PYTHONUNBUFFERED": "1", "PALMCLAW_LANG": "en"}

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """A gateway in the foreground that answers."""
        child = self.begin(*arguments)
        assert child.stderr is not None
        line = child.stderr.readline()
        assert "serves" in line, line + child.stderr.read()
        return child

    def begin(self, *arguments: str) -> "subprocess.Popen[str]":
        """One that may not come so far."""
        pipe, environ = subprocess.PIPE, bare(**self.environ)
        child = subprocess.Popen([*COMMAND, *arguments], cwd=ROOT, env=environ, stderr=pipe, stdout=pipe, text=True)
        self.children.append(child)
        return child

    def palmclaw(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """One command of the program."""
        return self._run("-m", "palmclaw", *arguments)

    def background(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """What starts a gateway in the background, when it is done with that."""
        return self._run(*COMMAND[1:], "--background", *arguments)

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        environ = os.environ | self.environ
        return subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False
        )


@contextmanager
def gateways(folder: Path) -> Iterator[Gateways]:
    """Whatever they do, afterwards none of them runs."""
    found = Gateways(Home(folder))
    try:
        yield found
    finally:
        for child in found.children:
            if child.poll() is None:
                child.kill()
            child.communicate()
        if (left := read(found.home.gateway)) is not None:
            left.kill(SIGKILL)
