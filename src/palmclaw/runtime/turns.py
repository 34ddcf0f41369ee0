"""Runs turns and stores what happens in them, before anybody else hears of it; closes what a crash left open."""

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass

from palmclaw.agent.context import stamped
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.turn import Turn
from palmclaw.core.errors import Fault, PalmclawError, StorageError
from palmclaw.core.events import Event, MessageAdded, Stop, TurnEnded
from palmclaw.core.messages import Message, Role, Text, ToolCall, ToolResult
from palmclaw.core.ports import CallState, Clock, Inbound, Journal, OpenTurn, Origin, TurnStore
from palmclaw.core.results import failed
from palmclaw.core.session import INTERRUPTED, UNKNOWN, open_calls

log = logging.getLogger(__name__)
_CRASHED = Fault("crashed", "PalmClaw stopped in the middle of this turn; it has been closed.")


@dataclass(frozen=True, slots=True)
class Turns:
    """From one inbound message to the final answer."""

    store: TurnStore
    journal: Journal
    clock: Clock
    agent: Callable[[str], Agent]
    model: str = ""

    async def run(self, inbound: Inbound, interrupt: Interrupt) -> AsyncIterator[Event]:
        """Every event of the turn, each message stored before it is yielded; the last is TurnEnded."""
        turn = Turn(inbound.session, secrets.token_hex(8), inbound.origin, interrupt, task=inbound.text)
        try:
            await self.recover(inbound.session)  # a turn that a full disk left open, say
            turn.model = inbound.model or await self.store.model(inbound.session)
            foreign = inbound.origin is Origin.OTHER
            message = stamped(inbound.text, self.clock.now(), inbound.media, tainted=foreign)
            await self.store.begin(turn.id, inbound, message, turn.model or self.model)
            yield MessageAdded(message)
            async for event in self.agent(inbound.session).run(turn):
                await self._keep(turn, event)
                yield event
        except PalmclawError as error:
            yield await self._broken(turn, error.fault)
        except Exception:  # a bug in one turn must not end the others
            log.exception("turn %s in %s crashed", turn.id, turn.session)
            yield await self._broken(turn, Fault("internal", "PalmClaw has a bug; see palmclaw.log."))

    async def recover(self, session: str = "") -> int:
        """Close the turns (of one session, or all) that something broke off; returns how many.

        Only for turns that no longer run. Afterwards each of their calls has exactly one result: the recorded one,
        "not run", or "outcome unknown".
        """
        turns = [t for t in await self.store.open_turns() if session in ("", t.session)]
        for turn in turns:
            await self._close(turn, TurnEnded(Stop.ERROR, error=_CRASHED), "interrupted")
        return len(turns)

    async def _broken(self, turn: Turn, fault: Fault) -> TurnEnded:
        """The end of a turn that failed outside its loop; where it cannot be stored now, the next turn closes it."""
        ended = TurnEnded(Stop.ERROR, error=fault)
        with suppress(StorageError):
            for left in await self.store.open_turns():
                if left.id == turn.id:
                    await self._close(left, ended)
        return ended

    async def _close(self, turn: OpenTurn, ended: TurnEnded, state: str = "ended") -> None:
        """Give every open call its result, write down why, and mark the turn as over."""
        outcomes = await self.journal.outcomes(turn.id)
        for call in open_calls(turn.messages):
            message = await self._result(turn, call, outcomes.get(call.id))
            await self.store.append(turn.session, turn.id, message)
        note = Message(Role.NOTE, (Text(ended.error.message if ended.error else ""),))
        await self.store.append(turn.session, turn.id, note)
        await self.store.end(turn.id, ended, state)

    async def _result(
        self, turn: OpenTurn, call: ToolCall, known: tuple[CallState, ToolResult | None] | None
    ) -> Message:
        """What is known of a call that the log left open."""
        if known is None:
            return failed(call, INTERRUPTED)
        state, result = known
        if result is not None and state is not CallState.RUNNING:
            return Message(Role.TOOL, (result,), tainted=True, private=True)  # not known: the stricter
        message = failed(call, UNKNOWN)
        await self.journal.end(turn.id, call.id, CallState.UNKNOWN, message.results[0])
        return message

    async def _keep(self, turn: Turn, event: Event) -> None:
        if isinstance(event, MessageAdded):
            await self.store.append(turn.session, turn.id, event.message)
        elif isinstance(event, TurnEnded):
            await self.store.end(turn.id, event)
