"""Messages on their way out: stored before they are sent, and what became of each."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.messages import iso, utc_now
from palmclaw.core.ports import PREVIEW, OutboxRow, OutboxState
from palmclaw.core.text import whole
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage.database import Database

_DIED = "PalmClaw stopped while it was being sent: it may have arrived"
_DAMAGED = "(a message here was damaged and is lost)"


def add(
    db: sqlite3.Connection, session: str, turn: str, outbounds: Sequence[Outbound], at: str, state: str = "waiting"
) -> tuple[int, ...]:
    """Store messages within another transaction; one whose key is there already is left as it was.

    A message that takes a preview's place settles it: a crash no longer leaves the preview behind.
    """
    ids = []
    for outbound in outbounds:
        where = outbound.address
        row = (outbound.key, where.channel, where.chat, where.thread, session, turn, whole(compact(encode(outbound))))
        db.execute(_ADD, (*row, state, at))
        if outbound.edits.startswith(PREVIEW) and outbound.edits != outbound.key:
            db.execute("UPDATE outbox SET ended=? WHERE key=? AND ended=''", (at, outbound.edits))
        ids.append(int(db.execute("SELECT id FROM outbox WHERE key=?", (outbound.key,)).fetchone()[0]))
    return tuple(ids)


@dataclass(frozen=True, slots=True)
class Outbox:
    """Implements the OutboxStore port on the `outbox` table."""

    database: Database

    async def add(self, session: str, turn: str, outbounds: Sequence[Outbound]) -> tuple[int, ...]:
        """Store messages in order; one whose key is there already is left as it was."""
        return await self.database.run(lambda db: add(db, session, turn, outbounds, iso(utc_now())))

    async def waiting(self) -> tuple[Address, ...]:
        """Where messages are waiting to go, the longest waiting first."""
        rows = await self.database.run(lambda db: db.execute(_WAITING).fetchall())
        return tuple(Address(*row[:3]) for row in rows)

    async def state(self, row: int) -> OutboxState | None:
        """How far a message has come; None for one that is not there."""
        query = "SELECT state FROM outbox WHERE id=?"
        found = await self.database.run(lambda db: db.execute(query, (row,)).fetchone())
        return OutboxState(found[0]) if found else None

    async def next(self, address: Address) -> OutboxRow | None:
        """The oldest message that waits for this address."""
        rows = await self._rows(
            f"state='waiting' AND {_OPEN} AND channel=? AND chat=? AND thread=? ORDER BY id LIMIT 1", address
        )
        return rows[0] if rows else None

    async def claim(self, row: int) -> OutboxRow | None:
        """Mark a waiting message as being sent, committed before it can be; None when it no longer waits.

        Where it takes a preview's place, `edits` is now the channel's id of that, or empty if there is none.
        """

        def work(db: sqlite3.Connection) -> OutboxRow | None:
            query = "UPDATE outbox SET state='sending', attempts=attempts+1 WHERE id=? AND state='waiting'"
            if db.execute(query, (row,)).rowcount == 0:
                return None
            claimed = _row(db.execute(f"{_SELECT} WHERE id=?", (row,)).fetchone())
            return replace(claimed, outbound=_resolved(db, claimed.outbound))

        return await self.database.run(work)

    async def sent(self, row: int, remote: str) -> None:
        """It was delivered; `remote` is the channel's id of it."""
        await self._mark(row, OutboxState.SENT, remote=remote)

    async def again(self, row: int, error: str) -> None:
        """It certainly was not delivered, and waits to be sent once more."""
        query = "UPDATE outbox SET state='waiting', error=? WHERE id=?"
        await self.database.run(lambda db: db.execute(query, (whole(error), row)))

    async def alone(self, row: int) -> None:
        """It cannot take another's place, and waits to be sent as a message of its own."""
        query = "UPDATE outbox SET state='waiting', body=json_remove(body, '$.edits') WHERE id=?"
        await self.database.run(lambda db: db.execute(query, (row,)))

    async def failed(self, row: int, error: str) -> None:
        """It certainly was not delivered, and is given up."""
        await self._mark(row, OutboxState.FAILED, error=error)

    async def unknown(self, row: int, error: str) -> None:
        """Nobody knows whether it was delivered; it is never sent again."""
        await self._mark(row, OutboxState.UNKNOWN, error=error)

    async def preview(self, session: str, turn: str, outbound: Outbound) -> int:
        """Remember that a preview is about to be sent; `outbound` is what it becomes should its turn die."""

        def work(db: sqlite3.Connection) -> int:
            return add(db, session, turn, (outbound,), iso(utc_now()), OutboxState.SENDING)[0]

        return await self.database.note(work)

    async def shown(self, row: int, remote: str) -> None:
        """The preview was delivered, and stands until a message takes its place."""
        query = "UPDATE outbox SET state='sent', remote=? WHERE id=?"
        await self.database.note(lambda db: db.execute(query, (remote, row)))

    async def forget(self, row: int) -> None:
        """The preview certainly was not delivered."""
        await self.database.note(lambda db: db.execute("DELETE FROM outbox WHERE id=?", (row,)))

    async def recover(self) -> tuple[OutboxRow, ...]:
        """After a crash: what was being sent is unknown, and is returned; previews of turns that died are mended.

        An edit of what certainly stands is made again: it changes nothing where it has been made.
        """

        def work(db: sqlite3.Connection) -> list[Any]:
            db.execute("UPDATE outbox SET state='waiting', attempts=0 WHERE state='sent' AND ended=''")
            db.execute(_EDIT_AGAIN)
            rows = [r[0] for r in db.execute("SELECT id FROM outbox WHERE state='sending' ORDER BY id").fetchall()]
            change = "UPDATE outbox SET state='unknown', error=?, ended=? WHERE state='sending'"
            db.execute(change, (_DIED, iso(utc_now())))
            return [db.execute(f"{_SELECT} WHERE id=?", (row,)).fetchone() for row in rows]

        return tuple(_row(row) for row in await self.database.run(work))

    async def open(self) -> tuple[OutboxRow, ...]:
        """What waits or is being sent, the oldest first."""
        return await self._rows("state IN ('waiting', 'sending') ORDER BY id")

    async def troubles(self) -> tuple[OutboxRow, ...]:
        """What failed, or may have arrived or not, the oldest first."""
        return await self._rows("state IN ('unknown', 'failed') ORDER BY id")

    async def counts(self) -> dict[str, int]:
        """How many messages are in each state that any is in."""
        query = "SELECT state, count(*) FROM outbox GROUP BY state ORDER BY state"
        return dict(await self.database.run(lambda db: db.execute(query).fetchall()))

    async def prune(self, before: datetime) -> int:
        """Remove what came to its end and is older than this; returns how many."""
        query = "DELETE FROM outbox WHERE state IN ('sent', 'failed', 'unknown') AND ended<>'' AND created<?"
        at = iso(before)
        return await self.database.run(lambda db: db.execute(query, (at,)).rowcount)

    async def _mark(self, row: int, state: OutboxState, remote: str = "", error: str = "") -> None:
        query = "UPDATE outbox SET state=?, remote=?, error=?, ended=? WHERE id=?"
        values = (state, whole(remote), whole(error), iso(utc_now()), row)
        await self.database.run(lambda db: db.execute(query, values))

    async def _rows(self, which: str, address: Address | None = None) -> tuple[OutboxRow, ...]:
        values = (address.channel, address.chat, address.thread) if address else ()
        rows = await self.database.run(lambda db: db.execute(f"{_SELECT} WHERE {which}", values).fetchall())
        return tuple(_row(row) for row in rows)


