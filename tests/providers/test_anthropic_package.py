"""The vendor's own package as a judge: it reads our recordings as we do, and our requests are of its types."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from pydantic import TypeAdapter

from palmclaw.core.errors import Fault
from palmclaw.core.messages import Media, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from palmclaw.core.plugin import Parts
from palmclaw.core.ports import Reply, Request
from palmclaw.core.tools import ToolContext, tool
from palmclaw.providers.anthropic import AnthropicConfig, Terms, anthropic, to_wire
from tests.providers.conformance import RECORDINGS
from tests.servers.chat_server import Answer, ChatServer

LOG = (
    Message(Role.USER, (Text("hi"), Media("i", "image/png"), Media("d", "application/pdf", "a.pdf"))),
    Message(
        Role.ASSISTANT,
        (
            Reasoning("hm", "anthropic:s"),
            Reasoning("", "anthropic:redacted:d"),
            Text("Looking."),
            ToolCall("c1", "ring", {"a": [1, {"b": None}]}),
        ),
        model="m",
    ),
    Message(Role.TOOL, (ToolResult("c1", "ring", "no", Fault("not_found", "no")),)),
    Message(Role.USER, (Text("and?"),)),
)


@tool(module="test")
async def ring(args: None, ctx: ToolContext) -> str:
    """Ring the bell."""
    return "done"


def whole(value: Any) -> Any:
    """The value with every lazily checked list read to its end."""
    if isinstance(value, Mapping):
        return {key: whole(inner) for key, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [whole(inner) for inner in value]
    return value


@pytest.mark.parametrize("terms", [Terms(), Terms(thinking=2_000), Terms(thinking=2_000, adaptive=True, cache=False)])
def test_requests_are_of_the_packages_types(terms: Terms) -> None:
    wire = to_wire(Request("m", "Be brief.", LOG, (ring,), media={"i": b"hi", "d": b"hi"}), terms)
    assert whole(TypeAdapter(MessageCreateParamsStreaming).validate_python(wire, strict=True)) == wire


def counted(recorded: str) -> str:
    """A recording with the counts that the vendor never leaves out."""
    usage = '"usage": {"input_tokens": 1, "output_tokens": 1}'
    end = '"stop_sequence": null}'
    begun = recorded.replace(f'"stop_reason": null, {end}}}', f'"stop_reason": null, {end[:-1]}, {usage}}}}}')
    return begun.replace(f"{end}}}", f"{end}, {usage}}}")


@pytest.mark.parametrize(
    "name",
    [
        *("text", "text_and_calls", "interleaved", "many_fragments", "quotes_and_braces_in_arguments", "no_ids"),
        *("reasoning", "keep_alives", "usage_with_cache", "usage_in_detail", "length", "window_full", "filtered"),
    ],
)
async def test_the_package_reads_the_recordings_as_we_do(name: str, tmp_path: Path) -> None:
    recorded = counted((RECORDINGS / "anthropic" / f"{name}.sse").read_text("utf-8"))
    async with ChatServer([Answer(sse=recorded, times=2)]) as server:
        provider = anthropic.create(AnthropicConfig(server.url), Parts(tmp_path))
        reply = [delta async for delta in provider.stream(Request("m", "", LOG[-1:]))][-1]
        await provider.close()
        client = AsyncAnthropic(base_url=server.url.removesuffix("/v1"), api_key="k", max_retries=0)
        async with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as said:
            final = await said.get_final_message()
        await client.close()
    assert isinstance(reply, Reply)
    assert [theirs(block) for block in final.content] == [ours(part) for part in reply.message.parts]
    usage = final.usage
    written, read = usage.cache_creation_input_tokens or 0, usage.cache_read_input_tokens or 0
    assert (reply.usage.input, reply.usage.output) == (usage.input_tokens + written + read, usage.output_tokens)


def theirs(block: Any) -> tuple[Any, ...]:
    match block.type:
        case "text":
            return ("text", block.text)
        case "thinking":
            return ("thinking", block.thinking, block.signature)
        case "tool_use":
            return ("tool_use", block.name, block.input)
    return ("other",)


def ours(part: Part) -> tuple[Any, ...]:
    match part:
        case Text(text):
            return ("text", text)
        case Reasoning(text, signature):
            return ("thinking", text, signature.removeprefix("anthropic:"))
        case ToolCall():
            return ("tool_use", part.name, part.arguments)
    return ("another",)
