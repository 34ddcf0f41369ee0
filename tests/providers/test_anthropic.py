"""Anthropic's Messages: the request on the wire, what refusals teach, and the provider against a real server."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.config import Settings
from palmclaw.core.errors import (
    AuthFailed,
    BadRequest,
    ConfigError,
    ContentFiltered,
    ContextOverflow,
    Fault,
    ProviderError,
    StreamCut,
    Unavailable,
)
from palmclaw.core.events import TextDelta
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Cut, Media, Message, Part, Reasoning, Role, Stamp, Text, ToolCall, ToolResult, Usage
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Finish, Forgetful, Reply, Request
from palmclaw.core.session import projected
from palmclaw.core.wire import as_bytes
from palmclaw.net.hearing import Hearing
from palmclaw.net.learning import Lesson, Notes
from palmclaw.net.telling import Speech
from palmclaw.providers.anthropic import AnthropicConfig, Decoder, Terms, anthropic, to_wire
from palmclaw.providers.anthropic.lessons import Memory
from palmclaw.services import Services
from tests.providers.conformance import RECORDINGS
from tests.providers.tide import HI, SCHEMA, again, making, tide, told
from tests.servers.chat_server import Answer, ChatServer

MARK = {"cache_control": {"type": "ephemeral"}}
PLAIN = Terms(cache=False)
FAULT = Fault("not_found", "no such thing")
HELLO = (RECORDINGS / "anthropic" / "text.sse").read_text("utf-8")


def said(*parts: Part, model: str = "m") -> Message:
    return Message(Role.ASSISTANT, parts, model=model)


def asked(*parts: Part) -> Message:
    return Message(Role.USER, parts)


def answered(*results: ToolResult) -> Message:
    return Message(Role.TOOL, results)


def turns(*messages: Message, terms: Terms = PLAIN, media: dict[str, bytes] | None = None) -> list[tuple[str, Any]]:
    wire = to_wire(Request("m", "", messages, media=media or {}), terms)
    return [(turn["role"], turn["content"]) for turn in wire["messages"]]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_the_whole_request() -> None:
    request = Request(
        "m",
        "Be brief.",
        (
            asked(Stamp("It is 10:00."), Text("hi"), Media("b", "x/y")),
            said(
                Reasoning("hm", "anthropic:c2ln"),
                Text("Looking."),
                ToolCall("c1", "tide", {"city": "上海"}),
                ToolCall("c2", "again"),
            ),
            answered(ToolResult("c1", "tide", '"2 m"')),
            answered(ToolResult("c2", "again", " ", error=FAULT)),
            Message(Role.NOTE, (Text("a note"),)),
            said(ToolCall("c3", "bad name!", {"x": 1}, "truncated", '{"x":1')),
            answered(ToolResult("c3", "bad name!", "{}")),
            asked(Text("and now?")),
        ),
        (tide, again),
    )
    wire = to_wire(request)
    assert wire == {
        "model": "m",
        "max_tokens": 32_000,
        "stream": True,
        "tools": [
            {"name": "tide", "description": "How high the water stands.", "input_schema": SCHEMA},
            {"name": "again", "description": "The same once more.", "input_schema": SCHEMA, **MARK},
        ],
        "system": [{**text("Be brief."), **MARK}],
        "messages": [
            {"role": "user", "content": [text("hi\n\n[attached: b (x/y)]\n\nIt is 10:00.")]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
                    text("Looking."),
                    {"type": "tool_use", "id": "c1", "name": "tide", "input": {"city": "上海"}},
                    {"type": "tool_use", "id": "c2", "name": "again", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": '"2 m"'},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "(nothing)", "is_error": True},
                ],
            },
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c3", "name": "bad_name_", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c3", "content": "{}"},
                    {**text("and now?"), **MARK},
                ],
            },
        ],
    }
    assert list(wire) == ["model", "max_tokens", "stream", "tools", "system", "messages"]
    assert list(to_wire(request, Terms(thinking=2_000)))[3] == "thinking"


def test_nothing_is_marked_where_nothing_is_to_be_remembered() -> None:
    request = replace(HI, tools=(tide,))
    assert b"cache_control" in as_bytes(to_wire(request))
    assert b"cache_control" not in as_bytes(to_wire(request, PLAIN))
    assert "system" not in to_wire(replace(HI, system=" "))
    assert "tools" not in to_wire(HI)


@pytest.mark.parametrize("terms", [PLAIN, Terms()])
def test_each_body_begins_as_the_one_before(terms: Terms) -> None:
    log = (
        asked(Text("hi")),
        said(Reasoning("", "anthropic:s"), ToolCall("c1", "tide", {"city": "x"})),
        answered(ToolResult("c1", "tide", "2 m")),
        said(Text("2 m.")),
        asked(Text("thanks")),
    )
    bodies = [as_bytes(to_wire(Request("m", "s", log[:end], (tide,)), terms)) for end in (1, 3, 5)]
    for before, after in pairwise(bodies):
        moved = before.removesuffix(b"]}]}").removesuffix(b',"cache_control":{"type":"ephemeral"}}').removesuffix(b"}")
        assert len(before) - len(moved) == (42 if terms.cache else 5)
        assert after.startswith(moved)


def test_the_mark_of_the_last_request_stays_where_the_next_is_out_of_its_sight() -> None:
    def marked(count: int) -> list[bool]:
        calls = tuple(ToolCall(f"c{n}", "f") for n in range(count))
        results = answered(*(ToolResult(c.id, "f", "x") for c in calls))
        wire = to_wire(Request("m", "", (asked(Text("hi")), said(*calls), results)))
        return ["cache_control" in turn["content"][-1] for turn in wire["messages"]]

    assert marked(9) == [False, False, True]
    assert marked(10) == [True, False, True]  # the service looks back over 20 blocks


@pytest.mark.parametrize(
    ("message", "blocks"),
    [
        (said(Reasoning("hm", "anthropic:s"), Text("a")), [{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        (said(Reasoning("", "anthropic:s"), Text("a")), [{"type": "thinking", "thinking": "", "signature": "s"}]),
        (said(Reasoning("", "anthropic:redacted:d"), Text("a")), [{"type": "redacted_thinking", "data": "d"}]),
        (said(Reasoning("hm", "anthropic:no"), Text("a")), []),
        (said(Reasoning("hm", "openai_responses:s"), Text("a")), []),
        (said(Reasoning("hm"), Text("a")), []),
        (said(Reasoning("hm", "anthropic:s"), Text("a"), model="n"), []),
    ],
)
def test_thoughts_go_back_to_the_model_that_had_them(message: Message, blocks: list[Any]) -> None:
    terms = replace(PLAIN, refused=frozenset({"no"}))
    assert turns(asked(Text("hi")), message, asked(Text("so?")), terms=terms)[1] == ("assistant", [*blocks, text("a")])


def test_thoughts_stay_in_their_place_and_never_stand_alone() -> None:
    thought = {"type": "thinking", "thinking": "b", "signature": "s"}
    parts = (Text("a"), Reasoning("b", "anthropic:s"), Text("c"))
    assert turns(asked(Text("hi")), said(*parts), asked(Text("so?")))[1][1] == [text("a"), thought, text("c")]
    assert turns(asked(Text("hi")), said(parts[1], Text(" ")), asked(Text("so?"))) == [
        ("user", [text("hi"), text("so?")])
    ]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ((), [("user", ["(Go on.)"])]),
        ((asked(Text(" \n")), said(Text(" "))), [("user", ["(Go on.)"])]),
        ((asked(Text("a")), asked(Text("b"))), [("user", ["a", "b"])]),
        (
            (said(Text("a")), said(Text("b")), asked(Text("c"))),
            [("user", ["(What was said before this is left out.)"]), ("assistant", ["a", "b"]), ("user", ["c"])],
        ),
        (
            (asked(Text("a")), Message(Role.ASSISTANT, (Text("b"),), cut=Cut.STREAM)),
            [("user", ["a"]), ("assistant", ["b"]), ("user", ["(Go on.)"])],
        ),
    ],
)
def test_user_and_assistant_take_turns(messages: tuple[Message, ...], expected: list[Any]) -> None:
    assert turns(*messages) == [(role, [text(words) for words in said]) for role, said in expected]


def test_attachments_are_seen_where_their_bytes_are_at_hand() -> None:
    parts = (Media("i", "image/png"), Media("d", "application/pdf", "a.pdf"), Media("e", "application/pdf"))
    photo, paper = ({"type": "base64", "media_type": mime, "data": "aGk="} for mime in ("image/png", "application/pdf"))
    ((_, content),) = turns(asked(Text(""), *parts), media={"i": b"hi", "d": b"hi"})
    assert content == [
        {"type": "image", "source": photo},
        {"type": "document", "source": paper, "title": "a.pdf"},
        text("[attached: e (application/pdf)]"),
    ]
    assert turns(asked(Text(""), parts[0]), media={"i": b"hi"}) == [("user", [{"type": "image", "source": photo}])]
    assert "title" not in turns(asked(parts[2]), media={"e": b"hi"})[0][1][0]


def test_ids_and_names_fit_the_protocol() -> None:
    calls = (ToolCall("ok_-1", ""), ToolCall("a.b", "x" * 80), ToolCall("a:b", "f"), ToolCall("", "g"))
    _, (_, called), (_, results) = turns(
        asked(Text("hi")), said(*calls), answered(*(ToolResult(c.id, c.name, "x") for c in calls))
    )
    ids = [block["id"] for block in called]
    assert ids == [block["tool_use_id"] for block in results]
    assert ids[0] == "ok_-1"
    assert len(set(ids)) == 4
    assert all(re.fullmatch("[a-zA-Z0-9_-]+", found) for found in ids)
    assert [block["name"] for block in called] == ["unnamed", "x" * 64, "f", "g"]


CHAIN = (said(ToolCall("c", "f")), answered(ToolResult("c", "f", "x")))
THOUGHTFUL = (said(Reasoning("", "anthropic:s"), ToolCall("c", "f")), answered(ToolResult("c", "f", "x")))
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


@pytest.mark.parametrize(
    ("terms", "bound", "messages", "thinking"),
    [
        (Terms(), 0, (), None),
        (Terms(thinking=4_000), 0, (), {"type": "enabled", "budget_tokens": 4_000}),
        (Terms(thinking=4_000), 3_000, (), {"type": "enabled", "budget_tokens": 1_976}),
        (Terms(thinking=4_000), 2_000, (), None),
        (Terms(thinking=4_000, adaptive=True), 2_000, (), ADAPTIVE),
        (Terms(thinking=4_000), 0, CHAIN, None),  # another model began this chain of calls
        (Terms(thinking=4_000), 0, THOUGHTFUL, {"type": "enabled", "budget_tokens": 4_000}),
        (Terms(thinking=4_000), 0, (*THOUGHTFUL, *CHAIN), {"type": "enabled", "budget_tokens": 4_000}),
        (
            Terms(thinking=4_000),
            0,
            (*CHAIN, said(Text("x")), asked(Text("y"))),
            {"type": "enabled", "budget_tokens": 4_000},
        ),
    ],
)
def test_thinking_is_asked_for_where_it_fits(
    terms: Terms, bound: int, messages: tuple[Message, ...], thinking: dict[str, Any] | None
) -> None:
    wire = to_wire(Request("m", "", (asked(Text("hi")), *messages), max_output=bound), terms)
    assert wire.get("thinking") == thinking
    assert wire["max_tokens"] == (bound or 32_000)


@pytest.mark.parametrize(
    ("settings", "model", "tokens"),
    [
        ({}, "m", 32_000),
        ({"ceiling": 64_000}, "m", 64_000),
        ({"ceiling": 64_000}, "another", 32_000),  # of which nobody says anything
        ({"ceiling": 64_000, "max_tokens": 8_000}, "m", 8_000),
        ({"ceiling": 64_000, "max_tokens": 80_000}, "m", 64_000),
        ({"max_tokens": 80_000}, "m", 80_000),
    ],
)
def test_the_longest_answer_is_the_one_set_or_known(settings: dict[str, Any], model: str, tokens: int) -> None:
    assert AnthropicConfig(model="m", **settings).terms(model).max_tokens == tokens


SIGNED = Request("m", "", (said(Reasoning("", "anthropic:s"), Text("a")), asked(Text("so?"))))


def taught(words: str, terms: Terms = Terms(), later: Terms | None = None) -> Lesson[Terms] | None:
    memory = Memory(Notes(Forgetful(), "anthropic", "https://h"), AnthropicConfig().terms)
    return memory.taught(words, Lesson(terms, later or terms), SIGNED)


def always(**changes: Any) -> Lesson[Terms]:
    terms = replace(Terms(), **changes)
    return Lesson(terms, terms)


@pytest.mark.parametrize(
    ("words", "lesson"),
    [
        (
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-20241022",
            always(max_tokens=8_192),
        ),
        ("This model supports at most 16384 completion tokens", always(max_tokens=16_384)),
        ("the valid range of max_tokens is [1, 8192]", always(max_tokens=8_192)),
        ("max_tokens (32000) exceeds the maximum output tokens (16_384)", always(max_tokens=16_384)),
        (
            "'max_tokens' is too large: 32000. The window is 8192 tokens and you sent 500 (32000 > 8192 - 500).",
            Lesson(Terms(7_692), Terms(4_096)),
        ),
        (
            "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length",
            Lesson(Terms(10_000), Terms(32_000)),
        ),
        ("max_tokens is too large (32000 > 8192 - 8000).", None),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
        ("max_tokens: must be at least 1", None),
        ("tools.0: Input should be one of 3 kinds", None),
        ("messages.1.content.0: Invalid `signature` in `thinking` block", always(refused=frozenset({"s"}))),
        ("The thinking block is bound to a different conversation.", always(refused=frozenset({"s"}))),
        ("Expected `thinking` or `redacted_thinking`, but found `tool_use`", always(refused=frozenset({"s"}))),
        ("`signature` is no field", None),
        ('"thinking.type.enabled" is not supported for this model', None),
    ],
)
def test_what_a_refusal_teaches(words: str, lesson: Lesson[Terms] | None) -> None:
    assert taught(words) == lesson


def test_nothing_is_taught_twice() -> None:
    thinking = Terms(thinking=2_000)
    words = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
    lesson = taught(words, thinking)
    assert lesson == Lesson(replace(thinking, adaptive=True), replace(thinking, adaptive=True))
    assert taught(words, lesson.now) is None
    assert taught("`signature` in `thinking`", Terms(refused=frozenset({"s"}))) is None
    assert taught("max_tokens: 9000 > 8192, which is the maximum", Terms(8_192)) is None


def test_a_second_lesson_keeps_apart_what_the_first_did() -> None:
    lesson = taught("`signature` in `thinking`", Terms(7_692), Terms(4_096))
    assert lesson == Lesson(Terms(7_692, refused=frozenset({"s"})), Terms(4_096, refused=frozenset({"s"})))


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"base_url": ""}, "provider.base_url"),
        ({"base_url": "https://h/v1/chat/completions"}, "provider.base_url"),
        ({"api_key": "hunter2 hunter2"}, "provider.api_key"),
        ({"thinking": 1_000}, "provider.thinking"),
        ({"thinking": 8_000, "max_tokens": 8_000}, "provider.thinking"),
        ({"version": "2023-06-01\r\nX: hunter2"}, "provider.version"),
        ({"version": ""}, "provider.version"),
    ],
)
def test_a_wrong_setting_is_named_and_not_repeated(tmp_path: Path, settings: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        anthropic.create(AnthropicConfig(**settings), Parts(tmp_path))
    assert caught.value.key == key
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"


def test_the_name_means_the_service_of_the_catalogue(tmp_path: Path) -> None:
    parts = Parts(tmp_path, environ={"ANTHROPIC_API_KEY": "sk-1"})
    found = Services(Settings({"name": "anthropic"}), parts).settled("anthropic")
    assert (found.protocol, found.model, found.table["api_key"]) == ("anthropic", "claude-haiku-5-5", "sk-1")
    own = Services(Settings({"name": "anthropic", "base_url": "https://llm.example"}), parts).settled("anthropic")
    assert (own.base_url, own.table.get("api_key")) == ("https://llm.example", None)


Make = Callable[..., Speech[Terms]]


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Make]:
    async with making(anthropic, tmp_path) as make:
        yield make


async def test_a_turn(provider: Make) -> None:
    assert (anthropic.kind, anthropic.name, anthropic.config) == (Kind.PROVIDER, "anthropic", AnthropicConfig)
    assert AnthropicConfig().base_url == "https://api.anthropic.com"
    async with ChatServer([Answer(sse=HELLO)]) as server:
        model = provider(base_url=server.url, api_key="sk-hunter2")
        deltas = await told(model)
        assert not model.local
        (sent,) = server.requests
    assert deltas[:-1] == [TextDelta("Hel"), TextDelta("lo")]
    reply = deltas[-1]
    assert isinstance(reply, Reply)
    assert (reply.message.text, reply.finish, reply.usage) == ("Hello", Finish.STOP, Usage(10, 5, requests=1))
    assert (sent.path, sent.raw) == ("/v1/messages", as_bytes(to_wire(HI)))
    assert (sent.headers["x-api-key"], sent.headers["anthropic-version"]) == ("sk-hunter2", "2023-06-01")
    assert "Authorization" not in sent.headers


async def test_settings_reach_the_service(provider: Make) -> None:
    async with ChatServer([Answer(status=404), Answer(sse=HELLO, times=2)]) as server:
        model = provider(
            base_url=server.url.replace("/v1", "/anthropic"),
            api_key="sk-1",
            key_header="bearer",
            model="default",
            headers={"Anthropic-Version": "2026-10-21", "anthropic-beta": "some"},
            body={"metadata": {"user_id": "u"}, "max_tokens": 7},
            cache=False,
        )
        for _ in range(2):
            deltas = await told(model, replace(HI, model=""))
        asked = server.requests
    assert [a.path for a in asked] == ["/anthropic/v1/messages", "/anthropic/messages", "/anthropic/messages"]
    assert asked[-1].body == {
        "metadata": {"user_id": "u"},
        "max_tokens": 7,
        "model": "default",
        "stream": True,
        "system": [text("Be brief.")],
        "messages": [{"role": "user", "content": [text("hi")]}],
    }
    versions = [v for k, v in asked[-1].headers.items() if k.lower() == "anthropic-version"]
    assert (versions, asked[-1].headers["Authorization"]) == (["2026-10-21"], "Bearer sk-1")
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].message.model == "default"


def refusal(words: str) -> Answer:
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": words}, "request_id": "r"}
    return Answer(status=400, body=json.dumps(error))


TOO_MANY = refusal("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m")


async def test_a_lower_ceiling_is_learned_once(provider: Make) -> None:
    findings = Forgetful()
    async with ChatServer([TOO_MANY, Answer(sse=HELLO, times=3)]) as server:
        for model in (
            provider(base_url=server.url, findings=findings),
            provider(base_url=server.url, findings=findings),
        ):
            await told(model)
            assert model.wire(HI)["max_tokens"] == 8_192
            assert model.wire(replace(HI, model="n"))["max_tokens"] == 32_000
        await told(model, replace(HI, max_output=100))
        assert [asked.body["max_tokens"] for asked in server.requests] == [32_000, 8_192, 8_192, 100]


async def test_a_budget_becomes_adaptive_where_the_model_wants_that(provider: Make) -> None:
    findings = Forgetful()
    words = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive".'
    async with ChatServer([refusal(words), TOO_MANY, Answer(sse=HELLO, times=2)]) as server:
        for _ in range(2):
            await told(provider(base_url=server.url, findings=findings, thinking=2_000))
        sent = [(asked.body["max_tokens"], asked.body["thinking"]) for asked in server.requests]
    budget = {"type": "enabled", "budget_tokens": 2_000}
    assert sent == [(32_000, budget), (32_000, ADAPTIVE), (8_192, ADAPTIVE), (8_192, ADAPTIVE)]


async def test_thoughts_that_are_refused_are_left_out_from_then_on(provider: Make) -> None:
    log = (asked(Text("hi")), said(Reasoning("", "anthropic:old"), Text("a")), asked(Text("so?")))
    more = (*log, said(Reasoning("", "anthropic:new"), Text("b")), asked(Text("and?")))
    words = (
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."
    )
    async with ChatServer([refusal(words), Answer(sse=HELLO, times=2)]) as server:
        model = provider(base_url=server.url)
        await told(model, Request("m", "", log))
        await told(model, Request("m", "", more))
        sent = [re.findall(r'"signature":"(\w+)"', asked.raw.decode()) for asked in server.requests]
    assert sent == [["old"], [], ["new"]]


async def test_a_refusal_that_teaches_nothing_is_told(provider: Make) -> None:
    long = refusal("prompt is too long: 210000 tokens > 200000 maximum")
    key = Answer(
        status=401, body='{"type":"error","error":{"type":"authentication_error","message":"bad hunter2-key"}}'
    )
    again = [refusal(f"max_tokens: 1 > {n}000, which is the maximum") for n in (9, 8, 7, 6)]
    async with ChatServer([refusal("no"), long, key, *again]) as server:
        model = provider(base_url=server.url, api_key="hunter2-key")
        for kind, count in ((BadRequest, 1), (ContextOverflow, 2), (AuthFailed, 3), (BadRequest, 7)):
            with pytest.raises(kind) as caught:
                await told(model)
            assert "hunter2" not in str(caught.value)
            assert len(server.requests) == count


async def test_a_bad_request_in_mid_stream_is_not_asked_again(provider: Make) -> None:
    broken = HELLO.replace(
        "event: message_delta", 'data: {"error": {"type": "invalid_request_error", "message": "x"}}\n\n:'
    )
    async with ChatServer([Answer(sse=broken)]) as server:
        with pytest.raises(BadRequest):
            await told(provider(base_url=server.url))
        assert len(server.requests) == 1


async def test_pings_alone_end_the_wait(provider: Make) -> None:  # F012
    ping = 'event: ping\ndata: {"type": "ping"}'
    async with ChatServer([Answer(keepalives=1000, keepalive=ping, drip=0.005)]) as server:
        model = provider(base_url=server.url, limits=Limits(read_seconds=0.05))
        with pytest.raises(Unavailable, match="said nothing for"):
            await told(model)


async def test_who_stops_reading_is_not_waited_for(provider: Make) -> None:
    start = HELLO.partition("event: message_delta")[0]
    async with ChatServer([Answer(keepalives=1, keepalive=start.rstrip(), drip=30.0)]) as server:
        deltas = provider(base_url=server.url).stream(HI)
        assert isinstance(deltas, AsyncGenerator)
        assert await anext(deltas) == TextDelta("Hel")
        await deltas.aclose()
        task = asyncio.create_task(told(provider(base_url=server.url)))
        await server.arrivals.get()
        await server.arrivals.get()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


def events(name: str) -> list[dict[str, Any]]:
    lines = (RECORDINGS / "anthropic" / f"{name}.sse").read_text("utf-8").splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def block(index: int, kind: str, *deltas: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def reply_to(*heard: dict[str, Any]) -> Reply:
    decoder = Decoder(Hearing("m"))
    for event in heard:
        decoder.feed(event)
    return decoder.finish()


STOP = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}


def test_an_answer_goes_back_block_by_block_as_it_came() -> None:
    reply = reply_to(
        *block(0, "thinking", {"type": "signature_delta", "signature": "s1"}, thinking="", signature=""),
        *block(1, "redacted_thinking", data="d1"),
        *block(2, "text", {"type": "text_delta", "text": "One "}, text=""),
        *block(3, "thinking", {"type": "thinking_delta", "thinking": " hm "}, thinking="", signature="s2"),
        *block(4, "text", {"type": "text_delta", "text": "two"}, text=""),
        *block(5, "tool_use", {"type": "input_json_delta", "partial_json": "{}"}, id="c1", name="f", input={}),
        STOP,
    )
    assert reply.message.parts == (
        Reasoning("", "anthropic:s1"),
        Reasoning("", "anthropic:redacted:d1"),
        Text("One "),
        Reasoning(" hm ", "anthropic:s2"),
        Text("two"),
        ToolCall("c1", "f"),
    )
    log = (asked(Text("hi")), reply.message, answered(ToolResult("c1", "f", "x")))
    assert turns(*projected(log))[1][1] == [
        {"type": "thinking", "thinking": "", "signature": "s1"},
        {"type": "redacted_thinking", "data": "d1"},
        text("One "),
        {"type": "thinking", "thinking": " hm ", "signature": "s2"},
        text("two"),
        {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
    ]


def test_a_refusal_without_a_word_says_why() -> None:
    with pytest.raises(ContentFiltered, match=r"^the service will not answer this: It could do harm\.$"):
        reply_to(*events("refused_without_a_word"))


def test_what_nobody_counts_is_an_estimate_without_a_figure() -> None:
    reply = reply_to(*block(0, "text", {"type": "text_delta", "text": "x" * 42}, text=""), STOP)
    assert reply.usage == Usage(requests=1, estimated=True)


def test_ten_megabytes_of_arguments_are_not_kept() -> None:
    decoder = Decoder(Hearing("m", limit=1000))
    piece = {"type": "input_json_delta", "partial_json": "x" * 100_000}
    for event in (*block(0, "tool_use", *([piece] * 100), id="c", name="f", input={}), STOP):
        decoder.feed(event)
    (call,) = decoder.finish().message.calls
    assert (call.arguments, call.flaw, call.raw) == ({}, "too_large", "x" * 200)


def test_pings_alone_are_an_answer_that_was_cut() -> None:
    with pytest.raises(StreamCut):
        reply_to({"type": "ping"}, {})


KEYS = (
    *("type", "index", "delta", "content_block", "message", "content", "text", "thinking", "partial_json", "usage"),
    *("signature", "data", "id", "name", "input", "stop_reason", "stop_details", "input_tokens", "error"),
)
KINDS = (
    *("message_start", "content_block_start", "content_block_delta", "message_delta", "message", "text", "tool_use"),
    *("thinking", "redacted_thinking", "text_delta", "thinking_delta", "signature_delta", "input_json_delta"),
)
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3) | st.sampled_from(KINDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
        | st.builds(
            lambda kind, more: {**more, "type": kind},
            st.sampled_from(KINDS),
            st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        )
    ),
    max_leaves=20,
)


@given(st.lists(JUNK, max_size=5))
def test_any_json_is_an_answer_or_a_provider_error(heard: list[Any]) -> None:
    decoder = Decoder(Hearing("m"))
    try:
        for event in heard:
            decoder.feed(event)
        decoder.done()
        reply = decoder.finish()
    except ProviderError:
        return
    as_bytes(to_wire(Request("m", "", (reply.message,))))


WORDS = st.sampled_from(["", " ", "\n", "a", "你好"])
IDS = st.integers(0, 6).map(lambda n: ("c0", "c1", "c.2", "c:3", "", "é", "c6")[n])
SIGNATURES = st.sampled_from(["", "anthropic:s", "anthropic:redacted:d", "openai_chat:x"])
PARTS: dict[Role, st.SearchStrategy[Part]] = {
    Role.USER: st.builds(Text, WORDS) | st.builds(Stamp, WORDS) | st.just(Media("i", "image/png")),
    Role.ASSISTANT: st.builds(Text, WORDS)
    | st.builds(Reasoning, WORDS, SIGNATURES)
    | st.builds(ToolCall, IDS, st.sampled_from(["f", "", "bad name"])),
    Role.TOOL: st.builds(ToolResult, IDS, st.just("f"), WORDS, st.sampled_from([None, FAULT])),
    Role.NOTE: st.builds(Text, WORDS),
}


@st.composite
def histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """Logs as they may be stored, whole or not; ids are used once, as the agent sees to it."""
    used: set[str] = set()
    found: list[Message] = []
    for role in draw(st.lists(st.sampled_from(list(Role)), max_size=8)):
        parts = draw(st.lists(PARTS[role], max_size=4))
        kept: list[Part] = []
        for part in parts:
            if not isinstance(part, ToolCall):
                kept.append(part)
            elif part.id not in used:
                used.add(part.id)
                kept.append(part)
        found.append(Message(role, tuple(kept), model=draw(st.sampled_from(["m", "n"]))))
    return tuple(found)


@given(histories(), st.booleans(), st.sampled_from([{}, {"i": b"hi"}]))
def test_any_history_is_a_conversation_by_the_vendors_rules(
    log: tuple[Message, ...], cache: bool, media: dict[str, bytes]
) -> None:
    wire = to_wire(Request("m", "s", projected(log), (tide,), media=media), Terms(thinking=2_000, cache=cache))
    said = wire["messages"]
    assert [turn["role"] for turn in said] == [("user", "assistant")[at % 2] for at in range(len(said))]
    assert said[-1]["role"] == "user"
    for before, turn in zip([None, *said], said, strict=False):
        assert turn["content"]
        results = [b["tool_use_id"] for b in turn["content"] if b["type"] == "tool_result"]
        assert [b["type"] for b in turn["content"][: len(results)]] == ["tool_result"] * len(results)
        assert results == [b["id"] for b in before["content"] if b["type"] == "tool_use"] if before else not results
        for found in turn["content"]:
            _check_block(found, turn["role"])
    ids = [b["id"] for turn in said for b in turn["content"] if b["type"] == "tool_use"]
    assert len(ids) == len(set(ids))
    assert as_bytes(wire).count(b"cache_control") == (3 if cache else 0)


def _check_block(found: dict[str, Any], role: str) -> None:
    kinds = {
        "user": ("text", "image", "tool_result"),
        "assistant": ("text", "tool_use", "thinking", "redacted_thinking"),
    }
    assert found["type"] in kinds[role]
    assert found["type"] != "text" or found["text"].strip()
    assert found["type"] != "tool_result" or found["content"].strip()
    assert found["type"] != "tool_use" or re.fullmatch(r"[a-zA-Z0-9_-]+", found["id"])
    assert found["type"] != "tool_use" or re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", found["name"])
