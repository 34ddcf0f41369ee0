"""Takes a skill out of a folder or a zip into a folder of its own: only plain files, bounded, and nowhere else."""

import os
import re
import shutil
import stat
import unicodedata
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from palmclaw.core.errors import StorageError
from palmclaw.core.text import visible
from palmclaw.core.values import dataclass
from palmclaw.storage.skill_file import SKILL

LARGEST_ZIP = 100_000_000
LARGEST = 250_000_000
MOST_FILES = 2_000
LONGEST_PATH = 240
DEEPEST = 12
RATIO = 200
"""How many times its size a file may be that was packed, once it is large."""
LARGE = 1_000_000
_LEFT_OUT = ("__MACOSX", ".DS_Store", ".git", ".svn", ".hg", "Thumbs.db")
_CHUNK = 1_000_000


class UnsafePackage(StorageError):
    """What was to be installed is refused; nothing of it is kept."""

    code = "unsafe_package"


@dataclass(slots=True)
class Intake:
    """Writes files into `target`, which must be empty, and counts."""

    target: Path
    files: int = 0
    size: int = 0

    def opened(self, path: str) -> int:
        """A new file for a checked path below the target."""
        self.files += 1
        if self.files > MOST_FILES:
            raise UnsafePackage(f"it has more than {MOST_FILES:,} files")
        parts = checked_path(path).parts
        folder = self.target.joinpath(*parts[:-1])
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(folder / parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError as error:
            raise UnsafePackage(f"it has two files of the name {visible(path)[:120]}") from error
        except OSError as error:
            raise StorageError(f"cannot write {self.target}: {error.strerror}", "Is the disk full?") from error

    def count(self, size: int) -> None:
        self.size += size
        if self.size > LARGEST:
            raise UnsafePackage(f"it is larger than {LARGEST:,} bytes")


def checked_path(path: str) -> PurePosixPath:
    """A path that stays inside whatever folder it is put into. Raises UnsafePackage."""
    parts = path.split("/")
    is_odd = any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in path)
    if not path or is_odd or "\\" in path or re.match(r"[A-Za-z]:", path) or path.startswith("/"):
        raise UnsafePackage(f"the name {visible(path)[:120]!r} is not one of a file in a folder")
    if any(part in ("", ".", "..") for part in parts) or len(parts) > DEEPEST or len(path) > LONGEST_PATH:
        raise UnsafePackage(f"the name {visible(path)[:120]!r} leads out of its folder, or too deep")
    return PurePosixPath(path)


def from_folder(source: Path, target: Path) -> None:
    """Copy the plain files of a folder. Raises UnsafePackage for links and devices; StorageError."""
    intake = Intake(target)
    try:
        for place, folders, names in os.walk(source):
            folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
            for name in [*folders, *sorted(names)]:
                if name not in _LEFT_OUT:
                    _copied(Path(place) / name, os.path.relpath(os.path.join(place, name), source), intake)
    except OSError as error:
        raise StorageError(f"cannot read {error.filename or source}: {error.strerror}") from error


def from_zip(source: Path, target: Path) -> None:
    """Unpack a zip. Raises UnsafePackage, StorageError."""
    try:
        if source.stat().st_size > LARGEST_ZIP:
            raise UnsafePackage(f"it is larger than {LARGEST_ZIP:,} bytes")
        with zipfile.ZipFile(source) as packed:
            _unpacked(packed, Intake(target))
    except OSError as error:
        raise StorageError(f"cannot read {source}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        raise UnsafePackage(f"{source.name} is no zip that can be read") from error


def roots(folder: Path) -> tuple[Path, ...]:
    """The folders with a SKILL.md in them, not below one another, at most three deep; the shallowest first."""
    found: list[Path] = []
    waiting = [(folder, 0)]
    while waiting:
        place, depth = waiting.pop(0)
        if (place / SKILL).is_file():
            found.append(place)
        elif depth < 3:
            inner = [e for e in _entries(place) if e.is_dir(follow_symlinks=False) and e.name not in _LEFT_OUT]
            waiting += [(Path(entry.path), depth + 1) for entry in inner]
    return tuple(found)


def _entries(place: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(place) as entries:
            return sorted(entries, key=lambda entry: entry.name)[: 2 * MOST_FILES]
    except OSError as error:
        raise StorageError(f"cannot read {place}: {error.strerror}") from error


def _copied(path: Path, name: str, intake: Intake) -> None:
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "a special file"
        raise UnsafePackage(f"it holds {kind}, {visible(name)[:120]}")
    intake.count(status.st_size)
    with (
        os.fdopen(intake.opened(name), "wb") as target,
        os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as source,
    ):
        shutil.copyfileobj(source, target, _CHUNK)
        os.fchmod(target.fileno(), 0o700 if status.st_mode & 0o100 else 0o600)


def _unpacked(packed: zipfile.ZipFile, intake: Intake) -> None:
    entries = packed.infolist()
    if len(entries) > 2 * MOST_FILES:  # folders are entries too
        raise UnsafePackage(f"it has more than {MOST_FILES:,} files")
    for entry in entries:
        mode = entry.external_attr >> 16
        if any(part in _LEFT_OUT for part in entry.filename.split("/")):
            continue
        if entry.is_dir():
            checked_path(entry.filename.rstrip("/"))
            continue
        if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            kind = "a link" if stat.S_ISLNK(mode) else "a special file"
            raise UnsafePackage(f"it holds {kind}, {visible(entry.filename)[:120]}")
        if entry.flag_bits & 1:
            raise UnsafePackage("it is encrypted")
        _extracted(packed, entry, intake)


def _extracted(packed: zipfile.ZipFile, entry: zipfile.ZipInfo, intake: Intake) -> None:
    """Write one file, counting what really comes: what its header says is only a claim."""
    size = 0
    with packed.open(entry) as source, os.fdopen(intake.opened(entry.filename), "wb") as target:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            intake.count(len(chunk))
            if size > LARGE and size > RATIO * max(1, entry.compress_size):
                raise UnsafePackage(f"{visible(entry.filename)[:120]} unfolds to more than it should")
            target.write(chunk)
        if entry.external_attr >> 16 & 0o100:
            os.fchmod(target.fileno(), 0o700)
