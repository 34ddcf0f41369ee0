"""Which skills words call for, on skills made up for it; the figures on sentences are in tests/skills."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.matching import matching, terms_of
from palmclaw.core.skill import Skill

TIDES = Skill("tide-times", "Looks up high and low water at a harbour.", "", terms=terms_of(["spring tide"]))
BREAD = Skill("bread", "Bakes sourdough.", "", terms=terms_of(["dough|loaf", "oven + hot|warm - pizza", "^knead"]))
LAMP = Skill("lamp-code", "Answer with the lamp code", "", terms=terms_of(["灯码", "^开灯", "read", "create"]))
KNOWN = (BREAD, LAMP, TIDES)


def names(*texts: str) -> list[str]:
    return [skill.name for skill in matching(KNOWN, texts)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("when is spring tide", ["tide-times"]),
        ("make me some dough", ["bread"]),
        ("two loaves, please", []),  # no rule forms loaf from loaves
        ("my doughs are ready", ["bread"]),
        ("is my oven hot", ["bread"]),
        ("is my oven hot enough for pizza", []),
        ("my oven is dirty", []),
        ("could you please knead it", ["bread"]),
        ("they never knead", []),
        ("wait, then knead it", ["bread"]),
        ("what is my lamp code", ["lamp-code"]),
        ("使用灯码", ["lamp-code"]),
        ("帮我开灯", ["lamp-code"]),
        ("他不开灯", []),
        ("use the bread skill", ["bread"]),
        ("skill tide-times please", ["tide-times"]),
        ("this", []),
        ("read this", []),
        ("create it", []),
        ("read and create", ["lamp-code"]),
        ("my doughnut", []),
        ("", []),
        ("?!", []),
    ],
)
def test_words_match_whole(text: str, want: list[str]) -> None:
    assert names(text) == want


def test_a_name_of_one_rare_word_that_is_described_is_enough() -> None:
    tide = Skill("tides", "Tells the tides of a harbour.", "")
    assert matching([tide], ["when are my tides"]) == (tide,)
    assert matching([tide], ["my harbour"]) == ()


def test_rare_words_of_a_description_add_up() -> None:
    assert names("my sourdough bakes") == []
    skill = Skill("x", "Prunes roses, tulips and dahlias.", "")
    assert matching([skill], ["my roses, tulips and dahlias"]) == (skill,)


def test_a_word_that_many_describe_counts_less() -> None:
    one, other = Skill("tide-a", "Finds anemones.", ""), Skill("tide-b", "Finds anemones.", "")
    alone = Skill("anemones", "Finds anemones.", "")
    assert matching([alone], ["my anemones"]) == (alone,)
    assert matching([one, other, alone], ["my anemones"]) == ()


def test_characters_are_compared_in_pairs() -> None:
    skill = Skill("x", "查询潮汐时刻表", "")
    assert matching([skill], ["我要潮汐时刻"]) == (skill,)
    assert matching([skill], ["我要时间"]) == ()


def test_traditional_characters_are_the_same() -> None:
    assert matching([Skill("x", "y", "", terms=terms_of(["耳机"]))], ["把耳機接上"]) != ()


def test_triggers_in_another_language_find_an_english_skill() -> None:
    """F089: the skill is English, the request Japanese."""
    skill = Skill("tide-times", "Check tide times", "", terms=terms_of(["潮の時間", "潮"]))
    assert matching([skill], ["潮の時間を教えて、今日"]) == (skill,)


def test_a_bar_counts_against_all_of_a_skill() -> None:
    skill = Skill("x", "y", "", terms=terms_of(["- broken|kaputt", "gramophone"]))
    assert matching([skill], ["my gramophone"]) == (skill,)
    assert matching([skill], ["my gramophone is broken"]) == ()


def test_what_is_quoted_counts_half() -> None:
    assert names('say "dough" to me') == []
    assert names('dough: say "dough" to me') == ["bread"]


def test_talk_about_the_world_needs_more() -> None:
    assert names("who invented dough") == []
    assert names("a poem about dough for me") == []
    assert names("what does dough consist of") == []
    assert names("has dough gluten") == []
    assert names("is my dough good") == ["bread"]


def test_older_messages_count_less() -> None:
    assert names("dough", "thanks") == []
    assert names("dough in my hot oven", "thanks") == ["bread"]
    assert names("dough in my hot oven", "thanks", "yes", "no") == []
    assert names("dough in my hot oven", "1", "2", "3", "4") == []
    assert names("dough", "dough") == ["bread"]


def test_the_fittest_come_first_and_echoes_not_at_all() -> None:
    skills = [Skill(f"s{n}", "y", "", terms=terms_of(["apple", "pear", "plum", "fig"][: n + 1])) for n in range(4)]
    found = matching(skills, ["my apple, pear, plum and fig"])
    assert [skill.name for skill in found] == ["s3", "s2", "s1"]
    assert matching(skills, ["my apple, pear, plum and fig"], most=1) == found[:1]


def test_a_long_message_says_at_its_ends_what_is_wanted() -> None:
    assert names("dough " + "x " * 500) == ["bread"]
    assert names("x " * 500 + "dough") == ["bread"]
    assert names("x " * 500 + "dough " + "x " * 500) == []


def test_points_inside_a_word_do_not_end_a_clause() -> None:
    skill = Skill("x", "y", "", terms=terms_of(["tl;dr", "report.pdf", "wi-fi", "what's on"]))
    for text in ("TL;DR please", "open report.pdf", "my wi-fi", "What’s on today?"):
        assert matching([skill], [text]) == (skill,)


@pytest.mark.parametrize("word", ["box", "story", "plan", "save", "text", "class", "note"])
def test_inflections(word: str) -> None:
    skill = Skill("x", "y", "", terms=terms_of([f"{word} + my"]))
    forms = {
        "box": ["boxes"], "story": ["stories"], "plan": ["plans", "planned", "planning"], "note": ["notes", "noted"],
        "save": ["saves", "saved", "saving"], "text": ["texts", "texted", "texting"], "class": ["classes"],
    }  # fmt: skip
    for form in [word, *forms[word]]:
        assert matching([skill], [f"my {form}"]) == (skill,)
    assert matching([skill], [f"my {word}zz"]) == ()


def test_a_keyword_in_the_plural_finds_the_singular() -> None:
    skill = Skill("x", "y", "", terms=terms_of(["headphones", "headphone jacks"]))
    assert matching([skill], ["my headphone jack"]) == (skill,)


def test_a_name_in_characters() -> None:
    skill = Skill("潮汐", "y", "")
    assert matching([skill], ["给我看潮汐"]) == ()
    assert matching([Skill("潮汐", "看潮汐表", "")], ["给我看潮汐"]) != ()


@pytest.mark.parametrize("keyword", ["", "?", "|", "+", " + ", "^", "a + ?", "? - ?", " - ", "~", "|~|+", "_"])
def test_a_keyword_without_a_word_matches_nothing(keyword: str) -> None:
    skill = Skill("x", "y", "", terms=terms_of([keyword]))
    assert [matching([skill], [text]) for text in ("", "我们", "a b", "?")] == [()] * 4


def test_signs_inside_characters_are_left_out() -> None:
    assert terms_of(["开|关 + 灯|台 灯", "放~歌+曲"]) == "开|关+灯|台灯\n放歌曲"


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_is_heard(texts: list[str]) -> None:
    found = matching(KNOWN, texts)
    assert len(found) == len(set(found)) <= 3


@given(st.lists(st.text(max_size=40), max_size=6))
def test_any_keyword_is_read(keywords: list[str]) -> None:
    skill = Skill("x", "y", "", terms=terms_of(keywords))
    assert len(matching([skill], ["my dough is read"])) <= 1
