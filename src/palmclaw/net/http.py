"""HTTP for providers: one streaming POST, with failures that name the problem and the address."""

import asyncio
import errno
import io
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import field, replace
from typing import Any
from urllib.parse import urljoin

import aiohttp

from palmclaw import __version__
from palmclaw.core.errors import (
    BadCertificate,
    BadReply,
    BadRequest,
    ConfigError,
    NobodyThere,
    NoNetwork,
    PalmclawError,
    Unavailable,
    Unreachable,
)
from palmclaw.core.limits import Limits
from palmclaw.core.values import dataclass
from palmclaw.net.endpoints import origin, plain, split
from palmclaw.net.failures import Redact, failure, shown
from palmclaw.net.proxies import Proxies
from palmclaw.net.stream import Bounds, EventStream

MAX_REDIRECTS = 3
ERROR_BYTES = 65_536
_LARGE = 1_000_000
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(slots=True)
class Http:
    """Connections to one model service, kept open between requests. `redact` masks what must not be shown.

    A refused connection is tried again a little later; nothing else is tried again here.
    """

    redact: Redact
    limits: Limits = Limits()
    proxies: Proxies = field(default_factory=Proxies)
    bounds: Bounds = Bounds()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    trusted: Callable[[], ssl.SSLContext] | None = None
    _session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def post_stream(self, url: str, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[EventStream]:
        """POST JSON and hand over the open answer, or raise the ProviderError that says what is wrong."""
        where = origin(url)
        until = asyncio.get_running_loop().time() + self.limits.model_seconds
        response = await self._answered(_Post(url, body, headers, self.proxies.leading_to(url), until))
        try:
            if response.status == 407:
                raise NobodyThere(f"The proxy on the way to {where} wants another name or password.", _PROXY_HINT)
            if response.status >= 400:
                raise failure(where, response.status, response.headers, await _beginning(response), self.redact)
            yield EventStream(response, where, self.limits, self.bounds, until)
            await _read_leftover(response, self.bounds.leftover_seconds)
        finally:
            _let_go(response)

    async def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _answered(self, post: "_Post") -> aiohttp.ClientResponse:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + self.bounds.refused_seconds
        pauses = list(self.bounds.pauses)
        while True:
            try:
                return await self._followed(post)
            except (aiohttp.ClientError, OSError, UnicodeError) as error:
                if not pauses or not _is_refusal(error) or loop.time() + pauses[0] > give_up:
                    raise self._named(error, post) from error
            await self.sleep(pauses.pop(0))

    async def _followed(self, post: "_Post") -> aiohttp.ClientResponse:
        """The answer behind redirects, which are followed only where they repeat the request at the same origin."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._sent(post)
            target = response.headers.get("Location", "")
            if response.status not in _REDIRECTS:
                return response
            response.close()
            target = _joined(post.url, target)
            same = origin(target) == origin(post.url) and split(target).username is None
            if response.status not in (307, 308) or not same:
                break
            post = replace(post, url=target)
        to = shown(plain(target), self.redact) if target else "nowhere"
        raise BadRequest(
            f"{origin(post.url)} redirects to {to}; the key is not sent on.",
            "If that is the right service: palmclaw config set provider.base_url ADDRESS",
        )

    async def _sent(self, post: "_Post") -> aiohttp.ClientResponse:
        if self._session is None:
            self._session = _session(self.limits, self.trusted() if self.trusted else True)
        silence = asyncio.get_running_loop().time() + self.limits.connect_seconds + self.limits.read_seconds
        async with asyncio.timeout_at(min(post.until, silence)):
            return await self._on_an_open_connection(self._session, post)

    async def _on_an_open_connection(self, session: aiohttp.ClientSession, post: "_Post") -> aiohttp.ClientResponse:
        """A kept connection may have been closed behind the last answer, as llama.cpp does: then the next one."""
        while True:
            connection = _Connection()
            try:
                return await session.post(
                    post.url,
                    data=io.BytesIO(post.body) if len(post.body) > _LARGE else post.body,
                    headers={**_HEADERS, **post.headers},
                    proxy=post.proxy,
                    allow_redirects=False,
                    trace_request_ctx=connection,
                )
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionResetError):
                if not connection.was_kept:
                    raise

    def _named(self, error: Exception, post: "_Post") -> PalmclawError:
        """The typed error, with a sentence for a person, behind an exception of the HTTP library."""
        there = origin(post.url)
        where = f"the proxy {origin(post.proxy)}" if post.proxy else there
        match error:
            case aiohttp.InvalidURL():
                return ConfigError("provider.base_url", f"{there} is not an address")
            case aiohttp.ClientHttpProxyError(status=407):
                return NobodyThere(f"{where} wants another name or password.", _PROXY_HINT)
            case aiohttp.ClientHttpProxyError():
                return Unreachable(f"Cannot reach {there}: {where} answered {error.status}.", _PROXY_HINT)
            case aiohttp.ClientConnectorError() | UnicodeError():
                return self._not_connected(error, where)
            case aiohttp.ConnectionTimeoutError():
                return Unreachable(f"Cannot reach {where}: no connection within {self.limits.connect_seconds:g} s.")
            case TimeoutError():
                return Unavailable(f"{where} took the request and gave no answer in time.", began=True)
            case aiohttp.ServerDisconnectedError() | OSError():
                return Unavailable(f"{where} closed the connection without an answer.", began=True)
        return BadReply(f"{where} does not answer as a web service does: {shown(str(error), self.redact)}")

    def _not_connected(self, error: Exception, where: str) -> PalmclawError:
        why = shown(str(error), self.redact)
        match error:
            case aiohttp.ClientConnectorCertificateError():
                return BadCertificate(f"The certificate of {where} is not trusted: {why}")
            case aiohttp.ClientSSLError():
                return Unreachable(f"No secure connection to {where}: {why}", _TLS_HINT)
            case aiohttp.ClientConnectorError() if _is_offline(error):
                return NoNetwork(f"Cannot reach {where}: there is no network.")
            case aiohttp.ClientConnectorDNSError() | UnicodeError():
                return NobodyThere(f"Cannot find {where}: no such name is known.")
            case aiohttp.ClientConnectorError() if _is_refusal(error):
                return NobodyThere(f"Nobody answers at {where}: the connection was refused.")
            case aiohttp.ClientConnectorError():
                return Unreachable(f"Cannot reach {where}: {shown(error.os_error.strerror or why, self.redact)}.")
        return Unreachable(f"Cannot reach {where}: {why}")


@dataclass(frozen=True, slots=True)
class _Post:
    """One request on its way: where to, by which proxy, and until when."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    proxy: str | None
    until: float


@dataclass(slots=True)
class _Connection:
    """What carries one request: new, or kept from an earlier one."""

    was_kept: bool = False


async def _note_kept(session: aiohttp.ClientSession, trace: Any, reused: object) -> None:
    trace.trace_request_ctx.was_kept = True


def _joined(url: str, target: str) -> str:
    """Where a redirect leads; empty for one that leads to no address."""
    try:
        return urljoin(url, target) if target else ""
    except ValueError:
        return ""


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError)


