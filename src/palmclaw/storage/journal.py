"""The journal of effects and the record of approvals."""

import json
import sqlite3

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.events import Answer
from palmclaw.core.messages import ToolCall, ToolResult, iso, utc_now
from palmclaw.core.ports import CallState
from palmclaw.core.runtime import NotOpen
from palmclaw.core.text import whole
from palmclaw.core.tools import Effect
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage.database import Database


@dataclass(frozen=True, slots=True)
class CallJournal:
    """Implements the Journal port on the `call` table."""

    database: Database

    async def begin(self, turn: str, call: ToolCall, effect: Effect, digest: str) -> None:
        """Write the call down as running; committed before the effect can start."""
        await self.database.run(
            lambda db: db.execute(
                "INSERT INTO call (turn, call_id, tool, effect, digest, state, began) VALUES (?,?,?,?,?,'running',?)",
                (turn, call.id, call.name, effect, digest, iso(utc_now())),
            )
        )

    async def end(self, turn: str, call_id: str, state: CallState, result: ToolResult) -> None:
        """Record how the call came out, with its result, so that a crash right after cannot lose it."""
        body = whole(compact(encode(result)))
        await self.database.run(
            lambda db: db.execute(
                "UPDATE call SET state=?, result=?, ended=? WHERE turn=? AND call_id=?",
                (state, body, iso(utc_now()), turn, call_id),
            )
        )

    async def outcomes(self, turn: str) -> dict[str, tuple[CallState, ToolResult | None]]:
        """What is known of a turn's calls, by call id."""
        rows = await self.database.run(
            lambda db: db.execute("SELECT call_id, state, result FROM call WHERE turn=?", (turn,)).fetchall()
        )
        return {call: (CallState(state), _result(text)) for call, state, text in rows}


@dataclass(frozen=True, slots=True)
class Lasting:
    """An answer that still holds, for its session or for ever (`answer`); `at` is ISO 8601 in UTC."""

    id: int
    session: str
    tool: str
    target: str
    answer: str
    at: str


@dataclass(frozen=True, slots=True)
class Approvals:
    """Implements the Grants port on the `approval` table, and keeps a record of every answer."""

    database: Database

    async def holds(self, session: str, tool: str, target: str) -> bool:
        """True when the owner has allowed this tool on this target for good, or for this session."""

        def work(db: sqlite3.Connection) -> bool:
            query = (
                "SELECT 1 FROM approval WHERE tool=? AND target=?"
                " AND (answer='always' OR (answer='session' AND session=?)) LIMIT 1"
            )
            return db.execute(query, (tool, target, session)).fetchone() is not None

        return await self.database.run(work)

    async def add(self, session: str, tool: str, target: str, answer: Answer) -> None:
        """Record an answer; `session` and `always` are lasting."""
        await self.database.run(
            lambda db: db.execute(
                "INSERT INTO approval (session, tool, target, answer, at) VALUES (?,?,?,?,?)",
                (session, tool, target, answer, iso(utc_now())),
            )
        )

    async def listed(self) -> tuple[Lasting, ...]:
        """The answers that still hold, the oldest first."""
        query = f"SELECT id, session, tool, target, answer, at FROM approval WHERE {_LASTS} ORDER BY id"
        rows = await self.database.run(lambda db: db.execute(query).fetchall())
        return tuple(Lasting(*row) for row in rows)

    async def revoke(self, number: int) -> None:
        """Take a lasting answer back. Raises NotOpen."""
        query = f"DELETE FROM approval WHERE id=? AND {_LASTS}"
        if not await self.database.run(lambda db: db.execute(query, (number,)).rowcount):
            raise NotOpen(f"there is no lasting answer {number}")


_LASTS = "answer IN ('session', 'always')"


def _result(text: str) -> ToolResult | None:
    """A recorded result; None where there is none, or it cannot be read."""
    try:
        return decode(ToolResult, json.loads(text)) if text else None
    except (ValueError, BadArguments):
        return None
