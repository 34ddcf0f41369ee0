"""The projection: whatever the log holds, what a model is sent is whole."""

import json

from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import Fault
from palmclaw.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    Role,
    Stamp,
    Text,
    ToolCall,
    ToolResult,
    user_message,
)
from palmclaw.core.results import failed
from palmclaw.core.session import UNKNOWN, open_calls, projected


def says(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),))


def asks(*ids: str) -> Message:
    return Message(Role.ASSISTANT, tuple(ToolCall(i, "look") for i in ids))


def tells(call_id: str, content: str = "{}") -> Message:
    return Message(Role.TOOL, (ToolResult(call_id, "look", content),))


def ids(log: tuple[Message, ...]) -> list[str]:
    return [i for m in log for i in (*(c.id for c in m.calls), *(r.call_id for r in m.results))]


def test_a_whole_log_is_sent_as_it_is() -> None:
    log = (user_message("hi"), asks("a", "b"), tells("a"), tells("b"), says("done"))
    assert projected(log) == log


def test_orphans_doubles_and_strays_are_dropped() -> None:
    log = (
        tells("0"),
        user_message("hi"),
        asks("a"),
        tells("a", "1"),
        tells("a", "2"),
        tells("z"),
        tells(""),
        says("x"),
    )
    assert projected(log) == (log[1], log[2], log[3], log[7])


def test_a_call_without_a_result_is_closed_as_unknown() -> None:
    log = (user_message("hi"), asks("a"), user_message("still there?"))
    assert projected(log) == (log[0], log[1], failed(log[1].calls[0], UNKNOWN, log[1].at), log[2])


def test_a_late_result_goes_back_behind_its_call() -> None:
    log = (user_message("hi"), asks("a"), user_message("and?"), tells("a"))
    assert projected(log) == (log[0], log[1], log[3], log[2])


def test_the_same_id_in_two_rounds_is_two_calls() -> None:
    log = (user_message("hi"), asks("a"), tells("a", "1"), asks("a"), tells("a", "2"))
    assert projected(log) == log


def test_several_results_in_one_message_are_separated() -> None:
    both = Message(Role.TOOL, (*tells("a").parts, *tells("b").parts))
    log = (user_message("hi"), asks("b", "a"), both)
    assert ids(projected(log)) == ["b", "a", "b", "a"]


def test_notes_and_empty_messages_are_left_out() -> None:
    log = (
        Message(Role.NOTE, (Text("stopped"),)),
        user_message(" \n"),
        says(""),
        Message(Role.ASSISTANT, ()),
        Message(Role.ASSISTANT, (Reasoning("hm"),)),
        Message(Role.USER, (Stamp("now"),)),
        user_message("hi"),
    )
    assert projected(log) == (log[-1],)


def test_blank_texts_beside_something_else_are_dropped() -> None:
    picture = Message(Role.USER, (Text(""), Media("m", "image/png")))
    calling = Message(Role.ASSISTANT, (Text("\n"), ToolCall("a", "look")))
    assert [m.parts for m in projected((picture, calling))][:2] == [(picture.parts[1],), (calling.parts[1],)]


def test_a_closing_result_is_json_the_model_can_read() -> None:
    content = failed(ToolCall("a", "look"), Fault("x", 'a "quoted" word', retryable=True)).results[0].content
    assert json.loads(content) == {"error": {"code": "x", "message": 'a "quoted" word', "retryable": True}}


parts = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "hi"])),
    st.builds(Stamp, st.just("now")),
    st.builds(Reasoning, st.just("hm")),
    st.builds(Media, st.just("m"), st.just("image/png")),
    st.builds(ToolCall, st.sampled_from("abc"), st.just("look")),
    st.builds(ToolResult, st.sampled_from("abcd"), st.just("look"), st.just("{}")),
)
logs = st.lists(st.builds(Message, st.sampled_from(Role), st.lists(parts, max_size=4).map(tuple)), max_size=12)


def _sound(part: Part, role: Role) -> bool:
    if isinstance(part, ToolResult):
        return role is Role.TOOL
    return role is not Role.TOOL and not (isinstance(part, Text) and not part.text.strip())


@given(logs)
def test_any_log_becomes_a_valid_request(log: list[Message]) -> None:
    sent = projected(log)
    waiting: list[str] = []
    for message in sent:
        assert message.role is not Role.NOTE
        assert message.parts
        assert all(_sound(p, message.role) for p in message.parts)
        if message.role is Role.TOOL:
            assert [message.results[0].call_id] == waiting[:1]
            waiting = waiting[1:]
        else:
            assert waiting == []
            waiting = [c.id for c in message.calls]
    assert waiting == []


@given(logs)
def test_projecting_twice_changes_nothing_more(log: list[Message]) -> None:
    unique = [m for m in log if len({c.id for c in m.calls}) == len(m.calls)]
    once = projected(unique)
    assert projected(once) == once


def test_open_calls_are_those_without_a_result() -> None:
    assert [c.id for c in open_calls((asks("a", "b"), tells("a")))] == ["b"]
