"""Which model service is meant, and with which settings: the catalogue, the configuration and the keys together.

A key goes only to the origin that it was set for, wherever it is written; a key variable of the catalogue goes to the
catalogue's origin.
"""

import difflib
from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Any

from palmclaw import catalog, plugins
from palmclaw.catalog import Priced
from palmclaw.config import Settings
from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, ConfigError
from palmclaw.core.messages import Usage
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Provider
from palmclaw.core.values import dataclass
from palmclaw.core.wire import DOCUMENTS, IMAGES
from palmclaw.net.endpoints import is_near, origin, protocol_of, split
from palmclaw.runtime.budget import Prices
from palmclaw.runtime.models import Choice

_PRICES = "US dollars per million tokens: input, output, and where they differ cached, cache_write"
_FREE = Priced(0.0, 0.0, "")
EXACTLY = "@"
_ANOTHER = "In the conversation: /model default, or /model NAME. For one message: chat --model NAME"
NOT_CATALOGUED = frozenset({"custom", "offline", "scripted", "openai_chat", "openai_responses"})
_WITHOUT_MODELS = ("offline", "scripted")
OURS = ("name", "protocol", "fallbacks", "prices", "images", "documents")
"""Settings of a service that are not its protocol's."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A service ready to be connected: `table` is what its protocol's configuration is decoded from."""

    name: str
    protocol: str
    table: Mapping[str, Any]
    place: str = "provider"
    row: catalog.Service | None = None

    @property
    def model(self) -> str:
        return str(self.table.get("model", ""))

    @property
    def base_url(self) -> str:
        return str(self.table.get("base_url", ""))

    def missing(self) -> ConfigError | None:
        """What a service of the catalogue still needs: an address of one's own, a key, the name of a model."""
        row = self.row
        if row is None or not row.key:
            return None
        if "{" in self.base_url:
            key = f"{self.place}.base_url"
            return ConfigError(key, f"{row.title} needs your address", f"palmclaw config set {key} {row.base_url}")
        if not self.table.get("api_key"):
            get = f"Get one at {row.keys}, then: " if row.keys else ""
            hint = f"{get}palmclaw config set {self.place}.api_key KEY (or set {row.key})"
            return ConfigError(f"{self.place}.api_key", f"{row.title} needs a key", hint)
        if not self.model:
            key = f"{self.place}.model"
            return ConfigError(key, f"{row.title} needs the name of a model", f"palmclaw config set {key} NAME")
        return None


