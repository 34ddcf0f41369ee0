"""What a gateway did, a line each in the log: never words of a message, arguments of a call, or what came of one."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import field

from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Compacted,
    Missed,
    ModelChanged,
    Notice,
    Retrying,
    Sent,
    Signal,
    SlotAwaited,
    Steered,
    Taken,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.runtime import Runtime
from palmclaw.core.text import visible
from palmclaw.core.traffic import Fate, Receipt
from palmclaw.core.values import dataclass

NAME = "gateway"
"""Of the logger; not below the program's own, which tells of bugs alone."""
A_MOMENT = 1.0
"""Seconds within which a runtime that has ended has told the last of it."""
LONGEST = 160
"""Characters of a reason that a chat app gave."""


@dataclass(slots=True)
class Diary:
    """Hears all sessions of a runtime. `_began` is when each turn that runs did."""

    log: logging.Logger = field(default_factory=lambda: logging.getLogger(NAME))
    now: Callable[[], float] = time.monotonic
    _began: dict[str, float] = field(default_factory=dict)
    _keeping: "asyncio.Task[None] | None" = None

    def open(self, runtime: Runtime) -> None:
        """Begin to listen."""
        self._keeping = asyncio.create_task(self.keep(runtime))

    async def close(self) -> None:
        """Hear how the last turns end, for as long as that takes where the runtime is about to end."""
        if self._keeping is None:
            return
        await asyncio.wait({self._keeping}, timeout=A_MOMENT)
        self._keeping.cancel()
        await asyncio.gather(self._keeping, return_exceptions=True)

    async def keep(self, runtime: Runtime) -> None:
        """Until the runtime has nothing more to tell."""
        async with aclosing(runtime.events()) as signals:
            async for signal in signals:
                self.hear(signal)

    def hear(self, signal: Signal) -> None:
        """Write down what this tells, if it tells what a person would look for."""
        where = visible(signal.session)
        match signal.event:
            case Taken(receipt):
                self._taken(receipt, where)
            case TurnStarted():
                self._started(signal.turn, where, signal.event)
            case TurnEnded():
                self._ended(signal.turn, where, signal.event)
            case ToolEnded():
                self._called(where, signal.event)
            case Sent():
                self._sent(where, signal.event)
            case event:
                self._other(where, event)

    def _taken(self, receipt: Receipt, where: str) -> None:
        if receipt.fate is Fate.WAITING:
            self.log.info("message %d in %s: accepted, number %d in line", receipt.id, where, receipt.position)
        elif receipt.fate is not Fate.STARTED:  # its turn says that
            reason = f" ({_short(receipt.reason)})" if receipt.reason else ""
            self.log.info("message %d in %s: %s%s", receipt.id, where, receipt.fate.value, reason)

    def _started(self, turn: str, where: str, event: TurnStarted) -> None:
        self._began[turn] = self.now()
        rows = ", ".join(map(str, event.inbox))
        if event.continues:
            self.log.info("turn %s in %s began: goes on with turn %s", _id(turn), where, _id(event.continues))
        elif rows:
            self.log.info("turn %s in %s began: message %s", _id(turn), where, rows)
        else:
            self.log.info("turn %s in %s began", _id(turn), where)

    def _ended(self, turn: str, where: str, event: TurnEnded) -> None:
        began = self._began.pop(turn, None)
        how = event.stop.value + (f" ({event.error.code})" if event.error else "")
        took = "" if began is None else f", {self.now() - began:.1f} s"
        level = logging.WARNING if event.error and event.stop.value == "error" else logging.INFO
        self.log.log(level, "turn %s in %s ended: %s, rounds %d%s", _id(turn), where, how, event.rounds, took)

    def _called(self, where: str, event: ToolEnded) -> None:
        outcome = f"failed ({event.result.error.code})" if event.result.error else "done"
        self.log.info("tool %s in %s: %s", visible(event.call.name)[:64], where, outcome)

    def _sent(self, where: str, event: Sent) -> None:
        if event.state == "sent":
            self.log.info("answer %d to %s: sent", event.outbox, where)
        else:
            self.log.warning("answer %d to %s: %s (%s)", event.outbox, where, event.state, _short(event.reason))

    def _other(self, where: str, event: object) -> None:
        match event:
            case Steered():
                self.log.info("message %d in %s: joined the turn", event.inbox, where)
            case Retrying():
                what = "model %s in %s failed (%s): asked again in %.0f s"
                self.log.warning(what, event.model, where, event.fault.code, event.seconds)
            case Compacted():
                how = "summed up" if event.summed else "left out"
                self.log.info("older messages in %s: %d %s", where, event.messages, how)
            case ModelChanged():
                what = "model %s in %s failed (%s): %s answers"
                self.log.warning(what, event.instead_of, where, event.fault.code, event.model)
            case ApprovalAsked():
                self.log.info("approval %s in %s: asked for %s", event.id, where, visible(event.call.name)[:64])
            case ApprovalAnswered():
                self.log.info("approval %s in %s: answered %s", event.id, where, event.answer.value)
            case SlotAwaited():
                self.log.info("turn in %s: waits for other conversations", where)
            case Notice():
                self.log.warning("notice in %s: %s", where, event.fault.code)
            case Missed():
                self.log.warning("some of what happened is not in this log")


def _id(turn: str) -> str:
    return turn[:8]


def _short(reason: str) -> str:
    return visible(" ".join(reason.split()))[:LONGEST]
