"""OpenAI's chat completions: the protocol that most model services and local servers speak."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from palmclaw.core.errors import BadReply, ConfigError
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Reply, Request
from palmclaw.core.schema import Doc
from palmclaw.guard.secrets import redacted
from palmclaw.net.http import Http, origin
from palmclaw.net.proxies import Proxies
from palmclaw.net.sse import ServerEvent
from palmclaw.providers.openai_chat.decoder import Decoder
from palmclaw.providers.openai_chat.wire import as_bytes, to_wire

__all__ = ["Decoder", "OpenAIChat", "OpenAIChatConfig", "as_bytes", "endpoint", "openai_chat", "to_wire"]

_PATH = "/chat/completions"
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True)
class OpenAIChatConfig:
    """[provider] with name = "openai_chat"."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = "https://api.openai.com/v1"
    api_key: Annotated[str, Doc("empty for a local server without keys")] = field(default="", repr=False)
    model: Annotated[str, Doc("used where a request names none")] = ""
    headers: Annotated[dict[str, str], Doc("further headers")] = field(default_factory=dict, repr=False)
    proxy: Annotated[str, Doc("http://HOST:PORT, or “none”; empty: what the environment says")] = field(
        default="", repr=False
    )
    usage: Annotated[bool, Doc("ask for token counts; false where the service refuses stream_options")] = True
    body: Annotated[dict[str, Any], Doc("further fields of each request, such as temperature")] = field(
        default_factory=dict
    )


@plugin(Kind.PROVIDER, "openai_chat", OpenAIChatConfig)
def openai_chat(config: OpenAIChatConfig, parts: Parts) -> "OpenAIChat":
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    return OpenAIChat(config, parts)


class OpenAIChat:
    """A model service behind `POST …/chat/completions`."""

    def __init__(self, config: OpenAIChatConfig, parts: Parts) -> None:
        self._config = config
        self._url = endpoint(config.base_url)
        self._headers = _headers(config)
        self._limit = parts.limits.argument_chars
        self._secrets = _secrets(config)
        proxies = Proxies(config.proxy, parts.environ)
        self._http = Http(self._redact, parts.limits, proxies)

    @property
    def local(self) -> bool:
        """False: requests may cost, so tools are routed."""
        return False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas as they come, then the Reply; what was shown before an error stays shown."""
        body = as_bytes(self.wire(request))
        taken = frozenset(call.id for message in request.messages for call in message.calls)
        decoder = Decoder(request.model or self._config.model, origin(self._url), self._redact, taken, self._limit)
        async with self._http.post_stream(self._url, body, self._headers) as events:
            async for event in events:
                if event.data.strip() == "[DONE]":
                    decoder.done()
                    break
                before = decoder.substance
                for delta in decoder.feed(_chunk(event, origin(self._url))):
                    yield delta
                if decoder.substance > before:
                    events.heard()
                if decoder.complete:
                    events.finished()
        yield _counted(decoder.finish(), len(body))

    def wire(self, request: Request) -> dict[str, Any]:
        """The body with what the configuration adds to it."""
        wire = to_wire(replace(request, model=request.model or self._config.model))
        if not self._config.usage:
            del wire["stream_options"]
        return wire | self._config.body

    async def close(self) -> None:
        """Give back the connections."""
        await self._http.close()

    def _redact(self, text: str) -> str:
        return redacted(text, *self._secrets)


def endpoint(base_url: str) -> str:
    """Where requests go: the base address, with what it leaves out."""
    url = base_url.strip()
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError("provider.base_url", "must be http://HOST… or https://HOST…")
    if parts.username or parts.password:
        raise ConfigError("provider.base_url", "must not hold a password; put the key into provider.api_key")
    path = parts.path.rstrip("/")
    if not path.endswith(_PATH):
        path = (path or "/v1") + _PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def _headers(config: OpenAIChatConfig) -> Mapping[str, str]:
    """The person's headers and the key; an Authorization of the person's own wins."""
    for name, value in config.headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise ConfigError("provider.headers", f"{name!r} cannot be sent as a header")
    key = config.api_key.strip()
    if not _HEADER_VALUE.fullmatch(key) or " " in key:
        raise ConfigError("provider.api_key", "holds a character that no key has", "Copy it again, without spaces.")
    if not key or any(name.lower() == "authorization" for name in config.headers):
        return dict(config.headers)
    return {"Authorization": f"Bearer {key}", **config.headers}


def _secrets(config: OpenAIChatConfig) -> tuple[str, ...]:
    """What must never be shown, longest first."""
    proxy = config.proxy.rpartition("@")[0].rpartition(":")[2]
    query = [value for _, _, value in (p.partition("=") for p in urlsplit(config.base_url).query.split("&"))]
    values = [word for value in config.headers.values() for word in value.split() if len(word) >= 8]
    return tuple(sorted((config.api_key.strip(), proxy, *query, *values), key=len, reverse=True))


def _chunk(event: ServerEvent, where: str) -> Any:
    if not event.data.strip():
        return None
    try:
        chunk = json.loads(event.data)
    except (ValueError, RecursionError) as error:
        raise BadReply(f"{where} sent something that is not JSON in the middle of its answer.") from error
    return {"error": chunk} if event.event == "error" and not (isinstance(chunk, dict) and "error" in chunk) else chunk


def _counted(reply: Reply, sent: int) -> Reply:
    """The reply with an estimate of what was sent, where the service does not count."""
    return replace(reply, usage=replace(reply.usage, input=sent // 4)) if reply.usage.estimated else reply
