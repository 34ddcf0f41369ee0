"""The local HTTP API: a route for each method of the runtime. Terminal, web app and scripts use this one."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from aiohttp import web

from palmclaw import __version__
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
from palmclaw.core.events import Signal
from palmclaw.core.runtime import Draining, NotOpen, Runtime
from palmclaw.core.traffic import Inbound
from palmclaw.core.values import dataclass
from palmclaw.core.wire import as_bytes
from palmclaw.storage.process import resident
from palmclaw.web.shapes import (
    HOST,
    KEEP_ALIVE,
    LARGEST_JSON,
    LARGEST_MEDIA,
    Answered,
    Choosing,
    Listening,
    Named,
    Present,
    Queueing,
    Which,
)

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
Act = Callable[[web.Request], Awaitable[Any]]
Route = Callable[[web.Request], Awaitable[web.StreamResponse]]


class TooLarge(BadArguments):
    """More was sent than is taken."""


_STATUSES: tuple[tuple[type[PalmclawError], int], ...] = (
    (TooLarge, 413),
    (NotOpen, 404),
    (SessionNotFound, 404),
    (BadArguments, 400),
    (ConfigError, 400),
    (HomeBusy, 409),
    (Draining, 503),
    (StorageError, 507),
)


def routes(runtime: Runtime, shutdown: Callable[[], None], sleep: Sleep = asyncio.sleep) -> list[web.RouteDef]:
    """All routes, for any server that has made sure who asks. `shutdown` is called by who wants the gateway to end."""
    api = _Api(runtime, shutdown, sleep)
    return [
        web.get("/v1/gateway", _answering(api.present)),
        web.post("/v1/shutdown", _answering(api.end)),
        web.get("/v1/status", _answering(api.status)),
        web.get("/v1/events", _answering(api.events)),
        web.post("/v1/messages", _answering(api.take)),
        web.get(r"/v1/messages/{number:-?\d{1,18}}", _answering(api.receipt)),
        web.delete(r"/v1/messages/{number:-?\d{1,18}}", _answering(api.withdraw)),
        web.get("/v1/questions", _answering(api.questions)),
        web.post("/v1/questions", _answering(api.answer)),
        web.post("/v1/stop", _answering(api.stop)),
        web.post("/v1/queue", _answering(api.queue)),
        web.post("/v1/model", _answering(api.choose_model)),
        web.delete("/v1/sessions", _answering(api.delete)),
        web.delete(r"/v1/approvals/{number:-?\d{1,18}}", _answering(api.revoke)),
        web.post("/v1/media", _answering(api.keep)),
    ]


@web.middleware
async def local_only(request: web.Request, handler: Route) -> web.StreamResponse:
    """Refuse what comes from a page in a browser: it says so, or asks for another host."""
    if "Origin" in request.headers or request.headers.get("Host", "") != HOST:
        return _told(Fault("forbidden", f"only local programs are served: no Origin, and Host: {HOST}"), 403)
    return await handler(request)


@web.middleware
async def plainly(request: web.Request, handler: Route) -> web.StreamResponse:
    """What the server itself refuses is said as everything else is."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        said = {404: ("not_found", "there is no"), 405: ("not_allowed", "nothing takes")}
        code, words = said.get(error.status, ("bad_request", error.reason))
        return _told(Fault(code, f"{words} {request.method} {request.path}", hint="See docs/api.md."), error.status)


def _answering(act: Act) -> Route:
    """What the act returns or raises, as an answer."""

    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            found = await act(request)
        except PalmclawError as error:
            return _told(error.fault, next((s for kind, s in _STATUSES if isinstance(error, kind)), 500))
        return found if isinstance(found, web.StreamResponse) else _told(found)

    return answer


def _told(value: Any, status: int = 200) -> web.Response:
    if value is None:
        return web.Response(status=204)
    return web.Response(body=as_bytes(encode(value)), status=status, content_type="application/json", charset="utf-8")


