"""`palmclaw templates`: a person's copies are made, shown, compared and taken back."""

import json
import shlex
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from palmclaw.app import PROMPTS
from palmclaw.cli.doctor import checked
from palmclaw.cli.main import cli
from palmclaw.core.errors import ConfigError


def said(*arguments: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, ["templates", *arguments], env=environ)


def editor(text: str) -> str:
    """A program that puts this text in place of what is there."""
    script = f"import sys; open(sys.argv[1], 'w', encoding='utf-8').write({text!r})"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"


def test_the_list_says_which_are_yours(home_dir: Path) -> None:
    listed = said("list").output
    assert listed.splitlines()[0] == "AGENT      built-in"
    assert "HEARTBEAT  built-in, not in every request" in listed
    assert said("edit", "user", EDITOR=editor("I am Mei.")).output == "Saved.\n"
    assert "USER       yours\n" in said("list").output
    rows = {row["name"]: row for row in json.loads(said("list", "--json").output)}
    mine = {"name": "USER", "path": str(home_dir / "templates/USER.md"), "own": True, "sent": True}
    assert (rows["USER"], rows["SOUL"]["own"]) == (mine, False)
    (home_dir / "templates/USER.md").write_text("{{owner}}")
    assert "there is nothing to put in place of {{owner}}" in said("list").output


def test_a_text_is_shown_as_it_is_sent(home_dir: Path) -> None:
    assert said("show", "AGENT").output.startswith("You are PalmClaw, an assistant")
    assert said("show", "USER").output == "\n"


def test_only_a_change_makes_a_copy(home_dir: Path) -> None:
    same = (PROMPTS / "SOUL.md").read_text("utf-8")
    assert said("edit", "SOUL", EDITOR=editor(same)).output == "Nothing was changed.\n"
    assert not (home_dir / "templates").exists()


def test_a_copy_that_cannot_be_used_is_put_aside(home_dir: Path) -> None:
    done = said("edit", "SOUL", EDITOR=editor("Be {{brief}}."), COLUMNS="100")
    aside = home_dir / "templates/SOUL-refused.md"
    assert isinstance(done.exception, ConfigError)
    assert (done.output.replace("\n", ""), aside.read_text()) == (
        f"Your text is kept, and opened by the next edit: {aside}",
        "Be {{brief}}.",
    )
    assert not (home_dir / "templates/SOUL.md").exists()


def adding(text: str) -> str:
    script = f"import sys; file = open(sys.argv[1], 'a', encoding='utf-8'); file.write({text!r})"
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(script)}"


def test_the_next_edit_goes_on_from_what_was_refused(home_dir: Path) -> None:
    aside = home_dir / "templates/SOUL-refused.md"
    said("edit", "SOUL", EDITOR=editor("Be {{brief}}."))
    assert isinstance(said("edit", "SOUL", EDITOR=adding(" And kind.")).exception, ConfigError)
    assert aside.read_text() == "Be {{brief}}.\n And kind."
    assert said("edit", "SOUL", EDITOR="true").output.endswith("Nothing was changed.\n")
    (found,) = [f for f in checked() if f.name == "templates"]
    assert (found.text, found.mend, found.is_news) == (
        f"what you wrote was refused, and waits for you in {aside}",
        "palmclaw templates edit SOUL",
        True,
    )
    done = said("edit", "SOUL", EDITOR=editor("Be brief."))
    assert "It goes on from your text that was refused" in done.output
    assert done.output.endswith("Saved.\n")
    assert [path.name for path in (home_dir / "templates").iterdir()] == ["SOUL.md"]


def test_a_reset_takes_what_was_refused_too(home_dir: Path) -> None:
    said("edit", "SOUL", EDITOR=editor("Be {{brief}}."))
    assert said("reset", "SOUL").output.startswith("It is in the trash as SOUL-refused-")
    assert list((home_dir / "templates").iterdir()) == []


def test_a_name_is_taken_as_it_is_written(home_dir: Path) -> None:
    for name in ("USER.md", "user.MD", "User"):
        assert said("show", name).output == "\n"
    for language, sentence in (
        ("en", "Error: there is no template 'OWNER'; there are AGENT, SOUL, USER, TOOLS"),
        ("zh", "错误：没有模板 'OWNER'；有 AGENT, SOUL"),
    ):
        done = said("show", "OWNER", PALMCLAW_LANG=language)
        assert (done.exit_code, sentence in " ".join(done.output.split())) == (2, True)


def test_a_copy_is_compared_and_taken_back(home_dir: Path) -> None:
    assert said("diff", "SOUL").output == "You have no copy of your own.\n"
    said("edit", "SOUL", EDITOR=editor("Be brief."))
    assert said("diff", "SOUL").output.splitlines()[-1] == "+Be brief."
    (home_dir / "templates/SOUL.md").write_text((PROMPTS / "SOUL.md").read_text("utf-8"))
    assert said("diff", "SOUL").output == "It says the same as the built-in one.\n"
    (home_dir / "templates/SOUL.md").write_text("{{x}}")
    assert isinstance(said("diff", "SOUL").exception, ConfigError)
    done = said("reset", "SOUL").output
    assert done.startswith("It is in the trash as SOUL-")
    (trashed,) = (home_dir / "trash").iterdir()
    assert (trashed.read_text(), (home_dir / "templates/SOUL.md").exists()) == ("{{x}}", False)
    assert said("reset", "SOUL").output == "You have no copy of your own.\n"
