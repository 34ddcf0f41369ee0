"""Messages from the moment they reach us until their fate is known, and how a session wants them to wait."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.messages import iso, utc_now
from palmclaw.core.records import SessionState, Stored, Withdrawn
from palmclaw.core.text import whole
from palmclaw.core.traffic import Address, Fate, Inbound, Origin, Outbound, QueueChange, Receipt
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage.database import Database
from palmclaw.storage.outbox import add as post
from palmclaw.storage.queries import make_session

AHEAD = timedelta(hours=1)
"""How far a channel's clock may be before ours."""
_OPEN_SQL = "('waiting', 'summarized')"
_ROW = "id, session, state, reason, body"


@dataclass(frozen=True, slots=True)
class Inbox:
    """Implements InboxStore on the `inbox` table."""

    database: Database

    async def put(self, inbound: Inbound, fate: Fate = Fate.WAITING, reason: str = "") -> Stored:
        """Store a message, once for each `external_id` of its channel; the same again gives the first one's row."""
        return await self.database.run(lambda db: put(db, inbound, iso(utc_now()), fate, reason))

    async def mark(self, inbox: Sequence[int], fate: Fate, reason: str = "") -> tuple[int, ...]:
        """Give waiting messages another fate; returns those of them that did wait."""

        def work(db: sqlite3.Connection) -> list[int]:
            query = f"UPDATE inbox SET state=?, reason=? WHERE id=? AND state IN {_OPEN_SQL}"
            return [row for row in inbox if db.execute(query, (fate, reason, row)).rowcount]

        return tuple(await self.database.run(work))

    async def answered(self, receipt: Receipt, command: str, posts: Sequence[Outbound] = ()) -> None:
        """What a message commanded has been done: its fate, and what is to be sent of that, in one."""
        query = f"UPDATE inbox SET state=?, reason=? WHERE id=? AND state IN {_OPEN_SQL}"

        def work(db: sqlite3.Connection) -> None:
            db.execute(query, (receipt.fate, command, receipt.id))
            post(db, receipt.session, "", posts, iso(utc_now()))

        await self.database.run(work)

    async def get(self, inbox: int) -> Stored | None:
        """One message, with what has become of it."""
        row = await self.database.run(
            lambda db: db.execute(f"SELECT {_ROW} FROM inbox WHERE id=?", (inbox,)).fetchone()
        )
        return _stored(row) if row else None

    async def waiting(self, session: str = "") -> tuple[Stored, ...]:
        """What waits in one session or in all, in the order of arrival."""
        query = f"SELECT {_ROW} FROM inbox WHERE state IN {_OPEN_SQL} AND :session IN ('', session) ORDER BY id"

        def work(db: sqlite3.Connection) -> list[Stored]:
            found = [_stored(row) for row in db.execute(query, {"session": session}).fetchall()]
            damaged = [(s.receipt.id,) for s in found if not _is_whole(s.inbound)]
            db.executemany("UPDATE inbox SET state='cancelled', reason='damaged' WHERE id=?", damaged)
            return [s for s in found if _is_whole(s.inbound)]

        return tuple(await self.database.run(work))

    async def state(self, session: str) -> SessionState:
        """How the session wants its messages to wait; nothing special where there is no such session yet."""
        query = "SELECT queue, stopped, parent, charge FROM session WHERE id=?"
        row = await self.database.run(lambda db: db.execute(query, (session,)).fetchone())
        if row is None:
            return SessionState()
        return SessionState(_change(row[0]), datetime.fromisoformat(row[1]) if row[1] else None, row[2], row[3])

    async def set_queue(self, session: str, change: QueueChange) -> None:
        """Keep how the session wants its messages to wait; an empty change forgets it."""
        body = compact(encode(change)) if change != QueueChange() else ""

        def work(db: sqlite3.Connection) -> None:
            make_session(db, session, iso(utc_now()))
            db.execute("UPDATE session SET queue=? WHERE id=?", (body, session))

        await self.database.run(work)

    async def stop(self, session: str, sent: datetime | None = None, upto: int = 0) -> tuple[Receipt, ...]:
        """Cancel what waits (up to a row), here and below, and see to it that no broken turn is gone on with."""
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> list[tuple[int, str]]:
            named = {"session": session, "upto": upto, "at": at}
            rows = db.execute(_STOPPED, named).fetchall()
            db.executemany("UPDATE inbox SET state='cancelled', reason='stopped' WHERE id=?", [row[:1] for row in rows])
            db.execute(_GIVE_UP, named)
            db.execute(_STOPPED_BELOW, named)
            if sent is not None:
                make_session(db, session, at)
                void = min(sent.astimezone(UTC), utc_now() + AHEAD)  # a clock gone mad voids no more than that
                db.execute(_VOID_BEFORE, (void.isoformat(), session))
            return rows

        rows = await self.database.run(work)
        return tuple(Receipt(row, each, Fate.CANCELLED, reason="stopped") for row, each in rows)

    async def home(self) -> Address | None:
        """Where the owner was last heard alone, among the newest messages."""
        rows = await self.database.run(lambda db: db.execute(_NEWEST).fetchall())
        heard = (_stored(row).inbound for row in rows)
        return next((i.address for i in heard if i.address and i.origin is Origin.OWNER and not i.group), None)

    async def children(self, session: str) -> tuple[str, ...]:
        """The sessions of its sub-agents, and of theirs, the oldest first."""
        query = f"{_FAMILY} SELECT id FROM session WHERE id IN family AND id<>:session ORDER BY created, id"
        rows = await self.database.run(lambda db: db.execute(query, {"session": session}).fetchall())
        return tuple(row[0] for row in rows)

    async def prune(self, before: datetime) -> int:
        """Forget the words of finished messages older than this; that they came is kept: none is taken twice."""
        query = f"UPDATE inbox SET body='' WHERE body<>'' AND received<? AND state NOT IN {_OPEN_SQL}"
        at = iso(before)
        return await self.database.run(lambda db: db.execute(query, (at,)).rowcount)


