"""What the owner is asked and has allowed for good: answered once, listed, revoked; also after a restart."""

from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.messages import ToolCall
from palmclaw.core.runtime import NotOpen, Question
from palmclaw.core.tools import Effect, Preview
from palmclaw.storage.database import Database
from palmclaw.storage.journal import Approvals, Lasting
from palmclaw.storage.questions import Questions

AT, LATER = "2026-06-15T12:00:00.000+00:00", "2026-06-15T12:10:00.000+00:00"
ASKED = ApprovalAsked(
    "a", ToolCall("c", "send", {"text": "\ud83d\ude00"}), Effect.SEND, Preview("Send", "Mei"), "sends", (Answer.ONCE,)
)
FIRST = Question(ASKED, "s", "t", AT, LATER)
SECOND = Question(replace(ASKED, id="b"), "s", "t", LATER, LATER)


async def test_a_question_is_answered_once_and_outlives_the_process(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    questions = Questions(database)
    await questions.open(SECOND)
    await questions.open(FIRST)
    whole = replace(FIRST, asked=replace(ASKED, call=ToolCall("c", "send", {"text": "😀"})))
    assert [q.asked.id for q in await questions.unanswered()] == ["a", "b"]
    assert [await questions.answer("a", a, by, LATER) for a, by in ((Answer.ONCE, "web"), (Answer.NO, "sms"))] == [
        True,
        False,
    ]
    assert not await questions.answer("none", Answer.NO, "web", LATER)
    await database.close()

    database = Database(tmp_path / "db")
    questions = Questions(database)
    assert await questions.find("a") == replace(whole, answer=Answer.ONCE, by="web")
    assert await questions.find("none") is None
    assert await questions.void_all("restart", LATER) == 1
    assert await questions.unanswered() == ()
    await questions.void("a", "stopped", LATER)
    answers = [(q.answer, q.by) for q in (await questions.find("a"), await questions.find("b")) if q]
    assert answers == [(Answer.NO, "stopped"), (Answer.NO, "restart")]
    await database.close()


async def test_lasting_answers_are_listed_and_revoked(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    approvals = Approvals(database)
    for answer in (Answer.ONCE, Answer.SESSION, Answer.NO, Answer.ALWAYS):
        await approvals.add("s1", "send", f"to {answer}", answer)
    listed = await approvals.listed()
    assert [replace(each, at="") for each in listed] == [
        Lasting(2, "s1", "send", "to session", "session", ""),
        Lasting(4, "s1", "send", "to always", "always", ""),
    ]
    await approvals.revoke(4)
    assert await approvals.listed() == listed[:1]
    assert not await approvals.holds("s1", "send", "to always")
    for number in (4, 1, 9):  # gone, no lasting one, never was
        with pytest.raises(NotOpen, match=f"there is no lasting answer {number}"):
            await approvals.revoke(number)
    await database.close()
