"""Templates on disk: a person's copy wins, is read again when it changes, and is compared with the built-in one."""

import os
from pathlib import Path

import pytest

from palmclaw.app import PROMPTS
from palmclaw.core.errors import ConfigError
from palmclaw.core.templates import NAMES
from palmclaw.storage.templates import Own, Templates


@pytest.fixture
def templates(tmp_path: Path) -> Templates:
    builtin = tmp_path / "builtin"
    builtin.mkdir()
    for name in NAMES:
        (builtin / f"{name}.md").write_text(f"{name} of {{{{agent}}}}\n")
    return Templates(builtin, tmp_path / "home")


def wrote(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_four_of_them_begin_every_request(templates: Templates) -> None:
    assert templates.policy() == "AGENT of PalmClaw\nSOUL of PalmClaw\nUSER of PalmClaw\nTOOLS of PalmClaw"
    assert templates.own() == ()


def test_a_persons_copy_wins_and_an_agents_own_wins_over_that(templates: Templates) -> None:
    wrote(templates.home / "templates/SOUL.md", b"\xef\xbb\xbfBe brief.\r\n")
    wrote(templates.home / "agents/tutor/templates/SOUL.md", "Be formal.")
    assert "Be brief." in templates.policy().splitlines()
    assert templates.policy("tutor").splitlines() == ["AGENT of tutor", "Be formal.", "USER of tutor", "TOOLS of tutor"]
    assert templates.path("SOUL", "tutor") == templates.home / "agents/tutor/templates/SOUL.md"
    assert templates.path("TOOLS") == templates.builtin / "TOOLS.md"


def test_a_change_is_seen_at_the_next_request(templates: Templates) -> None:
    mine = wrote(templates.home / "templates/USER.md", "I am Mei.")
    assert "I am Mei." in templates.policy()
    wrote(mine, "I am Ana.")
    os.utime(mine, ns=(1, 1))
    assert "I am Ana." in templates.policy()
    mine.unlink()
    assert "USER of PalmClaw" in templates.policy()


def test_an_emptied_copy_says_nothing_and_is_named(templates: Templates) -> None:
    mine = wrote(templates.home / "templates/TOOLS.md", " \n")
    assert templates.policy() == "AGENT of PalmClaw\nSOUL of PalmClaw\nUSER of PalmClaw"
    difference = ("--- built-in", f"+++ {mine}", "@@ -1 +1 @@", "-TOOLS of {{agent}}", "+ ")
    assert templates.own() == (Own("TOOLS", mine, is_empty=True, difference=difference),)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"caf\xe9", "cannot read .*SOUL.md: it is no UTF-8 text"),
        ("hi {{owner}}", "SOUL.md, line 1: there is nothing to put in place of {{owner}}"),
        ("x" * 100_000, "SOUL.md is longer than 20,000 characters"),
        ("x" * 30_000, "SOUL.md is longer than 20,000 characters"),
    ],
)
def test_a_copy_that_cannot_be_used_is_an_error_and_named(templates: Templates, content: str | bytes, why: str) -> None:
    mine = wrote(templates.home / "templates/SOUL.md", content)
    with pytest.raises(ConfigError, match=why) as caught:
        templates.policy()
    assert templates.own() == (Own("SOUL", mine, is_empty=False, difference=(), problem=str(caught.value)),)


def test_the_packages_own_are_all_there() -> None:
    assert {p.stem for p in PROMPTS.glob("*.md")} >= set(NAMES)
    assert Templates(PROMPTS, Path("/nowhere")).policy().startswith("You are PalmClaw, an assistant")
