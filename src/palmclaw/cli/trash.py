"""`palmclaw trash`: what the agent deleted can be taken back."""

import os
import shutil
from pathlib import Path

import click

from palmclaw.cli.pages import Family
from palmclaw.cli.texts import texts
from palmclaw.core.text import printable
from palmclaw.guard.durable import is_unfinished
from palmclaw.guard.marks import Marks
from palmclaw.paths import home as home_of


@click.group(cls=Family)
def trash() -> None:
    """List and restore files that the agent deleted."""


@trash.command("list")
def list_() -> None:
    """What lies in the trash."""
    folder = home_of(os.environ).trash
    found = sorted(p for p in folder.iterdir() if not is_unfinished(p.name)) if folder.exists() else []
    for path in found:
        click.echo(printable(path.name) + ("/" if path.is_dir() else ""))
    if not found:
        click.echo(texts(os.environ)("The trash is empty."))


@trash.command()
@click.argument("name")
@click.argument("to", type=click.Path(path_type=Path))
def restore(name: str, to: Path) -> None:
    """Move NAME out of the trash to the folder or file TO, which must not exist as a file."""
    source = _inside(name)
    target = to / name if to.is_dir() else to
    if target.exists():
        raise click.ClickException(f"{target} exists already; nothing was changed")
    try:
        with Marks(home_of(os.environ).marks).moving(_real(source), _real(target)):  # what strangers wrote stays theirs
            shutil.move(source, target)
    except OSError as error:
        raise click.ClickException(f"cannot restore to {target}: {error.strerror or error}") from error
    click.echo(texts(os.environ)("Restored {path}.", path=target), err=True)


@trash.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def empty(yes: bool) -> None:
    """Delete for good what lies in the trash."""
    folder, words = home_of(os.environ).trash, texts(os.environ)
    if not folder.exists():
        click.echo(words("The trash is empty."), err=True)
        return
    if not yes:
        click.confirm(words("Delete everything in the trash? This cannot be undone"), abort=True)
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        Marks(home_of(os.environ).marks).remove(_real(folder))
    click.echo(words("The trash is empty."), err=True)


def _real(path: Path) -> Path:
    """Where it lies as the marks know it."""
    return Path(os.path.realpath(path.parent)) / path.name


def _inside(name: str) -> Path:
    path = home_of(os.environ).trash / name
    if "/" in name or name in ("", ".", "..") or not os.path.lexists(path):
        raise click.ClickException(f"there is no {name!r} in the trash; see palmclaw trash list")
    return path
