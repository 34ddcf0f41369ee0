"""Sub-agents' sessions: whose they are, what they were told, and of whose end the parent has not heard."""

import json
import sqlite3

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, Fault
from palmclaw.core.events import Stop
from palmclaw.core.messages import iso, utc_now
from palmclaw.core.records import Stored, Unreported
from palmclaw.core.text import whole
from palmclaw.core.traffic import Inbound
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import put
from palmclaw.storage.queries import make_session


@dataclass(frozen=True, slots=True)
class CrewRecords:
    """Implements CrewStore on `session`, `turn` and `inbox`."""

    database: Database

    async def begin(self, task: Inbound, parent: str, charge: str) -> Stored:
        """Make the session of a sub-agent, with its task in its queue; it uses its parent's model."""
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> Stored:
            make_session(db, task.session, at)
            db.execute(_CHARGE, {"parent": parent, "charge": whole(charge), "id": task.session})
            return put(db, task, at)

        return await self.database.run(work)

    async def charged(self, session: str) -> str:
        """The charge of a sub-agent's session; empty for any other session."""
        query = "SELECT charge FROM session WHERE id=?"
        row = await self.database.run(lambda db: db.execute(query, (session,)).fetchone())
        return str(row[0]) if row else ""

    async def at_work(self, parent: str) -> int:
        """How many sub-agents of a session have not come to their end."""
        row = await self.database.run(lambda db: db.execute(_AT_WORK, (parent,)).fetchone())
        return int(row[0])

    async def begun(self, turn: str) -> Inbound | None:
        """The message whose settings hold for a turn."""
        row = await self.database.run(lambda db: db.execute("SELECT begun FROM turn WHERE id=?", (turn,)).fetchone())
        try:
            return decode(Inbound, json.loads(row[0])[-1]) if row and row[0] else None
        except (ValueError, IndexError, BadArguments):
            return None

    async def unreported(self, parent: str = "") -> tuple[Unreported, ...]:
        """Turns of sub-agents that have ended without a report to their parents."""
        rows = await self.database.run(lambda db: db.execute(_UNREPORTED, {"parent": parent}).fetchall())
        return tuple(Unreported(session, turn, Stop(stop), _words(error)) for session, turn, stop, error in rows)


def _words(error: str) -> str:
    return decode(Fault, json.loads(error)).message if error else ""


_CHARGE = """
UPDATE session SET parent=:parent, charge=:charge, model=(SELECT model FROM session WHERE id=:parent) WHERE id=:id
"""
_AT_WORK = """
SELECT count(*) FROM session s WHERE s.parent=? AND s.parent<>''
AND (EXISTS (SELECT 1 FROM inbox i WHERE i.session=s.id AND i.state IN ('waiting', 'summarized'))
     OR EXISTS (SELECT 1 FROM turn t WHERE t.session=s.id AND (t.state='running' OR t.resume='due')))
"""
_UNREPORTED = """
SELECT t.session, t.id, t.stop, t.error FROM session s JOIN turn t ON t.session = s.id
WHERE s.parent <> '' AND :parent IN ('', s.parent) AND s.stopped=''
AND t.stop <> 'cancelled' AND (t.state='ended' OR t.resume='person')
AND NOT EXISTS (SELECT 1 FROM inbox WHERE external_id = s.parent || '|report:' || t.id)
"""
