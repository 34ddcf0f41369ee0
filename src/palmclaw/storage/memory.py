"""The memory of all conversations: MEMORY.md, and a record of every change to it.

A change is stored first, then it is in the file, then it is known to be: a start after a crash makes up for what is
due. Changes are operations on the file as it then is, so a person may edit it at any time; what they did is noticed
when it is next read, and recorded as theirs.
"""

import asyncio
import json
import logging
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import partial
from typing import Any

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.memory import CAP, By, Change, Done, Kept, MemoryBroken, MemoryFull, Progress, Source
from palmclaw.core.messages import Message, iso, utc_now
from palmclaw.core.ports import Clock
from palmclaw.core.remembering import applied
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage.conversations import message_of
from palmclaw.storage.database import Database
from palmclaw.storage.memory_file import MemoryFile, Signature

log = logging.getLogger(__name__)
RECORDED = 100
"""Changes that are kept on record."""
Also = Callable[[sqlite3.Connection], None]


class Postponed(MemoryBroken):
    """The change is stored, and will be in the file as soon as that can be written."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What was to be done; nothing where a person edited the file themselves."""

    changes: tuple[Change, ...] = ()
    source: Source = Source()


@dataclass(frozen=True, slots=True)
class Recorded:
    """One change: when, whose, and the text before and after. `at` is ISO 8601 in UTC."""

    id: int
    at: str
    source: Source
    before: str
    after: str
    edit: Edit = Edit()
    is_due: bool = False


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """The changes on record; the database may be another process's."""

    database: Database

    async def newest(self, count: int = RECORDED) -> tuple[Recorded, ...]:
        """The newest first."""
        rows = await self.database.run(lambda db: db.execute(_NEWEST, (count,)).fetchall())
        return tuple(_recorded(row) for row in rows)

    async def note(self, before: str, after: str) -> None:
        """Record what a person has done to the file; once, though others may have noticed it."""

        def work(db: sqlite3.Connection) -> None:
            newest = db.execute("SELECT after FROM memory_change ORDER BY id DESC LIMIT 1").fetchone()
            is_owed = db.execute("SELECT 1 FROM memory_change WHERE state='due' AND before=?", (before,)).fetchone()
            known = before if is_owed else str(newest[0]) if newest else ""
            if after == known:
                return
            if before not in (known, after):
                _put(db, known, before, Edit(), "done")
                known = before
            _put(db, known, after, Edit(), "done")

        await self.database.run(work)

    async def due(self) -> tuple[Recorded, ...]:
        """What may not be in the file, the oldest first."""
        rows = await self.database.run(lambda db: db.execute(_DUE).fetchall())
        return tuple(_recorded(row) for row in rows)

    async def troubles(self, least: int = 3) -> tuple[tuple[str, int, str], ...]:
        """The sessions that could not be looked through so often in a row: which, how often, and why at last."""
        rows = await self.database.run(lambda db: db.execute(_TROUBLES, (least,)).fetchall())
        return tuple((str(session), int(failures), str(why)) for session, failures, why in rows)


