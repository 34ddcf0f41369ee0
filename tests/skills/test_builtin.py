"""The skills of the package: their price, and that they name nothing which does not exist."""

import os
import re
from pathlib import Path

import pytest

from palmclaw.app import App, assembled
from palmclaw.cli.counting import tokenizer
from palmclaw.cli.main import COMMANDS
from palmclaw.core.device import Code
from palmclaw.core.keywords import can_be_heard, parted, unknown_kinds
from palmclaw.core.matching import matching
from palmclaw.core.skill import Skill, Source, catalogue
from palmclaw.storage.machine import ThisMachine
from palmclaw.storage.skill_shelf import BUILTIN, places
from palmclaw.storage.skills import SkillFolders
from tests.skills.figures import skills

NAMES = (
    *("bluetooth", "channels", "cron", "device", "files", "media", "memory", "personal", "skill-creator", "summarize"),
    *("troubleshooting", "weather"),
)
COUNTER = tokenizer({})
QUOTED = re.compile(r"`([^`\n]+)`")
GATE = ("denied", "declined", "outcome_unknown", "ambiguous", "no_match")
WORDS = ("append", "launched", "references/", "channel:chat", "shared://")
KNOWN = skills()


def test_all_of_them_are_there() -> None:
    assert tuple(skill.name for skill in KNOWN) == NAMES
    assert [skill for skill in KNOWN if skill.warnings or skill.source is not Source.BUILTIN] == []


async def test_they_are_ready_on_a_phone(home_dir: Path) -> None:
    app = assembled(os.environ)
    folders = SkillFolders(app.home, ThisMachine({}, app.device))
    assert tuple(skill.name for skill in await folders.ready("main")) == NAMES
    await app.database.close()


def test_the_catalogue_is_cheap() -> None:
    assert COUNTER.name == "o200k_base"
    assert COUNTER.count(catalogue(KNOWN)) <= 200


@pytest.mark.parametrize("skill", KNOWN, ids=lambda skill: skill.name)
def test_each_is_short(skill: Skill) -> None:
    assert COUNTER.count(skill.body) <= 350


@pytest.fixture
def app(home_dir: Path) -> App:
    return assembled(os.environ)


@pytest.mark.parametrize("skill", KNOWN, ids=lambda skill: skill.name)
def test_each_names_only_what_exists(skill: Skill, app: App) -> None:
    body = re.sub(r"```.*?```", "", skill.body, flags=re.DOTALL)
    known = {*app.tools, *(code.value for code in Code), *GATE, *WORDS, *NAMES}
    unknown = [
        q for q in QUOTED.findall(body) if q not in known and not q.startswith(("palmclaw ", "notes/", "lists/"))
    ]
    assert [q for q in unknown if not q.startswith(("shared://", "skills/"))] == []
    commands = [q.split()[1] for q in QUOTED.findall(body) if q.startswith("palmclaw ")]
    assert [c for c in commands if c not in COMMANDS] == []


@pytest.mark.parametrize("skill", KNOWN, ids=lambda skill: skill.name)
def test_each_is_found_by_its_name(skill: Skill) -> None:
    assert matching(KNOWN, [f"use the {skill.name} skill"])[0] == skill


@pytest.mark.parametrize("place", places(BUILTIN), ids=lambda place: place.name)
def test_keywords_are_said_once(place: Path) -> None:
    text = (place / "keywords.txt").read_text("utf-8")
    said = [part.strip() for part in re.split("[,\n]", text) if part.strip() not in ("", "hints:", "not:")]
    assert sorted(said) == sorted(word for words in parted(text) for word in words)
    assert [word for word in said if "  " in word or unknown_kinds(word) or not can_be_heard(word)] == []