_OPEN = "state IN ('waiting', 'sending')"
"""As the partial index says it, so that the index is used."""
_ADD = """
INSERT OR IGNORE INTO outbox (key, channel, chat, thread, session, turn, body, state, created, attempts)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?8 = 'sending')
"""
_EDIT_AGAIN = """
UPDATE outbox SET state='waiting' WHERE state='sending' AND state IN ('waiting', 'sending') AND json_valid(body)
AND EXISTS (SELECT 1 FROM outbox shown WHERE shown.key=json_extract(outbox.body, '$.edits') AND shown.remote<>'')
"""
_WAITING = """
SELECT channel, chat, thread, min(id) FROM outbox WHERE state='waiting' AND state IN ('waiting', 'sending')
GROUP BY channel, chat, thread ORDER BY 4
"""
_SELECT = """
SELECT id, key, channel, chat, thread, session, turn, body, state, attempts, remote, error, created FROM outbox
"""


def _row(row: Any) -> OutboxRow:
    number, key, channel, chat, thread, session, turn, body, state, *rest = row
    outbound = _outbound(body, Address(channel, chat, thread), key)
    return OutboxRow(number, session, turn, outbound, OutboxState(state), *rest)


def _outbound(body: str, address: Address, key: str) -> Outbound:
    """A row that cannot be read must not keep those behind it from being sent."""
    try:
        return decode(Outbound, json.loads(body))
    except (ValueError, BadArguments):
        return Outbound(address, _DAMAGED, key)


def _resolved(db: sqlite3.Connection, outbound: Outbound) -> Outbound:
    if not outbound.edits.startswith(PREVIEW):
        return outbound
    found = db.execute("SELECT remote FROM outbox WHERE key=?", (outbound.edits,)).fetchone()
    return replace(outbound, edits=found[0] if found else "")
