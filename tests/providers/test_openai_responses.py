"""OpenAI's Responses: the request on the wire, what refusals teach, and the provider against a real server."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from palmclaw.config import Settings
from palmclaw.core.errors import (
    AuthFailed,
    BadReply,
    BadRequest,
    ConfigError,
    ContentFiltered,
    ContextOverflow,
    NoEndpoint,
    ProviderError,
    Unavailable,
)
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Cut, Media, Message, Part, Reasoning, Role, Stamp, Text, ToolCall, ToolResult, Usage
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Delta, Finish, Forgetful, Reply, Request
from palmclaw.core.session import projected
from palmclaw.core.wire import as_bytes
from palmclaw.net.hearing import Hearing
from palmclaw.net.learning import Lesson, Notes
from palmclaw.net.telling import Speech
from palmclaw.providers.openai_responses import (
    Decoder,
    Effort,
    OpenAIResponsesConfig,
    Terms,
    openai_responses,
    to_wire,
)
from palmclaw.providers.openai_responses.lessons import Memory
from palmclaw.services import Services
from tests.providers.conformance import RECORDINGS
from tests.providers.tide import HI, SCHEMA, again, making, tide, told
from tests.servers.chat_server import Answer, ChatServer

HELLO = (RECORDINGS / "openai_responses" / "text.sse").read_text("utf-8")
PNG = b"\x89PNG\r\n\x1a\n"


def wired(*messages: Message, model: str = "m", terms: Terms = Terms()) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_wire(Request(model, "", messages), terms)["input"]
    return found


def kept(**values: Any) -> str:
    return f"openai_responses:{json.dumps(values)}"


def thought(name: str, text: str = "") -> Reasoning:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return Reasoning(text, kept(id=f"rs_{name}", summary=summary, encrypted_content=f"sealed-{name}"))


def item(name: str, text: str = "") -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": f"rs_{name}", "summary": summary, "encrypted_content": f"sealed-{name}"}


def said(text: str, **more: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, **more}


def asked(*texts: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": t} for t in texts]}


def called(call_id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def came(call_id: str, output: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def answer(*parts: Part, model: str = "m", cut: Cut = Cut.NO) -> Message:
    return Message(Role.ASSISTANT, parts, model=model, cut=cut)


# The request


def function(name: str, about: str) -> dict[str, Any]:
    return {"type": "function", "name": name, "description": about, "parameters": SCHEMA, "strict": False}


WHOLE = Request(
    "m",
    "Be brief.",
    (
        Message(Role.USER, (Stamp("It is 10:00."), Text("hi"), Media("a1", "image/png", "cat.png"), Media("b", "x/y"))),
        answer(thought("1", "hm"), Text("Looking."), ToolCall("c1", "tide", {"city": "上海"}), ToolCall("c2", "again")),
        Message(Role.TOOL, (ToolResult("c1", "tide", '"2 m"'), ToolResult("c2", "again", " "))),
        Message(Role.NOTE, (Text("a note"),)),
        answer(ToolCall("c3", "bad name!", {"x": 1}, "truncated", '{"x":1')),
        Message(Role.TOOL, (ToolResult("c3", "bad name!", '{"error":{}}'),)),
        answer(Text("2 m."), cut=Cut.INTERRUPTED),
    ),
    (tide, again),
    max_output=500,
)
WIRE = {
    "model": "m",
    "instructions": "Be brief.",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "low"},
    "max_output_tokens": 500,
    "tools": [function("tide", "How high the water stands."), function("again", "The same once more.")],
    "input": [
        asked("hi\n\n[attached: cat.png (image/png)]\n\n[attached: b (x/y)]\n\nIt is 10:00."),
        item("1", "hm"),
        said("Looking."),
        called("c1", "tide", '{"city":"上海"}'),
        called("c2", "again"),
        came("c1", '"2 m"'),
        came("c2", "(nothing)"),
        called("c3", "bad_name_"),
        came("c3", '{"error":{}}'),
        said("2 m."),
    ],
}


def test_the_whole_request() -> None:
    found = to_wire(WHOLE, Terms("low"))
    assert found == WIRE
    assert list(found) == list(WIRE)


def test_a_request_with_thoughts_is_official_to_the_last_field() -> None:
    talk = (*WHOLE.messages, answer(Reasoning("", kept(phase="final_answer")), Text("2 m.")))
    body = to_wire(replace(WHOLE, messages=talk), Terms("low"))
    assert body["input"][-1] == said("2 m.", phase="final_answer")
    assert _walked(TypeAdapter[Any](ResponseCreateParamsStreaming).validate_python(body)) == body


def _walked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _walked(inner) for key, inner in value.items()}
    return [_walked(v) for v in value] if isinstance(value, Iterable) and not isinstance(value, str) else value


def test_what_is_not_set_is_not_sent() -> None:
    assert to_wire(Request("m", " ", HI.messages), Terms(include=False)) == {
        "model": "m",
        "stream": True,
        "store": False,
        "input": [asked("hi")],
    }


def test_a_bound_is_never_smaller_than_the_service_takes() -> None:
    bounds = [to_wire(replace(HI, max_output=n), Terms(least=16)).get("max_output_tokens") for n in (0, 1, 16, 17)]
    assert bounds == [None, 16, 16, 17]


def test_each_body_begins_as_the_one_before() -> None:
    bodies = [as_bytes(to_wire(replace(WHOLE, messages=WHOLE.messages[:n]))) for n in range(1, 8)]
    assert all(later.startswith(earlier[:-2]) for earlier, later in pairwise(bodies))
    assert as_bytes(to_wire(WHOLE)) == bodies[-1]


def test_attachments_are_seen_or_named() -> None:
    parts = (
        Text("look"),
        Media("a", "image/png", "cat.png"),
        Media("b", "application/pdf", "tax.pdf"),
        Media("c", "application/pdf"),
        Media("d", "audio/ogg", "song.ogg"),
        Media("e", "image/png"),
    )
    request = Request("m", "", (Message(Role.USER, parts),), media={"a": PNG, "b": b"%PDF", "c": b"%PDF", "d": b"Ogg"})
    (message,) = to_wire(request)["input"]
    assert message["content"] == [
        {"type": "input_text", "text": "look\n\n[attached: song.ogg (audio/ogg)]\n\n[attached: e (image/png)]"},
        {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo="},
        {"type": "input_file", "filename": "tax.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
        {"type": "input_file", "filename": "document.pdf", "file_data": "data:application/pdf;base64,JVBERg=="},
    ]


def test_an_image_without_words_has_no_text() -> None:  # F038
    request = Request("m", "", (Message(Role.USER, (Text(" "), Media("a", "image/png"))),), media={"a": PNG})
    (message,) = to_wire(request)["input"]
    assert [part["type"] for part in message["content"]] == ["input_image"]


@pytest.mark.parametrize(
    "message",
    [
        Message(Role.USER, ()),
        Message(Role.USER, (Text(" \n"),)),
        answer(),
        answer(Text(" "), Reasoning("hm")),
        answer(thought("1", "hm"), Text("\n")),
        Message(Role.TOOL, (Text("x"),)),
        Message(Role.NOTE, (Text("for the person"),)),
    ],
)
def test_nothing_empty_is_sent(message: Message) -> None:  # F037, F038, F039
    assert wired(message) == []


@pytest.mark.parametrize(
    ("parts", "items"),
    [
        ((thought("1"), Text("a"), thought("2"), ToolCall("c", "f")), [item("1"), said("a"), item("2"), called("c")]),
        ((thought("1"), ToolCall("c", "f"), thought("2")), [item("1"), called("c")]),
        ((thought("1"), Text(" "), ToolCall("c", "f")), [item("1"), called("c")]),
        ((thought("1"), thought("2"), Text("a")), [item("1"), item("2"), said("a")]),
        ((Reasoning("seen only"), Text("a")), [said("a")]),
        ((Reasoning("", "anthropic:abc"), Text("a")), [said("a")]),
        ((Reasoning("", kept(phase="commentary")), Text("a"), Text("b")), [said("a", phase="commentary"), said("b")]),
        (
            (thought("1"), Reasoning("", kept(phase="commentary")), Text("a"), ToolCall("c", "f")),
            [item("1"), said("a", phase="commentary"), called("c")],
        ),
    ],
)
def test_a_thought_goes_before_what_followed_it(parts: tuple[Part, ...], items: list[dict[str, Any]]) -> None:  # F037
    assert wired(answer(*parts)) == items
    bare = [i for i in items if i["type"] != "reasoning"]
    without_phases = [{k: v for k, v in i.items() if k != "phase"} for i in bare]
    assert wired(answer(*parts, model="another")) == without_phases
    refused = frozenset(p.signature.removeprefix("openai_responses:") for p in parts if isinstance(p, Reasoning))
    assert wired(answer(*parts), terms=Terms(refused=refused)) == without_phases


def test_ids_fit_and_stay_apart() -> None:
    ids = ["c" * 64, "c" * 65, "c" * 66, "", " ", "toolu_01-x", "呼叫", "\ud800" * 65]
    calls = answer(*(ToolCall(i, "f") for i in ids))
    results = Message(Role.TOOL, tuple(ToolResult(i, "f", "x") for i in ids))
    items = wired(calls, results)
    sent = [i["call_id"] for i in items]
    assert sent[:8] == sent[8:]
    assert len(set(sent)) == 8
    assert all(i.strip() and len(i) <= 64 for i in sent)
    assert [i for i in ids if i in sent] == ["c" * 64, "toolu_01-x", "呼叫"]


def test_names_fit_the_protocol() -> None:
    calls = (ToolCall("1", ""), ToolCall("2", "x" * 80), ToolCall("3", "mcp__a-b"))
    assert [i["name"] for i in wired(answer(*calls))] == ["unnamed", "x" * 64, "mcp__a-b"]


TEXTS = st.sampled_from(["", " ", "\n", "hi", "你好"])
IDS = st.sampled_from(["c1", "c2", "", "x" * 70, "toolu 9"])
CALLED = st.builds(
    ToolCall, IDS, st.sampled_from(["f", "bad name", ""]), st.just({"a": 1}), st.sampled_from(["", "invalid"])
)
THOUGHTS = st.builds(thought, st.sampled_from("123"), TEXTS) | st.builds(Reasoning, TEXTS)
MESSAGES = st.lists(
    st.one_of(
        st.builds(lambda t, s: Message(Role.USER, (Text(t), Stamp(s))), TEXTS, TEXTS),
        st.builds(
            lambda parts, model: answer(*parts, model=model),
            st.lists(st.one_of(CALLED, THOUGHTS, st.builds(Text, TEXTS)), max_size=5),
            st.sampled_from(["m", "other"]),
        ),
        st.builds(
            lambda r: Message(Role.TOOL, tuple(r)),
            st.lists(st.builds(ToolResult, IDS, st.just("f"), TEXTS), max_size=2),
        ),
        st.builds(lambda t: Message(Role.NOTE, (Text(t),)), TEXTS),
    ),
    max_size=8,
)


def with_own_ids(messages: list[Message]) -> list[Message]:
    """As the agent stores them: no two calls bear the same id."""
    seen: set[str] = set()
    found = []
    for message in messages:
        parts = tuple(p for p in message.parts if not isinstance(p, ToolCall) or p.id not in seen)
        calls = {p.id: p for p in parts if isinstance(p, ToolCall)}
        seen |= set(calls)
        parts = tuple(p for p in parts if not isinstance(p, ToolCall) or p is calls[p.id])
        found.append(replace(message, parts=parts))
    return found


@given(MESSAGES)
def test_any_history_keeps_the_rules(messages: list[Message]) -> None:
    items = wired(*projected(with_own_ids(messages)))
    kinds = [i["type"] for i in items]
    assert set(kinds) <= {"message", "reasoning", "function_call", "function_call_output"}
    for at, found in enumerate(items):
        following = items[at + 1 :]
        if found["type"] == "reasoning":  # F037
            after = next(i for i in following if i["type"] != "reasoning")
            assert after["type"] == "function_call" or after["role"] == "assistant"
        elif found["type"] == "function_call":  # F031, F033, F034
            assert json.loads(found["arguments"]) in ({}, {"a": 1})
            results = [i for i in items if i["type"] == "function_call_output" and i["call_id"] == found["call_id"]]
            assert [i for i in following if i in results] == results
            assert len(results) == 1
        elif found["type"] == "message":  # F038, F039
            texts = [found["content"]] if found["role"] == "assistant" else [p["text"] for p in found["content"]]
            assert texts
            assert all(t.strip() for t in texts)
        else:
            assert found["output"].strip()
    assert kinds.count("function_call") == kinds.count("function_call_output")


# The answer


def decoded(*events: dict[str, Any]) -> tuple[list[Delta], Reply]:
    decoder = Decoder(Hearing("m"))
    shown: list[Delta] = [delta for event in events for delta in decoder.feed(event)]
    return shown, decoder.finish()


def message_item(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def over(*output: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": list(output), **more}}


def settled(place: int, **wire: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": wire}


def test_a_thought_is_kept_as_the_service_made_it_when_it_was_over() -> None:
    half = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "half"}
    whole = {**half, "summary": [{"type": "summary_text", "text": t} for t in ("One.", "Two.")]}
    whole["encrypted_content"] = "whole"
    shown, reply = decoded(
        {"type": "response.output_item.added", "output_index": 0, "item": half},
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "summary_index": 0, "delta": "One."},
        {"type": "response.reasoning_text.delta", "item_id": "rs_1", "content_index": 0, "delta": "In full."},
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "summary_index": 1, "delta": "Two."},
        settled(0, **whole),
        over(whole, message_item("Yes.", id="msg_1")),
    )
    assert shown == [ReasoningDelta("One."), ReasoningDelta("\n\nTwo."), TextDelta("Yes.")]
    told = Reasoning("One.\n\nTwo.", kept(id="rs_1", summary=whole["summary"], encrypted_content="whole"))
    assert reply.message.parts == (told, Text("Yes."))
    assert wired(reply.message) == [whole, said("Yes.")]


def test_what_only_the_service_can_read_is_kept_where_the_final_list_alone_has_it() -> None:
    bare = {"type": "reasoning", "summary": []}
    _, reply = decoded(settled(0, **bare), settled(1, **message_item("Yes.")), over({**bare, "encrypted_content": "s"}))
    assert reply.message.parts == (Reasoning("", kept(summary=[], encrypted_content="s")), Text("Yes."))
    assert wired(reply.message) == [{**bare, "encrypted_content": "s"}, said("Yes.")]


def test_a_thought_without_anything_leaves_nothing() -> None:
    _, reply = decoded(settled(0, type="reasoning", id="rs_1", summary=[]), over(message_item("Yes.")))
    assert reply.message.parts == (Text("Yes."),)


def test_the_service_hears_again_what_it_called_a_message() -> None:
    shown, reply = decoded(
        settled(0, **message_item("Let me look.", phase="commentary")),
        settled(1, type="function_call", call_id="c", name="f", arguments=""),
        settled(2, **message_item("Done.", phase="final_answer")),
        over(),
    )
    assert shown == [TextDelta("Let me look."), TextDelta("\n\nDone.")]
    assert reply.message.text == "Let me look.\n\nDone."
    assert wired(reply.message) == [
        said("Let me look.", phase="commentary"),
        called("c"),
        said("\n\nDone.", phase="final_answer"),
    ]


def test_the_final_list_adds_only_what_is_new() -> None:
    words = message_item("Hello", id="msg_1")
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    shown, reply = decoded(
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "delta": "Hel"},
        over({"type": "reasoning", "id": "rs", "summary": []}, words, call, {**call, "id": "fc_2", "call_id": "c2"}),
    )
    assert shown == [TextDelta("Hel"), TextDelta("lo")]
    assert reply.message.parts == (Text("Hello"), ToolCall("c1", "f"), ToolCall("c2", "f"))


def test_items_without_a_place_are_told_apart() -> None:
    def told_when_over(**wire: Any) -> dict[str, Any]:
        return {"type": "response.output_item.done", "item": wire}

    def begins(**wire: Any) -> dict[str, Any]:
        return {"type": "response.output_item.added", "item": wire}

    call = {"type": "function_call", "id": "fc", "name": "f", "arguments": ""}
    _, reply = decoded(
        told_when_over(**message_item("Hello", id="msg_1")),
        told_when_over(**message_item("Hello again", id="msg_2")),
        begins(**call, call_id="c1"),
        begins(**call, call_id="c2"),
        begins(**call, call_id="c2"),
        over(),
    )
    assert reply.message.parts == (Text("Hello"), Text("\n\nHello again"), ToolCall("c1", "f"), ToolCall("c2", "f"))


def test_thoughts_in_one_place_are_told_apart() -> None:
    first, second = ({"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"s{n}"} for n in "12")
    _, reply = decoded(settled(0, **first), settled(0, **second), settled(0, **message_item("Yes.")), over())
    assert wired(reply.message) == [first, second, said("Yes.")]


def test_a_message_that_is_announced_again_goes_on() -> None:
    begun = {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "message", "id": "m", "content": []},
    }
    delta = {"type": "response.output_text.delta", "output_index": 0, "item_id": "m", "delta": "Hi"}
    shown, reply = decoded(begun, delta, begun, delta, over())
    assert shown == [TextDelta("Hi"), TextDelta("Hi")]
    assert reply.message.parts == (Text("HiHi"),)


def test_what_was_shown_is_not_taken_back() -> None:
    shown, reply = decoded(
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "delta": "Hallo"},
        settled(0, **message_item("Hello", id="msg_1")),
        over(message_item("Hello", id="msg_1")),
    )
    assert shown == [TextDelta("Hallo")]
    assert reply.message.parts == (Text("Hallo"),)


def test_parts_that_are_told_only_when_they_are_over() -> None:
    shown, reply = decoded(
        {"type": "response.output_text.done", "item_id": "msg_0", "output_index": 0, "text": "Well,"},
        {"type": "response.refusal.done", "item_id": "msg_1", "output_index": 1, "refusal": "no."},
        {"type": "response.function_call_arguments.done", "item_id": "fc", "output_index": 2, "arguments": '{"a":1}'},
        over(),
    )
    assert shown == [TextDelta("Well,"), TextDelta("\n\nno.")]
    assert reply.message.parts == (Text("Well,"), Text("\n\nno."), ToolCall("call_1", "unnamed", {"a": 1}))
    assert reply.finish is Finish.FILTER


def test_an_answer_in_the_background_is_no_answer_yet() -> None:
    with pytest.raises(ProviderError, match="stopped in the middle"):
        decoded({"object": "response", "status": "queued", "output": []})


def test_a_failure_without_a_word() -> None:
    with pytest.raises(ProviderError, match="reports: an error without a word"):
        decoded({"type": "response.failed", "response": None})


def test_usage_of_a_service_that_counts_writes() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 5},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    _, reply = decoded(over(usage=usage))
    assert reply.usage == Usage(10, 7, cached=3, reasoning=2, requests=1, cache_write=5)


CALLS = st.lists(
    st.tuples(st.sampled_from(["f", "g"]), st.dictionaries(st.text(max_size=4), st.text(max_size=6), max_size=3)),
    min_size=1,
    max_size=4,
)


@given(CALLS, st.integers(1, 5), st.randoms(use_true_random=False), st.sampled_from(["both", "id", "place"]))
def test_calls_survive_any_cut_and_any_interleaving(
    calls: list[tuple[str, dict[str, str]]], size: int, chance: random.Random, named_by: str
) -> None:  # F002
    def routed(n: int, item_id: str) -> dict[str, Any]:
        return ({"output_index": n} if named_by != "id" else {}) | ({item_id: f"fc_{n}"} if named_by != "place" else {})

    decoder = Decoder(Hearing("m"))
    pieces: list[list[dict[str, Any]]] = []
    for n, (name, arguments) in enumerate(calls):
        found = {"type": "function_call", "call_id": f"c{n}", "name": name, "arguments": "", **routed(n, "id")}
        decoder.feed({"type": "response.output_item.added", "item": found, **routed(n, "-")})
        text = json.dumps(arguments)
        cuts = [text[i : i + size] for i in range(0, len(text), size)]
        pieces.append(
            [{"type": "response.function_call_arguments.delta", "delta": p, **routed(n, "item_id")} for p in cuts]
        )
    while pieces := [queue for queue in pieces if queue]:
        decoder.feed(chance.choice(pieces).pop(0))
    decoder.feed(over())
    expected = tuple(ToolCall(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(calls))
    assert decoder.finish().message.calls == expected


_WORDS = """
    type response output item id call_id name arguments delta item_id output_index content_index summary_index text
    refusal content summary encrypted_content phase status usage incomplete_details reason error input_tokens
