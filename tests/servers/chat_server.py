"""A model service for tests and benchmarks: speaks OpenAI's streaming chat completions from a script.

In a test: `async with ChatServer([Answer(text="hi")]) as server:` and then `server.url`, `server.requests`.
As a program: `python chat_server.py --script answers.json --record requests.jsonl` prints its address and serves until
`--seconds` are over. The script is a list of objects with the fields of `Answer`; the last one may be repeated.
"""

import argparse
import asyncio
import contextlib
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with one request.

    `calls` are objects with name and arguments; `fragments` is into how many pieces text and arguments are cut.
    `body` is sent as it is, as `content_type` with `status`; `sse` is a recorded event stream. `pause` is waited before
    the first byte, `drip` between two events; `keepalives` of the form `keepalive` come before the content.
    `cut_after` so many events the connection breaks; `hang` never answers; `drop` closes at once. `times` answers the
    same so often.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    fragments: int = 1
    finish: str = ""
    usage: bool = True
    whole: bool = False
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    content_type: str = "application/json"
    sse: str = ""
    pause: float = 0.0
    drip: float = 0.0
    keepalives: int = 0
    keepalive: str = ": ping"
    cut_after: int | None = None
    hang: bool = False
    drop: bool = False
    times: int = 1


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


class ChatServer:
    """Serves on a free port of the loopback address while the `async with` lasts."""

    def __init__(
        self, answers: Iterable[Answer | str] = (), *, repeat: bool = False, record: Path | None = None
    ) -> None:
        steps = [Answer(text=a) if isinstance(a, str) else a for a in answers]
        self.answers = [answer for answer in steps for _ in range(answer.times)]
        self.requests: list[Asked] = []
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
        asked = Asked(request.path, dict(request.headers), await request.read(), time.monotonic())
        self.requests.append(asked)
        self.arrivals.put_nowait(asked)
        answer = self._next()
        try:
            return await self._answer(request, answer)
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
            return web.json_response(_whole(answer, self._ids()), headers=answer.headers)
        return await self._stream(request, answer)

    async def _stream(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", **answer.headers})
        await response.prepare(request)
        if answer.sse:
            await response.write(answer.sse.encode())
            return response
        for _ in range(answer.keepalives):
            await response.write(f"{answer.keepalive}\n\n".encode())
            await self._wait(answer.drip)
        for sent, event in enumerate(events(answer, self._ids())):
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


def events(answer: Answer, ids: Iterator[str]) -> Iterator[bytes]:
    """The answer as the service streams it."""
    yield _event({"role": "assistant", "content": ""})
    for piece in _pieces(answer.reasoning, answer.fragments):
        yield _event({"reasoning_content": piece})
    for piece in _pieces(answer.text, answer.fragments):
        yield _event({"content": piece})
    for index, call in enumerate(answer.calls):
        head = {"name": call["name"], "arguments": ""}
        yield _event(
            {"tool_calls": [{"index": index, "id": call.get("id") or next(ids), "type": "function", "function": head}]}
        )
        for piece in _pieces(_arguments(call), answer.fragments):
            yield _event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _event({}, finish=_finish(answer))
    if answer.usage:
        yield _data({**_HEAD, "choices": [], "usage": _USAGE})
    yield b"data: [DONE]\n\n"


def _whole(answer: Answer, ids: Iterator[str]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {"id": next(ids), "type": "function", "function": {"name": c["name"], "arguments": _arguments(c)}}
            for c in answer.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _finish(answer: Answer) -> str:
    return answer.finish or ("tool_calls" if answer.calls else "stop")


def _arguments(call: dict[str, Any]) -> str:
    arguments = call.get("arguments", {})
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // count))
    return [text[i : i + size] for i in range(0, len(text), size)]


def _event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return _data({**_HEAD, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


_HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


async def serve(options: argparse.Namespace) -> None:
    script = json.loads(options.script.read_text())
    answers = [Answer(**{**step, "calls": tuple(step.get("calls", ()))}) for step in script]
    server = ChatServer(answers, repeat=options.repeat, record=options.record)
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
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
