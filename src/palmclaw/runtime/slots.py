"""At most so many turns at once. A turn that waits for a person lends its place to another one."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import field

from palmclaw.core.values import dataclass


@dataclass(slots=True)
class Slots:
    """Given out in the order in which they were asked for."""

    count: int
    free: int = field(init=False)
    _queue: "deque[asyncio.Future[None]]" = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.free = self.count

    @property
    def awaited(self) -> int:
        """How many wait for one."""
        return len(self._queue)

    async def take(self) -> "Slot":
        """The next free slot."""
        await self._taken()
        return Slot(self)

    async def _taken(self) -> None:
        if self.free > 0 and not self._queue:
            self.free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._given_back()  # it came in the same moment
            elif turn in self._queue:  # else it was passed over when a place came free
                self._queue.remove(turn)
            raise

    def _given_back(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.free += 1


@dataclass(slots=True)
class Slot:
    """One turn's place. Giving it back twice frees it once."""

    slots: Slots
    is_held: bool = True

    def release(self) -> None:
        """Give the place back; harmless when it is not held."""
        if self.is_held:
            self.is_held = False
            self.slots._given_back()

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Somebody else may have the place meanwhile; afterwards wait for one again, unless the turn is over."""
        was_held = self.is_held
        self.release()
        yield
        if was_held:
            await self.slots._taken()
            self.is_held = True
