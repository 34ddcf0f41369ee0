"""Runs turns and stores what happens in them, before anybody else hears of it; closes what a crash left open."""

import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import field, replace
from typing import Protocol

from palmclaw.agent.context import stamped
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.turn import Turn
from palmclaw.core.errors import Fault, PalmclawError, StorageError
from palmclaw.core.events import Event, MessageAdded, Steered, Stop, TurnEnded, TurnStarted
from palmclaw.core.messages import Cut, Message, Role, Stamp, Text, ToolCall, ToolResult
from palmclaw.core.ports import CallState, Clock, Journal, Nobody, Steering
from palmclaw.core.records import Beginning, Due, News, OpenTurn, Resume, TurnStore, Withdrawn
from palmclaw.core.results import failed
from palmclaw.core.session import INTERRUPTED, UNKNOWN, open_calls, waited
from palmclaw.core.traffic import Inbound, Origin, Outbound
from palmclaw.core.values import dataclass

log = logging.getLogger(__name__)
_CRASHED = Fault("crashed", "PalmClaw stopped in the middle of this turn; it has been closed.")
_TWICE = Fault(
    "crashed_twice",
    "PalmClaw stopped twice while it worked on this, so it does not try again by itself.",
    hint="Say “go on” to continue.",
)
_WAS_STOPPED = "the user stopped your previous turn: parts of it may have been done"


class Voice(Protocol):
    """Speaks for one turn to where its answers go."""

    async def hear(self, event: Event) -> None: ...

    def posts(self, message: Message, *, unsaid: bool = False) -> Sequence[Outbound]:
        """What is still to be sent of a message that is about to be stored; nothing of one that stays unsaid."""
        ...

    async def close(self) -> None:
        """The turn is over, however it ended."""
        ...


class Silent:
    """Nobody is far away: who wants to know reads the events."""

    async def hear(self, event: Event) -> None:
        """Nothing to do."""

    def posts(self, message: Message, *, unsaid: bool = False) -> Sequence[Outbound]:
        return ()

    async def close(self) -> None:
        """Nothing to do."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a turn is about: one message or more, in order, the last of which decides how; their inbox rows.

    `left` is what remains of messages that had to give way, `summarized` their rows. `continues` names the turn that
    a crash broke off, which goes on with what is stored.
    """

    inbounds: tuple[Inbound, ...]
    inbox: tuple[int, ...] = ()
    left: Inbound | None = None
    summarized: tuple[int, ...] = ()
    continues: str = ""
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def last(self) -> Inbound:
        return self.inbounds[-1]

    @property
    def session(self) -> str:
        return self.last.session

    @property
    def is_owners(self) -> bool:
        """Whether nobody but the owner speaks in it."""
        return all(i.origin is Origin.OWNER for i in self.inbounds)


def resumed(due: Due) -> Work:
    """The work that a crash broke off."""
    return Work(due.inbounds, due.inbox, continues=due.turn)


async def _nothing(work: Work, alone: bool) -> News:
    return News()


