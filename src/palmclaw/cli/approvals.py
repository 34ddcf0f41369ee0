"""`palmclaw approvals`: the policy as it stands in the code, what waits for an answer, and the answers that last."""

import asyncio
import json
import os
from collections.abc import Iterator
from datetime import datetime

import click

from palmclaw.cli.pages import Family
from palmclaw.cli.plain import moment, question_lines, wrapped
from palmclaw.cli.reaching import attached
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.events import Answer
from palmclaw.core.runtime import NotOpen, Question
from palmclaw.core.text import printable
from palmclaw.guard.policy import TABLE, Cell, Row
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.runtime.commands import answer
from palmclaw.storage.database import Database
from palmclaw.storage.journal import Approvals, Lasting
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.questions import Questions


@click.group(cls=Family)
def approvals() -> None:
    """What may run without asking, what waits for your answer, and what was allowed for good."""


@approvals.command()
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def policy(as_json: bool) -> None:
    """The table: effect by who asked."""
    if as_json:
        table = {effect.value: {name: _cell(cell) for name, cell in _columns(row)} for effect, row in TABLE.items()}
        click.echo(json.dumps(table, indent=1))
        return
    words = texts(os.environ)
    for effect, row in TABLE.items():
        click.secho(words.label(effect.value), bold=True)
        for name, cell in _columns(row):
            click.echo(wrapped(words("{who}: {verdict}", who=words.label(name), verdict=_verdict(cell, words)), "  "))


@approvals.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_(as_json: bool) -> None:
    """What you have allowed for good: for a conversation, or always; since when, and how to take it back."""
    found = asyncio.run(_listed(Database(home_of(os.environ).database, readonly=True)))
    if as_json:
        click.echo(json.dumps(encode(found), ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for each in found:
        click.secho(wrapped(words("{tool} for {target}", tool=each.tool, target=printable(each.target))), bold=True)
        for line in _about(each, words):
            click.echo(wrapped(line, "  "))
    if not found:
        click.echo(words("Nothing is allowed for good."))


@approvals.command()
@click.argument("number", type=int)
def revoke(number: int) -> None:
    """Take a lasting answer back; NUMBER is from `approvals list`."""
    try:
        asyncio.run(_revoked(home_of(os.environ), number))
    except NotOpen as error:
        raise click.ClickException(f"{error}; see palmclaw approvals list") from error
    click.echo(texts(os.environ)("Taken back: from now on it is asked again."), err=True)


@approvals.command()
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def pending(as_json: bool) -> None:
    """Questions that wait for your answer."""
    found, where = asyncio.run(_pending(home_of(os.environ)))
    if as_json:
        click.echo(json.dumps(encode(found), ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for each in found:
        until = words("in {session}, until {clock}", session=printable(each.session), clock=_clock(each.deadline))
        click.secho(f"{each.asked.id}  {until}", bold=True)
        for line in question_lines(each.asked, words):
            click.echo(line)
        answers = "|".join((*("yes" if s is Answer.ONCE else s.value for s in each.asked.scopes), "no"))
        click.echo(words.told(where) or f"palmclaw approvals answer {each.asked.id} {answers}")
    if not found:
        click.echo(words("Nothing waits for an answer."))


@approvals.command("answer")
@click.argument("question", metavar="ID")
@click.argument("said", metavar="yes|session|always|no")
def answer_(question: str, said: str) -> None:
    """Answer a question; ID is from `approvals pending`, or a beginning of it that fits no other.

    \b
    palmclaw approvals pending
    """
    meant = answer(said)
    if meant is None:
        raise click.UsageError(f"{said!r} is no answer; say yes, session, always or no")
    try:
        asyncio.run(_answered(home_of(os.environ), question, meant))
    except NotOpen as error:
        raise click.ClickException(f"{error}; see palmclaw approvals pending") from error
    click.echo(texts(os.environ)("Answered."), err=True)


async def _listed(database: Database) -> tuple[Lasting, ...]:
    try:
        return await Approvals(database).listed()
    finally:
        await database.close()


async def _revoked(home: Home, number: int) -> None:
    """By the gateway where one runs, since it alone writes then."""
    async with attached(home) as remote:
        if remote is not None:
            await remote.revoke(number)
            return
    lock = HomeLock(home.lock)
    lock.acquire("approvals revoke")
    database = Database(home.database)
    try:
        await Approvals(database).revoke(number)
    finally:
        await database.close()
        lock.release()


async def _pending(home: Home) -> tuple[tuple[Question, ...], str]:
    """What waits, and where else than here it must be answered."""
    async with attached(home) as remote:
        if remote is not None:
            return await remote.questions(), ""
    holder = HomeLock(home.lock).holder()
    if holder is None:  # what a dead process has asked, nobody waits for
        return (), ""
    database = Database(home.database, readonly=True)
    try:
        return await Questions(database).unanswered(), f"Answer it where it is asked: process {holder.pid}"
    finally:
        await database.close()


async def _answered(home: Home, question: str, meant: Answer) -> None:
    async with attached(home) as remote:
        if remote is None:
            raise NotOpen("no gateway runs, so nothing can be answered here")
        fitting = [q.asked.id for q in await remote.questions() if q.asked.id.startswith(question)]
        await remote.answer(fitting[0] if len(fitting) == 1 else question, meant, "terminal")


def _clock(at: str) -> str:
    """In the person's own zone."""
    return f"{datetime.fromisoformat(at).astimezone():%H:%M}"


def _about(each: Lasting, words: Texts) -> Iterator[str]:
    """How far an answer reaches, since when, and how it is taken back."""
    session = printable(each.session)
    if each.answer == Answer.ALWAYS:
        yield words("always, in every conversation")
        yield words("since {since}, said in {session}", since=moment(each.at), session=session)
    else:
        yield words("only in the conversation {session}", session=session)
        yield words("since {since}", since=moment(each.at))
    yield words("to take it back: palmclaw approvals revoke {number}", number=each.id)


def _columns(row: Row) -> tuple[tuple[str, Cell], ...]:
    return ("owner", row.owner), ("tainted", row.tainted), ("job", row.job), ("other", row.other)


def _cell(cell: Cell) -> str:
    verdict = cell.verdict.name.lower()
    return f"{verdict}; {cell.otherwise.name.lower()} if {cell.unless.value}" if cell.unless else verdict


def _verdict(cell: Cell, words: Texts) -> str:
    verdict = words.label(cell.verdict.name.lower())
    if cell.unless is None:
        return verdict
    otherwise, fact = words.label(cell.otherwise.name.lower()), words.label(cell.unless.value)
    return words("{verdict}; {otherwise} if {fact}", verdict=verdict, otherwise=otherwise, fact=fact)
