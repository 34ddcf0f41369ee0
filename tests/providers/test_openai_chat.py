"""The request on the wire, the configuration, and the provider against a real server."""

import json
import random
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import AuthFailed, BadReply, BadRequest, ConfigError, ProviderError, RateLimited, Unavailable
from palmclaw.core.events import TextDelta
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Cut, Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult, Usage
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Finish, Forgetful, Reply, Request
from palmclaw.core.tools import Tool
from palmclaw.core.wire import as_bytes
from palmclaw.net.hearing import Hearing
from palmclaw.net.learning import Lesson, Notes
from palmclaw.net.telling import Speech
from palmclaw.providers.openai_chat import (
    Decoder,
    Dialect,
    OpenAIChatConfig,
    openai_chat,
    to_wire,
)
from palmclaw.providers.openai_chat.lessons import Memory
from tests.providers.tide import HI, SCHEMA, again, making, tide, told
from tests.servers.chat_server import Answer, ChatServer


def wired(*messages: Message, tools: tuple[Tool, ...] = ()) -> dict[str, Any]:
    return to_wire(Request("m", "", messages, tools))


def function(name: str, about: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": about, "parameters": SCHEMA}}


def test_the_whole_request() -> None:
    request = Request(
        "m",
        "Be brief.",
        (
            Message(
                Role.USER, (Stamp("It is 10:00."), Text("hi"), Media("a1", "image/png", "cat.png"), Media("b", "x/y"))
            ),
            Message(
                Role.ASSISTANT,
                (Reasoning("hm"), Text("Looking."), ToolCall("c1", "tide", {"city": "上海"}), ToolCall("c2", "again")),
            ),
            Message(Role.TOOL, (ToolResult("c1", "tide", '"2 m"'), ToolResult("c2", "again", " "))),
            Message(Role.NOTE, (Text("a note"),)),
            Message(Role.ASSISTANT, (ToolCall("c3", "bad name!", {"x": 1}, "truncated", '{"x":1'),)),
            Message(Role.ASSISTANT, (Text("2 m."),), cut=Cut.INTERRUPTED),
        ),
        (tide, again),
    )
    assert to_wire(request) == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi\n\n[attached: cat.png (image/png)]\n\n[attached: b (x/y)]\n\nIt is 10:00."},
            {
                "role": "assistant",
                "content": "Looking.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": '{"city":"上海"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "again", "arguments": "{}"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '"2 m"'},
            {"role": "tool", "tool_call_id": "c2", "content": "(nothing)"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c3", "type": "function", "function": {"name": "bad_name_", "arguments": "{}"}},
                ],
            },
            {"role": "assistant", "content": "2 m."},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [function("tide", "How high the water stands."), function("again", "The same once more.")],
    }


def test_the_same_request_has_the_same_bytes_and_tools_keep_their_order() -> None:
    request = Request("m", "s", HI.messages, (tide, again))
    assert as_bytes(to_wire(request)) == as_bytes(to_wire(request))
    names = [t["function"]["name"] for t in to_wire(Request("m", "", (), (again, tide)))["tools"]]
    assert names == ["again", "tide"]
    assert as_bytes({"a": ["上", "\ud83d"]}) == '{"a":["上","?"]}'.encode()


@pytest.mark.parametrize(
    "message",
    [
        Message(Role.USER, ()),
        Message(Role.USER, (Text(" \n"),)),
        Message(Role.ASSISTANT, ()),
        Message(Role.ASSISTANT, (Text(" "), Reasoning("hm"))),
        Message(Role.TOOL, (Text("x"),)),
        Message(Role.NOTE, (Text("for the person"),)),
    ],
)
def test_nothing_empty_is_sent(message: Message) -> None:
    assert wired(message)["messages"] == []
    assert "tools" not in wired(message)


def test_names_fit_the_protocol() -> None:
    calls = (ToolCall("1", ""), ToolCall("2", "x" * 80), ToolCall("3", "mcp__a-b"))
    (message,) = wired(Message(Role.ASSISTANT, calls))["messages"]
    assert [c["function"]["name"] for c in message["tool_calls"]] == ["unnamed", "x" * 64, "mcp__a-b"]


