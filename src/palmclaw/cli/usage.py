"""`palmclaw usage`: what the model services have counted, and what that cost. Needs no lock."""

import asyncio
import json
import os
from dataclasses import asdict
from typing import get_args

import click

from palmclaw.app import App, assembled
from palmclaw.cli.pages import Page
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.messages import Usage
from palmclaw.storage.ledger import By, Sum

_BY = "day (the default), model, session, turn, purpose or request."


@click.command(cls=Page)
@click.option("--by", type=click.Choice(get_args(By)), default="day", metavar="WHAT", help=_BY)
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How far back.")
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def usage(by: By, days: int, as_json: bool) -> None:
    """Show tokens and dollars spent.

    “~” marks sums with requests that the service did not count itself.

    \b
    palmclaw usage --by model
    palmclaw config set budget.usd 0.5
    """
    app = assembled(os.environ)
    found, today = asyncio.run(_found(app, by, days))
    if as_json:
        rows = [{**asdict(row.usage), by: row.key, "usd": row.usd, "unpriced": row.unpriced} for row in found]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    for row in found:
        _print(row, words)
    if len(found) > 1:
        total = sum((row.usage for row in found), Usage())
        unpriced = sum(row.unpriced for row in found)
        _print(Sum(words("usage_total"), total, sum(row.usd for row in found), unpriced, ""), words)
    for line in _notes(app, found, days, today, words):
        click.echo(line)


async def _found(app: App, by: By, days: int) -> tuple[tuple[Sum, ...], tuple[int, float]]:
    try:
        return await app.ledger.sums(by, days), await app.ledger.today()
    finally:
        await app.database.close()


def _print(row: Sum, words: Texts) -> None:
    use = row.usage
    click.secho(row.key, bold=True, nl=False)
    price = "" if row.unpriced == use.requests else f"${row.usd:.4f}"
    click.echo(f"  {price}".rstrip())
    share = round(100 * use.cached / use.input) if use.input else 0
    line = words("usage_line", requests=use.requests, input=f"{use.input:,}", share=share, output=f"{use.output:,}")
    thought = words("usage_reasoning", count=f"{use.reasoning:,}") if use.reasoning else ""
    click.echo(f"  {'~' if use.estimated else ''}{line}{thought}")


def _notes(app: App, found: tuple[Sum, ...], days: int, today: tuple[int, float], words: Texts) -> list[str]:
    lines = [] if found else [words("usage_none", days=words.count(days, "day"))]
    if unpriced := sum(row.unpriced for row in found):
        lines.append(words("usage_unpriced", count=unpriced))
    budget = app.settings.budget
    if budget.tokens:
        lines.append(words("usage_budget", used=f"{today[0]:,}", limit=f"{budget.tokens:,} token"))
    if budget.usd:
        lines.append(words("usage_budget", used=f"${today[1]:.2f}", limit=f"${budget.usd:.2f}"))
    return lines