"""
_KINDS = """
    response.output_item.added response.output_item.done response.output_text.delta response.refusal.done
    response.reasoning_summary_text.delta response.reasoning_text.delta response.function_call_arguments.delta
    response.function_call_arguments.done response.completed response.incomplete response.failed message reasoning
    function_call output_text completed incomplete
"""
WORDS, KINDS = _WORDS.split(), _KINDS.split()
JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3) | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=20,
)
EVENTS = JUNK | st.builds(
    lambda kind, rest, wire: {**rest, "type": kind, "item": wire, "response": {**rest, "output": [wire]}},
    st.sampled_from(KINDS[:11]),
    st.dictionaries(st.sampled_from(WORDS), JUNK, max_size=4),
    st.builds(
        lambda kind, rest: {**rest, "type": kind},
        st.sampled_from(KINDS[11:14]),
        st.dictionaries(st.sampled_from(WORDS), JUNK),
    ),
)


@given(st.lists(EVENTS, max_size=5))
def test_any_json_is_an_answer_or_a_provider_error(events: list[Any]) -> None:
    decoder = Decoder(Hearing("m"))
    try:
        shown = [delta for event in events for delta in decoder.feed(event)]
        decoder.done()
        reply = decoder.finish()
    except ProviderError:
        return
    as_bytes(to_wire(Request("m", "", (reply.message,))))
    if decoder.substance == 0:
        assert shown == []


def test_ten_megabytes_of_arguments_are_not_kept() -> None:
    decoder = Decoder(Hearing("m", limit=1000))
    for _ in range(100):
        decoder.feed({"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "x" * 100_000})
    decoder.feed(over())
    (call,) = decoder.finish().message.calls
    assert (call.arguments, call.flaw, call.raw) == ({}, "too_large", "x" * 200)


# What refusals teach


def taught(words: str, terms: Terms, *thoughts: str, bound: int = 10) -> Terms | None:
    memory = Memory(Notes(Forgetful(), "openai_responses", "https://h"), OpenAIResponsesConfig().terms)
    had = answer(*(Reasoning("", f"openai_responses:{t}") for t in thoughts))
    lesson = memory.taught(words, Lesson(terms, terms), Request("m", "", (had,), max_output=bound))
    assert lesson is None or lesson.now == lesson.later
    return lesson.now if lesson else None


@pytest.mark.parametrize(
    ("words", "thoughts", "learned"),
    [
        ("Encrypted content is not supported with this model.", (), Terms(include=False)),
        ("Encrypted content is not supported with this model.", ("s",), Terms(include=False)),
        ("Unknown parameter: 'include'.", (), Terms(include=False)),
        ("body.include.0: Input should be 'file_search_call.results'", (), Terms(include=False)),
        ("The encrypted content for item rs_1 could not be verified.", ("s",), Terms(refused=frozenset("s"))),
        ("The encrypted content gAAA could not be verified.", (), None),
        (
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            ("s",),
            Terms(refused=frozenset("s")),
        ),
        ("Unknown parameter: 'input[1].phase'.", ("s",), Terms(refused=frozenset("s"))),
        (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 10 instead.",
            ("s",),
            Terms(least=16),
        ),
        ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", ("s",), None),
        ("Messages must not be included twice.", ("s",), None),
    ],
)
def test_what_a_refusal_teaches(words: str, thoughts: tuple[str, ...], learned: Terms | None) -> None:
    assert taught(words, Terms(), *thoughts) == learned


def test_nothing_is_learned_twice() -> None:
    known = Terms(include=False, least=16, refused=frozenset("s"))
    words = "max_output_tokens >= 16; include: the encrypted content for item rs_1 could not be verified."
    assert taught(words, known, "s") is None


# The provider


def test_the_name_and_the_configuration() -> None:
    assert (openai_responses.kind, openai_responses.name) == (Kind.PROVIDER, "openai_responses")
    assert openai_responses.config is OpenAIResponsesConfig
    config = OpenAIResponsesConfig()
    assert (config.base_url, config.effort, config.key_header) == ("https://api.openai.com/v1", "", "bearer")


@pytest.mark.parametrize("effort", [*get_args(Effort), "extreme"])
def test_the_effort_is_one_of_a_few(tmp_path: Path, effort: str) -> None:
    table = {"name": "openai", "effort": effort, "api_key": "k", "model": "o"}
    services = Services(Settings(provider=table), Parts(tmp_path))
    if effort == "extreme":
        with pytest.raises(ConfigError, match="effort"):
            services.provider("openai")
        return
    provider = services.provider("openai")
    assert isinstance(provider, Speech)
    assert provider.wire(HI).get("reasoning") == ({"effort": effort} if effort else None)


Make = Callable[..., Speech[Terms]]


@pytest.fixture
async def provider(tmp_path: Path) -> AsyncIterator[Make]:
    async with making(openai_responses, tmp_path) as make:
        yield make


async def test_a_turn(provider: Make) -> None:
    async with ChatServer([Answer(sse=HELLO)]) as server:
        model = provider(base_url=server.url, api_key=" sk-hunter2\n", model="default", body={"temperature": 0, "x": 1})
        *shown, reply = await told(model, replace(HI, model=""))
        assert not model.local
        (request,) = server.requests
    assert shown == [TextDelta("Hel"), TextDelta("lo")]
    assert isinstance(reply, Reply)
    assert reply == Reply(
        Message(Role.ASSISTANT, (Text("Hello"),), reply.message.at, "default"), Usage(10, 5, requests=1), Finish.STOP
    )
    assert (request.path, request.headers["Authorization"]) == ("/v1/responses", "Bearer sk-hunter2")
    assert request.raw == as_bytes({"temperature": 0, "x": 1, **to_wire(replace(HI, model="default"))})
    assert list(request.body)[-1] == "input"


async def test_a_thought_goes_back_in_the_next_round(provider: Make) -> None:
    recorded = (RECORDINGS / "openai_responses" / "told_when_over.sse").read_text("utf-8")
    async with ChatServer([Answer(sse=recorded), Answer(sse=HELLO, times=2)]) as server:
        model = provider(base_url=server.url)
        reply = (await told(model))[-1]
        assert isinstance(reply, Reply)
        result = Message(Role.TOOL, (ToolResult("c0", "f", "done"),))
        after = replace(HI, messages=(*HI.messages, reply.message, result))
        await told(model, after)
        await told(model, replace(after, model="another"))
        _, second, third = (r.body["input"] for r in server.requests)
    kept_item = {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [{"type": "summary_text", "text": "Thinking"}],
        "encrypted_content": "gAAAAAB-thought",
    }
    rest = [said("Hello"), called("c0", "f", '{"a":1}'), came("c0", "done")]
    assert second == [asked("hi"), kept_item, *rest]
    assert third == [asked("hi"), *rest]


def refusal(message: str, status: int = 400) -> Answer:
    return Answer(status=status, body=json.dumps({"error": {"message": message, "type": "invalid_request_error"}}))


NO_INCLUDE = refusal("Encrypted content is not supported with this model.")


async def test_what_a_model_refuses_is_left_out_from_then_on(provider: Make) -> None:
    findings = Forgetful()
    async with ChatServer([NO_INCLUDE, Answer(sse=HELLO, times=4)]) as server:
        first = provider(base_url=server.url, findings=findings)
        await told(first)
        await told(first)
        await told(first, replace(HI, model="another"))
        await told(provider(base_url=server.url, findings=findings))
        sent = [(r.body["model"], "include" in r.body) for r in server.requests]
    assert sent == [("m", True), ("m", False), ("m", False), ("another", True), ("m", False)]


async def test_what_did_not_help_is_not_remembered(provider: Make) -> None:
    async with ChatServer([NO_INCLUDE, refusal("Something else is wrong."), Answer(sse=HELLO)]) as server:
        model = provider(base_url=server.url)
        with pytest.raises(BadRequest, match="Something else"):
            await told(model)
        await told(model)
        assert ["include" in r.body for r in server.requests] == [True, False, True]


async def test_thoughts_that_are_not_taken_back_stay_away(provider: Make) -> None:
    history = (*HI.messages, answer(thought("1"), Text("a")), *HI.messages)
    later = (*history, answer(thought("2"), Text("b")), *HI.messages)
    unreadable = refusal("The encrypted content for item rs_1 could not be verified.")
    async with ChatServer([unreadable, Answer(sse=HELLO, times=2)]) as server:
        model = provider(base_url=server.url)
        await told(model, replace(HI, messages=history))
        await told(model, replace(HI, messages=later))
        inputs = [r.body["input"] for r in server.requests]
    hi, own = asked("hi"), [said("a"), asked("hi")]
    assert inputs == [[hi, item("1"), *own], [hi, *own], [hi, *own, item("2"), said("b"), hi]]


async def test_a_refusal_goes_to_no_other_address(provider: Make) -> None:
    async with ChatServer([refusal("No such field."), refusal("Not found", 404)]) as server:
        model = provider(base_url=server.url)
        with pytest.raises(BadRequest):
            await told(model)
        with pytest.raises(NoEndpoint):
            await told(model)
        assert [r.path for r in server.requests] == ["/v1/responses", "/v1/responses"]


async def test_an_address_without_a_version_is_found(provider: Make) -> None:
    async with ChatServer([refusal("nothing here", 404), Answer(sse=HELLO, times=2)]) as server:
        model = provider(base_url=server.url.removesuffix("v1") + "openai")
        await told(model)
        await told(model)
        paths = [r.path for r in server.requests]
    assert paths == ["/openai/responses", "/openai/v1/responses", "/openai/v1/responses"]


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        (401, {"message": "Incorrect API key provided: quite-secret-1", "code": "invalid_api_key"}, AuthFailed),
        (
            400,
            {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"},
            ContextOverflow,
        ),
        (
            400,
            {"message": "Your prompt was flagged as violating our usage policy.", "code": "invalid_prompt"},
            ContentFiltered,
        ),
    ],
)
async def test_a_refusal_has_a_kind(provider: Make, status: int, error: dict[str, Any], kind: type[Exception]) -> None:
    failed = json.dumps({"type": "response.failed", "response": {"status": "failed", "error": error}})
    answers = [Answer(status=status, body=json.dumps({"error": error})), Answer(sse=f"data: {failed}\n\n")]
    async with ChatServer(answers) as server:
        model = provider(base_url=server.url, api_key="quite-secret-1")
        for _ in answers:
            with pytest.raises(ProviderError) as caught:
                await told(model)
            assert type(caught.value) is kind
            assert "quite-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "ping", [": ping", 'data: {"type":"keepalive"}', 'data: {"type":"response.in_progress","response":{}}']
)
async def test_keep_alives_alone_end_the_wait(provider: Make, ping: str) -> None:  # F012
    async with ChatServer([Answer(keepalives=1000, keepalive=ping, drip=0.005)]) as server:
        with pytest.raises(Unavailable, match="said nothing for"):
            await told(provider(base_url=server.url, limits=Limits(read_seconds=0.05)))


async def test_an_interrupted_answer_leaves_the_connection_to_the_next(provider: Make) -> None:
    first = HELLO.index("response.content_part.done")  # both words are before it
    async with ChatServer([Answer(sse=HELLO, pieces=(first, 10_000), drip=30), Answer(sse=HELLO)]) as server:
        model = provider(base_url=server.url)
        stream = model.stream(HI)
        async with aclosing(stream):
            assert await anext(stream) == TextDelta("Hel")
        assert (await told(model))[:-1] == [TextDelta("Hel"), TextDelta("lo")]
        assert len(server.requests) == 2


async def test_a_task_that_is_cancelled_stops_at_once(provider: Make) -> None:
    async with ChatServer([Answer(hang=True)]) as server:
        asking = asyncio.create_task(told(provider(base_url=server.url)))
        await server.arrivals.get()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_an_answer_that_is_no_response(provider: Make) -> None:
    chat = '{"object": "chat.completion", "choices": []}'
    async with ChatServer([Answer(body=chat), Answer(body="<html>")]) as server:
        model = provider(base_url=server.url)
        for words in ("no response", "web page"):
            with pytest.raises(BadReply, match=words):
                await told(model)
