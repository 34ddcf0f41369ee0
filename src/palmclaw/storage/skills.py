"""The skills of this home: the package's, those of installed extensions, the owner's own, and those of a session's
workspace once approved.
"""

import asyncio
import difflib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path

from palmclaw.core.charset import text_of
from palmclaw.core.errors import ToolError
from palmclaw.core.skill import Bar, Machine, Reason, Skill, Source, Standing, lacking
from palmclaw.core.values import dataclass
from palmclaw.paths import Home
from palmclaw.storage.skill_file import KEYWORDS, SKILL, BrokenSkill, parsed
from palmclaw.storage.skill_shelf import (
    BUILTIN,
    Found,
    Key,
    built_in,
    contents,
    key,
    of_a_package,
    of_the_owner,
    places,
)
from palmclaw.storage.skill_state import SkillState, StateFile
from palmclaw.storage.skill_tree import Seal, TreeFile, content_of, sealed, surveyed

MOST_READ = 1_000_000
"""Bytes of a file that is read on demand."""
SETTLED = 2.0
"""Seconds after which a file's times tell that it has not been written since."""


@dataclass(frozen=True, slots=True)
class _Shelf:
    """What lies in the package and in the owner's folder, and how that looked from outside."""

    looks: tuple[tuple[str, Key], ...]
    found: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Guest:
    """A skill of a workspace: how its files look, whether that is certain by now, and what they hold."""

    found: Found
    files: tuple[TreeFile, ...] = ()
    seal: Seal | None = None
    settled: bool = False


@dataclass(slots=True)
class SkillFolders:
    """Implements the Skills port; while nothing changes, a look costs a stat for each file.

    `workspace` tells the folder of a session's files; None: there is none yet. `extensions` are the folders in which
    installed extensions keep skills.
    """

    home: Home
    machine: Machine
    workspace: Callable[[str], Path | None] = lambda session: None
    package: Path = BUILTIN
    extensions: Callable[[], Sequence[Path]] = tuple
    now: Callable[[], float] = time.time
    state: StateFile = field(init=False)
    _shelf: _Shelf | None = None
    _guests: dict[Path, Guest] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state = StateFile(self.home.skill_state)

    async def ready(self, session: str) -> tuple[Skill, ...]:
        """Those that are switched on and have what they require, by name."""
        return tuple(each.skill for each in await self.standing(session) if each.skill is not None and each.is_ready)

    async def standing(self, session: str = "") -> tuple[Standing, ...]:
        """Every skill there is, also those that are not used, with the reasons; without a session no workspace's."""
        looks = self._looks()
        if self._shelf is None or self._shelf.looks != looks:
            self._shelf = _Shelf(looks, await asyncio.to_thread(self._read))
        guests = await self._of_the_workspace(session)
        return standings(self._shelf.found, [guest.found for guest in guests], self._seals(guests), self)

    async def read(self, session: str, name: str, path: str = "") -> str:
        """A ready skill's body, or a text file of its references, scripts or assets. Raises ToolError."""
        known = await self.standing(session)
        here = [each for each in known if each.name == name]
        each = next((e for e in here if e.is_ready), None)
        if each is None or each.skill is None:
            raise _refusal(name, here, [e.name for e in known if e.is_ready])
        if not path.strip() or path.strip() == SKILL:
            return each.skill.body
        return await asyncio.to_thread(self._file, Path(each.folder), path)

    def _looks(self) -> tuple[tuple[str, Key], ...]:
        """How the owner's folder looks; the package does not change while it runs."""
        return tuple((place.name, key(place)) for place in places(self.home.skills))

    def _read(self) -> tuple[Found, ...]:
        installed = (found for folder in self.extensions() for found in of_a_package(folder))
        return (*built_in(self.package), *installed, *of_the_owner(self.home.skills, self.home.skill_cache))

    async def _of_the_workspace(self, session: str) -> tuple[Guest, ...]:
        folder = self.workspace(session) if session else None
        if folder is None or not (folder / "skills").is_dir():
            return ()
        before = dict(self._guests)
        found = await asyncio.to_thread(lambda: [self._guest(p, before.get(p)) for p in places(folder / "skills")])
        self._guests |= {guest.found.folder: guest for guest in found}
        return tuple(found)

    def _guest(self, place: Path, before: Guest | None) -> Guest:
        """A workspace's skill as it is now; its files are read again unless their times are certain to tell."""
        try:
            files = surveyed(place)
            if before is not None and before.settled and before.files == files:
                return before
            began = self.now()
            seal = sealed(place, files)
            raw, keywords = contents(place)
            if not seal.holds(SKILL, raw) or (keywords and not seal.holds(KEYWORDS, keywords)):
                raise BrokenSkill(0, "changes while it is read", place.name)
            skill = parsed(place.name, raw, keywords, Source.WORKSPACE)
        except BrokenSkill as error:
            return Guest(Found(place.name, Source.WORKSPACE, place, flaw=error.flaw))
        settled = max((file.changed_at for file in files), default=0.0) < began - SETTLED
        return Guest(Found(place.name, Source.WORKSPACE, place, skill), files, seal, settled)

    def _seals(self, guests: Sequence[Guest]) -> dict[Path, str]:
        return {guest.found.folder: guest.seal.digest for guest in guests if guest.seal is not None}

    def _file(self, folder: Path, path: str) -> str:
        true, content = content_of(folder, path, MOST_READ)
        guest = self._guests.get(folder)
        if guest is not None and guest.seal is not None and not guest.seal.holds(true, content):
            raise ToolError("changed", f"{true} has changed since the owner approved it")
        found = text_of(content)
        if found is None:
            raise ToolError("binary", f"{true} is not text ({len(content):,} bytes)")
        return found[0]


