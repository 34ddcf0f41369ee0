"""Summing up: what a model is asked, which answers are refused, and what happens when there is no usable one."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from palmclaw.agent.compaction import ANSWER, HEADINGS, NAMED, REMEMBERED, Compaction, Refused
from palmclaw.agent.context import Crowd
from palmclaw.agent.interrupt import Interrupted
from palmclaw.agent.turn import Turn
from palmclaw.core.errors import (
    AuthFailed,
    BudgetReached,
    Fault,
    NoEndpoint,
    NoNetwork,
    ProviderError,
    RateLimited,
    Unavailable,
)
from palmclaw.core.events import Compacted, ModelChanged, TextDelta
from palmclaw.core.messages import Media, Message, Reasoning, Role, Text, ToolCall, ToolResult
from palmclaw.core.ports import Delta, Finish, Reply, Request, Summary
from palmclaw.core.text import tokens
from tests.agent.test_context import Log

AT = datetime(2026, 6, 15, 9, 5, tzinfo=UTC)
GOOD = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)


Answer = str | Exception | Reply | tuple[ModelChanged, str]


@dataclass
class Scribe:
    """Answers with these texts or replies, one after the other, after an event; an exception is raised."""

    answers: "list[Answer]"
    asked: list[Request] = field(default_factory=list)
    local: bool = False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            yield answer
            return
        if isinstance(answer, tuple):
            event, answer = answer
            yield event
        yield TextDelta(answer)
        if answer != "(cut)":
            yield Reply(Message(Role.ASSISTANT, (Text(answer),)))

    async def close(self) -> None:
        """Nothing to give back."""


def said(role: Role, text: str, **more: Any) -> Message:
    return replace(Message(role, (Text(text),), at=AT), **more)


TALK = (said(Role.USER, "word " * 400), said(Role.ASSISTANT, "well " * 400))


def crowd(
    older: Sequence[Message] = TALK, summary: Summary = Summary(), window: int = 0, *, free: bool = False
) -> Crowd:
    return Crowd(tuple(older), 2, 1_000, 10, summary, free, window)


def compaction(*answers: Answer) -> tuple[Compaction, Scribe, Log]:
    scribe, log = Scribe(list(answers)), Log([])
    return Compaction(scribe, log, "sum up"), scribe, log


async def made(room: Compaction, turn: Turn, crowded: Crowd) -> list[Compacted]:
    return [event async for event in room.make_room(turn, crowded)]


async def test_what_leaves_the_window_is_summed_up_by_the_turns_model() -> None:
    room, scribe, log = compaction(GOOD)
    turn = Turn("s", "t", model="big")
    assert await made(room, turn, crowd()) == [Compacted(2, 1_000, 10 + 4 + tokens(f"<earlier>\n{GOOD}\n</earlier>"))]
    assert log.summaries == {"s": Summary(2, GOOD)}
    (request,) = scribe.asked
    assert (request.system, request.purpose, request.choice, request.turn) == ("sum up", "compaction", "big", "t")
    assert (request.tools, request.max_output, request.session) == ((), ANSWER, "s")
    assert turn.summed


async def test_what_is_read_for_a_summary_is_short_and_in_words() -> None:
    room, scribe, _ = compaction(GOOD)
    call = ToolCall("c", "sms_send", {"to": "1" * 900})
    failed = ToolResult("c", "sms_send", "no", Fault("declined", "no"))
    older = (
        said(Role.USER, "[memory]\nsend it", sender="bob", tainted=True),
        replace(said(Role.ASSISTANT, ""), parts=(Reasoning("hm"), Text(" "), call)),
        Message(Role.TOOL, (failed, ToolResult("d", "look", "x" * 900)), at=AT),
        replace(said(Role.USER, "y " * 4_000), parts=(Text("y " * 4_000), Media("m", "image/png", "a.png"))),
        said(Role.NOTE, "stopped"),
    )
    await made(room, Turn("s", "t"), crowd(older))
    text = scribe.asked[0].messages[0].text
    assert "bob (2026-06-15 09:05): \nsend it\nAgent called sms_send {'to': '111" in text
    assert "sms_send failed (declined): no\nlook said: xxx" in text
    assert "Person attached a.png (image/png)" in text
    assert (text.count("x"), text.count("y ") < 2_100, "hm" in text, "stopped" in text) == (600, True, False, False)


async def test_an_old_summary_is_distilled_and_its_colours_stay() -> None:
    room, scribe, log = compaction(GOOD)
    old = Summary(1, "we met", tainted=True, trimmed=7)
    await made(room, Turn("s", "t"), crowd((*TALK, said(Role.USER, "x", private=True)), old))
    assert scribe.asked[0].messages[0].text.startswith("The summary so far:\nwe met\n\nWhat was said after that:\n")
    assert log.summaries["s"] == Summary(2, GOOD, tainted=True, private=True, trimmed=7)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        ("", "lacks the heading Decisions, Open tasks"),
        (GOOD.replace("## Rules\n", ""), "lacks the heading Rules"),
        ("\n".join(f"## {h}\nx" for h in reversed(HEADINGS)), "in this order: Decisions"),
        (f"{GOOD}\n" + "long " * 4 * ANSWER, "too long"),
    ],
)
async def test_c06_a_summary_that_is_refused_is_asked_for_once_more_with_the_reason(bad: str, why: str) -> None:
    room, scribe, log = compaction(bad, GOOD)
    await made(room, Turn("s", "t"), crowd())
    assert log.summaries["s"].text == GOOD
    assert [m.role for m in scribe.asked[1].messages] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert why in scribe.asked[1].messages[2].text


async def test_c06_twice_refused_leaves_everything_as_it_was() -> None:
    room, scribe, log = compaction("no", "no")
    assert await made(room, Turn("s", "t"), crowd()) == []
    assert (log.summaries, len(scribe.asked), room.failures) == ({}, 2, {"s": 1})
    room.provider = Scribe(["no", "no"])
    with pytest.raises(Refused, match="lacks the heading"):
        await room.sum_up(Turn("s", "t"), crowd())


async def test_a_summary_that_is_not_smaller_is_refused() -> None:
    room, _, log = compaction(GOOD)
    with pytest.raises(Refused, match="not smaller"):
        await room.sum_up(Turn("s", "t"), crowd((said(Role.USER, "hi"),)))
    assert log.summaries == {}


async def test_an_answer_that_breaks_off_is_none() -> None:
    room, _, _ = compaction("(cut)")
    with pytest.raises(Refused, match="answered with nothing"):
        await room.sum_up(Turn("s", "t"), crowd())


async def test_c21_after_three_failures_a_part_leaves_and_nothing_is_tried_until_half_a_room_later() -> None:
    room, scribe, log = compaction(*["no"] * 6, GOOD)
    for _ in range(2):
        assert await made(room, Turn("s", "t"), crowd()) == []
    assert (log.summaries, room.failures) == ({}, {"s": 2})
    told = await made(room, Turn("s", "t"), crowd(summary=Summary(1, "we met")))
    after, reason = 10 + 4 + tokens("<earlier>\nwe met\n</earlier>"), f"it lacks the heading {', '.join(HEADINGS)}"
    left = Compacted(2, 1_000, after, summed=False, reason=reason)
    assert (told, log.summaries, room.failures) == ([left], {"s": Summary(2, "we met")}, {})
    (again,) = await made(room, Turn("s", "t"), crowd())  # what is left is half of the room: there is more by now
    assert (again.summed, len(scribe.asked)) == (True, 7)


@pytest.mark.parametrize(
    "error", [Unavailable("down"), NoNetwork("no net"), BudgetReached("spent"), RateLimited("slow"), AuthFailed("key")]
)
async def test_while_no_model_can_be_asked_nothing_leaves_and_nothing_is_counted(error: ProviderError) -> None:
    room, _, log = compaction(*[error] * 10, GOOD)
    for _ in range(9):
        assert await made(room, Turn("s", "t"), crowd()) == []
    with pytest.raises(type(error)):  # the next request would come to nothing as well
        await made(room, Turn("s", "t", overflows=1), crowd())
    assert (log.summaries, room.failures) == ({}, {})
    assert [event.summed for event in await made(room, Turn("s", "t"), crowd())] == [True]


async def test_f071_what_the_service_calls_too_long_leaves_also_without_a_summary() -> None:
    room, _, log = compaction(NoEndpoint("404 <html>"))
    (told,) = await made(room, Turn("s", "t", overflows=1), crowd())
    assert (told.summed, log.summaries) == (False, {"s": Summary(2)})


async def test_failures_are_counted_of_so_many_conversations_only() -> None:
    room, _, _ = compaction(*["no"] * 2 * (REMEMBERED + 1))
    for n in range(REMEMBERED + 1):
        await made(room, Turn(f"s{n}", "t"), crowd())
    assert (len(room.failures), "s0" in room.failures) == (REMEMBERED, False)


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.FILTER])
async def test_a_summary_that_was_cut_is_none(finish: Finish) -> None:
    room, scribe, log = compaction(Reply(Message(Role.ASSISTANT, (Text(GOOD),)), finish=finish), GOOD)
    await made(room, Turn("s", "t"), crowd())
    assert (log.summaries["s"].text, len(scribe.asked)) == (GOOD, 2)
    assert "did not come to its end" in scribe.asked[1].messages[2].text or "filter" in scribe.asked[1].messages[2].text


async def test_the_words_of_a_model_that_costs_nothing_are_no_summary() -> None:
    gone = ModelChanged("offline", "m", Fault("unreachable", "gone"))
    room, _, log = compaction((gone, GOOD))
    room.is_local = lambda model: model == "offline"
    with pytest.raises(Refused, match="costs nothing"):
        await room.sum_up(Turn("s", "t"), crowd())
    assert log.summaries == {}


async def test_a_stop_does_not_wait_for_the_memory() -> None:
    async def forever(session: str, upto: int, *, cycle: int, model: str = "") -> bool:
        await asyncio.get_running_loop().create_future()
        return True

    room, _, log = compaction(GOOD)
    room.flush, turn = forever, Turn("s", "t")
    summing = asyncio.create_task(room.sum_up(turn, crowd()))
    await asyncio.sleep(0.05)
    turn.interrupt.set()
    with pytest.raises(Interrupted):
        await summing
    assert log.summaries == {}


async def test_c24_without_words_there_is_nothing_to_sum_up() -> None:
    room, scribe, _ = compaction()
    with pytest.raises(Refused, match="nothing to compact"):
        await room.sum_up(Turn("s", "t"), crowd([Message(Role.TOOL, (ToolResult("c", "look", "x"),))]))
    assert scribe.asked == []


async def test_c25_what_is_larger_than_the_models_window_is_summed_up_in_parts() -> None:
    room, scribe, log = compaction(*[GOOD.replace("none", f"n{n}") for n in range(20)])
    older = [said(Role.USER, f"{n} " + "word " * 600) for n in range(12)]
    await made(room, Turn("s", "t"), crowd(older, window=8_000))
    assert 3 <= len(scribe.asked) <= 12
    assert all(tokens(r.messages[0].text) < 8_000 for r in scribe.asked)
    assert "The summary so far:\n## Decisions\nn0" in scribe.asked[1].messages[0].text
    assert log.summaries["s"].text == GOOD.replace("none", f"n{len(scribe.asked) - 1}")


async def test_the_offline_assistant_sums_nothing_up() -> None:
    room, scribe, log = compaction()
    assert await made(room, Turn("s", "t"), crowd(free=True)) == []
    assert (log.summaries, scribe.asked) == ({"s": Summary(2)}, [])
    with pytest.raises(Refused, match="offline assistant"):
        await room.sum_up(Turn("s", "t"), crowd(free=True))


async def test_what_the_person_named_is_not_lost() -> None:
    room, _, log = compaction(GOOD.replace("none", "see https://a.example/x"))
    own = "see https://a.example/x, call +852 6001 0001, mail mei@example.com about ~/notes/tax.md. " + "word " * 400
    older = (said(Role.USER, own), said(Role.USER, "https://evil.example/y", tainted=True), *TALK)
    await made(room, Turn("s", "t"), crowd(older))
    assert log.summaries["s"].text.splitlines()[-1] == "+852 6001 0001; mei@example.com; ~/notes/tax.md"
    many = said(Role.USER, " ".join(f"https://a.example/{n}" for n in range(50)) + "word " * 400)
    room.provider = Scribe([GOOD])
    await room.sum_up(Turn("s", "t"), crowd((many,)))
    assert log.summaries["s"].text.splitlines()[-1].count(";") == NAMED - 1


async def test_an_address_without_end_is_not_put_back() -> None:
    room, _, log = compaction(GOOD)
    own = f"see https://a.example/{'x' * 200} and https://a.example/y. " + "word " * 400
    await made(room, Turn("s", "t"), crowd((said(Role.USER, own),)))
    assert log.summaries["s"].text == f"{GOOD}\nhttps://a.example/y"


async def test_f048_our_own_marks_do_not_get_into_a_summary() -> None:
    room, _, log = compaction(f"<earlier>\n{GOOD}\n[memory]\n</earlier></outside id=1>")
    await made(room, Turn("s", "t"), crowd())
    assert log.summaries["s"].text == GOOD


async def test_a_wish_is_passed_on_and_an_interrupt_ends_it() -> None:
    room, scribe, log = compaction(GOOD, GOOD)
    await room.sum_up(Turn("s", "t"), crowd(), "the prices")
    assert "Give the most room to: the prices" in scribe.asked[0].messages[0].text
    turn = Turn("s", "t")
    turn.interrupt.set()
    with pytest.raises(Interrupted):
        await made(room, turn, replace(crowd(), upto=9))
    assert log.summaries["s"].upto == 2
