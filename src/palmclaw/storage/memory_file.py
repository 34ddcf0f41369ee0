"""MEMORY.md on disk: a person's file, read whatever they made of it, and replaced whole while no other process does."""

import codecs
import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from palmclaw.core.errors import StorageError
from palmclaw.core.memory import MemoryBroken
from palmclaw.core.text import whole
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import locked, replaced

MOST = 65_536
"""Bytes that are read of it; a larger file is never changed."""
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_EDIT = "palmclaw memory edit"
Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The file as it was read: in the encoding that follows `mark`, `size` in bytes.

    `original` are the bytes of a text that could not be read without loss.
    """

    text: str = ""
    mark: bytes = b""
    encoding: str = "utf-8"
    original: bytes = b""
    size: int = 0

    @property
    def is_whole(self) -> bool:
        return self.size <= MOST

    @property
    def warning(self) -> str:
        """What the person should know of it."""
        if not self.is_whole:
            return _large(self.size)
        return (
            f"MEMORY.md is no valid {self.encoding.upper()}; what could not be read shows as �" if self.original else ""
        )

    def written(self, text: str) -> bytes:
        """Another text in this file's encoding."""
        return self.mark + whole(text).encode(self.encoding)


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """Blocks while another process writes, and only as long. Raises MemoryBroken.

    `seed` is what a file that is not there begins with once there is something to remember.
    """

    path: Path
    seed: str = ""

    def signature(self) -> Signature | None:
        """Changes whenever the file does; None: there is none."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def read(self) -> OnDisk:
        """The file, or nothing where there is none."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return OnDisk()
        except OSError as error:
            raise MemoryBroken(f"cannot read {self.path}: {error.strerror}", "Make it readable.") from error
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise MemoryBroken(f"{self.path} is no file", f"Move it away; then: {_EDIT}")
            raw = _bytes(handle)
        finally:
            os.close(handle)
        return _decoded(raw[:MOST], max(found.st_size, len(raw)))

    def text(self) -> str:
        """The text of a file that may be changed."""
        return _changeable(self.read()).text

    def rewrite(self, change: Callable[[str], str]) -> tuple[str, str]:
        """Read, change and replace it, alone; returns the text before and after. What `change` raises travels."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(self.path):
                return self._rewritten(change)
        except StorageError as error:
            raise MemoryBroken(str(error), error.hint) from error
        except OSError as error:
            hint = "Make the folder writable, or choose another with PALMCLAW_HOME."
            raise MemoryBroken(f"cannot write in {self.path.parent}: {error.strerror}", hint) from error

    def _rewritten(self, change: Callable[[str], str]) -> tuple[str, str]:
        found = self.read()
        after = change(found.text)
        if after != found.text:
            _changeable(found)
            if found.original:
                replaced(self.kept(found.original), found.original)
            replaced(self.path, found.written(after))
        return found.text, after

    def kept(self, original: bytes) -> Path:
        """Where the bytes of a damaged file are kept before it is replaced."""
        return self.path.with_name(f"MEMORY-{hashlib.sha256(original).hexdigest()[:8]}.original")


def _bytes(handle: int) -> bytes:
    """One byte more than is taken, so that a file that grows is noticed."""
    raw = b""
    while len(raw) <= MOST and (part := os.read(handle, MOST + 1 - len(raw))):
        raw += part
    return raw


def _decoded(raw: bytes, size: int) -> OnDisk:
    mark, encoding = next(((m, e) for m, e in _MARKS if raw.startswith(m)), (b"", "utf-8"))
    body = raw.removeprefix(mark)
    text = body.decode(encoding, "replace")
    if size > MOST:  # its last line may be cut inside a character
        return OnDisk(text[: text.rfind("\n") + 1], mark, encoding, size=size)
    is_damaged = text.encode(encoding, "surrogatepass") != body
    return OnDisk(text, mark, encoding, raw if is_damaged else b"", size)


def _changeable(found: OnDisk) -> OnDisk:
    if not found.is_whole:
        raise MemoryBroken(_large(found.size), f"Shorten it: {_EDIT}")
    return found


def _large(size: int) -> str:
    return f"MEMORY.md has {size:,} bytes: the agent reads the first {MOST:,} and changes nothing in it"
