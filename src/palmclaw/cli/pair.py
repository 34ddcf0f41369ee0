"""`palmclaw pair`: who may talk to the agent in a chat app. The gateway may be running: it looks at each message."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from palmclaw import config
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import moment, wrapped
from palmclaw.cli.texts import texts
from palmclaw.core.codec import encode
from palmclaw.core.people import Person, Role
from palmclaw.core.runtime import NotOpen
from palmclaw.core.text import printable
from palmclaw.paths import home as home_of
from palmclaw.runtime.access import Access, ids, plain_id
from palmclaw.storage.database import Database
from palmclaw.storage.people import KnownPeople

T = TypeVar("T")


@click.group(cls=Family)
def pair() -> None:
    """Say who may talk to the agent in a chat app.

    Whoever writes to it for the first time gets a code, valid for an hour. Approve the code here, and they are an
    owner, who may do everything, or a guest, who may only talk. Ids that config.toml names need no code.

    \b
    palmclaw pair list
    palmclaw pair approve ABCD2345
    palmclaw pair approve ABCD2345 --guest
    palmclaw pair forget telegram 555000111
    palmclaw config set channels.telegram.owners 555000111
    """


@pair.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_(as_json: bool) -> None:
    """Who may talk, and whose code waits to be approved."""
    people, waiting = _run(lambda access: access.listed(), readonly=True)
    named = _configured()
    if as_json:
        found = {"people": encode(people), "waiting": encode(waiting), "configured": named}
        click.echo(json.dumps(found, ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for one in named:
        _print(_line(one["channel"], one["id"], ""), words("{role}, in config.toml", role=words.label(one["role"])))
    for person in people:
        since = words("{role}, since {since}", role=words.label(person.role), since=moment(person.since)[:10])
        _print(_line(person.channel, person.id, person.name), since)
    for each in waiting:
        until = moment(each.expires)[11:]
        waits = words("waits for you: palmclaw pair approve {code} (until {until})", code=each.code, until=until)
        _print(_line(each.channel, each.sender, each.name), waits)
    if not (named or people or waiting):
        click.echo(words("Nobody: it takes no message of any chat app."))


@pair.command()
@click.argument("code")
@click.option("--guest", is_flag=True, help="They may only talk: no commands, nothing of yours.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def approve(code: str, guest: bool, as_json: bool) -> None:
    """Let in whoever was given CODE, as an owner.

    \b
    palmclaw pair approve ABCD2345
    palmclaw pair approve ABCD2345 --guest
    """
    try:
        person: Person = _run(lambda access: access.approve(code, Role.GUEST if guest else Role.OWNER))
    except NotOpen as error:
        raise click.ClickException(f"{error}; see palmclaw pair list") from error
    if as_json:
        click.echo(json.dumps(encode(person), ensure_ascii=False))
        return
    words, who = texts(os.environ), _line(person.channel, person.id, person.name)
    may = words("may talk to the agent" if guest else "may do everything you may")
    click.echo(words("{person} is let in, and {may}.", person=who, may=may), err=True)


@pair.command()
@click.argument("channel")
@click.argument("id_", metavar="ID")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def forget(channel: str, id_: str, as_json: bool) -> None:
    """Let somebody in no longer; CHANNEL and ID are from `pair list`.

    \b
    palmclaw pair forget telegram 555000111
    """
    forgotten = _run(lambda access: access.forget(channel, id_))
    roles = [n["role"] for n in _configured() if (n["channel"], n["id"]) == (channel, plain_id(id_))]
    tables = [f"channels.{channel}.{'owners' if role == Role.OWNER else 'allow'}" for role in roles]
    if not forgotten and not tables:
        raise click.ClickException(f"nobody of the id {id_} in {channel}; see palmclaw pair list")
    if as_json:
        click.echo(json.dumps({"forgotten": forgotten, "configured": tables}))
    elif forgotten:
        click.echo(texts(os.environ)("Forgotten."), err=True)
    if tables:
        raise click.ClickException(f"config.toml still names {id_} in {' and '.join(tables)}: take it out there")


def _run(do: Callable[[Access], Awaitable[T]], *, readonly: bool = False) -> T:
    """Do something with the people of the home, in one transaction; the home's lock is not needed for that."""

    async def work() -> T:
        database = Database(home_of(os.environ).database, readonly)
        try:
            return await do(Access({}, KnownPeople(database)))
        finally:
            await database.close()

    return asyncio.run(work())


def _configured() -> list[dict[str, Any]]:
    """Those whom config.toml names."""
    found: list[dict[str, Any]] = []
    for channel, settings in config.load(home_of(os.environ), os.environ).channels.items():
        lists = ((Role.OWNER, settings.access.owners), (Role.GUEST, settings.access.allow))
        found += [{"channel": channel, "id": i, "role": r} for r, written in lists for i in sorted(ids("", written))]
    return found


def _print(who: str, what: str) -> None:
    click.secho(who, bold=True)
    click.echo(wrapped(what, "  "))


def _line(channel: str, id_: str, name: str) -> str:
    return printable(f"{channel} {id_}" + (f" ({name})" if name else "")).replace("\n", " ")
