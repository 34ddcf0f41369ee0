"""The runtime that a command talks to: the gateway that serves the home, or one in this process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from palmclaw.app import App
from palmclaw.core.runtime import Runtime
from palmclaw.house import opened
from palmclaw.paths import Home
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.supervisor import Supervisor
from palmclaw.storage.database import Database
from palmclaw.storage.lock import SERVING, HomeLock

if TYPE_CHECKING:
    from palmclaw.web.client import RemoteRuntime

GONE = "gateway_gone"
"""The code of the error that a gateway which does not answer is told by."""


@asynccontextmanager
async def reached(app: App, session: str, *, at_once: bool = True) -> AsyncIterator[Runtime]:
    """Attach to the gateway where one runs; else own the home for so long. Raises what `opened` raises."""
    async with attached(app.home) as remote:
        if remote is None:
            async with Supervisor(lambda: opened(app, "chat", session, at_once=at_once)).hold("terminal") as gateway:
                yield gateway
            return
        app.database = Database(app.home.database, readonly=True)
        try:
            yield remote
        finally:
            await app.database.close()


@asynccontextmanager
async def attached(home: Home) -> "AsyncIterator[RemoteRuntime | None]":
    """The gateway that serves the home; None where none does."""
    if not home.socket.exists() and not _is_starting(home):
        yield None
        return
    from palmclaw.web.client import attach

    remote = await attach(home)
    try:
        yield remote
    finally:
        if remote is not None:
            await remote.close()


def is_remote(runtime: Runtime) -> bool:
    """Whether the runtime goes on when this process ends."""
    return not isinstance(runtime, Gateway)


def _is_starting(home: Home) -> bool:
    """Whether a gateway has the home, whose socket is not there yet."""
    holder = HomeLock(home.lock).holder()
    return holder is not None and holder.purpose in ("", SERVING)
