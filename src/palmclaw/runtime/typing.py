"""Showing that an answer is being written, for as long as one is expected."""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field
from functools import partial

from palmclaw.core.channels import Channel
from palmclaw.core.traffic import Address
from palmclaw.core.values import dataclass
from palmclaw.runtime.sending import Sleep, bounded

EVERY, LONGEST = 6.0, 120.0
"""Seconds between two signs, and after which they end unless an answer is expected anew."""


@dataclass(slots=True)
class _Expected:
    count: int = 0
    since: float = 0.0
    task: "asyncio.Task[None] | None" = None


@dataclass(slots=True)
class Typing:
    """Counts who expects an answer at each address."""

    channels: Mapping[str, Channel]
    sleep: Sleep = asyncio.sleep
    now: Callable[[], float] = time.monotonic
    _expected: dict[Address, _Expected] = field(default_factory=dict)

    def expect(self, address: Address) -> None:
        """One more answer is expected there; to be ended by `rest`."""
        self._expected.setdefault(address, _Expected()).count += 1
        self.still(address)

    def still(self, address: Address) -> None:
        """What is expected there is still being worked on."""
        expected = self._expected.get(address)
        channel = self.channels.get(address.channel)
        if expected is None or channel is None or not channel.abilities.typing:
            return
        expected.since = self.now()
        if expected.task is None or expected.task.done():
            expected.task = asyncio.create_task(self._show(address, expected))

    def rest(self, address: Address) -> None:
        """One answer less is expected there."""
        expected = self._expected.get(address)
        if expected is None:
            return
        expected.count -= 1
        if expected.count <= 0:
            del self._expected[address]
            if expected.task is not None:
                expected.task.cancel()

    async def close(self) -> None:
        """End all signs."""
        tasks = [e.task for e in self._expected.values() if e.task is not None]
        self._expected.clear()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _show(self, address: Address, expected: _Expected) -> None:
        while self.now() - expected.since < LONGEST:
            channel = self.channels.get(address.channel)
            if channel is not None:
                await bounded(partial(channel.typing, address), self.sleep)  # a refusal is no matter
            await self.sleep(EVERY)
