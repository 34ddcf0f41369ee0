"""`palmclaw sessions`: what was said, in every conversation. Works while another process is running."""

import asyncio
import json
import os
from pathlib import Path

import click

from palmclaw.app import App, assembled
from palmclaw.cli.plain import wrapped
from palmclaw.core.codec import encode
from palmclaw.core.messages import Media, Message, Role
from palmclaw.core.text import printable
from palmclaw.guard.durable import replaced
from palmclaw.storage.database import Database
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import SessionInfo, Sessions


@click.group()
def sessions() -> None:
    """List, show, export and delete conversations."""


@sessions.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_(as_json: bool) -> None:
    """All conversations, the last used first."""
    found = asyncio.run(_listed(assembled(os.environ)))
    if as_json:
        click.echo(json.dumps(encode(list(found)), ensure_ascii=False, indent=1))
        return
    for info in found:
        click.echo(f"{info.id}  {info.updated[:16].replace('T', ' ')}  {info.messages} messages")
        click.secho(wrapped(printable(info.title), "  "), dim=True)
    if not found:
        click.echo("No conversations yet. Start one: palmclaw chat")


@sessions.command()
@click.argument("name", default="main")
@click.option("--json", "as_json", is_flag=True, help="Every message whole, for machines.")
def show(name: str, as_json: bool) -> None:
    """What was said in a conversation."""
    messages = asyncio.run(_messages(assembled(os.environ), name))
    if as_json:
        click.echo(json.dumps(encode(list(messages)), ensure_ascii=False, indent=1))
        return
    for message in messages:
        _print(message)


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
    click.echo(f"{len(messages)} messages in {output}", err=True)


@sessions.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(name: str, yes: bool) -> None:
    """Delete a conversation, everything said in it and what was attached. Files of its workspace stay."""
    app = assembled(os.environ)
    messages = asyncio.run(_messages(app, name))
    count = len(messages)
    if not yes:
        click.confirm(f"Delete {name} with {count} messages? This cannot be undone", abort=True)
    asyncio.run(_deleted(app, name, {p.id for m in messages for p in m.parts if isinstance(p, Media)}))
    click.echo(f"Deleted {name}.", err=True)


async def _listed(app: App) -> tuple[SessionInfo, ...]:
    try:
        return await app.sessions.listed()
    finally:
        await app.database.close()


async def _messages(app: App, name: str) -> tuple[Message, ...]:
    database = Database(app.home.database, readonly=True)
    try:
        return await Sessions(database).all(name)
    finally:
        await database.close()


async def _deleted(app: App, name: str, media: set[str]) -> None:
    """The session, and those of its attachments that no other session has."""
    lock = HomeLock(app.home.lock)
    lock.acquire("sessions delete")
    database = Database(app.home.database)
    try:
        sessions, folder = Sessions(database), MediaFolder(app.home.media)
        await sessions.delete(name)
        for each in media:
            if not await sessions.refers_to(each):
                folder.forget(each)
    finally:
        await database.close()
        lock.release()


_COLOURS = {Role.USER: "green", Role.ASSISTANT: "blue", Role.TOOL: "cyan", Role.NOTE: "yellow"}


def _print(message: Message) -> None:
    click.secho(f"{message.role.value} {message.at.astimezone():%Y-%m-%d %H:%M}", fg=_COLOURS[message.role])
    if message.text:
        click.echo(printable(message.text))
    for call in message.calls:
        click.echo(f"→ {printable(call.name)} {json.dumps(call.arguments, ensure_ascii=False)}")
    for result in message.results:
        click.echo(printable(result.content))