@dataclass(slots=True, repr=False)
class KeptMemory:
    """Implements Memory and Consolidated; one in the process that owns the home."""

    file: MemoryFile
    database: Database
    clock: Clock
    limit: int = CAP
    _seen: tuple[Signature | None, Kept] | None = None
    _known: str | None = None
    _owes: bool = True
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self) -> Kept:
        """The file as it is now."""
        if self._seen is not None and not self._owes and self._seen[0] == self.file.signature():
            return self._seen[1]
        async with self._alone:
            return await self._look()

    async def change(self, changes: Sequence[Change], source: Source) -> tuple[Done, ...]:
        """Apply changes to the file as it is now. Raises MemoryFull, MemoryBroken, BadArguments."""
        return await self._change(changes, source)

    async def progress(self, session: str) -> Progress:
        """How far a conversation has been looked through; a mark that cannot be is as good as none."""
        row = await self.database.run(lambda db: db.execute(_PROGRESS, (session,)).fetchone())
        if row is None:
            return Progress()
        remembered, total, failures, failed_at, flushed = row
        return Progress(remembered if remembered <= total else 0, total, failures, failed_at, flushed)

    async def stretch(self, session: str, start: int, end: int) -> tuple[tuple[int, Message], ...]:
        """The messages at these positions, `end` not included."""
        rows = await self.database.run(lambda db: db.execute(_STRETCH, (session, start, end)).fetchall())
        return tuple((int(position), message_of(body)) for position, body in rows)

    async def keep(
        self, session: str, upto: int, changes: Sequence[Change], cycle: int | None = None
    ) -> tuple[Done, ...]:
        """All before `upto` has been looked through, and this came of it: one commit."""

        def advance(db: sqlite3.Connection) -> None:
            db.execute(_ADVANCE, {"session": session, "upto": upto, "cycle": cycle})
            db.execute("DELETE FROM memory_trouble WHERE session=?", (session,))

        try:
            return await self._change(changes, Source(By.CONSOLIDATED, session), advance)
        except Postponed as error:
            log.warning("what %s had to remember is not in the file yet: %s", session, error)
            return ()

    async def failed(self, session: str, why: str, cycle: int | None = None) -> int:
        """Count a failure; returns how many in a row there are, 0 for a session that is gone."""

        def work(db: sqlite3.Connection) -> int:
            db.execute(_FAILED, {"session": session, "why": why[:300], "cycle": cycle})
            db.execute(_FLUSHED, {"session": session, "cycle": cycle})
            row = db.execute("SELECT failures FROM memory_trouble WHERE session=?", (session,)).fetchone()
            return int(row[0]) if row else 0

        return await self.database.run(work)

    async def _look(self) -> Kept:
        warning = ""
        try:
            await self._settle()
        except MemoryBroken as error:
            warning = str(error)
        signature = self.file.signature()
        try:
            found = await asyncio.to_thread(self.file.read)
        except MemoryBroken as error:
            return self._saw(signature, Kept("", str(error)))
        if found.is_whole and not warning:
            await self._notice(found.text)
        return self._saw(signature, Kept(found.text, warning or found.warning))

    def _saw(self, signature: Signature | None, kept: Kept) -> Kept:
        if kept.warning and (self._seen is None or self._seen[1].warning != kept.warning):
            log.warning("%s", kept.warning)
        self._seen = signature, kept
        return kept

    async def _change(self, changes: Sequence[Change], source: Source, also: Also | None = None) -> tuple[Done, ...]:
        source = replace(source, day=source.day or self.clock.now().date().isoformat())
        async with self._alone:
            await self._settle()
            text = await asyncio.to_thread(self.file.text)
            await self._notice(text)
            after, done = applied(text or self.file.seed, changes, source, self.limit)
            if after in (text, self.file.seed):
                if also is not None:
                    await self.database.run(also)
                return done
            edit = Edit(tuple(changes), source)
            self._owes = True
            row = await self.database.run(lambda db: _begun(db, text, after, edit, also))
            done = await self._write(row) or done
            self._owes = False
            return done

    async def _settle(self) -> None:
        """Make up for what is stored and may not be in the file."""
        if not self._owes:
            return
        for row in await MemoryRecord(self.database).due():
            if await self.database.run(partial(_was_gone_on_from, row=row)):
                continue
            if await asyncio.to_thread(self._was_taken_back, row):
                await self.database.run(partial(_taken_back, row=row))
                continue
            try:
                await self._write(row)
            except MemoryFull as error:
                log.warning("a change of MEMORY.md had to be given up: %s", error)
        self._known, self._owes = None, False

    def _was_taken_back(self, row: Recorded) -> bool:
        """Whether a person has written the old text since the change was stored: that file is younger."""
        signature, stored = self.file.signature(), datetime.fromisoformat(row.at).timestamp()
        return signature is not None and signature[0] // 10**6 > round(stored * 1000) and self._holds(row.before)

    def _holds(self, text: str) -> bool:
        try:
            found = self.file.read()
        except MemoryBroken:
            return False
        return found.is_whole and found.text == text

    async def _write(self, row: Recorded) -> tuple[Done, ...]:
        """Bring a stored change into the file as it is now; returns what became of it where that was another one."""
        done: tuple[Done, ...] = ()

        def change(text: str) -> str:
            nonlocal done
            if text in (row.before, row.after):
                return row.after
            after, done = applied(text or self.file.seed, row.edit.changes, row.edit.source, self.limit)
            return text if after == self.file.seed else after

        try:
            before, after = await asyncio.to_thread(self.file.rewrite, change)
        except MemoryFull:
            await self.database.run(lambda db: db.execute("DELETE FROM memory_change WHERE id=?", (row.id,)))
            raise
        except MemoryBroken as error:
            raise Postponed(f"{error}; the change is kept, and made as soon as that can be done", error.hint) from error
        is_as_foreseen = before in (row.before, row.after)
        await self.database.run(lambda db: _ended(db, row) if is_as_foreseen else _merged(db, row, before, after))
        self._known, self._seen = after, None
        return done

    async def _notice(self, text: str) -> None:
        """Record as the person's what nobody else has done."""
        if text != self._known:
            await MemoryRecord(self.database).note(text, text)
            self._known = text


