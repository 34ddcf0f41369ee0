"""All conversations together: a line for each, where its answers go, and a search in what was said.

The index is brought up to date by whoever searches, in batches, so that nothing is slower for being searchable. Every
Chinese, Japanese or Korean character is a word of its own and words are searched as phrases, so that a name of two
characters is found. Where SQLite has no full-text search every message is looked at.
"""

import json
import re
import sqlite3
from dataclasses import dataclass
from typing import Any

from palmclaw.core.codec import decode
from palmclaw.core.desks import Found, SessionLine
from palmclaw.core.errors import BadArguments
from palmclaw.core.messages import Message, iso, utc_now
from palmclaw.core.traffic import Address, Inbound
from palmclaw.storage.database import Database
from palmclaw.storage.queries import make_session

BATCH = 500
AROUND = 120
"""Characters shown before and behind the words that were found."""
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
        asked = words.split()
        if not asked:
            raise BadArguments(("words: say what to look for",))
        while await self.database.run(_index_some):
            pass
        rows = await self.database.run(lambda db: _found(db, asked, session, limit))
        return tuple(_shown(row, asked) for row in rows)


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


def _found(db: sqlite3.Connection, asked: list[str], session: str, limit: int) -> list[Any]:
    phrases = [f'"{_split(word).replace(chr(34), chr(34) * 2)}"' for word in asked if _LETTERS.search(word)]
    if len(phrases) < len(asked) or not _has_index(db):
        return _looked_through(db, asked, session, limit)
    named = {"query": " ".join(phrases), "session": session, "limit": limit}
    return db.execute(_SEARCH, named).fetchall()


def _looked_through(db: sqlite3.Connection, asked: list[str], session: str, limit: int) -> list[Any]:
    """Every message, the newest first, until enough are found: for signs that are no words, or without an index."""
    found: list[Any] = []
    for row in db.execute(_ALL, {"session": session}):
        text = _text(row[3]).casefold()
        if all(word.casefold() in text for word in asked):
            found.append(row)
            if len(found) == limit:
                break
    return found


def _shown(row: Any, asked: list[str]) -> Found:
    session, position, role, body = row
    message = _message(body)
    text, folded = message.text, message.text.casefold()
    at_word = max(0, min((p for p in (folded.find(w.casefold()) for w in asked) if p >= 0), default=0))
    start = max(0, at_word - AROUND)
    part = text[start : at_word + 2 * AROUND]
    shown = ("…" if start else "") + part + ("…" if at_word + 2 * AROUND < len(text) else "")
    return Found(session, position, role, message.at.isoformat(timespec="minutes"), shown, message.tainted)


def _split(text: str) -> str:
    return _CJK.sub(r" \1 ", text)


def _text(body: str) -> str:
    return _message(body).text


def _message(body: str) -> Message:
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
_SEARCH = """
SELECT m.session, m.position, m.role, m.body FROM spoken f
JOIN message m ON m.session = f.session AND m.position = f.position
WHERE spoken MATCH :query AND :session IN ('', f.session) ORDER BY json_extract(m.body, '$.at') DESC LIMIT :limit
"""
_ALL = """
SELECT session, position, role, body FROM message
WHERE role IN ('user', 'assistant') AND :session IN ('', session) ORDER BY json_extract(body, '$.at') DESC
"""
