"""A model service for tests and benchmarks: answers from a script, in the protocol of the path that it is asked at.

In a test: `async with ChatServer([Answer(text="hi")]) as server:` and then `server.url`, `server.requests`.
As a program, from the root of the project: `python -m tests.servers.chat_server --script answers.json --record
requests.jsonl` prints its address and serves until `--seconds` are over. The script is a list of objects with the
fields of `Answer`; the last one may be repeated.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web

from palmclaw.agent.compaction import HEADINGS
from tests.servers import chat_events, messages_events, responses_events
from tests.servers.answers import Answer
from tests.servers.chat_events import events

__all__ = ["Answer", "Asked", "ChatServer", "cut", "events"]


Speak = Callable[[Answer, Iterator[str]], Iterator[bytes]]
Told = Callable[[Answer, Iterator[str]], dict[str, Any]]
_SPOKEN: tuple[tuple[str, Speak, Told], ...] = (
    ("/messages", messages_events.events, messages_events.whole),
    ("/responses", responses_events.events, responses_events.whole),
    ("", chat_events.events, chat_events.whole),
)


@dataclass(slots=True)
class Asked:
    """One request that arrived: `at` when it was complete, `done` when the answer was; seconds of the system clock."""

    path: str
    headers: dict[str, str]
    raw: bytes
    at: float
    done: float = 0.0

    @property
    def body(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.raw)
        return value


SUMMARY = "\n".join(f"## {heading}\nnone" for heading in HEADINGS)
"""A summary of a conversation that can be used."""


class ChatServer:
    """Serves on a free port of the loopback address while the `async with` lasts.

    With a `summary` requests that sum up a conversation, or look through it for memory, are answered beside the script;
    they are in `summed`.
    """

    def __init__(
        self,
        answers: Iterable[Answer | str] = (),
        *,
        repeat: bool = False,
        record: Path | None = None,
        summary: str = "",
    ) -> None:
        steps = [Answer(text=a) if isinstance(a, str) else a for a in answers]
        self.answers = [answer for answer in steps for _ in range(answer.times)]
        self.requests: list[Asked] = []
        self.summed: list[Asked] = []
        self._summary = summary
        self.arrivals: asyncio.Queue[Asked] = asyncio.Queue()
        self.url = ""
        self._repeat = repeat
        self._record = record
        self._calls = 0
        self._closing = asyncio.Event()
        self._runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=0.1)

    async def start(self, port: int = 0) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def stop(self) -> None:
        self._closing.set()
        await self._runner.cleanup()

    async def __aenter__(self) -> "ChatServer":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def _app(self) -> web.Application:
        app = web.Application(client_max_size=64_000_000)
        app.router.add_route("*", "/{path:.*}", self._serve)
        return app

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":  # a proxy looks for models when it likes; the script is for requests
            return web.json_response({"object": "list", "data": []})
        asked = Asked(request.path, dict(request.headers), await request.read(), time.monotonic())
        if self._summary and (answer := _beside(asked, self._summary)) is not None:
            self.summed.append(asked)
            return await self._answer(request, answer)
        self.requests.append(asked)
        self.arrivals.put_nowait(asked)
        answer = self._next()
        try:
            return await self._answer(request, answer)
        except ConnectionResetError:  # who asked has left
            return web.Response()
        finally:
            asked.done = time.monotonic()
            self._write(asked)

    def _next(self) -> Answer:
        if not self.answers:
            return Answer(status=500, body='{"error": {"message": "the script has no more answers"}}')
        return self.answers[0] if self._repeat and len(self.answers) == 1 else self.answers.pop(0)

    async def _answer(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        if answer.drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        await self._wait(3600 if answer.hang else answer.pause)
        if answer.body or answer.status != 200:
            return web.Response(
                text=answer.body, status=answer.status, headers=answer.headers, content_type=answer.content_type
            )
        if answer.whole:
            _, whole = _spoken(request.path)
            return web.json_response(whole(answer, self._ids()), headers=answer.headers)
        return await self._stream(request, answer)

    async def _stream(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **answer.headers})
        await response.prepare(request)
        if answer.sse:
            for piece in cut(answer.sse.encode(), answer.pieces):
                await response.write(piece)
                await self._wait(answer.drip)
            return response
        for _ in range(answer.keepalives):
            await response.write(f"{answer.keepalive}\n\n".encode())
            await self._wait(answer.drip)
        stream, _ = _spoken(request.path)
        for sent, event in enumerate(stream(answer, self._ids())):
            if sent == answer.cut_after:
                assert request.transport is not None
                await self._wait(answer.drip)
                request.transport.abort()
                return response
            await response.write(event)
            await self._wait(answer.drip)
        await response.write_eof()
        return response

    def _ids(self) -> Iterator[str]:
        while True:
            self._calls += 1
            yield f"call_{self._calls:04}"

    async def _wait(self, seconds: float) -> None:
        """Sleep, but not longer than the server lives."""
        if seconds:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), seconds)

    def _write(self, asked: Asked) -> None:
        if self._record is not None:
            line = {
                "at": asked.at,
                "done": asked.done,
                "path": asked.path,
                "body": asked.raw.decode("utf-8", "replace"),
            }
            with self._record.open("a") as file:
                file.write(json.dumps(line) + "\n")


def cut(content: bytes, sizes: tuple[int, ...]) -> Iterator[bytes]:
    """The content in pieces of these sizes, again and again; whole where there are none."""
    at = 0
    for size in itertools.cycle(sizes or (len(content),)):
        yield content[at : at + size]
        at += size
        if at >= len(content):
            return


def _beside(asked: Asked, summary: str) -> Answer | None:
    """The answer to a request that is no part of a turn; None for one that is."""
    tools = json.dumps(asked.body.get("tools", []))
    if tools == "[]":
        return Answer(text=summary)
    is_memory = '"save_memory"' in tools
    return Answer(calls=({"name": "save_memory", "arguments": {}},)) if is_memory else None


def _spoken(path: str) -> tuple[Speak, Told]:
    """How the protocol of a path is spoken, streamed and whole; everything else is taken for chat completions."""
    return next((stream, whole) for suffix, stream, whole in _SPOKEN if path.endswith(suffix))


async def serve(options: argparse.Namespace) -> None:
    script = json.loads(options.script.read_text())
    answers = [Answer(**{**step, "calls": tuple(step.get("calls", ()))}) for step in script]
    summary = SUMMARY if options.sums_up else ""
    server = ChatServer(answers, repeat=options.repeat, record=options.record, summary=summary)
    await server.start(options.port)
    print(server.url, flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(options.seconds)
    await server.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--record", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--repeat", action="store_true", help="give the last answer again and again")
    parser.add_argument("--sums-up", action="store_true", help="sum conversations up beside the script")
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
