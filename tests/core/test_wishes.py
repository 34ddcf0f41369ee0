"""In what tone something is said: a wish, a greeting, a question about the world, a matter of one's own."""

import pytest

from palmclaw.core.keywords import Index, told
from palmclaw.core.wishes import is_idle, is_mere_talk, is_own, is_wish, tones

TONES = Index(tones())


def heard(text: str) -> list[frozenset[str]]:
    return [TONES.heard(sentence) for sentence in told(text)]


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("put it there", True),
        ("where did I put my keys", True),
        ("帮我看一下", True),
        ("Look again", False),
        ("You again", False),
        ("Tell me everything", False),
        ("Say that again", False),
        ("go on", False),
        ("再说一遍", False),
        ("thanks, put it there", False),
        ("grass grows", False),
        ("", False),
    ],
)
def test_whether_something_is_wished_for(text: str, wish: bool) -> None:
    assert is_wish(heard(text)) is wish


@pytest.mark.parametrize(
    ("text", "talk"),
    [
        ("who invented it", True),
        ("translate my letter into French", True),
        ("what's a quasar", True),
        ("why do cats purr", True),
        ("写一首诗", True),
        ("这个词是什么意思", True),
        ("why do you stop at night", False),
        ("what is the time here", False),
        ("who invented it. and where is mine", False),
        ("grass grows", False),
        ("", False),
    ],
)
def test_whether_a_message_is_mere_talk(text: str, talk: bool) -> None:
    assert is_mere_talk(heard(text)) is talk


@pytest.mark.parametrize(
    ("text", "own", "idle"),
    [
        ("who invented it", False, True),
        ("who invented my phone", True, False),
        ("open it", True, False),
        ("hello", False, False),
    ],
)
def test_whose_matter_a_sentence_is(text: str, own: bool, idle: bool) -> None:
    assert [(is_own(tone), is_idle(tone)) for tone in heard(text)] == [(own, idle)]
