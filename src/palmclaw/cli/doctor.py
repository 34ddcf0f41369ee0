"""`palmclaw doctor`: checks what a conversation needs, one line each, with what to do about it."""

import asyncio
import json
import os
import shutil
import socket
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import asdict

import click

from palmclaw import __version__
from palmclaw.app import App, assembled
from palmclaw.cli import checkup
from palmclaw.cli.checkup import Finding
from palmclaw.cli.pages import Page
from palmclaw.cli.plain import wrapped
from palmclaw.cli.settings import held_back, shown_address
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import PalmclawError
from palmclaw.net.endpoints import split
from palmclaw.paths import home as home_of
from palmclaw.storage.database import Database
from palmclaw.storage.findings import FindingsFile

LEAST_FREE = 50_000_000


@click.command(cls=Page)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def doctor(as_json: bool) -> None:
    """Check that everything works, and say what to mend. The exit code is 1 when something is wrong."""
    findings = checked()
    if as_json:
        click.echo(json.dumps([asdict(f) for f in findings], ensure_ascii=False, indent=1))
    else:
        words = texts(os.environ)
        for finding in findings:
            _show(finding, words)
    sys.exit(0 if all(f.ok for f in findings) else 1)


def _show(finding: Finding, words: Texts) -> None:
    sign, colour = ("✗ ", "red") if not finding.ok else ("! ", "yellow") if finding.is_news else ("✓ ", "green")
    click.secho(sign, fg=colour, nl=False)
    said = words("{name}: {text}", name=words.label(finding.name), text=words.told(finding.text))
    click.echo(wrapped(said, "  ").lstrip())
    if finding.mend:
        click.echo(wrapped(words.told(finding.mend), "  "))


def checked() -> list[Finding]:
    """All checks; those that need the configuration are left out when it cannot be read."""
    findings = [_python(), _search_index(), _disk()]
    try:
        app = assembled(os.environ)
    except PalmclawError as error:
        return [*findings, Finding("configuration", False, str(error), error.hint)]
    findings.append(Finding("configuration", True, str(app.home.config)))
    return findings + [_run(check, app) for check in _CHECKS]


def _run(check: Callable[[App], Finding], app: App) -> Finding:
    try:
        return check(app)
    except PalmclawError as error:
        return Finding(check.__name__.strip("_"), False, str(error), error.hint)


def _python() -> Finding:
    return Finding("python", True, f"{sys.version.split()[0]} on {sys.platform}, PalmClaw {__version__}")


def _search_index() -> Finding:
    with sqlite3.connect(":memory:") as db:
        options = {row[0] for row in db.execute("PRAGMA compile_options")}
    db.close()
    found = "ENABLE_FTS5" in options
    version = sqlite3.sqlite_version
    text = f"{version}, with full-text search" if found else f"{version}, without full-text search"
    return Finding("sqlite", found, text)


def _disk() -> Finding:
    folder = home_of(os.environ).root
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    return Finding(
        "disk", free > LEAST_FREE, f"{free // 1_000_000:,} MB free", "" if free > LEAST_FREE else "Free some."
    )


def _database(app: App) -> Finding:
    async def look() -> str:
        database = Database(app.home.database, readonly=True)
        try:
            return str(await database.run(lambda db: db.execute("PRAGMA quick_check").fetchone()[0]))
        finally:
            await database.close()

    result = asyncio.run(look())
    return Finding("database", result == "ok", result, "" if result == "ok" else f"Keep a copy of {app.home.database}.")


def _phone(app: App) -> Finding:
    now = app.device.now()
    return Finding("phone", True, f"{app.device.name}, {now:%Y-%m-%d %H:%M} {now.tzname()}")


def _model(app: App) -> Finding:
    services = app.services
    found = services.settled(services.chosen("").service)
    if found.protocol in ("offline", "scripted"):
        set_for_nothing = [k for k in ("model", "api_key") if app.settings.provider.get(k) or k == _stored(app)]
        if set_for_nothing:
            text = f"{found.name}, though provider.{set_for_nothing[0]} is set: without a service no model is asked"
            return Finding("model", False, text, _CONNECT)
        return Finding("model", True, f"{found.name}: no model connected", _CONNECT)
    services.provider(found.name)
    address = shown_address(found.base_url)
    if found.base_url and not _answers(found.base_url):
        return Finding("model", False, f"nobody answers at {address}", _UNANSWERED)
    held = held_back(app.home) if not found.table.get("api_key") else ""
    unnamed = (
        "" if found.model else "No model is named; many services want one: palmclaw config set provider.model NAME"
    )
    return Finding("model", True, f"{services.chosen('')} at {address}", held or unnamed)


def _services(app: App) -> Finding:
    """Every further service of the configuration; a key may still be missing."""
    for name in app.settings.services:
        app.services.connected(app.services.settled(name))
    return Finding("services", True, ", ".join(app.settings.services) or "none besides")


def _fallbacks(app: App) -> Finding:
    """The models that may take the place of one that fails: each must be set up."""
    services = app.services
    for reference in app.settings.fallbacks:
        choice = services.chosen(reference)
        services.provider(choice.service)
        address = services.settled(choice.service).base_url
        if address and not _answers(address):
            return Finding("fallbacks", False, f"{choice}: nobody answers at {shown_address(address)}", _UNANSWERED)
    named = ", ".join(str(services.chosen(reference)) for reference in app.settings.fallbacks)
    return Finding(
        "fallbacks", True, named or "none", "" if named else "palmclaw config set provider.fallbacks offline"
    )


def _learned(app: App) -> Finding:
    """What services have taught, which a wrong refusal can teach wrongly."""
    count = len(FindingsFile(app.home.findings))
    mend = f"To forget it all: rm {app.home.findings}" if count else ""
    return Finding(
        "learned", True, _LEARNED_ONE if count == 1 else f"{count} things about how services want to be asked", mend
    )


_LEARNED_ONE = "1 thing about how services want to be asked"


def _stored(app: App) -> str:
    return "api_key" if "provider" in app.settings.keys else ""


_UNANSWERED = "Check the network; start the service, or mend the address: palmclaw config set provider.base_url URL"
_CONNECT = "palmclaw models lists services; palmclaw config set provider.name NAME, or provider.base_url URL"


def _answers(address: str) -> bool:
    """Whether somebody takes a connection there within three seconds; no request is made, no key is sent."""
    parts = split(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=3).close()
    except (OSError, UnicodeError):
        return False
    return True


_CHECKS: tuple[Callable[[App], Finding], ...] = (
    *(checkup.home, checkup.gateway, _database, checkup.unfinished, checkup.outbox, checkup.channels, checkup.memory),
    *(checkup.skills, checkup.templates, checkup.log),
    *(_phone, _model, _services, _fallbacks, _learned),
)
