"""Runs turns and stores what happens in them, before anybody else hears of it; closes what a crash left open."""

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from palmclaw.agent.context import stamped
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.turn import Turn
from palmclaw.core.errors import Fault, StorageError
from palmclaw.core.events import Event, MessageAdded, Stop, TurnEnded
from palmclaw.core.messages import Message, Role, Text
from palmclaw.core.ports import CallState, Clock, Inbound, Journal, OpenTurn, Origin, TurnStore
from palmclaw.core.session import INTERRUPTED, UNKNOWN, closing, open_calls

log = logging.getLogger(__name__)
_CRASHED = Fault("crashed", "PalmClaw stopped in the middle of this turn; it has been closed.")


@dataclass(frozen=True, slots=True)
class Turns:
    """From one inbound message to the final answer."""

    sessions: TurnStore
    journal: Journal
    clock: Clock
    agent: Callable[[str], Agent]
    model: str = ""

    async def run(self, inbound: Inbound, interrupt: Interrupt) -> AsyncIterator[Event]:
        """Every event of the turn, each message stored before it is yielded; the last is TurnEnded."""
        turn = Turn(inbound.session, secrets.token_hex(8), inbound.origin, interrupt)
        message = stamped(inbound.text, self.clock.now(), tainted=inbound.origin is Origin.OTHER)
        try:
            await self.sessions.begin(turn.id, inbound, message, self.model)
            yield MessageAdded(message)
            async for event in self.agent(inbound.session).run(turn):
                await self._keep(turn, event)
                yield event
        except StorageError as error:
            yield TurnEnded(Stop.ERROR, error=error.fault)
        except Exception:  # a bug in one turn must not end the others
            log.exception("turn %s in %s crashed", turn.id, turn.session)
            ended = TurnEnded(Stop.ERROR, error=Fault("internal", "PalmClaw has a bug; see palmclaw.log."))
            await self._close(OpenTurn(turn.id, turn.session, ()), ended)
            yield ended

    async def recover(self) -> int:
        """Close the turns that were running when the last process died; returns how many.

        Afterwards each of their calls has exactly one result: the recorded one, "not run", or "outcome unknown".
        """
        turns = await self.sessions.open_turns()
        for turn in turns:
            outcomes = await self.journal.outcomes(turn.id)
            for call in open_calls(turn.messages):
                state, result = outcomes.get(call.id, (None, None))
                if state is CallState.RUNNING or result is None:
                    message = closing(call, UNKNOWN if state else INTERRUPTED, turn.messages[-1])
                else:
                    message = Message(Role.TOOL, (result,), tainted=True, private=True)  # not known: the stricter
                if state is CallState.RUNNING:
                    await self.journal.end(turn.id, call.id, CallState.UNKNOWN, message.results[0])
                await self.sessions.append(turn.session, turn.id, message)
            await self._close(turn, TurnEnded(Stop.ERROR, error=_CRASHED), "interrupted")
        return len(turns)

    async def _keep(self, turn: Turn, event: Event) -> None:
        if isinstance(event, MessageAdded):
            await self.sessions.append(turn.session, turn.id, event.message)
        elif isinstance(event, TurnEnded):
            await self.sessions.end(turn.id, event)

    async def _close(self, turn: OpenTurn, ended: TurnEnded, state: str = "ended") -> None:
        note = Message(Role.NOTE, (Text(ended.error.message if ended.error else ""),))
        await self.sessions.append(turn.session, turn.id, note)
        await self.sessions.end(turn.id, ended, state)
