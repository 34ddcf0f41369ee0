"""`palmclaw config`: show and change settings. A key goes to a file of its own and is never shown again."""

import os
import re
import tomllib
from dataclasses import replace
from typing import Any

import click

from palmclaw import catalog, plugins
from palmclaw import config as settings
from palmclaw.cli.holding import say_who_goes_on
from palmclaw.cli.pages import Family
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.errors import ConfigError
from palmclaw.core.plugin import Kind, Parts
from palmclaw.net.endpoints import origin
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.services import Services

SECRET = re.compile(r"(provider|services\.[A-Za-z0-9_-]+)\.api_key")
_SERVICE = re.compile(r"services\.([A-Za-z0-9_-]+)\..+")
_KEY = re.compile(r"[\x21-\x7e]+")
_HARMLESS = re.compile(r"tokens|key_header|token_field|keywords")
_NAMED = re.compile(r"(services|channels|modules|agents)\.[^.]+\.")
"""Tables whose names a person has chosen: they say nothing of what is in them."""
_LISTS = re.compile(
    r"tools\.disabled|files\.outside|provider\.fallbacks|.*\.schema_without"
    r"|channels\.[^.]+\.(owners|allow)|agents\.[^.]+\.(tools|disabled|bindings)"
    r"|modules\.[^.]+\.(keywords|tools|requires)"
)
_SECRET_WORDS = ("key", "token", "secret", "password", "authorization", "headers")
_SORTED = re.compile(r"queue\..+|channels\.[^.]+\.(blocks|block_min|block_max|coalesce|human_delay)")


@click.group(cls=Family)
def config() -> None:
    """Show and change settings.

    \b
    palmclaw config set provider.name deepseek
    palmclaw config set provider.api_key sk-…
    palmclaw config set provider.base_url http://localhost:11434/v1
    palmclaw config set provider.fallbacks groq,offline
    palmclaw config set budget.usd 0.5
    palmclaw config set channels.telegram.owners 555000111
    palmclaw config set queue.mode collect
    """


@config.command()
def path() -> None:
    """Where the configuration lies."""
    click.echo(home_of(os.environ).config)


@config.command()
@click.argument("key", required=False)
def get(key: str | None) -> None:
    """The value of one setting, of a table such as budget, or all that are set. Keys are shown as ***."""
    home = home_of(os.environ)
    flat = dict(_flat(settings.read(home.config), ""))
    flat |= {f"{place}.api_key": "***" for place in settings.stored_keys(home)}
    if key in flat:
        click.echo(_shown(key, flat[key]))
        return
    of_table = {name: value for name, value in flat.items() if key is None or name.startswith(f"{key}.")}
    known = [name for name in settings.known_keys() if key is None or name.startswith(f"{key}.")]
    if key is not None and not of_table and not known and key not in settings.known_keys():
        raise ConfigError(key, "no such setting", f"There are: {', '.join(settings.known_keys())}")
    if not of_table and known:
        click.echo(texts(os.environ)("Nothing is set. There are: {names}", names=", ".join(known)), err=True)
    for name, value in of_table.items():
        click.echo(f"{name} = {_shown(name, value)}")


@config.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("key")
@click.argument("value", required=False)
def set_(key: str, value: str | None) -> None:
    """Set KEY to VALUE; comments and everything else in the file stay.

    Lists are written a,b,c. Without VALUE it is asked for; a key is not shown as it is typed.
    """
    home, words = home_of(os.environ), texts(os.environ)
    if value is None:
        value = str(click.prompt(key, hide_input=SECRET.fullmatch(key) is not None, err=True))
    if found := SECRET.fullmatch(key):
        _say_kept(key, _set_secret(home, found[1], value), home, words)
        say_who_goes_on(home, words)
        return
    text = edited(home, key, value)
    if key == "files.outside":
        settings.outside(_typed(key, value), home)
    if key.startswith("agents."):
        _check_agents(home, text)
    settings.write(home.config, text)
    _bind_key(home)
    click.echo(f"{key} = {_shown(key, value)}", err=True)
    for note in _notes(home) if key.startswith("provider.") else []:
        click.echo(words.told(note), err=True)
    say_who_goes_on(home, words)


