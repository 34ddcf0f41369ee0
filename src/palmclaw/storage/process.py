"""Which process serves a home, so exactly that it cannot be taken for another one that was given the same number."""

import json
import os
import signal
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from palmclaw import __version__
from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.guard.durable import replaced


@dataclass(frozen=True, slots=True)
class Gateway:
    """A process that serves a home. `start` is when it began by the kernel's count (0: not known), `started` by the
    clock, ISO 8601 in UTC.
    """

    pid: int
    start: int
    version: str
    started: str

    @property
    def is_alive(self) -> bool:
        """Whether this very process runs, and not a later one of the same number."""
        if self.pid <= 1:  # to the kernel, these mean many processes
            return False
        return start_of(self.pid) == self.start if self.start else _exists(self.pid)

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to this very process; harmless when it is gone."""
        with suppress(ProcessLookupError):
            handle = _handle(self.pid)
            try:
                if self.is_alive:
                    _send(self.pid, handle, number)
            finally:
                if handle >= 0:
                    os.close(handle)


def this_process() -> Gateway:
    """The process that asks."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Gateway(os.getpid(), start_of(os.getpid()) or 0, __version__, now)


def written(path: Path, gateway: Gateway) -> None:
    """Leave word of who serves. Raises StorageError."""
    replaced(path, compact(encode(gateway)).encode())


def read(path: Path) -> Gateway | None:
    """Who said that it serves, alive or not; None where nobody did, or not legibly."""
    try:
        return decode(Gateway, json.loads(path.read_bytes()))
    except (OSError, ValueError, BadArguments):
        return None


def start_of(pid: int) -> int | None:
    """When a process began, in ticks since the machine did; None for one that is dead, or where there is no /proc."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return None if state in ("Z", "X") else int(fields[18])


def resident() -> int:
    """The memory that this process holds, in bytes; 0 where there is no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def _handle(pid: int) -> int:
    """What refers to the process however its number is used later; -1 where the system has no such thing."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (AttributeError, OSError):
        return -1


def _send(pid: int, handle: int, number: signal.Signals) -> None:
    if handle >= 0:
        signal.pidfd_send_signal(handle, number)
    else:
        os.kill(pid, number)
