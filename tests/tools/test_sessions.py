"""The tools that look at other conversations, speak in them and give work away, with the whole runtime behind them."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.events import Answer, ApprovalAsked, TurnEnded, TurnStarted
from palmclaw.core.messages import Message, Role
from palmclaw.core.traffic import Address, Fate, Inbound, Origin
from tests.acceptance.test_channels import OWNER, Phone, phone, written


def script(home: Path, *steps: dict[str, Any]) -> str:
    """A configuration in which the model says these things, one after the other; one turn at a time, so in order."""
    written(home, "script.json", json.dumps({"steps": list(steps)}))
    return f'{OWNER}[provider]\nname = "scripted"\nscript = "{home}/script.json"\n[limits]\nturns = 1\n'


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


@asynccontextmanager
async def talking(home: Path, *steps: dict[str, Any], answer: Answer = Answer.ONCE) -> AsyncIterator[Phone]:
    """A gateway whose owner, at the terminal, answers every question the same."""
    async with phone(home, script(home, *steps)) as p:

        async def person() -> None:
            async for signal in p.gateway.events():
                if isinstance(signal.event, ApprovalAsked):
                    asked.append(signal.event)
                    await p.gateway.answer(signal.event.id, answer, "terminal")

        asked: list[ApprovalAsked] = []
        p.asked = asked  # type: ignore[attr-defined]  # of these tests alone
        task = asyncio.create_task(person())
        await asyncio.sleep(0)
        yield p
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def log(p: Phone, session: str) -> tuple[Message, ...]:
    known = {line.id for line in await p.gateway.stores.records.listed()}  # type: ignore[attr-defined]  # the store's own
    found: tuple[Message, ...] = ()
    if session in known:
        found = await p.gateway.stores.records.all(session)  # type: ignore[attr-defined]  # the same
    return found


async def said(p: Phone, text: str, session: str = "main", **more: Any) -> list[Any]:
    """One turn of the session; the results of its calls, decoded."""
    events = p.gateway.events(session)
    await anext(events)
    before = len(await log(p, session))
    row = (await p.gateway.take(Inbound(session, text, **more))).id
    turn = ""
    async for signal in events:
        if isinstance(signal.event, TurnStarted) and row in signal.event.inbox:
            turn = signal.turn
        if isinstance(signal.event, TurnEnded) and signal.turn == turn:
            break
    await events.aclose()
    messages = (await log(p, session))[before:]
    return [r.error.code if r.error else plain(r.content) for m in messages for r in m.results]


def plain(content: str) -> Any:
    """A result without the fence around the owner's own stores."""
    lines = [line for line in content.splitlines() if not line.startswith(("<outside", "</outside"))]
    return json.loads("\n".join(lines))


async def test_conversations_are_listed_and_one_is_looked_at(home_dir: Path) -> None:
    steps = [
        {"text": "noted"},
        call("sessions", action="list"),
        {"text": "two"},
        call("sessions", action="status", session="garden"),
    ]
    async with talking(home_dir, *steps, {"text": "it rests"}) as p:
        assert await said(p, "plant the tulips", "garden") == []
        (found,) = await said(p, "which conversations are there?")
        assert [(s["id"], s["title"], s["state"]) for s in found["sessions"]] == [
            ("main", "which conversations are there?", "running"),
            ("garden", "plant the tulips", "at rest"),
        ]
        (one,) = await said(p, "and the garden?")
        assert (one["id"], one["state"]) == ("garden", "at rest")


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ("tulips", ["plant the tulips", "the tulips are in"]),
        ("郁金香", ["种郁金香"]),
        ("香", ["种郁金香"]),
        ("TULIPS plant", ["plant the tulips"]),
        ('"tulips" OR roses', []),
        ("🌷", ["a 🌷 for you"]),
        ("rose*", []),
        ("NEAR(", []),
        ("x" * 1_000, []),
    ],
)
async def test_what_was_said_is_found(home_dir: Path, words: str, texts: list[str]) -> None:
    steps = [
        {"text": "the tulips are in"},
        {"text": "好"},
        {"text": "a 🌷 for you"},
        call("sessions", action="search", text=words),
    ]
    async with talking(home_dir, *steps, {"text": "ok"}) as p:
        for text in ("plant the tulips", "种郁金香", "thanks"):
            await said(p, text, "garden")
        (found,) = await said(p, "look")
        assert sorted(f["text"] for f in found["found"] if f["session"] == "garden") == sorted(texts)