def make(tmp_path: Path, **settings: Any) -> Speech[Dialect]:
    found: Speech[Dialect] = openai_chat.create(OpenAIChatConfig(**settings), Parts(tmp_path))
    return found


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"base_url": ""}, "provider.base_url"),
        ({"base_url": "api.example/v1"}, "provider.base_url"),
        ({"base_url": "ftp://api.example"}, "provider.base_url"),
        ({"base_url": "http://"}, "provider.base_url"),
        ({"base_url": "http://[bad"}, "provider.base_url"),
        ({"base_url": "http://h:0/v1"}, "provider.base_url"),
        ({"base_url": "http://u:hunter2@h/v1"}, "provider.base_url"),
        ({"api_key": "hunter2 hunter2"}, "provider.api_key"),
        ({"api_key": "hunter2\nX: y"}, "provider.api_key"),
        ({"api_key": "hunter2…"}, "provider.api_key"),
        ({"headers": {"X Y": "hunter2"}}, "provider.headers"),
        ({"headers": {"X": "hunter2\r\nY: z"}}, "provider.headers"),
    ],
)
def test_a_wrong_setting_is_named_and_not_repeated(tmp_path: Path, settings: dict[str, Any], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(tmp_path, **settings)
    assert caught.value.key == key
    assert "hunter2" not in f"{caught.value}{caught.value.hint}"


def test_secrets_are_not_shown_with_the_configuration() -> None:
    config = OpenAIChatConfig(api_key="hunter2", headers={"X": "hunter2"}, proxy="http://u:hunter2@p:1")
    assert "hunter2" not in repr(config)


Make = Callable[..., Speech[Dialect]]


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Make]:
    async with making(openai_chat, tmp_path) as make:
        yield make


async def test_a_turn_without_a_key(provider: Make) -> None:
    assert (openai_chat.kind, openai_chat.name, openai_chat.config) == (Kind.PROVIDER, "openai_chat", OpenAIChatConfig)
    async with ChatServer([Answer(text="Hello there", fragments=2)]) as server:
        model = provider(base_url=server.url)
        deltas = await told(model)
        assert not model.local
        (asked,) = server.requests
    assert deltas[:-1] == [TextDelta("Hello "), TextDelta("there")]
    reply = deltas[-1]
    assert isinstance(reply, Reply)
    assert (reply.message.text, reply.finish, reply.usage) == ("Hello there", Finish.STOP, Usage(100, 10, requests=1))
    assert asked.path == "/v1/chat/completions"
    assert asked.raw == as_bytes(to_wire(HI))
    assert "Authorization" not in asked.headers


async def test_key_headers_and_further_fields_are_sent(provider: Make) -> None:
    async with ChatServer([Answer(text="hi", times=2)]) as server:
        await told(
            provider(
                base_url=server.url,
                api_key=" sk-hunter2\n",
                model="default",
                headers={"X-Title": "palmclaw"},
                usage=False,
                body={"temperature": 0, "model": "override"},
            ),
            Request("", "", HI.messages),
        )
        await told(provider(base_url=server.url, api_key="sk-1", headers={"authorization": "Key own"}))
        first, second = server.requests
    assert first.headers["Authorization"] == "Bearer sk-hunter2"
    assert first.headers["X-Title"] == "palmclaw"
    assert first.body == {
        "model": "override",
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
        "temperature": 0,
    }
    assert [v for k, v in second.headers.items() if k.lower() == "authorization"] == ["Key own"]


async def test_a_default_model_is_named(provider: Make) -> None:
    async with ChatServer(["hi"]) as server:
        deltas = await told(provider(base_url=server.url, model="default"), Request("", "", HI.messages))
        assert server.requests[0].body["model"] == "default"
    assert isinstance(deltas[-1], Reply)
    assert deltas[-1].message.model == "default"


async def test_a_finished_answer_needs_no_end_of_stream(provider: Make) -> None:
    cut = Answer(text="all of it", cut_after=3)  # after the chunk that says "stop"
    async with ChatServer([cut]) as server:
        deltas = await told(provider(base_url=server.url))
        assert isinstance(deltas[-1], Reply)
        assert deltas[-1].message.text == "all of it"
        assert len(server.requests) == 1  # F011: never asked again


async def test_content_keeps_a_slow_stream_open(provider: Make) -> None:
    async with ChatServer([Answer(text="12345678", fragments=8, drip=0.06)]) as server:
        deltas = await told(provider(base_url=server.url, limits=Limits(read_seconds=0.3)))
    assert deltas[:-1] == [TextDelta(digit) for digit in "12345678"]


@pytest.mark.parametrize("ping", [": ping", "data: {}", 'data: {"choices":[{"index":0,"delta":{"content":""}}]}'])
async def test_keep_alives_alone_end_the_wait(provider: Make, ping: str) -> None:  # F012
    async with ChatServer([Answer(keepalives=1000, keepalive=ping, drip=0.005)]) as server:
        model = provider(base_url=server.url, limits=Limits(read_seconds=0.05))
        with pytest.raises(Unavailable, match="said nothing for"):
            await told(model)


