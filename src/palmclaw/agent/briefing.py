"""What a model is told beside a person's words: memory and the skills there are, those that fit, and what is new."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from palmclaw.core.matching import matching
from palmclaw.core.memory import Kept
from palmclaw.core.messages import Message, Part, Role, Stamp
from palmclaw.core.notes import news, shown
from palmclaw.core.ports import Snapshots
from palmclaw.core.records import News
from palmclaw.core.skill import Skill, Skills, catalogue
from palmclaw.core.text import clipped
from palmclaw.core.values import dataclass

HEARD = 4
"""The newest user messages to which skills are matched, with the one that is being answered."""
BODY = 6_000
"""Characters of a skill that are given at once."""
_NEWS = "[Memory has changed:"


class Remembers(Protocol):
    """Memory, for who only reads it."""

    async def read(self) -> Kept: ...


@dataclass(frozen=True, slots=True)
class Lasting:
    """What stands in a session's snapshot besides policy and rules; `known` is the memory that it tells of."""

    text: str = ""
    known: str = ""


@dataclass(frozen=True, slots=True)
class Briefing:
    """Tells a session what it should know; of memory only where nobody but the owner reads along."""

    snapshots: Snapshots
    memory: Remembers
    skills: Skills

    async def lasting(self, session: str, *, knows: bool, uses_skills: bool) -> Lasting:
        """Memory and the catalogue of skills, for a new snapshot."""
        known = shown((await self.memory.read()).text) if knows else ""
        listed = catalogue(await self.skills.ready(session)) if uses_skills else ""
        told = f"What you remember:\n{known}" if known else ""
        return Lasting("\n".join(text for text in (told, listed) if text), known)

    async def news(self, session: str, said: Sequence[str], seen: Sequence[Message], *, knows: bool) -> News:
        """What is stamped on a new message: skills that fit and are not in what is `seen`, and memory's changes."""
        bodies = [Stamp(_given(skill)) for skill in await self._fitting(session, seen, said)]
        known = await self._gained(session) if knows else None
        changed = news(known[0], known[1]) if known else ""
        told = [Stamp(f"{_NEWS}\n{changed}]")] if changed else []
        return News((*bodies, *told), known[1] if known else None)

    async def _fitting(self, session: str, seen: Sequence[Message], said: Sequence[str]) -> list[Skill]:
        ready = await self.skills.ready(session)
        own = [m.text for m in seen if m.role is Role.USER and m.text and not m.tainted and not m.sender]
        heard = [*own, *said][-max(HEARD, len(said)) :]
        wanted = dict.fromkeys((*(s for s in ready if s.always), *matching(ready, heard)))
        stamps = [p.text for m in seen for p in m.parts if isinstance(p, Stamp)]
        return [skill for skill in wanted if not any(text.startswith(_opening(skill)) for text in stamps)]

    async def _gained(self, session: str) -> tuple[str, str] | None:
        """What the session has been told of memory, and how it is now; None where it is to be told nothing."""
        snapshot = await self.snapshots.snapshot(session)
        if snapshot is None or not snapshot.system:  # its next request begins anew
            return None
        now = shown((await self.memory.read()).text)
        return (snapshot.known, now) if now != snapshot.known else None


def unremembered(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages without what was stamped on them of memory: others have come to read along since."""
    return tuple(replace(m, parts=kept) if len(kept := _untold(m)) < len(m.parts) else m for m in messages)


def _untold(message: Message) -> tuple[Part, ...]:
    return tuple(p for p in message.parts if not (isinstance(p, Stamp) and p.text.startswith(_NEWS)))


def _opening(skill: Skill) -> str:
    return f"<skill name={skill.name}>"


def _given(skill: Skill) -> str:
    return f"{_opening(skill)}\n{clipped(skill.body.strip(), BODY, 'the tool `skill` reads the rest')}\n</skill>"