@config.command()
@click.argument("key")
def unset(key: str) -> None:
    """Go back to the default of KEY."""
    home, words = home_of(os.environ), texts(os.environ)
    if found := SECRET.fullmatch(key):
        _forget_secret(home, found[1])
    else:
        settings.write(home.config, edited(home, key, None))
    click.echo(words("{key} is back to its default.", key=key), err=True)
    say_who_goes_on(home, words)


def _say_kept(key: str, where: str, home: Home, words: Texts) -> None:
    """That a key is kept, for whom, and where: never the key."""
    file = home.secrets
    if where:
        said = words("{key} is set for {where} (in {file}, readable by you alone).", key=key, where=where, file=file)
    else:
        said = words("{key} is set (in {file}, readable by you alone).", key=key, file=file)
    click.echo(said, err=True)


def edited(home: Home, key: str, value: str | None) -> str:
    """The file's text with one key changed, checked before it is written. Raises ConfigError."""
    import tomlkit

    path = home.config
    settings.read(path)
    if key.startswith("services.") and (key.endswith(".api_key") or not _SERVICE.fullmatch(key)):
        raise ConfigError(key, "a service's name has letters, digits, _ and - only", "Like services.home.base_url")
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
    before, after = settings.decoded(settings.read(path), path), settings.decoded(document.unwrap(), path)
    _check(after, home)
    _check_moved(before, after, home)
    return text


def _check_agents(home: Home, text: str) -> None:
    """Folders and texts of agents must be there when they are named. Raises ConfigError."""
    agents = settings.decoded(tomllib.loads(text), home.config).agents
    settings.workspaces(agents, home)
    settings.policies(agents, home)


def _check_moved(before: settings.Settings, after: settings.Settings, home: Home) -> None:
    """Headers and secret fields were written for one origin: they do not silently go to another. Raises ConfigError."""
    old, new = (Services(found, Parts(home.root, environ=os.environ)) for found in (before, after))
    for place, table, name in _places(after):
        was = next((n for p, _, n in _places(before) if p == place), name)
        held = [f"{place}.headers"] if table.get("headers") else []
        held += [f"{place}.body.{k}" for k in table.get("body", {}) if is_secret(k)]
        here, there = _origin(old, was), _origin(new, name)
        if held and here != there:
            hint = f"Take them away first, or set them again afterwards: palmclaw config unset {held[0]}"
            raise ConfigError(held[0], f"is for {here or 'another service'} and would go to {there or 'nobody'}", hint)


def _places(found: settings.Settings) -> list[tuple[str, dict[str, Any], str]]:
    named = [(f"services.{name}", table, name) for name, table in found.services.items()]
    return [("provider", found.provider, found.provider_name), *named]


def _origin(services: Services, name: str) -> str:
    try:
        address = services.settled(name).base_url
    except ConfigError:
        return ""
    return origin(address) if address else ""


def _check(found: settings.Settings, home: Home) -> None:
    """What would be refused later is refused now; a key may still be missing, since one thing is set after another."""
    parts = Parts(home.root, environ=os.environ)
    services = Services(found, parts)
    device = {k: v for k, v in found.device.items() if k != "name"}
    try:
        for name in (found.provider_name, *found.services):
            settled = services.settled(name)
            if settled.row is None or "{" not in settled.base_url:
                services.connected(settled)
        for reference in found.fallbacks:
            services.chosen(reference)
        plugins.build(Kind.DEVICE, found.device_name, device, parts)
    except ConfigError as error:
        unknown = "no such field" in str(error)
        hint = error.hint or (f"Common settings: {', '.join(settings.known_keys())}" if unknown else "")
        raise ConfigError("", str(error), hint) from error


def _typed(key: str, value: str) -> Any:
    if _LISTS.fullmatch(key):
        return _list(key, value)
    if key.endswith(".base_url"):
        if not value.strip():
            raise ConfigError(key, "the address is empty", f"To take it away: palmclaw config unset {key}")
        return value.strip()
    if key.startswith(("limits.", "budget.")) or ".prices." in key or key.endswith((".max_tokens", ".thinking")):
        try:
            return float(value) if "." in value else int(value.replace(",", ""))
        except ValueError as error:
            raise ConfigError(key, f"expected a number, got {value!r}") from error
    if ".body." in key or _SORTED.fullmatch(key):
        return _value(value)
    return {"true": True, "false": False}.get(value.lower(), value)


