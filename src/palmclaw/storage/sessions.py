"""Sessions, their turns and their append-only log."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import field
from typing import Any, TypeVar

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, SessionNotFound
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import Message, Role, Text, iso, utc_now
from palmclaw.core.ports import Snapshot, Summary, Tail
from palmclaw.core.records import Before, Beginning, Due, OpenTurn, Resume, Superseded
from palmclaw.core.session import is_further
from palmclaw.core.text import whole
from palmclaw.core.traffic import Fate, Inbound, Outbound
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage import queries
from palmclaw.storage.conversations import forget as unsearchable
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import forget, mark, of_turn
from palmclaw.storage.outbox import add as post

T = TypeVar("T")
CACHED_SESSIONS = 8
CACHED_MESSAGES = 1_000


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One line of the list of sessions. Times are ISO 8601 in UTC; tokens are summed over all turns.

    `parent` is the session that a sub-agent's works for.
    """

    id: str
    title: str
    created: str
    updated: str
    messages: int
    turns: int
    input: int
    output: int
    parent: str = ""


@dataclass(slots=True)
class Sessions:
    """The only writer of `session`, `turn` and `message`; keeps the tails of a few sessions decoded in memory."""

    database: Database
    _tails: dict[str, tuple[int, list[Message]]] = field(default_factory=dict)
    _snapshots: dict[str, Snapshot] = field(default_factory=dict)
    _summaries: dict[str, Summary] = field(default_factory=dict)

    async def before(self, session: str) -> Before:
        """What must be known before a turn begins."""
        row = await self.database.run(lambda db: db.execute(queries.BEFORE, {"session": session}).fetchone())
        return Before(row[0] or "", row[1] == Stop.CANCELLED, bool(row[2]), bool(row[3]))

    async def begin(self, beginning: Beginning) -> None:
        """Store a turn and the messages that started it, creating the session if need be; mark their inbox rows."""
        at, last = iso(utc_now()), beginning.last
        begun = compact([encode(i) for i in beginning.inbounds])

        def work(db: sqlite3.Connection) -> int:
            title = whole(" ".join(beginning.messages[0].text.split()))[:60] if beginning.messages else ""
            queries.make_session(db, last.session, at, title)
            db.execute("UPDATE session SET title=? WHERE id=? AND title=''", (title, last.session))
            of = (beginning.turn, last.session, last.origin, last.sender, whole(beginning.model))
            db.execute(queries.NEW_TURN, (*of, at, beginning.continues, whole(begun)))
            if beginning.shared:
                db.execute(queries.SHARED, {"session": last.session})
            if beginning.known is not None:
                db.execute(queries.KNOWN, {"session": last.session, "known": whole(beginning.known)})
            if beginning.continues:
                db.execute("UPDATE turn SET resume='done' WHERE id=?", (beginning.continues,))
                return -1
            mark(db, beginning.inbox[:1], Fate.STARTED, beginning.turn)
            mark(db, beginning.inbox[1:], Fate.MERGED, beginning.turn)
            mark(db, beginning.summarized, Fate.MERGED, beginning.turn)
            return min(_append(db, last.session, beginning.turn, m, at) for m in beginning.messages)

        position = await self.database.run(work)
        if beginning.known is not None:
            self._snapshots.pop(last.session, None)
        for offset, message in enumerate(beginning.messages):
            self._remember(last.session, position + offset, message)

    async def append(
        self, session: str, turn: str, message: Message, *, inbox: int = 0, posts: Sequence[Outbound] = ()
    ) -> None:
        """Add one message to the log, with what is to be sent of it and the inbox row that it was."""
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> int:
            if turn and db.execute("SELECT 1 FROM turn WHERE id=? AND state='running'", (turn,)).fetchone() is None:
                raise Superseded(f"turn {turn} of {session} is over; what it still had to say is not kept")
            if inbox:
                mark(db, (inbox,), Fate.STEERED, turn)
            if posts:
                post(db, session, turn, posts, at)
            return _append(db, session, turn, message, at)

        try:
            position = await self.database.run(work)
        except BaseException:  # it may be stored all the same: what is in memory is no longer the log
            self._tails.pop(session, None)
            raise
        self._remember(session, position, message)

    async def end(self, turn: str, ended: TurnEnded, state: str = "ended", resume: str = Resume.NO) -> None:
        """Close a turn with its outcome and what it cost: by the ledger, where that knows of any request of it."""
        error = json.dumps(encode(ended.error), ensure_ascii=False) if ended.error else ""
        use = ended.usage
        told = (use.requests, use.input, use.output, use.cached, use.reasoning, int(use.estimated), use.cache_write)

        def work(db: sqlite3.Connection) -> None:
            counted = db.execute(queries.COUNTED, (turn,)).fetchone()
            values = counted if counted[0] else told
            db.execute(queries.END, (*values, state, ended.stop, error, iso(utc_now()), resume, resume, turn))

        await self.database.run(work)

    async def tail(self, session: str, count: int) -> Tail:
        """The newest `count` messages, and more where the newest turn began further back; read by index."""
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
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> None:
            queries.make_session(db, session, at)
            db.execute("UPDATE session SET model=? WHERE id=?", (model, session))

        await self.database.run(work)

    async def begin_anew(self, session: str) -> None:
        """What lies before is kept, but no model reads it any more."""
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> None:
            queries.make_session(db, session, at)
            db.execute("DELETE FROM snapshot WHERE session=?", (session,))
            db.execute("DELETE FROM summary WHERE session=?", (session,))
            db.execute(queries.ANEW, {"session": session})

        await self.database.run(work)
        self._forget(session)

    async def snapshot(self, session: str) -> Snapshot | None:
        """What the session's requests began with."""
        if session in self._snapshots:
            return self._snapshots[session]
        row = await self.database.run(
            lambda db: db.execute("SELECT families, system, known FROM snapshot WHERE session=?", (session,)).fetchone()
        )
        return Snapshot(frozenset(json.loads(row[0])), *row[1:]) if row else None

    async def keep(self, session: str, snapshot: Snapshot) -> None:
        """Replace the session's snapshot."""
        families = json.dumps(sorted(snapshot.families))
        query = "INSERT OR REPLACE INTO snapshot (session, families, system, known) VALUES (?, ?, ?, ?)"
        row = (session, families, whole(snapshot.system), whole(snapshot.known))
        await self.database.run(lambda db: db.execute(query, row))
        self._snapshots = _newest(self._snapshots, session, snapshot)

    async def summary(self, session: str) -> Summary:
        """What requests show of the session's older part; nothing yet where nothing was summed up."""
        if session not in self._summaries:
            named = {"session": session}
            row = await self.database.run(lambda db: db.execute(queries.SUMMARY, named).fetchone())
            found = Summary(row[0], row[1], bool(row[2]), bool(row[3]), row[4]) if row else Summary()
            self._summaries = _newest(self._summaries, session, found)
        return self._summaries[session]

    async def sum_up(self, session: str, summary: Summary) -> None:
        """Replace the session's summary; where more has left the window, its next request begins anew."""
        row = (session, summary.upto, whole(summary.text), summary.tainted, summary.private, summary.trimmed)
        at = iso(utc_now())

        def work(db: sqlite3.Connection) -> None:
            db.execute(queries.STALE, {"session": session, "upto": summary.upto})
            db.execute(queries.SUM_UP, (*row, at))

        await self.database.run(work)
        self._snapshots.pop(session, None)
        self._summaries = _newest(self._summaries, session, summary)

    async def all(self, session: str) -> tuple[Message, ...]:
        """Every message of a session, for export and show. Raises SessionNotFound."""

        def work(db: sqlite3.Connection) -> list[Message]:
            if db.execute("SELECT 1 FROM session WHERE id=?", (session,)).fetchone() is None:
                raise SessionNotFound(f"there is no session named {session!r}")
            return _whole(db, session)

        return tuple(await self.database.run(work))

    async def refers_to(self, media_id: str) -> bool:
        """Whether any message of any session has this attachment, or one that still waits."""
        return await self.database.run(
            lambda db: db.execute(queries.REFERS, {"media": media_id}).fetchone() is not None
        )

    async def listed(self) -> tuple[SessionInfo, ...]:
        """All sessions, the last used first."""
        rows = await self.database.run(lambda db: db.execute(queries.LIST).fetchall())
        return tuple(SessionInfo(*row) for row in rows)

    async def delete(self, session: str) -> tuple[int, ...]:
        """Remove a session and all that belongs to it; returns what still waited in it. Raises SessionNotFound."""

        def work(db: sqlite3.Connection) -> tuple[int, ...]:
            if db.execute("DELETE FROM session WHERE id=?", (session,)).rowcount == 0:
                raise SessionNotFound(f"there is no session named {session!r}")
            db.execute("DELETE FROM approval WHERE session=? AND answer<>'always'", (session,))
            db.execute("DELETE FROM outbox WHERE session=?", (session,))
            db.execute("DELETE FROM question WHERE session=?", (session,))
            unsearchable(db, session)
            return forget(db, session)

        waited = await self.database.run(work)
        self._forget(session)
        return waited

    async def open_turns(self, session: str = "") -> tuple[OpenTurn, ...]:
        """The turns that were running when the last process died, oldest first."""

        def work(db: sqlite3.Connection) -> list[OpenTurn]:
            return [_open_turn(db, row) for row in db.execute(queries.OPEN, {"session": session}).fetchall()]

        return tuple(await self.database.run(work))

    async def due(self, session: str = "") -> tuple[Due, ...]:
        """The broken turns that are to be gone on with, the oldest first."""

        def work(db: sqlite3.Connection) -> list[Due]:
            rows = db.execute(queries.DUE, {"session": session}).fetchall()
            found = [(turn, _inbounds(begun)) for turn, begun in rows]
            return [Due(turn, inbounds, of_turn(db, turn)) for turn, inbounds in found if inbounds]

        return tuple(await self.database.run(work))

    def _forget(self, session: str) -> None:
        for remembered in (self._tails, self._snapshots, self._summaries):
            remembered.pop(session, None)

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


