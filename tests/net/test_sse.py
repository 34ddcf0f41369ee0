"""Events come out the same wherever the bytes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import BadReply
from palmclaw.net.sse import ServerEvent, SseDecoder


def decoded(*chunks: bytes) -> list[tuple[str, str]]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return [(event.event, event.data) for event in events + decoder.end()]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", "a"), ("", "b")]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [("", "a"), ("", "b")]),
        (b"data: a\r\rdata: b\r\r", [("", "a"), ("", "b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", "a")]),
        (b": ping\n\n: ping\n\ndata: a\n\n", [("", "a")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [("error", "a"), ("", "b")]),
        (b"data: one\ndata: two\ndata:\n\n", [("", "one\ntwo\n")]),
        (b"data:a\n\ndata:  b\n\n", [("", "a"), ("", " b")]),
        (b"id: 7\nretry: 10\nunknown\ndata: a\n\n", [("", "a")]),
        (b"data\n\n", [("", "")]),
        (b"event: lonely\n\n", []),
        (b"\n\n\n", []),
        (b"", []),
        ("data: 你好\n\n".encode(), [("", "你好")]),
        (b"data: \xff\n\n", [("", "\ufffd")]),
        (b'data: {"a": 1}', [("", '{"a": 1}')]),
        (b'data: {"a": 1}\n', [("", '{"a": 1}')]),
        (b"data: [DONE]", [("", "[DONE]")]),
        (b'data: {"a": ', []),
        (b"data: " + b"[" * 100_000, []),
        (b"data: {}\n\n: half a comm", [("", "{}")]),
    ],
)
def test_events(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert decoded(stream) == events
    assert decoded(*(stream[i : i + 1] for i in range(len(stream)))) == events


def test_a_line_end_may_be_cut_in_two() -> None:
    assert decoded(b"data: a\r", b"\n", b"\r\n", b"data: b\r", b"\r") == [("", "a"), ("", "b")]
    assert decoded(b"data: a\r", b"\n\n") == [("", "a")]


def test_an_event_comes_as_soon_as_its_blank_line() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [ServerEvent("", "a")]
    assert decoder.feed(b"data: b\r\n\r") == [ServerEvent("", "b")]


def test_an_endless_event_is_refused() -> None:
    decoder = SseDecoder(limit=100)
    for _ in range(5):
        decoder.feed(b"data: " + b"x" * 80 + b"\n\n")
    decoder.feed(b"data: " + b"x" * 80)
    with pytest.raises(BadReply, match="more than 100 characters"):
        decoder.feed(b"x" * 80)


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))), st.integers(1, 9))
def test_what_was_sent_arrives(texts: list[str], size: int) -> None:
    stream = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert decoded(*(stream[i : i + size] for i in range(0, len(stream), size))) == [("", text) for text in texts]


@given(st.binary(), st.integers(0, 50))
def test_any_bytes_can_be_cut_anywhere(stream: bytes, at: int) -> None:
    assert decoded(stream[:at], stream[at:]) == decoded(stream)