@pytest.mark.parametrize(
    ("settings", "secret"),
    [
        ({"api_key": "quite-secret-1"}, "quite-secret-1"),
        ({"headers": {"X-Key": "Token quite-secret-2"}}, "quite-secret-2"),
        ({"proxy": "http://me:quite-secret-3@127.0.0.1:1"}, "quite-secret-3"),
    ],
)
async def test_a_secret_that_comes_back_is_masked(provider: Make, settings: dict[str, Any], secret: str) -> None:
    echo = json.dumps({"error": {"message": f"you said {secret}"}})
    stream = f'data: {{"error": {{"message": "you said {secret}", "code": 401}}}}\n\n'
    async with ChatServer([Answer(status=401, body=echo), Answer(sse=stream)]) as server:
        where = server.url + "?key=quite-secret-4"
        if "proxy" in settings:  # nobody listens there: the proxy is named without its password
            settings = {"proxy": settings["proxy"].replace(":1", ":" + server.url.split(":")[2].split("/")[0])}
        model = provider(base_url=where, **settings)
        for _ in range(2):
            with pytest.raises(AuthFailed) as caught:
                await told(model)
            assert "you said ***" in str(caught.value)
            assert "quite-secret" not in str(caught.value)


async def test_the_environment_names_the_proxy(provider: Make) -> None:
    async with ChatServer(["hi"]) as server:
        proxy = server.url.removesuffix("/v1")
        await told(provider(base_url="http://model.example/v1", allow_http=True, environ={"HTTP_PROXY": proxy}))
        assert server.requests[0].headers["Host"] == "model.example"


async def test_retry_after_travels_on(provider: Make) -> None:
    async with ChatServer([Answer(status=429, headers={"Retry-After": "7"})]) as server:
        with pytest.raises(RateLimited) as caught:
            await told(provider(base_url=server.url))
    assert caught.value.retry_after == 7.0


CALLS = st.lists(
    st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.text(max_size=4), st.text(max_size=6), max_size=3)),
    min_size=1,
    max_size=4,
)


