"""What happens in the open conversation, shown as it comes, whoever began it; questions are handed on."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import field
from typing import TYPE_CHECKING

from palmclaw.cli.waiting import short
from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Compacted,
    Event,
    MessageAdded,
    Missed,
    Notice,
    Sent,
    Signal,
    SlotAwaited,
    Standing,
    Steered,
    Taken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import Message, Role
from palmclaw.core.runtime import Runtime
from palmclaw.core.text import visible
from palmclaw.core.traffic import SUBAGENT, Fate, Receipt
from palmclaw.core.values import dataclass
from palmclaw.storage.inbox import Inbox

if TYPE_CHECKING:
    from palmclaw.cli.chat import Talk

GONE_FATES = (Fate.DROPPED, Fate.REJECTED, Fate.CANCELLED, Fate.SUMMARIZED)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that waits for this terminal.

    `is_ours`: asked by a turn that was begun here, or by a sub-agent (`by_crew`); `session` is where it is heard.
    """

    question: ApprovalAsked
    session: str
    turn: str
    is_ours: bool = False
    by_crew: bool = False


@dataclass(slots=True)
class Listening:
    """One conversation, and the questions of its sub-agents. `wake` is called when there is a new question.

    A process that is alone with its runtime hears the questions of other conversations too: nobody else would.

    `waiting` are the messages in line, by their row and in order; `mine` what was said here, by row. `order` is held
    while something is said, so that nothing is heard of a message before it is known whose it is.
    """

    talk: "Talk"
    runtime: Runtime
    wake: Callable[[], None]
    withdrawn: Callable[[Asked, ApprovalAnswered | None], None]
    turn: str = ""
    waiting: dict[int, Receipt] = field(default_factory=dict)
    mine: dict[int, str] = field(default_factory=dict)
    questions: dict[str, Asked] = field(default_factory=dict)
    order: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    _is_ours: bool = True
    _line_shown: set[int] = field(default_factory=set)
    _family: set[str] = field(default_factory=set)

    @property
    def is_at_work(self) -> bool:
        return bool(self.turn or self.waiting)

    async def run(self) -> None:
        """Until the runtime has nothing more to tell. Raises what it raises."""
        async with aclosing(self.runtime.events("" if self.talk.is_alone else self.talk.session)) as signals:
            async for signal in signals:
                self.ready.set()
                async with self.order:
                    await self._heard(signal)

    def said(self, receipt: Receipt, text: str) -> None:
        """Something was said here, and this is how it stands; `order` is held."""
        self.mine[receipt.id] = text
        if receipt.fate is Fate.ANSWERED:
            self.talk.answered(receipt)
        elif receipt.fate is not Fate.WAITING:
            self._fate(receipt)
        else:
            if self.is_at_work:
                self._line_shown.add(receipt.id)
                self._note("fate_waiting", position=receipt.position)
            self.waiting[receipt.id] = receipt

    async def _heard(self, signal: Signal) -> None:
        if signal.session not in ("", self.talk.session):
            self._elsewhere(signal)
            return
        match signal.event:
            case Standing():
                await self._stood(signal.event)
            case Taken(receipt):
                self._taken(receipt)
            case TurnStarted():
                self._started(signal, signal.event)
            case ApprovalAsked():
                by_crew = signal.turn != self.turn
                self._ask(Asked(signal.event, signal.session, signal.turn, by_crew or self._is_ours, by_crew))
            case ApprovalAnswered():
                if not self._answered(signal.event):
                    self.talk.show(signal.event)
            case Missed():
                await self._missed()
            case Notice() | SlotAwaited() | Sent():
                self._told(signal.event)
            case event:
                self._shown(signal.turn, event)

    def _shown(self, turn: str, event: Event) -> None:
        """An event of a turn of ours, or of somebody else's."""
        if isinstance(event, Compacted) and not turn:
            return  # whoever wanted that is told by its answer
        self.turn = turn
        if isinstance(event, MessageAdded) and event.message.role is Role.USER and not self._is_ours:
            self._foreign(event.message)
        if isinstance(event, Steered) and event.inbox not in self.mine:
            self._foreign(event.message)
        self.talk.show(event)
        if isinstance(event, TurnEnded):
            self.turn, self._is_ours = "", True
            self._over(turn)

    def _started(self, signal: Signal, event: TurnStarted) -> None:
        self.turn = signal.turn
        self._is_ours = any(row in self.mine for row in event.inbox)
        if event.continues:
            self._note("continues")
        self.talk.show(event)

    async def _stood(self, standing: Standing) -> None:
        """How it is when we come, or come back: the whole truth."""
        self.waiting = {receipt.id: receipt for receipt in standing.waiting}
        if standing.turn and standing.turn != self.turn:
            self._is_ours = False
            self._note("at_work")
            if standing.text:
                self.talk.show(TextDelta(standing.text))
        self.turn = standing.turn
        if standing.waiting:
            said = self.talk.texts.count(len(standing.waiting), "message waits", "messages wait")
            self._note("waiting_here", messages=said)
        await self._see_questions()

    async def _see_questions(self) -> None:
        """What is still open is asked, and nothing else."""
        found = {q.asked.id: q for q in await self.runtime.questions()}
        for asked in [a for number, a in self.questions.items() if number not in found]:
            self._withdraw(asked, None)
        for question in found.values():
            session, by_crew = question.session, await self._is_family(question.session)
            if by_crew or self.talk.is_alone or session == self.talk.session:
                session = self.talk.session if by_crew else session
                is_ours = by_crew or (self._is_ours and session == self.talk.session)
                self._ask(Asked(question.asked, session, question.turn, is_ours, by_crew))

    def took_back(self, row: int) -> None:
        """A message that waited was taken back here, which is told where it was done."""
        self.waiting.pop(row, None)
        self.mine.pop(row, None)

    def _taken(self, receipt: Receipt) -> None:
        if receipt.fate is Fate.WAITING:
            self.waiting[receipt.id] = receipt
            return
        self.waiting.pop(receipt.id, None)
        if receipt.id in self.mine:
            self._fate(receipt)

    def _fate(self, receipt: Receipt) -> None:
        """What became of a message of ours; told where it is not what one expects."""
        seen = receipt.id in self._line_shown
        if receipt.fate in GONE_FATES:
            self._note(f"fate_{receipt.fate.value}", reason=self.talk.texts.label(receipt.reason))
        elif receipt.fate in (Fate.STEERED, Fate.MERGED):
            self._note(f"fate_{receipt.fate.value}")
        elif receipt.fate is Fate.STARTED and seen:
            self._note("fate_started", text=short(self.mine[receipt.id]))

    def _foreign(self, message: Message) -> None:
        """A line about what somebody else has said here."""
        if message.sender.startswith(SUBAGENT):
            self._note("reported")
        else:
            self._note("elsewhere", text=short(message.text))

    def _told(self, event: Notice | SlotAwaited | Sent) -> None:
        if isinstance(event, SlotAwaited):
            self._note("slot_awaited")
        elif isinstance(event, Notice):
            self.talk.tell(event.fault)
        elif event.state in ("failed", "unknown"):
            self._note(f"sent_{event.state}", reason=visible(event.reason))

    async def _missed(self) -> None:
        """Some signals are lost: what is open now is asked for, the rest comes."""
        self._note("missed")
        self.turn = ""
        await self._see_questions()

    def _elsewhere(self, signal: Signal) -> None:
        """Of other conversations only what somebody must answer is of interest; a sub-agent's is heard here too."""
        is_crew = signal.session.startswith(SUBAGENT)
        match signal.event:
            case ApprovalAsked() if not is_crew:
                self._ask(Asked(signal.event, signal.session, signal.turn))
            case ApprovalAnswered() if not is_crew:
                self._answered(signal.event)
            case Standing() if not is_crew:
                for question in signal.event.asked:
                    self._ask(Asked(question, signal.session, signal.turn))
            case TurnEnded():
                self._over(signal.turn)

    async def _is_family(self, session: str) -> bool:
        """Whether it is a sub-agent's that works for this conversation."""
        if not session.startswith(SUBAGENT):
            return False
        inbox, open_ = Inbox(self.talk.app.database), [self.talk.session]
        while open_ and session not in self._family:
            found = await inbox.children(open_.pop())
            self._family.update(found)
            open_ += found
        return session in self._family

    def _ask(self, asked: Asked) -> None:
        if asked.question.id not in self.questions:
            self.questions[asked.question.id] = asked
            self.wake()

    def _answered(self, event: ApprovalAnswered) -> bool:
        """Whether somebody else has answered what was still to be asked here."""
        asked = self.questions.get(event.id)
        if asked is not None:
            self._withdraw(asked, event)
        return asked is not None

    def _over(self, turn: str) -> None:
        """Nobody waits any more for what a turn has asked."""
        for asked in [a for a in self.questions.values() if a.turn == turn]:
            self._withdraw(asked, None)

    def _withdraw(self, asked: Asked, event: ApprovalAnswered | None) -> None:
        self.questions.pop(asked.question.id, None)
        self.withdrawn(asked, event)

    def _note(self, key: str, **values: object) -> None:
        self.talk.note(self.talk.texts(key, **values))
