"""Does what the owner tells the runtime itself, in whatever channel: stop, wait otherwise, begin anew, answer."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, replace
from typing import Protocol

from palmclaw.agent.context import Contents
from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.records import Stored
from palmclaw.core.runtime import NotOpen, Stopped
from palmclaw.core.text import visible
from palmclaw.core.traffic import Inbound, QueueChange, QueueSettings
from palmclaw.core.values import dataclass
from palmclaw.runtime.commands import Command, answer, queue_command
from palmclaw.runtime.compacting import Compacting
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.queueing import merged
from palmclaw.runtime.words import Words


class Windows(Protocol):
    """What the requests of sessions hold. Raises PalmclawError."""

    async def contents(self, session: str) -> Contents: ...


@dataclass(frozen=True, slots=True)
class Orders:
    """Implements Order. `model` is the one that a session uses, `window` what its requests hold."""

    words: Words
    model: Callable[[str], Awaitable[str]]
    window: Windows
    compacting: Compacting

    async def __call__(self, gateway: Gateway, stored: Stored, said: Command) -> str | Inbound:
        """The words that answer it, or what is left of it for the agent; a mistake is answered, not raised."""
        actions: dict[str, Callable[[Gateway, Stored, str], Awaitable[str | Inbound]]] = {
            "stop": self._stop,
            "queue": self._queue,
            "steer": self._steer,
            "tell": self._steer,
            "new": self._new,
            "reset": self._new,
            "model": self._model,
            "status": self._status,
            "approve": self._approve,
            "approvals": self._approvals,
            "compact": self._compact,
            "context": self._context,
        }
        action = actions.get(said.name)
        try:
            return await action(gateway, stored, said.rest) if action else self.words("help")
        except PalmclawError as error:
            return f"{error}\n{error.hint}".strip()

    async def _stop(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        return self.stopped(await gateway.stopped(stored.inbound.session, stored.inbound.sent, stored.receipt.id))

    def stopped(self, stopped: Stopped) -> str:
        """What a stop has ended, in words."""
        said = self.words("stopped" if stopped.running else "nothing")
        said += self.words("taken_away", count=stopped.waiting) if stopped.waiting else ""
        return said + (self.words("subagents", count=stopped.subagents) if stopped.subagents else "")

    async def _queue(self, gateway: Gateway, stored: Stored, rest: str) -> str | Inbound:
        read = queue_command(rest)
        if read.text and read.change != QueueChange():
            return replace(stored.inbound, text=read.text, queue=merged(stored.inbound.queue, read.change))
        if read.text:
            return f"{self.words('queue', **_shown(await gateway.queue(stored.inbound.session)))} {QUEUE_HOW}"
        found = await gateway.queue(stored.inbound.session, read.change, reset=read.reset)
        return self.words("queue", **_shown(found))

    async def _steer(self, gateway: Gateway, stored: Stored, rest: str) -> str | Inbound:
        steer = queue_command("steer").change
        return replace(stored.inbound, text=rest, queue=merged(stored.inbound.queue, steer)) if rest else STEER_HOW

    async def _new(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        await gateway.stopped(stored.inbound.session, stored.inbound.sent, stored.receipt.id)
        await gateway.stores.records.begin_anew(stored.inbound.session)
        return self.words("new")

    async def _model(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        session = stored.inbound.session
        if rest:
            await gateway.choose_model(session, "" if rest == "default" else rest)
        return self.words("model_set" if rest else "model", model=await self.model(session))

    async def _status(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        lane = gateway.lanes.get(stored.inbound.session)
        if lane is None:
            return self.words("at_rest")
        said = self.words("running" if lane.running else "at_rest")
        return said + (self.words("waiting", count=len(lane.line.items)) if lane.line.items else "")

    async def _compact(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        return await self.compacting.begin(stored.inbound, rest[:FOCUS])

    async def _context(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        found = await self.window.contents(stored.inbound.session)
        return self.words("context", all=found.summary + found.history, **asdict(found))

    async def _approvals(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        lines = [
            self.words("question", id=q.asked.id, action=q.asked.preview.action) for q in await gateway.questions()
        ]
        return "\n".join(lines) or self.words("no_question")

    async def _approve(self, gateway: Gateway, stored: Stored, rest: str) -> str:
        first, _, last = rest.partition(" ")
        waiting, session = await gateway.questions(), stored.inbound.session
        open_ = [q.asked.id for q in waiting]
        here = await gateway.questions_to(stored.inbound) or [q.asked.id for q in waiting if q.session == session]
        named = first if last or first in open_ else ""
        said = answer(last or ("" if named else first))
        if said is None:
            return self.words("no_answer")
        if not named and len(here or open_) != 1:
            raise NotOpen(self.words("which" if open_ else "no_question"))
        address = stored.inbound.address
        await gateway.answer(named or (here or open_)[0], said, address.channel if address else "terminal")
        return self.words("answered", answer=self.words("yes" if said is Answer.ONCE else said.value))


FOCUS = 800
"""Characters of what a summary shall give the most room to."""
QUEUE_HOW = "/queue steer|collect|followup|interrupt [debounce:2s] [cap:20] [drop:old|new|summarize], /queue reset"
STEER_HOW = "/steer TEXT"


def question(asked: ApprovalAsked, words: Words) -> str:
    """An approval in words, for a channel: the whole resolved call, with nothing hidden in it."""
    lines = "\n".join(f"{visible(label)}: {visible(value)}" for label, value in asked.preview.lines)
    offered = [words("yes" if s is Answer.ONCE else s.value) for s in asked.scopes]
    answers = " / ".join((*offered, words("no")))
    action, reason = visible(asked.preview.action), asked.reason
    return words("ask", action=action, lines=lines, reason=reason, answers=answers, id=asked.id)


def _shown(settings: QueueSettings) -> dict[str, object]:
    return {
        "mode": settings.mode.value,
        "debounce": settings.debounce,
        "cap": settings.cap,
        "drop": settings.drop.value,
    }