def _is_offline(error: aiohttp.ClientConnectorError) -> bool:
    """Whether the phone has no way out at all: no route, or nobody to ask for a name."""
    cause = error.os_error
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return getattr(cause, "errno", None) == socket.EAI_AGAIN
    return cause.errno in (errno.ENETUNREACH, errno.ENETDOWN)


def _session(limits: Limits, tls: ssl.SSLContext | bool) -> aiohttp.ClientSession:
    """No cookies, no .netrc, no surprise: the environment's proxies are read by `Proxies`."""
    seconds = limits.connect_seconds
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_note_kept)
    return aiohttp.ClientSession(
        trace_configs=[trace],
        connector=aiohttp.TCPConnector(ssl=tls),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, connect=seconds, sock_connect=seconds),
    )


def _let_go(response: aiohttp.ClientResponse) -> None:
    """Keep the connection if nothing is left to read on it."""
    if response.content.at_eof():
        response.release()
    else:
        response.close()


async def _beginning(response: aiohttp.ClientResponse) -> bytes:
    """What an error answer says, as far as it comes in time."""
    found = b""
    try:
        async with asyncio.timeout(5.0):
            while len(found) < ERROR_BYTES and (chunk := await response.content.readany()):
                found += chunk
    except (TimeoutError, aiohttp.ClientError):
        return found
    return found


async def _read_leftover(response: aiohttp.ClientResponse, seconds: float) -> None:
    """Read the few bytes after the last event, so that the connection can be used again."""
    try:
        async with asyncio.timeout(seconds):
            while not response.content.at_eof():
                await response.content.readany()
    except (TimeoutError, aiohttp.ClientError):
        return


_PROXY_HINT = "Check the proxy: palmclaw config get provider.proxy, and HTTPS_PROXY in the environment."
_TLS_HINT = "Check the address (http or https?), the clock and the network's certificate."
_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "text/event-stream, application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"palmclaw/{__version__}",
}
