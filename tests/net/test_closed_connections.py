"""A service that promises to keep a connection and closes it, as llama.cpp does after each stream."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from palmclaw.core.errors import Unavailable
from palmclaw.core.limits import Limits
from palmclaw.net.http import Http
from palmclaw.net.sse import ServerEvent

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM = HEAD + b"9\r\ndata: 1\n\n\r\n0\r\n\r\n"


@asynccontextmanager
async def server(taken: list[str], answer: bytes) -> AsyncIterator[str]:
    """Answers one request of each connection, and closes it without a word in the head."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        taken.append(head.split(b"\r\n")[0].decode())
        writer.write(answer)
        writer.close()
        await writer.wait_closed()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/x"


@asynccontextmanager
async def closing(http: Http) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await http.close()


async def posted(http: Http, url: str) -> list[ServerEvent]:
    async with http.post_stream(url, b"{}", {}) as events:
        return [event async for event in events]


async def test_a_connection_closed_behind_an_answer_is_not_missed() -> None:
    taken: list[str] = []
    http = Http(lambda text: text, Limits())
    async with server(taken, STREAM) as url, closing(http):
        told = [await posted(http, url) for _ in range(8)]
    assert told == [[ServerEvent("", "1")]] * 8
    assert taken == ["POST /v1/x HTTP/1.1"] * 8  # each was taken once


async def test_a_request_that_was_taken_is_not_sent_again() -> None:
    taken: list[str] = []
    http = Http(lambda text: text, Limits())
    async with server(taken, b"") as url, closing(http):
        with pytest.raises(Unavailable, match="closed the connection without an answer"):
            await posted(http, url)
    assert taken == ["POST /v1/x HTTP/1.1"]
