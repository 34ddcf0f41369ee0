"""Reads the built-in skills and the owner's own, parsing only what no index and no cache knows as it is."""

import json
import logging
import os
import stat
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from palmclaw import __version__
from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, StorageError
from palmclaw.core.skill import Flaw, Skill, Source
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import replaced
from palmclaw.storage.skill_file import KEYWORDS, MOST_BYTES, SKILL, BrokenSkill, digest, parsed, split, text_of

log = logging.getLogger(__name__)
BUILTIN = Path(__file__).parents[1] / "skills"
INDEX = "index.json"
MOST_SKILLS = 500
"""Folders that are looked at in one place."""


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a skill in it, or with what is wrong with that."""

    name: str
    source: Source
    folder: Path
    skill: Skill | None = None
    flaw: Flaw | None = None


Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What was read of a folder, and how its two files looked then."""

    key: tuple[int, ...]
    skill: Skill | None = None
    flaw: Flaw | None = None


@dataclass(frozen=True, slots=True)
class _Cache:
    version: str = ""
    entries: dict[str, _Entry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Index:
    skills: dict[str, Skill] = field(default_factory=dict)


def index(folder: Path = BUILTIN) -> str:
    """The text of the index for the built-in skills as they are. Raises BrokenSkill."""
    skills = {place.name: replace(_parsed(place, Source.BUILTIN), body="") for place in places(folder)}
    return json.dumps(encode(_Index(skills)), ensure_ascii=False, indent=1) + "\n"


def built_in(folder: Path = BUILTIN) -> tuple[Found, ...]:
    """The skills of the package; one that the index does not know as it is, is parsed."""
    known = _known(folder / INDEX)
    return tuple(_built_in(place, known.get(place.name)) for place in places(folder))


def of_the_owner(folder: Path, cache: Path) -> tuple[Found, ...]:
    """The skills of the owner's folder; what was parsed is kept for the next start."""
    before = _cached(cache)
    after = {place.name: _entry(place, before.get(place.name)) for place in places(folder)}
    if after != before:
        _keep(cache, after)
    return tuple(Found(name, Source.USER, folder / name, e.skill, e.flaw) for name, e in after.items())


def of_a_package(folder: Path) -> tuple[Found, ...]:
    """The skills of an installed extension."""
    read = ((place, _entry(place, None, Source.PACKAGE)) for place in places(folder))
    return tuple(Found(place.name, Source.PACKAGE, place, e.skill, e.flaw) for place, e in read)


def places(folder: Path) -> tuple[Path, ...]:
    """The folders that may hold a skill, by name; a dot hides one."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if not e.name.startswith((".", "__")) and e.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        log.warning("the skills in %s cannot be looked at: %s", folder, error)
        return ()
    return tuple(folder / name for name in sorted(names)[:MOST_SKILLS])


def key(place: Path) -> Key:
    """How the files of a skill look from outside: another key, perhaps another content."""
    found: list[int] = []
    for name in (SKILL, KEYWORDS):
        try:
            status = (place / name).stat()
        except OSError:
            found += (0, 0, 0)
        else:
            found += (status.st_size, status.st_mtime_ns, status.st_ino)
    return tuple(found)


def contents(place: Path) -> tuple[bytes, bytes]:
    """The bytes of SKILL.md and of the keywords, which need not be there. Raises BrokenSkill."""
    raw = _content(place, SKILL)
    if raw is None:
        near = next((name for name in _names(place) if name.lower() == SKILL.lower()), "")
        raise BrokenSkill(0, f"is missing{f': rename {near}' if near else ''}")
    return raw, _content(place, KEYWORDS) or b""


def _parsed(place: Path, source: Source) -> Skill:
    return parsed(place.name, *contents(place), source)


def _built_in(place: Path, known: Skill | None) -> Found:
    try:
        raw, keywords = contents(place)
        if known is not None and known.digest == digest(raw, keywords):
            skill = replace(known, body=split(text_of(raw)).body)
        else:
            skill = parsed(place.name, raw, keywords, Source.BUILTIN)
    except BrokenSkill as error:
        return Found(place.name, Source.BUILTIN, place, flaw=error.flaw)
    return Found(place.name, Source.BUILTIN, place, skill)


def _entry(place: Path, before: _Entry | None, source: Source = Source.USER) -> _Entry:
    now = key(place)
    if before is not None and before.key == now:
        return before
    try:
        return _Entry(now, _parsed(place, source))
    except BrokenSkill as error:
        return _Entry(now, flaw=error.flaw)


def _content(place: Path, name: str) -> bytes | None:
    """The bytes of a file, if there is one. Raises BrokenSkill."""
    try:
        descriptor = os.open(place / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BrokenSkill(0, f"cannot be read: {error.strerror}", name) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BrokenSkill(0, "is no regular file", name)
        if status.st_size > MOST_BYTES:
            raise BrokenSkill(0, f"has {status.st_size:,} bytes; at most {MOST_BYTES:,}", name)
        return os.read(descriptor, MOST_BYTES)
    finally:
        os.close(descriptor)


def _names(place: Path) -> list[str]:
    try:
        return sorted(os.listdir(place))
    except OSError:
        return []


def _known(file: Path) -> Mapping[str, Skill]:
    try:
        return decode(_Index, json.loads(file.read_bytes())).skills
    except (OSError, ValueError, BadArguments):
        return {}


def _cached(file: Path) -> Mapping[str, _Entry]:
    """A damaged cache, or one of another version, is as good as none."""
    try:
        cache = decode(_Cache, json.loads(file.read_bytes()))
    except (OSError, ValueError, RecursionError, BadArguments):
        return {}
    return cache.entries if cache.version == __version__ else {}


def _keep(file: Path, entries: Mapping[str, _Entry]) -> None:
    """A disk that refuses costs only the next start a second look."""
    try:
        replaced(file, json.dumps(encode(_Cache(__version__, dict(entries))), ensure_ascii=False).encode())
    except StorageError as error:
        log.warning("what was read of the skills is not kept: %s", error)
