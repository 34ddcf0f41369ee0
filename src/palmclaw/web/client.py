"""The runtime of a gateway that runs in another process, through its local API."""

import asyncio
import io
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from palmclaw.core.codec import decode, encode
from palmclaw.core.errors import (
    BadArguments,
    ConfigError,
    Fault,
    HomeBusy,
    PalmclawError,
    SessionNotFound,
    StorageError,
)
from palmclaw.core.events import Answer, Missed, Signal, Standing
from palmclaw.core.messages import Media
from palmclaw.core.runtime import Draining, NotOpen, Question, Status, Stopped
from palmclaw.core.traffic import Inbound, QueueChange, QueueSettings, Receipt
from palmclaw.core.wire import as_bytes
from palmclaw.net.sse import SseDecoder
from palmclaw.net.unix import addressed
from palmclaw.paths import Home
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.web.shapes import HOST, KEEP_ALIVE, Answered, Choosing, Listening, Named, Present, Queueing, Which

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
_PAUSES = (0.0, 0.2, 1.0)
_NEWER = "It may be of another version: palmclaw stop, then palmclaw serve --background"


class GatewayGone(StorageError):
    """The gateway does not answer; what was being asked of it may have happened all the same."""

    code = "gateway_gone"


class ConnectionBroke(GatewayGone):
    """The gateway was there, and then it was silent or broke off."""


