"""Sub-agents: each has a session of its own, works in its own lane, and reports to the session that began it."""

import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import field, replace

from palmclaw.core.codec import decode, encode
from palmclaw.core.desks import Charge, CrewLimits, TooMany
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import Message, Role
from palmclaw.core.ports import Log
from palmclaw.core.records import CrewStore, Stored, Unreported
from palmclaw.core.runtime import Draining
from palmclaw.core.text import clipped
from palmclaw.core.traffic import SUBAGENT, Inbound, Mode, QueueChange
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.runtime.turns import Work

log = logging.getLogger(__name__)
REMEMBERED = 64
"""Charges that are kept in memory."""
RESULT = 8_000
"""Characters of a result that reach the parent."""


@dataclass(slots=True, repr=False)
class Subagents:
    """Implements Crew. `accept` takes a report like any other message, `enter` puts a stored task in line."""

    store: CrewStore
    log: Log
    limits: CrewLimits
    accept: Callable[[Inbound], Awaitable[object]]
    enter: Callable[[Stored], Awaitable[object]]
    _charges: dict[str, Charge | None] = field(default_factory=dict)
    _owes: bool = False

    async def spawn(self, session: str, turn: str, charge: Charge, *, tainted: bool, private: bool = False) -> str:
        """Begin the work and return its session at once. Raises TooMany."""
        above = await self.charge(session)
        depth = (above.depth if above else 0) + 1
        if depth > self.limits.depth:
            raise TooMany("a sub-agent may not begin further ones here")
        if (count := await self.store.at_work(session)) >= self.limits.at_once:
            raise TooMany(f"{count} sub-agents are at work already")
        begun = await self.store.begun(turn)
        assert begun is not None, "a tool runs in a turn"
        child = f"{SUBAGENT}{secrets.token_hex(4)}"
        kept = replace(charge, parent=session, depth=depth, turn=turn)
        writer = f"{SUBAGENT}{session}"  # a model's words are nobody's own
        task = Inbound(child, charge.task, begun.origin, writer, begun.model, tainted=tainted, private=private)
        stored = await self.store.begin(task, session, compact(encode(kept)))
        self._charges[child] = kept
        await self.enter(stored)
        return child

    async def charge(self, session: str) -> Charge | None:
        """What a session was told to do; None for one that is no sub-agent's."""
        if not session.startswith(SUBAGENT):
            return None
        while len(self._charges) > REMEMBERED:
            del self._charges[next(iter(self._charges))]
        if session not in self._charges:
            text = await self.store.charged(session)
            self._charges[session] = decode(Charge, json.loads(text)) if text else None
        return self._charges[session]

    def parent(self, session: str) -> str:
        """The session that began this sub-agent, as far as it is at work; empty for any other session."""
        charge = self._charges.get(session)
        return charge.parent if charge else ""

    async def over(self, work: Work, ended: TurnEnded) -> None:
        """A turn has ended: if it was a sub-agent's, its parent hears of it; what could not be told is tried again."""
        try:
            if self._owes:
                await self.recover()
                self._owes = False
            if work.session.startswith(SUBAGENT):
                error = ended.error.message if ended.error else ""
                await self._report(Unreported(work.session, work.id, ended.stop, error))
        except Draining:  # the next start reports it
            return
        except StorageError as failure:
            log.error("the end of a sub-agent could not be reported yet: %s", failure)
            self._owes = True

    async def recover(self, parent: str = "") -> int:
        """At the start: report what ended before its parent (this one, or any) could hear of it; returns how many."""
        left = await self.store.unreported(parent)
        for each in left:
            await self._report(each)
        return len(left)

    async def _report(self, done: Unreported) -> None:
        charge = await self.charge(done.session)
        if charge is None or done.stop is Stop.CANCELLED:  # who stopped it knows
            self._charges.pop(done.session, None)
            return
        begun = await self.store.begun(charge.turn)
        said = await self._said(done.session)
        if begun is not None:  # else the parent has been deleted
            report = Inbound(charge.parent, _report(charge, done, said), begun.origin, done.session)
            report = replace(report, address=begun.address, group=begun.group)
            report = replace(report, tainted=said is None or said.tainted, private=said is None or said.private)
            await self.accept(replace(report, external_id=f"report:{done.turn}", queue=QueueChange(mode=Mode.STEER)))
        self._charges.pop(done.session, None)

    async def _said(self, session: str) -> Message | None:
        """Its last words."""
        tail = await self.log.tail(session, 10)
        return next((m for m in reversed(tail.messages) if m.role is Role.ASSISTANT and m.text.strip()), None)


def _report(charge: Charge, done: Unreported, said: Message | None) -> str:
    how = "has finished" if done.stop in (Stop.DONE, Stop.TERMINAL_TOOL) else f"failed: {done.error or done.stop.value}"
    result = clipped(said.text, RESULT, "ask it for less") if said else "(it said nothing)"
    return f"[Sub-agent {charge.label} ({done.session}) {how}]\nTask: {charge.task[:300]}\nResult: {result}"
