"""`palmclaw memory`: what the agent remembers, and who changed it. Works beside a gateway, which notices changes."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

import click

from palmclaw.app import PROMPTS
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import moment, wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import StorageError
from palmclaw.core.memory import CAP, Add, By, Change, Done, Drop, How, Source
from palmclaw.core.notes import meant, page, shown
from palmclaw.core.remembering import applied
from palmclaw.core.text import printable
from palmclaw.paths import home as home_of
from palmclaw.storage.database import Database
from palmclaw.storage.memory import MemoryRecord, Recorded
from palmclaw.storage.memory_file import MemoryFile
from palmclaw.storage.templates import Templates

T = TypeVar("T")
_JSON = click.option("--json", "as_json", is_flag=True, help="For machines.")


@click.group(cls=Family)
def memory() -> None:
    """Show and change what the agent remembers in every conversation.

    It is one file of yours, MEMORY.md: sections with a line for each thing. The agent adds what you tell it to
    remember, and what mattered in your conversations. Whatever you write stays as you wrote it.

    \b
    palmclaw memory show
    palmclaw memory add "Likes tea" --section Likes
    palmclaw memory forget 3
    palmclaw memory history
    palmclaw memory undo
    """


@memory.command()
@_JSON
def show(as_json: bool) -> None:
    """What is remembered, with numbers."""
    found, words = _file().read(), texts(os.environ)
    read = page(found.text)
    if as_json:
        entries = [
            {"number": e.number, "section": e.section, "text": e.text, **_source(e.source), "day": e.source.day}
            for e in read.entries
        ]
        table = {"text": found.text, "entries": entries, "warning": found.warning, "characters": len(found.text)}
        click.echo(json.dumps({**table, "limit": CAP}, ensure_ascii=False, indent=1))
        return
    section = ""
    for entry in read.entries:
        if entry.section != section:
            section = entry.section
            click.secho(printable(section), bold=True)
        click.echo(wrapped(f"{entry.number}. {printable(entry.text)}", "  "))
        click.secho(wrapped(f"{entry.source.day} {_who(entry.source, words)}".strip(), "     "), dim=True)
    if not read.entries:
        click.echo(words("Nothing is remembered yet."))
    else:
        size, limit = f"{len(found.text):,}", f"{CAP:,}"
        click.secho(words("{count} of {limit} characters", count=size, limit=limit), dim=True, err=True)
    if found.warning:
        click.secho(words.told(found.warning), fg="yellow", err=True)


@memory.command()
@click.argument("text")
@click.option("--section", "-s", default="", help="Under which heading; without one: Notes.")
@_JSON
def add(text: str, section: str, as_json: bool) -> None:
    """Remember TEXT in every conversation.

    \b
    palmclaw memory add "Allergic to nuts"
    palmclaw memory add "Mum: Ann, 3 May" --section Family
    """
    _say(_changed(Add(text, section)), as_json)


@memory.command()
@click.argument("entry")
@_JSON
def forget(entry: str, as_json: bool) -> None:
    """Forget ENTRY: its number, or words of it that no other has.

    \b
    palmclaw memory forget 3
    palmclaw memory forget "green tea"
    """
    found = meant(_file().text(), entry)
    if not found:
        raise click.ClickException(f"nothing like {entry[:60]!r} is remembered; see palmclaw memory show")
    if len(found) > 1:
        which = "\n".join(f"{e.number}. {printable(e.text)}" for e in found)
        raise click.ClickException(f"{len(found)} entries fit; use the number:\n{which}")
    _say(_changed(Drop(found[0].text)), as_json)


@memory.command()
def edit() -> None:
    """Open MEMORY.md in your editor (EDITOR).

    The agent may add to it meanwhile: then both are kept, and you are told.
    """
    file, words = _file(), texts(os.environ)
    found = file.read()
    if not found.is_whole:
        click.edit(filename=str(file.path))
        return
    begun = found.text or file.seed
    raw = click.edit(begun.encode(), extension=".md")
    text = begun if raw is None else raw.decode("utf-8-sig", "replace")
    if text == begun:
        click.echo(words("Nothing was changed."), err=True)
        return
    if _rewritten(file, lambda there: text if there == found.text else there) != text:
        kept = file.path.with_name("MEMORY-edited.md")
        MemoryFile(kept).rewrite(lambda there: text)
        told = f"MEMORY.md was changed by somebody else meanwhile; your text is in {kept}"
        raise click.ClickException(told)
    click.echo(words("Saved."), err=True)
    if len(text) > CAP:
        size, limit = f"{len(text):,}", f"{CAP:,}"
        too_long = words(
            "It has {count} characters; the agent sees the first {limit} and adds nothing until it is shorter.",
            count=size,
            limit=limit,
        )
        click.secho(too_long, fg="yellow", err=True)


@memory.command()
@click.option("--number", "-n", type=click.IntRange(1, 100), default=10, show_default=True, help="How many changes.")
@_JSON
def history(number: int, as_json: bool) -> None:
    """Who changed what, and when; the newest first.

    A number before a change is for `undo`.
    """
    rows, words = _recorded(), texts(os.environ)
    text = _file().read().text
    if as_json:
        table = [_row(row) for row in rows[:number]]
        unseen = [{"id": None, "by": "owner", "before": _known(rows), "after": text}] if _is_newer(rows, text) else []
        click.echo(json.dumps([*unseen, *table], ensure_ascii=False, indent=1))
        return
    if _is_newer(rows, text):
        click.secho(words("not recorded yet: your own edit"), bold=True)
        _print_difference(_known(rows), text)
    for row in rows[:number]:
        click.secho(wrapped(f"{row.id}  {moment(row.at)}  {_who(row.source, words)}"), bold=True)
        if row.is_due:
            click.echo(words("  (not in the file yet)"))
        _print_difference(row.before, row.after)
    if not rows and not text:
        click.echo(words("Nothing has been changed yet."))


@memory.command()
@click.argument("number", type=int, required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
def undo(number: int | None, yes: bool) -> None:
    """Bring back what stood there before the last change, or before change NUMBER and all later ones.

    It asks where that would also take back what you wrote yourself.

    \b
    palmclaw memory history
    palmclaw memory undo
    palmclaw memory undo 12
    """
    rows, words, file = _recorded(), texts(os.environ), _file()
    text = file.text()
    target, is_own = _before(rows, text, number)
    _print_difference(text, target)
    if is_own and not yes:
        click.confirm(words("That takes back what you wrote yourself. Do it"), abort=True)
    if _rewritten(file, lambda there: target if there == text else there) != target:
        raise click.ClickException("MEMORY.md was changed meanwhile; nothing was taken back. Try again")
    click.echo(words("Taken back."), err=True)


def _before(rows: tuple[Recorded, ...], text: str, number: int | None) -> tuple[str, bool]:
    """The text to go back to, and whether anything of the person's own goes with it."""
    is_newer = _is_newer(rows, text)
    if number is None:
        if not rows and not is_newer:
            raise click.ClickException("nothing has been changed yet")
        return (_known(rows), True) if is_newer else (rows[0].before, rows[0].source.by is By.OWNER)
    later = [row for row in rows if row.id >= number]
    if not later or later[-1].id != number:
        raise click.ClickException(f"there is no change {number}; see palmclaw memory history")
    return later[-1].before, is_newer or any(row.source.by is By.OWNER for row in later)


