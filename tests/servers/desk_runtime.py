"""A runtime that keeps everything in memory and answers by echo: real behaviour behind `core.runtime.Runtime`.

What it does with a message: `hang` works until it is stopped; `ask` asks for an approval and says the answer; `fail`
cannot be stored; anything else is said back.
"""

import asyncio
import itertools
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from palmclaw import __version__
from palmclaw.core.errors import ConfigError, SessionNotFound, StorageError
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    MessageAdded,
    Signal,
    Stop,
    Taken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import Media, Message, Role, Text, ToolCall, user_message
from palmclaw.core.runtime import Draining, Lane, NotOpen, Question, Status, Stopped
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Fate, Inbound, QueueChange, QueueSettings, Receipt
from palmclaw.paths import Home
from palmclaw.runtime.feed import Feed
from palmclaw.storage.lock import HomeLock

NOW = "2026-06-15T09:00:00+00:00"
CALL = ToolCall("c1", "send_sms", {"to": "+1", "text": "嗨"})


@dataclass(slots=True)
class DeskRuntime:
    """One turn at a time in each session; `slow` is how long ending takes, `findings` what the start found."""

    feed: Feed = field(default_factory=Feed)
    findings: tuple[str, ...] = ()
    slow: float = 0.0
    receipts: dict[int, Receipt] = field(default_factory=dict)
    asked: dict[str, Question] = field(default_factory=dict)
    answers: dict[str, "asyncio.Future[Answer]"] = field(default_factory=dict)
    queues: dict[str, QueueSettings] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    media: dict[str, bytes] = field(default_factory=dict)
    rules: set[int] = field(default_factory=lambda: {1})
    inbound: list[Inbound] = field(default_factory=list)
    turns: dict[str, "asyncio.Task[None]"] = field(default_factory=dict)
    waiting: dict[str, list[int]] = field(default_factory=dict)
    draining: bool = False
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    async def take(self, inbound: Inbound) -> Receipt:
        if self.draining:
            raise Draining("the gateway is stopping")
        if inbound.text == "fail":
            raise StorageError("no space left", "Free some space.")
        number = next(self._numbers)
        self.inbound.append(inbound)
        if inbound.session in self.turns:
            queue = self.waiting.setdefault(inbound.session, [])
            queue.append(number)
            return self._told(Receipt(number, inbound.session, Fate.WAITING, len(queue)))
        self.turns[inbound.session] = asyncio.create_task(self._turn(number, inbound))
        return self._told(Receipt(number, inbound.session, Fate.STARTED))

    async def receipt(self, inbox: int) -> Receipt:
        if inbox not in self.receipts:
            raise NotOpen(f"there is no message {inbox}")
        return self.receipts[inbox]

    def events(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
        return self.feed.subscribe(session, since)

    async def stop(self, session: str) -> Stopped:
        queue = self.waiting.pop(session, [])
        for number in queue:
            self._told(Receipt(number, session, Fate.CANCELLED, reason="stopped"))
        turn = self.turns.get(session)
        if turn is not None:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        return Stopped(turn is not None, len(queue))

    async def withdraw(self, inbox: int) -> Receipt:
        found = await self.receipt(inbox)
        if found.fate is not Fate.WAITING:
            raise NotOpen(f"message {inbox} does not wait any more")
        self.waiting[found.session].remove(inbox)
        return self._told(replace(found, fate=Fate.CANCELLED, position=0))

    async def answer(self, question: str, answer: Answer, by: str) -> None:
        if question not in self.asked:
            raise NotOpen(f"there is no open question {question}")
        del self.asked[question]
        self.answers.pop(question).set_result(answer)

    async def questions(self) -> tuple[Question, ...]:
        return tuple(self.asked.values())

    async def queue(self, session: str, change: QueueChange | None = None, *, reset: bool = False) -> QueueSettings:
        found = QueueSettings() if reset else self.queues.get(session, QueueSettings())
        if change is not None and change.mode is not None:
            found = replace(found, mode=change.mode)
        self.queues[session] = found
        return found

    async def choose_model(self, session: str, model: str) -> None:
        if model == "nowhere/x":
            raise ConfigError("provider", "there is no service nowhere", "palmclaw models")
        self.models[session] = model

    async def delete(self, session: str) -> None:
        if session not in {i.session for i in self.inbound}:
            raise SessionNotFound(f"there is no session named {session!r}")
        if session in self.turns:
            raise StorageError(f"{session} is at work")
        self.inbound = [i for i in self.inbound if i.session != session]

    async def revoke(self, number: int) -> None:
        if number not in self.rules:
            raise NotOpen(f"there is no lasting answer {number}")
        self.rules.remove(number)

    async def keep(self, content: bytes, mime: str, name: str) -> Media:
        self.media[name] = content
        return Media(f"m{len(self.media)}", mime, name)

    async def status(self) -> Status:
        lanes = tuple(Lane(s, f"t-{s}", len(self.waiting.get(s, ())), NOW) for s in self.turns)
        return Status(
            __version__, os.getpid(), NOW, lanes, 2, len(lanes), {"telegram": ""}, {"waiting": 0, "unknown": 1},
            len(self.asked), self.findings, 41_000_000, ("serve",),
        )  # fmt: skip

    async def wait_closed(self) -> None:
        await self.closed.wait()

    async def end(self) -> None:
        """No new messages; a turn has `slow` seconds, then it is interrupted; who listens hears of it."""
        self.draining = True
        if self.turns and self.slow:
            await asyncio.wait(self.turns.values(), timeout=self.slow)
        for session in list(self.turns):
            await self.stop(session)
        self.feed.close()
        self.closed.set()

    def _told(self, receipt: Receipt) -> Receipt:
        self.receipts[receipt.id] = receipt
        self.feed.publish(receipt.session, "", Taken(receipt))
        return receipt

    async def _turn(self, number: int, inbound: Inbound) -> None:
        session, turn = inbound.session, f"t{number}"
        self.feed.publish(session, turn, TurnStarted((number,)))
        self.feed.publish(session, turn, MessageAdded(user_message(inbound.text)))
        stop = Stop.CANCELLED
        try:
            await self._said(session, turn, inbound.text)
            stop = Stop.DONE
        finally:
            self.turns.pop(session, None)
            self.feed.publish(session, turn, TurnEnded(stop, rounds=1))

    async def _said(self, session: str, turn: str, text: str) -> None:
        if text == "hang":
            self.feed.publish(session, turn, TextDelta("well, "))
            await asyncio.Event().wait()
        if text == "ask":
            text = await self._answered(session, turn)
        for word in text.split(" "):
            self.feed.publish(session, turn, TextDelta(word))
            await asyncio.sleep(0)
        self.feed.publish(session, turn, MessageAdded(Message(Role.ASSISTANT, (Text(text),))))

    async def _answered(self, session: str, turn: str) -> str:
        asked = ApprovalAsked("q1", CALL, Effect.SEND, Preview("Send", "+1", (("To", "+1"),)), "speaks for you")
        self.answers["q1"] = asyncio.get_running_loop().create_future()
        self.asked["q1"] = Question(asked, session, turn, NOW, NOW)
        self.feed.publish(session, turn, asked)
        answer = await self.answers["q1"]
        self.feed.publish(session, turn, ApprovalAnswered("q1", CALL.id, answer))
        return answer.value


@asynccontextmanager
async def desk(home: Home, runtime: DeskRuntime | None = None) -> AsyncIterator[DeskRuntime]:
    """A gateway over the desk, which owns the home."""
    lock = HomeLock(home.lock)
    lock.acquire("serve")
    found = runtime or DeskRuntime()
    try:
        yield found
    finally:
        with suppress(asyncio.CancelledError):
            await found.end()
        lock.release()
