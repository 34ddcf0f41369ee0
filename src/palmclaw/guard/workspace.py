"""The only place that turns a path from the model into a path on disk, and the only place that opens one.

A path is checked twice: `resolve` follows every link and requires the end to lie inside an allowed root, before
anybody is asked; `open` and its siblings then walk from the root with directory handles and refuse links on the way,
so nothing that changes in between can lead out.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from palmclaw.core.errors import OutOfBounds, ToolError
from palmclaw.core.text import visible
from palmclaw.core.tools import Access, CheckedPath, Service

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
MAX_PATH = 1_000


@dataclass(frozen=True, slots=True)
class Workspace:
    """The roots a session may reach: `session`, `shared`, and approved outside folders by their absolute path."""

    roots: Mapping[str, Path]

    def resolve(self, text: str, access: Access) -> CheckedPath:
        """Read `docs/a.txt`, `session://a`, `shared://a` or an absolute path; `OutOfBounds` unless inside a root."""
        if len(text) > MAX_PATH:
            raise _outside(text, "it is too long")
        if any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text):
            raise _outside(text, "it holds control or invisible characters")
        real = self._real(self._joined(text), text)
        for name, root in self.roots.items():
            base = Path(os.path.realpath(root))
            if real.is_relative_to(base):
                return CheckedPath(name, real.relative_to(base).parts, access)
        raise _outside(text, "it is outside the workspace")

    def _joined(self, text: str) -> Path:
        scheme, mark, rest = text.partition("://")
        if not mark:
            return self.roots["session"] / (text.strip() or ".")
        if scheme not in self.roots:
            raise _outside(text, "only session:// and shared:// are known")
        return self.roots[scheme] / (rest.strip() or ".")

    def _real(self, path: Path, text: str) -> Path:
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError) as error:
            raise _outside(text, "it cannot be followed") from error

    def real(self, path: CheckedPath) -> Path:
        """Where a checked path lies, for records; never for opening."""
        return Path(os.path.realpath(self.roots[path.root])).joinpath(*path.parts)

    @contextmanager
    def folder(self, path: CheckedPath, *, create: bool = False) -> Iterator[int]:
        """A directory handle for the folder that holds `path`, reached from its root without following a link."""
        handles = [os.open(os.path.realpath(self.roots[path.root]), _DIRECTORY)]
        try:
            for part in path.parts[:-1]:
                handles.append(_step(handles[-1], part, create=create, shown=path.shown))
            yield handles[-1]
        finally:
            for handle in handles:
                os.close(handle)

    def open(self, path: CheckedPath) -> int:
        """A file descriptor of a regular file, for reading; the caller closes it."""
        if not path.parts:
            raise ToolError("is_folder", f"{path.shown} is a folder")
        with self.folder(path) as handle, _named(path):
            descriptor = os.open(path.parts[-1], os.O_RDONLY | _FILE, dir_fd=handle)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "special file"
            os.close(descriptor)
            raise ToolError(f"is_{kind.replace(' ', '_')}", f"{path.shown} is a {kind}")
        return descriptor

    def read(self, path: CheckedPath, limit: int) -> bytes:
        """The bytes of a regular file of at most `limit` bytes."""
        descriptor = self.open(path)
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if size > limit:
                raise ToolError("too_large", f"{path.shown} has {size:,} bytes; at most {limit:,} are read")
            return file.read(limit + 1)[:limit]

    def replace(self, path: CheckedPath, content: bytes) -> None:
        """Write the whole file so that a crash leaves the old one or the new one, never a piece."""
        if path.access is not Access.WRITE:
            raise _outside(path.shown, "it was checked for reading only")
        if not path.parts:
            raise ToolError("is_folder", f"{path.shown} is a folder")
        with self.folder(path, create=True) as handle, _named(path):
            mode = _mode(path.parts[-1], handle, path.shown)
            temporary = f".{path.parts[-1][:60]}.{os.getpid()}.new"
            _write_new(temporary, content, mode, handle)
            os.rename(temporary, path.parts[-1], src_dir_fd=handle, dst_dir_fd=handle)
            os.fsync(handle)

    def stat(self, path: CheckedPath) -> os.stat_result | None:
        """What lies at the path itself (never behind a link), or None."""
        if not path.parts:
            return os.stat(os.path.realpath(self.roots[path.root]))
        try:
            with self.folder(path) as handle:
                return os.stat(path.parts[-1], dir_fd=handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except ToolError as error:
            if error.code == "not_found":
                return None
            raise

    def listed(self, path: CheckedPath) -> list[tuple[CheckedPath, os.stat_result]]:
        """The entries of a folder by name; links are left out, so a walk can never leave the root."""
        inside = CheckedPath(path.root, (*path.parts, "."), path.access)
        found: list[tuple[CheckedPath, os.stat_result]] = []
        with self.folder(inside) as handle, os.scandir(handle) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    found.append((CheckedPath(path.root, (*path.parts, entry.name), path.access), status))
        return sorted(found, key=lambda item: item[0].parts)

    def move(self, source: CheckedPath, target: CheckedPath) -> None:
        """Rename within or between roots; the caller has seen to it that the target does not exist."""
        if not source.parts or not target.parts:
            raise _outside(source.shown, "a root folder is not moved")
        if Access.READ in (source.access, target.access):
            raise _outside(source.shown, "it was checked for reading only")
        with self.folder(source) as start, self.folder(target, create=True) as end, _named(source):
            os.rename(source.parts[-1], target.parts[-1], src_dir_fd=start, dst_dir_fd=end)

    def discard(self, path: CheckedPath, trash: Path) -> None:
        """Move a file or folder into `trash`, out of every tool's reach, from where the owner can take it back."""
        if not path.parts or path.access is not Access.WRITE:
            raise _outside(path.shown, "a root folder is not deleted")
        trash.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.folder(path) as handle, _named(path):
            name = _unused(trash, path.parts[-1])
            os.rename(path.parts[-1], trash / name, src_dir_fd=handle)


