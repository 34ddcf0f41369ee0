"""Remembers which files were written while outside content was in view, so that reading them taints again."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from palmclaw.core.errors import StorageError
from palmclaw.core.tools import Service
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import replaced

_Signature = tuple[int, int, int]
_Marked = frozenset[str]


@dataclass(slots=True)
class Marks:
    """A set of absolute paths kept in one small file, replaced as a whole; several may keep the same file."""

    file: Path
    _seen: tuple[_Signature, _Marked] | None = field(default=None)

    def holds(self, path: Path) -> bool:
        """Whether the file, or a folder above it, is marked. Raises StorageError."""
        return _covered(path, self._read())

    def add(self, path: Path) -> None:
        """Called before the file is written, so that no instant sees it without its mark."""
        self._change(lambda marked: marked | {str(path)})

    def remove(self, path: Path) -> None:
        """Forget what the owner's own words have replaced, or what is gone, with all that was below it."""
        self._change(lambda marked: marked - set(_below(path, marked)))

    def copy(self, old: Path, new: Path) -> None:
        """What holds for `old` and below it will hold for `new` and below it."""

        def copied(marked: Set[str]) -> Set[str]:
            whole = {str(new)} if _covered(old, marked) else set()
            return marked | whole | {str(new / Path(p).relative_to(old)) for p in _below(old, marked)}

        self._change(copied)

    @contextmanager
    def moving(self, old: Path, new: Path) -> Iterator[None]:
        """Marks go with a file or folder that is moved inside; a move that fails leaves them where they were."""
        self.copy(old, new)
        yield
        self.remove(old)

    def _change(self, change: Callable[[Set[str]], Set[str]]) -> None:
        with self._locked():
            before = self._read()
            if (after := change(before)) != before:
                replaced(self.file, json.dumps(sorted(after)).encode())

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Writers take turns, also those of other processes."""
        try:
            handle = os.open(self.file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(f"cannot write {self.file}: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _read(self) -> _Marked:
        """The marks as they are now; the file is read again only when it has been replaced."""
        try:
            status = self.file.stat()
            signature = status.st_mtime_ns, status.st_ino, status.st_size
            if self._seen is None or self._seen[0] != signature:
                self._seen = signature, frozenset(map(str, json.loads(self.file.read_bytes())))
        except FileNotFoundError:
            return frozenset()
        except OSError as error:
            raise StorageError(f"cannot read {self.file}: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise StorageError(f"{self.file} is damaged", _DAMAGED) from error
        return self._seen[1]


_DAMAGED = "It says which files hold what strangers wrote. Delete it if you trust all files of the workspace."


def _covered(path: Path, marked: Set[str]) -> bool:
    return any(str(p) in marked for p in (path, *path.parents))


def _below(path: Path, marked: Set[str]) -> list[str]:
    return [p for p in marked if Path(p).is_relative_to(path)]


MARKS: Service[Marks] = Service("marks")
