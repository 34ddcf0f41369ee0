"""The only place that turns a path from the model into a path on disk, and the only place that opens one.

A path is checked twice: `resolve` follows every link and requires the end to lie inside an allowed root, before
anybody is asked; `open` and its siblings then walk from the root with directory handles and refuse links on the way,
so nothing that changes in between can lead out.
"""

import errno
import fcntl
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from palmclaw.core.errors import OutOfBounds, ToolError
from palmclaw.core.text import visible
from palmclaw.core.tools import Access, CheckedPath, Service
from palmclaw.core.values import dataclass
from palmclaw.guard.carrying import carry
from palmclaw.guard.durable import is_unfinished, opened, put

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
MAX_PATH = 1_000
MAX_DEPTH = 20
MAX_WALKED = 20_000
INSIDE = ("session", "shared")
_Identity = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Workspace:
    """The roots a session may reach: `session`, `shared`, and approved outside folders by their absolute path.

    `hidden` folders (the agent's own home) are never reached through an outside root that holds them.
    """

    roots: Mapping[str, Path]
    hidden: tuple[Path, ...] = ()

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
                return self._allowed(CheckedPath(name, real.relative_to(base).parts, access), real)
        raise _outside(text, "it is outside the workspace")

    def _allowed(self, path: CheckedPath, real: Path) -> CheckedPath:
        if path.root not in INSIDE and any(real.is_relative_to(os.path.realpath(h)) for h in self.hidden):
            raise _outside(path.shown, _OWN)
        if any(is_unfinished(part) for part in path.parts):
            raise _outside(path.shown, "it is a piece of a write that never ended")
        return path

    def _joined(self, text: str) -> Path:
        scheme, mark, rest = text.partition("://")
        if not mark:
            return self.roots["session"] / (text if text.strip() else ".")
        if scheme not in self.roots:
            raise _outside(text, "only session:// and shared:// are known")
        return self.roots[scheme] / (rest if rest.strip() else ".")

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
        root = CheckedPath(path.root, (), path.access)
        with _named(root):  # an outside root may have been unmounted meanwhile
            handles = [os.open(os.path.realpath(self.roots[path.root]), _DIRECTORY)]
        try:
            self._check_entered(path, handles[-1])
            for part in path.parts[:-1]:
                handles.append(_step(handles[-1], part, create=create, shown=path.shown))
                self._check_entered(path, handles[-1])
            yield handles[-1]
        finally:
            for handle in handles:
                os.close(handle)

    def _hidden_from(self, path: CheckedPath) -> set[_Identity]:
        """The folders that must not be met on the way, whatever they are called (/sdcard does not mind case)."""
        return set() if path.root in INSIDE else {i for h in self.hidden for i in _identities(h)}

    def _check_entered(self, path: CheckedPath, folder: int) -> None:
        if _identity(os.fstat(folder)) in self._hidden_from(path):
            raise _outside(path.shown, _OWN)

    def _check_carried(self, path: CheckedPath, folder: int) -> None:
        """Nothing that is, or holds, a hidden folder is taken away."""
        holding = {i for hidden in self.hidden for place in (hidden, *hidden.parents) for i in _identities(place)}
        if _identity(os.stat(path.parts[-1], dir_fd=folder, follow_symlinks=False)) in holding:
            raise _outside(path.shown, _OWN)

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
            put(path.parts[-1], content, _mode(path.parts[-1], handle, path.shown), handle)

    def stat(self, path: CheckedPath) -> os.stat_result | None:
        """What lies at the path itself (never behind a link), or None."""
        try:
            with self.folder(path) as handle, _named(path):
                return os.stat(path.parts[-1] if path.parts else ".", dir_fd=handle, follow_symlinks=False)
        except ToolError as error:
            if error.code == "not_found":
                return None
            raise

    def listed(self, path: CheckedPath) -> list[tuple[CheckedPath, os.stat_result]]:
        """The entries of a folder by name; links are left out, so a walk can never leave the root."""
        hidden = self._hidden_from(path)
        found: list[tuple[CheckedPath, os.stat_result]] = []
        with self.folder(CheckedPath(path.root, (*path.parts, "."), path.access)) as handle, _named(path):
            for name in sorted(n for n in os.listdir(handle) if _is_shown(n)):
                status = _status(name, handle)
                if status is not None and _is_walked(status) and _identity(status) not in hidden:
                    found.append((CheckedPath(path.root, (*path.parts, name), path.access), status))
        return found

    def walk(self, path: CheckedPath, depth: int = MAX_DEPTH) -> Iterator[tuple[CheckedPath, os.stat_result]]:
        """Every file and folder below, by name; what lies in a folder that may not be entered is left out."""
        for inner, status in self.listed(path):
            yield inner, status
            deeper = depth - 1 if stat.S_ISDIR(status.st_mode) else 0
            if deeper:
                with suppress(ToolError):
                    yield from self.walk(inner, deeper)

    def files(self, path: CheckedPath, pattern: str) -> Iterator[tuple[CheckedPath, os.stat_result]]:
        """The files below whose name or path fits, without those that a dot hides, on a walk of bounded length."""
        for inner, status in islice(self.walk(path), MAX_WALKED):
            if stat.S_ISREG(status.st_mode) and not inner.name.startswith(".") and _fits(inner, path, pattern):
                yield inner, status

    def move(self, source: CheckedPath, target: CheckedPath) -> None:
        """Move within or between roots; the caller has seen to it that the target does not exist."""
        if not source.parts or not target.parts:
            raise _outside(source.shown, "a root folder is not moved")
        if Access.READ in (source.access, target.access):
            raise _outside(source.shown, "it was checked for reading only")
        with self.folder(source) as start, self.folder(target, create=True) as end, _named(source):
            self._check_carried(source, start)
            carry(source.parts[-1], start, target.parts[-1], end)

    def discard(self, path: CheckedPath, trash: Path, before: Callable[[Path], None]) -> None:
        """Move a file or folder into `trash`, out of every tool's reach, from where the owner can take it back.

        `before` is told its place there before it is moved.
        """
        if not path.parts or path.access is not Access.WRITE:
            raise _outside(path.shown, "a root folder is not deleted")
        with self.folder(path) as start, _named(path):
            self._check_carried(path, start)
            trash.mkdir(parents=True, exist_ok=True, mode=0o700)
            with opened(trash) as end:
                fcntl.flock(end, fcntl.LOCK_EX)  # two that delete a file of the same name keep both
                name = _unused(path.parts[-1], end)
                before(Path(os.path.realpath(trash)) / name)
                carry(path.parts[-1], start, name, end)


WORKSPACE: Service[Workspace] = Service("workspace")
TRASH: Service[Path] = Service("trash")


_OWN = "it is the agent's own folder"


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _identities(place: Path) -> Iterator[_Identity]:
    """The identity of a folder, if it is there."""
    with suppress(OSError):
        yield _identity(os.stat(place))


def _is_shown(name: str) -> bool:
    """Not what a crash left, and not what can be neither written down nor sent (bytes that are no text)."""
    return not is_unfinished(name) and not any("\ud800" <= char <= "\udfff" for char in name)


def _fits(path: CheckedPath, base: CheckedPath, pattern: str) -> bool:
    relative = "/".join(path.parts[len(base.parts) :])
    candidates = (path.name, relative, "/".join(path.parts))
    return any(fnmatchcase(c.lower(), pattern.lower()) for c in candidates)


def _is_walked(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)


def _status(name: str, folder: int) -> os.stat_result | None:
    """What is there, not behind a link; None when it is gone meanwhile or may not be looked at."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _unused(name: str, trash: int) -> str:
    taken = set(os.listdir(trash))
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
