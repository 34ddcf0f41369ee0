"""The events of one open answer, with its deadlines."""

import asyncio
import re
from collections import deque

from aiohttp import ClientError, ClientResponse

from palmclaw.core.errors import BadReply, ProviderError, StreamCut, Unavailable
from palmclaw.core.limits import Limits
from palmclaw.core.values import dataclass
from palmclaw.net.failures import is_web_page
from palmclaw.net.sse import ServerEvent, SseDecoder

LOOK_SECONDS = 1.0
"""How often a silent connection is looked at."""
_BOM = b"\xef\xbb\xbf"
_EVENT_LINE = re.compile(rb"(?:data|event|id|retry)?:")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How patient a client is, beyond the limits that a person may set.

    `pauses` are the waits before a refused connection is tried again, all within `refused_seconds`; `grace_seconds` is
    for what may follow a complete answer, `leftover_seconds` for the last bytes that free a connection.
    """

    pauses: tuple[float, ...] = (0.2, 0.6)
    refused_seconds: float = 3.0
    grace_seconds: float = 2.0
    leftover_seconds: float = 0.2
    answer_bytes: int = 64_000_000


class EventStream:
    """Iterate it for the events; a plain JSON body comes as one event.

    Silence is measured between calls of `heard`, so keep-alive frames do not keep a dead stream open.
    """

    def __init__(self, response: ClientResponse, where: str, limits: Limits, bounds: Bounds, until: float) -> None:
        self._response = response
        self._where = where
        self._limits = limits
        self._bounds = bounds
        self._until = until
        self._idle_until = self._now() + limits.read_seconds
        self._ready: deque[ServerEvent] = deque()
        self._decoder: SseDecoder | None = None
        self._ended = False
        self._received = 0
        self._heard = False
        self._finished = False

    def heard(self) -> None:
        """Something of substance arrived: the silence starts anew."""
        self._heard = True
        self._idle_until = self._now() + self._limits.read_seconds

    def finished(self) -> None:
        """The answer is complete: wait only briefly for what may follow, and forgive if nothing does."""
        if not self._finished:
            self._finished = True
            self._until = min(self._until, self._now() + self._bounds.grace_seconds)

    def __aiter__(self) -> "EventStream":
        return self

    async def __anext__(self) -> ServerEvent:
        while not self._ready:
            if self._ended:
                raise StopAsyncIteration
            await self._read_on()
        return self._ready.popleft()

    async def _read_on(self) -> None:
        if self._decoder is None:
            await self._begin()
        elif chunk := await self._chunk():
            self._ready += self._decoder.feed(chunk)
        else:
            self._ready += self._decoder.end()
            self._ended = True

    async def _begin(self) -> None:
        """Read enough to tell an event stream from one JSON body."""
        head = await self._head()
        if _EVENT_LINE.match(head.removeprefix(_BOM).lstrip()):
            self._decoder = SseDecoder()
            self._ready += self._decoder.feed(head)
        else:
            self._ready.append(ServerEvent("", await self._json(head)))
            self._ended = True

    async def _head(self) -> bytes:
        head = b""
        while len(head.lstrip()) < len("\ufeffretry:".encode()):
            chunk = await self._chunk()
            if not chunk:
                break
            head += chunk
        return head

    async def _json(self, head: bytes) -> str:
        """The whole body of an answer that is no event stream, if it is a JSON object."""
        start = head.removeprefix(_BOM).lstrip()
        if not start:
            raise BadReply(f"{self._where} answered with nothing at all.")
        if is_web_page(start):
            raise BadReply(f"{self._where} answered with a web page instead of a model's reply.")
        if not start.startswith(b"{"):
            raise BadReply(f"{self._where} answered with something that is neither an event stream nor JSON.")
        parts = [start]
        while chunk := await self._chunk():
            parts.append(chunk)
        return b"".join(parts).decode("utf-8", "replace")

    async def _chunk(self) -> bytes:
        """The next bytes, in whatever size they come; empty at the end."""
        while True:
            until = min(self._until, self._idle_until)
            try:
                async with asyncio.timeout_at(min(until, self._now() + LOOK_SECONDS)):
                    chunk = await self._response.content.readany()
                break
            except TimeoutError as error:
                if self._now() >= until:
                    return self._over(self._silence(), error)
                if self._is_lost():
                    return self._over(self._broken(), error)
            except ClientError as error:
                return self._over(self._broken(), error)
        self._received += len(chunk)
        if self._received > self._bounds.answer_bytes:
            raise BadReply(f"{self._where} sent more than {self._bounds.answer_bytes} bytes.")
        return chunk

    def _is_lost(self) -> bool:
        """Whether the connection has gone without a word: after broken framing the HTTP library tells no reader."""
        connection = self._response.connection
        return connection is not None and (connection.transport is None or connection.transport.is_closing())

    def _broken(self) -> StreamCut:
        return StreamCut(f"{self._where} broke off in the middle of its answer.")

    def _over(self, error: ProviderError, cause: Exception) -> bytes:
        if self._finished:
            return b""
        raise error from cause

    def _silence(self) -> ProviderError:
        if self._until <= self._idle_until:
            words = f"{self._where} did not finish within {self._limits.model_seconds:g} s."
        else:
            words = f"{self._where} said nothing for {self._limits.read_seconds:g} s."
        return StreamCut(words) if self._heard else Unavailable(words)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
