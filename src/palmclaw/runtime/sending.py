"""One message at a time to each address, bounded in time, and what is known of how it came out."""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from palmclaw.core.channels import Channel, ChannelError
from palmclaw.core.ports import OutboxState
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
SECONDS = 15.0
LONGEST_WAIT = 3_600.0
"""How long a channel may take for one message."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`sent`, `unknown`, or certainly not delivered: `waiting` if it may work in `wait` seconds, else `failed`."""

    state: OutboxState
    remote: str = ""
    reason: str = ""
    wait: float = 0.0


async def bounded(work: Callable[[], Awaitable[T]], sleep: Sleep, seconds: float = SECONDS) -> "asyncio.Task[T]":
    """The task of `work`, which has ended, or else was told to; never raises what the work does."""
    task, timer = asyncio.create_task(_run(work)), asyncio.create_task(_run(partial(sleep, seconds)))
    task.add_done_callback(_looked_at)
    try:
        await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
        task.cancel()
    return task


@dataclass(slots=True)
class Lines:
    """The ways to all addresses; `channels` are those that run."""

    channels: Mapping[str, Channel]
    sleep: Sleep = asyncio.sleep
    _locks: "WeakValueDictionary[Address, asyncio.Lock]" = field(default_factory=WeakValueDictionary)

    def lock(self, address: Address) -> asyncio.Lock:
        """To be held by whoever sends there."""
        lock = self._locks.get(address)
        if lock is None:
            lock = self._locks[address] = asyncio.Lock()
        return lock

    async def attempt(self, outbound: Outbound) -> Outcome:
        """Send once; the caller holds the lock."""
        channel = self.channels.get(outbound.address.channel)
        if channel is None:
            return Outcome(OutboxState.WAITING, reason="the channel is not running")
        task = await bounded(partial(channel.send, outbound), self.sleep)
        if not task.done():
            return Outcome(OutboxState.UNKNOWN, reason=f"no answer within {SECONDS:g} s: it may have arrived")
        if task.cancelled():
            return Outcome(OutboxState.UNKNOWN, reason="sending was broken off: it may have arrived")
        error = task.exception()
        if error is None:
            return Outcome(OutboxState.SENT, remote=_id(task.result()))
        if isinstance(error, ChannelError):
            state = OutboxState.WAITING if error.retryable else OutboxState.FAILED
            return Outcome(state, reason=str(error), wait=_seconds(error.retry_after))
        where = "".join(traceback.format_tb(error.__traceback__))  # its words may hold a key
        log.error("channel %s broke: %s\n%s", outbound.address.channel, type(error).__name__, where)
        return Outcome(OutboxState.UNKNOWN, reason=f"the channel broke ({type(error).__name__}): it may have arrived")


def _id(remote: object) -> str:
    """The platform's id of a message, whatever a stranger's plugin takes for one."""
    return str(remote) if isinstance(remote, str | int) and not isinstance(remote, bool) else ""


def _seconds(wait: object) -> float:
    """How long the platform asks to wait; never longer than an hour, and nothing where it is no number."""
    return min(max(0.0, float(wait)), LONGEST_WAIT) if isinstance(wait, int | float) and wait == wait else 0.0


async def _run(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


def _looked_at(task: "asyncio.Task[T]") -> None:
    """What a task left behind raises interests nobody any more."""
    if not task.cancelled():
        task.exception()
