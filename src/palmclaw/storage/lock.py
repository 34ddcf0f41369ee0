"""One process owns a home directory. The kernel lets go of the lock when that process dies, however it dies."""

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from palmclaw.core.errors import HomeBusy, StorageError


@dataclass(slots=True)
class HomeLock:
    """Held by whoever runs turns or writes; readers do not take it."""

    path: Path
    _descriptor: int = -1

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
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 200, 0).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise HomeBusy(
                f"{self.path.parent} is in use by {owner or 'another process'}",
                "Finish there first, or set PALMCLAW_HOME to use another home.",
            ) from error
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
