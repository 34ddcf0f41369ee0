"""The scripted model service says the same in every protocol, in the vendors' own words, and runs as a program."""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from palmclaw import plugins
from palmclaw.core.errors import StreamCut
from palmclaw.core.messages import Cut, Message, Part, Reasoning, Role, Text, ToolCall, Usage, user_message
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Finish, Provider, Reply, Request
from tests.children import bare
from tests.providers.test_official_types import OF
from tests.servers import chat_events, messages_events, responses_events
from tests.servers.chat_server import Answer, ChatServer

ROOT = Path(__file__).parents[2]
SPOKEN: dict[str, Callable[[Answer, Iterator[str]], Iterator[bytes]]] = {
    "openai_chat": chat_events.events,
    "anthropic": messages_events.events,
    "openai_responses": responses_events.events,
}
ALL = Answer(
    reasoning="Hm, hm.",
    text="Looking at both, 请稍候.",
    calls=({"name": "f", "arguments": {"a": [1, {"b": "水"}]}}, {"name": "g", "id": "mine"}),
    fragments=3,
)
PARTS = (
    Reasoning("Hm, hm."),
    Text("Looking at both, 请稍候."),
    ToolCall("call_0001", "f", {"a": [1, {"b": "水"}]}),
    ToolCall("mine", "g"),
)
every_protocol = pytest.mark.parametrize("protocol", SPOKEN)


async def answered(protocol: str, answer: Answer, home: Path) -> Reply:
    async with ChatServer([answer]) as server:
        provider: Provider = plugins.build(Kind.PROVIDER, protocol, {"base_url": server.url}, Parts(home))
        try:
            reply = [delta async for delta in provider.stream(Request("m", "", (user_message("hi"),)))][-1]
        finally:
            await provider.close()
    assert isinstance(reply, Reply)
    return reply


def unsealed(message: Message) -> tuple[Part, ...]:
    """The parts, thoughts without their signature."""
    return tuple(Reasoning(p.text) if isinstance(p, Reasoning) else p for p in message.parts)


@every_protocol
async def test_everything_that_an_answer_can_hold(protocol: str, tmp_path: Path) -> None:
    reply = await answered(protocol, ALL, tmp_path)
    assert (unsealed(reply.message), reply.finish) == (PARTS, Finish.TOOLS)
    assert reply.usage == Usage(100, 10, requests=1)


@every_protocol
async def test_one_body_instead_of_a_stream(protocol: str, tmp_path: Path) -> None:
    call = {"name": "f", "arguments": {"a": 1}}
    reply = await answered(protocol, Answer(text="Hello", calls=(call,), whole=True), tmp_path)
    assert reply.message.parts == (Text("Hello"), ToolCall("call_0001", "f", {"a": 1}))
    assert (reply.finish, reply.usage) == (Finish.TOOLS, Usage(100, 10, requests=1))


@every_protocol
@pytest.mark.parametrize(
    ("finish", "expected", "cut"),
    [
        ("", Finish.STOP, Cut.NO),
        ("length", Finish.LENGTH, Cut.LENGTH),
        ("content_filter", Finish.FILTER, Cut.NO),
    ],
)
async def test_how_an_answer_ends(protocol: str, finish: str, expected: Finish, cut: Cut, tmp_path: Path) -> None:
    reply = await answered(protocol, Answer(text="Hel", finish=finish, usage=False), tmp_path)
    assert (reply.message.role, reply.message.parts) == (Role.ASSISTANT, (Text("Hel"),))
    assert (reply.finish, reply.message.cut, reply.usage.estimated) == (expected, cut, True)


@every_protocol
async def test_a_connection_that_breaks(protocol: str, tmp_path: Path) -> None:
    with pytest.raises(StreamCut):
        await answered(protocol, Answer(text="Hello", fragments=5, cut_after=4), tmp_path)


@every_protocol
@pytest.mark.parametrize(
    "answer", [ALL, Answer(text="cut", finish="length"), Answer(reasoning="hm", text="x", finish="content_filter")]
)
def test_it_speaks_as_the_vendors_types_want_it(protocol: str, answer: Answer) -> None:
    ids = (f"call_{n}" for n in range(9))
    assert OF[protocol].takes(b"".join(SPOKEN[protocol](answer, ids)))


async def test_it_runs_as_a_program(tmp_path: Path) -> None:
    script, record = tmp_path / "answers.json", tmp_path / "requests.jsonl"
    script.write_text(json.dumps([{"text": "Hello", "calls": [{"name": "f"}]}]))
    options = ("--script", str(script), "--record", str(record), "--seconds", "20", "--repeat")
    argv = (sys.executable, "-m", "tests.servers.chat_server", *options)
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE, env=bare(), cwd=ROOT)
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        for protocol in SPOKEN:
            provider: Provider = plugins.build(Kind.PROVIDER, protocol, {"base_url": url}, Parts(tmp_path))
            reply = [d async for d in provider.stream(Request("m", "", (user_message("hi"),)))][-1]
            assert isinstance(reply, Reply)
            assert reply.message.text == "Hello"
            await provider.close()
    finally:
        process.terminate()
        await process.wait()
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["path"] for line in lines] == ["/v1/chat/completions", "/v1/messages", "/v1/responses"]
    assert all(line["at"] <= line["done"] for line in lines)