def _is_newer(rows: tuple[Recorded, ...], text: str) -> bool:
    """Whether the file was edited since anything was recorded."""
    is_due = bool(rows) and rows[0].is_due and text == rows[0].before
    return text != _known(rows) and not is_due


def _known(rows: tuple[Recorded, ...]) -> str:
    return rows[0].after if rows else ""


def _file() -> MemoryFile:
    home = home_of(os.environ)
    return MemoryFile(home.memory, Templates(PROMPTS, home.root).path("MEMORY").read_text("utf-8-sig"))


def _recorded() -> tuple[Recorded, ...]:
    return _database(lambda record: record.newest())


def _database(work: Callable[[MemoryRecord], Awaitable[T]], *, readonly: bool = True) -> T:
    async def run() -> T:
        database = Database(home_of(os.environ).database, readonly, patience=2.0)
        try:
            return await work(MemoryRecord(database))
        finally:
            await database.close()

    return asyncio.run(run())


def _changed(change: Change) -> Done:
    """The change as the owner's, in the file as it is then."""
    done: tuple[Done, ...] = ()
    source = Source(By.OWNER, day=f"{datetime.now().astimezone():%Y-%m-%d}")

    def write(text: str) -> str:
        nonlocal done
        after, done = applied(text or file.seed, [change], source)
        return after

    file = _file()
    _rewritten(file, write)
    return done[0]


def _rewritten(file: MemoryFile, change: Callable[[str], str]) -> str:
    """The text after a change of the person's, which is recorded; where it cannot be, a gateway will notice it."""
    before, after = file.rewrite(change)
    if before != after:
        with suppress(StorageError):
            _database(lambda record: record.note(before, after), readonly=False)
    return after


def _say(done: Done, as_json: bool) -> None:
    words = texts(os.environ)
    if as_json:
        table = {"how": done.how.value, "text": done.text, "before": done.before}
        click.echo(json.dumps(table, ensure_ascii=False, indent=1))
    elif done.how is How.DROPPED:
        click.echo(words("Forgotten: {text}", text=printable(done.before)))
    elif done.how is How.KEPT:
        click.echo(words("That is remembered already: {text}", text=printable(done.text)))
    else:
        click.echo(words("Remembered: {text}", text=printable(done.text)))


def _source(source: Source) -> dict[str, str]:
    return {"by": source.by.value, "session": source.session}


def _row(row: Recorded) -> dict[str, object]:
    table: dict[str, object] = {"id": row.id, "at": row.at, **_source(row.source)}
    return table | {"before": row.before, "after": row.after, "due": row.is_due}


def _who(source: Source, words: Texts) -> str:
    """Who wrote it, and in which conversation."""
    session = printable(source.session)
    if source.by is By.OWNER:
        return words("you")
    if source.by is By.AGENT:
        return words("the agent, in {session}", session=session) if session else words("the agent")
    return words("from what was said in {session}", session=session)


def _print_difference(before: str, after: str) -> None:
    for sign, line in _difference(before, after):
        click.secho(wrapped(f"{sign} {line}", "  "), fg="green" if sign == "+" else "red")


def _difference(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The lines that went and came, in their order."""
    from difflib import unified_diff

    lines = list(unified_diff(_lines(before), _lines(after), n=0, lineterm=""))[2:]
    for line in lines:
        if not line.startswith("@@"):
            yield line[0], line[1:]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in shown(text, len(text)).split("\n") if line]
