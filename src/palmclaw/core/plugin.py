"""What an extension file exports: one or more Plugin values, made by the decorator below."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Any

from palmclaw.core.limits import Limits
from palmclaw.core.ports import Clock, Findings, Forgetful
from palmclaw.core.values import dataclass


class Kind(StrEnum):
    """The extension points that take configuration; the value is the folder and the config table."""

    PROVIDER = "providers"
    DEVICE = "devices"
    CHANNEL = "channels"


@dataclass(frozen=True, slots=True)
class Parts:
    """What every factory is given besides its own configuration; `table` is where that stands in the file."""

    home: Path
    clock: Clock | None = None
    limits: Limits = Limits()
    environ: Mapping[str, str] = field(default_factory=dict)
    findings: Findings = field(default_factory=Forgetful)
    table: str = "provider"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A named factory: `create(config, parts)` where `config` is decoded from the user's table."""

    kind: Kind
    name: str
    config: type
    create: Callable[..., Any]


def plugin(kind: Kind, name: str, config: type) -> Callable[[Callable[..., Any]], Plugin]:
    """Mark a factory: `@plugin(Kind.DEVICE, "virtual", VirtualConfig)`."""

    def wrap(create: Callable[..., Any]) -> Plugin:
        return Plugin(kind, name, config, create)

    return wrap
