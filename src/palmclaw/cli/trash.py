"""`palmclaw trash`: what the agent deleted can be taken back."""

import os
import shutil
from pathlib import Path

import click

from palmclaw.core.text import printable
from palmclaw.paths import home as home_of


@click.group()
def trash() -> None:
    """List and restore files that the agent deleted."""


@trash.command("list")
def list_() -> None:
    """What lies in the trash."""
    folder = home_of(os.environ).trash
    found = sorted(folder.iterdir()) if folder.exists() else []
    for path in found:
        click.echo(printable(path.name) + ("/" if path.is_dir() else ""))
    if not found:
        click.echo("The trash is empty.")


@trash.command()
@click.argument("name")
@click.argument("to", type=click.Path(path_type=Path))
def restore(name: str, to: Path) -> None:
    """Move NAME out of the trash to the folder or file TO, which must not exist as a file."""
    source = _inside(name)
    target = to / name if to.is_dir() else to
    if target.exists():
        raise click.ClickException(f"{target} exists already; nothing was changed")
    shutil.move(source, target)
    click.echo(f"Restored {target}.", err=True)


@trash.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
def empty(yes: bool) -> None:
    """Delete for good what lies in the trash."""
    folder = home_of(os.environ).trash
    if not yes:
        click.confirm("Delete everything in the trash? This cannot be undone", abort=True)
    shutil.rmtree(folder, ignore_errors=True)
    click.echo("The trash is empty.", err=True)


def _inside(name: str) -> Path:
    path = home_of(os.environ).trash / name
    if "/" in name or name in ("", ".", "..") or not os.path.lexists(path):
        raise click.ClickException(f"there is no {name!r} in the trash; see palmclaw trash list")
    return path
