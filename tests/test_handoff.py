"""One conversation across the three wire protocols: each service gets a history that it may be sent."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from palmclaw.agent.interrupt import Interrupt
from palmclaw.app import assembled
from palmclaw.core.events import Event, TurnEnded, TurnStarted
from palmclaw.core.traffic import Inbound
from palmclaw.house import opened
from palmclaw.runtime.turns import Turns, Work
from tests.providers.test_official_types import OF, taken
from tests.servers.chat_server import Answer, ChatServer

PROTOCOLS = ("openai_chat", "anthropic", "openai_responses")
PATHS = {"/v1/chat/completions": "openai_chat", "/v1/messages": "anthropic", "/v1/responses": "openai_responses"}
LOOK = ({"name": "device_status", "arguments": {"fields": ["battery"]}},)


def configured(home: Path, url: str) -> None:
    home.mkdir()
    tables = [f'[services.{name}]\nprotocol = "{name}"\nbase_url = "{url}"\nmodel = "{name}-m"\n' for name in PROTOCOLS]
    tables = [t.replace("[services.", "[services.my-") for t in tables]
    (home / "config.toml").write_text('[provider]\nname = "my-openai_chat"\n' + "".join(tables))


async def turn(turns: Turns, model: str) -> list[Event | TurnStarted]:
    inbound = Inbound("s", f"how is the battery, {model}?", model=f"my-{model}")
    return [event async for event in turns.run(Work((inbound,)), Interrupt())]


def thoughts(protocol: str, body: dict[str, Any]) -> int:
    """How many thoughts a body sends back."""
    if protocol == "openai_responses":
        return sum(item.get("type") == "reasoning" for item in body["input"])
    blocks = [b for m in body["messages"] if isinstance(m["content"], list) for b in m["content"]]
    return sum(b["type"] in ("thinking", "redacted_thinking") for b in blocks)


@pytest.mark.parametrize("order", list(itertools.permutations(PROTOCOLS)), ids="-".join)
async def test_a_session_goes_on_with_any_other_protocol(order: tuple[str, ...], home_dir: Path) -> None:
    steps = [Answer(text="Let me look.", reasoning="hm", calls=LOOK, fragments=3), Answer(text="62 %", reasoning="so")]
    async with ChatServer(steps * 6) as server:
        configured(home_dir, server.url)
        async with opened(assembled({"PALMCLAW_HOME": str(home_dir)})) as gateway:
            for model in (*order, *order):
                (*_, ended) = await turn(gateway.turns, model)
                assert isinstance(ended, TurnEnded)
                assert ended.error is None, ended.error
        asked = [(PATHS[a.path], a.body) for a in server.requests]
    assert [protocol for protocol, _ in asked] == [p for p in (*order, *order) for _ in "12"]
    for protocol, body in asked:
        assert taken(TypeAdapter(OF[protocol].request).validate_python(body)) == body, protocol
    for protocol in ("anthropic", "openai_responses"):
        own = [thoughts(protocol, body) for name, body in asked if name == protocol]
        assert own == [0, 1, 2, 3], protocol  # its own thoughts, all of them, and nobody else's
