"""Our protocols against a real llama.cpp server. Its model is too small to be clever, so the test is of the wire.

What this server cannot do: it never calls a tool (its template shows none to the model, `tool_choice` is ignored), so
calls come as text that a schema enforces. `/v1/messages` knows no such schema. `/v1/responses` takes it only under the
name of the chat protocol, says "completed" also of an answer that ran into its bound, and numbers none of its items.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

import aiohttp
import pytest
import pytest_asyncio

from palmclaw.agent.asking import finished
from palmclaw.core.errors import AuthFailed, ContextOverflow
from palmclaw.core.events import TextDelta
from palmclaw.core.messages import Cut, Message, Role, Text, ToolCall, ToolResult, Usage, user_message
from palmclaw.core.ports import Delta, Finish, Provider, Reply, Request
from palmclaw.core.tools import ToolContext, tool
from tests.peers.conftest import Connect
from tests.peers.services import Spoken, service, spoken

pytestmark = [pytest.mark.peers, pytest.mark.timeout(1_800), pytest.mark.asyncio(loop_scope="module")]
every_protocol = pytest.mark.parametrize("protocol", spoken(), ids=lambda p: p.name)

KEY = "key-of-the-peers"
SERVER = str(Path(__file__).with_name("llama_server.py"))
WINDOW = 2048
HI = Request("smollm2", "Be brief.", (user_message("Say hi"),))


@dataclass(frozen=True, slots=True)
class Torch:
    on: bool
    place: Literal["上海 😀", "here"] = "here"


@tool(module="test")
async def torch(args: Torch, ctx: ToolContext) -> str:
    """Switch the torch."""
    return "done"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def llama() -> AsyncIterator[str]:
    async with service(SERVER, "--key", KEY) as address:
        yield address


@pytest.fixture
def model(protocol: Spoken, llama: str, connect: Connect) -> Provider:
    return connect(protocol.name, base_url=f"{llama}/v1", api_key=KEY, body={"temperature": 0})


async def told(provider: Provider, request: Request) -> tuple[list[Delta], Reply]:
    *shown, reply = [delta async for delta in provider.stream(request)]
    assert isinstance(reply, Reply)
    return shown, reply


async def asked(address: str, path: str, **body: Any) -> Any:
    """What the server itself answers, without us."""
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session,
        session.post(address + path, json=body) as response,
    ):
        assert response.status == 200, await response.text()
        return await response.json()


async def counted(address: str, *messages: tuple[str, str]) -> int:
    """How many tokens the server makes of a prompt."""
    wire = [{"role": role, "content": content} for role, content in messages]
    prompt = (await asked(address, "/apply-template", messages=wire))["prompt"]
    return len((await asked(address, "/tokenize", content=prompt, add_special=True))["tokens"])


@every_protocol
async def test_text_streams_and_is_counted(model: Provider, llama: str) -> None:
    shown, reply = await told(model, HI)
    texts = [delta.text for delta in shown if isinstance(delta, TextDelta)]
    assert len(texts) == len(shown) > 3
    assert all(texts)
    assert (reply.message.role, reply.message.parts) == (Role.ASSISTANT, (Text("".join(texts)),))
    assert (reply.message.model, reply.message.cut, reply.finish) == ("smollm2", Cut.NO, Finish.STOP)
    prompt = await counted(llama, ("system", HI.system), ("user", "Say hi"))
    assert reply.usage == Usage(prompt, reply.usage.output, cached=reply.usage.cached, requests=1)
    assert len(texts) <= reply.usage.output <= len(texts) + 4  # a token may show nothing


@every_protocol
async def test_what_the_server_still_knows_is_counted_as_cached(model: Provider) -> None:
    _, first = await told(model, HI)
    _, again = await told(model, HI)
    assert again.message.parts == first.message.parts
    assert again.usage == replace(first.usage, cached=again.usage.cached)
    assert 0 < again.usage.cached < again.usage.input


@every_protocol
async def test_an_answer_ends_at_its_bound(model: Provider, protocol: Spoken) -> None:
    _, reply = await told(model, replace(HI, max_output=4))
    ended = (Finish.LENGTH, Cut.LENGTH) if protocol.says_length else (Finish.STOP, Cut.NO)
    assert (reply.finish, reply.message.cut) == ended
    assert (reply.usage.output, reply.usage.estimated) == (4, False)


@every_protocol
async def test_a_closed_stream_stops_the_server(model: Provider, llama: str) -> None:
    """It answers one request at a time: had it gone on, it would have filled the window before the next one."""
    endless = replace(HI, messages=(user_message("Count from one to a million in words, one word a line."),))
    before = await _predicted(llama)
    stream = cast(AsyncGenerator[Delta, None], model.stream(endless))
    async with aclosing(stream):
        for _ in range(3):
            assert isinstance(await anext(stream), TextDelta)
    async with asyncio.timeout(20):
        _, reply = await told(model, replace(HI, max_output=4))
    assert reply.message.text
    assert await _predicted(llama) - before < WINDOW // 4


async def _predicted(address: str) -> int:
    async with (
        aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as session,
        session.get(address + "/metrics") as response,
    ):
        lines = (await response.text()).splitlines()
    (line,) = [line for line in lines if line.startswith("llamacpp:tokens_predicted_total ")]
    return int(float(line.split()[1]))


@every_protocol
async def test_a_request_that_does_not_fit(model: Provider) -> None:
    with pytest.raises(ContextOverflow) as caught:
        await told(model, replace(HI, messages=(user_message("word " * 3 * WINDOW),)))
    assert f"({WINDOW} tokens)" in str(caught.value)
    _, reply = await told(model, replace(HI, max_output=4))
    assert reply.message.text


@every_protocol
async def test_a_wrong_key_is_refused(protocol: Spoken, llama: str, connect: Connect) -> None:
    with pytest.raises(AuthFailed):
        await told(connect(protocol.name, base_url=f"{llama}/v1", api_key="another"), HI)


@every_protocol
@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_an_address_as_people_write_it(protocol: Spoken, llama: str, connect: Connect, ending: str) -> None:
    model = connect(protocol.name, base_url=llama + ending, api_key=KEY)
    _, reply = await told(model, replace(HI, max_output=4))
    assert reply.usage.output == 4


@every_protocol
async def test_a_history_with_calls_and_results_is_taken(model: Provider) -> None:
    history = (
        user_message("Switch the torch on and off."),
        Message(Role.ASSISTANT, (Text("Yes."), ToolCall("c1", "torch", {"on": True}), ToolCall("c2", "torch"))),
        Message(Role.TOOL, (ToolResult("c1", "torch", '"done"'), ToolResult("c2", "torch", '{"error":{}}'))),
        Message(Role.ASSISTANT, (Text("Done, half of it."),)),
        user_message("Thanks. 谢谢 😀"),
    )
    _, reply = await told(model, Request("smollm2", "Be brief.", history, (torch,), max_output=8))
    _, without = await told(model, Request("smollm2", "Be brief.", (history[0], *history[3:]), (torch,), max_output=8))
    assert reply.usage.input > without.usage.input  # the model saw what was called and what came of it
    assert reply.message.text


CALL = {
    "type": "object",
    "properties": {
        "name": {"const": "torch"},
        "arguments": {
            "type": "object",
            "properties": {"on": {"const": True}, "place": {"const": "上海 😀"}},
            "required": ["on", "place"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("protocol", [p for p in spoken() if p.constrained], ids=lambda p: p.name)
async def test_a_call_that_a_schema_enforces(protocol: Spoken, llama: str, connect: Connect) -> None:
    """Each character of the place is several tokens, so it also comes in halves."""
    form = {"type": "json_schema", "json_schema": {"name": "call", "strict": True, "schema": CALL}}
    body = {"temperature": 0, "response_format": form}
    model = connect(protocol.name, base_url=f"{llama}/v1", api_key=KEY, body=body)
    request = Request("smollm2", "", (user_message("Switch the torch on."),), (torch,), max_output=200)
    shown, reply = await told(model, request)
    assert len(shown) > 3
    found = finished(reply, request)
    (call,) = found.message.calls
    assert found.message.parts == (ToolCall(call.id, "torch", {"on": True, "place": "上海 😀"}, as_text=True),)
    assert (found.finish, found.usage.estimated) == (Finish.STOP, False)