async def _configured(session: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Turns:
    """From inbound messages to the final answer.

    `default` is the model of the agent whose session it is, `model` what is written down where nobody names one;
    `sorry` is what a far person is told of a turn that is left to them; `brief` is what a model is told beside a new
    message, in a turn in which the owner is alone or not.
    """

    store: TurnStore
    journal: Journal
    clock: Clock
    agent: Callable[[Work], Awaitable[Agent]]
    model: str = ""
    default: Callable[[str], Awaitable[str]] = _configured
    sorry: Callable[[OpenTurn], Sequence[Outbound]] = lambda turn: ()
    brief: Callable[[Work, bool], Awaitable[News]] = _nothing

    async def run(
        self, work: Work, interrupt: Interrupt, steering: Steering | None = None, voice: Voice | None = None
    ) -> AsyncGenerator[TurnStarted | Event, None]:
        """Every event of the turn, each message stored before it is yielded; TurnStarted first, TurnEnded last.

        Raises Withdrawn, before any event, when a message of the work was taken back.
        """
        turn = Turn(work.session, work.id, _origin(work), interrupt, steering or Nobody())
        voice = voice or Silent()
        try:
            async with aclosing(self._events(work, turn, voice)) as events:
                async for event in events:
                    yield event
        except Withdrawn:
            raise
        except PalmclawError as error:
            yield await self._broken(turn, error.fault, voice)
        except Exception:  # a bug in one turn must not end the others
            log.exception("turn %s in %s crashed", turn.id, turn.session)
            yield await self._broken(turn, Fault("internal", "PalmClaw has a bug; see palmclaw.log."), voice)
        finally:
            await voice.close()

    async def recover(self, session: str = "") -> tuple[OpenTurn, ...]:
        """Close the turns (of one session, or all) that something broke off; returns them.

        Only for turns that no longer run. Afterwards each of their calls has exactly one result: the recorded one,
        "not run", or "outcome unknown"; and it is settled whether another turn goes on with it.
        """
        turns = await self.store.open_turns(session)
        for turn in turns:
            await self._settle(turn)
        return turns

    async def _events(self, work: Work, turn: Turn, voice: Voice) -> AsyncGenerator[TurnStarted | Event, None]:
        before = await self.store.before(turn.session)
        if before.is_open:  # a turn that a full disk left open, say
            for left in await self.store.open_turns(turn.session):
                await self._close(left, TurnEnded(Stop.ERROR, error=_CRASHED), "interrupted")
        turn.task = "\n".join(i.text for i in work.inbounds if not i.is_report)
        turn.model = work.last.model or before.model or await self.default(turn.session)
        turn.may_be_silent = all(i.group or i.origin is Origin.JOB for i in work.inbounds)
        turn.addresses = frozenset({work.last.address.session} if work.last.address else ())
        began = Beginning(
            turn.id, work.inbounds, (), turn.model or self.model, work.inbox, work.summarized, work.continues
        )
        turn.alone = not before.shared and not began.shared
        told = News() if work.continues else await self.brief(work, turn.alone)
        messages = self._entries(work, told.stamps, was_stopped=before.stopped)
        await self.store.begin(replace(began, messages=messages, known=told.known))
        yield TurnStarted(work.inbox, work.continues)
        for message in messages:
            yield MessageAdded(message)
        agent = await self.agent(work)
        async with aclosing(agent.run(turn)) as events:
            async for event in events:
                if await self._keep(turn, event, voice):
                    await voice.hear(event)
                    yield event

    def _entries(self, work: Work, told: Sequence[Stamp] = (), *, was_stopped: bool) -> tuple[Message, ...]:
        """The log entries that the work begins with; none where it goes on with what is stored."""
        if work.continues:
            return ()
        now = self.clock.now()
        news = (_WAS_STOPPED,) if was_stopped else ()
        of = len(work.inbounds)
        marks = [(waited(n, of),) if of > 1 else () for n in range(1, of + 1)]
        entries = [
            entry(i, stamped(i.text, now, i.media, (*m, *news))) for i, m in zip(work.inbounds, marks, strict=True)
        ]
        entries[-1] = replace(entries[-1], parts=(*entries[-1].parts, *told))
        if work.left is not None:
            entries.insert(0, entry(work.left, stamped(work.left.text, now)))
        return tuple(entries)

    async def _keep(self, turn: Turn, event: Event, voice: Voice) -> bool:
        """Store what the event says; False for a message that was taken back in the last moment."""
        if isinstance(event, MessageAdded):
            is_known = turn.interrupt.is_set and event.message.role is Role.NOTE  # who stops hears it as the answer
            posts = voice.posts(event.message, unsaid=is_known)
            await self.store.append(turn.session, turn.id, event.message, posts=posts)
        elif isinstance(event, Steered):
            with suppress(Withdrawn):
                await self.store.append(turn.session, turn.id, event.message, inbox=event.inbox)
                return True
            return False
        elif isinstance(event, TurnEnded):
            await self.store.end(turn.id, event)
        return True

    async def _broken(self, turn: Turn, fault: Fault, voice: Voice) -> TurnEnded:
        """The end of a turn that failed outside its loop; where it cannot be stored now, the next turn closes it."""
        ended = TurnEnded(Stop.ERROR, error=fault)
        with suppress(StorageError):
            for left in await self.store.open_turns(turn.session):
                if left.id == turn.id:
                    note = Message(Role.NOTE, (Text(fault.message),))
                    await self._close(left, ended, posts=voice.posts(note))
        return ended

    async def _settle(self, turn: OpenTurn) -> None:
        """Close a turn of a process that died: it may have answered, be gone on with, or wait for the person."""
        if turn.unwanted:
            await self._close(turn, TurnEnded(Stop.CANCELLED, error=_CRASHED), "interrupted", Resume.PERSON)
        elif _has_answered(turn):
            await self.store.end(turn.id, TurnEnded(Stop.DONE))
        elif turn.tried:
            ended = TurnEnded(Stop.ERROR, error=_TWICE)
            await self._close(turn, ended, "interrupted", Resume.PERSON, self.sorry(turn))
        else:
            await self._close(turn, TurnEnded(Stop.ERROR, error=_CRASHED), "interrupted", Resume.DUE)

    async def _close(
        self,
        turn: OpenTurn,
        ended: TurnEnded,
        state: str = "ended",
        resume: str = Resume.NO,
        posts: Sequence[Outbound] = (),
    ) -> None:
        """Give every open call its result, write down why, and mark the turn as over; once, though it may die here."""
        outcomes = await self.journal.outcomes(turn.id)
        for call in open_calls(turn.messages):
            message = await self._result(turn, call, outcomes.get(call.id))
            await self.store.append(turn.session, turn.id, message)
        note = Message(Role.NOTE, (Text(ended.error.message if ended.error else ""),))
        if all((m.role, m.text) != (Role.NOTE, note.text) for m in turn.messages):
            await self.store.append(turn.session, turn.id, note, posts=posts)
        await self.store.end(turn.id, ended, state, resume)

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


def entry(inbound: Inbound, message: Message) -> Message:
    """A message as the log keeps it: whose word it is, and that a stranger's is outside content."""
    is_foreign = inbound.origin is Origin.OTHER
    sender = inbound.sender if is_foreign or inbound.is_report else ""
    tainted = message.tainted or inbound.tainted or is_foreign
    return replace(message, tainted=tainted, private=inbound.private, sender=sender)


def _origin(work: Work) -> Origin:
    """The least trusted of those who speak."""
    origins = {i.origin for i in work.inbounds}
    return next(o for o in (Origin.OTHER, Origin.JOB, Origin.OWNER) if o in origins)


def _has_answered(turn: OpenTurn) -> bool:
    """Whether all that was missing of the turn is the word that it is over."""
    said = [m for m in turn.messages if m.role is not Role.NOTE]
    if not said or open_calls(said):
        return False
    last = said[-1]
    if last.role is Role.TOOL:
        return any(r.terminal and r.error is None for r in last.results)
    return last.role is Role.ASSISTANT and not last.calls and last.cut is Cut.NO
