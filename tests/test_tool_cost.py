"""Tool text is written for its price: what the tools of a request cost in o200k tokens, as they go on the wire."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from palmclaw import plugins
from palmclaw.agent.turn import Turn
from palmclaw.app import App, assembled
from palmclaw.cli.counting import tokenizer
from palmclaw.core.codec import decode_mending
from palmclaw.core.errors import BadArguments
from palmclaw.core.messages import user_message
from palmclaw.core.ports import Request, Tail
from palmclaw.core.tools import Tool
from palmclaw.core.wire import compact

PHONE = 2_500
"""The families of the phone, which the Kotlin app spends 4,244 on with fewer tools."""
SESSIONS = 210
"""The family that looks at conversations and gives work to sub-agents."""
MEMORY = 160
"""The family that remembers and searches past conversations."""
SKILLS = 60
"""The tool that reads a skill."""
ALWAYS = {"base", "skills"}
ROUTED = 1_300
"""The most for one request; the mean of many is bounded in tests/routing."""
COUNTER = tokenizer({})
TYPICAL = {
    "hi": set(),
    "你好": set(),
    "wake me at seven tomorrow": {"alarms"},
    "open the tide app": {"apps"},
    "which headphones are connected?": {"bluetooth"},
    "move my meeting with Arjun to Friday at ten": {"calendar"},
    "what's Mei Lin's number?": {"contacts"},
    "turn the torch on": {"device"},
    "save this to notes/plan.md": {"files"},
    "play Morning Tide": {"media"},
    "text Mei Lin that I'm ten minutes late": {"messages", "contacts"},
    "remind me to water the plants at six": {"alarms", "calendar"},
    "定一个十分钟的倒计时": {"alarms"},
    "给 Mei Lin 发短信说我晚到十分钟": {"messages", "contacts"},
    "明天有什么安排": {"calendar"},
    "还剩多少电": {"device"},
    "把这段话写到笔记里": {"files"},
    "连接厨房音箱": {"bluetooth"},
    "what did we say about the garden last time?": {"sessions"},
    "在后台慢慢查": {"sessions"},
    "remember that I'm allergic to nuts": {"memory"},
    "记住我对花生过敏": {"memory"},
}


def wire(tools: tuple[Tool, ...]) -> list[dict[str, Any]]:
    body = plugins.to_wire("openai_chat")(Request("m", "", (user_message("x"),), tools))
    found: list[dict[str, Any]] = body["tools"]
    return found


def price(tools: object) -> int:
    return COUNTER.count(compact(tools))


def dearest(tools: tuple[Tool, ...]) -> str:
    """The ten that cost most, each with what the model reads."""
    ranked = sorted(((price(w), w) for w in wire(tools)), key=lambda pair: -pair[0])
    return "\n".join(f"{cost:>5}  {json.dumps(w['function'], ensure_ascii=False)}" for cost, w in ranked[:10])


@pytest.fixture
def app(home_dir: Path) -> App:
    return assembled(os.environ)


class Asked:
    """A model that is paid for, so that only what is needed is offered."""

    def name(self, reference: str) -> str:
        return reference

    def is_local(self, reference: str) -> bool:
        return False

    def takes(self, reference: str) -> frozenset[str]:
        return frozenset()

    def window(self, reference: str) -> int:
        return 0


async def routed(app: App, text: str) -> tuple[Tool, ...]:
    context = app.context(app.sessions, Asked())
    try:
        return (await context.previewed(Turn("main", ""), Tail(0, (user_message(text),)))).tools
    finally:
        await app.database.close()


def test_all_families_together(app: App) -> None:
    assert COUNTER.name == "o200k_base"
    tools = tuple(app.tools.values())
    cost = price(wire(tools))
    most = PHONE + SESSIONS + MEMORY + SKILLS
    assert cost <= most, f"{len(tools)} tools cost {cost} tokens; the dearest:\n{dearest(tools)}"


def test_the_family_of_memory(app: App) -> None:
    tools = tuple(t for t in app.tools.values() if t.module == "memory")
    assert (len(tools), price(wire(tools)) <= MEMORY) == (4, True), dearest(tools)


@pytest.mark.parametrize(("text", "families"), TYPICAL.items(), ids=TYPICAL)
async def test_what_a_typical_request_carries(app: App, text: str, families: set[str]) -> None:
    tools = await routed(app, text)
    assert (families | ALWAYS) - {t.module for t in tools} == set()
    assert families or {t.module for t in tools} == ALWAYS
    cost = price(wire(tools))
    assert cost <= ROUTED, f"{len(tools)} tools cost {cost} tokens; the dearest:\n{dearest(tools)}"


def test_the_typical_requests_are_of_every_family(app: App) -> None:
    assert set().union(*TYPICAL.values()) | ALWAYS == set(app.modules)


def test_no_bound_goes_out_and_none_is_lost(app: App) -> None:
    tools = tuple(app.tools.values())
    text = json.dumps(wire(tools))
    assert '"type": [' not in text
    assert [w for w in ("maxLength", "minLength", "maximum", "minimum", "additionalProperties") if w in text] == []
    for tool in tools:
        with pytest.raises(BadArguments, match="surplus: no such field"):
            decode_mending(tool.arguments, {"surplus": 1})
    with pytest.raises(BadArguments, match="seconds: must be 1 to 86400, got 0"):
        decode_mending(app.tools["timer_set"].arguments, {"seconds": 0})
    with pytest.raises(BadArguments, match="question: must be 1 to 2000 long, got 2001"):
        decode_mending(app.tools["ask"].arguments, {"question": "?" * 2_001})
