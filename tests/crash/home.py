"""A home with two channels, and gateways in it that wait for their word, run, and die."""

import asyncio
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import palmclaw
from palmclaw.paths import Home
from tests.children import bare
from tests.crash.platform import OWNER
from tests.crash.windows import FOLDER, Death, Windows

ROOT = Path(__file__).parents[2]
SOURCES = Path(palmclaw.__file__).parents[1]
EXTENSION = Path(__file__).parent / "extension"
PLAIN, LIVE = "post", "live"
"""The channel that takes whole messages, and the one in which answers are seen while they are written."""

_CONFIG = """
[provider]
name = "crashmodel"
pause = 0.04

[limits]
turns = 3
approval_seconds = 5

[queue]
debounce = 0.02

[channels.{plain}]
kind = "post"
url = "{url}"
owners = ["{owner}"]

[channels.{live}]
kind = "post"
url = "{url}"
owners = ["{owner}"]
edits = true
preview = "partial"
coalesce = 0.01
"""


@dataclass(slots=True)
class Doomed:
    """The home, and the gateway after the next one, which already waits."""

    folder: Path
    url: str
    off: str = ""
    windows: Windows = field(init=False)
    home: Home = field(init=False)
    _next: Process | None = None

    def __post_init__(self) -> None:
        self.home = Home(self.folder / "home")
        self.home.root.mkdir(parents=True)
        self.home.config.write_text(_CONFIG.format(plain=PLAIN, live=LIVE, url=self.url, owner=OWNER))
        self.windows = Windows(self.folder)

    async def begin(self, death: Death | None = None) -> Process:
        """A gateway that runs from now on, and is to die in this way."""
        child = self._next or await self._spawned()
        self._next = await self._spawned()
        self.windows.arm(death)
        assert child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.close()
        return child

    async def close(self) -> None:
        """Let nothing run on."""
        if self._next is not None:
            await killed(self._next)
        self.windows.close()

    @property
    def last_words(self) -> str:
        """What the gateways have said lately."""
        return self._said.read_text("utf-8")[-2_000:]

    @property
    def bugs(self) -> list[str]:
        """Lines of the log that tell of a bug, and not of a platform that broke off."""
        log = self.home.log.read_text("utf-8").splitlines() if self.home.log.exists() else []
        return [line for line in log if " ERROR " in line and "runtime.sending" not in line]

    @property
    def _said(self) -> Path:
        return self.folder / "said"

    async def _spawned(self) -> Process:
        path = os.pathsep.join((str(EXTENSION), str(ROOT), str(SOURCES)))
        environ = bare(PALMCLAW_HOME=str(self.home.root), PALMCLAW_LANG="en", PYTHONPATH=path)
        environ |= {FOLDER: str(self.folder), "PYTHONWARNINGS": "error"}
        command = (sys.executable, "-m", "tests.crash.child", *((self.off,) if self.off else ()))
        with self._said.open("ab") as file:
            return await asyncio.create_subprocess_exec(
                *command, cwd=self.folder, env=environ, stdin=PIPE, stdout=DEVNULL, stderr=file
            )


async def killed(child: Process) -> int:
    """SIGKILL, if it still lives, and the code with which it ended."""
    if child.returncode is None:
        with suppress(ProcessLookupError):
            child.send_signal(signal.SIGKILL)
    return await child.wait()
