"""The files of a skill's folder: what there is, whether it is what the owner approved, and safe reading."""

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from palmclaw.core.errors import OutOfBounds, ToolError
from palmclaw.core.tools import Access
from palmclaw.core.values import dataclass
from palmclaw.guard.workspace import Workspace
from palmclaw.storage.skill_file import BrokenSkill

MOST_FILES = 2_000
LARGEST_SEALED = 20_000_000
"""Bytes of all files of a workspace's skill: each change makes all of them be read again."""
READABLE = ("references", "scripts", "assets")


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file by its path inside the skill; `mark` differs whenever its content may."""

    path: str
    size: int
    mark: tuple[int, ...]

    @property
    def changed_at(self) -> float:
        return self.mark[2] / 1e9


@dataclass(frozen=True, slots=True)
class Seal:
    """The digest of a whole skill, and of each of its files."""

    digest: str
    files: Mapping[str, str]

    def holds(self, path: str, content: bytes) -> bool:
        """Whether this is the file as it was approved."""
        return self.files.get(path) == hashlib.sha256(content).hexdigest()


def surveyed(folder: Path) -> tuple[TreeFile, ...]:
    """Every file below, by path. Raises BrokenSkill for links, devices and more files than a skill may have."""
    found: list[TreeFile] = []
    waiting = [folder]
    while waiting:
        for entry in _entries(waiting.pop(), folder):
            name, status = os.path.relpath(entry.path, folder), entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                waiting.append(Path(entry.path))
            elif stat.S_ISREG(status.st_mode):
                mark = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                found.append(TreeFile(name, status.st_size, mark))
            else:
                kind = "a link" if stat.S_ISLNK(status.st_mode) else "a special file"
                raise BrokenSkill(0, f"is {kind}; a skill holds files and folders only", name)
        if len(found) + len(waiting) > MOST_FILES:
            raise BrokenSkill(0, f"has more than {MOST_FILES:,} files", folder.name)
    return tuple(sorted(found, key=lambda each: each.path))


def _entries(place: Path, folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(place) as entries:
            return list(entries)
    except OSError as error:
        raise BrokenSkill(0, f"cannot be read: {error.strerror}", os.path.relpath(place, folder)) from error


def sealed(folder: Path, files: Sequence[TreeFile]) -> Seal:
    """What the owner approves: every name and every byte. Raises BrokenSkill."""
    size = sum(file.size for file in files)
    if size > LARGEST_SEALED:
        raise BrokenSkill(0, f"has {size:,} bytes; at most {LARGEST_SEALED:,} in a workspace", folder.name)
    inside = Workspace({"session": folder})
    digests: dict[str, str] = {}
    for file in files:
        try:
            content = inside.read(inside.resolve(file.path, Access.READ), LARGEST_SEALED)
        except ToolError as error:
            raise BrokenSkill(0, str(error), file.path) from error
        digests[file.path] = hashlib.sha256(content).hexdigest()
    whole = "\n".join(f"{digest} {path}" for path, digest in digests.items())
    return Seal(hashlib.sha256(whole.encode("utf-8", "surrogateescape")).hexdigest(), digests)


def content_of(folder: Path, path: str, limit: int) -> tuple[str, bytes]:
    """The true path inside the skill, and the bytes of a file that may be read on demand. Raises ToolError."""
    inside = Workspace({"session": folder})
    try:
        checked = inside.resolve(path, Access.READ)
    except OutOfBounds as error:
        raise OutOfBounds("out_of_bounds", f"{path[:120]!r} is not inside the skill", hint=_WHERE) from error
    if checked.parts[:1] not in [(name,) for name in READABLE]:
        raise ToolError("not_readable", f"{checked.shown[:120]!r} is not for reading", hint=_WHERE)
    return checked.shown, inside.read(checked, limit)


_WHERE = f"Name a file below {', '.join(f'{name}/' for name in READABLE)}."
