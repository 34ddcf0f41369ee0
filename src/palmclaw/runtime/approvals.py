"""Questions to the owner: kept with a deadline, answered once from whichever surface comes first."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any

from palmclaw.core.errors import BadArguments, StorageError
from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.messages import iso, utc_now
from palmclaw.core.people import QuestionStore
from palmclaw.core.runtime import NotOpen, Question
from palmclaw.core.values import dataclass

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Waiting:
    """Somebody waits for an answer: `said` is the answer, `heard` whether they were still there to hear it."""

    said: asyncio.Future[Answer]
    heard: asyncio.Future[bool]


@dataclass(slots=True)
class Desk:
    """Implements the Approver port: a question lies here until it is answered, its time is up or its asker is gone.

    Silence of `seconds` is a no. `anybody` says whether a session has a surface that could answer. `while_asking` is
    entered with the turn while a person thinks; the time that leaving it takes is not the person's.
    """

    store: QuestionStore
    seconds: float = 600.0
    anybody: Callable[[str], bool] = lambda session: True
    while_asking: Callable[[str], AbstractAsyncContextManager[None]] = lambda turn: nullcontext()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    wall: Callable[[], datetime] = utc_now
    _waiting: dict[str, _Waiting] = field(default_factory=dict)
    _voiding: set["asyncio.Task[None]"] = field(default_factory=set)

    async def ask(self, session: str, turn: str, question: ApprovalAsked) -> Answer:
        """Wait for the answer; UNASKED at once when nobody could give one. Raises StorageError."""
        if not self.anybody(session):
            return Answer.UNASKED
        loop, at = asyncio.get_running_loop(), self.wall()
        waiting = self._waiting[question.id] = _Waiting(loop.create_future(), loop.create_future())
        deadline = at + timedelta(seconds=self.seconds)
        try:
            await self.store.open(Question(question, session, turn, iso(at), iso(deadline)))
            async with self.while_asking(turn):
                answer = await self._heard(waiting)
                waiting.heard.set_result(answer is not None)
                if answer is None:
                    await self._voided(question.id, "deadline")
            return answer or Answer.NO
        finally:
            del self._waiting[question.id]
            if not waiting.heard.done():
                waiting.said.cancel()
                waiting.heard.set_result(False)
                await self._voided(question.id, "stopped")

    async def _heard(self, waiting: _Waiting) -> Answer | None:
        """What is answered; None when the time is up, and then nothing can be answered any more."""
        timer = asyncio.ensure_future(self.sleep(self.seconds))
        either: set[asyncio.Future[Any]] = {waiting.said, timer}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
        return None if waiting.said.cancel() else waiting.said.result()

    async def answer(self, question: str, answer: Answer, by: str) -> None:
        """Give the answer, once. Raises NotOpen, which says why; BadArguments for one that was not offered."""
        found = await self.store.find(question)
        if found is None:
            raise NotOpen(f"there is no question {question}")
        allowed = (*found.asked.scopes, Answer.NO, Answer.UNASKED)
        if answer not in allowed:
            offered = " or ".join(repr(a.value) for a in allowed[:-1])
            raise BadArguments((f"answer: expected {offered}, got {answer.value!r}",))
        waiting = self._waiting.get(question)
        if waiting is None or not await self.store.answer(question, answer, by, iso(self.wall())):
            raise _not_open(await self.store.find(question) or found)
        if waiting.said.done():
            raise _gone(question)
        waiting.said.set_result(answer)
        if not await asyncio.shield(waiting.heard):
            raise _gone(question)

    async def questions(self) -> tuple[Question, ...]:
        """Those that somebody still waits for, the oldest first."""
        return tuple(q for q in await self.store.unanswered() if q.asked.id in self._waiting)

    async def close_dead(self) -> int:
        """At the start: close what an earlier process was still asking; returns how many. Raises StorageError."""
        return await self.store.void_all("restart", iso(self.wall()))

    async def close(self) -> None:
        """Wait until every question that was broken off is closed in the store."""
        while self._voiding:
            await asyncio.wait(self._voiding)

    async def _voided(self, question: str, by: str) -> None:
        """Close a question whose asker is gone; goes on when the asker is not even given the time for that."""
        task = asyncio.create_task(self._void(question, by))
        self._voiding.add(task)
        task.add_done_callback(self._voiding.discard)
        await asyncio.shield(task)

    async def _void(self, question: str, by: str) -> None:
        try:
            await self.store.void(question, by, iso(self.wall()))
        except StorageError as error:  # nobody waits for it any more, and the next start closes it
            log.warning("question %s stays open in the store: %s", question, error)


def _not_open(found: Question) -> NotOpen:
    """Why a question takes no answer."""
    if found.answer is None:
        return _gone(found.asked.id)
    why = _CLOSED.get(found.by) or f"{found.by} has answered {found.answer.value!r}"
    return NotOpen(f"question {found.asked.id} is closed: {why}")


_CLOSED = {
    "stopped": "its turn was stopped",
    "deadline": "its deadline has passed",
    "restart": "PalmClaw has been restarted since",
}


def _gone(question: str) -> NotOpen:
    return NotOpen(f"question {question} is closed: its turn is over, and nothing was done")
