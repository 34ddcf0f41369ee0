"""Files that are replaced whole: whatever happens, afterwards the old one is there or the new one, never a piece."""

import fcntl
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from palmclaw.core.errors import StorageError

_UNFINISHED = re.compile(r"\.palmclaw-[0-9a-f]{16}\.new")


def replaced(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Write the whole file, behind a link if `path` is one. Raises StorageError; then nothing was changed."""
    real = Path(os.path.realpath(path))
    try:
        if real.exists() and not real.is_file():  # a rename would put a file in the place of a device
            raise StorageError(f"cannot write {path}: it is no regular file")
        with opened(real.parent) as folder:
            put(real.name, content, mode, folder)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}", "Is the disk full or read-only?") from error


@contextmanager
def opened(folder: Path) -> Iterator[int]:
    """A directory handle. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Whoever changes this file, in whatever process, takes turns. Raises StorageError."""
    try:
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}", "Is the disk full or read-only?") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def put(name: str, content: bytes, mode: int, folder: int) -> None:
    """Write the whole file `name` of an open folder; its owner sees to it that nothing but a file is replaced."""
    with arriving(name, folder) as unfinished:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)


@contextmanager
def arriving(name: str, folder: int) -> Iterator[str]:
    """A name of its own beside `name` to be filled: renamed to it at the end, erased when that fails."""
    unfinished = aside()
    try:
        yield unfinished
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        erase(unfinished, folder)
        raise
    os.fsync(folder)


def aside() -> str:
    """A new name for what is not whole yet, or not any more; no tool ever sees one."""
    return f".palmclaw-{secrets.token_hex(8)}.new"


def is_unfinished(name: str) -> bool:
    """Whether a file is what a crash left of a write."""
    return _UNFINISHED.fullmatch(name) is not None


def erase(name: str, folder: int) -> None:
    """Delete a file, a link or a folder with all that is in it, if it is there. Raises OSError."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        shutil.rmtree(name, dir_fd=folder)
    else:
        os.unlink(name, dir_fd=folder)
