"""What an open conversation shows of what happens around it: whose it is, what became of it, what must be answered."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from palmclaw.app import assembled
from palmclaw.cli.chat import Style, Talk
from palmclaw.cli.listening import Asked, Listening
from palmclaw.cli.plain import Plain
from palmclaw.cli.texts import texts
from palmclaw.core.errors import Fault
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Happening,
    MessageAdded,
    Missed,
    Notice,
    Sent,
    Signal,
    SlotAwaited,
    Standing,
    Steered,
    Stop,
    Taken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import Message, Role, Text, ToolCall, user_message
from palmclaw.core.runtime import Question
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Fate, Inbound, Receipt
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database
from palmclaw.storage.sessions import Sessions
from tests.servers.desk_runtime import NOW, DeskRuntime

CALL = ToolCall("c1", "sms_send", {"to": "+1"})
QUESTION = ApprovalAsked("q1", CALL, Effect.SEND, Preview("Send"), "speaks for you")


@dataclass(slots=True)
class Heard:
    """A conversation in `main` that listens; what it shows goes to stdout and stderr."""

    listening: Listening
    runtime: DeskRuntime
    wakes: list[None]
    withdrawn: list[tuple[str, ApprovalAnswered | None]]

    async def tell(self, *events: Happening, session: str = "main", turn: str = "t1") -> None:
        """What happens, heard to the end."""
        for event in events:
            self.runtime.feed.publish(session, turn, event)
        await self.settled()

    async def settled(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


@asynccontextmanager
async def listening(
    home: Path, *before: Signal, runtime: DeskRuntime | None = None, is_alone: bool = False
) -> AsyncIterator[Heard]:
    """`before` has happened when the conversation begins to listen."""
    runtime = runtime or DeskRuntime()
    for signal in before:
        runtime.feed.publish(signal.session, signal.turn, signal.event)
    talk = Talk(assembled(os.environ), texts({}), "main", Style(quiet=False))
    talk.shown, talk.is_alone = Plain(talk.texts), is_alone
    wakes: list[None] = []
    withdrawn: list[tuple[str, ApprovalAnswered | None]] = []

    def gone(asked: Asked, event: ApprovalAnswered | None) -> None:
        withdrawn.append((asked.question.id, event))

    heard = Heard(Listening(talk, runtime, lambda: wakes.append(None), gone), runtime, wakes, withdrawn)
    task = asyncio.create_task(heard.listening.run())
    await heard.listening.ready.wait()
    await heard.settled()
    try:
        yield heard
    finally:
        runtime.feed.close()
        with suppress(asyncio.CancelledError):
            await task
        await talk.app.database.close()


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines shown since the last look, besides the answer."""
    return capsys.readouterr().err.splitlines()


def taken(row: int, fate: Fate, position: int = 0, reason: str = "", session: str = "main") -> Taken:
    return Taken(Receipt(row, session, fate, position, reason))