@dataclass(slots=True)
class Services:
    """Implements the Services port of runtime/models over the configuration; what was worked out is remembered."""

    settings: Settings
    parts: Parts
    _chosen: dict[str, Choice] = field(default_factory=dict)
    _settled: dict[str, Settled] = field(default_factory=dict)
    _protocols: tuple[str, ...] = ()

    @property
    def protocols(self) -> tuple[str, ...]:
        """Every provider that is installed."""
        self._protocols = self._protocols or tuple(plugins.names(Kind.PROVIDER.value))
        return self._protocols

    def chosen(self, reference: str) -> Choice:
        """What a person means by `service/model`, `service` or `model`; empty: the configured one."""
        if reference not in self._chosen:
            self._chosen[reference] = self._meant(reference.strip())
        return self._chosen[reference]

    def settled(self, service: str) -> Settled:
        """The service with everything that is known of it. Raises ConfigError."""
        if service not in self._settled:
            self._settled[service] = self._worked_out(self.canonical(service))
        return self._settled[service]

    def exactly(self, choice: Choice) -> str:
        """A reference that means this choice and nothing else, also when the configuration changes."""
        return f"{EXACTLY}{choice}"

    def _meant(self, named: str) -> Choice:
        if named.startswith(EXACTLY):
            return self._remembered(*named.removeprefix(EXACTLY).partition("/")[::2])
        default = self.canonical(self.settings.provider_name)
        if not named:
            return Choice(default, self.settled(default).model)
        service, slash, model = named.partition("/")
        if slash and model and self._is_known(service):
            return Choice(self.canonical(service), model)
        if self._is_known(named) or _row(named):
            return Choice(self.canonical(named), self.settled(named).model)
        if self._has_models(default):
            return Choice(default, named)
        raise self._unknown(named)

    def _remembered(self, service: str, model: str) -> Choice:
        if not (self._is_known(service) or _row(service)):
            raise ConfigError("model", f"this conversation asks {service}, which is no longer set up", _ANOTHER)
        return Choice(self.canonical(service), model or self.settled(service).model)

    def provider(self, service: str) -> Provider:
        """Connect a service by its name. Raises ConfigError."""
        found = self.settled(service)
        if missing := found.missing():
            raise missing
        return self.connected(found)

    def connected(self, found: Settled) -> Provider:
        """The service as it is set up, though something may still be missing. Raises ConfigError."""
        parts = replace(self.parts, table=found.place)
        provider: Provider = plugins.build(Kind.PROVIDER, found.protocol, dict(found.table), parts)
        return provider

    def prices(self, choice: Choice) -> Prices | None:
        """What a million tokens of a model cost, where that is known."""
        priced = self._priced(choice)
        return Prices(max(priced.input, priced.cache_write or 0.0), priced.output) if priced else None

    def usd(self, choice: Choice, usage: Usage) -> float | None:
        """What a request has cost in US dollars, or None where no price is known."""
        priced = self._priced(choice)
        return catalog.cost(priced, usage) if priced else None

    def window(self, choice: Choice) -> int:
        """Tokens of a request and its answer together, where the catalogue or the owner says."""
        priced = self._priced(choice)
        return priced.window if priced else 0

    def takes(self, choice: Choice) -> frozenset[str]:
        """The media types that a model may be sent; a model that nobody knows is tried with images."""
        settled, known = self.settled(choice.service), self._known(choice)
        table = self._table(settled.name)
        tried = settled.protocol not in _WITHOUT_MODELS
        images = table.get("images", known.images if known and known is not _FREE else tried)
        documents = table.get("documents", known.documents if known else False)
        return (IMAGES if images else frozenset()) | (DOCUMENTS if documents else frozenset())

    def canonical(self, name: str) -> str:
        """The service's own name for an alias of the catalogue."""
        row = None if name in self.settings.services else _row(name)
        return row.name if row else name

    def _worked_out(self, name: str) -> Settled:
        table = self._table(name)
        if self._is_only_protocol(name):
            address = {"base_url": _usual_address(name)} if "base_url" not in table else {}
            return self._with_key(Settled(name, name, {**_without_ours(table), **address}, self._place(name)))
        row = _row(self._kind(name))
        if row is None and not table.get("base_url"):
            own = name == "custom" or name in self.settings.services
            raise self._without_address(name) if own else self._unknown(name)
        base_url = str(table.get("base_url") or (row.base_url if row else ""))
        protocol = str(table.get("protocol") or (row.protocol if row else protocol_of(base_url)))
        if protocol not in self.protocols:
            known = ", ".join(self.protocols)
            raise ConfigError(f"{self._place(name)}.protocol", f"there is no protocol {protocol!r}; there are {known}")
        self._check_ours(table, self._place(name))
        usual = row if row and ("{" in row.base_url or origin(base_url) == origin(row.base_url)) else None
        quirks = row.quirks if row and protocol == row.protocol else {}
        merged = {**quirks, "model": usual.model if usual else "", **_without_ours(table), "base_url": base_url}
        priced = usual.models.get(str(merged["model"])) if usual else None
        if priced and priced.answer:
            merged = {"ceiling": priced.answer, **merged}
        return self._with_key(Settled(name, protocol, merged, self._place(name), usual))

    def _check_ours(self, table: Mapping[str, Any], place: str) -> None:
        for name in ("images", "documents"):
            if not isinstance(table.get(name, False), bool):
                raise ConfigError(f"{place}.{name}", f"must be true or false, not {table[name]!r}")
        if "prices" in table:
            written = table["prices"]
            try:
                absent = {"source": "", "input": 0, "output": 0}
                decode(Priced, {**absent, **written} if isinstance(written, dict) else written)
            except BadArguments as error:
                raise ConfigError(f"{place}.prices", "; ".join(error.problems), _PRICES) from error

    def _table(self, name: str) -> dict[str, Any]:
        """What the owner wrote of a service; the chosen one has a table of its own above that."""
        written = dict(self.settings.services.get(name, {}))
        if self._place(name) != "provider":
            return written
        row = None if self._is_only_protocol(name) else _row(self._kind(name))
        here = str(written.get("base_url") or (row.base_url if row else ""))
        if origin(str(self.settings.provider.get("base_url") or here)) != origin(here):
            written = {key: value for key, value in written.items() if key not in ("api_key", "headers", "body")}
        return {**written, **self.settings.provider}

    def _kind(self, name: str) -> str:
        """The catalogue's name of a service: a second account at one has a name of its own."""
        return str(self.settings.services.get(name, {}).get("name") or name)

    def _place(self, name: str) -> str:
        return "provider" if name == self.canonical(self.settings.provider_name) else f"services.{name}"

    def _with_key(self, found: Settled) -> Settled:
        """The key of the configuration, else the stored one, else the environment's; each only for its own origin."""
        if found.table.get("api_key") or not found.base_url:
            return found
        here, keys = origin(found.base_url), self.settings.keys
        stored = [keys[found.place]] if found.place in keys else []
        key = next((k.api_key for k in (*stored, *keys.values()) if k.origin == here), "")
        row = found.row
        if not key and row and row.key and here == origin(row.base_url):
            key = self.parts.environ.get(row.key, "").strip()
        return replace(found, table={**found.table, "api_key": key}) if key else found

    def _is_known(self, name: str) -> bool:
        """Whether a name means a service that could be asked, rather than a model."""
        if name in self.settings.services or self._is_only_protocol(name):
            return True
        if self.canonical(name) == self.canonical(self.settings.provider_name):
            return True
        row = _row(name)
        return row is not None and (not row.key or bool(self.settled(name).table.get("api_key")))

    def _is_only_protocol(self, name: str) -> bool:
        """Whether an extension of that name stands for itself; `anthropic` is a service of the catalogue too."""
        return name in self.protocols and _row(name) is None

    def _has_models(self, name: str) -> bool:
        return name not in _WITHOUT_MODELS

    def _unknown(self, name: str) -> ConfigError:
        row = _row(name.partition("/")[0])
        if row is not None:
            hint = f"palmclaw config set services.{row.name}.api_key KEY (or set {row.key})"
            return ConfigError("model", f"{row.title} has no key yet", f"Get one at {row.keys}, then: {hint}")
        known = [*catalog.catalog(), *self.protocols, *self.settings.services]
        near = difflib.get_close_matches(name, [k for k in known if k != name], n=1, cutoff=0.6)
        guess = f"; did you mean {near[0]}?" if near else ""
        return ConfigError("provider.name", f"there is no service named {name!r}{guess}", "palmclaw models lists them")

    def _without_address(self, name: str) -> ConfigError:
        key = f"{self._place(name)}.base_url"
        return ConfigError(key, "a server of your own needs an address", f"palmclaw config set {key} URL")

    def _known(self, choice: Choice) -> Priced | None:
        """What the catalogue says of a model; one on a machine near by costs nothing."""
        settled = self.settled(choice.service)
        found = settled.row.models.get(choice.model) if settled.row else None
        near = bool(settled.base_url) and is_near(split(settled.base_url).hostname or "")
        return _FREE if found is None and near and not settled.table.get("api_key") else found

    def _priced(self, choice: Choice) -> Priced | None:
        """The owner's price, once it is whole, else the catalogue's."""
        written = self._table(self.settled(choice.service).name).get("prices", {})
        if {"input", "output"} <= written.keys():
            return decode(Priced, {"source": "", **written})
        return self._known(choice)


def _usual_address(protocol: str) -> str:
    """Where a protocol goes when nobody says; empty for one that needs no address."""
    config = plugins.load(Kind.PROVIDER, protocol).config
    return str(next((f.default for f in fields(config) if f.name == "base_url"), ""))


def _row(name: str) -> catalog.Service | None:
    """The catalogue's row of that name or alias; the catalogue is not read for a name that it never has."""
    return None if name in NOT_CATALOGUED else catalog.named(name)


def _without_ours(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in OURS}
