"""`palmclaw templates`: the texts that every request begins with, and a person's own copies of them."""

import json
import os
import time
from pathlib import Path

import click

from palmclaw.app import PROMPTS
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import texts
from palmclaw.core.errors import ConfigError
from palmclaw.core.templates import IN_EVERY_REQUEST, NAMES, filled
from palmclaw.core.text import printable
from palmclaw.guard.durable import replaced
from palmclaw.paths import home as home_of
from palmclaw.storage.templates import Templates


def _named(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """The name however it is written, with .md or without."""
    name = value.upper().removesuffix(".MD")
    if name not in NAMES:
        raise click.UsageError(f"there is no template {value[:60]!r}; there are {', '.join(NAMES)}")
    return name


_NAME = click.argument("name", callback=_named)
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
        is_sent = name in IN_EVERY_REQUEST
        if name in own:
            whose = words("yours") if is_sent else words("yours, not in every request")
        else:
            whose = words("built-in") if is_sent else words("built-in, not in every request")
        click.echo(f"{name:<10} {whose}")
        if name in own and own[name].problem:
            click.secho(f"  {words.told(own[name].problem)}", fg="red")


@templates.command()
@_NAME
def show(name: str) -> None:
    """The text of NAME as it is sent: without comments, with everything filled in."""
    path = _shelf().path(name)
    click.echo(filled(path.read_text("utf-8-sig"), {"agent": "PalmClaw"}, path.name))


@templates.command()
@_NAME
def edit(name: str) -> None:
    """Open your copy of NAME in your editor (EDITOR); it is made when you save something else than is there.

    A text that cannot be used is kept beside it, and opened the next time.
    """
    shelf, words = _shelf(), texts(os.environ)
    aside, there = shelf.aside(name), shelf.path(name).read_text("utf-8-sig")
    begun = there
    if aside.is_file():
        begun = aside.read_text("utf-8-sig")
        click.echo(wrapped(words("It goes on from your text that was refused: {path}", path=aside)), err=True)
    text = click.edit(begun, extension=".md")
    if text is None or text == begun == there:
        click.echo(words("Nothing was changed."), err=True)
        return
    try:
        filled(text, {"agent": "PalmClaw"}, f"{name}.md")
    except ConfigError:
        _write(aside, text)
        click.echo(wrapped(words("Your text is kept, and opened by the next edit: {path}", path=aside)), err=True)
        raise
    if text != there:
        _write(_mine(shelf, name), text)
    aside.unlink(missing_ok=True)
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
    shelf, words = _shelf(), texts(os.environ)
    mine = [path for path in (_mine(shelf, name), shelf.aside(name)) if path.is_file()]
    if not mine:
        click.echo(words("You have no copy of your own."), err=True)
        return
    trash = home_of(os.environ).trash
    trash.mkdir(parents=True, exist_ok=True, mode=0o700)
    for path in mine:
        discarded = f"{path.stem}-{time.strftime('%Y%m%d-%H%M%S')}.md"
        path.rename(trash / discarded)
        click.echo(words("It is in the trash as {name}.", name=discarded), err=True)


def _shelf() -> Templates:
    return Templates(PROMPTS, home_of(os.environ).root)


def _mine(shelf: Templates, name: str) -> Path:
    return shelf.home / "templates" / f"{name}.md"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    replaced(path, text.encode())
