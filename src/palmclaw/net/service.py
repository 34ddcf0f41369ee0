"""A model service as every wire protocol meets it: address, key, connections, and what must never be shown."""

import base64
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import quote, unquote, urlsplit

from palmclaw.core.errors import BadReply, ConfigError, NoEndpoint, PalmclawError, ProviderError
from palmclaw.core.plugin import Parts
from palmclaw.core.ports import Request
from palmclaw.core.schema import Between, Doc
from palmclaw.core.values import dataclass
from palmclaw.net.endpoints import Path, candidates, origin, plain, split
from palmclaw.net.http import Http
from palmclaw.net.proxies import Proxies
from palmclaw.net.sse import ServerEvent
from palmclaw.net.stream import EventStream

KeyHeader = Literal["bearer", "x-api-key", "api-key", "both"]
_BOUNDS = frozenset({"max_tokens", "max_completion_tokens", "max_output_tokens"})
_SECRET_FIELD = re.compile(r"key|token(?!s)|secret|password|authorization", re.IGNORECASE)
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """What a person can set about any model service."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = ""
    api_key: Annotated[str, Doc("empty for a local server without keys")] = field(default="", repr=False)
    model: Annotated[str, Doc("used where a request names none")] = ""
    headers: Annotated[dict[str, str], Doc("further headers")] = field(default_factory=dict, repr=False)
    proxy: Annotated[str, Doc("http://HOST:PORT, or “none”; empty: what the environment says")] = field(
        default="", repr=False
    )
    body: Annotated[dict[str, Any], Doc("further fields of each request, such as temperature")] = field(
        default_factory=dict
    )
    key_header: Annotated[KeyHeader, Doc("how the key is sent; both: bearer and x-api-key")] = "bearer"
    allow_http: Annotated[bool, Doc("send the key unencrypted over the internet")] = False
    ca_file: Annotated[str, Doc("certificate of a server of one's own, in PEM form")] = ""
    ceiling: Annotated[int, Between(0, 10_000_000), Doc("the most tokens of an answer of `model`, where known")] = 0

    def ceiling_of(self, model: str) -> int:
        """The most tokens of an answer of any model; 0: nobody says."""
        return self.ceiling if model == self.model else 0


class Connection:
    """One service: `events` posts a body and streams the answer. Made without any I/O.

    `redact(text, *secrets)` masks what must not be shown; `headers` are the protocol's own. Raises ConfigError.
    """

    def __init__(
        self,
        config: ServiceConfig,
        path: Path,
        parts: Parts,
        redact: Callable[..., str],
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._urls = candidates(config.base_url, path, parts.table, allow_http=config.allow_http)
        self._headers = _headers(config, parts.table, headers)
        self._secrets = _secrets(config)
        self._mask = redact
        self._table = parts.table
        self._findings = parts.findings
        self._key = f"{path.suffix} {plain(config.base_url.strip())}"
        self._model = config.model
        self._body = config.body
        self.argument_chars = parts.limits.argument_chars
        proxies = Proxies(config.proxy, parts.environ)
        self._http = Http(self.redact, parts.limits, proxies, trusted=_trusted(config.ca_file, parts.table))

    @property
    def origin(self) -> str:
        """Scheme, host and port: what may be shown of the address."""
        return origin(self._urls[0])

    def redact(self, text: str) -> str:
        """The text without anything secret of this service."""
        return self._mask(text, *self._secrets)

    def addressed(self, request: Request) -> Request:
        """The request to the model that it names, or to the configured one."""
        return replace(request, model=request.model or self._model)

    def with_own_fields(self, wire: dict[str, Any]) -> dict[str, Any]:
        """The body with the person's own fields: they come first and win, but no bound becomes a larger one."""
        smaller = {k: min(v, wire[k]) for k, v in self._body.items() if k in _BOUNDS & wire.keys() and _is_count(v)}
        return {**self._body, **wire, **self._body, **smaller}

    @asynccontextmanager
    async def events(self, body: bytes) -> AsyncIterator[EventStream]:
        """POST to the endpoint, found by trying what the address can mean; only "no such path" moves on.

        An error that comes after the answer has begun says so.
        """
        began = False
        try:
            async with AsyncExitStack() as stack:
                stream = await self._opened(stack, body)
                began = True
                yield stream
        except PalmclawError as error:
            error.hint = error.hint.replace(" provider.", f" {self._table}.")
            if began and isinstance(error, ProviderError) and not isinstance(error, BadReply):
                error.began = True  # what is no reply at all, a web page say, was no work either
            raise

    async def close(self) -> None:
        """Give back the connections; the next request opens new ones."""
        await self._http.close()

    async def _opened(self, stack: AsyncExitStack, body: bytes) -> EventStream:
        refused: NoEndpoint | None = None
        for url in self._ordered():
            try:
                stream = await stack.enter_async_context(self._http.post_stream(url, body, self._headers))
            except NoEndpoint as error:
                refused = refused or error
                continue
            self._remember(url)
            return stream
        assert refused is not None
        raise refused

    def _ordered(self) -> list[str]:
        """The remembered endpoint first; what is remembered is never an address of another origin."""
        found = self._findings.get(self._key)
        return sorted(self._urls, key=lambda url: urlsplit(url).path != found)

    def _remember(self, url: str) -> None:
        path = urlsplit(url).path
        if len(self._urls) > 1 and self._findings.get(self._key) != path:
            self._findings.put(self._key, path)


