"""The LiteLLM proxy between us and our scripted chat server: a third party's idea of each protocol.

What it cannot do: `/v1/responses` is bridged for some backends only (`deepseek/`), others are asked for `/responses`
themselves; `/v1/messages` counts nothing until its last event.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from palmclaw.core.errors import ContextOverflow, ProviderError, RateLimited
from palmclaw.core.events import TextDelta
from palmclaw.core.messages import Message, Role, Text, ToolCall, ToolResult, Usage, user_message
from palmclaw.core.ports import Delta, Finish, Provider, Reply, Request
from palmclaw.core.tools import ToolContext, tool
from tests.peers.conftest import Connect
from tests.peers.services import PROTOCOLS, Spoken, service, spoken
from tests.servers.chat_server import Answer, ChatServer

pytestmark = [pytest.mark.peers, pytest.mark.timeout(1_800), pytest.mark.asyncio(loop_scope="module")]
every_protocol = pytest.mark.parametrize("protocol", spoken(), ids=lambda p: p.name)

PROXY = str(Path(__file__).with_name("litellm_proxy.py"))


@dataclass(frozen=True, slots=True)
class Tide:
    city: str


@dataclass(frozen=True, slots=True)
class Torch:
    on: bool


@tool(module="test")
async def tide(args: Tide, ctx: ToolContext) -> str:
    """How high the water stands."""
    return "2 m"


@tool(module="test")
async def torch(args: Torch, ctx: ToolContext) -> str:
    """Switch the torch."""
    return "done"


LOOK = Request("m", "Be brief.", (user_message("How is the tide? And light, please."),), (tide, torch))
BOTH = Answer(
    text="Looking at both.",
    calls=(
        {"id": "call_1", "name": "tide", "arguments": {"city": "上海"}},
        {"id": "call_2", "name": "torch", "arguments": {"on": True}},
    ),
    fragments=3,
)


@dataclass(frozen=True, slots=True)
class Bridge:
    """The proxy and what stands behind it."""

    address: str
    server: ChatServer

    def plays(self, *answers: Answer) -> None:
        """Forget what was, and answer so from now on."""
        self.server.answers[:] = answers
        self.server.requests.clear()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests that reached the server."""
        return [asked.body for asked in self.server.requests]


def configuration(url: str) -> dict[str, Any]:
    """One model for each backend, none of them ever set aside after an error."""
    backends = sorted({protocol.backend for protocol in PROTOCOLS})
    models = [
        {"model_name": b, "litellm_params": {"model": f"{b}/m", "api_base": url, "api_key": "key-of-the-server"}}
        for b in backends
    ]
    return {
        "model_list": models,
        "router_settings": {"disable_cooldowns": True, "num_retries": 0},
        "litellm_settings": {"num_retries": 0, "telemetry": False},
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bridge(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bridge]:
    home = tmp_path_factory.mktemp("litellm")
    file = home / "config.yaml"
    environ = {
        "HOME": str(home),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    }
    async with ChatServer() as server:
        file.write_text(json.dumps(configuration(server.url)))  # JSON is YAML
        async with service(PROXY, "--config", str(file), **environ) as address:
            yield Bridge(address, server)


@pytest.fixture
def model(protocol: Spoken, bridge: Bridge, connect: Connect) -> Provider:
    return connect(protocol.name, base_url=f"{bridge.address}/v1", api_key="sk-any")


def to(protocol: Spoken, request: Request) -> Request:
    return replace(request, model=protocol.backend)


async def told(provider: Provider, request: Request) -> tuple[list[Delta], Reply]:
    *shown, reply = [delta async for delta in provider.stream(request)]
    assert isinstance(reply, Reply)
    return shown, reply


@every_protocol
async def test_text_and_two_calls(model: Provider, protocol: Spoken, bridge: Bridge) -> None:
    bridge.plays(BOTH)
    shown, reply = await told(model, to(protocol, LOOK))
    assert shown == [TextDelta("Lookin"), TextDelta("g at b"), TextDelta("oth.")]
    assert reply.message.parts == (
        Text("Looking at both."),
        ToolCall("call_1", "tide", {"city": "上海"}, signature=reply.message.calls[0].signature),
        ToolCall("call_2", "torch", {"on": True}, signature=reply.message.calls[1].signature),
    )
    assert (reply.finish, reply.usage) == (Finish.TOOLS, Usage(100, 10, requests=1))
    (body,) = bridge.bodies
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert [said(message) for message in body["messages"]] == [[LOOK.system], [LOOK.messages[0].text]]
    assert [t["function"]["name"] for t in body["tools"]] == ["tide", "torch"]
    assert [t["function"]["parameters"] for t in body["tools"]] == [tide.schema, torch.schema]


@every_protocol
async def test_results_go_back_to_their_calls(model: Provider, protocol: Spoken, bridge: Bridge) -> None:
    bridge.plays(BOTH, Answer(text="2 m, and light."))
    _, first = await told(model, to(protocol, LOOK))
    results = tuple(ToolResult(c.id, c.name, f'"{c.name} done"') for c in first.message.calls)
    later = replace(LOOK, messages=(*LOOK.messages, first.message, Message(Role.TOOL, results)))
    _, reply = await told(model, to(protocol, later))
    assert (reply.message.parts, reply.finish) == ((Text("2 m, and light."),), Finish.STOP)
    system, user, *history = bridge.bodies[1]["messages"]
    assert [system, user] == bridge.bodies[0]["messages"]
    assert [w for message in history for w in said(message)] == [
        "Looking at both.",
        ("call_1", "tide", {"city": "上海"}),
        ("call_2", "torch", {"on": True}),
        ("call_1", '"tide done"'),
        ("call_2", '"torch done"'),
    ]


def said(message: dict[str, Any]) -> list[Any]:
    """The words, calls and results of a chat message; how they are spread over messages is the proxy's affair."""
    content = message["content"]
    if isinstance(content, list):
        content = "".join(part["text"] for part in content)
    if message["role"] == "tool":
        return [(message["tool_call_id"], content)]
    calls = message.get("tool_calls") or ()
    functions = [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in calls]
    return [*([content] if content else []), *functions]


OVERFLOW = "This model's maximum context length is 10 tokens. However, your messages resulted in 20 tokens."


@every_protocol
@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (429, {"message": "slow down", "code": "rate_limit_exceeded"}, RateLimited),
        (400, {"message": OVERFLOW, "code": "context_length_exceeded"}, ContextOverflow),
    ],
)
async def test_errors_keep_their_kind(
    model: Provider, protocol: Spoken, bridge: Bridge, status: int, error: dict[str, str], kind: type[ProviderError]
) -> None:
    bridge.plays(Answer(status=status, body=json.dumps({"error": error})))
    with pytest.raises(ProviderError) as caught:
        await told(model, to(protocol, LOOK))
    assert type(caught.value) is kind
    assert error["message"] in str(caught.value)
    assert len(bridge.bodies) == 1
