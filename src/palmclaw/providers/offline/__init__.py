"""The offline assistant: a provider that needs no model, no key and no network.

It understands set phrases in English and Chinese (hassil templates in `data/`), answers with ordinary tool calls and
puts their results into words. Everything is derived from the request, so it survives restarts like any other model.
"""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import datetime

from palmclaw.core.events import TextDelta
from palmclaw.core.messages import Message, Role, Text, ToolCall, Usage
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Clock, Delta, Finish, Reply, Request
from palmclaw.core.values import dataclass

MODEL = "offline"
_CHUNK = re.compile(r".{1,48}(?:\s+|$)|.{1,48}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class OfflineConfig:
    """The offline assistant has no settings."""


class Offline:
    """Implements the Provider port with sentence templates instead of a model."""

    local = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """One step: a tool call, or the answer in a few chunks."""
        # In a thread: loading the templates takes longer than an interrupt may wait.
        step = await asyncio.to_thread(_next_step, request, self._clock)
        usage = Usage(requests=1)
        if isinstance(step, ToolCall):
            yield Reply(Message(Role.ASSISTANT, (step,), model=MODEL), usage, Finish.TOOLS)
            return
        for chunk in _CHUNK.findall(step):
            yield TextDelta(chunk)
        yield Reply(Message(Role.ASSISTANT, (Text(step),), model=MODEL), usage, Finish.STOP)

    async def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class MachineClock:
    """The machine's own time, where no device gives one."""

    def now(self) -> datetime:
        return datetime.now().astimezone()


def _next_step(request: Request, clock: Clock) -> ToolCall | str:
    from palmclaw.providers.offline.assistant import next_step  # noqa: PLC0415  # start-up time: only when it is asked

    return next_step(request, clock.now())


@plugin(Kind.PROVIDER, "offline", OfflineConfig)
def create(config: OfflineConfig, parts: Parts) -> Offline:
    """The offline assistant on the device's clock."""
    return Offline(parts.clock or MachineClock())
