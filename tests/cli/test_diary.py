"""What the log tells of a gateway's work, and what it never tells."""

import logging
from collections.abc import AsyncGenerator, Iterator

import pytest

from palmclaw.cli.diary import NAME, Diary
from palmclaw.core.errors import Fault
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Compacted,
    Happening,
    MessageAdded,
    Missed,
    ModelChanged,
    Notice,
    Retrying,
    Sent,
    Signal,
    SlotAwaited,
    Steered,
    Stop,
    Taken,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import ToolCall, ToolResult, user_message
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Fate, Receipt
from tests.servers.desk_runtime import DeskRuntime

SECRET = "the words of a message"
CALL = ToolCall("c1", "sms_send", {"to": "+85260010001", "text": SECRET})
BUSY = Fault("rate_limited", SECRET)
TOLD: list[tuple[Happening, str]] = [
    (Taken(Receipt(12, "main", Fate.WAITING, 1)), "INFO message 12 in main: accepted, number 1 in line"),
    (TurnStarted((12, 13)), "INFO turn 4cc90173 in main began: message 12, 13"),
    (Steered(14, user_message(SECRET)), "INFO message 14 in main: joined the turn"),
    (Retrying("groq/big", 3.2, BUSY), "WARNING model groq/big in main failed (rate_limited): asked again in 3 s"),
    (ModelChanged("b", "a", BUSY), "WARNING model a in main failed (rate_limited): b answers"),
    (ApprovalAsked("q1", CALL, Effect.SEND, Preview(SECRET), SECRET), "INFO approval q1 in main: asked for sms_send"),
    (ApprovalAnswered("q1", "c1", Answer.ONCE), "INFO approval q1 in main: answered once"),
    (ToolEnded(CALL, ToolResult("c1", "sms_send", SECRET)), "INFO tool sms_send in main: done"),
    (
        ToolEnded(CALL, ToolResult("c1", "sms_send", SECRET, Fault("declined", SECRET))),
        "INFO tool sms_send in main: failed (declined)",
    ),
    (TurnEnded(Stop.DONE, rounds=2), "INFO turn 4cc90173 in main ended: done, rounds 2, 1.5 s"),
    (TurnStarted(continues="8ca42cc9-1"), "INFO turn 4cc90173 in main began: goes on with turn 8ca42cc9"),
    (
        TurnEnded(Stop.ERROR, error=Fault("auth", SECRET), rounds=1),
        "WARNING turn 4cc90173 in main ended: error (auth), rounds 1, 1.5 s",
    ),
    (Taken(Receipt(15, "main", Fate.MERGED)), "INFO message 15 in main: merged"),
    (
        Taken(Receipt(16, "main", Fate.CANCELLED, reason="taken back")),
        "INFO message 16 in main: cancelled (taken back)",
    ),
    (Sent(7, "sent"), "INFO answer 7 to main: sent"),
    (Sent(8, "failed", "chat not\nfound\x1b"), "WARNING answer 8 to main: failed (chat not found⟨U+001B⟩)"),
    (Sent(9, "unknown", "died"), "WARNING answer 9 to main: unknown (died)"),
    (Compacted(8, 9_000, 700), "INFO older messages in main: 8 summed up"),
    (Compacted(8, 9_000, 700, summed=False, reason=SECRET), "INFO older messages in main: 8 left out"),
    (SlotAwaited(2), "INFO turn in main: waits for other conversations"),
    (Notice(Fault("storage", SECRET)), "WARNING notice in main: storage"),
    (Missed(3), "WARNING some of what happened is not in this log"),
]
UNTOLD: list[Happening] = [
    TextDelta(SECRET),
    MessageAdded(user_message(SECRET)),
    ToolStarted(CALL),
    Taken(Receipt(12, "main", Fate.STARTED)),
]


class Lines(logging.Handler):
    """What has been logged."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(f"{record.levelname} {record.getMessage()}")


@pytest.fixture
def lines() -> Iterator[Lines]:
    log, found = logging.getLogger(NAME), Lines()
    log.addHandler(found)
    log.setLevel(logging.INFO)
    yield found
    log.setLevel(logging.NOTSET)
    log.removeHandler(found)


def signal(event: Happening) -> Signal:
    return Signal("1", "main", "4cc90173-rest", event)


def clock() -> Iterator[float]:
    """Each look at it finds it one and a half seconds later."""
    at = 0.0
    while True:
        yield at
        at += 1.5


def test_every_step_is_a_line_and_no_words_are_in_it(lines: Lines) -> None:
    ticks = clock()
    diary = Diary(now=lambda: next(ticks))
    for event in [told for told, _ in TOLD] + UNTOLD:
        diary.hear(signal(event))
    assert lines.said == [line for _, line in TOLD]
    assert SECRET not in "".join(lines.said)
    assert "+852" not in "".join(lines.said)


async def test_it_hears_the_last_of_a_runtime_that_ends(lines: Lines) -> None:
    class Ending(DeskRuntime):
        async def events(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
            yield signal(TurnStarted((1,)))
            await self.closed.wait()
            yield signal(TurnEnded(Stop.CANCELLED))

    runtime, diary = Ending(), Diary(now=lambda: 0.0)
    diary.open(runtime)
    runtime.closed.set()
    await diary.close()
    began, ended = "turn 4cc90173 in main began: message 1", "turn 4cc90173 in main ended: cancelled, rounds 0, 0.0 s"
    assert lines.said == [f"INFO {began}", f"INFO {ended}"]


async def test_one_that_was_never_opened_closes_at_once() -> None:
    await Diary().close()
