"""All conversations together: a line for each, where its answers go, and a search in what was said.

The index is brought up to date by whoever searches, in batches, so that nothing is slower for being searchable. Every
Chinese, Japanese or Korean character is a word of its own and words are searched as phrases, so that a name of two
characters is found. Where SQLite has no full-text search every message is looked at.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from palmclaw.core.codec import decode
from palmclaw.core.desks import Charge, Found, SessionLine
from palmclaw.core.errors import BadArguments
from palmclaw.core.memory import Sight
from palmclaw.core.messages import Message, iso, utc_now
from palmclaw.core.notes import pieces, share
from palmclaw.core.traffic import Address, Inbound
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database
from palmclaw.storage.queries import make_session

BATCH = 500
AROUND = 120
"""Characters shown before and behind the words that were found."""
CANDIDATES = 100
"""Messages that hold pieces of a question, among which those are chosen that hold most."""
DEEPEST = 8
"""Sub-agents above each other, at most."""
_CJK = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_LETTERS = re.compile(r"\w")
_SAID = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class ConversationRecords:
    """Implements ConversationStore over `session`, `message` and an FTS5 table."""

    database: Database

    async def lines(self) -> tuple[SessionLine, ...]:
        """Every session, the last used first."""
        rows = await self.database.run(lambda db: db.execute(_LINES).fetchall())
        return tuple(
            SessionLine(i, title, used, count, "", up, _label(told)) for i, title, used, count, up, told in rows
        )

    async def place(self, session: str) -> Address | None:
        """Where the session's answers went last; None: to whoever reads it."""
        row = await self.database.run(lambda db: db.execute(_PLACE, (session,)).fetchone())
        try:
            return decode(Inbound, json.loads(row[0])).address if row else None
        except (ValueError, BadArguments):
            return None

    async def make(self, session: str) -> None:
        """See to it that there is such a session."""
        at = iso(utc_now())
        await self.database.run(lambda db: make_session(db, session, at))

    async def search(self, words: str, session: str = "", limit: int = 10) -> tuple[Found, ...]:
        """Messages that hold all the words, the newest first. Raises BadArguments when there are none."""
        return await self._search(words, json.dumps([session] if session else None), limit)

    async def recall(self, words: str, sessions: Collection[str] | None = None, limit: int = 10) -> tuple[Found, ...]:
        """As `search`, in these sessions (None: in all); where nothing holds all the words, what holds most of them."""
        places = json.dumps(None if sessions is None else list(sessions))
        if found := await self._search(words, places, limit):
            return found
        wanted = pieces(words)
        rows = await self.database.run(lambda db: _nearly(db, wanted, places))
        ranked = sorted(((share(_text(row[3]), wanted), row) for row in rows), key=lambda pair: -pair[0])
        return tuple(_shown(row, wanted, is_near=True) for held, row in ranked[:limit] if held)

    async def sight(self, session: str, turn: str) -> Sight:
        """What a turn may see: the owner at home all, in a chat or for others that conversation; a sub-agent the same.

        Memory is the owner's, and nothing for a group or a guest.
        """
        return await self.database.run(lambda db: _sight(db, session, turn))

    async def _search(self, words: str, places: str, limit: int) -> tuple[Found, ...]:
        """`places` are the sessions to be searched, as JSON; null: all of them."""
        said = words.split()
        if not said:
            raise BadArguments(("words: say what to look for",))
        asked = [word for word in said if _LETTERS.search(word)] or said  # a sign among words says nothing
        while await self.index_some():
            pass
        rows = await self.database.run(lambda db: _found(db, asked, places, limit))
        if rows is None:
            rows = await self._looked_through(asked, places, limit)
        return tuple(_shown(row, asked) for row in rows)

    async def index_some(self) -> bool:
        """Take some more messages into the index; whether there may be others."""
        return await self.database.run(_index_some)

    async def _looked_through(self, asked: Sequence[str], places: str, limit: int) -> list[Any]:
        """Message by message, some at a time, so that nobody waits: for signs that are no words, or without an index.

        From conversation to conversation, the last used one first, until enough are found.
        """
        found: list[Any] = []
        for session in await self.database.run(lambda db: db.execute(_PLACES, {"places": places}).fetchall()):
            before = 1 << 62
            while len(found) < limit and before >= 0:
                rows = await self.database.run(partial(_earlier, session=session[0], before=before))
                found += [row for row in rows if _holds(row, asked)]
                before = rows[-1][1] if len(rows) == BATCH else -1
        return found[:limit]


def forget(db: sqlite3.Connection, session: str) -> None:
    """Take a session out of the index, inside another transaction."""
    if _has_index(db):
        db.execute("DELETE FROM spoken WHERE session=?", (session,))


def _index_some(db: sqlite3.Connection) -> bool:
    """Take some more messages into the index; whether there may be others."""
    if not _made(db):
        return False
    rows = db.execute(_NEW, {"batch": BATCH}).fetchall()
    for session, position, role, body in rows:
        text = _text(body) if role in _SAID else ""
        if text.strip():
            row = (_split(text), session, position)
            db.execute("INSERT INTO spoken (words, session, position) VALUES (?, ?, ?)", row)
        db.execute("INSERT OR REPLACE INTO searchable (session, upto) VALUES (?, ?)", (session, position))
    return len(rows) == BATCH


