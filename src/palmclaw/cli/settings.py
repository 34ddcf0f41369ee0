"""`palmclaw config`: show and change settings. A key goes to a file of its own and is never shown again."""

import os
import tomllib
from pathlib import Path
from typing import Any

import click

from palmclaw import config as settings
from palmclaw import plugins
from palmclaw.core.errors import ConfigError
from palmclaw.core.plugin import Kind, Parts
from palmclaw.paths import home as home_of

SECRET = "provider.api_key"
_SECRET_WORDS = ("key", "token", "secret", "password", "authorization", "headers")


@click.group()
def config() -> None:
    """Show and change settings.

    \b
    palmclaw config set provider.base_url http://localhost:11434/v1
    palmclaw config set provider.model qwen3:4b
    palmclaw config set provider.api_key sk-…
    """


@config.command()
def path() -> None:
    """Where the configuration lies."""
    click.echo(home_of(os.environ).config)


@config.command()
@click.argument("key", required=False)
def get(key: str | None) -> None:
    """The value of one setting, or all that are set. Keys are shown as ***."""
    home = home_of(os.environ)
    table = settings.read(home.config)
    if settings.stored_key(home):
        table.setdefault("provider", {})["api_key"] = "***"
    flat = dict(_flat(table, ""))
    if key is None:
        if not flat:
            click.echo(f"Nothing is set. There are: {', '.join(settings.known_keys())}", err=True)
        for name, value in flat.items():
            click.echo(f"{name} = {_shown(name, value)}")
    elif key in flat:
        click.echo(_shown(key, flat[key]))
    elif key not in settings.known_keys():
        raise ConfigError(key, "no such setting", f"There are: {', '.join(settings.known_keys())}")


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value", required=False)
def set_(key: str, value: str | None) -> None:
    """Set KEY to VALUE; comments and everything else in the file stay.

    Lists are written a,b,c. Without VALUE it is asked for; a key is not shown as it is typed.
    """
    home = home_of(os.environ)
    if value is None:
        value = str(click.prompt(key, hide_input=key == SECRET, err=True))
    if key == SECRET:
        _set_secret(home.secrets, value)
        click.echo(f"{key} is set (in {home.secrets}, readable by you alone).", err=True)
        return
    text = edited(home.config, key, value)
    if key == "files.outside":
        settings.outside(_typed(key, value), home)
    settings.write(home.config, text)
    click.echo(f"{key} = {_shown(key, value)}", err=True)


@config.command()
@click.argument("key")
def unset(key: str) -> None:
    """Go back to the default of KEY."""
    home = home_of(os.environ)
    if key == SECRET:
        home.secrets.unlink(missing_ok=True)
    else:
        settings.write(home.config, edited(home.config, key, None))
    click.echo(f"{key} is back to its default.", err=True)


def edited(path: Path, key: str, value: str | None) -> str:
    """The file's text with one key changed, checked before it is written. Raises ConfigError."""
    import tomlkit

    settings.read(path)
    document = tomlkit.parse(path.read_text("utf-8-sig") if path.exists() else "")
    table, _, name = key.rpartition(".")
    if not table:
        raise ConfigError(key, "name a setting like provider.model", f"There are: {', '.join(settings.known_keys())}")
    holder: Any = document
    for part in table.split("."):
        holder = holder.setdefault(part, tomlkit.table())
    if value is None:
        holder.pop(name, None)
    else:
        holder[name] = _typed(key, value)
    text = tomlkit.dumps(document)
    _check(settings.decoded(document.unwrap(), path), path.parent)
    return text


def _check(found: settings.Settings, home: Path) -> None:
    """What an extension would refuse later is refused now."""
    for kind, name, table in (
        (Kind.PROVIDER, found.provider_name, found.provider),
        (Kind.DEVICE, found.device_name, found.device),
    ):
        try:
            plugins.build(kind, name, {k: v for k, v in table.items() if k != "name"}, Parts(home))
        except ConfigError as error:
            hint = error.hint or f"Common settings: {', '.join(settings.known_keys())}"
            raise ConfigError("", str(error), hint) from error


def _typed(key: str, value: str) -> Any:
    if key in ("tools.disabled", "files.outside"):
        return _list(key, value)
    if key.startswith("limits."):
        try:
            return float(value) if "." in value else int(value)
        except ValueError as error:
            raise ConfigError(key, f"expected a number, got {value!r}") from error
    return {"true": True, "false": False}.get(value.lower(), value)


def _list(key: str, value: str) -> list[Any]:
    """`a,b` or `["a", "b"]`."""
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        found: list[Any] = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(key, f"{value!r} is no list; write it a,b,c") from error
    return found


def _set_secret(path: Path, value: str) -> None:
    import tomlkit

    settings.write(path, tomlkit.dumps({"provider": {"api_key": value}}))


def _flat(table: dict[str, Any], prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        found += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return found


def _shown(key: str, value: Any) -> str:
    if any(word in key.lower() for word in _SECRET_WORDS):
        return "***"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
