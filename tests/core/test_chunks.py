"""Cutting texts for channels: by their limits in their units, at the best break, fences mended, nothing lost."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from palmclaw.core.channels import Unit
from palmclaw.core.chunks import Blocks, chunks, measure

FAMILY, WAVE, FLAG = "👨‍👩‍👧", "👋🏽", "🇨🇭"


def test_what_fits_is_one_piece() -> None:
    assert chunks("one\n\ntwo\n", 100) == ("one\n\ntwo",)
    assert chunks("", 100) == ()
    assert chunks(" \n \n", 2) == ()


@pytest.mark.parametrize(
    ("text", "limit", "pieces"),
    [
        ("one two.\n\nthree\nfour five", 22, ("one two.\n\nthree", "four five")),
        ("one two three.\n\nfour five six", 20, ("one two three.", "four five six")),
        ("one\ntwo\n  three four", 12, ("one\ntwo", "  three four")),
        ("One two. Three four five", 16, ("One two.", "Three four five")),
        ('He said "go." Then he went', 22, ('He said "go."', "Then he went")),
        ("第一句话。第二句话很长很长", 8, ("第一句话。", "第二句话很长很长")),
        ("他说：“好吧。”然后就走了", 10, ("他说：“好吧。”", "然后就走了")),
        ("version 3.14 is out", 11, ("version", "3.14 is out")),
        ("one two three", 9, ("one two", "three")),
        ("a bcdefghij", 10, ("a", "bcdefghij")),
        ("abcdefghij", 4, ("abcd", "efgh", "ij")),
        ("see\xa0you there", 9, ("see\xa0you", "there")),
        ("one   \n\n\n  two", 8, ("one", "  two")),
        ("abc" + " " * 20 + "def", 4, ("abc", "def")),
    ],
)
def test_cut_at_the_best_break_that_fits(text: str, limit: int, pieces: tuple[str, ...]) -> None:
    assert chunks(text, limit) == pieces


def test_f103_each_piece_is_within_the_limit_as_the_service_counts() -> None:
    assert [len(p) for p in chunks("a" * 4_097, 4_096)] == [4_096, 1]
    assert [len(p) for p in chunks("a" * 9_000, 4_096)] == [4_096, 4_096, 808]
    assert [len(p) for p in chunks("😀" * 3_000, 4_096, Unit.UTF16)] == [2_048, 952]


def test_f108_bytes_are_counted_where_the_service_counts_bytes() -> None:
    pieces = chunks("字" * 7_000, 20_480, Unit.BYTES)
    assert [measure(p, Unit.BYTES) for p in pieces] == [20_478, 522]
    assert "".join(pieces) == "字" * 7_000


@pytest.mark.parametrize(
    "whole", [FAMILY, WAVE, FLAG, "e\u0301", "각", "\u1112\u1161\u11ab", "क्षि", "❤\ufe0f", "1\ufe0f\u20e3"]
)
@pytest.mark.parametrize("unit", Unit)
def test_f125_never_inside_a_character_as_a_reader_sees_it(whole: str, unit: Unit) -> None:
    for limit in range(measure(whole, unit), 3 * measure(whole, unit)):
        pieces = chunks(f"x{whole * 5}y", limit, unit)
        assert all(p.removeprefix("x").removesuffix("y").replace(whole, "") == "" for p in pieces)
        assert "".join(pieces) == f"x{whole * 5}y"


def test_f125_a_text_of_two_scripts_at_four_bytes() -> None:
    assert chunks("他的Note本", 4, Unit.BYTES) == ("他", "的N", "ote", "本")


def test_an_odd_flag_letter_before_flags() -> None:
    assert chunks(f"a{FLAG}{FLAG}", 4) == (f"a{FLAG}", FLAG)
    assert chunks(FLAG * 3, 5) == (FLAG * 2, FLAG)


def test_what_is_larger_than_the_limit_is_cut_all_the_same() -> None:
    assert chunks("e" + "\u0301" * 9, 4) == ("e\u0301\u0301\u0301", "\u0301" * 4, "\u0301" * 2)
    assert chunks("字字", 1, Unit.BYTES) == ("字", "字")
    assert chunks("\ud83d\ude00\ud83d\ude00", 2) == ("\ud83d\ude00", "\ud83d\ude00")


CODE = "  ```py t=x\n    a = 1\n\n    b = 2\n  c = 3\n  ```\nafter it"


def test_a_fence_is_closed_and_opened_again_with_its_line() -> None:
    assert chunks(CODE, 38) == (
        "  ```py t=x\n    a = 1\n\n    b = 2\n  ```",
        "  ```py t=x\n  c = 3\n  ```\nafter it",
    )


def test_a_fence_that_ends_at_the_cut_is_not_opened_again() -> None:
    assert chunks("```\n" + "a" * 10 + "\n```\nmore of it", 18) == ("```\n" + "a" * 10 + "\n```", "more of it")
    assert chunks("~~~\n" + "a" * 10 + "\n~~~~~~~~\nmore of it", 20) == ("~~~\n" + "a" * 10 + "\n~~~", "more of it")
    assert chunks("```\n" + "a" * 10 + "\n```", 17) == ("```\n" + "a" * 9 + "\n```", "```\na\n```")


def test_text_outside_is_cut_rather_than_code() -> None:
    assert chunks("one two three four\n```\na b c d e f\n```", 30) == ("one two three four", "```\na b c d e f\n```")


def test_a_long_line_of_code_is_cut_within() -> None:
    assert chunks("```\n" + "x" * 20 + "\n```", 16) == ("```\nxxxxxxxx\n```",) * 2 + ("```\nxxxx\n```",)


def test_code_of_which_nothing_fits_goes_to_the_next_piece() -> None:
    assert chunks("word" * 3 + "\n````js\n" + "x" * 11 + "\n````", 24) == ("word" * 3, "````js\n" + "x" * 11 + "\n````")


def test_a_block_is_too_short_rather_than_cut_before_the_first_letter_of_code() -> None:
    text = "word" * 3 + "\n````js\n" + "x" * 11
    blocks = Blocks(20, 24)
    assert (blocks.feed(text), blocks.rest()) == (("word" * 3,), ("````js\n" + "x" * 11,))


def test_fences_that_would_fill_the_pieces_are_text_like_any_other() -> None:
    assert chunks("```a-very-long-word\nab cd\n```", 22) == ("```a-very-long-word", "ab cd\n```")


def test_inline_ticks_open_nothing() -> None:
    assert chunks("```a``` is code and so on and on", 20) == ("```a``` is code and", "so on and on")


def test_a_fence_that_nobody_closed_stays_open() -> None:
    assert chunks("```\nabc", 100) == ("```\nabc",)


texts = st.lists(
    st.sampled_from(
        [
            *"ab字。.! \n",
            "\n\n",
            "word ",
            "long sentence here. ",
            "\n```py\n",
            "\n```\n",
            "\n~~~\n",
            "  ",
            FAMILY,
            WAVE,
            FLAG,
            "é",
        ]
    ),
    max_size=60,
).map("".join)
units = st.sampled_from(Unit)


def bare(pieces: tuple[str, ...] | list[str]) -> str:
    """All that is neither blank nor what fences are made of."""
    return re.sub(r"[\s`~py]", "", "".join(pieces))


def ends_in_code(piece: str) -> bool:
    """Whether a fence of the piece is not closed, by the rules of Markdown."""
    fence = ""
    for line in piece.split("\n"):
        bare_line = line.strip(" ")
        if fence:
            fence = "" if bare_line.startswith(fence) and not bare_line.strip(fence[0]) else fence
        elif bare_line.startswith(("```", "~~~")):
            fence = bare_line[:3]
    return bool(fence)


@given(texts, st.integers(40, 90), units)
def test_nothing_is_lost_and_nothing_too_long(text: str, limit: int, unit: Unit) -> None:
    pieces = chunks(text, limit, unit)
    assert bare(pieces) == bare([text])
    assert all(measure(p, unit) <= limit for p in pieces)
    assert all(p.strip() for p in pieces)
    assert not any(ends_in_code(p) for p in pieces[:-1])


@given(st.text(max_size=60), st.integers(1, 20), units)
def test_any_text_at_all(text: str, limit: int, unit: Unit) -> None:
    assume("```" not in text and "~~~" not in text)
    pieces = chunks(text, limit, unit)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(measure(p, unit) <= limit or len(p) == 1 for p in pieces)


@given(texts, st.integers(20, 45), st.integers(0, 40), units, st.data())
def test_blocks_do_not_depend_on_the_deltas(text: str, low: int, more: int, unit: Unit, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    blocks, whole = Blocks(low, low + more, unit), Blocks(low, low + more, unit)
    found: list[str] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += blocks.feed(text[start:end])
    assert found == list(whole.feed(text))
    assert all(measure(b, unit) <= low + more for b in found)
    least = low - measure(FAMILY, unit)  # a cut between two characters may leave out the last one
    assert all(measure(b, unit) > least for b in found if not re.search("```|~~~|  ", text))
    assert bare([*found, *blocks.rest()]) == bare([text])


def test_s01_nothing_before_the_end_of_a_short_text() -> None:
    blocks = Blocks(800, 1_200)
    assert [blocks.feed("word ") for _ in range(100)] == [()] * 100
    assert blocks.rest() == (("word " * 100).strip(),)
    assert blocks.rest() == ()


@pytest.mark.parametrize("size", [1, 7, 5_000])
def test_s02_the_last_paragraph_break_in_the_window(size: int) -> None:
    text = "a" * 900 + "\n\n" + "b" * 198 + "\n\n" + "c" * 400
    blocks = Blocks(800, 1_200)
    found = [b for at in range(0, len(text), size) for b in blocks.feed(text[at : at + size])]
    assert found == [text[:1_100]]
    assert blocks.rest() == ("c" * 400,)


def test_a_pause_ends_a_block_at_a_natural_break() -> None:
    blocks = Blocks(10, 100)
    assert blocks.feed("One two.") == ()
    assert blocks.pause() == ()
    assert blocks.feed(" Three four. And fi") == ()
    assert blocks.pause() == ("One two. Three four.",)
    assert blocks.pause() == ()
    assert blocks.feed("ve six seven.") == ()
    assert blocks.pause() == ("And five six seven.",)
    assert blocks.rest() == ()


def test_a_pause_in_a_text_that_is_counted_in_other_units() -> None:
    blocks = Blocks(9, 100, Unit.UTF16)
    blocks.feed("😀 😀.")
    assert blocks.pause() == ()
    blocks.feed(" 😀.")
    assert blocks.pause() == ("😀 😀. 😀.",)


def test_a_pause_leaves_code_whole() -> None:
    blocks = Blocks(5, 100)
    blocks.feed("```\na b c d e f")
    assert blocks.pause() == ()
    blocks.feed("\n```\nand after")
    assert blocks.pause() == ("```\na b c d e f\n```",)
    assert blocks.rest() == ("and after",)


def test_a_pause_where_code_has_just_ended() -> None:
    blocks = Blocks(10, 20)
    assert blocks.feed("~~~\n" + "a" * 12 + "\n" + "~~~~~~") == ("~~~\n" + "a" * 12 + "\n~~~",)
    assert blocks.pause() == ()
    assert blocks.rest() == ()


def test_lengths() -> None:
    text = "a字😀\ud83d"
    assert [measure(text, u) for u in (Unit.CHARACTERS, Unit.UTF16, Unit.BYTES)] == [4, 5, 11]


def test_a_long_text_takes_no_long_time() -> None:
    text = "word 字。\n" * 50_000
    assert bare(chunks(text, 4_096, Unit.UTF16)) == bare([text])