def event_json(event: ServerEvent, where: str) -> Any:
    """The JSON value of an event, None for an empty one. Raises BadReply."""
    if not event.data.strip():
        return None
    try:
        return json.loads(event.data)
    except (ValueError, RecursionError) as error:
        if event.event == "error":
            return {"error": {"message": event.data}}
        raise BadReply(f"{where} sent something that is not JSON in the middle of its answer.") from error


def _headers(config: ServiceConfig, table: str, protocols: Mapping[str, str]) -> Mapping[str, str]:
    """The person's headers, the protocol's and the key; a header of the person's own wins."""
    for name, value in config.headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigError(f"{table}.headers", f"{name!r} cannot be sent as a header")
    key = config.api_key.strip()
    if not _HEADER_VALUE.fullmatch(key) or " " in key:
        raise ConfigError(f"{table}.api_key", "holds a character that no key has", "Copy it again, without spaces.")
    theirs = {name.lower() for name in config.headers}
    sent = {**protocols, **_sent(key, config.key_header)}
    ours = {name: value for name, value in sent.items() if name.lower() not in theirs}
    return {**ours, **config.headers}


def _sent(key: str, how: KeyHeader) -> dict[str, str]:
    if not key:
        return {}
    bearer = {"Authorization": f"Bearer {key}"}
    if how == "bearer":
        return bearer
    return {**bearer, "x-api-key": key} if how == "both" else {how: key}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _secrets(config: ServiceConfig) -> tuple[str, ...]:
    """What must never be shown, in every spelling that may come back, longest first."""
    person = config.proxy.rpartition("@")[0].rpartition("//")[2]
    proxy = [person.partition(":")[2], base64.b64encode(unquote(person).encode()).decode()] if person else []
    query = [value for _, _, value in (p.partition("=") for p in split(config.base_url).query.split("&"))]
    values = [word for value in config.headers.values() for word in value.split() if len(word) >= 4]
    fields = [v for k, v in config.body.items() if isinstance(v, str) and _SECRET_FIELD.search(k)]
    plain = [config.api_key.strip(), *proxy, *query, *values, *fields]
    spelt = {s for word in plain for s in (word, unquote(word), quote(unquote(word)), quote(unquote(word), safe=""))}
    return tuple(sorted(spelt, key=len, reverse=True))


def _trusted(ca_file: str, table: str) -> Callable[[], ssl.SSLContext] | None:
    """How to make the TLS settings that trust the person's own certificate besides the usual ones."""
    if not ca_file:
        return None

    def made() -> ssl.SSLContext:
        try:
            context = ssl.create_default_context()
            context.load_verify_locations(ca_file)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is no certificate in PEM form"
            raise ConfigError(f"{table}.ca_file", f"cannot read {ca_file}: {why}") from error
        return context

    return made
