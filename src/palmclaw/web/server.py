"""The gateway's door: the local API on a Unix socket in the home, which its owner alone can open."""

import logging
from collections.abc import Callable

from aiohttp import web

from palmclaw.core.errors import StorageError
from palmclaw.core.runtime import Runtime
from palmclaw.core.values import dataclass
from palmclaw.net import unix
from palmclaw.paths import Home
from palmclaw.storage.process import Gateway, read, this_process, written
from palmclaw.web.api import local_only, plainly, routes

log = logging.getLogger(__name__)
BACKLOG = 1_024
LAST_ANSWERS = 2.0
"""Seconds that answers under way have when the door closes."""


@dataclass(slots=True)
class Door:
    """Open while a runtime stands behind it. Only for the process that owns the home.

    It may be closed after the home has another owner: then the socket and the word of who serves are that one's.
    """

    home: Home
    shutdown: Callable[[], None]
    _runner: web.AppRunner | None = None
    _me: Gateway | None = None
    _socket: tuple[int, int, int] | None = None

    async def open(self, runtime: Runtime) -> None:
        """Serve from now on. Raises StorageError."""
        app = web.Application(middlewares=[local_only, plainly])
        app.add_routes(routes(runtime, self.shutdown))
        self._runner = web.AppRunner(app, access_log=None, logger=log, shutdown_timeout=LAST_ANSWERS)
        await self._runner.setup()
        try:
            self._me = this_process()
            written(self.home.gateway, self._me)
            await web.SockSite(self._runner, unix.listener(self.home.socket), backlog=BACKLOG).start()
        except OSError as error:
            raise StorageError(
                f"cannot listen at {self.home.socket}: {error.strerror}", "Choose another home with PALMCLAW_HOME."
            ) from error
        self._socket = unix.identity(self.home.socket)

    async def close(self) -> None:
        """Let nobody in any more, and finish what is being answered; harmless when it never opened."""
        if self._me is not None and read(self.home.gateway) == self._me:
            self.home.gateway.unlink(missing_ok=True)
        if self._socket is not None and unix.identity(self.home.socket) == self._socket:
            self.home.socket.unlink(missing_ok=True)
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
