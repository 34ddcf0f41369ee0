"""One process owns a home directory. The kernel lets go of the lock when that process dies, however it dies."""

import fcntl
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from palmclaw.core.errors import HomeBusy, StorageError
from palmclaw.core.values import dataclass

_OWNER = re.compile(r"process (\d+) \((.*)\)")
_PAUSES = (0.01, 0.02, 0.03, 0.0)
"""Between tries: somebody may be looking at the lock just now."""


SERVING = "serve"
"""The purpose for which a gateway holds the lock."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as they wrote it; 0 and nothing while they have not."""

    pid: int = 0
    purpose: str = ""


@dataclass(slots=True)
class HomeLock:
    """Held by whoever runs turns or writes; readers do not take it."""

    path: Path
    _descriptor: int = -1

    def holder(self) -> Holder | None:
        """Who holds it at this moment; None: nobody, or nobody can tell."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            said = _OWNER.match(_owner(descriptor))
            return Holder(int(said[1]), said[2]) if said else Holder()
        finally:
            os.close(descriptor)
        return None

    def acquire(self, purpose: str) -> None:
        """Take the lock at once, or raise HomeBusy naming the owner. Raises StorageError on a read-only home."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageError(
                f"cannot write in {self.path.parent}: {error.strerror}",
                "Make the folder writable, or choose another with PALMCLAW_HOME.",
            ) from error
        if not _locked(descriptor):
            owner = _owner(descriptor)
            os.close(descriptor)
            raise HomeBusy(
                f"{self.path.parent} is in use by {owner or 'another process'}",
                "Finish there first, or set PALMCLAW_HOME to use another home.",
            )
        self._descriptor = descriptor
        with suppress(OSError):  # a full disk: the lock holds, only the owner's name is missing
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()} ({purpose})\n".encode(), 0)

    def release(self) -> None:
        """Let go; harmless when the lock is not held."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1


def _locked(descriptor: int) -> bool:
    for pause in _PAUSES:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(pause)
        else:
            return True
    return False


def _owner(descriptor: int) -> str:
    return os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
