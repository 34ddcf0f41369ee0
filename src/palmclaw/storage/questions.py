"""What the owner is asked: written down before anybody is asked, answered once."""

import json
import sqlite3
from typing import Any

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments
from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.runtime import Question
from palmclaw.core.text import whole
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.storage.database import Database


@dataclass(frozen=True, slots=True)
class Questions:
    """Implements the QuestionStore port on the `question` table."""

    database: Database

    async def open(self, question: Question) -> None:
        """Write a question down as unanswered."""
        asked = question.asked
        row = (asked.id, question.session, question.turn, whole(compact(encode(asked))), question.at, question.deadline)
        query = "INSERT INTO question (id, session, turn, body, asked, deadline) VALUES (?,?,?,?,?,?)"
        await self.database.run(lambda db: db.execute(query, row))

    async def answer(self, question: str, answer: Answer, by: str, at: str) -> bool:
        """Answer an open question; False, and nothing is changed, when it has its answer."""
        query = "UPDATE question SET answer=?, by=?, answered=? WHERE id=? AND answer=''"
        return await self.database.run(lambda db: db.execute(query, (answer, by, at, question)).rowcount > 0)

    async def void(self, question: str, by: str, at: str) -> None:
        """Make it a no, whatever was answered: the one who asked is gone."""
        query = "UPDATE question SET answer='no', by=?, answered=? WHERE id=?"
        await self.database.run(lambda db: db.execute(query, (by, at, question)))

    async def find(self, question: str) -> Question | None:
        """One question, answered or not; None when it never was, or can no longer be read."""

        def work(db: sqlite3.Connection) -> Question | None:
            row = db.execute(f"{_SELECT} WHERE id=?", (question,)).fetchone()
            return _question(row) if row else None

        return await self.database.run(work)

    async def unanswered(self) -> tuple[Question, ...]:
        """The open ones, the oldest first."""
        query = f"{_SELECT} WHERE answer='' ORDER BY asked, id"
        rows = await self.database.run(lambda db: db.execute(query).fetchall())
        return tuple(found for row in rows if (found := _question(row)) is not None)

    async def void_all(self, by: str, at: str) -> int:
        """Make every open question a no; returns how many."""
        query = "UPDATE question SET answer='no', by=?, answered=? WHERE answer=''"
        return await self.database.run(lambda db: db.execute(query, (by, at)).rowcount)


_SELECT = "SELECT body, session, turn, asked, deadline, answer, by FROM question"


def _question(row: tuple[Any, ...]) -> Question | None:
    """A row that cannot be read must not hide the others."""
    body, session, turn, at, deadline, answer, by = row
    try:
        asked = decode(ApprovalAsked, json.loads(body))
        return Question(asked, session, turn, at, deadline, Answer(answer) if answer else None, by)
    except (ValueError, BadArguments):
        return None