_NEWEST = f"""
SELECT {_ROW} FROM inbox
WHERE channel<>'' AND body<>'' AND json_extract(body, '$.origin')='owner' ORDER BY id DESC LIMIT 20
"""
_FAMILY = """
WITH RECURSIVE family(id) AS (
    SELECT :session UNION SELECT s.id FROM session s JOIN family f ON s.parent=f.id AND s.parent<>''
)
"""
_STOPPED = f"""
{_FAMILY} SELECT id, session FROM inbox WHERE state IN {_OPEN_SQL} AND session IN family
AND (session<>:session OR :upto=0 OR id<:upto OR external_id LIKE '%|report:%') ORDER BY id
"""
_GIVE_UP = f"""
{_FAMILY} UPDATE turn SET resume='person' WHERE session IN family AND (state='running' OR resume='due')
"""
_STOPPED_BELOW = f"{_FAMILY} UPDATE session SET stopped=:at WHERE id IN family AND id<>:session"
_VOID_BEFORE = "UPDATE session SET stopped=max(stopped, ?) WHERE id=?"
_INSERT = "INSERT INTO inbox (channel, external_id, session, body, state, reason, received) VALUES (?,?,?,?,?,?,?)"


def put(db: sqlite3.Connection, inbound: Inbound, at: str, fate: Fate = Fate.WAITING, reason: str = "") -> Stored:
    """Store a message, inside another transaction."""
    channel = inbound.address.channel if inbound.address else ""
    if inbound.external_id:
        query = f"SELECT {_ROW} FROM inbox WHERE channel=? AND external_id=? AND external_id<>''"
        if (found := db.execute(query, (channel, _once(inbound))).fetchone()) is not None:
            return _stored(found, is_new=False)
    row = (channel, _once(inbound), inbound.session, whole(compact(encode(inbound))), fate, reason, at)
    inserted = db.execute(_INSERT, row).lastrowid
    return Stored(Receipt(inserted or 0, inbound.session, fate, reason=reason), inbound)


def _once(inbound: Inbound) -> str:
    """What may be stored once: platforms number the messages of each chat for itself."""
    place = inbound.address.chat if inbound.address and not inbound.is_report else inbound.session
    return f"{place}|{inbound.external_id}" if inbound.external_id else ""


def mark(db: sqlite3.Connection, rows: Sequence[int], fate: Fate, turn: str) -> None:
    """Give waiting messages their turn, inside another transaction. Raises Withdrawn when one no longer waits."""
    query = f"UPDATE inbox SET state=?, turn=? WHERE id=? AND state IN {_OPEN_SQL}"
    for row in rows:
        if not db.execute(query, (fate, turn, row)).rowcount:
            raise Withdrawn(row)


def of_turn(db: sqlite3.Connection, turn: str) -> tuple[int, ...]:
    """The rows that began or joined a turn."""
    return tuple(row[0] for row in db.execute("SELECT id FROM inbox WHERE turn=? AND turn<>'' ORDER BY id", (turn,)))


def forget(db: sqlite3.Connection, session: str) -> tuple[int, ...]:
    """Erase the words of a deleted session; what waited is cancelled, and returned."""
    waiting = f"SELECT id FROM inbox WHERE session=? AND state IN {_OPEN_SQL} ORDER BY id"
    rows = [row[:1] for row in db.execute(waiting, (session,)).fetchall()]
    db.executemany("UPDATE inbox SET state='cancelled', reason='deleted' WHERE id=?", rows)
    db.execute("UPDATE inbox SET body='' WHERE session=?", (session,))
    return tuple(row[0] for row in rows)


def _stored(row: tuple[int, str, str, str, str], *, is_new: bool = True) -> Stored:
    number, session, state, reason, body = row
    try:
        inbound = decode(Inbound, json.loads(body))
    except (ValueError, BadArguments):  # pruned, or of a deleted session
        inbound = Inbound(session, "", Origin.OTHER)
    return Stored(Receipt(number, session, Fate(state), reason=reason), inbound, is_new)


def _is_whole(inbound: Inbound) -> bool:
    """A stranger's message without words, media or sender is none: its row could not be read."""
    return inbound != Inbound(inbound.session, "", Origin.OTHER)


def _change(body: str) -> QueueChange:
    return decode(QueueChange, json.loads(body)) if body else QueueChange()