async def test_what_became_of_what_was_said_here(home_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with listening(home_dir) as heard:
        first, second = Receipt(1, "main", Fate.WAITING, 1), Receipt(2, "main", Fate.WAITING, 1)
        heard.listening.said(first, "one")
        await heard.tell(Taken(first), TurnStarted((1,)), taken(1, Fate.STARTED))
        assert (said(capsys), heard.listening.is_at_work) == ([], True)
        heard.listening.said(second, "two  words\nand more")
        assert said(capsys) == ["… waits: number 1 in line."]
        await heard.tell(Taken(second), TurnEnded(Stop.DONE), taken(2, Fate.STARTED))
        assert said(capsys) == ["… now: two words and more"]
        for row, fate, reason, words in (
            (3, Fate.STEERED, "", "… joins what is being done."),
            (4, Fate.MERGED, "", "… is answered together with others."),
            (5, Fate.DROPPED, "3 messages wait already", "Not taken: 3 messages wait already."),
            (6, Fate.CANCELLED, "stopped", "Not done: stopped."),
            (7, Fate.SUMMARIZED, "more than 3 messages waited", "Only its beginning was kept: more than 3 messages"),
            (8, Fate.REJECTED, "you may not", "Refused: you may not."),
        ):
            heard.listening.said(Receipt(row, "main", Fate.WAITING, 1), "x")
            await heard.tell(taken(row, Fate.WAITING, 1), taken(row, fate, reason=reason))
            assert said(capsys)[-1].startswith(words)
        assert heard.listening.waiting == {}
        heard.listening.said(Receipt(9, "main", Fate.DROPPED, reason="something else runs"), "x")
        assert said(capsys) == ["Not taken: something else runs."]
        heard.listening.said(Receipt(10, "main", Fate.ANSWERED, text="Stopped."), "/stop")
        assert capsys.readouterr().out == "Stopped.\n"
        await heard.tell(taken(99, Fate.STEERED))  # somebody else's
        assert said(capsys) == []


async def test_turns_of_others_are_marked_in_a_line(home_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with listening(home_dir) as heard:
        await heard.tell(TurnStarted((7,)), MessageAdded(user_message("a\nlong " + "x" * 80)), TextDelta("hm"))
        assert capsys.readouterr() == ("hm", f"↘ from elsewhere: a long {'x' * 52}…\n")
        await heard.tell(Steered(8, user_message("and this")), TurnEnded(Stop.DONE))
        assert said(capsys) == ["↘ from elsewhere: and this"]
        report = Message(Role.USER, (Text("[Sub-agent …]"),), sender="subagent:12345678")
        await heard.tell(TurnStarted((9,)), MessageAdded(report), TurnEnded(Stop.DONE), turn="t2")
        assert said(capsys) == ["↘ a sub-agent reports"]
        await heard.tell(TurnStarted((9,), continues="t0"), TurnEnded(Stop.DONE), turn="t3")
        assert said(capsys) == ["… goes on with what was broken off."]
        heard.listening.said(Receipt(10, "main", Fate.WAITING, 1), "mine")
        await heard.tell(TurnStarted((10, 11)), MessageAdded(user_message("mine")), TurnEnded(Stop.DONE), turn="t4")
        assert capsys.readouterr() == ("", "")


async def test_who_comes_late_is_told_how_it_stands(home_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (
        TurnStarted((1,)),
        TextDelta("so far "),
        taken(2, Fate.WAITING, 1),
        taken(3, Fate.WAITING, 2),
        QUESTION,
        TextDelta("and on"),
    )
    runtime = DeskRuntime()
    runtime.asked["q1"] = Question(QUESTION, "main", "t1", NOW, NOW)
    signals = (Signal("", "main", "t1", event) for event in before)
    async with listening(home_dir, *signals, runtime=runtime) as heard:
        assert capsys.readouterr() == ("so far and on", "… is at work here already:\n… 2 messages wait here.\n")
        assert list(heard.listening.waiting) == [2, 3]
        assert heard.listening.questions == {"q1": Asked(QUESTION, "main", "t1")}
        runtime.asked.clear()
        await heard.tell(Standing("t1", "so far and on", (), (Receipt(3, "main", Fate.WAITING, 1),)))
        assert said(capsys) == ["… 1 message waits here."]  # the same turn is not told twice
        assert (list(heard.listening.waiting), heard.withdrawn) == ([3], [("q1", None)])


async def test_a_question_goes_with_its_answer_or_with_its_turn(
    home_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with listening(home_dir) as heard:
        answered = ApprovalAnswered("q1", "c1", Answer.ONCE)
        await heard.tell(TurnStarted((1,)), QUESTION, QUESTION)
        assert (len(heard.wakes), heard.listening.questions) == (1, {"q1": Asked(QUESTION, "main", "t1")})
        await heard.tell(answered)
        assert (heard.withdrawn, heard.listening.questions, said(capsys)) == ([("q1", answered)], {}, [])
        await heard.tell(answered)  # it was we who answered
        assert said(capsys) == ["  → once"]
        await heard.tell(replace(QUESTION, id="q2"), TurnEnded(Stop.CANCELLED))
        assert (heard.withdrawn[1:], heard.listening.questions) == ([("q2", None)], {})


async def test_questions_of_ones_own_sub_agents_are_asked_here(home_dir: Path) -> None:
    database = Database(home_dir / "palmclaw.db")
    crew = CrewRecords(database)
    for name in ("main", "other"):
        await Sessions(database).choose_model(name, "")
    await crew.begin(Inbound("subagent:1", "task"), "main", "")
    await crew.begin(Inbound("subagent:2", "task"), "subagent:1", "")
    await crew.begin(Inbound("subagent:3", "task"), "other", "")
    await database.close()
    runtime = DeskRuntime()
    for number in (1, 2, 3):
        asked = replace(QUESTION, id=f"q{number}")
        runtime.asked[asked.id] = Question(asked, f"subagent:{number}", f"s{number}", NOW, NOW)
    async with listening(home_dir, runtime=runtime) as heard:
        await heard.tell(TurnStarted((1,)))
        await heard.tell(replace(QUESTION, id="q4"), turn="s4")
        while "q4" not in heard.listening.questions:  # the database is asked in its own thread
            await asyncio.sleep(0.01)
        assert [(a.question.id, a.turn, a.is_ours, a.by_crew) for a in heard.listening.questions.values()] == [
            ("q1", "s1", True, True),
            ("q2", "s2", True, True),
            ("q4", "s4", True, True),
        ]
        answered = ApprovalAnswered("q4", "c1", Answer.NO)
        await heard.tell(answered, turn="s4")
        assert (heard.listening.turn, heard.withdrawn) == ("t1", [("q4", answered)])


async def test_alone_every_question_is_asked_here(home_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with listening(home_dir, is_alone=True) as heard:
        one, two = replace(QUESTION, id="q2"), replace(QUESTION, id="q3")
        await heard.tell(Standing("t9", "", (QUESTION,)), session="left behind", turn="t9")
        await heard.tell(TextDelta("not ours"), one, session="left behind", turn="t9")
        await heard.tell(two, session="subagent:1", turn="s1")  # heard in the conversation that it works for
        assert list(heard.listening.questions.values()) == [
            Asked(QUESTION, "left behind", "t9"),
            Asked(one, "left behind", "t9"),
        ]
        answered = ApprovalAnswered("q1", "c1", Answer.NO)
        await heard.tell(answered, TurnEnded(Stop.DONE), session="left behind", turn="t9")
        assert (heard.withdrawn, heard.listening.questions) == ([("q1", answered), ("q2", None)], {})
        assert capsys.readouterr() == ("", "")


async def test_what_belongs_to_no_turn_is_told(home_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with listening(home_dir) as heard:
        await heard.tell(
            Notice(Fault("storage", "no space left", hint="Free some.")),
            SlotAwaited(2.0),
            Sent(1, "sent"),
            Sent(2, "failed", "blocked\x1b"),
            Sent(3, "unknown", "died"),
        )
        assert said(capsys) == [
            "no space left",
            "Free some.",
            "… waits for other conversations.",
            "Could not be delivered: blocked⟨U+001B⟩",
            "May have been delivered or not: died",
        ]
        heard.runtime.asked["q1"] = Question(QUESTION, "main", "t1", NOW, NOW)
        heard.runtime.asked["q2"] = Question(replace(QUESTION, id="q2"), "other", "t2", NOW, NOW)
        await heard.tell(Missed(3))
        assert said(capsys) == ["(Some of what happened is not shown here.)"]
        assert list(heard.listening.questions) == ["q1"]
