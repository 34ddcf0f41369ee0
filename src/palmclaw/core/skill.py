"""What a skill is: instructions that the model reads when a matter calls for them, and what keeps one from use."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Protocol

from palmclaw.core.text import printable
from palmclaw.core.tools import Service
from palmclaw.core.values import dataclass

SUMMARY = 160
"""Characters of a catalogue line that was not written as one; matching reads the whole description."""
CATALOGUE = 4_000
"""Characters of the whole catalogue: beyond it lines become shorter, and at last the rest is only counted."""
HEADER = "Skills, instructions for a matter; before you begin with one, read it with the tool `skill`:"


class Source(StrEnum):
    """Where a skill lies: in the package, in an extension, in the owner's home, in the workspace of one session."""

    BUILTIN = "builtin"
    PACKAGE = "package"
    USER = "user"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class Requirements:
    """What must be there: all programs of `bins` and one of `any_bins`, variables, one of the systems, capabilities."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill as its SKILL.md tells it.

    `summary` is its line in the catalogue; `keywords` call for it, `hints` where a person speaks of his own matter, and
    `bars` call it off (core/keywords tells how they are written); `digest` is that of its text.
    """

    name: str
    description: str
    body: str
    summary: str = ""
    keywords: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()
    always: bool = False
    requires: Requirements = Requirements()
    source: Source = Source.BUILTIN
    digest: str = ""
    license: str = ""
    compatibility: str = ""
    allowed_tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Bar(StrEnum):
    """The kinds of reasons why a skill is not used."""

    BROKEN = "broken"
    OFF = "off"
    MISSING = "missing"
    UNAPPROVED = "unapproved"
    CHANGED = "changed"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a skill is not used, and what the owner can do."""

    bar: Bar
    text: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a skill's file; `line` counts from 1, 0 where no line is to blame."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.text}" if self.line else f"{self.file}: {self.text}"


@dataclass(frozen=True, slots=True)
class Standing:
    """One folder of skills as the owner sees it: the skill, or what is wrong with it, and why it is not used."""

    name: str
    source: Source
    folder: str
    skill: Skill | None = None
    flaw: Flaw | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def is_ready(self) -> bool:
        return self.skill is not None and not self.reasons


class Machine(Protocol):
    """What a requirement is checked against."""

    def has_program(self, name: str) -> bool: ...

    def has_variable(self, name: str) -> bool: ...

    def is_system(self, name: str) -> bool: ...

    def can(self, capability: str) -> bool:
        """Whether the phone can do what the capability of that name stands for; False for an unknown name."""
        ...


class Skills(Protocol):
    """The skills that a session may use."""

    async def ready(self, session: str) -> tuple[Skill, ...]:
        """Those that are switched on and have what they require, by name."""
        ...

    async def read(self, session: str, name: str, path: str = "") -> str:
        """A ready skill's body, or a text file of its references, scripts or assets. Raises ToolError."""
        ...


def lacking(requires: Requirements, machine: Machine) -> tuple[Reason, ...]:
    """What of the requirements is not there."""
    found = [f"the program {name} is not installed" for name in requires.bins if not machine.has_program(name)]
    if requires.any_bins and not any(map(machine.has_program, requires.any_bins)):
        found.append(f"none of the programs {', '.join(requires.any_bins)} is installed")
    found += [f"the variable {name} is not set" for name in requires.env if not machine.has_variable(name)]
    if requires.os and not any(map(machine.is_system, requires.os)):
        found.append(f"it is for {', '.join(requires.os)} only")
    found += [f"this phone cannot do {name}" for name in requires.capabilities if not machine.can(name)]
    return tuple(Reason(Bar.MISSING, text) for text in found)


def summary_of(description: str) -> str:
    """The beginning of a description, on one line, cut between two words."""
    line = one_line(description)
    if len(line) <= SUMMARY:
        return line
    head = line[: SUMMARY - 1]
    shorter = head.rpartition(" ")[0]
    return f"{shorter if len(shorter) > SUMMARY // 2 else head}…"


def one_line(text: str) -> str:
    """The text without line breaks and without what steers a reader's eyes or terminal."""
    return " ".join(printable(text.replace("\t", " ")).split())


def catalogue(skills: Sequence[Skill]) -> str:
    """One short line for each; empty where there is none."""
    if not skills:
        return ""
    for most in (SUMMARY, 60, 0):
        lines = [_line(skill, most) for skill in skills]
        if _size(lines) <= CATALOGUE:
            return "\n".join((HEADER, *lines))
    kept = list(lines)
    while _size(kept) > CATALOGUE:
        kept.pop()
    return "\n".join((HEADER, *kept, f"and {len(lines) - len(kept)} more"))


def _line(skill: Skill, most: int) -> str:
    text = one_line(skill.summary or summary_of(skill.description))
    if not most:
        return f"- {skill.name}"
    return f"- {skill.name}: {text if len(text) <= most else f'{text[: most - 1].rstrip()}…'}"


def _size(lines: Iterable[str]) -> int:
    return len(HEADER) + sum(len(line) + 1 for line in lines)


SKILLS: Service[Skills] = Service("skills")