def _newest(remembered: dict[str, T], session: str, value: T) -> dict[str, T]:
    """What is remembered of a few sessions, this one first."""
    others = [(name, kept) for name, kept in remembered.items() if name != session]
    return {session: value, **dict(others[: CACHED_SESSIONS - 1])}


def _append(db: sqlite3.Connection, session: str, turn: str, message: Message, at: str) -> int:
    body = whole(compact(encode(message)))
    position: int = db.execute(
        "SELECT coalesce(max(position) + 1, 0) FROM message WHERE session=?", (session,)
    ).fetchone()[0]
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (session, position, turn, message.role, body))
    db.execute("UPDATE session SET updated=? WHERE id=?", (at, session))
    return position


def _user_at(messages: list[Message], count: int) -> int | None:
    """Where the newest `count` messages begin, or the newest turn when that is earlier; None: not here."""
    skip = len(messages) - count
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role is Role.USER and not is_further(messages[at]):
            return min(at, skip) if skip >= 0 else None
    return None


def _tail(db: sqlite3.Connection, session: str, count: int) -> tuple[int, list[Message]]:
    rows = db.execute(queries.TAIL, {"session": session, "count": count}).fetchall()
    return (rows[0][0] if rows else 0), _messages(row[1] for row in rows)


def _whole(db: sqlite3.Connection, session: str) -> list[Message]:
    rows = db.execute("SELECT body FROM message WHERE session=? ORDER BY position", (session,)).fetchall()
    return _messages(row[0] for row in rows)


