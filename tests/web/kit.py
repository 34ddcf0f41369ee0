"""A door with a desk behind it, and a plain HTTP client at its socket."""

import io
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from palmclaw.net.unix import addressed
from palmclaw.paths import Home
from palmclaw.web.server import Door
from tests.servers.desk_runtime import DeskRuntime


@dataclass(slots=True)
class Served:
    """An open door; `ended` counts the calls of shutdown."""

    home: Home
    runtime: DeskRuntime
    door: Door
    ended: list[bool]

    async def ask(self, method: str, route: str, body: Any = None, **options: Any) -> tuple[int, Any]:
        """The status and the JSON of one request to `http://localhost/v1/ROUTE`."""
        async with self.asked(method, route, body, **options) as answer:
            text = await answer.text()
            return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def asked(self, method: str, route: str, body: Any = None, **options: Any) -> Any:
        """The open answer, a context manager."""
        return asked(self.home.socket, method, route, body, **options)


@asynccontextmanager
async def asked(socket: Path, method: str, route: str, body: Any = None, **options: Any) -> AsyncIterator[Any]:
    """One request, with a connection of its own."""
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    with addressed(socket) as name:
        async with (
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(name)) as session,
            session.request(
                method,
                f"http://localhost/v1/{route}",
                data=io.BytesIO(content) if content is not None else None,
                **options,
            ) as answer,
        ):
            yield answer


@asynccontextmanager
async def served(folder: Path, runtime: DeskRuntime | None = None) -> AsyncIterator[Served]:
    """Serve a desk at a socket in `folder`."""
    home, ended = Home(folder), list[bool]()
    os.makedirs(folder, exist_ok=True)
    found = Served(home, runtime or DeskRuntime(), Door(home, lambda: ended.append(True)), ended)
    await found.door.open(found.runtime)
    try:
        yield found
    finally:
        await found.runtime.end()
        await found.door.close()
