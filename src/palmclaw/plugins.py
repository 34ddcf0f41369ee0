"""Finds extensions: files of our own folders first, then entry points of installed packages."""

import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, ConfigError
from palmclaw.core.plugin import Kind, Parts, Plugin
from palmclaw.core.ports import Request
from palmclaw.core.tools import Module, Tool


def names(folder: str) -> list[str]:
    """Every extension of a kind, without importing any of them."""
    return sorted({*_ours(folder), *(e.name for e in _entries(folder))})


def load(kind: Kind, name: str) -> Plugin:
    """Import one extension by name; its file name is its name. Raises ConfigError with the names there are."""
    for module in _modules(kind.value, name):
        for value in vars(module).values():
            if isinstance(value, Plugin) and value.kind is kind and value.name == name:
                return value
    table = kind.value.removesuffix("s")
    raise ConfigError(f"{table}.name", f"there is no {table} named {name!r}; there are {', '.join(names(kind.value))}")


def build(kind: Kind, name: str, table: dict[str, Any], parts: Parts) -> Any:
    """Decode the user's table with the extension's own config class and create the object."""
    found = load(kind, name)
    try:
        config: Any = decode(found.config, table)
    except BadArguments as error:
        raise ConfigError(kind.value.removesuffix("s"), "; ".join(error.problems)) from error
    return found.create(config, parts)


def to_wire(name: str) -> Callable[[Request], dict[str, Any]]:
    """The pure function with which a provider puts a request on the wire."""
    for module in _modules(Kind.PROVIDER.value, name):
        if (found := getattr(module, "to_wire", None)) is not None:
            wire: Callable[[Request], dict[str, Any]] = found
            return wire
    raise ConfigError("provider.name", f"{name} has no wire format")


def tools() -> tuple[dict[str, Tool], dict[str, Module]]:
    """Every Tool and Module of `palmclaw/tools/*.py` and of `palmclaw.tools` entry points, by name."""
    found = [v for name in names("tools") for m in _modules("tools", name) for v in vars(m).values()]
    by_name = {t.name: t for t in found if isinstance(t, Tool)}
    return by_name, {m.name: m for m in found if isinstance(m, Module)}


def _modules(folder: str, name: str) -> Iterator[ModuleType]:
    if name in _ours(folder):
        yield import_module(f"palmclaw.{folder}.{name}")
    for entry in _entries(folder):
        if entry.name == name:
            yield entry.load()


def _ours(folder: str) -> list[str]:
    package = import_module(f"palmclaw.{folder}")
    return [m.name for m in pkgutil.iter_modules(package.__path__)]


def _entries(folder: str) -> tuple[Any, ...]:
    from importlib.metadata import entry_points  # noqa: PLC0415  # 20 ms that only a listing needs to pay

    return tuple(entry_points(group=f"palmclaw.{folder}"))
