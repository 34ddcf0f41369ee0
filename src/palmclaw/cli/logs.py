"""`palmclaw logs`: the end of the log, and what is added to it."""

import os
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import BinaryIO

import click

from palmclaw.cli.gateway_words import CHINESE, ENGLISH
from palmclaw.cli.texts import texts
from palmclaw.core.text import printable
from palmclaw.paths import home as home_of

BLOCK = 65_536


@click.command()
@click.option("-n", "count", type=click.IntRange(0, 100_000), default=50, show_default=True, help="Lines to show.")
@click.option("-f", "follow", is_flag=True, help="Go on showing what is added; Ctrl-C ends that.")
def logs(count: int, follow: bool) -> None:
    """Show the log of the gateway: what went wrong, and when.

    \b
    palmclaw logs -n 20
    palmclaw logs -f
    """
    path = home_of(os.environ).log
    if not path.exists() and not follow:
        click.echo(texts(os.environ, ENGLISH, CHINESE)("no_log"), err=True)
        return
    for line in last_lines(path, count):
        click.echo(printable(line))
    if follow:
        for line in added_lines(path):
            click.echo(printable(line))


def last_lines(path: Path, count: int) -> list[str]:
    """The newest lines, also of the file before this one where it is still short; read from the end."""
    found: list[str] = []
    for file in (path, path.with_name(f"{path.name}.1")):
        if len(found) < count and file.exists():
            found = [*_tail(file, count - len(found)), *found]
    return found


def _tail(path: Path, count: int) -> list[str]:
    with path.open("rb") as file:
        at, content = file.seek(0, os.SEEK_END), b""
        while at and content.count(b"\n") <= count:
            step = min(BLOCK, at)
            at = file.seek(at - step)
            content = file.read(step) + content
    return content.decode("utf-8", "replace").splitlines()[-count:]


def added_lines(path: Path, pause: Callable[[float], object] = time.sleep) -> Generator[str, None, None]:
    """What is written from now on, line by line and for ever, also when the file is put aside and begun anew."""
    file = _opened(path)
    if file:
        file.seek(0, os.SEEK_END)
    rest = b""
    try:
        while True:
            moved = not _is_at(file, path)
            while chunk := file.read(BLOCK) if file else b"":
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
            if moved:
                if file:
                    file.close()
                file, rest = _opened(path), b""
            else:
                pause(0.5)
    finally:
        if file:
            file.close()


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except OSError:
        return None


def _is_at(file: BinaryIO | None, path: Path) -> bool:
    """Whether this is still the file of that name; none is as good as none."""
    try:
        found = path.stat()
    except OSError:
        return True  # moved away, and not begun anew yet
    return file is not None and os.path.samestat(os.fstat(file.fileno()), found)
