"""The model services that are known by name: `catalog.toml` as values."""

import tomllib
from collections.abc import Mapping
from dataclasses import field
from datetime import date
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from palmclaw.core.codec import decode
from palmclaw.core.messages import Usage
from palmclaw.core.schema import Between, Textual
from palmclaw.core.values import dataclass

MILLION = 1_000_000


class Day(Textual):
    """Marks a calendar day."""


Price = Annotated[float, Between(0, 10_000)]


@dataclass(frozen=True, slots=True)
class Priced:
    """A model: what it takes, and what a million tokens of it cost in US dollars.

    `window` bounds a request and `answer` an answer; 0 where nobody says. `cached` and `cache_write` cost like `input`
    where they are None.
    """

    input: Price
    output: Price
    source: str
    window: Annotated[int, Between(0, 100_000_000)] = 0
    images: bool = False
    documents: bool = False
    cached: Price | None = None
    cache_write: Price | None = None
    answer: Annotated[int, Between(0, 10_000_000)] = 0


@dataclass(frozen=True, slots=True)
class Service:
    """A model service. A brace in `base_url` stands for what only the person knows.

    `key` names an environment variable, and is empty for a server without keys; `model` is empty where no name can
    be guessed; `quirks` are settings for the configuration of the protocol.
    """

    name: str
    title: str
    protocol: Literal["openai_chat", "openai_responses", "anthropic"]
    base_url: str
    source: str
    seen: Annotated[date, Day()]
    key: str = ""
    keys: str = ""
    model: str = ""
    aliases: tuple[str, ...] = ()
    quirks: dict[str, Any] = field(default_factory=dict)
    models: dict[str, Priced] = field(default_factory=dict)


@cache
def catalog() -> Mapping[str, Service]:
    """Every service by its name; read at the first use."""
    written = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text("utf-8"))
    return MappingProxyType({name: _service(name, row) for name, row in written.items()})


def named(name: str) -> Service | None:
    """The service of that name or alias, in whatever case."""
    wanted = name.strip().casefold()
    return next((s for s in catalog().values() if wanted in (s.name, *s.aliases)), None)


def cost(priced: Priced, usage: Usage) -> float:
    """What the tokens cost in US dollars; those read from the cache or written to it are parts of the input."""
    plain = max(0, usage.input - usage.cached - usage.cache_write)
    cached = priced.input if priced.cached is None else priced.cached
    written = priced.input if priced.cache_write is None else priced.cache_write
    paid = plain * priced.input + usage.cached * cached + usage.cache_write * written + usage.output * priced.output
    return paid / MILLION


def _service(name: str, row: dict[str, Any]) -> Service:
    values = {key: value.isoformat() if isinstance(value, date) else value for key, value in row.items()}
    return decode(Service, {"name": name, **values}, {Day: lambda text, _: date.fromisoformat(text)})
