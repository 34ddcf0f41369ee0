"""Terminals for tests: children on pseudo-terminals of 40 columns, typed into and read from."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9]|[=>78])")
ROWS, COLUMNS = 40, 40


class Terminal:
    """A child on a pseudo-terminal, as on a phone."""

    def __init__(self, *arguments: str, home: Path) -> None:
        self.home = home
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        environ = {**os.environ, "TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(ROWS), "NO_COLOR": "1"}
        command = [sys.executable, "-m", "palmclaw", *arguments]
        self.child = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True, close_fds=True
        )
        os.close(slave)
        self.master, self.text, self.raw = master, "", ""

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def shows(self, pattern: str, seconds: float = 30) -> str:
        """Wait until the screen has shown what fits; returns all that was shown since the last wait."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text, re.DOTALL):
            is_there = not select.select([self.master], [], [], 0.1)[0] or self._read()
            is_there = is_there and time.monotonic() < deadline
            assert is_there, f"never showed {pattern!r}; showed {self.text!r}"
        shown, self.text = self.text, ""
        return shown

    def _read(self) -> bool:
        """False when the other side is gone."""
        try:
            raw = os.read(self.master, 65_536).decode("utf-8", "replace")
        except OSError:
            return False
        if "\x1b[6n" in raw:
            os.write(self.master, b"\x1b[1;1R")  # a terminal that is asked where its cursor is answers
        self.raw += raw
        self.text += ANSI.sub("", raw).replace("\r", "")
        return True

    def ends(self, seconds: float = 30) -> int:
        """The exit code; what is still shown is read."""
        deadline = time.monotonic() + seconds
        while self.child.poll() is None and time.monotonic() < deadline:
            if select.select([self.master], [], [], 0.02)[0] and not self._read():
                break
        while select.select([self.master], [], [], 0)[0] and self._read():
            pass
        return self.child.wait(seconds)

    def hang_up(self) -> None:
        """The terminal goes away, and says so as a real one does."""
        os.close(self.master)
        self.master = -1
        self.child.send_signal(signal.SIGHUP)

    def close(self) -> None:
        if self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()
        if self.master >= 0:
            os.close(self.master)


@dataclass(slots=True)
class Terminals:
    """All those of one home; none outlives its test."""

    home: Path
    open: list[Terminal] = field(default_factory=list)

    def __call__(self, *arguments: str, steps: list[Any] | None = None) -> Terminal:
        if steps is not None:
            self.script(steps)
        self.open.append(Terminal(*arguments, home=self.home))
        return self.open[-1]

    def script(self, steps: list[Any]) -> None:
        """What the model says from now on, in every process that starts."""
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "script.json").write_text(json.dumps({"steps": steps}))
        table = f'[provider]\nname = "scripted"\nscript = "{self.home / "script.json"}"\n'
        (self.home / "config.toml").write_text(table)


@contextmanager
def terminals(home: Path) -> Iterator[Terminals]:
    """Terminals whose children have this home, by the environment."""
    made = Terminals(home)
    try:
        yield made
    finally:
        for one in made.open:
            one.close()
