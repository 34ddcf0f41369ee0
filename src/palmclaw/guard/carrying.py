"""Moves between two open folders, also where they lie on two file systems (a phone's /sdcard is one of its own)."""

import errno
import os
import shutil
import stat
from contextlib import suppress

from palmclaw.guard.durable import arriving, aside, erase

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def carry(name: str, start: int, new: str, end: int) -> None:
    """Move `name` of the folder `start` to `new` in the folder `end`. Raises OSError; then nothing was moved."""
    try:
        os.rename(name, new, src_dir_fd=start, dst_dir_fd=end)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _carry_across(name, start, new, end)


def _carry_across(name: str, start: int, new: str, end: int) -> None:
    """Copy whole, then delete: a crash between leaves both, never neither."""
    with arriving(new, end) as unfinished:
        _copy(name, start, unfinished, end)
    gone = aside()
    try:
        os.rename(name, gone, src_dir_fd=start, dst_dir_fd=start)
    except OSError:  # it may be read there, but not taken away
        erase(new, end)
        raise
    with suppress(OSError):  # it has been moved; a rest that cannot be deleted is not seen any more
        erase(gone, start)


def _copy(name: str, start: int, new: str, end: int) -> None:
    """A file, a folder with all that is in it, or a link as a link."""
    mode = os.stat(name, dir_fd=start, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        _copy_folder(name, start, new, end)
    elif stat.S_ISLNK(mode):
        os.symlink(os.readlink(name, dir_fd=start), new, dir_fd=end)
    elif stat.S_ISREG(mode):
        _copy_file(name, start, new, end)
    else:
        raise OSError(errno.EINVAL, f"{name} is a special file")


def _copy_folder(name: str, start: int, new: str, end: int) -> None:
    os.mkdir(new, 0o700, dir_fd=end)
    source = os.open(name, _DIRECTORY, dir_fd=start)
    try:
        target = os.open(new, _DIRECTORY, dir_fd=end)
        try:
            for inner in os.listdir(source):
                _copy(inner, source, inner, target)
            os.fsync(target)
        finally:
            os.close(target)
    finally:
        os.close(source)


def _copy_file(name: str, start: int, new: str, end: int) -> None:
    with os.fdopen(os.open(name, _READ, dir_fd=start), "rb") as source:
        status = os.fstat(source.fileno())
        with os.fdopen(os.open(new, _NEW, stat.S_IMODE(status.st_mode), dir_fd=end), "wb") as target:
            shutil.copyfileobj(source, target, 1_000_000)
            target.flush()
            with suppress(OSError):  # the day of a photo is worth keeping, but not every file system can
                os.utime(target.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fsync(target.fileno())
