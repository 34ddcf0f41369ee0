"""Which skills words call for, on skills made up for it; the figures on sentences are in tests/skills."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.matching import matching
from palmclaw.core.skill import Skill

TIDES = Skill("tide-times", "Looks up high and low water at a harbour.", "", keywords=("spring tide",))
BREAD = Skill(
    "bread",
    "Bakes sourdough.",
    "",
    keywords=("dough|loaf", "oven + hot|warm", "^knead"),
    hints=("crumb", "^slice"),
    bars=("pizza", "dough of clay"),
)
LAMP = Skill("lamp-code", "Answer with the lamp code", "", keywords=("灯码", "^开灯", "read … aloud"))
KNOWN = (BREAD, LAMP, TIDES)


def names(*texts: str) -> list[str]:
    return [skill.name for skill in matching(KNOWN, texts)]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("when is spring tide", ["tide-times"]),
        ("make me some dough", ["bread"]),
        ("my doughs are ready", ["bread"]),
        ("is my oven hot", ["bread"]),
        ("how hot is the oven", ["bread"]),
        ("is my oven hot enough for pizza", []),
        ("a pizza. and my oven is hot", ["bread"]),
        ("my oven is dirty", []),
        ("could you please knead it", ["bread"]),
        ("they never knead", []),
        ("wait and then knead it", ["bread"]),
        ("what is my lamp code", ["lamp-code"]),
        ("使用灯码", ["lamp-code"]),
        ("帮我开灯", ["lamp-code"]),
        ("他不开灯", []),
        ("use the bread skill", ["bread"]),
        ("skill tide-times please", ["tide-times"]),
        ("a poem about the bread skill", ["bread"]),
        ("read this", []),
        ("my doughnut", []),
        ("", []),
        ("?!", []),
    ],
)
def test_keywords_are_heard_as_those_of_families_are(text: str, want: list[str]) -> None:
    assert names(text) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("my crumb is dense", ["bread"]),
        ("show the crumb", ["bread"]),
        ("please slice mine", ["bread"]),
        ("they slice mine", []),
        ("crumb structures vary", []),
        ("thanks for the crumb", []),
        ("why is crumb dense", []),
    ],
)
def test_a_hint_counts_where_a_person_speaks_of_his_own(text: str, want: list[str]) -> None:
    assert names(text) == want


@pytest.mark.parametrize(
    "text",
    [
        *("lamp code", "what's the lamp code", "what is the lamp code of the hall", "how is the lamp code made"),
        *("who has the lamp code", "when does the lamp code change", "why is the lamp code wrong", "which lamp code"),
    ],
)
def test_a_skill_of_one_keyword_is_called_by_any_question(text: str) -> None:
    lamps = Skill("lamps", "Says it.", "", keywords=("lamp code",))
    assert matching([lamps], [text]) == (lamps,)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("who invented dough", []),
        ("write a poem about dough for me", []),
        ("translate dough into French", []),
        ("what does dough mean to my mum", []),
        ("who invented dough. and is mine ready", ["bread"]),
        ("is my dough good", ["bread"]),
    ],
)
def test_mere_talk_calls_for_no_skill(text: str, want: list[str]) -> None:
    assert names(text) == want


def test_a_skill_that_is_about_talk_is_called_by_it() -> None:
    haiku = Skill("verses", "Writes haiku and other poems.", "", keywords=("haiku",))
    assert matching([haiku, BREAD], ["a haiku about dough"]) == (haiku,)


def test_what_is_quoted_calls_for_nothing() -> None:
    assert names('say "dough" to me') == []
    assert names("say 'spring tide'") == []
    assert names("“灯码”怎么念") == []
    assert names("mum's dough isn't Anna's") == ["bread"]
    assert names('"make some dough"') == ["bread"]


def test_a_name_of_one_rare_word_that_is_described_is_enough() -> None:
    tide = Skill("tides", "Tells the tides of a harbour.", "")
    assert matching([tide], ["when are my tides"]) == (tide,)
    assert matching([tide], ["my harbour"]) == ()


def test_rare_words_of_a_description_add_up_where_there_are_no_keywords() -> None:
    prunes = "Prunes roses, tulips and dahlias."
    bare, written = Skill("x", prunes, ""), Skill("x", prunes, "", keywords=("secateurs",))
    assert matching([bare], ["my roses, tulips and a dahlia"]) == (bare,)
    assert matching([written], ["my roses, tulips and a dahlia"]) == ()


def test_words_that_everybody_uses_say_nothing() -> None:
    skill = Skill("create-this", "Read, create, change and find this and that file.", "")
    assert matching([skill], ["read this, create that and change the file I find"]) == ()


def test_a_word_that_many_describe_counts_less() -> None:
    one, other = Skill("tide-a", "Finds anemones.", ""), Skill("tide-b", "Finds anemones.", "")
    alone = Skill("anemones", "Finds anemones.", "")
    assert matching([alone], ["my anemones"]) == (alone,)
    assert matching([one, other, alone], ["my anemones"]) == ()


def test_characters_are_compared_in_pairs() -> None:
    skill = Skill("x", "查询潮汐时刻表", "")
    assert matching([skill], ["我要潮汐时刻"]) == (skill,)
    assert matching([skill], ["我要时间"]) == ()
    assert matching([skill], ["我要潮、汐、时、刻"]) == ()


def test_a_name_in_characters() -> None:
    assert matching([Skill("潮汐", "y", "")], ["给我看潮汐"]) == ()
    assert matching([Skill("潮汐", "看潮汐表", "")], ["给我看潮汐"]) != ()


def test_triggers_in_another_language_find_an_english_skill() -> None:
    """F089: the skill is English, the request Japanese."""
    skill = Skill("tide-times", "Check tide times", "", keywords=("潮の時間", "潮"))
    assert matching([skill], ["潮の時間を教えて、今日"]) == (skill,)


def test_older_messages_count_less() -> None:
    assert names("dough", "thanks") == []
    assert names("dough", "dough", "thanks") == ["bread"]
    assert names("dough", "1", "dough", "thanks") == []
    assert names("dough", "1", "2", "3", "dough") == ["bread"]
    assert names("use the bread skill", "1", "2") == ["bread"]
    assert names("use the bread skill", "1", "2", "3", "4") == []


def test_the_fittest_come_first_and_no_more_than_wanted() -> None:
    skills = [Skill(f"s{n}", "y", "", keywords=("apple", "pear", "plum", "fig")[: n + 1]) for n in range(4)]
    text = "my apple, my pear, my plum, my fig"
    assert [skill.name for skill in matching(skills, [text])] == ["s3", "s2", "s1"]
    assert matching(skills, [text], most=1) == (skills[3],)
    assert matching(skills, [text], most=9) == tuple(reversed(skills))


def test_a_long_message_says_at_its_ends_what_is_wanted() -> None:
    assert names("dough " + "x " * 500) == ["bread"]
    assert names("x " * 500 + "dough") == ["bread"]
    assert names("x " * 500 + "dough " + "x " * 500) == []


@pytest.mark.parametrize("keyword", ["", "?", "|", "+", " + ", "^", "…", "- ?", "_"])
def test_a_keyword_without_a_word_matches_nothing(keyword: str) -> None:
    skill = Skill("x", "y", "", keywords=(keyword,))
    assert [matching([skill], [text]) for text in ("", "我们", "a b", "?")] == [()] * 4


def test_skills_that_change_are_heard_as_they_are() -> None:
    before, after = Skill("x", "y", "", keywords=("apple",)), Skill("x", "y", "", keywords=("pear",))
    assert matching([before], ["an apple"]) == (before,)
    assert matching([after], ["an apple"]) == ()
    assert matching([], ["an apple"]) == ()


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_is_heard(texts: list[str]) -> None:
    found = matching(KNOWN, texts)
    assert len(found) == len(set(found)) <= 3


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=40))
def test_any_keyword_is_read(keywords: list[str], description: str) -> None:
    skill = Skill("x", description, "", keywords=tuple(keywords), hints=tuple(keywords[:2]), bars=tuple(keywords[2:]))
    assert len(matching([skill], ["my dough is read"])) <= 1