async def test_a_search_for_nothing_is_an_error(home_dir: Path) -> None:
    async with talking(home_dir, call("sessions", action="search", text="  "), {"text": "ok"}) as p:
        assert await said(p, "look") == ["invalid_arguments"]


async def test_a_title_that_fits_several_gives_the_choice(home_dir: Path) -> None:
    ask = call("sessions", action="status", session="trip")
    async with talking(home_dir, {"text": "a"}, {"text": "b"}, ask, {"text": "which?"}) as p:
        await said(p, "trip to Oslo", "s1")
        await said(p, "trip to Rome", "s2")
        assert await said(p, "how is the trip?") == ["ambiguous"]


async def test_sending_is_asked_with_whom_and_the_whole_text_and_ends_the_turn(home_dir: Path) -> None:
    send = call("sessions", action="send", session="garden", text="water the tulips")
    async with talking(home_dir, {"text": "hello"}, send, {"text": "never said"}) as p:
        await said(p, "hi", "garden")
        assert await said(p, "tell the garden to water the tulips") == [
            {"stored": True, "delivery": "it stands in the conversation garden"}
        ]
        (asked,) = p.asked  # type: ignore[attr-defined]  # of these tests alone
        lines = (("To", "the conversation garden"), ("Text", "water the tulips"))
        assert (asked.preview.target, asked.preview.lines) == ("the conversation garden", lines)
        assert [m.text for m in await log(p, "garden")] == ["hi", "hello", "water the tulips"]
        assert [m.role for m in await log(p, "main")] == [Role.USER, Role.ASSISTANT, Role.TOOL]


async def test_a_message_goes_to_a_chat_once(home_dir: Path) -> None:
    send = call("message", to="chat:c5", text="on my way")
    async with talking(home_dir, send) as p:
        assert await said(p, "tell c5") == [{"stored": True, "delivery": "on its way to chat:c5"}]
        assert await p.says(1) == ["on my way"]
        assert p.chat.log[0].address == Address("chat", "c5")
        assert [m.text for m in await log(p, "chat:c5")] == ["on my way"]


async def test_f111_a_channel_that_does_not_run_is_an_error(home_dir: Path) -> None:
    async with talking(home_dir, call("message", to="telegram:9", text="hi"), {"text": "I could not"}) as p:
        assert await said(p, "tell them") == ["not_running"]
        assert p.chat.log == []


async def test_f052_an_answer_by_the_tool_is_the_only_one(home_dir: Path) -> None:
    async with talking(home_dir, call("message", text="it is done"), {"text": "it is done"}) as p:
        await p.hears("do it")
        await p.until(lambda: p.gateway.lanes.get("chat:c1") is None)
        assert await p.says(1) == ["it is done"]


async def test_a_no_is_a_no(home_dir: Path) -> None:
    send = call("message", to="chat:c5", text="on my way")
    async with talking(home_dir, send, {"text": "then not"}, answer=Answer.NO) as p:
        assert await said(p, "tell c5") == ["declined"]
        assert p.chat.log == []


@pytest.mark.parametrize(
    "step",
    [
        call("sessions", action="list"),
        call("sessions", action="search", text="x"),
        call("sessions", action="send", session="main", text="x"),
        call("message", to="chat:c5", text="x"),
        call("spawn", task="x"),
    ],
)
async def test_a_guest_sees_and_reaches_nothing_of_others(home_dir: Path, step: dict[str, Any]) -> None:
    async with talking(home_dir, step, {"text": "no"}) as p:
        assert await said(p, "hi", "chat:c8", origin=Origin.OTHER, sender="8") == ["denied"]