def _begun(db: sqlite3.Connection, before: str, after: str, edit: Edit, also: Also | None) -> Recorded:
    if also is not None:
        also(db)
    return Recorded(_put(db, before, after, edit, "due"), "", edit.source, before, after, edit, is_due=True)


def _put(db: sqlite3.Connection, before: str, after: str, edit: Edit, state: str) -> int:
    told = compact(encode(edit)) if edit.changes else ""
    row = (iso(utc_now()), edit.source.by, edit.source.session, before, after, told, state)
    added = db.execute(_PUT, row).lastrowid or 0
    db.execute("DELETE FROM memory_change WHERE id<=? AND state='done'", (added - RECORDED,))
    return added


def _ended(db: sqlite3.Connection, row: Recorded) -> None:
    db.execute("UPDATE memory_change SET state='done' WHERE id=?", (row.id,))


def _was_gone_on_from(db: sqlite3.Connection, row: Recorded) -> bool:
    """Whether a person has changed the file from where this had brought it; then it is done, and not done again."""
    newer = db.execute(_GONE_ON, (row.id, row.after)).fetchone() is not None
    if newer:
        _ended(db, row)
    return newer


def _taken_back(db: sqlite3.Connection, row: Recorded) -> None:
    """It was in the file, and a person wanted the text before it again."""
    _ended(db, row)
    _put(db, row.after, row.before, Edit(), "done")


def _merged(db: sqlite3.Connection, row: Recorded, before: str, after: str) -> None:
    """A person was quicker: their edit comes first, and the change is what became of it then."""
    db.execute("DELETE FROM memory_change WHERE id=?", (row.id,))
    _put(db, row.before, before, Edit(), "done")
    if after != before:
        _put(db, before, after, row.edit, "done")


def _recorded(row: Any) -> Recorded:
    id, at, by, session, before, after, edit, state = row
    return Recorded(id, at, Source(By(by), session), before, after, _edit(edit), state == "due")


def _edit(told: str) -> Edit:
    try:
        return decode(Edit, json.loads(told)) if told else Edit()
    except (ValueError, BadArguments):
        return Edit()


_COLUMNS = "SELECT id, at, by, session, before, after, edit, state FROM memory_change"
_NEWEST = f"{_COLUMNS} ORDER BY id DESC LIMIT ?"
_DUE = f"{_COLUMNS} WHERE state='due' ORDER BY id"
_GONE_ON = "SELECT 1 FROM memory_change WHERE id>? AND state='done' AND before=? AND edit=''"
_PUT = "INSERT INTO memory_change (at, by, session, before, after, edit, state) VALUES (?, ?, ?, ?, ?, ?, ?)"
_TROUBLES = "SELECT session, failures, why FROM memory_trouble WHERE failures>=? ORDER BY session"
_STRETCH = "SELECT position, body FROM message WHERE session=? AND position>=? AND position<? ORDER BY position"
_PROGRESS = """
SELECT s.remembered, (SELECT coalesce(max(m.position) + 1, 0) FROM message m WHERE m.session=s.id),
       coalesce(t.failures, 0), coalesce(t.upto, 0), s.flushed
FROM session s LEFT JOIN memory_trouble t ON t.session=s.id WHERE s.id=?
"""
_ADVANCE = """
UPDATE session SET flushed=coalesce(:cycle, flushed), remembered=CASE
    WHEN remembered BETWEEN :upto AND (SELECT max(position) + 1 FROM message WHERE session=:session) THEN remembered
    ELSE :upto END
WHERE id=:session
"""
_FLUSHED = "UPDATE session SET flushed=coalesce(:cycle, flushed) WHERE id=:session"
_FAILED = """
INSERT INTO memory_trouble (session, failures, upto, why)
SELECT id, 1, (SELECT coalesce(max(position) + 1, 0) FROM message WHERE session=:session), :why
FROM session WHERE id=:session
ON CONFLICT (session) DO UPDATE SET failures=failures + 1, upto=excluded.upto, why=excluded.why
"""
