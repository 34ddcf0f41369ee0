"""Follows one message from the queue to the end of its turn, and answers what is asked on the way."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING

from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    Happening,
    Missed,
    Notice,
    Signal,
    SlotAwaited,
    Standing,
    Steered,
    Stop,
    Taken,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.runtime import NotOpen, Runtime
from palmclaw.core.traffic import Fate, Receipt
from palmclaw.core.values import dataclass

if TYPE_CHECKING:
    from palmclaw.cli.chat import Talk

FAILED, STOPPED = 1, 130
_OVER = (Fate.DROPPED, Fate.REJECTED, Fate.CANCELLED, Fate.SUMMARIZED)


@dataclass(slots=True)
class Following:
    """One message; `row` is its place in the inbox, as soon as it has one, `turn` the turn that answers it."""

    talk: "Talk"
    runtime: Runtime
    row: int = 0
    turn: str = ""
    _is_stopping: bool = False
    _has_waited: bool = False
    _asking: "dict[str, asyncio.Task[None]]" = field(default_factory=dict)
    _tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    _one_question: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def to_the_end(self, signals: AsyncIterator[Signal]) -> int | None:
        """Show what happens until the message has its answer; the exit code, or None when the runtime ends before."""
        try:
            async for told in signals:
                code = self._heard(told)
                if isinstance(told.event, Missed):
                    code = await self._caught_up()
                if code is not None:
                    return code
        finally:
            for task in self._asking.values():
                task.cancel()
            self.talk.settle()
        return None

    def stood(self, standing: Standing) -> None:
        """How the session is, of which we want something."""
        if standing.turn:
            self._has_waited = True
        if standing.asked:
            self._held_up()

    def _held_up(self) -> None:
        """A turn that others began waits for an answer, and we for it."""
        self.talk.note(self.talk.texts("question_elsewhere", session=self.talk.session))

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """The first Ctrl-C stops the turn, the second one the program."""
        loop = asyncio.get_running_loop()

        def stop_or_leave() -> None:
            if self._is_stopping:
                os._exit(STOPPED)  # what was under way is named "outcome unknown" at the next start
            self._is_stopping = True
            self._start(self._stop())

        loop.add_signal_handler(signal.SIGINT, stop_or_leave)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    async def _stop(self) -> None:
        """Take the message back while it waits, and leave alone what others have begun; else stop its turn."""
        try:
            if not await self._withdrawn():
                await self.runtime.stop(self.talk.session)
        except PalmclawError as error:
            self.talk.complain(error)

    async def _withdrawn(self) -> bool:
        """Whether it waited, and could be taken back."""
        if self.turn or not self.row:
            return False
        try:
            await self.runtime.withdraw(self.row)
        except NotOpen:
            return False
        return True

    def _start(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _heard(self, told: Signal) -> int | None:
        event = told.event
        if isinstance(event, Taken):
            return self._taken(event)
        if self._is_ours(event):
            self.turn = told.turn
        elif isinstance(event, TurnStarted) and event.continues:
            self.talk.note(self.talk.texts("continues"))
        if isinstance(event, Notice | SlotAwaited):
            return self._noticed(event)
        if not self.turn and isinstance(event, ApprovalAsked):
            self._held_up()
        if not self.turn or not isinstance(event, Event | TurnStarted):
            return None
        if isinstance(event, ApprovalAsked):  # of a sub-agent too
            self._asking[event.id] = self._start(self._ask(event))
        if isinstance(event, ApprovalAnswered) and (asking := self._asking.pop(event.id, None)):
            asking.cancel()
            said = self.talk.texts(f"said_{event.answer.value}")
            self.talk.note(self.talk.texts("answered_elsewhere", answer=said))
            return None
        if told.turn != self.turn:
            return None
        self.talk.show(event)
        return exit_code(event) if isinstance(event, TurnEnded) else None

    async def _caught_up(self) -> int | None:
        """Signals were lost: find out whether there is still something to wait for."""
        self.talk.note(self.talk.texts("missed"))
        receipt = await self.runtime.receipt(self.row)
        if receipt.fate in _OVER:
            return self.over(receipt)
        if receipt.fate is Fate.WAITING:
            return None
        turns = [lane.turn for lane in (await self.runtime.status()).lanes if lane.session == self.talk.session]
        if not any(turns) or self.turn not in ("", *turns):
            return 0
        self.turn = turns[0]
        return None

    def _is_ours(self, event: Happening) -> bool:
        """Whether the message began this turn, or joined it."""
        began = isinstance(event, TurnStarted) and self.row in event.inbox
        return began or (isinstance(event, Steered) and event.inbox == self.row)

    def _taken(self, event: Taken) -> int | None:
        """What became of our message; told where it is not what one expects."""
        receipt = event.receipt
        if receipt.id != self.row:
            return None
        self.talk.show(event)
        if receipt.fate is Fate.WAITING and (receipt.position > 1 or self._has_waited):
            self.talk.note(self.talk.texts("fate_waiting", position=receipt.position))
        elif receipt.fate in (Fate.STEERED, Fate.MERGED):
            self.talk.note(self.talk.texts(f"fate_{receipt.fate.value}"))
        elif receipt.fate in _OVER:
            return self.over(receipt)
        return None

    def over(self, receipt: Receipt) -> int:
        """The message has come to nothing; returns the exit code."""
        reason = self.talk.texts.label(receipt.reason)
        self.talk.note(self.talk.texts(f"fate_{receipt.fate.value}", reason=reason))
        return STOPPED if receipt.fate is Fate.CANCELLED else FAILED

    def _noticed(self, event: Notice | SlotAwaited) -> int | None:
        if isinstance(event, SlotAwaited):
            self.talk.note(self.talk.texts("slot_awaited"))
            return None
        self.talk.tell(event.fault)
        if self.turn:
            return None
        self.talk.note(self.talk.texts("kept"))
        return FAILED

    async def _ask(self, question: ApprovalAsked) -> None:
        async with self._one_question:
            answer = await self.talk.asked(question)
        if self._asking.pop(question.id, None) is None:
            return
        try:
            await self.runtime.answer(question.id, answer, "terminal")
        except PalmclawError as error:
            self.talk.complain(error)


def exit_code(ended: TurnEnded) -> int:
    """0 for a turn that came to its end, also with a declined call in it."""
    if ended.stop in (Stop.DONE, Stop.TERMINAL_TOOL):
        return 0
    return STOPPED if ended.stop is Stop.CANCELLED else FAILED