def _of_turn(db: sqlite3.Connection, turn: str) -> tuple[Message, ...]:
    rows = db.execute("SELECT body FROM message WHERE turn=? ORDER BY position", (turn,)).fetchall()
    return tuple(_messages(row[0] for row in rows))


def _open_turn(db: sqlite3.Connection, row: tuple[str, str, str, str, str]) -> OpenTurn:
    turn, session, continues, resume, begun = row
    inbounds = _inbounds(begun)
    address = inbounds[-1].address if inbounds else None
    is_left = resume == Resume.PERSON or not inbounds  # nobody can go on with what cannot be read
    return OpenTurn(turn, session, _of_turn(db, turn), bool(continues), is_left, address)


def _inbounds(begun: str) -> tuple[Inbound, ...]:
    """What a turn was begun with; nothing where that cannot be read."""
    try:
        return tuple(decode(Inbound, i) for i in json.loads(begun))
    except (ValueError, BadArguments):
        return ()


def _messages(bodies: Any) -> list[Message]:
    return [_message(body) for body in bodies]


def _message(body: str) -> Message:
    """A row that cannot be read must not hide the others."""
    try:
        return decode(Message, json.loads(body))
    except (ValueError, BadArguments):
        return Message(Role.NOTE, (Text("(a message here is damaged and was left out)"),))
