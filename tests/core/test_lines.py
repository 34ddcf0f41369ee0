"""Long texts in parts, long lists in pages, and changes that keep line ends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import ToolError
from palmclaw.core.lines import Page, Part, appended, edited, hits, part, size

TEXTS = st.text(st.sampled_from('ab"\\\n\r\t\x00é字😀\u0301'), max_size=300)


@given(text=TEXTS, room=st.integers(6, 60), count=st.integers(1, 10))
def test_reading_on_gives_the_whole_text_and_every_part_fits(text: str, room: int, count: int) -> None:
    lines = text.splitlines(keepends=True)
    read, line, char, rounds = "", 1, 0, 0
    while line and rounds <= len(text) + 1:
        found = part(lines, line, char, count, room)
        assert size(found.text) - 2 <= room
        read, line, char, rounds = read + found.text, found.line, found.char, rounds + 1
    assert read == text


@pytest.mark.parametrize(
    ("start", "char", "count", "room", "expected"),
    [
        (1, 0, 10, 100, Part("one\ntwo\nthree\n")),
        (1, 0, 2, 100, Part("one\ntwo\n", 3)),
        (1, 0, 10, 12, Part("one\ntwo\n", 3)),
        (1, 0, 10, 9, Part("one\n", 2)),
        (1, 0, 10, 2, Part("on", 1, 2)),
        (1, 2, 10, 3, Part("e\n", 2)),
        (3, 4, 10, 100, Part("e\n")),
        (2, 99, 1, 100, Part("", 3)),
        (9, 0, 10, 100, Part("")),
    ],
)
def test_parts(start: int, char: int, count: int, room: int, expected: Part) -> None:
    assert part(["one\n", "two\n", "three\n"], start, char, count, room) == expected


def test_a_cut_is_never_before_an_accent_and_always_goes_on() -> None:
    assert part(["ae\u0301x"], 1, 0, 1, 2) == Part("a", 1, 1)
    assert part(["\u0301" * 9], 1, 0, 1, 3) == Part("\u0301", 1, 1)
    assert part(["abc"], 1, 0, 1, 0) == Part("a", 1, 1)


@given(items=st.lists(st.text(max_size=9)), limit=st.integers(1, 9), room=st.integers(0, 60))
def test_a_page_holds_the_first_that_fit(items: list[str], limit: int, room: int) -> None:
    page = Page(limit, room)
    taken = [page.add(item) for item in items]
    count = taken.count(True)
    assert taken == [True] * count + [False] * (len(items) - count)
    assert page.items == items[:count]
    assert size(page.items) <= max(room + 1, 2)
    if count < len(items):
        assert count == limit or size(items[: count + 1]) - 1 > room


def test_the_size_is_that_of_the_json() -> None:
    value: Any = {"a": ['"', "é\n", 1, None, True]}
    assert size(value) == len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def test_lines_that_hold_a_text() -> None:
    assert list(hits("Tent pole\nno\nold TENT", "tENT", 6)) == [
        {"line": 1, "text": "Tent p"},
        {"line": 3, "text": "old TE"},
    ]


@pytest.mark.parametrize(
    ("text", "added", "expected"),
    [
        ("a\n", "b\n", "a\nb\n"),
        ("a", "b", "a\nb"),
        ("a\r\nb", "c\nd", "a\r\nb\r\nc\r\nd"),
        ("a\r\n", "c\r\nd", "a\r\nc\r\nd"),
        ("a", "\nb", "a\nb"),
        ("a", "", "a"),
        ("", "b", "b"),
    ],
)
def test_what_is_added_begins_on_a_line_of_its_own(text: str, added: str, expected: str) -> None:
    assert appended(text, added) == expected


def test_an_edit_counts_and_keeps_line_ends() -> None:
    assert edited("a\r\nb\r\nc", "a\nb", "x\r\ny", everywhere=False) == ("x\r\ny\r\nc", 1)
    assert edited("a a", "a", "b", everywhere=True) == ("b b", 2)
    for old, new, code in (("a", "a", "no_change"), ("c", "a", "no_match"), ("a", "b", "ambiguous")):
        with pytest.raises(ToolError) as caught:
            edited("a a", old, new, everywhere=False)
        assert caught.value.code == code
