"""The file of the virtual phone: read whole, replaced atomically, never lost.

Readers need no lock, since the file is only ever replaced. Writers, also of different processes, take turns.
"""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from palmclaw.core.errors import ConfigError, StorageError
from palmclaw.core.text import whole
from palmclaw.devices.virtual.state import State, checked
from palmclaw.guard.durable import replaced

T = TypeVar("T")
_Signature = tuple[int, int, int]


class _Damaged(Exception):
    """What stands in the file is no phone."""


_WHOLE = frozenset({"clock", "device", "contacts", "calendar", "sms"})  # a file of ours always has these


class Store:
    """Where a phone's state lives between requests."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[_Signature, State] | None = None

    def look(self, fresh: Callable[[], State]) -> State:
        """The state now, to be read and not changed; `fresh` makes one where there is none yet."""
        signature = self._signature()
        if signature is None:
            return self._made(fresh)
        if self._seen is None or self._seen[0] != signature:
            try:
                self._seen = signature, self._parsed()
            except (_Damaged, FileNotFoundError):
                return self._made(fresh)
        return self._seen[1]

    def _made(self, fresh: Callable[[], State]) -> State:
        state = fresh()  # before the lock is taken: it may ask another phone for the time
        return self.change(lambda: state, lambda new: new)

    def change(self, fresh: Callable[[], State], act: Callable[[State], T]) -> T:
        """Let `act` alter the state; what it altered is on the disk before this returns."""
        with self._locked():
            found = self._read()
            state = fresh() if found is None else found
            before = "" if found is None else _text(state)
            reply = act(state)
            if (after := _text(state)) != before:
                replaced(self._path, after.encode())
        return reply

    def replace(self, state: State) -> None:
        """Put another state in the place of whatever is there; a damaged file is kept aside."""
        with self._locked():
            try:
                self._parsed()
            except FileNotFoundError:
                pass
            except _Damaged:
                self._set_aside()
            replaced(self._path, _text(state).encode())

    def _signature(self) -> _Signature | None:
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _refused("read", self._path, error) from error
        return stat.st_mtime_ns, stat.st_ino, stat.st_size

    def _parsed(self) -> State:
        try:
            state = json.loads(self._path.read_bytes().decode("utf-8"))
            if not isinstance(state, dict) or not set(state) >= _WHOLE:
                raise _Damaged("it is not a whole phone")
            return checked(state)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _refused("read", self._path, error) from error
        except (ValueError, RecursionError, ConfigError) as error:
            raise _Damaged(str(error)[:120]) from error

    def _read(self) -> State | None:
        """The state under the lock; a damaged file is renamed, so that the next start can begin anew."""
        try:
            return self._parsed()
        except FileNotFoundError:
            return None
        except _Damaged as error:
            aside = self._set_aside()
            raise StorageError(
                f"{self._path.name} is damaged ({error}); it has been kept as {aside.name}",
                "The next start begins with a new virtual phone. To go back, repair that file and rename it.",
            ) from error

    def _set_aside(self) -> Path:
        number = 1
        while (aside := self._path.with_name(f"{self._path.stem}.damaged-{number}.json")).exists():
            number += 1
        try:
            return self._path.rename(aside)
        except OSError as error:
            raise _refused("set aside the damaged", self._path, error) from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _refused("write", self._path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _text(state: State) -> str:
    return whole(json.dumps(state, ensure_ascii=False, indent=1))


def _refused(what: str, path: Path, error: OSError) -> StorageError:
    return StorageError(f"cannot {what} {path.name}: {error.strerror or error}", "Look at the disk and its free space.")
