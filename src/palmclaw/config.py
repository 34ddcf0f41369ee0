"""What the owner wrote: `config.toml`, a file for keys, a few environment variables. Never rewritten on an error."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from palmclaw.core.channels import DeliverySettings
from palmclaw.core.codec import decode
from palmclaw.core.desks import CrewLimits
from palmclaw.core.errors import BadArguments, ConfigError, StorageError
from palmclaw.core.families import ModuleSettings
from palmclaw.core.limits import Limits
from palmclaw.core.schema import plan_of
from palmclaw.core.traffic import QueueChange, QueueSettings
from palmclaw.core.values import dataclass
from palmclaw.guard.durable import replaced
from palmclaw.net.endpoints import origin
from palmclaw.paths import Home
from palmclaw.runtime import bindings
from palmclaw.runtime.access import AccessSettings, ids
from palmclaw.runtime.bindings import AgentSettings
from palmclaw.runtime.budget import BudgetSettings
from palmclaw.runtime.commands import drop_named, mode_named
from palmclaw.runtime.lanes import QueueRules

T = TypeVar("T")

ENVIRONMENT = {
    "PALMCLAW_PROVIDER": "name",
    "PALMCLAW_MODEL": "model",
    "PALMCLAW_BASE_URL": "base_url",
    "PALMCLAW_API_KEY": "api_key",
}
POLICY = 60_000
"""Characters of a policy text of one's own."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """[tools]"""

    disabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileSettings:
    """[files]: folders outside the workspace that the owner opens to the file tools."""

    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """[channels.NAME]: `kind` is the plugin (mostly NAME), `options` is what that reads itself."""

    kind: str
    access: AccessSettings = AccessSettings()
    delivery: DeliverySettings = DeliverySettings()
    options: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key with the origin that it was set for, and that alone it is sent to; empty: the configured one."""

    api_key: str = field(repr=False)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration. `provider` and `device` are decoded by the extension they name.

    `services` are further model services by name; `keys` come from the file of keys, by the table they belong to;
    `agents`, `channels` and `modules` go by name.
    """

    provider: dict[str, Any] = field(default_factory=dict)
    services: dict[str, dict[str, Any]] = field(default_factory=dict)
    budget: BudgetSettings = BudgetSettings()
    device: dict[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
    queue: QueueRules = QueueRules()
    channels: dict[str, ChannelSettings] = field(default_factory=dict)
    agents: dict[str, AgentSettings] = field(default_factory=dict)
    subagents: CrewLimits = CrewLimits()
    modules: dict[str, ModuleSettings] = field(default_factory=dict)
    keys: dict[str, StoredKey] = field(default_factory=dict, repr=False)

    @property
    def provider_name(self) -> str:
        """The service asked for; an address without a name is a server of the person's own."""
        named = self.provider.get("name")
        return str(named) if named else "custom" if self.provider.get("base_url") else "offline"

    @property
    def fallbacks(self) -> tuple[str, ...]:
        """The models that may take the place of one that fails, in their order."""
        written = self.provider.get("fallbacks", [])
        if not isinstance(written, list) or not all(isinstance(name, str) for name in written):
            raise ConfigError("provider.fallbacks", 'must be a list such as ["groq", "offline"]')
        return tuple(written)

    @property
    def device_name(self) -> str:
        return str(self.device.get("name") or "virtual")


def load(home: Home, environ: Mapping[str, str]) -> Settings:
    """The configuration as it holds now. Raises ConfigError naming file, line and key."""
    settings = decoded(read(home.config), home.config)
    chosen = {field: environ[name] for name, field in ENVIRONMENT.items() if environ.get(name)}
    provider = {**_of_the_same_service(settings.provider, chosen), **chosen}
    return replace(settings, provider=provider, keys=_bound(stored_keys(home), settings.provider))


def stored_keys(home: Home) -> dict[str, StoredKey]:
    """The keys of the file of their own, by the table they belong to (`provider`, `services.NAME`).

    Raises ConfigError for a file of another shape.
    """
    written = read(home.secrets)
    tables = {"provider": written.get("provider"), **_prefixed(written.get("services"))}
    try:
        return {place: decode(StoredKey, table) for place, table in tables.items() if table is not None}
    except BadArguments as error:
        hint = "Set the key again: palmclaw config set provider.api_key KEY"
        raise ConfigError("", f"{home.secrets}: expected a text provider.api_key", hint) from error


def read(path: Path) -> dict[str, Any]:
    """A TOML file as a table; empty when there is none."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        why = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
        raise ConfigError("", f"{path}: {why}", "Mend that line; the file has been left as it is.") from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def decoded(table: dict[str, Any], path: Path) -> Settings:
    """Check a table against the known settings."""
    problems = ["keys: no such field"] if "keys" in table else []
    plain = {name: value for name, value in table.items() if name not in ("keys", "queue", "channels")}
    settings = _part(Settings, plain, "", problems)
    queue = _queue(table.get("queue", {}), problems)
    channels = {n: _channel(n, t, problems) for n, t in _tables(table.get("channels", {}), "channels", problems)}
    if problems or settings is None:
        text = path.read_text("utf-8") if path.exists() else ""
        lines = [_located(problem, text, path) for problem in problems]
        raise ConfigError("", "\n".join(lines), "The file has been left as it is.")
    for name, channel in channels.items():
        ids(f"channels.{name}.owners", channel.access.owners)
        ids(f"channels.{name}.allow", channel.access.allow)
    bindings.check(settings.agents)
    return replace(settings, queue=queue, channels=channels)


def known_keys() -> list[str]:
    """Every setting that has a place of its own, as dotted keys."""
    names = {
        "provider": ["name", "model", "base_url", "api_key", "fallbacks", "protocol", "proxy", "ca_file", "allow_http"],
        "budget": [f.name for f in fields(BudgetSettings)],
        "device": ["name"],
        "limits": [f.name for f in fields(Limits)],
        "tools": ["disabled"],
        "files": ["outside"],
        "queue": [f.name for f in fields(QueueSettings)],
        "subagents": [f.name for f in fields(CrewLimits)],
    }
    return [f"{table}.{key}" for table, keys in names.items() for key in keys]


def write(path: Path, text: str) -> None:
    """Replace a file of the home, which is made if it is not there. Raises StorageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}", "Is the disk full or read-only?") from error
    replaced(path, text.encode())


