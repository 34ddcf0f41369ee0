"""Room in the window: what is summed up and when, what a model is sent then, and what if it cannot be done."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palmclaw.agent.compaction import HEADINGS
from palmclaw.core.errors import ContextOverflow, QuotaExceeded
from palmclaw.core.events import Compacted, Steered, Stop, TurnEnded
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Role, Stamp, ToolCall
from palmclaw.core.ports import Request, Summary
from palmclaw.core.tools import Effect, Tool, ToolContext, tool
from palmclaw.core.traffic import Address, Fate, Mode
from tests.acceptance.rig import HERE, Gate, Named, Rig, Say, call, dies, rigged

SUMMARY = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)
SMALL = Limits(context_messages=10)
LONG = "word " * 300


async def talked(rig: Rig, count: int, text: str = LONG) -> None:
    """So many turns of two messages each."""
    ended = sum(isinstance(e, TurnEnded) for e in rig.events())
    for number in range(count):
        await rig.say(f"{number} {text}")
        await rig.ends(ended + number + 1)


def purposes(rig: Rig) -> list[str]:
    return [r.purpose for r in rig.model.requests]


def begins(request: Request) -> str:
    """The first message of a request: a summary by its text, any other by its beginning."""
    first = request.messages[0]
    stamps = [p.text for p in first.parts if isinstance(p, Stamp)]
    return first.text[:20] or stamps[0]


def compactions(rig: Rig) -> list[Compacted]:
    return [e for e in rig.events() if isinstance(e, Compacted)]


async def test_c01_before_the_window_is_full_it_is_summed_up_and_then_the_message_is_answered(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        rig.model.will(SUMMARY, session="compaction")
        await talked(rig, 6)
        assert purposes(rig) == [*["turn"] * 5, "compaction", "turn"]
        last = rig.model.requests[-1]
        assert begins(last) == f"<earlier>\n{SUMMARY}\n</earlier>"
        assert [m.text[:1] for m in last.messages] == ["", "3", "o", "4", "o", "5"]
        assert last.messages[-1].text == f"5 {LONG}"
        (told,) = compactions(rig)
        assert (told.messages, told.summed) == (6, True)
        assert told.after < told.before
        assert await rig.sessions.summary(HERE) == Summary(6, SUMMARY)
        assert len(await rig.log()) == 12
        await talked(rig, 2)
        assert purposes(rig)[7:] == ["turn"] * 2
        assert {begins(r) for r in rig.model.requests[6:]} == {f"<earlier>\n{SUMMARY}\n</earlier>"}
        await rig.check_whole()


async def test_c01_the_tokens_count_as_the_messages_do(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=Limits(context_tokens=100_000), window=16_000) as rig:
        rig.model.will(SUMMARY, session="compaction")
        await talked(rig, 6, "word " * 2_400)
        assert purposes(rig) == [*["turn"] * 4, "compaction", "turn", "turn"]
        assert [len(r.messages) for r in rig.model.requests] == [1, 3, 5, 7, 1, 4, 6]
        await rig.check_whole()


async def test_c03_what_the_service_calls_too_long_is_summed_up_and_asked_again(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        rig.model.will(Say(error=ContextOverflow("too long")), "done")
        rig.model.will(SUMMARY, session="compaction")
        await rig.say("and now?")
        await rig.ends(4)
        assert purposes(rig) == [*["turn"] * 4, "compaction", "turn"]
        assert begins(rig.model.requests[-1]) == f"<earlier>\n{SUMMARY}\n</earlier>"
        assert [m.text for m in rig.model.requests[-1].messages] == ["", "and now?"]
        assert (await rig.said())[-2:] == [("user", "and now?"), ("assistant", "done")]
        await rig.check_whole()


async def test_c03_after_three_times_the_person_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        rig.model.will(*[Say(error=ContextOverflow("too long"))] * 4, "fine")
        rig.model.will(SUMMARY, SUMMARY, SUMMARY, session="compaction")
        await rig.say("and now?")
        await rig.ends(4)
        (ended,) = [e for e in rig.events() if isinstance(e, TurnEnded) and e.stop is Stop.ERROR]
        assert ended.error is not None
        assert (ended.error.code, purposes(rig).count("turn")) == ("context_too_long", 7)
        assert "/compact" in ended.error.hint
        assert [text for _, text in await rig.said()][:7] == [
            *(x for n in range(3) for x in (f"{n} {LONG}", "ok")),
            "and now?",
        ]
        await rig.say("still there?")
        await rig.ends(5)
        assert (await rig.said())[-1] == ("assistant", "fine")
        await rig.check_whole()


async def test_c04_a_request_that_is_larger_than_a_rate_is_no_matter_of_the_window(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        rig.model.will(Say(error=QuotaExceeded("tokens per minute: limit 6000, requested 12000")))
        await rig.say("and now?")
        await rig.ends(4)
        assert purposes(rig) == ["turn"] * 4
        assert rig.stops()[-1] == "quota"
        await rig.check_whole()


async def test_c06_c21_without_a_usable_summary_the_turn_goes_on_and_soon_nothing_is_tried(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        rig.model.will(*["nothing"] * 6, session="compaction")
        await talked(rig, 6)
        assert (await rig.sessions.summary(HERE), compactions(rig)) == (Summary(), [])
        assert purposes(rig)[-3:] == ["compaction", "compaction", "turn"]
        await talked(rig, 2)
        (told,) = compactions(rig)
        assert (told.summed, "lacks the heading" in told.reason) == (False, True)
        await talked(rig, 2)
        assert purposes(rig).count("compaction") == 6
        rig.model.will(SUMMARY, session="compaction")
        await talked(rig, 1)  # by now half of the room was said anew
        assert [c.summed for c in compactions(rig)] == [False, True]
        assert rig.stops() == ["done"] * 11
        assert (await rig.sessions.summary(HERE)).text == SUMMARY
        assert len(rig.model.requests[-1].messages) <= 10
        await rig.check_whole()


async def test_c13_c45_a_death_in_the_middle_leaves_the_log_and_no_half_of_a_summary(tmp_path: Path) -> None:
    for operation, done in (("Sessions.sum_up", False), ("Sessions.sum_up", True)):
        folder = tmp_path / str(done)
        async with rigged(folder, limits=SMALL) as rig:
            await talked(rig, 5)
            rig.model.will(SUMMARY, session="compaction")
            rig.database.fatal = dies(operation, done=done)
            await rig.say(f"last {LONG}")
            await rig.dead()
        async with rigged(folder, limits=SMALL) as rig:
            rig.model.will(SUMMARY, session="compaction")
            await rig.ends()
            assert [text for role, text in await rig.said() if role == "user"] == [
                *(f"{n} {LONG}" for n in range(5)),
                f"last {LONG}",
            ]
            assert await rig.sessions.summary(HERE) == Summary(6, SUMMARY)
            assert purposes(rig) == (["turn"] if done else ["compaction", "turn"])
            await rig.check_whole()


def repeating(text: Callable[[int], str]) -> tuple[Tool, list[int]]:
    ran: list[int] = []

    @tool(module="test", effect=Effect.READ)
    async def fetch(args: Named, ctx: ToolContext) -> Any:
        """Fetch it."""
        ran.append(len(ran))
        return text(len(ran))

    return fetch, ran


async def test_c15_a_compaction_does_not_make_a_model_forget_that_it_repeats_itself(tmp_path: Path) -> None:
    fetch, ran = repeating(lambda n: "the same")
    async with rigged(tmp_path, tools=(fetch,)) as rig:
        await talked(rig, 2)
        rig.model.will(SUMMARY, session="compaction")
        again = [Say(calls=(ToolCall(f"k{n}", "fetch", {"name": "x"}),)) for n in range(3)]
        rig.model.will(*again[:2], Say(error=ContextOverflow("too long")), again[2], "never")
        await rig.say("and now?")
        await rig.ends(3)
        assert (rig.stops()[-1], len(ran)) == ("repeated_call", 3)
        await rig.check_whole()


async def test_c26_f047_within_a_tool_loop_the_open_turn_stays_whole(tmp_path: Path) -> None:
    fetch, ran = repeating(lambda n: f"page {n}")
    async with rigged(tmp_path, tools=(fetch,)) as rig:
        await talked(rig, 2)
        rig.model.will(SUMMARY, session="compaction")
        rig.model.will(Say(calls=(call("fetch", "x"),)), Say(error=ContextOverflow("too long")), "done")
        await rig.say("and now?")
        await rig.ends(3)
        last = rig.model.requests[-1].messages
        assert begins(rig.model.requests[-1]) == f"<earlier>\n{SUMMARY}\n</earlier>"
        assert [m.role for m in last] == [Role.USER, Role.USER, Role.ASSISTANT, Role.TOOL]
        assert (last[1].text, last[3].results[0].content, ran) == ("and now?", "page 1", [0])
        await rig.check_whole()


async def test_c22_q07_what_is_said_during_a_compaction_joins_the_turn_and_is_in_no_summary(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        await talked(rig, 5)
        gate = Gate()
        rig.model.will(Say(SUMMARY, gate=gate), session="compaction")
        rig.model.will("five", "and the hall too")
        await rig.say(f"five {LONG}")
        await gate.reached.wait()
        steered = await rig.say("and the hall", mode=Mode.STEER)
        gate.open()
        await rig.ends(6)
        assert rig.fates()[steered.id] == ["waiting", "steered"]
        (asked,) = [r for r in rig.model.requests if r.purpose == "compaction"]
        assert "and the hall" not in asked.messages[0].text
        assert [e.message.text for e in rig.events() if isinstance(e, Steered)] == ["and the hall"]
        assert rig.model.requests[-1].messages[-1].text == "and the hall"
        await rig.check_whole()


async def test_a_stop_ends_a_compaction_too(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        await talked(rig, 5)
        gate = Gate()
        rig.model.will(Say(SUMMARY, gate=gate), session="compaction")
        await rig.say(f"five {LONG}")
        await gate.reached.wait()
        await rig.say("/stop")
        assert rig.stops()[-1] == "stopped"
        assert await rig.sessions.summary(HERE) == Summary()
        await rig.check_whole()


async def test_s24_nothing_is_shown_of_a_summary_while_it_is_made(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        rig.model.will(SUMMARY, session="compaction")
        await talked(rig, 6)
        assert not any("Decisions" in text for _, text in await rig.said())
        assert not any("Decisions" in repr(e) for e in rig.events())


async def test_a_person_may_ask_for_it_and_look_into_the_window(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        assert (await rig.say("/compact")).text == "There is nothing older to sum up."
        await talked(rig, 3)
        looked = (await rig.say("/context")).text
        assert "6 messages" in looked
        assert "4 tools" in looked
        rig.model.will(SUMMARY, session="compaction")
        said = await rig.say("/compact the prices")
        assert said.fate is Fate.ANSWERED
        assert said.text.startswith("4 older messages summed up: ")
        assert "Give the most room to: the prices" in rig.model.requests[-1].messages[0].text
        assert "2 messages" in (await rig.say("/context")).text
        rig.model.will("no", "no", session="compaction")
        await talked(rig, 2)
        assert "lacks the heading" in (await rig.say("/compact")).text
        await rig.check_whole()


async def test_a_chat_goes_on_while_its_conversation_is_summed_up_and_hears_of_it_later(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        gate, chat = Gate(), Address("chat", "7")
        rig.model.will(Say(SUMMARY, gate=gate), session="compaction")
        begun = await rig.say("/compact", address=chat)
        assert (begun.fate, begun.text) == (Fate.ANSWERED, "Summing up what is older; I say when it is done.")
        await gate.reached.wait()
        assert "is at work" in (await rig.say("/compact", address=chat)).text
        waits = await rig.say("and this?", address=chat)
        assert waits.fate is Fate.WAITING
        assert rig.told == []
        gate.open()
        rig.model.will("that too")
        await rig.ends()
        ((session, text),) = rig.told
        assert (session, text.startswith("4 older messages summed up: ")) == (HERE, True)
        assert (await rig.said())[-1] == ("assistant", "that too")
        await rig.check_whole()


async def test_nothing_goes_on_in_the_background_once_a_person_has_something_summed_up(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        rig.resting.append(Gate())
        rig.model.will(SUMMARY, session="compaction")
        asked = asyncio.create_task(rig.say("/compact"))
        await rig.resting[0].reached.wait()
        await asyncio.sleep(0.02)
        assert "compaction" not in purposes(rig)
        rig.resting[0].open()
        assert (await asked).text.startswith("4 older messages summed up: ")
        await rig.check_whole()


@pytest.mark.parametrize("address", [None, Address("chat", "7")])
async def test_a_stop_ends_what_a_person_has_asked_to_sum_up(tmp_path: Path, address: Address | None) -> None:
    async with rigged(tmp_path) as rig:
        await talked(rig, 3)
        gate = Gate()
        rig.model.will(Say(SUMMARY, gate=gate), session="compaction")
        asked = asyncio.create_task(rig.say("/compact", address=address))
        await gate.reached.wait()
        assert (await rig.say("/stop", address=address)).text == "Stopped."
        said = (await asked).text if address is None else rig.told[0][1]
        assert said == "Stopped; nothing was summed up."
        assert await rig.sessions.summary(HERE) == Summary()
        assert (await rig.say("/stop", address=address)).text == "Nothing is running."
        await rig.check_whole()


async def test_nothing_is_summed_up_while_a_turn_runs(tmp_path: Path) -> None:
    async with rigged(tmp_path) as rig:
        gate = Gate()
        rig.model.will(Say(gate=gate))
        await rig.say("A")
        await gate.reached.wait()
        assert "is at work" in (await rig.say("/compact")).text
        gate.open()
        await rig.ends()


async def test_a_new_beginning_has_no_summary(tmp_path: Path) -> None:
    async with rigged(tmp_path, limits=SMALL) as rig:
        rig.model.will(SUMMARY, session="compaction")
        await talked(rig, 6)
        await rig.say("/new")
        await talked(rig, 1)
        assert begins(rig.model.requests[-1]) == f"0 {LONG}"[:20]
        assert await rig.sessions.summary(HERE) == Summary()


async def test_c16_c17_old_results_are_cut_when_no_cache_holds_them_and_stay_as_they_are(tmp_path: Path) -> None:
    fetch, _ = repeating(lambda n: "a" * 4_500 + "z" * 4_500)
    limits = Limits(context_tokens=20_000, result_chars=20_000)
    async with rigged(tmp_path, tools=(fetch,), limits=limits) as rig:
        for number in range(5):
            rig.model.will(Say(calls=(call("fetch", f"x{number}"),)), "read")
            await rig.say(f"read {number}")
            await rig.ends(number + 1)

        async def asked(minutes: int) -> list[int]:
            await rig.database.run(lambda db: db.execute(AGED, {"minutes": f"-{minutes} minutes"}))
            rig.sessions._tails.clear()
            await rig.say("and?")
            await rig.ends(sum(isinstance(e, TurnEnded) for e in rig.events()) + 1)
            return [len(m.results[0].content) for m in rig.model.requests[-1].messages if m.results]

        whole = 9_000
        assert await asked(4) == [whole] * 5
        cut_off = await asked(6)
        assert [n < 4_000 for n in cut_off] == [True, True, True, True, False]
        assert await asked(1) == cut_off
        assert all(len(m.results[0].content) == whole for m in await rig.log() if m.results)
        await rig.check_whole()


async def test_c19_a_huge_result_is_cut_when_it_is_stored_and_says_so(tmp_path: Path) -> None:
    fetch, _ = repeating(lambda n: "x" * 100_000)
    async with rigged(tmp_path, tools=(fetch,), limits=Limits(result_chars=20_000), window=128_000) as rig:
        rig.model.will(Say(calls=(call("fetch", "x"),)), "read")
        await rig.say("read it")
        await rig.ends()
        (stored,) = [m.results[0].content for m in await rig.log() if m.results]
        (sent,) = [m.results[0].content for m in rig.model.requests[-1].messages if m.results]
        assert stored == sent
        assert sent.startswith("x" * 20_000 + "\n...[truncated] (20000 of 100000 characters")
        assert len(sent) < 32_000
        await rig.check_whole()


AGED = """
UPDATE message SET
body=json_set(body, '$.at', strftime('%Y-%m-%dT%H:%M:%f+00:00', json_extract(body, '$.at'), :minutes))
"""
