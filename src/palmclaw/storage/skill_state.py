"""What the owner has decided about skills: switched off, in a built-in one's place, approved as they are."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, StorageError
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import locked, replaced


@dataclass(frozen=True, slots=True)
class SkillState:
    """`replacing`: the owner's own ones that take a built-in one's place; `approved`: folders and their digests.

    `origins` say where installed ones came from. `damaged`: the file cannot be read, so nothing of the owner's is on.
    """

    off: tuple[str, ...] = ()
    replacing: tuple[str, ...] = ()
    approved: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class _Stored:
    off: tuple[str, ...] = ()
    replacing: tuple[str, ...] = ()
    approved: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


_Signature = tuple[int, int, int]


@dataclass(slots=True)
class StateFile:
    """One small file, replaced as a whole and read again when it was, by whomever."""

    path: Path
    _seen: tuple[_Signature, SkillState] | None = field(default=None)

    def read(self) -> SkillState:
        """As it is now; without a file nothing is decided."""
        try:
            status = self.path.stat()
            signature = status.st_mtime_ns, status.st_ino, status.st_size
            if self._seen is None or self._seen[0] != signature:
                self._seen = signature, self._decoded()
        except FileNotFoundError:
            return SkillState()
        except OSError:
            return SkillState(damaged=True)
        return self._seen[1]

    def change(self, change: Callable[[SkillState], SkillState]) -> None:
        """Replace it by what `change` makes of it. Raises StorageError."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self.path):
            before = self.read()
            if before.damaged:
                raise StorageError(f"{self.path} is damaged", "It says which skills are on. Mend it, or delete it.")
            after = change(before)
            stored = _Stored(after.off, after.replacing, dict(after.approved), dict(after.origins))
            replaced(self.path, json.dumps(encode(stored), ensure_ascii=False, indent=1).encode())

    def _decoded(self) -> SkillState:
        try:
            stored = decode(_Stored, json.loads(self.path.read_bytes()))
        except (ValueError, RecursionError, BadArguments):
            return SkillState(damaged=True)
        return SkillState(stored.off, stored.replacing, stored.approved, stored.origins)


def switched_on(state: SkillState, name: str, *, replacing: bool = False) -> SkillState:
    """With a skill on; `replacing`: in the place of the built-in one of its name."""
    off = tuple(n for n in state.off if n != name)
    places = tuple(sorted({*state.replacing, name})) if replacing else state.replacing
    return SkillState(off, places, state.approved, state.origins)


def switched_off(state: SkillState, name: str) -> SkillState:
    """With a skill off; one in a built-in one's place gives that back."""
    if name in state.replacing:
        return SkillState(state.off, tuple(n for n in state.replacing if n != name), state.approved, state.origins)
    return SkillState(tuple(sorted({*state.off, name})), state.replacing, state.approved, state.origins)


def approved(state: SkillState, folder: Path, digest: str) -> SkillState:
    """With a workspace's skill on as it is now; an empty digest takes that back."""
    place = os.path.realpath(folder)
    others = {each: seal for each, seal in state.approved.items() if each != place}
    found = {**others, place: digest} if digest else others
    return SkillState(state.off, state.replacing, found, state.origins)


def installed(state: SkillState, name: str, origin: str, *, taken: bool = False) -> SkillState:
    """With a skill that has just come, off until the owner says yes; where its name is taken that is so by itself."""
    off = state.off if taken else tuple(sorted({*state.off, name}))
    places = tuple(n for n in state.replacing if n != name)
    return SkillState(off, places, state.approved, {**state.origins, name: origin})


def forgotten(state: SkillState, name: str) -> SkillState:
    """Without anything about a skill that is gone."""
    off, places = (tuple(n for n in names if n != name) for names in (state.off, state.replacing))
    return SkillState(off, places, state.approved, {n: o for n, o in state.origins.items() if n != name})
