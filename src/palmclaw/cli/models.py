"""`palmclaw models`: the services that are known by name, and what their models cost."""

import json
import os
from typing import Any

import click

from palmclaw.app import App, assembled
from palmclaw.catalog import Service, catalog, named
from palmclaw.cli.pages import Page
from palmclaw.cli.plain import wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import ConfigError


@click.command(cls=Page)
@click.argument("service", required=False)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def models(service: str | None, as_json: bool) -> None:
    """List the model services, or explain one: its address, key and models.

    Any other service works by its address: palmclaw config set provider.base_url URL

    \b
    palmclaw config set provider.name groq
    palmclaw config set provider.api_key KEY
    """
    app = assembled(os.environ)
    row = named(service) if service else None
    if service and row is None:
        raise ConfigError("models", f"there is no service named {service!r}", "palmclaw models lists them")
    rows = [row] if row else list(catalog().values())
    if as_json:
        click.echo(json.dumps([_as_json(app, r) for r in rows], ensure_ascii=False, indent=1))
        return
    words = texts(os.environ)
    if row:
        _explain(app, row, words)
    else:
        for each in rows:
            _line(app, each, words)


def _line(app: App, row: Service, words: Texts) -> None:
    here = app.services.canonical(app.settings.provider_name) == row.name
    click.secho(f"{'→' if here else '✓' if _is_ready(app, row) else ' '} {row.name}", bold=True, nl=False)
    click.echo("\n" + wrapped(row.title if row.key else words("{title}, on your own machine", title=row.title), "    "))


def _explain(app: App, row: Service, words: Texts) -> None:
    click.secho(row.title, bold=True)
    for line in (f"{row.base_url} ({row.protocol})", *_key_lines(app, row, words)):
        click.echo(f"  {line}")
    for name, model in row.models.items():
        click.secho(f"{name}{words(' (default)') if name == row.model else ''}", bold=True)
        kinds = [words.label(kind) for kind, takes in (("images", model.images), ("PDF", model.documents)) if takes]
        window = [words("reads {tokens}", tokens=f"{model.window:,}")] if model.window else []
        price = words("${input:g} in, ${output:g} out per million tokens", input=model.input, output=model.output)
        click.echo(wrapped(", ".join([price, *window, *kinds]), "  "))
    for source in dict.fromkeys([row.source, *(m.source for m in row.models.values())]):
        click.echo(words("as of {date}: {source}", date=row.seen, source=source))


def _key_lines(app: App, row: Service, words: Texts) -> list[str]:
    if not row.key:
        return [words("needs no key")]
    where = [words("get one at {address}", address=row.keys)] if row.keys else []
    found = words("key: found") if _is_ready(app, row) else words("key: {name}, or config set", name=row.key)
    return [found, *where]


def _is_ready(app: App, row: Service) -> bool:
    """Whether there is a key; not where the service's own table is wrong, of which the doctor tells."""
    try:
        return bool(app.services.settled(row.name).table.get("api_key"))
    except ConfigError:
        return False


def _as_json(app: App, row: Service) -> dict[str, Any]:
    prices = {n: {"input": m.input, "output": m.output, "window": m.window} for n, m in row.models.items()}
    about = {"name": row.name, "title": row.title, "protocol": row.protocol, "base_url": row.base_url, "key": row.key}
    return {**about, "ready": not row.key or _is_ready(app, row), "models": prices, "source": row.source}
