"""Which families are woken: certain words, hints, and the common ones for a wish that speaks of nothing known."""

import pytest

from palmclaw.core.modules import expanded, matched, spoken_of
from palmclaw.core.tools import Module

MODULES = {
    m.name: m
    for m in (
        Module("base", "", always=True, tools=("ask",)),
        Module("bells", "", ("alarm",), tools=("ring",), hints=("later",), common=True),
        Module("notes", "", ("file", "poem"), tools=tuple("abcde"), hints=("write", "later"), requires=("bells",)),
        Module("songs", "", ("music",), tools=("sing",), hints=("on",)),
    )
}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", set()),
        ("an alarm", {"bells"}),
        ("write later", {"bells", "notes"}),
        ("put the music on later", {"songs", "bells"}),
        ("the alarm and the music, later", {"songs", "bells", "notes"}),
        ("the alarm and the music later", {"songs", "bells"}),
        ("music. write it", {"songs", "notes"}),
        ("thanks, write later", {"bells", "notes"}),
        ("why write later", set()),
        ("why is the alarm on", {"bells"}),
        ("write a poem", set()),
        ("write a poem in my file", {"notes"}),
        ("good morning", set()),
    ],
)
def test_what_a_text_speaks_of(text: str, found: set[str]) -> None:
    assert spoken_of(MODULES, text) == found


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ([], {"base"}),
        (["a file"], {"base", "notes", "bells"}),
        (["music", "hm"], {"base", "songs"}),
        (["where did I put my keys"], {"base", "bells"}),
        (["帮我看一下"], {"base", "bells"}),
        (["why do I dream"], {"base"}),
        (["where is the sea. what is the meaning of life"], {"base"}),
        (["grass grows"], {"base"}),
    ],
)
def test_a_wish_that_speaks_of_nothing_known_wakes_the_common_ones(texts: list[str], found: set[str]) -> None:
    assert matched(MODULES, texts) == found


def test_of_a_long_message_the_beginning_and_the_end_are_heard() -> None:
    filler = "grass grows " * 100
    assert spoken_of(MODULES, f"alarm {filler} music") == {"bells", "songs"}
    assert spoken_of(MODULES, f"{filler} music {filler}") == frozenset()


def test_families_that_change_are_heard_as_they_are() -> None:
    assert spoken_of({}, "alarm") == frozenset()
    assert spoken_of({"x": Module("x", "", ("alarm",))}, "alarm") == {"x"}


def test_requirements_are_expanded_and_circles_end() -> None:
    circle = {"a": Module("a", "", requires=("b",)), "b": Module("b", "", requires=("a", "gone"))}
    assert expanded(circle, ["a", "nothing"]) == {"a", "b"}
