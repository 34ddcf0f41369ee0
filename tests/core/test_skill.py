"""What a skill is: its line in the catalogue, and what it needs."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.skill import (
    CATALOGUE,
    HEADER,
    SUMMARY,
    Bar,
    Flaw,
    Reason,
    Requirements,
    Skill,
    Source,
    Standing,
    catalogue,
    lacking,
    summary_of,
)


@dataclass(frozen=True)
class Bare:
    """A machine that has what it is told to have."""

    there: frozenset[str] = frozenset()

    def has_program(self, name: str) -> bool:
        return name in self.there

    has_variable = is_system = can = has_program


def skill(name: str, summary: str = "", description: str = "does it") -> Skill:
    return Skill(name, description, "body", summary)


def test_a_line_for_each() -> None:
    assert catalogue([skill("alarms", "rings"), skill("bread", description="Bakes.\n Well\u202e.")]) == (
        f"{HEADER}\n- alarms: rings\n- bread: Bakes. Well."
    )


def test_no_skills_no_catalogue() -> None:
    assert catalogue([]) == ""


def test_a_long_catalogue_gets_shorter_lines() -> None:
    many = [skill(f"skill-{n:02}", "word " * 30) for n in range(40)]
    lines = catalogue(many).splitlines()
    assert len(lines) == 41
    assert {len(line) for line in lines[1:]} == {len("- skill-00: ") + 60}


def test_a_very_long_one_names_them_only() -> None:
    lines = catalogue([skill(f"skill-{n:03}", "word " * 30) for n in range(100)]).splitlines()
    assert lines[1:] == [f"- skill-{n:03}" for n in range(100)]


def test_an_endless_one_counts_the_rest() -> None:
    text = catalogue([skill(f"{'a' * 60}{n:04}") for n in range(500)])
    assert len(text) <= CATALOGUE + 20
    kept = text.count("\n- ")
    assert text.endswith(f"\nand {500 - kept} more")


@given(st.text(max_size=400))
def test_a_summary_is_one_bounded_line(text: str) -> None:
    found = summary_of(text)
    assert len(found) <= SUMMARY
    assert len(found.splitlines()) <= 1


def test_a_summary_ends_between_words() -> None:
    assert summary_of("word " * 60) == f"{'word ' * 30}word…"
    assert summary_of("字" * 200) == f"{'字' * 159}…"


@pytest.mark.parametrize(
    ("requires", "text"),
    [
        (Requirements(bins=("git", "jq")), "the program jq is not installed"),
        (Requirements(any_bins=("jq", "yq")), "none of the programs jq, yq is installed"),
        (Requirements(env=("KEY",)), "the variable KEY is not set"),
        (Requirements(os=("windows",)), "it is for windows only"),
        (Requirements(capabilities=("SetTorch",)), "this phone cannot do SetTorch"),
    ],
)
def test_what_is_lacking_is_named(requires: Requirements, text: str) -> None:
    assert lacking(requires, Bare(frozenset({"git", "linux"}))) == (Reason(Bar.MISSING, text),)


def test_what_is_there_is_not() -> None:
    requires = Requirements(("git",), ("jq", "git"), ("KEY",), ("linux", "windows"), ("SetTorch",))
    assert lacking(requires, Bare(frozenset({"git", "KEY", "linux", "SetTorch"}))) == ()


def test_a_flaw_in_words() -> None:
    assert str(Flaw("SKILL.md", 3, "name is missing")) == "SKILL.md, line 3: name is missing"
    assert str(Flaw("SKILL.md", 0, "is empty")) == "SKILL.md: is empty"


def test_ready_is_what_has_no_reason_against_it() -> None:
    one = Standing("a", Source.USER, "/a", skill("a"))
    assert one.is_ready
    assert not Standing("a", Source.USER, "/a", skill("a"), reasons=(Reason(Bar.OFF, "off"),)).is_ready
    assert not Standing("a", Source.USER, "/a").is_ready
