"""A program on loopback that says exactly the bytes it is told, for what no well-behaved server would send."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def raw_server(talk: Talk, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Its address, for as long as the `async with` lasts; then its connections are broken off."""
    open_ones: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_ones.add(task)
        try:
            with suppress(ConnectionError):
                await talk(reader, writer)
        finally:
            open_ones.discard(task)
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    try:
        scheme = "https" if tls else "http"
        yield f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)
        await server.wait_closed()


def saying(*pieces: bytes, gap: float = 0.0) -> Talk:
    """Read one request, then say the pieces, with `gap` seconds after each."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next((int(x[15:]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), 0)
        await reader.readexactly(length)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(gap)

    return talk


def stream(body: bytes, kind: bytes = b"text/event-stream") -> bytes:
    """An answer whose end is the end of the connection."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n\r\n" + body
