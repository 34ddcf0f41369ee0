"""One turn: ask the model, run its tools, repeat until it only talks. The stream of events is the whole truth.

Whoever reads the events stores each message before asking for the next event, so the log is always ahead of the world.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import field, replace
from typing import Protocol

from palmclaw.agent.asking import Asking, says_nothing
from palmclaw.agent.colour import coloured
from palmclaw.agent.compaction import Compaction
from palmclaw.agent.context import Crowd
from palmclaw.agent.interrupt import Interrupted, ended
from palmclaw.agent.repeats import Repeats
from palmclaw.agent.toolbox import Toolbox
from palmclaw.agent.turn import Turn
from palmclaw.core.errors import ConfigError, ContextOverflow, Fault, ProviderError
from palmclaw.core.events import Event, MessageAdded, Stop, ToolEnded, ToolStarted, TurnEnded
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Cut, Message, Role, Text, ToolCall, Usage
from palmclaw.core.ports import Finish, Provider, Reply, Request
from palmclaw.core.results import failed
from palmclaw.core.session import INTERRUPTED, SKIPPED
from palmclaw.core.silence import silent
from palmclaw.core.values import dataclass

OVERFLOWS = 3
"""How often in a turn a request that was too long is made shorter."""


class Context(Protocol):
    """Builds the next request from what is stored; `crowd` is what there is no room for in it."""

    async def request(self, turn: Turn) -> Request: ...

    async def crowd(self, turn: Turn) -> Crowd | None: ...


@dataclass(frozen=True, slots=True)
class Agent:
    """What every turn of a session shares."""

    provider: Provider
    context: Context
    toolbox: Toolbox
    limits: Limits = Limits()
    compaction: Compaction | None = None

    def run(self, turn: Turn) -> AsyncGenerator[Event, None]:
        """Everything that happens in one turn; the last event is always TurnEnded."""
        return _Run(self, turn, Repeats(self.limits.repeats)).events()


@dataclass(slots=True)
class _Run:
    agent: Agent
    turn: Turn
    repeats: Repeats
    usage: Usage = Usage()
    rounds: int = 0
    blanks: int = 0
    calls_done: int = 0
    end: TurnEnded | None = None
    reply: Reply | None = None
    _mail: "asyncio.Queue[Event | None]" = field(default_factory=asyncio.Queue)

    async def events(self) -> AsyncGenerator[Event, None]:
        while self.end is None and self.rounds < self.agent.limits.rounds:
            while (steered := self.turn.steering.next()) is not None:
                yield steered
            self.rounds += 1
            async with aclosing(self._round()) as events:
                async for event in events:
                    yield event
            if self._is_owed_more():
                self.end = None
        if self.end is None:
            self._stop(Stop.ROUND_LIMIT, Fault("round_limit", self._limit_text(), hint="Say “go on” to continue."))
        assert self.end is not None
        if self.end.error is not None:
            yield MessageAdded(Message(Role.NOTE, (Text(self.end.error.message),)))
        yield self.end

    def _is_owed_more(self) -> bool:
        """Somebody spoke while the last answer was given, and has had none."""
        is_done = self.end is not None and self.end.stop is Stop.DONE and self.end.error is None
        return is_done and self.rounds < self.agent.limits.rounds and self.turn.steering.has_some

    async def _round(self) -> AsyncGenerator[Event, None]:
        async with aclosing(self._ask()) as events:
            async for event in events:
                yield event
        reply, self.reply = self.reply, None
        if reply is None:
            return
        yield MessageAdded(reply.message)
        if not reply.message.calls:
            self._stop(Stop.DONE, _unfinished(reply))
            return
        async with aclosing(self._run_calls(reply.message.calls)) as events:
            async for event in events:
                yield event

    async def _ask(self) -> AsyncGenerator[Event, None]:
        """Sets `reply`, or `end` when there is none to be had."""
        try:
            async with aclosing(self._make_room()) as made:
                async for event in made:
                    yield event
        except Interrupted:
            self._stop(Stop.CANCELLED, _STOPPED)
            return
        request = await self.agent.context.request(self.turn)
        self.turn.tainted = any(m.tainted for m in request.messages)
        self.turn.private = any(m.private for m in request.messages)
        asking = Asking(self.agent.provider, request)
        try:
            async with aclosing(asking.deltas(self.turn.interrupt)) as deltas:
                async for delta in deltas:
                    yield delta
        except (ProviderError, ConfigError, Interrupted) as error:
            if isinstance(error, ContextOverflow) and self._asks_less(error):
                return
            if parts := asking.partial():
                cut = Cut.INTERRUPTED if isinstance(error, Interrupted) else Cut.STREAM
                partial = Message(Role.ASSISTANT, parts, model=request.model, cut=cut)
                yield MessageAdded(coloured(partial, request))
            if isinstance(error, Interrupted):
                self._stop(Stop.CANCELLED, _STOPPED)
                return
            if isinstance(error, ProviderError):
                self.usage += error.usage or Usage()
            self._stop(Stop.ERROR, error.fault)
            return
        self._take(asking.reply)

    async def _make_room(self) -> AsyncGenerator[Event, None]:
        """Sum up what there is no room for; once in a turn, and whenever the service says that it is too much."""
        compaction = self.agent.compaction
        if compaction is None or self.turn.summed:
            return
        crowd = await self.agent.context.crowd(self.turn)
        if crowd is None:
            return
        async with aclosing(compaction.make_room(self.turn, crowd)) as events:
            async for event in events:
                yield event

    def _asks_less(self, error: ContextOverflow) -> bool:
        """After a request that was too long: whether a shorter one is worth trying."""
        self.usage += error.usage or Usage()
        turn = self.turn
        if turn.overflows >= OVERFLOWS:
            return False
        turn.overflows += 1
        turn.room, turn.summed = turn.weight * 3 // 5, False
        return True

    def _take(self, reply: Reply | None) -> None:
        """Count the reply and keep it; an empty one is asked for once more."""
        if reply is not None:
            self.usage += replace(reply.usage, requests=reply.usage.requests or 1)
            if not says_nothing(reply.message) and not self._is_owed_words(reply.message):
                self.reply = reply
                return
            if reply.finish is Finish.LENGTH:
                self._stop(Stop.EMPTY, _ALL_THOUGHT)
                return
        self.blanks += 1
        if self.blanks > 1:
            self._stop(Stop.EMPTY, _EMPTY)

    def _is_owed_words(self, message: Message) -> bool:
        """A person who has asked is not answered with silence."""
        return not self.turn.may_be_silent and not message.calls and silent(message.text)

    async def _run_calls(self, calls: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        """Reads run together, anything else one by one; results keep the model's order."""
        together = len(calls) > 1 and all(self.agent.toolbox.only_reads(c) for c in calls)
        for batch in [calls] if together else [(c,) for c in calls]:
            async with aclosing(self._run_batch(batch)) as events:
                async for event in events:
                    yield event
        if self.end is None and self.turn.interrupt.is_set:
            self._stop(Stop.CANCELLED, _STOPPED)

    async def _run_batch(self, batch: tuple[ToolCall, ...]) -> AsyncGenerator[Event, None]:
        if (reason := self._not_to_run()) is not None:
            for call in batch:
                yield MessageAdded(failed(call, reason))
            return
        for call in batch:
            yield ToolStarted(call)
        tasks = [asyncio.create_task(self.agent.toolbox.run(c, self.turn, self._mail.put_nowait)) for c in batch]
        unwatch = self._woken_by(tasks)
        try:
            async with aclosing(self._until_done(tasks)) as events:
                async for event in events:
                    yield event
        finally:
            unwatch()
            await ended(tuple(tasks))
        for call, task in zip(batch, tasks, strict=True):
            done = task.done() and not task.cancelled()
            message = task.result() if done else await self.agent.toolbox.abandon(call, self.turn)
            async for event in self._answered(call, message):
                yield event

    def _not_to_run(self) -> Fault | None:
        """Why calls that have not begun are not begun any more."""
        if self.turn.interrupt.is_set or (self.end is not None and self.end.stop is Stop.ERROR):
            return INTERRUPTED
        return SKIPPED if self.turn.steering.has_some else None

    def _woken_by(self, tasks: "list[asyncio.Task[Message]]") -> Callable[[], None]:
        for task in tasks:
            task.add_done_callback(lambda _: self._mail.put_nowait(None))
        return self.turn.interrupt.watch(lambda: self._mail.put_nowait(None))

    async def _until_done(self, tasks: "list[asyncio.Task[Message]]") -> AsyncGenerator[Event, None]:
        """What the running calls tell, until all have ended or the turn is interrupted."""
        while not self.turn.interrupt.is_set and not all(t.done() for t in tasks):
            event = await self._mail.get()
            if event is not None:
                yield event
        while not self._mail.empty():
            if (event := self._mail.get_nowait()) is not None:
                yield event

    async def _answered(self, call: ToolCall, message: Message) -> AsyncGenerator[Event, None]:
        self.calls_done += 1
        result = message.results[0]
        yield MessageAdded(message)
        yield ToolEnded(call, result)
        if self.repeats.seen(call, message, reads=self.agent.toolbox.only_reads(call)):
            self._stop(Stop.ERROR, _repeated(call, self.repeats.limit))
        elif result.terminal and result.error is None:
            self._stop(Stop.TERMINAL_TOOL)

    def _stop(self, stop: Stop, error: Fault | None = None) -> None:
        """The first reason to end counts."""
        if self.end is None:
            self.end = TurnEnded(stop, self.usage, error, self.rounds)

    def _limit_text(self) -> str:
        rounds, calls = self.agent.limits.rounds, self.calls_done
        return f"Stopped after {rounds} rounds with {calls} tool calls done; the task is not finished."


_LARGER = "Allow longer answers (palmclaw config get budget), or choose another model."
_STOPPED = Fault("stopped", "Stopped by you.")
_ALL_THOUGHT = Fault("length", "The model used up its output limit before it said anything.", hint=_LARGER)
_EMPTY = Fault("empty_reply", "The model answered with nothing.", True, "Try again, or choose another model.")


def _repeated(call: ToolCall, times: int) -> Fault:
    text = f"Stopped: {call.name} was called {times} times with the same arguments and the same result."
    return Fault("repeated_call", text, hint="Say it in other words, or choose another model.")


def _unfinished(reply: Reply) -> Fault | None:
    if reply.finish is Finish.LENGTH:
        return Fault("length", "The answer was cut at the model's output limit.", hint="Say “go on” to continue.")
    if reply.finish is Finish.FILTER:
        return Fault("content_filter", "The service's content filter cut the answer.")
    if reply.finish is Finish.OTHER:
        return Fault("unfinished", "The model stopped for a reason of its own.", hint="Say “go on” to continue.")
    return None