def standings(
    own: Sequence[Found], guests: Sequence[Found], seals: dict[Path, str], folders: SkillFolders
) -> tuple[Standing, ...]:
    """What the owner's decisions, the names and the machine make of what was found, by name."""
    state = folders.state.read()
    names = {source: {f.name for f in own if f.source is source} for source in Source}
    mended = {f.name for f in own if f.source is Source.USER and f.skill is not None}
    replacing = mended & set(state.replacing) & names[Source.BUILTIN]
    own_names = names[Source.BUILTIN] | names[Source.USER]
    taken = own_names | names[Source.PACKAGE]
    found: list[Standing] = []
    for each in (*own, *guests):
        if each.source is Source.BUILTIN:
            barred = _replaced(each, replacing)
        elif each.source is Source.PACKAGE:
            barred = _taken(each, own_names)
        elif each.source is Source.USER:
            barred = _in_the_way(each, names[Source.BUILTIN] - replacing, state)
        else:
            barred = _unapproved(each, taken, state, seals.get(each.folder, ""))
        found.append(_standing(each, barred, state, folders.machine))
    return tuple(sorted(found, key=lambda each: (each.name, each.source)))


def _standing(found: Found, barred: tuple[Reason, ...], state: SkillState, machine: Machine) -> Standing:
    if found.skill is None:
        reasons = (Reason(Bar.BROKEN, str(found.flaw), f"palmclaw skills check {found.folder}"),)
    else:
        off = (Reason(Bar.OFF, "it is switched off", f"palmclaw skills enable {found.name}"),)
        reasons = (*barred, *(off if found.name in state.off else ()), *lacking(found.skill.requires, machine))
    return Standing(found.name, found.source, str(found.folder), found.skill, found.flaw, reasons)


def _replaced(found: Found, replacing: set[str]) -> tuple[Reason, ...]:
    if found.name not in replacing:
        return ()
    return (Reason(Bar.TAKEN, "your own skill of this name is in its place", f"palmclaw skills disable {found.name}"),)


def _in_the_way(found: Found, builtin: set[str], state: SkillState) -> tuple[Reason, ...]:
    """A skill of the owner's that must not be used yet."""
    if state.damaged:
        return (Reason(Bar.OFF, "what you decided about skills cannot be read", "Mend or delete skills.json."),)
    if found.name in builtin:
        enable = f"palmclaw skills enable {found.name}"
        return (Reason(Bar.TAKEN, "a built-in skill has this name", f"To put it in its place: {enable}"),)
    return ()


def _taken(found: Found, taken: set[str]) -> tuple[Reason, ...]:
    """A skill of an extension takes nobody's place."""
    return (Reason(Bar.TAKEN, "another skill has this name"),) if found.name in taken else ()


def _unapproved(found: Found, taken: set[str], state: SkillState, seal: str) -> tuple[Reason, ...]:
    """A skill of a workspace that must not be used as it is."""
    if found.name in taken:
        return (Reason(Bar.TAKEN, "another skill has this name, and one of a workspace never takes its place"),)
    known, enable = state.approved.get(os.path.realpath(found.folder), ""), f"palmclaw skills enable {found.folder}"
    if not known or state.damaged:
        return (Reason(Bar.UNAPPROVED, "you have not approved it", enable),)
    if known != seal:
        return (Reason(Bar.CHANGED, "it has changed since you approved it", enable),)
    return ()


def _refusal(name: str, here: Sequence[Standing], ready: Sequence[str]) -> ToolError:
    reasons = [reason for each in here for reason in each.reasons]
    if reasons:
        return ToolError("not_ready", f"the skill {name} is not in use: {reasons[0].text}", hint="Tell the owner.")
    near = difflib.get_close_matches(name, ready, n=3, cutoff=0.5) or ready
    return ToolError("not_found", f"there is no skill {name[:80]!r}", hint=f"There are: {', '.join(near) or 'none'}")


def broken(known: Sequence[Standing]) -> list[str]:
    """What the doctor says: a line for each skill that cannot be read or whose text was forgiven something."""
    lines = [f"{each.folder}: {each.flaw}" for each in known if each.flaw is not None]
    return lines + [f"{e.folder}: {SKILL}, {warning}" for e in known if e.skill for warning in e.skill.warnings]
