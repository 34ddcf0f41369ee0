"""Puts skills into the owner's folder and takes them out again; nothing is on before the owner says so."""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from palmclaw.core.errors import StorageError
from palmclaw.core.skill import Skill
from palmclaw.core.tools import Access, CheckedPath
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import opened, replaced
from palmclaw.guard.workspace import Workspace
from palmclaw.paths import Home
from palmclaw.storage.skill_file import SKILL, parsed, wrong_name
from palmclaw.storage.skill_package import UnsafePackage, from_folder, from_zip, roots
from palmclaw.storage.skill_review import Review, reviewed
from palmclaw.storage.skill_shelf import contents
from palmclaw.storage.skill_state import StateFile, forgotten, installed, switched_on
from palmclaw.storage.skill_tree import Seal, sealed, surveyed

STAGING = ".staging"
ABANDONED = 86_400.0
"""Seconds after which what a killed process had staged is swept away."""
DESCRIPTION = "What it does, and when to use it."
SKELETON = """---
name: {name}
description: {description}
metadata:
  keywords: []  # what the owner would say: "packing list", "pack my … bag|suitcase", 收拾行李
---
1. What to find out first.
2. What to do, with which tool.
3. How to notice that it failed, and what to say then.
"""
_STEP = "1. What to find out first."


@dataclass(frozen=True, slots=True)
class Staged:
    """A skill that lies ready, outside of everything that is used; `origin` says where it came from."""

    folder: Path
    origin: str
    skill: Skill
    review: Review


@dataclass(frozen=True, slots=True)
class Bench:
    """The owner's folder of skills, and what changes it."""

    home: Home

    @contextmanager
    def room(self) -> Iterator[Path]:
        """A folder for one installation; it is gone afterwards, whatever happened."""
        staging = self.home.skills / STAGING
        place = staging / secrets.token_hex(6)
        try:
            place.mkdir(parents=True, mode=0o700)
            _sweep(staging)
        except OSError as error:
            raise StorageError(f"cannot write {staging}: {error.strerror}", "Is the disk full or read-only?") from error
        try:
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def staged(self, room: Path, content: Path, origin: str, wanted: str = "") -> Staged:
        """What a folder or a zip holds, copied into the room and looked into. Raises StorageError, BrokenSkill."""
        folder = room / "whole"
        folder.mkdir(mode=0o700)
        if content.is_dir():
            from_folder(_the_one(content, wanted), folder)
        else:
            from_zip(content, folder)
            folder = _the_one(folder, wanted)
        skill = parsed(None, *contents(folder))
        ready = room / "ready" / skill.name
        ready.parent.mkdir(mode=0o700)
        folder.rename(ready)
        return Staged(ready, origin, skill, reviewed(ready, skill, surveyed(ready)))

    def looked_into(self, folder: Path) -> tuple[Review, Seal]:
        """A workspace's skill, and the seal of exactly what was looked at: of a copy that nobody else can change.

        Raises BrokenSkill, StorageError.
        """
        sealed(folder, surveyed(folder))  # before it is copied: it may be too large, or hold links
        with self.room() as room:
            copy = room / folder.name
            try:
                shutil.copytree(folder, copy, symlinks=True)
            except (OSError, shutil.Error) as error:
                raise StorageError(f"{folder} changes while it is read") from error
            files = surveyed(copy)
            return reviewed(copy, parsed(folder.name, *contents(copy)), files), sealed(copy, files)

    def accept(self, staged: Staged, *, enable: bool, taken: bool = False, replace: bool = False) -> None:
        """Move it into the owner's folder. It is off unless `enable`; an older one goes into the trash.

        `taken`: a built-in skill has the name, so that it is not used before the owner says so by name.
        """
        name, state = staged.skill.name, StateFile(self.home.skill_state)
        target = self.home.skills / name
        if os.path.lexists(target):
            origin = state.read().origins.get(name, "")
            if not replace and _without_version(origin) != _without_version(staged.origin):
                raise StorageError(
                    f"there is a skill {name} already, from elsewhere", f"First: palmclaw skills remove {name}"
                )
        state.change(lambda before: installed(before, name, staged.origin, taken=taken))
        if os.path.lexists(target):
            self._discard(name)
        try:
            os.rename(staged.folder, target)
            with opened(self.home.skills) as folder:
                os.fsync(folder)
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror}", "Is the disk full or read-only?") from error
        if enable and not taken:
            state.change(lambda before: switched_on(before, name))

    def remove(self, name: str) -> None:
        """Into the trash, and forget what was decided about it. Raises StorageError."""
        if name in ("", ".", "..") or "/" in name or not os.path.lexists(self.home.skills / name):
            raise StorageError(f"you have no skill {name[:80]!r} of your own", "palmclaw skills list")
        self._discard(name)
        StateFile(self.home.skill_state).change(lambda before: forgotten(before, name))

    def new(self, name: str, description: str) -> Path:
        """A skeleton to be filled in. Raises StorageError."""
        if why := wrong_name(name):
            raise StorageError("the name " + why)
        target = self.home.skills / name
        if os.path.lexists(target):
            raise StorageError(f"there is a skill {name} already", f"palmclaw skills show {name}")
        text = SKELETON.format(name=name, description=_quoted(description))
        try:
            target.mkdir(parents=True, mode=0o700)
        except OSError as error:
            raise StorageError(f"cannot write {target}: {error.strerror}", "Is the disk full or read-only?") from error
        replaced(target / SKILL, text.encode())
        return target / SKILL

    def _discard(self, name: str) -> None:
        skills = Workspace({"session": self.home.skills})
        skills.discard(CheckedPath("session", (name,), Access.WRITE), self.home.trash, lambda place: None)


def checked(folder: Path, name: str | None = None) -> Review:
    """What is to be said of a folder with a skill in it. Raises BrokenSkill."""
    skill = parsed(name, *contents(folder))
    found = reviewed(folder, skill, surveyed(folder))
    return replace(found, unfilled=skill.description == DESCRIPTION or _STEP in skill.body)


def _the_one(place: Path, wanted: str) -> Path:
    """The skill that is meant among those that came."""
    found = roots(place)
    if not found:
        raise UnsafePackage(f"there is no {SKILL} in it", "A skill is a folder with a SKILL.md.")
    named = [each for each in found if wanted and each.name == wanted]
    if wanted and len(named) != 1:
        names = ", ".join(each.name for each in found)
        raise StorageError(f"there is no skill {wanted!r} in it; there are: {names}")
    if len(found) > 1 and not named:
        names = ", ".join(each.name for each in found)
        raise StorageError(f"there are {len(found)} skills in it: {names}", "Choose one: --skill NAME")
    return (named or found)[0]


def _without_version(origin: str) -> str:
    """Where something comes from, whichever version it was."""
    return origin.rpartition("@")[0] if origin.startswith("clawhub:") and "@" in origin else origin


def _quoted(text: str) -> str:
    """A text as YAML reads it back."""
    doubled = " ".join(text.split()).replace("'", "''")
    return f"'{doubled}'"


def _sweep(staging: Path) -> None:
    for place in staging.iterdir():
        if place.stat().st_mtime < time.time() - ABANDONED:
            shutil.rmtree(place, ignore_errors=True)
