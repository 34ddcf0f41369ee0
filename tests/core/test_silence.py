"""The silent token: what is it, what only looks like it, and that nothing of it is ever seen in a stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.silence import Hush, ends_silently, silent, without_token


@pytest.mark.parametrize(
    "text",
    [
        "NO_REPLY",
        "no_reply",
        "  NO_REPLY\n",
        "**NO_REPLY**",
        "`NO_REPLY`.",
        "NO_REPLY NO_REPLY",
        "NO_REPLYNO_REPLY",
        '"NO_REPLY"',
        '{"action": "NO_REPLY"}',
        "<think>nobody asked</think>\n\nNO_REPLY",
        "<thinking>a</thinking><reasoning>b</reasoning>NO_REPLY",
        "（NO_REPLY）。",
    ],
)
def test_an_answer_that_is_the_token_is_silence(text: str) -> None:
    assert silent(text)
    assert ends_silently(text)
    assert without_token(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "No, I cannot.",
        "NO",
        "No reply came.",
        "NO_REPLY is a word.",
        "NO_REPLYING",
        '{"action": "NO_REPLY", "to": "all"}',
        '{"action": "wait"}',
        '{"answer": "NO_REPLY"}',
        "[" * 5_000 + "]" * 5_000,
        "<think>NO_REPLY</think>Here it is.",
        "回复：NO_REPLY",
    ],
)
def test_an_answer_that_says_anything_is_none(text: str) -> None:
    assert not silent(text)
    assert without_token(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("It is done.\n\nNO_REPLY", "It is done."),
        ("It is done. NO_REPLY. \n", "It is done."),
        ("It is done.\nNO_REPLY\n**NO_REPLY**", "It is done."),
        ("It is done. \n", "It is done. \n"),
        ("The word is `NO_REPLY`", "The word is `NO_REPLY`"),
        ("It is done.\n\nno_reply", "It is done.\n\nno_reply"),
    ],
)
def test_the_token_at_the_end_is_left_out(text: str, left: str) -> None:
    assert without_token(text) == left
    assert ends_silently(text) == (text != left)


def shown(deltas: list[str]) -> list[str]:
    hush = Hush()
    return [*[hush.feed(d) for d in deltas], hush.rest()]


def test_nothing_of_the_token_is_ever_shown() -> None:
    assert shown(["N", "O", "_REPLY"]) == ["", "", "", ""]
    assert shown(['{"act', 'ion": "NO', '_REPLY"}']) == ["", "", "", ""]
    assert shown(["It is", " done.\n", "\nN", "O_REP", "LY", " "]) == ["It is", " done.", "", "", "", "", ""]


def test_what_only_begins_like_it_is_shown_in_full() -> None:
    assert shown(["N", "o", ", I cannot."]) == ["", "", "No, I cannot.", ""]
    assert shown(["NO"]) == ["", "NO"]
    assert shown(["Say N", "OW"]) == ["Say", " NOW", ""]
    assert shown(["Done", "NO_REPLY"]) == ["Done", "NO_REPLY", ""]


def test_what_cannot_be_decided_is_not_held_for_ever() -> None:
    assert shown(["-" * 300, "-" * 300])[1] == "-" * 600


def test_a_pause_shows_blank_space_and_forgets_nothing() -> None:
    hush = Hush()
    assert (hush.pause(), hush.feed("N"), hush.pause()) == ("", "", "")
    assert (hush.feed("ow. \n"), hush.pause(), hush.pause()) == ("Now.", " \n", "")
    assert (hush.feed("NO_"), hush.pause(), hush.feed("REPLY"), hush.rest()) == ("", "", "", "")
    hush = Hush()
    assert (hush.feed("Now "), hush.pause(), hush.feed("NO"), hush.feed(" way "), hush.pause()) == (
        "Now",
        " ",
        "",
        "NO way",
        " ",
    )
    assert hush.rest() == ""


words = st.lists(
    st.sampled_from(["NO_REPLY", "N", "NO", "No", "_REPLY", " ", "\n\n", "word", "。", "*", "."]), max_size=9
)


@given(words, st.data())
def test_a_stream_shows_exactly_what_is_sent(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    deltas = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert "".join(shown(deltas)) == without_token(text)
