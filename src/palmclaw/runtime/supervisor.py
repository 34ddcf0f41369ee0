"""One runtime for all who need it: the first holder starts it, the last one that lets go stops it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import field

from palmclaw.core.values import dataclass
from palmclaw.runtime.gateway import Gateway


@dataclass(slots=True)
class Supervisor:
    """Counts its holders by name: the foreground, always-on mode, a due job. A start that fails can be tried again."""

    opened: Callable[[], AbstractAsyncContextManager[Gateway]]
    holders: list[str] = field(default_factory=list)
    _open: AbstractAsyncContextManager[Gateway] | None = None
    _gateway: Gateway | None = None
    _changing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[Gateway]:
        """The running gateway, for as long as it is held. Raises what its start raises."""
        gateway = await self._held(name)
        try:
            yield gateway
        finally:
            await asyncio.shield(self._let_go(name))

    async def _held(self, name: str) -> Gateway:
        async with self._changing:
            if self._gateway is None:
                opening = self.opened()
                self._gateway = await opening.__aenter__()
                self._gateway.holders = self.holders
                self._open = opening
            self.holders.append(name)
            return self._gateway

    async def _let_go(self, name: str) -> None:
        async with self._changing:
            self.holders.remove(name)
            if not self.holders and self._open is not None:
                opened, self._open, self._gateway = self._open, None, None
                await opened.__aexit__(None, None, None)