WORKSPACE: Service[Workspace] = Service("workspace")
TRASH: Service[Path] = Service("trash")


def _unused(trash: Path, name: str) -> str:
    taken = {entry.name for entry in os.scandir(trash)}
    return name if name not in taken else next(n for i in range(1, len(taken) + 2) if (n := f"{i}-{name}") not in taken)


def _step(handle: int, part: str, *, create: bool, shown: str) -> int:
    """The handle of a folder inside the folder `handle`."""
    try:
        if create:
            _make(part, handle)
        return os.open(part, _DIRECTORY, dir_fd=handle)
    except OSError as error:
        raise _failed(error, shown) from error


def _make(part: str, handle: int) -> None:
    try:
        os.mkdir(part, 0o700, dir_fd=handle)
    except FileExistsError:
        return


def _mode(name: str, handle: int, shown: str) -> int:
    """The permission bits to keep when a file is replaced; a folder or a special file is never replaced."""
    try:
        status = os.stat(name, dir_fd=handle, follow_symlinks=False)
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(status.st_mode):
        raise _outside(shown, "it is a link, a folder or a special file")
    return stat.S_IMODE(status.st_mode)


def _write_new(name: str, content: bytes, mode: int, handle: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FILE, mode, dir_fd=handle)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
    except OSError:
        os.unlink(name, dir_fd=handle)
        raise


@contextmanager
def _named(path: CheckedPath) -> Iterator[None]:
    """Turn the system's refusals into errors that name the path as the model knows it."""
    try:
        yield
    except OSError as error:
        raise _failed(error, path.shown) from error


def _failed(error: OSError, shown: str) -> ToolError:
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return _outside(shown, "there is a link on the way")
    if error.errno == errno.ENOTDIR:
        return ToolError("not_folder", f"{shown}: a part of the path is a file or a link, not a folder")
    if error.errno == errno.ENOENT:
        return ToolError("not_found", f"{shown} does not exist", hint="See what is there with file_list.")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return ToolError("storage_full", f"{shown}: no space left to write it; nothing was changed")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return ToolError("read_only", f"{shown}: the phone does not allow writing there")
    return ToolError("io_error", f"{shown}: {error.strerror}")


def _outside(text: str, why: str) -> OutOfBounds:
    return OutOfBounds(
        "out_of_bounds",
        f"{visible(text)[:120]}: {why}",
        hint="Use a path relative to this conversation's folder, or shared://NAME.",
    )