def outside(named: Iterable[str], home: Home) -> dict[str, Path]:
    """The folders that [files] opens, by their absolute path. Raises ConfigError."""
    return {str(path): path for path in (_folder("files.outside", text, home) for text in named)}


def workspaces(agents: Mapping[str, AgentSettings], home: Home) -> dict[str, Path]:
    """The folders of those agents that have one of their own. Raises ConfigError."""
    return {n: _folder(f"agents.{n}.workspace", a.workspace, home) for n, a in agents.items() if a.workspace}


def policies(agents: Mapping[str, AgentSettings], home: Home) -> dict[str, str]:
    """The texts of those agents that have one of their own; a path may start at the home. Raises ConfigError."""
    return {n: _policy(f"agents.{n}.policy", home.root / a.policy) for n, a in agents.items() if a.policy}


def _policy(key: str, path: Path) -> str:
    try:
        text = path.expanduser().read_text("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigError(key, f"cannot read {path}: {why}") from error
    if not 0 < len(text) <= POLICY:
        raise ConfigError(key, f"{path} must hold 1 to {POLICY:,} characters, not {len(text):,}")
    return text


def _folder(key: str, text: str, home: Home) -> Path:
    path = Path(text).expanduser() if text.partition("/")[0] == "~" else Path(text)
    if not path.is_absolute():
        raise ConfigError(key, f"{text} is no absolute path", "Write it like /sdcard/Documents.")
    if not path.is_dir():
        raise ConfigError(key, f"there is no folder {path}", "Make it, or take it out again.")
    if home.root.is_dir() and any(os.path.samefile(place, home.root) for place in (path, *path.resolve().parents)):
        raise ConfigError(key, f"{path} is the agent's own folder", "Choose one outside PALMCLAW_HOME.")
    return path


def _part(tp: type[T], value: Any, at: str, problems: list[str]) -> T | None:
    """One table decoded; what is wrong with it joins `problems`, with its place."""
    try:
        return decode(tp, value)
    except BadArguments as error:
        for problem in error.problems:
            key, _, text = problem.partition(": ")
            inner = "" if key == "arguments" else key
            problems.append(f"{'.'.join(filter(None, (at, inner))) or key}: {text}")
        return None


def _tables(value: Any, at: str, problems: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """The tables of a table, by name."""
    if not isinstance(value, dict):
        problems.append(f"{at}: expected a table")
        return []
    problems += [f"{at}.{name}: expected a table" for name, each in value.items() if not isinstance(each, dict)]
    named = [(name, each) for name, each in value.items() if isinstance(each, dict)]
    problems += [f"{at}.{name}: a name has letters, digits, _ and - only" for name, _ in named if not _NAME(name)]
    return named


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*").fullmatch


def _queue(table: Any, problems: list[str]) -> QueueRules:
    if not isinstance(table, dict):
        problems.append("queue: expected a table")
        return QueueRules()
    plain = {name: value for name, value in table.items() if name != "channels"}
    base = _part(QueueSettings, _today(plain), "queue", problems) or QueueSettings()
    named = _tables(table.get("channels", {}), "queue.channels", problems)
    changes = {n: _part(QueueChange, _today(t), f"queue.channels.{n}", problems) for n, t in named}
    return QueueRules(base, {name: change for name, change in changes.items() if change is not None})


def _today(table: dict[str, Any]) -> dict[str, Any]:
    """A table with the older names of modes and drop policies read as today's."""
    named = {"mode": mode_named(str(table.get("mode"))), "drop": drop_named(str(table.get("drop")))}
    return table | {name: found.value for name, found in named.items() if found is not None}


def _channel(name: str, table: dict[str, Any], problems: list[str]) -> ChannelSettings:
    at, kind = f"channels.{name}", table.get("kind", name)
    if name == bindings.TERMINAL or not isinstance(kind, str):
        problems.append(f"{at}: no channel can have that name" if isinstance(kind, str) else f"{at}.kind: not a text")
    access = _part(AccessSettings, _of(AccessSettings, table), at, problems)
    delivery = _part(DeliverySettings, _of(DeliverySettings, table), at, problems)
    ours = {"kind", *_of(AccessSettings, table), *_of(DeliverySettings, table)}
    options = {key: value for key, value in table.items() if key not in ours}
    return ChannelSettings(str(kind), access or AccessSettings(), delivery or DeliverySettings(), options)


def _of(tp: type, table: dict[str, Any]) -> dict[str, Any]:
    """What of a table is a dataclass's."""
    names = plan_of(tp).hints
    return {key: value for key, value in table.items() if key in names}


def _prefixed(services: Any) -> dict[str, Any]:
    return {f"services.{name}": table for name, table in services.items()} if isinstance(services, dict) else {}


def _bound(keys: dict[str, StoredKey], provider: dict[str, Any]) -> dict[str, StoredKey]:
    """A key that was stored without an origin belongs to the address that the file names."""
    found = keys.get("provider")
    address = str(provider.get("base_url", ""))
    if found is None or found.origin or not address:
        return keys
    return {**keys, "provider": replace(found, origin=origin(address))}


def _of_the_same_service(provider: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    """What was written for one service never goes to another that the environment names: key, headers, fields."""
    if chosen.get("name", provider.get("name")) != provider.get("name"):
        return {name: value for name, value in provider.items() if name in ("fallbacks", "proxy")}
    stored, wanted = str(provider.get("base_url", "")), chosen.get("base_url", "")
    if not wanted or origin(stored) == origin(wanted):
        return provider
    return {name: value for name, value in provider.items() if name not in ("api_key", "headers", "body")}


def _located(problem: str, text: str, path: Path) -> str:
    """The problem with the line its key stands on, and the nearest known key."""
    key = problem.partition(":")[0]
    line = _line_of(key, text)
    near = difflib.get_close_matches(key, [*known_keys(), *(f.name for f in fields(Settings))], n=1, cutoff=0.7)
    guess = f" (did you mean {near[0]}?)" if "no such field" in problem and near and near[0] != key else ""
    return f"{path}{f', line {line}' if line else ''}: {problem}{guess}"


def _line_of(key: str, text: str) -> int:
    table, _, name = key.rpartition(".")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([\w.\-]+)", line):
            current = header[1]
            if current == key:
                return number
        elif re.match(rf"\s*\"?{re.escape(name.split('[')[0])}\"?\s*=", line) and current == table:
            return number
    return 0
