"""Where a process is at each moment, on a page of memory that outlives it; and the moment at which it is to die.

A window is named after the step that has just been made, or is just about to be: `before inbox put`.
"""

import mmap
import os
import signal
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = "CRASH_FOLDER"
"""The variable that names the folder of the page and of the ring file; without it nothing is written down."""
START = "start"
"""Before the first window."""
BYTES = 4_096
_NAME = slice(0, 64)
_FATAL = slice(64, 128)
_WHEN = struct.Struct("<Id")
_AT = 128

STEPS = (
    "inbox put",
    "turn begin",
    "asking",
    "call append",
    "journal begin",
    "effect",
    "journal end",
    "result append",
    "joined append",
    "answer append",
    "turn end",
    "outbox claim",
    "send",
    "outbox sent",
)
WINDOWS = tuple(f"{side} {step}" for step in STEPS for side in ("before", "after"))


@dataclass(frozen=True, slots=True)
class Death:
    """Where the process kills itself: the `count`-th time that it comes by, `delay` seconds later."""

    window: str
    count: int = 1
    delay: float = 0.0


class Windows:
    """The page, for whoever writes it or reads it; without a folder there is none."""

    def __init__(self, folder: Path | None) -> None:
        self._page: mmap.mmap | None = None
        if folder is not None:
            descriptor = os.open(folder / "page", os.O_RDWR | os.O_CREAT, 0o600)
            os.ftruncate(descriptor, BYTES)
            self._page = mmap.mmap(descriptor, BYTES)
            os.close(descriptor)

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Windows":
        """The page of the process that asks."""
        return cls(Path(environ[FOLDER]) if environ.get(FOLDER) else None)

    def close(self) -> None:
        if self._page is not None:
            self._page.close()

    def mark(self, window: str) -> None:
        """Say where the process is; it dies here if it was told to."""
        page = self._page
        if page is None:
            return
        name = _padded(window)
        page[_NAME] = name
        count, delay = _WHEN.unpack_from(page, _AT)
        if count and page[_FATAL] == name:
            _WHEN.pack_into(page, _AT, count - 1, delay)
            if count == 1:
                _die(delay)

    @property
    def last(self) -> str:
        """The window in which the process is, or was when it died."""
        assert self._page is not None
        return self._page[_NAME].rstrip(b"\0").decode()

    def arm(self, death: Death | None) -> None:
        """For the next process: an empty page, and how it is to die."""
        assert self._page is not None
        self._page[_NAME] = _padded(START)
        self._page[_FATAL] = _padded(death.window if death else "")
        _WHEN.pack_into(self._page, _AT, death.count if death else 0, death.delay if death else 0.0)


def _padded(text: str) -> bytes:
    return text.encode().ljust(64, b"\0")


def _die(delay: float) -> None:
    """At once, or a moment later, while the process goes on."""
    if delay <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
    threading.Thread(target=_die_later, args=(delay,), daemon=True).start()


def _die_later(delay: float) -> None:
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGKILL)
