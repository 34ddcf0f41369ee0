"""`palmclaw sessions`: what was said, in every conversation. Works while another process is running."""

import asyncio
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from palmclaw.app import App, assembled
from palmclaw.cli.pages import Family
from palmclaw.cli.plain import moment, wrapped
from palmclaw.cli.reaching import GONE, attached
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.errors import StorageError
from palmclaw.core.messages import Media, Message, Role
from palmclaw.core.runtime import Lane
from palmclaw.core.text import printable
from palmclaw.guard.durable import replaced
from palmclaw.storage.database import Database
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import SessionInfo, Sessions


@click.group(cls=Family)
def sessions() -> None:
    """List, show, export and delete conversations."""


@sessions.command("list")
@click.option("--all", "every", is_flag=True, help="Those of sub-agents too, below the ones they work for.")
@click.option("--json", "as_json", is_flag=True, help="For machines: all of them.")
def list_(every: bool, as_json: bool) -> None:
    """All conversations, the last used first; where a gateway runs, also what each of them does."""
    found, lanes = asyncio.run(_listed(assembled(os.environ)))
    if as_json:
        table = [{**encode(info), "state": state(info.id, lanes)} for info in found]
        click.echo(json.dumps(table, ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for depth, info in nested(found):
        if every or not info.parent:
            _print_line(info, state(info.id, lanes), "  " * depth, words)
    hidden = 0 if every else sum(bool(info.parent) for info in found)
    if hidden:
        click.secho(
            wrapped(words("({count} more of sub-agents: palmclaw sessions list --all)", count=hidden)), dim=True
        )
    if not found:
        click.echo(words("No conversations yet. Start one: palmclaw chat"))


def nested(found: Sequence[SessionInfo]) -> Iterator[tuple[int, SessionInfo]]:
    """Each conversation with its depth, those of sub-agents below the one they work for, lost ones at the end."""
    ids, left = {info.id for info in found}, {info.id: info for info in found}

    def below(parent: str, depth: int) -> Iterator[tuple[int, SessionInfo]]:
        for info in [i for i in left.values() if i.parent == parent]:
            if left.pop(info.id, None) is not None:
                yield depth, info
                yield from below(info.id, depth + 1)

    yield from below("", 0)
    for info in [i for i in left.values() if i.parent not in ids]:
        left.pop(info.id, None)
        yield 0, info
        yield from below(info.id, 1)


def state(session: str, lanes: Mapping[str, Lane] | None) -> str:
    """What it does; empty where nobody can tell."""
    if lanes is None:
        return ""
    lane = lanes.get(session)
    if lane is None or not (lane.turn or lane.waiting):
        return "at rest"
    waiting = f"{lane.waiting} waiting" if lane.waiting else ""
    return ", ".join(part for part in ("at work" if lane.turn else "", waiting) if part)


def _print_line(info: SessionInfo, doing: str, indent: str, words: Texts) -> None:
    doing = f"  · {words.label(doing)}" if doing not in ("", "at rest") else ""
    count = words.count(info.messages, "message")
    click.echo(wrapped(f"{printable(info.id)}  {moment(info.updated)}  {count}{doing}", indent))
    click.secho(wrapped(printable(info.title), f"{indent}  "), dim=True)


@sessions.command()
@click.argument("name", default="main")
@click.option("--json", "as_json", is_flag=True, help="Every message whole, for machines.")
def show(name: str, as_json: bool) -> None:
    """What was said in a conversation."""
    messages = asyncio.run(_messages(assembled(os.environ), name))
    if as_json:
        click.echo(json.dumps(encode(list(messages)), ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for message in messages:
        _print(message, words)


@sessions.command()
@click.argument("name", default="main")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="A file instead of stdout.")
def export(name: str, output: Path | None) -> None:
    """Write a conversation as JSON lines: one message a line."""
    messages = asyncio.run(_messages(assembled(os.environ), name))
    text = "".join(json.dumps(encode(m), ensure_ascii=False) + "\n" for m in messages)
    if output is None:
        click.echo(text, nl=False)
        return
    replaced(output, text.encode())
    words = texts(os.environ)
    click.echo(words("{messages} in {file}", messages=words.count(len(messages), "message"), file=output), err=True)


@sessions.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, yes: bool) -> None:
    """Delete a conversation, everything said in it and what was attached. Files of its workspace stay."""
    app = assembled(os.environ)
    messages = asyncio.run(_messages(app, name))
    words = texts(os.environ)
    if not yes:
        count = words.count(len(messages), "message")
        click.confirm(
            words("Delete {name} with {messages}? This cannot be undone", name=name, messages=count), abort=True
        )
    asyncio.run(_deleted(app, name, {p.id for m in messages for p in m.parts if isinstance(p, Media)}))
    click.echo(words("Deleted {name}.", name=name), err=True)


async def _listed(app: App) -> tuple[tuple[SessionInfo, ...], dict[str, Lane] | None]:
    """The conversations, and what the gateway says that they do, where there is one."""
    try:
        found = await app.sessions.listed()
    finally:
        await app.database.close()
    async with attached(app.home) as remote:
        if remote is None:
            return found, None
        try:
            return found, {lane.session: lane for lane in (await remote.status()).lanes}
        except StorageError as error:
            if error.code != GONE:
                raise
            return found, None


async def _messages(app: App, name: str) -> tuple[Message, ...]:
    database = Database(app.home.database, readonly=True)
    try:
        return await Sessions(database).all(name)
    finally:
        await database.close()


async def _deleted(app: App, name: str, media: set[str]) -> None:
    """The session, and those of its attachments that no other session has; by the gateway where one runs."""
    async with attached(app.home) as remote:
        if remote is not None:
            await remote.delete(name)
            await _forgotten(app, app.database, media)
            return
    lock = HomeLock(app.home.lock)
    lock.acquire("sessions delete")
    try:
        database = Database(app.home.database)
        try:
            await Sessions(database).delete(name)
        finally:
            await database.close()
        await _forgotten(app, Database(app.home.database, readonly=True), media)
    finally:
        lock.release()


async def _forgotten(app: App, database: Database, media: set[str]) -> None:
    folder = MediaFolder(app.home.media)
    try:
        for each in media:
            if not await Sessions(database).refers_to(each):
                folder.forget(each)
    finally:
        await database.close()


_COLOURS = {Role.USER: "green", Role.ASSISTANT: "blue", Role.TOOL: "cyan", Role.NOTE: "yellow"}


def _print(message: Message, words: Texts) -> None:
    said = f"{words.label(message.role.value)} {message.at.astimezone():%Y-%m-%d %H:%M}"
    click.secho(said, fg=_COLOURS[message.role])
    if message.text:
        click.echo(printable(message.text))
    for call in message.calls:
        click.echo(f"→ {printable(call.name)} {json.dumps(call.arguments, ensure_ascii=False)}")
    for result in message.results:
        click.echo(printable(result.content))
