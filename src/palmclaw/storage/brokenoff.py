"""Turns that did not come to their end: what a crash left, and what waits for the person because of one."""

import json
import sqlite3
from typing import Any

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, Fault
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """One such turn. `resume` as in core.records.Resume; `fault` is why it was closed, None while it is open."""

    id: str
    session: str
    started: str
    resume: str
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class BrokenOffTurns:
    """Reads what is kept of them; the database may be another process's."""

    database: Database

    async def unfinished(self, session: str = "") -> tuple[BrokenOff, ...]:
        """The turns (of one session, or all) that a crash broke off and that no other has come to an end after."""
        return await self.database.run(lambda db: _rows(db, _UNFINISHED, session))

    async def open(self) -> tuple[BrokenOff, ...]:
        """The turns that run, or that a process which is no more left running."""
        return await self.database.run(lambda db: _rows(db, _OPEN, ""))


_COLUMNS = "SELECT t.id, t.session, t.started, t.resume, t.error FROM turn t"
_UNFINISHED = f"""
{_COLUMNS} WHERE t.state='interrupted' AND :session IN ('', t.session)
AND NOT EXISTS (SELECT 1 FROM turn n WHERE n.session=t.session AND n.started>t.started AND n.state='ended')
ORDER BY t.started, t.id
"""
_OPEN = f"{_COLUMNS} WHERE t.state='running' AND :session='' ORDER BY t.started, t.id"


def _rows(db: sqlite3.Connection, query: str, session: str) -> tuple[BrokenOff, ...]:
    rows = db.execute(query, {"session": session}).fetchall()
    return tuple(BrokenOff(turn, of, started, resume, _fault(error)) for turn, of, started, resume, error in rows)


def _fault(error: Any) -> Fault | None:
    """One that cannot be read must not hide the others."""
    try:
        return decode(Fault, json.loads(error)) if error else None
    except (ValueError, BadArguments):
        return None