def _made(db: sqlite3.Connection) -> bool:
    """Whether there is an index, made now if it can be."""
    if _has_index(db):
        return True
    try:
        db.execute(
            "CREATE VIRTUAL TABLE spoken USING fts5(words, session UNINDEXED, position UNINDEXED, tokenize='unicode61')"
        )
    except sqlite3.OperationalError:  # built without it
        return False
    return True


def _has_index(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master WHERE name='spoken'").fetchone() is not None


def _found(db: sqlite3.Connection, asked: Sequence[str], places: str, limit: int) -> list[Any] | None:
    """By the index; None where there is none, or none of these words."""
    if not _has_index(db) or not all(map(_LETTERS.search, asked)):
        return None
    named = {"query": " ".join(map(_phrase, asked)), "places": places, "limit": limit}
    return db.execute(_SEARCH, named).fetchall()


def _earlier(db: sqlite3.Connection, session: str, before: int) -> list[Any]:
    """What was said in a session before a position, the newest first."""
    return db.execute(_EARLIER, {"session": session, "before": before, "batch": BATCH}).fetchall()


def _holds(row: Any, asked: Sequence[str]) -> bool:
    text = _text(row[3]).casefold() if row[2] in _SAID else ""
    return all(word.casefold() in text for word in asked)


def _nearly(db: sqlite3.Connection, wanted: Sequence[str], places: str) -> list[Any]:
    """Candidates: what holds any of the pieces, the rarest ones first."""
    if not wanted or not _has_index(db):
        return []
    named = {"query": " OR ".join(map(_phrase, wanted)), "places": places, "limit": CANDIDATES}
    return db.execute(_RANKED, named).fetchall()


def _phrase(word: str) -> str:
    return f'"{_split(word).replace(chr(34), chr(34) * 2)}"'


def _sight(db: sqlite3.Connection, session: str, turn: str) -> Sight:
    own = [session]
    for _ in range(DEEPEST):
        row = db.execute(_BEGUN, (turn,)).fetchone()
        parent, begun = _charge(row[1]) if row else ("", "")
        if not parent:
            inbounds = inbounds_of(row[0]) if row else ()
            is_owners = bool(inbounds) and not row[2]
            is_home = is_owners and all(i.address is None for i in inbounds)
            return Sight(is_owners, None if is_home else tuple(own))
        own.append(parent)
        turn = begun
    return Sight(sessions=tuple(own))


def inbounds_of(begun: str) -> tuple[Inbound, ...]:
    """The messages that a turn was begun with; none where that cannot be read."""
    try:
        return tuple(decode(Inbound, each) for each in json.loads(begun))
    except (ValueError, BadArguments):
        return ()


def _charge(told: str) -> tuple[str, str]:
    """The session above a sub-agent's, and the turn that began it there."""
    try:
        charge = decode(Charge, json.loads(told))
    except (ValueError, BadArguments):
        return "", ""
    return charge.parent, charge.turn


def _shown(row: Any, asked: Sequence[str], *, is_near: bool = False) -> Found:
    session, position, role, body = row
    message = message_of(body)
    text, folded = message.text, message.text.casefold()
    at_word = max(0, min((p for p in (folded.find(w.casefold()) for w in asked) if p >= 0), default=0))
    start = max(0, at_word - AROUND)
    part = text[start : at_word + 2 * AROUND]
    shown = ("…" if start else "") + part + ("…" if at_word + 2 * AROUND < len(text) else "")
    return Found(session, position, role, message.at.isoformat(timespec="minutes"), shown, message.tainted, is_near)


def _split(text: str) -> str:
    return _CJK.sub(r" \1 ", text)


def _text(body: str) -> str:
    return message_of(body).text


def message_of(body: str) -> Message:
    """A stored message; one that cannot be read says nothing."""
    try:
        return decode(Message, json.loads(body))
    except (ValueError, BadArguments):
        return decode(Message, {"role": "note", "parts": []})


def _label(charge: str) -> str:
    return str(json.loads(charge).get("label", "")) if charge else ""


_LINES = """
SELECT s.id, s.title, s.updated, (SELECT count(*) FROM message m WHERE m.session=s.id), s.parent, s.charge
FROM session s ORDER BY s.updated DESC, s.id
"""
_PLACE = "SELECT body FROM inbox WHERE session=? AND channel<>'' AND body<>'' ORDER BY id DESC LIMIT 1"
_NEW = """
SELECT m.session, m.position, m.role, m.body FROM session s
JOIN message m ON m.session = s.id AND m.position > coalesce((SELECT upto FROM searchable x WHERE x.session=s.id), -1)
ORDER BY m.session, m.position LIMIT :batch
"""
_THERE = "(:places = 'null' OR m.session IN (SELECT value FROM json_each(:places)))"
_HITS = f"""
SELECT m.session, m.position, m.role, m.body FROM spoken f
JOIN message m ON m.session = f.session AND m.position = f.position
WHERE spoken MATCH :query AND {_THERE}
"""
_SEARCH = f"{_HITS} ORDER BY json_extract(m.body, '$.at') DESC LIMIT :limit"
_RANKED = f"{_HITS} ORDER BY f.rank LIMIT :limit"
_BEGUN = "SELECT t.begun, s.charge, s.shared FROM turn t JOIN session s ON s.id=t.session WHERE t.id=?"
_PLACES = """
SELECT id FROM session WHERE :places='null' OR id IN (SELECT value FROM json_each(:places)) ORDER BY updated DESC, id
"""
_EARLIER = """
SELECT session, position, role, body FROM message WHERE session=:session AND position<:before
ORDER BY position DESC LIMIT :batch
"""
