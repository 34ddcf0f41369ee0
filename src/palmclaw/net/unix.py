"""Unix sockets by file: private from their first moment, and by a name that fits however deep their folder lies."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST = 107
"""Bytes of a path that the kernel takes in a socket's address."""


@contextmanager
def addressed(path: Path) -> Iterator[str]:
    """A name of the socket `path` that fits, good while the `with` lasts. Raises OSError."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def listener(path: Path) -> socket.socket:
    """A socket bound to `path` for its owner alone, in the place of whatever a dead process left. Raises OSError.

    It takes no connection before `listen`. Only for a process that owns the folder: nobody else may be listening.
    """
    path.unlink(missing_ok=True)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with suppress(OSError):  # Linux makes the file with the socket's own mode; elsewhere the folder is private
            os.fchmod(found.fileno(), stat.S_IRUSR | stat.S_IWUSR)
        with addressed(path) as name:
            found.bind(name)
        path.chmod(0o600)
    except BaseException:
        found.close()
        raise
    return found


def identity(path: Path) -> tuple[int, int, int] | None:
    """What tells the socket that lies there from a later one by that name; None: nothing lies there."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns  # numbers of files are used again