async def test_a_job_may_write_to_its_own_chat_unasked(home_dir: Path) -> None:
    send = call("message", to="chat:c1", text="good morning")
    async with talking(home_dir, send) as p:
        job = {"origin": Origin.JOB, "address": Address("chat", "c1")}
        assert await said(p, "say good morning", "chat:c1", **job) == [
            {"stored": True, "delivery": "on its way to chat:c1"}
        ]
        assert p.asked == []  # type: ignore[attr-defined]  # of these tests alone
        assert await p.says(1) == ["good morning"]


async def test_a_sub_agent_reports_to_its_parent(home_dir: Path) -> None:
    steps = [
        call("spawn", task="count the tulips", label="count"),
        {"text": "I have asked"},
        {"text": "seven"},
        {"text": "seven it is"},
    ]
    async with talking(home_dir, *steps) as p:
        (started,) = await said(p, "count them in the background")
        assert started["label"] == "count"
        await p.until(lambda: p.gateway.lanes.get("main") is None and p.gateway.lanes.get(started["started"]) is None)
        texts = [m.text for m in await log(p, "main") if m.role is not Role.TOOL]
        report = next(t for t in texts if "[Sub-agent count" in t)
        head = f"[Sub-agent count ({started['started']}) has finished]"
        assert report.splitlines() == [head, "Task: count the tulips", "Result: seven"]
        assert texts[-1] == "seven it is"
        assert [m.sender for m in await log(p, "main") if "[Sub-agent" in m.text] == [started["started"]]


async def test_a_sub_agents_question_is_answered_where_it_was_sent(home_dir: Path) -> None:
    send = call("sms_send", to="+85260010001", text="water them")
    steps = [call("spawn", task="write to Mei Lin"), {"text": "begun"}, send, {"text": "so be it"}, {"text": "fine"}]
    async with phone(home_dir, script(home_dir, *steps)) as p:
        await p.hears("have it written")
        await p.until(lambda: any("May I do this?" in t for t in p.chat.texts))
        answered = await p.hears("yes")
        assert answered.fate is Fate.ANSWERED
        await p.until(lambda: "fine" in p.chat.texts)
        (child,) = await p.gateway.stores.inbox.children("chat:c1")
        results = [r for m in await log(p, child) for r in m.results]
        assert [(r.name, r.error) for r in results] == [("sms_send", None)]


async def test_a_jobs_sub_agent_may_not_do_what_only_the_model_named(home_dir: Path) -> None:
    steps = [
        call("spawn", task="use bluetooth scan"),
        {"text": "begun"},
        call("bluetooth_scan"),
        {"text": "over"},
        {"text": "ok"},
    ]
    async with talking(home_dir, *steps, answer=Answer.NO) as p:
        (started,) = await said(p, "summarise my day", origin=Origin.JOB)
        await p.until(lambda: p.gateway.lanes.get("main") is None and p.gateway.lanes.get(started["started"]) is None)
        codes = [r.error.code for m in await log(p, started["started"]) for r in m.results if r.error]
        assert codes == ["declined"]  # asked, and not allowed because the task names it
        assert [m.sender for m in await log(p, started["started"]) if m.role is Role.USER] == ["subagent:main"]


async def test_a_chat_without_an_agent_is_an_error_of_the_call(home_dir: Path) -> None:
    agents = '[agents.a]\nbindings = ["terminal"]\n[agents.b]\nbindings = ["chat:c1"]\n'
    config = script(home_dir, call("message", to="chat:c9", text="x"), {"text": "I cannot"}) + agents
    async with phone(home_dir, config) as p:
        assert await said(p, "write to c9", "a:main") == ["not_bound"]
