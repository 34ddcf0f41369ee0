"""What a model is told beside a person's words: memory and the skills there are, those that fit, and what is new."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from palmclaw.agent.window import since
from palmclaw.core.matching import matching
from palmclaw.core.memory import Kept
from palmclaw.core.messages import Message, Role, Stamp
from palmclaw.core.notes import news, shown
from palmclaw.core.ports import Log, Snapshots
from palmclaw.core.skill import Skill, Skills, catalogue
from palmclaw.core.text import clipped
from palmclaw.core.values import dataclass

HEARD = 4
"""The newest user messages to which skills are matched, with the one that is being answered."""
READ = 60
"""Messages in which a skill's body is looked for, so that it is not given twice."""
BODY = 6_000
"""Characters of a skill that are given at once."""


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

    log: Log
    snapshots: Snapshots
    memory: Remembers
    skills: Skills

    async def lasting(self, session: str, *, knows: bool, uses_skills: bool) -> Lasting:
        """Memory and the catalogue of skills, for a new snapshot."""
        known = shown((await self.memory.read()).text) if knows else ""
        listed = catalogue(await self.skills.ready(session)) if uses_skills else ""
        told = f"What you remember:\n{known}" if known else ""
        return Lasting("\n".join(text for text in (told, listed) if text), known)

    async def news(self, session: str, said: Sequence[str], *, knows: bool) -> tuple[Stamp, ...]:
        """What is stamped on a new message: skills that fit and are not in the window, and what memory has gained."""
        tail = await self.log.tail(session, READ)
        seen = since(tail, await self.snapshots.summary(session))
        bodies = [Stamp(_given(skill)) for skill in await self._fitting(session, seen, said)]
        changed = await self._changed(session) if knows else ""
        return (*bodies, *([Stamp(f"[Memory has changed:\n{changed}]")] if changed else []))

    async def _fitting(self, session: str, seen: Sequence[Message], said: Sequence[str]) -> list[Skill]:
        ready = await self.skills.ready(session)
        own = [m.text for m in seen if m.role is Role.USER and m.text and not m.tainted and not m.sender]
        heard = [*own, *said][-max(HEARD, len(said)) :]
        wanted = dict.fromkeys((*(s for s in ready if s.always), *matching(ready, heard)))
        stamps = [p.text for m in seen for p in m.parts if isinstance(p, Stamp)]
        return [skill for skill in wanted if not any(text.startswith(_opening(skill)) for text in stamps)]

    async def _changed(self, session: str) -> str:
        """How memory differs from what the session has been told; told once."""
        snapshot = await self.snapshots.snapshot(session)
        if snapshot is None:
            return ""
        now = shown((await self.memory.read()).text)
        if now == snapshot.known:
            return ""
        await self.snapshots.keep(session, replace(snapshot, known=now))
        return news(snapshot.known, now)


def _opening(skill: Skill) -> str:
    return f"<skill name={skill.name}>"


def _given(skill: Skill) -> str:
    return f"{_opening(skill)}\n{clipped(skill.body.strip(), BODY, 'the tool `skill` reads the rest')}\n</skill>"