class Refused(PalmclawError):
    """The gateway said no in a way of its own."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.code, self.retryable, self.hint = fault.code, fault.retryable, fault.hint


class RemoteRuntime:
    """Implements `core.runtime.Runtime` over the socket at `path`; raises GatewayGone besides.

    An answer may take `seconds`. Between signals there may be silence, but not without signs of life.
    """

    def __init__(self, path: Path, *, seconds: float = 60.0, sleep: Sleep = asyncio.sleep) -> None:
        self.path = path
        self.seconds = seconds
        self.sleep = sleep
        self._session: aiohttp.ClientSession | None = None
        self._name = ExitStack()

    async def close(self) -> None:
        """Let go of the gateway, which runs on."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()
        self._name.close()

    async def present(self) -> Present:
        """Who answers there."""
        return _read(Present, await self._asked("GET", "gateway"))

    async def shutdown(self) -> None:
        """Ask the gateway to end; it answers first, and takes its time then."""
        await self._asked("POST", "shutdown")

    async def take(self, inbound: Inbound) -> Receipt:
        """As Runtime."""
        return _read(Receipt, await self._asked("POST", "messages", inbound))

    async def receipt(self, inbox: int) -> Receipt:
        """As Runtime."""
        return _read(Receipt, await self._asked("GET", f"messages/{inbox}"))

    async def events(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
        """As Runtime; a broken connection is made again while the gateway lives, with a Standing once more."""
        pauses = list(_PAUSES)
        while True:
            try:
                async with self._answer("GET", "events", query=Listening(session, since), endless=True) as response:
                    async for signal in _signals(response):
                        yield signal
                        since = signal.id
                        if not isinstance(signal.event, Standing | Missed):
                            pauses = list(_PAUSES)
                    return
            except ConnectionBroke:
                if not pauses:
                    raise
            await self.sleep(pauses.pop(0))

    async def stop(self, session: str) -> Stopped:
        """As Runtime."""
        return _read(Stopped, await self._asked("POST", "stop", Which(session)))

    async def withdraw(self, inbox: int) -> Receipt:
        """As Runtime."""
        return _read(Receipt, await self._asked("DELETE", f"messages/{inbox}"))

    async def answer(self, question: str, answer: Answer, by: str) -> None:
        """As Runtime."""
        await self._asked("POST", "questions", Answered(question, answer, by))

    async def questions(self) -> tuple[Question, ...]:
        """As Runtime."""
        return _read(tuple[Question, ...], await self._asked("GET", "questions"))

    async def queue(self, session: str, change: QueueChange | None = None, *, reset: bool = False) -> QueueSettings:
        """As Runtime."""
        return _read(QueueSettings, await self._asked("POST", "queue", Queueing(session, change, reset)))

    async def choose_model(self, session: str, model: str) -> None:
        """As Runtime."""
        await self._asked("POST", "model", Choosing(session, model))

    async def delete(self, session: str) -> None:
        """As Runtime."""
        async with self._answer("DELETE", "sessions", query=Which(session)):
            return

    async def revoke(self, number: int) -> None:
        """As Runtime."""
        await self._asked("DELETE", f"approvals/{number}")

    async def keep(self, content: bytes, mime: str, name: str) -> Media:
        """As Runtime."""
        headers = {"Content-Type": mime}
        async with self._answer("POST", "media", content, query=Named(name), headers=headers) as response:
            return _read(Media, json.loads(await response.read()))

    async def status(self) -> Status:
        """As Runtime."""
        return _read(Status, await self._asked("GET", "status"))

    async def _asked(self, method: str, route: str, body: Any = None) -> Any:
        content = None if body is None else as_bytes(encode(body))
        async with self._answer(method, route, content, headers={"Content-Type": "application/json"}) as response:
            found = await response.read()
            return json.loads(found) if found else None

    @asynccontextmanager
    async def _answer(
        self, method: str, route: str, content: bytes | None = None, *, endless: bool = False, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The open answer, or the error that it tells. `options`: `query` (a value), `headers`."""
        query = {k: v for k, v in (encode(options.get("query")) or {}).items()}
        timeout = aiohttp.ClientTimeout(sock_read=3 * KEEP_ALIVE) if endless else aiohttp.ClientTimeout(self.seconds)
        try:
            async with self._opened().request(
                method,
                f"http://{HOST}/v1/{route}",
                params=query,
                data=io.BytesIO(content) if content else None,
                headers=options.get("headers"),
                timeout=timeout,
            ) as response:
                if response.status >= 400:
                    raise _refusal(response.status, await response.read())
                yield response
        except aiohttp.ClientConnectorError as error:
            raise GatewayGone(
                f"no gateway answers at {self.path}: {error.os_error.strerror}", "Start it: palmclaw serve --background"
            ) from error
        except (aiohttp.ClientError, OSError) as error:  # TimeoutError is an OSError
            raise ConnectionBroke(
                f"the gateway at {self.path} broke off or is silent; what was asked may have been done",
                "Is it alive? palmclaw status",
            ) from error

    def _opened(self) -> aiohttp.ClientSession:
        """A connection for each question: the gateway keeps none that nobody uses, and none is found dead."""
        if self._session is None:
            connector = aiohttp.UnixConnector(self._name.enter_context(addressed(self.path)), limit=0, force_close=True)
            self._session = aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())
        return self._session


async def attach(
    home: Home, moment: float = 3.0, *, sleep: Sleep = asyncio.sleep, now: Callable[[], float] = time.monotonic
) -> RemoteRuntime | None:
    """The gateway that serves this home; None where none answers, after a `moment` for one that is just starting."""
    if not home.socket.exists() and not is_serving(home):
        return None
    remote, until = RemoteRuntime(home.socket, sleep=sleep), now() + moment
    try:
        while not await _answers(remote, until - now()):
            if now() >= until or not is_serving(home):
                await remote.close()
                return None
            await sleep(0.05)
    except BaseException:
        await remote.close()
        raise
    return remote


def is_serving(home: Home) -> bool:
    """Whether the home's lock is held by a gateway, which perhaps does not answer yet."""
    holder = HomeLock(home.lock).holder()
    return holder is not None and holder.purpose in ("", SERVING)


async def _answers(remote: RemoteRuntime, seconds: float) -> bool:
    try:
        async with asyncio.timeout(max(seconds, 0.2)):
            await remote.present()
    except (GatewayGone, TimeoutError):
        return False
    return True


async def _signals(response: aiohttp.ClientResponse) -> AsyncIterator[Signal]:
    decoder = SseDecoder()
    async for chunk in response.content.iter_any():
        for event in decoder.feed(chunk):
            yield _read(Signal, json.loads(event.data))


def _read(tp: type[T], value: Any) -> T:
    try:
        return decode(tp, value)
    except BadArguments as error:
        raise Refused(
            Fault("other_version", f"the gateway answers in a way of its own: {error}", hint=_NEWER)
        ) from error


def _refusal(status: int, body: bytes) -> PalmclawError:
    """The error as it was raised in the gateway."""
    try:
        fault = decode(Fault, json.loads(body))
    except (ValueError, BadArguments):
        return Refused(Fault("internal", f"the gateway answered {status}; see its log: palmclaw logs", hint=_NEWER))
    match fault.code:
        case NotOpen.code:
            return NotOpen(fault.message)
        case Draining.code:
            return Draining(fault.message)
        case SessionNotFound.code:
            return SessionNotFound(fault.message)
        case HomeBusy.code:
            return HomeBusy(fault.message, fault.hint)
        case StorageError.code:
            return StorageError(fault.message, fault.hint)
        case ConfigError.code:
            return ConfigError("", fault.message, fault.hint)
        case "invalid_arguments":
            return BadArguments((fault.message,))
    return Refused(fault)
