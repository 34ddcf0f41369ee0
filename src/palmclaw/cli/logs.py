"""`palmclaw logs`: the end of the log, and what is added to it."""

import json
import os
import re
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO

import click

from palmclaw.cli.pages import Page
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.text import printable
from palmclaw.core.values import dataclass
from palmclaw.paths import home as home_of

BLOCK = 65_536


LEVELS = ("debug", "info", "warning", "error")
_LINE = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d),(\d{3}) ([A-Z]+) (\S+) (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log; `level` is empty for what was written without one (a traceback, a library's output)."""

    text: str
    level: str = ""
    at: str = ""
    logger: str = ""

    def weighs(self, least: str, before: str) -> bool:
        """Whether it is at least so grave; what has no level of its own is as grave as the line `before`."""
        level = self.level or before
        return level not in LEVELS or LEVELS.index(level) >= LEVELS.index(least)


@click.command(cls=Page)
@click.option(
    "-n", "count", type=click.IntRange(0, 100_000), default=50, show_default=True, metavar="N", help="Lines to show."
)
@click.option("-f", "--follow", is_flag=True, help="Go on showing what is added; Ctrl-C ends that.")
@click.option("--level", type=click.Choice(LEVELS), default="debug", metavar="LEVEL", help="What is at least so grave.")
@click.option("--json", "as_json", is_flag=True, help="For machines: one object a line.")
def logs(count: int, follow: bool, level: str, as_json: bool) -> None:
    """Show the log of the gateway: what it did, what went wrong, and when.

    It tells of its start and end, of each message (where it came from, what became of it), each turn and how it ended,
    each tool that was called and its outcome, of what was asked of you, what was sent and what could not be, and of
    senders that were refused. The words of messages are not in it; palmclaw sessions show has them.

    LEVEL is debug, info, warning or error: with --level warning you see only what went wrong.

    \b
    palmclaw logs -n 20
    palmclaw logs -f
    palmclaw logs --level warning
    """
    path, words = home_of(os.environ).log, texts(os.environ)
    if not path.exists() and not follow:
        click.echo(words("no_log"), err=True)
        return
    show = Shown(words, level, as_json)
    whole = last_lines(path, 100_000) if level != "debug" else last_lines(path, count)
    chosen = [entry for entry in map(read, whole) if show.wants(entry)]
    for entry in chosen[-count:] if count else []:
        show.entry(entry)
    if follow:
        with suppress(KeyboardInterrupt):
            for line in added_lines(path):
                if show.wants(entry := read(line)):
                    show.entry(entry)


@dataclass(slots=True)
class Shown:
    """What of the log is shown, and how."""

    words: Texts
    least: str = "debug"
    as_json: bool = False
    _last: str = "info"

    def wants(self, entry: Entry) -> bool:
        """Asked of each line in its order."""
        wanted = entry.weighs(self.least, self._last)
        self._last = entry.level or self._last
        return wanted

    def entry(self, entry: Entry) -> None:
        """On the terminal in colours, elsewhere without."""
        if self.as_json:
            click.echo(json.dumps(asdict(entry), ensure_ascii=False))
        elif not entry.level:
            click.echo(printable(entry.text))
        else:
            sign = {"warning": "! ", "error": "✗ ", "critical": "✗ "}.get(entry.level, "")
            colour = {"warning": "yellow", "error": "red", "critical": "red"}.get(entry.level)
            click.secho(entry.at.replace("T", " ").partition(".")[0], dim=True, nl=False)
            click.secho(f" {sign}{self.words.told(printable(entry.text))}", fg=colour)


def read(line: str) -> Entry:
    """One line, taken apart."""
    if (found := _LINE.fullmatch(line)) is None:
        return Entry(line)
    day, clock, thousandth, level, logger, text = found.groups()
    return Entry(text, level.lower(), f"{day}T{clock}.{thousandth}", logger)


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
