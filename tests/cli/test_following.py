"""One message on its way: what is shown of it alone, what it comes to, and the exit code."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.app import assembled
from palmclaw.cli.chat import Style, Talk
from palmclaw.cli.following import Following
from palmclaw.cli.plain import Plain
from palmclaw.cli.texts import texts
from palmclaw.core.errors import Fault
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Happening,
    Missed,
    Notice,
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
from palmclaw.core.messages import ToolCall, user_message
from palmclaw.core.runtime import Lane, Question, Status
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Fate, Receipt
from tests.servers.desk_runtime import NOW, DeskRuntime

QUESTION = ApprovalAsked("q1", ToolCall("c1", "sms_send"), Effect.SEND, Preview("Send"), "speaks for you")
BEGUN, DONE = TurnStarted((1,)), TurnEnded(Stop.DONE)
Told = tuple[str, Happening]

KEPT = "Your message is kept, and answered as soon as that is mended; do not say it again."


class Working(DeskRuntime):
    """Its status is as it is said to be."""

    lanes: tuple[Lane, ...] = ()

    async def status(self) -> Status:
        return replace(await DeskRuntime.status(self), lanes=self.lanes)


@pytest.fixture
def talk(home_dir: Path) -> Talk:
    found = Talk(assembled(os.environ), texts({}), "main", Style(one_shot=True))
    found.shown = Plain(found.texts)
    return found


async def followed(talk: Talk, *told: Told, runtime: DeskRuntime | None = None) -> int | None:
    """What the message in row 1 comes to when this is heard, each with its turn."""

    async def signals() -> AsyncIterator[Signal]:
        for turn, event in told:
            yield Signal("", "main", turn, event)
            for _ in range(5):
                await asyncio.sleep(0)

    return await Following(talk, runtime or Working(), 1).to_the_end(signals())


def fate(fate: Fate, row: int = 1, position: int = 0, reason: str = "") -> Told:
    return "", Taken(Receipt(row, "main", fate, position, reason))


async def test_only_its_own_turn_is_shown(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    code = await followed(
        talk,
        ("t0", TextDelta("not ours")),
        ("t0", TurnEnded(Stop.ERROR)),
        fate(Fate.WAITING, position=1),
        ("t1", BEGUN),
        fate(Fate.STARTED),
        fate(Fate.STEERED, row=2),
        ("t1", TextDelta("ours")),
        ("", SlotAwaited(2.0)),
        ("t1", DONE),
    )
    assert (code, capsys.readouterr()) == (0, ("ours\n", "… waits for other conversations.\n"))


async def test_it_joins_the_turn_of_another(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    told = (("t0", Steered(1, user_message("x"))), fate(Fate.STEERED), ("t0", TextDelta("both")), ("t0", DONE))
    assert (await followed(talk, *told), capsys.readouterr()) == (0, ("both\n", "… joins what is being done.\n"))


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        (fate(Fate.DROPPED, reason="something else runs"), 1, "Not taken: something else runs.\n"),
        (fate(Fate.CANCELLED, reason="stopped"), 130, "Not done: stopped.\n"),
        (fate(Fate.REJECTED, reason="no"), 1, "Refused: no.\n"),
        (("", Notice(Fault("storage", "no space left", hint="Free some."))), 1, f"no space left\nFree some.\n{KEPT}\n"),
        (("t1", DONE), None, ""),
    ],
)
async def test_it_comes_to_nothing(
    talk: Talk, capsys: pytest.CaptureFixture[str], what: Told, code: int | None, words: str
) -> None:
    assert (await followed(talk, what), capsys.readouterr().err) == (code, words)


@pytest.mark.parametrize(
    ("receipt", "lanes", "code"),
    [
        (Receipt(1, "main", Fate.DROPPED), (), 1),
        (Receipt(1, "main", Fate.STARTED), (), 0),
        (Receipt(1, "main", Fate.STARTED), (Lane("other", "t9"),), 0),
        (Receipt(1, "main", Fate.STARTED), (Lane("main", "t1"),), None),
        (Receipt(1, "main", Fate.WAITING), (), None),
    ],
)
async def test_what_was_missed_is_found_out(
    talk: Talk, capsys: pytest.CaptureFixture[str], receipt: Receipt, lanes: tuple[Lane, ...], code: int | None
) -> None:
    runtime = Working()
    runtime.receipts[1], runtime.lanes = receipt, lanes
    told: list[Told] = [("", Missed(300)), ("t1", TextDelta("the rest"))]
    assert await followed(talk, *told, runtime=runtime) == code
    out, err = capsys.readouterr()
    assert err.startswith("(Some of what happened is not shown here.)\n")
    assert out == ("the rest\n" if any(lane.session == "main" for lane in lanes) else "")


async def test_a_question_is_answered_once_by_whoever_is_first(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    talk.approve = "never"
    runtime = Working()
    runtime.asked["q1"] = Question(QUESTION, "main", "t1", NOW, NOW)
    runtime.answers["q1"] = given = asyncio.get_running_loop().create_future()
    answered = ApprovalAnswered("q1", "c1", Answer.NO)
    code = await followed(talk, ("t1", BEGUN), ("t1", QUESTION), ("t1", answered), ("t1", DONE), runtime=runtime)
    assert (code, given.result()) == (0, Answer.NO)
    assert capsys.readouterr().err == "  → no\n"
    gone = (("t1", BEGUN), ("t1", QUESTION), ("t1", DONE))
    assert await followed(talk, *gone, runtime=runtime) == 0
    assert capsys.readouterr().err == "there is no open question q1\n"


async def test_a_question_that_is_answered_elsewhere_goes(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    class Slow(Talk):
        async def asked(self, question: ApprovalAsked) -> Answer:
            await asyncio.Event().wait()
            raise AssertionError

    slow = Slow(talk.app, talk.texts, "main", talk.style)
    slow.shown = talk.shown
    answered = ApprovalAnswered("q1", "c1", Answer.ONCE)
    second = replace(QUESTION, id="q2")
    told = (("t0", QUESTION), ("t1", BEGUN), ("s1", QUESTION), ("s1", answered), ("t1", second), ("t1", DONE))
    assert await followed(slow, *told) == 0
    assert capsys.readouterr().err.splitlines() == [
        "A question is open in main: /approvals, or palmclaw approvals pending",
        "  → once (answered elsewhere)",
    ]


async def test_how_it_stands_when_we_come(talk: Talk, capsys: pytest.CaptureFixture[str]) -> None:
    following = Following(talk, Working(), 1)
    following.stood(Standing("t0", "so far", (QUESTION,)))

    async def signals() -> AsyncIterator[Signal]:
        yield Signal("", "main", "", Taken(Receipt(1, "main", Fate.WAITING, 1)))

    assert await following.to_the_end(signals()) is None
    assert capsys.readouterr().err.splitlines() == [
        "A question is open in main: /approvals, or palmclaw approvals pending",
        "… waits: number 1 in line.",
    ]
