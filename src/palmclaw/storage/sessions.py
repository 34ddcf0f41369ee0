"""Sessions, their turns and their append-only log."""

import json
import sqlite3
from dataclasses import dataclass, field
from typing import Any

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, SessionNotFound
from palmclaw.core.events import TurnEnded
from palmclaw.core.messages import Message, Role, Text, utc_now
from palmclaw.core.ports import Inbound, OpenTurn, Snapshot, Tail
from palmclaw.core.text import whole
from palmclaw.core.wire import compact
from palmclaw.storage.database import Database

CACHED_SESSIONS = 8
CACHED_MESSAGES = 1_000


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One line of the list of sessions. Times are ISO 8601 in UTC; tokens are summed over all turns."""

    id: str
    title: str
    created: str
    updated: str
    messages: int
    turns: int
    input: int
    output: int


@dataclass(slots=True)
class Sessions:
    """The only writer of `session`, `turn` and `message`; keeps the tails of a few sessions decoded in memory."""

    database: Database
    _tails: dict[str, tuple[int, list[Message]]] = field(default_factory=dict)
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)

    async def begin(self, turn: str, inbound: Inbound, message: Message, model: str) -> None:
        """Store a turn and the message that started it, creating the session if need be."""
        at = _now()

        def work(db: sqlite3.Connection) -> int:
            title = " ".join(message.text.split())[:60]
            db.execute(_NEW_SESSION, (inbound.session, title, at, at))
            db.execute("UPDATE session SET title=? WHERE id=? AND title=''", (title, inbound.session))
            db.execute(
                "INSERT INTO turn (id, session, origin, sender, model, state, started) VALUES (?,?,?,?,?,'running',?)",
                (turn, inbound.session, inbound.origin, inbound.sender, model, at),
            )
            return _append(db, inbound.session, turn, message, at)

        self._remember(inbound.session, await self.database.run(work), message)

    async def append(self, session: str, turn: str, message: Message) -> None:
        """Add one message to the log."""
        at = _now()
        try:
            position = await self.database.run(lambda db: _append(db, session, turn, message, at))
        except BaseException:  # it may be stored all the same: what is in memory is no longer the log
            self._tails.pop(session, None)
            raise
        self._remember(session, position, message)

    async def end(self, turn: str, ended: TurnEnded, state: str = "ended") -> None:
        """Close a turn with its outcome and what it cost: by the ledger, where that knows of any request of it."""
        error = json.dumps(encode(ended.error), ensure_ascii=False) if ended.error else ""
        use = ended.usage
        told = (use.requests, use.input, use.output, use.cached, use.reasoning, int(use.estimated), use.cache_write)

        def work(db: sqlite3.Connection) -> None:
            counted = db.execute(_COUNTED, (turn,)).fetchone()
            values = counted if counted[0] else told
            db.execute(_END, (*values, state, ended.stop, error, _now(), turn))

        await self.database.run(work)

    async def tail(self, session: str, count: int) -> Tail:
        """The newest `count` messages, and more where the newest user message lies further back; read by index."""
        cached = self._tails.get(session)
        if cached is None or (cached[0] > 0 and _user_at(cached[1], count) is None):
            cached = await self.database.run(lambda db: _tail(db, session, count))
            self._keep(session, cached)
        start, messages = cached
        skip = _user_at(messages, count) or 0
        return Tail(start + skip, tuple(messages[skip:]))

    async def model(self, session: str) -> str:
        """The model chosen for a session; empty where none was, or there is no such session."""
        row = await self.database.run(
            lambda db: db.execute("SELECT model FROM session WHERE id=?", (session,)).fetchone()
        )
        return str(row[0]) if row else ""

    async def choose_model(self, session: str, model: str) -> None:
        """Ask this model in the session from now on; empty: the configured one. Makes the session if need be."""
        at = _now()

        def work(db: sqlite3.Connection) -> None:
            db.execute(_NEW_SESSION, (session, "", at, at))
            db.execute("UPDATE session SET model=? WHERE id=?", (model, session))

        await self.database.run(work)

    async def snapshot(self, session: str) -> Snapshot | None:
        """What the session's requests began with."""
        if session in self._snapshots:
            return self._snapshots[session]
        row = await self.database.run(
            lambda db: db.execute("SELECT families, system FROM snapshot WHERE session=?", (session,)).fetchone()
        )
        return Snapshot(frozenset(json.loads(row[0])), row[1]) if row else None

    async def keep(self, session: str, snapshot: Snapshot) -> None:
        """Replace the session's snapshot."""
        families = json.dumps(sorted(snapshot.families))
        query = "INSERT OR REPLACE INTO snapshot (session, families, system) VALUES (?, ?, ?)"
        await self.database.run(lambda db: db.execute(query, (session, families, whole(snapshot.system))))
        self._snapshots = {session: snapshot, **dict(list(self._snapshots.items())[: CACHED_SESSIONS - 1])}

    async def all(self, session: str) -> tuple[Message, ...]:
        """Every message of a session, for export and show. Raises SessionNotFound."""

        def work(db: sqlite3.Connection) -> list[Message]:
            if db.execute("SELECT 1 FROM session WHERE id=?", (session,)).fetchone() is None:
                raise SessionNotFound(f"there is no session named {session!r}")
            return _tail(db, session, -1)[1]

        return tuple(await self.database.run(work))

    async def refers_to(self, media_id: str) -> bool:
        """Whether any message of any session has this attachment."""
        query = "SELECT 1 FROM message WHERE instr(body, ?) LIMIT 1"
        return await self.database.run(lambda db: db.execute(query, (media_id,)).fetchone() is not None)

    async def listed(self) -> tuple[SessionInfo, ...]:
        """All sessions, the last used first."""
        rows = await self.database.run(lambda db: db.execute(_LIST).fetchall())
        return tuple(SessionInfo(*row) for row in rows)

    async def delete(self, session: str) -> None:
        """Remove a session and all that belongs to it. Raises SessionNotFound."""

        def work(db: sqlite3.Connection) -> None:
            if db.execute("DELETE FROM session WHERE id=?", (session,)).rowcount == 0:
                raise SessionNotFound(f"there is no session named {session!r}")
            db.execute("DELETE FROM approval WHERE session=? AND answer<>'always'", (session,))

        await self.database.run(work)
        self._tails.pop(session, None)
        self._snapshots.pop(session, None)

    async def open_turns(self) -> tuple[OpenTurn, ...]:
        """The turns that were running when the last process died, oldest first."""

        def work(db: sqlite3.Connection) -> list[OpenTurn]:
            turns = db.execute("SELECT id, session FROM turn WHERE state='running' ORDER BY started").fetchall()
            return [OpenTurn(turn, session, _of_turn(db, turn)) for turn, session in turns]

        return tuple(await self.database.run(work))

    def _remember(self, session: str, position: int, message: Message) -> None:
        cached = self._tails.get(session)
        if cached is None:
            if position > 0:
                return
            cached = (0, [])
            self._keep(session, cached)
        start, messages = cached
        messages.append(message)
        if len(messages) > CACHED_MESSAGES:
            del messages[: CACHED_MESSAGES // 2]
            self._tails[session] = (start + CACHED_MESSAGES // 2, messages)

    def _keep(self, session: str, tail: tuple[int, list[Message]]) -> None:
        self._tails.pop(session, None)
        while len(self._tails) >= CACHED_SESSIONS:
            self._tails.pop(next(iter(self._tails)))
        self._tails[session] = tail


_COUNTED = """
SELECT count(*), sum(input), sum(output), sum(cached), sum(reasoning), max(estimated), sum(cache_write)
FROM request WHERE turn=?
"""
_END = """
UPDATE turn SET requests=?, input=?, output=?, cached=?, reasoning=?, estimated=?, cache_write=?, state=?, stop=?,
                error=?, ended=? WHERE id=?
"""
_NEW_SESSION = "INSERT OR IGNORE INTO session (id, title, created, updated) VALUES (?, ?, ?, ?)"
_LIST = """
SELECT s.id, s.title, s.created, s.updated,
       (SELECT count(*) FROM message m WHERE m.session = s.id),
       count(t.id), coalesce(sum(t.input), 0), coalesce(sum(t.output), 0)
FROM session s LEFT JOIN turn t ON t.session = s.id
GROUP BY s.id ORDER BY s.updated DESC
"""


def _now() -> str:
    return utc_now().isoformat(timespec="milliseconds")


def _append(db: sqlite3.Connection, session: str, turn: str, message: Message, at: str) -> int:
    body = whole(compact(encode(message)))
    position: int = db.execute(
        "SELECT coalesce(max(position) + 1, 0) FROM message WHERE session=?", (session,)
    ).fetchone()[0]
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (session, position, turn, message.role, body))
    db.execute("UPDATE session SET updated=? WHERE id=?", (at, session))
    return position


def _user_at(messages: list[Message], count: int) -> int | None:
    """Where the newest `count` messages begin, or the newest user message when that is earlier; None: not here."""
    skip = len(messages) - count
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role is Role.USER:
            return min(at, skip) if skip >= 0 else None
    return None


def _tail(db: sqlite3.Connection, session: str, count: int) -> tuple[int, list[Message]]:
    query = (
        "SELECT position, body FROM message WHERE session=:session AND position >= min("
        "(SELECT max(position) FROM message WHERE session=:session) - :count + 1,"
        "(SELECT coalesce(max(position), 0) FROM message WHERE session=:session AND role='user')) ORDER BY position"
    )
    rows = db.execute(query, {"session": session, "count": count if count >= 0 else 1 << 60}).fetchall()
    return (rows[0][0] if rows else 0), _messages(row[1] for row in rows)


def _of_turn(db: sqlite3.Connection, turn: str) -> tuple[Message, ...]:
    rows = db.execute("SELECT body FROM message WHERE turn=? ORDER BY position", (turn,)).fetchall()
    return tuple(_messages(row[0] for row in rows))


def _messages(bodies: Any) -> list[Message]:
    return [_message(body) for body in bodies]


def _message(body: str) -> Message:
    """A row that cannot be read must not hide the others."""
    try:
        return decode(Message, json.loads(body))
    except (ValueError, BadArguments):
        return Message(Role.NOTE, (Text("(a message here is damaged and was left out)"),))
