"""The log: one file that is put aside when it has grown, and one old one beside it."""

import logging
import os
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

LIMIT = 4_000_000


class LogFile(logging.FileHandler):
    """Writes to `path`; when that is longer than `limit` bytes it becomes `path.1`, in the place of an older one.

    Where the program's own output goes to the same file (a gateway in the background), it moves along.
    """

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        super().__init__(path, encoding="utf-8", delay=True)
        self.limit = limit
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, after making room for it. A disk that refuses costs the line, never the program."""
        with suppress(OSError):
            self._make_room()
        with suppress(OSError):
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Nobody can be told of a line that could not be written."""

    def _make_room(self) -> None:
        path = Path(self.baseFilename)
        there = _identity(path.stat()) if path.exists() else None
        mine = _same(self.stream.fileno()) if self.stream is not None else there
        if there is not None and path.stat().st_size >= self.limit:
            path.replace(path.with_name(f"{path.name}.1"))
            self._reopen(mine)
        elif there != mine:  # somebody has moved it away, or another part of the program has
            self._reopen(mine)

    def _reopen(self, old: tuple[int, int] | None) -> None:
        """Go on in a new file, and take along what else goes to the old one."""
        if self.stream is not None:
            self.stream.close()
        self.stream = self._open()
        for number in (1, 2):
            if old is not None and _same(number) == old:
                os.dup2(self.stream.fileno(), number)

    def _open(self) -> TextIOWrapper:
        return TextIOWrapper(os.fdopen(opened(Path(self.baseFilename)), "ab"), "utf-8", "backslashreplace")


def opened(path: Path) -> int:
    """A descriptor that appends, of a file for its owner alone. Raises OSError."""
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _same(descriptor: int) -> tuple[int, int] | None:
    """What tells two descriptors of one file from those of two."""
    try:
        return _identity(os.fstat(descriptor))
    except OSError:
        return None


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