@dataclass(frozen=True, slots=True)
class _Api:
    """One method for each route; what it returns is the answer."""

    runtime: Runtime
    shutdown: Callable[[], None]
    sleep: Sleep

    async def present(self, request: web.Request) -> Any:
        return Present(os.getpid(), __version__)

    async def end(self, request: web.Request) -> Any:
        self.shutdown()

    async def status(self, request: web.Request) -> Any:
        found = await self.runtime.status()
        return found if found.memory else replace(found, memory=resident())

    async def take(self, request: web.Request) -> Any:
        return await self.runtime.take(await _body(Inbound, request))

    async def receipt(self, request: web.Request) -> Any:
        return await self.runtime.receipt(int(request.match_info["number"]))

    async def withdraw(self, request: web.Request) -> Any:
        return await self.runtime.withdraw(int(request.match_info["number"]))

    async def questions(self, request: web.Request) -> Any:
        return await self.runtime.questions()

    async def answer(self, request: web.Request) -> Any:
        given = await _body(Answered, request)
        await self.runtime.answer(given.question, given.answer, given.by)

    async def stop(self, request: web.Request) -> Any:
        return await self.runtime.stop((await _body(Which, request)).session)

    async def queue(self, request: web.Request) -> Any:
        asked = await _body(Queueing, request)
        return await self.runtime.queue(asked.session, asked.change, reset=asked.reset)

    async def choose_model(self, request: web.Request) -> Any:
        asked = await _body(Choosing, request)
        await self.runtime.choose_model(asked.session, asked.model)

    async def delete(self, request: web.Request) -> Any:
        await self.runtime.delete(_query(Which, request).session)

    async def revoke(self, request: web.Request) -> Any:
        await self.runtime.revoke(int(request.match_info["number"]))

    async def keep(self, request: web.Request) -> Any:
        mime = request.headers.get("Content-Type", "application/octet-stream")
        name = _query(Named, request).name
        return await self.runtime.keep(await _bytes(request, LARGEST_MEDIA), mime, name)

    async def events(self, request: web.Request) -> Any:
        asked = _query(Listening, request)
        signals = self.runtime.events(asked.session, request.headers.get("Last-Event-ID") or asked.since)
        try:
            first = await anext(signals)
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
            await response.prepare(request)
            await self._streamed(response, first, signals)
            return response
        finally:
            await signals.aclose()

    async def _streamed(self, response: web.StreamResponse, first: Signal, rest: AsyncIterator[Signal]) -> None:
        """Until there is nothing more to tell, or nobody to tell it to."""
        tasks = [asyncio.create_task(_signals(response, first, rest)), asyncio.create_task(self._alive(response))]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception) and not isinstance(end, ConnectionError):
                raise end

    async def _alive(self, response: web.StreamResponse) -> None:
        """Signs of life, by which a listener that has gone without a word is noticed too."""
        while True:
            await self.sleep(KEEP_ALIVE)
            await response.write(b": still here\n\n")


async def _signals(response: web.StreamResponse, first: Signal, rest: AsyncIterator[Signal]) -> None:
    await response.write(_event(first))
    async for signal in rest:
        await response.write(_event(signal))


def _event(signal: Signal) -> bytes:
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (
        signal.id.encode(),
        signal.event.type.encode(),
        as_bytes(encode(signal)),
    )


def _query(tp: type[T], request: web.Request) -> T:
    return decode(tp, dict(request.query))


async def _body(tp: type[T], request: web.Request) -> T:
    """The request's JSON. Raises BadArguments naming every problem."""
    content = await _bytes(request, LARGEST_JSON)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadArguments((f"the body is no JSON: {error}",)) from error
    return decode(tp, value)


async def _bytes(request: web.Request, limit: int) -> bytes:
    content = bytearray()
    async for chunk in request.content.iter_any():
        content += chunk
        if len(content) > limit:
            raise TooLarge((f"the body is longer than {limit // 1_000_000} MB",))
    return bytes(content)
