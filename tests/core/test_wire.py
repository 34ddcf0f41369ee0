"""What every wire protocol needs of our values, and what every decoder does."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.answers import Pieces, index_in, read_call, text_in
from palmclaw.core.messages import Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.core.wire import as_bytes, compact, filled, signatures, wire_id, worded

FITS = re.compile(r"[a-z0-9]{1,9}")
ANY = st.text(st.characters(), max_size=20)


def test_an_id_that_fits_stays() -> None:
    assert wire_id("abc", FITS) == "abc"
    assert wire_id("a.b", FITS, "{:.9}") == wire_id("a.b", FITS)[5:14]
    assert re.fullmatch("call_[0-9a-f]{32}", wire_id("", FITS))


@given(st.lists(ANY | st.just("call_\ud83d") | st.just("call_\ud83e"), unique=True, max_size=5))
def test_ids_stay_apart_and_can_be_sent(ids: list[str]) -> None:
    sent = [wire_id(i, FITS) for i in ids]
    assert len(set(sent)) == len(ids)
    assert sent == [wire_id(i, FITS) for i in ids]
    assert as_bytes(sent).decode() == compact(sent)


def test_half_characters_become_question_marks_on_their_way() -> None:
    assert as_bytes({"a": ["上", "\ud83d"]}) == '{"a":["上","?"]}'.encode()
    assert compact({"b": 1, "a": ["上"]}) == '{"b":1,"a":["上"]}'


def test_what_a_person_says_ends_with_the_stamp() -> None:
    cat = Media("p", "image/png", "cat.png")
    parts = (Stamp("10:00"), Text("look "), cat, Media("d", "x/y"), Text("here"), Text(" "))
    message = Message(Role.USER, parts)
    assert worded(message, (cat,)) == "look here \n\n[attached: d (x/y)]\n\n10:00"
    assert worded(message, ()) == "look here \n\n[attached: cat.png (image/png)]\n\n[attached: d (x/y)]\n\n10:00"
    assert worded(Message(Role.USER, (Text(" \n"),)), ()) == ""


def test_a_result_is_never_empty() -> None:
    assert [filled(ToolResult("c", "f", text)) for text in ("2 m", " \n", "")] == ["2 m", "(nothing)", "(nothing)"]


def test_only_signatures_of_this_model_and_protocol_go_back() -> None:
    own = Message(Role.ASSISTANT, (Reasoning("", "a:1"), Reasoning("", "b:2"), Reasoning("hm")), model="m")
    foreign = Message(Role.ASSISTANT, (Reasoning("", "a:3"),), model="n")
    asked = Message(Role.USER, (Reasoning("", "a:4"),), model="m")
    assert signatures(Request("m", "", (own, foreign, asked)), "a") == {"1"}


def test_little_more_is_kept_than_shows_that_it_is_too_long() -> None:
    pieces = Pieces()
    assert pieces.text == ""
    for piece in ("", "x" * 100, *["y" * 100_000] * 100):
        pieces.add(piece, 1_000)
    assert pieces.text == "x" * 100 + "y" * 1_001


@pytest.mark.parametrize(
    ("text", "cut", "call"),
    [
        ('{"a":1}', False, ToolCall("c", "f", {"a": 1}, signature="s")),
        ('{"a":1}', True, ToolCall("c", "f", {"a": 1}, signature="s")),
        ("", False, ToolCall("c", "f", signature="s")),
        ("", True, ToolCall("c", "f", {}, "truncated", signature="s")),
        ('{"a":1', True, ToolCall("c", "f", {"a": 1}, "truncated", '{"a":1', signature="s")),
        ("words", True, ToolCall("c", "f", {}, "invalid", "words", signature="s")),
    ],
)
def test_a_call_and_what_is_wrong_with_it(text: str, cut: bool, call: ToolCall) -> None:
    assert read_call(ToolCall("c", "f", signature="s"), text, 1_000, cut=cut) == call


def test_a_call_without_a_name_has_one() -> None:
    assert read_call(ToolCall("c", ""), "{}", 1_000) == ToolCall("c", "unnamed")


@pytest.mark.parametrize(
    ("box", "text", "index"),
    [({"a": "x"}, "x", None), ({"a": 3}, "", 3), ({"a": True}, "", None), ({}, "", None), ([], "", None)],
)
def test_values_of_the_wire(box: object, text: str, index: int | None) -> None:
    assert (text_in(box, "a"), index_in(box, "a")) == (text, index)
