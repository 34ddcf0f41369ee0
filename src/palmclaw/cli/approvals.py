"""`palmclaw approvals`: the policy as it stands in the code, and the lasting answers the owner has given."""

import asyncio
import json
import os
import sqlite3

import click

from palmclaw.app import assembled
from palmclaw.guard.policy import TABLE, Cell, Row
from palmclaw.storage.database import Database
from palmclaw.storage.lock import HomeLock


@click.group()
def approvals() -> None:
    """What may run without asking, and what was allowed for good."""


@approvals.command()
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def policy(as_json: bool) -> None:
    """The table: effect by who asked."""
    table = {effect.value: _row(row) for effect, row in TABLE.items()}
    if as_json:
        click.echo(json.dumps(table, indent=1))
        return
    for effect, row in table.items():
        click.secho(effect, bold=True)
        for column, cell in row.items():
            click.echo(f"  {column:<8} {cell}")


@approvals.command("list")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def list_(as_json: bool) -> None:
    """Answers that still hold: for a session, or always."""
    rows = asyncio.run(_rows(Database(assembled(os.environ).home.database, readonly=True), _LASTING))
    if as_json:
        click.echo(json.dumps([dict(zip(_COLUMNS, row, strict=True)) for row in rows], ensure_ascii=False, indent=1))
        return
    for number, session, tool, target, answer, at in rows:
        click.echo(f"{number}  {tool} → {target}  ({answer}, in {session}, {at[:16]})")
    if not rows:
        click.echo("Nothing is allowed for good.")


@approvals.command()
@click.argument("number", type=int)
def revoke(number: int) -> None:
    """Take a lasting answer back; NUMBER is from `approvals list`."""
    app = assembled(os.environ)
    lock = HomeLock(app.home.lock)
    lock.acquire("approvals revoke")
    try:
        asyncio.run(_revoked(Database(app.home.database), number))
    finally:
        lock.release()


_COLUMNS = ("id", "session", "tool", "target", "answer", "at")
_LASTING = "SELECT id, session, tool, target, answer, at FROM approval WHERE answer IN ('session','always') ORDER BY id"


async def _rows(database: Database, query: str) -> list[tuple[int, str, str, str, str, str]]:
    try:
        return await database.run(lambda db: db.execute(query).fetchall())
    finally:
        await database.close()


async def _revoked(database: Database, number: int) -> None:
    def work(db: sqlite3.Connection) -> int:
        return db.execute("DELETE FROM approval WHERE id=?", (number,)).rowcount

    try:
        found = await database.run(work)
    finally:
        await database.close()
    if not found:
        raise click.ClickException(f"there is no lasting answer {number}; see palmclaw approvals list")
    click.echo("Taken back.", err=True)


def _row(row: Row) -> dict[str, str]:
    columns = {"owner": row.owner, "tainted": row.tainted, "job": row.job, "other": row.other}
    return {name: _cell(cell) for name, cell in columns.items()}


def _cell(cell: Cell) -> str:
    verdict = cell.verdict.name.lower()
    return f"{verdict}; {cell.otherwise.name.lower()} if {cell.unless.value}" if cell.unless else verdict
