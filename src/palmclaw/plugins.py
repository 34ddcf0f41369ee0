"""Finds extensions: files of our own folders first, then entry points of installed packages.

Our own tool files are listed in `tools/index.json` with a digest each, so that a family is imported only when it is
needed; a file that the index does not know, or knows otherwise, is simply imported. `python -m palmclaw.plugins`
writes the index, and the one of the built-in skills.
"""

import hashlib
import json
import logging
import os
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import BadArguments, ConfigError
from palmclaw.core.keywords import parted
from palmclaw.core.plugin import Kind, Parts, Plugin
from palmclaw.core.ports import Request
from palmclaw.core.tools import Module, Tool
from palmclaw.core.values import dataclass
from palmclaw.storage import skill_shelf

log = logging.getLogger(__name__)
COMMON = frozenset(
    {"model", "base_url", "api_key", "proxy", "headers", "body", "key_header", "allow_http", "ca_file", "ceiling"}
)
INDEX = Path(__file__).parent / "tools" / "index.json"


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
    return load(kind, name).create(checked(kind, name, table), parts)


def checked(kind: Kind, name: str, table: dict[str, Any]) -> Any:
    """An extension's configuration from the user's table, without what only other extensions of its kind take."""
    found = load(kind, name)
    foreign = COMMON - {f.name for f in fields(found.config)}
    try:
        return decode(found.config, {k: v for k, v in table.items() if k not in foreign})
    except BadArguments as error:
        raise ConfigError(kind.value.removesuffix("s"), "; ".join(error.problems)) from error


def to_wire(name: str) -> Callable[[Request], dict[str, Any]]:
    """The pure function with which a provider puts a request on the wire."""
    for module in _modules(Kind.PROVIDER.value, name):
        if (found := getattr(module, "to_wire", None)) is not None:
            wire: Callable[[Request], dict[str, Any]] = found
            return wire
    raise ConfigError("provider.name", f"{name} has no wire format")


class Tools(Mapping[str, Tool]):
    """Tools by name, each family imported when one of its tools is first looked at."""

    def __init__(self, places: Mapping[str, str], loaded: Mapping[str, Tool]) -> None:
        self._places = places
        self._loaded = dict(loaded)
        self._names = sorted({*places, *loaded})

    def __getitem__(self, name: str) -> Tool:
        if name not in self._loaded:
            family = import_module(f"palmclaw.tools.{self._places[name]}")
            self._loaded = {**_of(family, Tool), **self._loaded}
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._places or name in self._loaded

    def having(self, tool: Tool) -> "Tools":
        """The same tools with one of them replaced."""
        return Tools(self._places, {**self._loaded, tool.name: tool})


def tools() -> tuple[Tools, dict[str, Module]]:
    """Every tool of `palmclaw/tools/*.py` and of `palmclaw.tools` entry points, and the modules they belong to."""
    families = _indexed()
    places = {tool: name for name, family in families.items() for tool in family.module.tools}
    modules = {family.module.name: family.module for family in families.values()}
    loaded: dict[str, Tool] = {}
    for file in _files("tools", without=families):
        loaded |= _of(file, Tool)
        modules |= {m.name: _with_tools(m, file) for m in _of(file, Module).values()}
    return Tools(places, loaded), modules


@dataclass(frozen=True, slots=True)
class Family:
    """What the index keeps of a tool file."""

    digest: str
    module: Module


@dataclass(frozen=True, slots=True)
class _Index:
    families: dict[str, Family] = field(default_factory=dict)


def index() -> str:
    """The text of the index for the tool files as they are."""
    families: dict[str, Family] = {}
    for name in _ours("tools"):
        file = import_module(f"palmclaw.tools.{name}")
        (module,) = _of(file, Module).values()
        families[name] = Family(_digest(name), _with_tools(module, file))
    return json.dumps(encode(_Index(families)), ensure_ascii=False, indent=1) + "\n"


def _indexed() -> dict[str, Family]:
    """The families whose file is the one that was indexed."""
    if not INDEX.exists():
        return {}
    known = decode(_Index, json.loads(INDEX.read_text("utf-8"))).families
    return {name: family for name, family in known.items() if family.digest == _digest(name)}


def _digest(name: str) -> str:
    file = INDEX.with_name(f"{name}.py")
    words = INDEX.parent / "words" / f"{name}.txt"
    parts = [part.read_bytes() for part in (file, words) if part.exists()]
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16] if file.exists() else ""


def _with_tools(module: Module, file: ModuleType) -> Module:
    """With its tools, and with the words of the text beside its file."""
    path = Path(file.__file__ or "")
    beside = path.parent / "words" / f"{path.stem}.txt"
    keywords, hints, _ = parted(beside.read_text("utf-8") if beside.exists() else "")
    tools = tuple(sorted(t.name for t in _of(file, Tool).values() if t.module == module.name))
    return replace(
        module,
        tools=tools,
        keywords=tuple(dict.fromkeys((*module.keywords, *keywords))),
        hints=(*module.hints, *hints),
    )


def _of(file: ModuleType, kind: type[Any]) -> dict[str, Any]:
    return {v.name: v for v in vars(file).values() if isinstance(v, kind)}


def _files(folder: str, without: Mapping[str, Any]) -> Iterator[ModuleType]:
    for name in _ours(folder):
        if name not in without:
            yield import_module(f"palmclaw.{folder}.{name}")
    for entry in _entries(folder):
        try:
            yield entry.load()
        except (ImportError, OSError) as error:  # one broken package must not keep the phone from starting
            log.warning("extension %s is left out: %s", entry.name, error)


def _modules(folder: str, name: str) -> Iterator[ModuleType]:
    if name in _ours(folder):
        yield import_module(f"palmclaw.{folder}.{name}")
        return
    for entry in _entries(folder):
        if entry.name == name:
            yield entry.load()


def _ours(folder: str) -> list[str]:
    package = import_module(f"palmclaw.{folder}")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__))


def skill_folders() -> tuple[Path, ...]:
    """Where installed extensions keep skills: the folders of the packages that their entry points name."""
    found: list[Path] = []
    for entry in _entries("skills"):
        try:
            spec = find_spec(entry.module)
        except (ImportError, ValueError) as error:
            spec = None
            log.warning("extension %s is left out: %s", entry.name, error)
        found += map(Path, (spec.submodule_search_locations or ()) if spec else ())
    return tuple(found)


def _entries(folder: str) -> tuple[Any, ...]:
    """Entry points of other packages; the library that reads them is loaded only when there may be one."""
    group = f"palmclaw.{folder}"
    if not any(f"[{group}]" in file.read_text("utf-8", "replace") for file in _entry_files()):
        return ()
    from importlib.metadata import entry_points  # noqa: PLC0415  # 20 ms of start-up that almost nobody needs

    return tuple(entry_points(group=group))


def _entry_files() -> Iterator[Path]:
    for place in sys.path:
        if os.path.isdir(place):  # also False for a folder that may not be looked into
            yield from Path(place).glob("*.dist-info/entry_points.txt")


if __name__ == "__main__":
    INDEX.write_text(index(), "utf-8")
    (skill_shelf.BUILTIN / skill_shelf.INDEX).write_text(skill_shelf.index(), "utf-8")