@given(CALLS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_calls_survive_any_cut_and_any_interleaving(
    calls: list[tuple[str, dict[str, str]]], size: int, chance: random.Random
) -> None:
    queues: list[list[dict[str, Any]]] = []
    for index, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        head = {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": ""}}
        rest = [text[i : i + size] for i in range(0, len(text), size)]
        queues.append([head, *({"index": index, "function": {"arguments": piece}} for piece in rest)])
    decoder = Decoder(Hearing("m"))
    for head in [queue.pop(0) for queue in queues]:
        decoder.feed({"choices": [{"delta": {"tool_calls": [head]}}]})
    while queues := [queue for queue in queues if queue]:
        decoder.feed({"choices": [{"delta": {"tool_calls": [chance.choice(queues).pop(0)]}}]})
    decoder.done()
    found = decoder.finish().message.calls
    assert found == tuple(ToolCall(f"c{i}", name, arguments) for i, (name, arguments) in enumerate(calls))


JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3) | st.just("stop"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "name",
                    "arguments",
                    "id",
                    "index",
                    "usage",
                    "error",
                    "finish_reason",
                    "reasoning",
                    "refusal",
                    "prompt_tokens",
                    "code",
                    "text",
                    "thinking",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(JUNK, max_size=4))
def test_any_json_is_an_answer_or_a_provider_error(chunks: list[Any]) -> None:
    decoder = Decoder(Hearing("m"))
    try:
        for chunk in chunks:
            decoder.feed(chunk)
        decoder.done()
        reply = decoder.finish()
    except ProviderError:
        return
    as_bytes(to_wire(Request("m", "", (reply.message,))))


def test_ten_megabytes_of_arguments_are_not_kept() -> None:
    decoder = Decoder(Hearing("m", limit=1000))
    for _ in range(100):
        piece = {"index": 0, "function": {"name": "f", "arguments": "x" * 100_000}}
        decoder.feed({"choices": [{"delta": {"tool_calls": [piece]}}]})
    decoder.done()
    (call,) = decoder.finish().message.calls
    assert (call.arguments, call.flaw, call.raw) == ({}, "too_large", "x" * 200)


async def test_an_answer_that_is_no_chat(provider: Make) -> None:
    async with ChatServer([Answer(body='{"hello": "world"}'), Answer(body="<html>")]) as server:
        model = provider(base_url=server.url)
        for words in ("no chat completion", "web page"):
            with pytest.raises(BadReply, match=words):
                await told(model)


# how one service differs from another


def history(model: str = "m") -> tuple[Message, ...]:
    signature = 'openai_chat:{"google": {"thought_signature": "abc"}}'
    calls = (ToolCall("call_1", "tide", {"city": "Oslo"}, signature=signature), ToolCall("abcdefghi", "again"))
    return (
        Message(Role.USER, (Text("hi"),)),
        Message(Role.ASSISTANT, (Reasoning("hm"), *calls), model=model),
        Message(Role.TOOL, (ToolResult("call_1", "tide", "2 m"), ToolResult("abcdefghi", "again", "2 m"))),
        Message(Role.ASSISTANT, (Reasoning("so"), Text("2 m.")), model=model),
    )


def as_sent(dialect: Dialect, model: str = "m", **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_wire(Request("m", "Rules.", history(model), **more), dialect)["messages"]
    return found


def test_who_gives_the_rules() -> None:
    assert as_sent(Dialect(system_role="developer"))[0] == {"role": "developer", "content": "Rules."}


def test_thoughts_go_back_under_the_services_name_and_only_to_the_model_that_had_them() -> None:
    dialect = Dialect(reasoning_field="reasoning_content")
    own, foreign = as_sent(dialect), as_sent(dialect, "another")
    assert [m.get("reasoning_content") for m in own] == [None, None, "hm", None, None, "so"]
    assert [m.get("reasoning_content") for m in foreign] == [None, None, " ", None, None, None]
    assert all("reasoning_content" not in m for m in as_sent(Dialect()))


def test_a_signature_goes_back_to_the_model_that_made_it() -> None:
    own = as_sent(Dialect())[2]["tool_calls"]
    assert [c.get("extra_content") for c in own] == [{"google": {"thought_signature": "abc"}}, None]
    assert ["extra_content" in c for c in as_sent(Dialect(), "another")[2]["tool_calls"]] == [False, False]
    for call in as_sent(Dialect(call_signature="google"), "another")[2]["tool_calls"]:
        assert call["extra_content"] == {"google": {"thought_signature": "skip_thought_signature_validator"}}


def test_ids_of_nine_letters_and_digits() -> None:
    sent = as_sent(Dialect(call_ids="nine"))
    ids = [c["id"] for c in sent[2]["tool_calls"]]
    assert ids == [m["tool_call_id"] for m in sent[3:5]]
    assert ids[1] == "abcdefghi"
    assert re.fullmatch("[0-9a-z]{9}", ids[0])


def test_words_of_the_schema_that_a_service_refuses() -> None:
    wire = to_wire(Request("m", "", (), (tide,)), Dialect(schema_without=("description", "city")))
    assert wire["tools"][0]["function"]["parameters"]["properties"] == {"city": {"type": "string"}}


def test_the_answer_is_bounded_when_that_is_asked() -> None:
    request = Request("m", "", HI.messages, max_output=77)
    assert to_wire(request)["max_tokens"] == 77
    assert to_wire(request, Dialect(token_field="max_completion_tokens"))["max_completion_tokens"] == 77
    assert "max_tokens" not in to_wire(HI)


def test_pictures_and_papers_are_shown_where_their_bytes_are_at_hand() -> None:
    files = (Media("p", "image/png", "cat.png"), Media("d", "application/pdf", "a.pdf"))
    parts = (Text("look"), *files, Media("x", "image/png", "lost.png"), Stamp("10:00"))
    request = Request("m", "", (Message(Role.USER, parts),), media={"p": b"png", "d": b"pdf"})
    assert to_wire(request)["messages"][0]["content"] == [
        {"type": "text", "text": "look\n\n[attached: lost.png (image/png)]\n\n10:00"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,cGRm"}},
    ]


def test_each_body_begins_as_the_one_before_it() -> None:
    whole = history()
    bodies = [as_bytes(to_wire(Request("m", "Rules.", whole[:end], (tide, again)))) for end in (1, 3, 4)]
    for before, after in pairwise(bodies):
        assert after.startswith(before.removesuffix(b"]}"))


def test_a_signature_in_the_stream_is_kept() -> None:
    decoder = Decoder(Hearing("m"))
    extra = {"google": {"thought_signature": "abc"}}
    call = {"index": 0, "id": "c1", "function": {"name": "tide", "arguments": "{}"}, "extra_content": extra}
    decoder.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    (found,) = decoder.finish().message.calls
    assert found == ToolCall("c1", "tide", signature='openai_chat:{"google": {"thought_signature": "abc"}}')


# what refusals teach

BOUNDED = replace(HI, max_output=8_000)
OTHER_FIELD = (
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
)
NO_COUNTS = "Extra inputs are not permitted, field: 'stream_options'"


def taught(
    words: str, asked: Dialect = Dialect(), base: Dialect = Dialect(), request: Request = BOUNDED
) -> Dialect | None:
    memory = Memory(Notes(Forgetful(), "openai_chat", "https://h"), lambda model: base)
    lesson = memory.taught(words, Lesson(asked, asked), request)
    assert lesson is None or lesson.now == lesson.later
    return lesson.now if lesson else None


@pytest.mark.parametrize(
    ("words", "learned"),
    [
        (OTHER_FIELD, Dialect(token_field="max_completion_tokens")),
        ("Unrecognized request argument supplied: max_tokens", Dialect(token_field="max_completion_tokens")),
        ("Unrecognized request argument supplied: max_completion_tokens", None),
        (NO_COUNTS, Dialect(usage=False)),
        ("body.stream_options: Extra inputs are not permitted", Dialect(usage=False)),
        ("max_tokens must be at most 4096", Dialect(ceiling=4_096)),
        ("Unsupported value: 'temperature' does not support 0 with this model.", None),
        ("Unsupported parameter: 'top_p' is not supported with this model.", None),
        ("no", None),
        ("", None),
    ],
)
def test_what_a_refusal_teaches(words: str, learned: Dialect | None) -> None:
    assert taught(words) == learned


def test_nothing_is_taught_twice() -> None:
    assert taught(NO_COUNTS, Dialect(usage=False)) is None
    assert taught("max_tokens must be at most 4096", Dialect(ceiling=4_096)) is None
    assert taught(OTHER_FIELD, request=HI) is None  # no bound was sent


def test_where_both_fields_are_refused_the_person_hears_it() -> None:
    turned = Dialect(token_field="max_completion_tokens")
    words = "Unknown parameter: 'max_completion_tokens'"
    assert taught(words, turned) is None
    assert taught(words, turned, base=turned) == Dialect()


async def test_what_a_model_wants_is_learned_once(provider: Make) -> None:
    refused = [refusal(OTHER_FIELD), refusal(NO_COUNTS), refusal("max_completion_tokens must be at most 4096")]
    findings = Forgetful()
    async with ChatServer([*refused, Answer(text="hi", times=2)]) as server:
        for _ in range(2):
            model = provider(base_url=server.url, findings=findings)
            await told(model, BOUNDED)
        sent = [
            {k: v for k, v in asked.body.items() if k not in ("model", "messages", "stream")}
            for asked in server.requests
        ]
        other = model.wire(replace(BOUNDED, model="another"))
    usage = {"stream_options": {"include_usage": True}}
    last = {"max_completion_tokens": 4_096}
    assert sent == [
        {**usage, "max_tokens": 8_000},
        {**usage, "max_completion_tokens": 8_000},
        {"max_completion_tokens": 8_000},
        last,
        last,
    ]
    assert (other["stream_options"], other["max_tokens"]) == ({"include_usage": True}, 8_000)


async def test_a_field_that_is_learned_and_then_refused_is_turned_back(provider: Make) -> None:
    findings = Forgetful()
    back = refusal("Unknown parameter: 'max_completion_tokens'")
    answers = [refusal(OTHER_FIELD), Answer(text="hi"), back, Answer(text="hi", times=2)]
    async with ChatServer(answers) as server:
        for _ in range(3):
            await told(provider(base_url=server.url, findings=findings), BOUNDED)
        fields = [next(k for k in asked.body if k.startswith("max_")) for asked in server.requests]
    assert fields == ["max_tokens", "max_completion_tokens", "max_completion_tokens", "max_tokens", "max_tokens"]


async def test_a_refusal_of_the_persons_own_field_is_told(provider: Make) -> None:
    async with ChatServer([refusal(OTHER_FIELD), refusal(OTHER_FIELD)]) as server:
        model = provider(base_url=server.url, body={"max_tokens": 5})
        with pytest.raises(BadRequest, match="Use 'max_completion_tokens' instead"):
            await told(model, BOUNDED)
        assert len(server.requests) == 2


def refusal(words: str) -> Answer:
    error = {"message": words, "type": "invalid_request_error", "param": None, "code": None}
    return Answer(status=400, body=json.dumps({"error": error}))
