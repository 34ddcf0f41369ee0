"""What the owner wrote: `config.toml`, a file for keys, a few environment variables. Never rewritten on an error."""

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, ConfigError, StorageError
from palmclaw.core.limits import Limits
from palmclaw.guard.durable import replaced
from palmclaw.paths import Home

ENVIRONMENT = {
    "PALMCLAW_PROVIDER": "name",
    "PALMCLAW_MODEL": "model",
    "PALMCLAW_BASE_URL": "base_url",
    "PALMCLAW_API_KEY": "api_key",
}


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """[tools]"""

    disabled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileSettings:
    """[files]: folders outside the workspace that the owner opens to the file tools."""

    outside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration. `provider` and `device` are decoded by the extension they name."""

    provider: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    limits: Limits = Limits()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()

    @property
    def provider_name(self) -> str:
        """The service asked for; an address without a name means any OpenAI-compatible server."""
        named = self.provider.get("name")
        return str(named) if named else "openai_chat" if self.provider.get("base_url") else "offline"

    @property
    def device_name(self) -> str:
        return str(self.device.get("name") or "virtual")


def load(home: Home, environ: Mapping[str, str]) -> Settings:
    """The configuration as it holds now. Raises ConfigError naming file, line and key."""
    table = read(home.config)
    key = stored_key(home)
    provider = table.get("provider", {})
    if key and isinstance(provider, dict) and "api_key" not in provider:
        table["provider"] = {**provider, "api_key": key}
    settings = decoded(table, home.config)
    chosen = {field: environ[name] for name, field in ENVIRONMENT.items() if environ.get(name)}
    return _with_provider(settings, {**_without_foreign_key(settings.provider, chosen), **chosen})


def stored_key(home: Home) -> str:
    """The key in the file of its own, or an empty text. Raises ConfigError for a file of another shape."""
    provider = read(home.secrets).get("provider", {})
    key = provider.get("api_key", "") if isinstance(provider, dict) else None
    if not isinstance(key, str):
        hint = "Set the key again: palmclaw config set provider.api_key KEY"
        raise ConfigError("", f"{home.secrets}: expected a text provider.api_key", hint)
    return key


def read(path: Path) -> dict[str, Any]:
    """A TOML file as a table; empty when there is none."""
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError("", f"{path}: {error}", "Mend that line; the file has been left as it is.") from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}") from error


def decoded(table: dict[str, Any], path: Path) -> Settings:
    """Check a table against the known settings."""
    try:
        return decode(Settings, table)
    except BadArguments as error:
        text = path.read_text("utf-8") if path.exists() else ""
        lines = [_located(problem, text, path) for problem in error.problems]
        raise ConfigError("", "\n".join(lines), "The file has been left as it is.") from error


def known_keys() -> list[str]:
    """Every setting that has a place of its own, as dotted keys."""
    provider = ["name", "model", "base_url", "api_key", "proxy"]
    limits = [f.name for f in fields(Limits)]
    names = {"provider": provider, "device": ["name"], "limits": limits, "tools": ["disabled"], "files": ["outside"]}
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
    return {str(path): path for path in (_outside(text, home) for text in named)}


def _outside(text: str, home: Home) -> Path:
    path = Path(text).expanduser() if text.partition("/")[0] == "~" else Path(text)
    if not path.is_absolute():
        raise ConfigError("files.outside", f"{text} is no absolute path", "Write it like /sdcard/Documents.")
    if not path.is_dir():
        raise ConfigError("files.outside", f"there is no folder {path}", "Make it, or take it out of the list.")
    if home.root.is_dir() and any(os.path.samefile(place, home.root) for place in (path, *path.resolve().parents)):
        raise ConfigError("files.outside", f"{path} is the agent's own folder", "Choose one outside PALMCLAW_HOME.")
    return path


def _with_provider(settings: Settings, provider: dict[str, Any]) -> Settings:
    return Settings(provider, settings.device, settings.limits, settings.tools, settings.files)


def _without_foreign_key(provider: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    """A stored key belongs to the stored address: it never travels to one that the environment names."""
    stored, wanted = str(provider.get("base_url", "")), chosen.get("base_url", "")
    if not wanted or urlsplit(stored)[:2] == urlsplit(wanted)[:2]:
        return provider
    return {name: value for name, value in provider.items() if name not in ("api_key", "headers")}


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
