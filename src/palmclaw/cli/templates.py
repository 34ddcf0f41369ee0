"""`palmclaw templates`: the texts that every request begins with, and a person's own copies of them."""

import json
import os
import time
from pathlib import Path

import click

from palmclaw.app import PROMPTS
from palmclaw.cli.pages import Family
from palmclaw.cli.texts import texts
from palmclaw.core.errors import ConfigError
from palmclaw.core.templates import IN_EVERY_REQUEST, NAMES, filled
from palmclaw.core.text import printable
from palmclaw.guard.durable import replaced
from palmclaw.paths import home as home_of
from palmclaw.storage.templates import Templates

_NAME = click.argument("name", type=click.Choice(NAMES, case_sensitive=False))
_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")


@click.group(cls=Family)
def templates() -> None:
    """Show and change the texts that every request begins with.

    A copy of your own wins over the built-in text, and stays when PalmClaw is updated.

    \b
    palmclaw templates list
    palmclaw templates edit USER
    palmclaw templates diff USER
    palmclaw templates reset USER
    """


@templates.command("list")
@_JSON
def list_(as_json: bool) -> None:
    """Which there are, and which of them are yours."""
    shelf, words = _shelf(), texts(os.environ)
    own = {copy.name: copy for copy in shelf.own() if copy.path.parent == shelf.home / "templates"}
    if as_json:
        rows = [{"name": n, "path": str(shelf.path(n)), "own": n in own, "sent": n in IN_EVERY_REQUEST} for n in NAMES]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    for name in NAMES:
        whose = words("yours") if name in own else words("built-in")
        sent = "" if name in IN_EVERY_REQUEST else f", {words('not in every request')}"
        click.echo(f"{name:<10} {whose}{sent}")
        if name in own and own[name].problem:
            click.secho(f"  {words.told(own[name].problem)}", fg="red")


@templates.command()
@_NAME
def show(name: str) -> None:
    """The text of NAME as it is sent: without comments, with everything filled in."""
    path = _shelf().path(name.upper())
    click.echo(filled(path.read_text("utf-8-sig"), {"agent": "PalmClaw"}, path.name))


@templates.command()
@_NAME
def edit(name: str) -> None:
    """Open your copy of NAME in your editor (EDITOR); it is made when you save something else than is there."""
    shelf, words = _shelf(), texts(os.environ)
    before = shelf.path(name.upper()).read_text("utf-8-sig")
    text = click.edit(before, extension=".md")
    if text is None or text == before:
        click.echo(words("Nothing was changed."), err=True)
        return
    mine = _mine(shelf, name)
    try:
        filled(text, {"agent": "PalmClaw"}, mine.name)
    except ConfigError:
        aside = mine.with_name(f"{mine.stem}-refused.md")
        _write(aside, text)
        click.echo(words("Your text is kept in {path}.", path=aside), err=True)
        raise
    _write(mine, text)
    click.echo(words("Saved."), err=True)


@templates.command()
@_NAME
def diff(name: str) -> None:
    """How your copy of NAME differs from the built-in text of this version."""
    shelf, words = _shelf(), texts(os.environ)
    own = next((copy for copy in shelf.own() if copy.path == _mine(shelf, name)), None)
    if own is None:
        click.echo(words("You have no copy of your own."), err=True)
        return
    if own.problem:
        raise ConfigError("", own.problem)
    for line in own.difference:
        colour = {"+": "green", "-": "red"}.get(line[:1])
        click.secho(printable(line), fg=colour)
    if not own.difference:
        click.echo(words("It says the same as the built-in one."), err=True)


@templates.command()
@_NAME
def reset(name: str) -> None:
    """Use the built-in text of NAME again; your copy goes into the trash."""
    shelf, words, home = _shelf(), texts(os.environ), home_of(os.environ)
    mine = _mine(shelf, name)
    if not mine.is_file():
        click.echo(words("You have no copy of your own."), err=True)
        return
    home.trash.mkdir(parents=True, exist_ok=True, mode=0o700)
    aside = f"{mine.stem}-{time.strftime('%Y%m%d-%H%M%S')}.md"
    mine.rename(home.trash / aside)
    click.echo(words("It is in the trash as {name}.", name=aside), err=True)


def _shelf() -> Templates:
    return Templates(PROMPTS, home_of(os.environ).root)


def _mine(shelf: Templates, name: str) -> Path:
    return shelf.home / "templates" / f"{name.upper()}.md"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replaced(path, text.encode())
