"""The one way a turn is stopped from outside: Ctrl-C, /stop and every button set the same interrupt."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from dataclasses import field
from typing import TypeVar

from palmclaw.core.values import dataclass

T = TypeVar("T")
GRACE = 0.05
"""Seconds that cancelled work is given to clean up before it is left behind."""


class Interrupted(Exception):
    """The owner stopped the turn."""


@dataclass(slots=True)
class Interrupt:
    """Set once; whoever waits is woken by its own callback."""

    is_set: bool = False
    _wakers: set[Callable[[], None]] = field(default_factory=set)

    def set(self) -> None:
        self.is_set = True
        for wake in tuple(self._wakers):
            wake()

    def watch(self, wake: Callable[[], None]) -> Callable[[], None]:
        """Call `wake` when the interrupt is set, now if it is; returns the function that ends the watch."""
        self._wakers.add(wake)
        if self.is_set:
            wake()
        return lambda: self._wakers.discard(wake)


async def until(source: AsyncIterator[T], interrupt: Interrupt) -> AsyncGenerator[T, None]:
    """The items of `source`; raises what it raises, and `Interrupted` as soon as the interrupt is set."""
    items: asyncio.Queue[T | None] = asyncio.Queue()
    pump = asyncio.create_task(_pumped(source, items))
    pump.add_done_callback(lambda task: items.put_nowait(None))
    unwatch = interrupt.watch(lambda: items.put_nowait(None))
    try:
        while (item := await items.get()) is not None and not interrupt.is_set:
            yield item
        if interrupt.is_set:
            raise Interrupted
        pump.result()
    finally:
        unwatch()
        await ended((pump,))


async def waited(task: "asyncio.Task[T] | asyncio.Future[T]", interrupt: Interrupt) -> T:
    """What a task returns; raises what it raises, and `Interrupted` as soon as the interrupt is set."""
    stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    unwatch = interrupt.watch(lambda: None if stopped.done() else stopped.set_result(None))
    try:
        await asyncio.wait((task, stopped), return_when=asyncio.FIRST_COMPLETED)
    finally:
        unwatch()
    if not task.done():
        raise Interrupted
    return task.result()


async def _pumped(source: AsyncIterator[T], items: "asyncio.Queue[T | None]") -> None:
    async for item in source:
        items.put_nowait(item)


async def ended(tasks: tuple["asyncio.Task[object] | asyncio.Task[None]", ...]) -> None:
    """Cancel what still runs and wait a moment; what ignores the cancellation is left behind."""
    running = [t for t in tasks if not t.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=GRACE)
    for task in tasks:
        if task.done() and not task.cancelled():
            with suppress(asyncio.CancelledError):
                task.exception()