def _value(text: str) -> Any:
    """What TOML makes of it: a number, a truth, a list, a table in braces; else the text as it is."""
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text


def _list(key: str, value: str) -> list[Any]:
    """`a,b` or `["a", "b"]`."""
    if not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(",") if part.strip()]
    try:
        found: list[Any] = tomllib.loads(f"x = {value}")["x"]
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(key, f"{value!r} is no list; write it a,b,c") from error
    return found


def _set_secret(home: Home, place: str, value: str) -> str:
    """Keep a key with the origin it is for; returns that origin. Raises ConfigError for what is no key."""
    if not value.strip():
        raise ConfigError(
            f"{place}.api_key", "the key is empty", f"To take it away: palmclaw config unset {place}.api_key"
        )
    if not _KEY.fullmatch(value.strip()):
        raise ConfigError(f"{place}.api_key", "holds a character that no key has", "Copy it again, without spaces.")
    services, name = _services(home, place)
    settled = services.settled(name)
    where = origin(settled.base_url) if settled.base_url else ""
    _write_secrets(home, {**settings.stored_keys(home), place: settings.StoredKey(value.strip(), where)})
    return where


def _bind_key(home: Home) -> None:
    """A key that was set before there was a service belongs to the first one that is set."""
    keys = settings.stored_keys(home)
    bound = dict(keys)
    for place, key in keys.items():
        services, name = _services(home, place)
        if not key.origin and (address := services.settled(name).base_url):
            bound[place] = replace(key, origin=origin(address))
    if bound != keys:
        _write_secrets(home, bound)


def _notes(home: Home) -> list[str]:
    """What the chosen service still lacks, and what a person might not expect of it."""
    services, name = _services(home, "provider")
    settled = services.settled(name)
    notes = [f"{missing}. {missing.hint}"] if (missing := settled.missing()) else []
    if (row := catalog.named(name)) and settled.row is None:
        notes.append(f"{row.title} is now asked at your address; palmclaw config unset provider.name ends that.")
    return [*notes, *filter(None, [held_back(home)])]


def held_back(home: Home) -> str:
    """Words for a stored key that the configured service does not get, since it is for another; mostly empty."""
    key = settings.stored_keys(home).get("provider")
    services, name = _services(home, "provider")
    address = services.settled(name).base_url
    if key is None or not key.origin or not address or key.origin == origin(address):
        return ""
    return f"The stored key is for {key.origin} and is not sent to {origin(address)}."


def _services(home: Home, place: str) -> tuple[Services, str]:
    """The services of the file, and the name of the one whose table `place` is."""
    found = settings.decoded(settings.read(home.config), home.config)
    name = found.provider_name if place == "provider" else place.partition(".")[2]
    return Services(found, Parts(home.root)), name


def _forget_secret(home: Home, place: str) -> None:
    _write_secrets(home, {name: key for name, key in settings.stored_keys(home).items() if name != place})


def _write_secrets(home: Home, keys: dict[str, settings.StoredKey]) -> None:
    import tomlkit

    if not keys:
        home.secrets.unlink(missing_ok=True)
        return
    tables: dict[str, Any] = {}
    for place, key in keys.items():
        table, _, name = place.partition(".")
        holder = tables.setdefault(table, {}) if not name else tables.setdefault(table, {}).setdefault(name, {})
        holder |= {"api_key": key.api_key, "origin": key.origin}
    settings.write(home.secrets, tomlkit.dumps(tables))


def _flat(table: dict[str, Any], prefix: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        name = f"{prefix}{key}"
        found += _flat(value, f"{name}.") if isinstance(value, dict) else [(name, value)]
    return found


def _shown(key: str, value: Any) -> str:
    """A value as it may be shown: no key, no password, no query of an address."""
    if is_secret(_NAMED.sub("", key)):
        return "***"
    if key.endswith((".base_url", ".proxy")):
        return shown_address(str(value))
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def is_secret(key: str) -> bool:
    """Whether a setting or a field of that name holds what must not be shown."""
    return any(word in _HARMLESS.sub("", key.lower()) for word in _SECRET_WORDS)


def shown_address(address: str) -> str:
    """An address without what may be secret in it: user, password, query."""
    scheme, mark, rest = address.rpartition("://")
    plain, asked, _ = rest.rpartition("@")[2].partition("?")
    return f"{scheme}{mark}{plain}" + ("?***" if asked else "")
