"""Who was let in by a pairing code, and who has asked to be."""

import sqlite3

from palmclaw.core.people import Pairing, Person, Role
from palmclaw.core.runtime import NotOpen
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """Implements the People port on the tables `sender` and `pairing`."""

    database: Database

    async def role(self, channel: str, sender: str) -> Role | None:
        """What a paired person may do; None: nobody we know."""
        query = "SELECT role FROM sender WHERE channel=? AND id=?"
        row = await self.database.run(lambda db: db.execute(query, (channel, sender)).fetchone())
        return Role(row[0]) if row else None

    async def knock(self, pairing: Pairing, most: int) -> bool:
        """Keep a request; False, and nothing is kept, where the sender or `most` others there have one open."""

        def work(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM pairing WHERE expires <= ?", (pairing.asked,))
            there = [r[0] for r in db.execute("SELECT sender FROM pairing WHERE channel=?", (pairing.channel,))]
            if pairing.sender in there or len(there) >= most:
                return False
            row = (pairing.code, pairing.channel, pairing.sender, pairing.name, pairing.asked, pairing.expires)
            db.execute("INSERT INTO pairing (code, channel, sender, name, asked, expires) VALUES (?,?,?,?,?,?)", row)
            return True

        return await self.database.run(work)

    async def admit(self, code: str, role: Role, at: str) -> Person:
        """Let in whoever was given the code. Raises NotOpen for one that is unknown or has expired."""

        def work(db: sqlite3.Connection) -> Person:
            query = "SELECT channel, sender, name FROM pairing WHERE code=? AND expires>?"
            row = db.execute(query, (code, at)).fetchone()
            if row is None:
                raise NotOpen(f"there is no open pairing code {code}")
            person = Person(row[0], row[1], row[2], role, at)
            values = (person.channel, person.id, person.name, role, at)
            db.execute("INSERT OR REPLACE INTO sender (channel, id, name, role, since) VALUES (?,?,?,?,?)", values)
            db.execute("DELETE FROM pairing WHERE code=?", (code,))
            return person

        return await self.database.run(work)

    async def forget(self, channel: str, sender: str) -> bool:
        """Take a person, or a request, away again; False when there was none."""

        def work(db: sqlite3.Connection) -> bool:
            where = (channel, sender)
            people = db.execute("DELETE FROM sender WHERE channel=? AND id=?", where).rowcount
            return people + db.execute("DELETE FROM pairing WHERE channel=? AND sender=?", where).rowcount > 0

        return await self.database.run(work)

    async def listed(self, at: str) -> tuple[tuple[Person, ...], tuple[Pairing, ...]]:
        """Everybody who was let in, and the requests that are still open; each by channel, the oldest first."""

        def work(db: sqlite3.Connection) -> tuple[tuple[Person, ...], tuple[Pairing, ...]]:
            people = db.execute("SELECT channel, id, name, role, since FROM sender ORDER BY channel, since, id")
            found = tuple(Person(channel, id_, name, Role(role), since) for channel, id_, name, role, since in people)
            query = "SELECT code, channel, sender, name, asked, expires FROM pairing WHERE expires>? ORDER BY 2, 5, 1"
            return found, tuple(Pairing(*row) for row in db.execute(query, (at,)))

        return await self.database.run(work)
