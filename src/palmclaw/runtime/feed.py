"""What happens, told to any number of listeners: a late one learns how things stand, a slow one loses the oldest.

Nobody who listens can hold up what happens: telling never waits. What is remembered is bounded, and a session at rest
costs nothing.
"""

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from dataclasses import field, replace
from io import StringIO
from itertools import islice

from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Happening,
    MessageAdded,
    Missed,
    Signal,
    Standing,
    Taken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.traffic import Fate, Receipt
from palmclaw.core.values import dataclass


@dataclass(slots=True)
class Feed:
    """One stream of numbered signals. `epoch` is this process's own, so that a place in an earlier stream is known.

    The newest `remembered` signals can be heard again; a listener more than `behind` signals behind loses the oldest.
    """

    epoch: str = field(default_factory=lambda: secrets.token_hex(4))
    remembered: int = 2_000
    behind: int = 256
    _count: int = 0
    _closed: bool = False
    _signals: deque[Signal] = field(default_factory=deque)
    _open: dict[str, "_State"] = field(default_factory=dict)
    _listeners: dict[str, set["_Listener"]] = field(default_factory=dict)

    def publish(self, session: str, turn: str, event: Happening) -> Signal:
        """Tell everybody who listens; returns at once, whatever they do."""
        self._count += 1
        signal = Signal(self._place(self._count), session, turn, event)
        self._signals.append(signal)
        if len(self._signals) > self.remembered:
            self._signals.popleft()
        self._note(signal)
        for name in {session, ""}:
            for listener in self._listeners.get(name, ()):
                listener.hear(signal)
        return signal

    async def subscribe(self, session: str = "", since: str = "") -> AsyncGenerator[Signal, None]:
        """Signals of one session, or of all; the first is always a Standing, so that it comes at once.

        Its `id` is the place that it describes, and everything after that place follows: from `since` on, or with
        the last signal of the session where nothing is given. A place that is of another process or forgotten is
        answered by `Missed` (0: nobody knows how many), then by all that is remembered.
        """
        listener = _Listener(session, self.behind)
        first = deque(self._beginning(session, since))
        self._listeners.setdefault(session, set()).add(listener)
        try:
            while first:
                yield first.popleft()
            while True:
                while (signal := listener.next()) is not None:
                    yield signal
                if self._closed:
                    return
                await listener.wait()
        finally:
            self._leave(listener)

    def is_heard(self, session: str) -> bool:
        """Whether anybody listens to this session."""
        return session in self._listeners or "" in self._listeners

    def asked(self, session: str, turn: str) -> tuple[ApprovalAsked, ...]:
        """What this turn has asked there and nobody has answered."""
        state = self._open.get(session)
        return tuple(asked for by, asked in state.asked.values() if by == turn) if state else ()

    def close(self) -> None:
        """End every subscription, once it has read what it has."""
        self._closed = True
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.ready.set()

    def _leave(self, listener: "_Listener") -> None:
        others = self._listeners[listener.session]
        others.discard(listener)
        if not others:
            del self._listeners[listener.session]

    def _place(self, number: int) -> str:
        return f"{self.epoch}-{number}"

    def _note(self, signal: Signal) -> None:
        state = self._open.get(signal.session) or _State()
        state.note(signal)
        if state.is_at_rest:
            self._open.pop(signal.session, None)
        else:
            self._open[signal.session] = state

    def _beginning(self, session: str, since: str) -> list[Signal]:
        """How it stands at the place where the listener begins, and what it has missed since."""
        oldest = self._count - len(self._signals)
        place, missed = self._begun(session, since, oldest)
        later = [s for s in islice(self._signals, place - oldest, None) if session in ("", s.session)]
        standing = self._standings(session, self._place(place), later)
        gap = [Signal(self._place(place), session, "", Missed(missed))] if missed is not None else []
        return [*standing, *gap, *later]

    def _begun(self, session: str, since: str, oldest: int) -> tuple[int, int | None]:
        """The number after which the listener begins, and how many signals it cannot have; None: none."""
        if not since:
            return self._before_the_last(session), None
        epoch, _, digits = since.rpartition("-")
        number = int(digits) if digits.isdecimal() and len(digits) < 20 else self._count + 1
        if epoch != self.epoch or number > self._count:
            return oldest, 0
        if number >= oldest:
            return number, None
        return oldest, 0 if session else oldest - number

    def _before_the_last(self, session: str) -> int:
        for back, signal in enumerate(reversed(self._signals)):
            if session in ("", signal.session):
                return self._count - back - 1
        return self._count

    def _standings(self, session: str, place: str, later: list[Signal]) -> list[Signal]:
        """How each session concerned stood before the `later` signals; all at rest are one."""
        heard: dict[str, list[Signal]] = {}
        for signal in later:
            heard.setdefault(signal.session, []).append(signal)
        names = [session] if session else list(self._open)
        found = [(name, self._open[name].before(heard.get(name, ()))) for name in names if name in self._open]
        told = [Signal(place, name, standing.turn, standing) for name, standing in found if standing != Standing()]
        return told or [Signal(place, session, "", Standing())]


@dataclass(slots=True)
class _State:
    """A session that is not at rest, as its signals tell."""

    turn: str = ""
    said: StringIO = field(default_factory=StringIO)
    asked: dict[str, tuple[str, ApprovalAsked]] = field(default_factory=dict)
    waiting: dict[int, Receipt] = field(default_factory=dict)

    @property
    def is_at_rest(self) -> bool:
        return not (self.turn or self.asked or self.waiting)

    def note(self, signal: Signal) -> None:
        match signal.event:
            case Taken(receipt):
                self._taken(receipt)
            case TurnStarted():
                self._end()
                self.turn = signal.turn
            case ApprovalAsked():  # of its own turn, or of a sub-agent's
                self.asked[signal.event.id] = signal.turn, signal.event
            case ApprovalAnswered():
                self.asked.pop(signal.event.id, None)
            case _ if signal.turn == self.turn:  # what comes late from an earlier turn changes nothing
                self._of_the_turn(signal.event)

    def _taken(self, receipt: Receipt) -> None:
        if receipt.fate is Fate.WAITING:
            self.waiting[receipt.id] = receipt
        else:
            self.waiting.pop(receipt.id, None)

    def _of_the_turn(self, event: Happening) -> None:
        match event:
            case TextDelta(text):
                self.said.write(text)
            case MessageAdded():
                self.said = StringIO()
            case TurnEnded():
                self._end()

    def _end(self) -> None:
        """Its turn is over, and nobody waits any more for what that has asked."""
        self.asked = {number: (turn, asked) for number, (turn, asked) in self.asked.items() if turn != self.turn}
        self.turn, self.said = "", StringIO()

    def before(self, later: Iterable[Signal]) -> Standing:
        """How the session stood before these, which its listener is yet to hear: nothing of them is told twice."""
        started, unsaid, known = False, 0, set[str | int]()
        for signal in later:
            match signal.event:
                case Taken(receipt):
                    known.add(receipt.id)
                case ApprovalAsked():
                    known.add(signal.event.id)
                case TurnStarted():
                    started = started or signal.turn == self.turn
                case TextDelta(text) if signal.turn == self.turn:
                    unsaid += len(text)
                case MessageAdded() if signal.turn == self.turn:
                    unsaid = 0
        said = self.said.getvalue()
        asked = tuple(asked for _, asked in self.asked.values() if asked.id not in known)
        return Standing("" if started else self.turn, said[: len(said) - unsaid], asked, tuple(self._queue(known)))

    def _queue(self, known: set[str | int]) -> Iterable[Receipt]:
        """Those that wait, in the order of their coming, without the known."""
        for position, number in enumerate(sorted(self.waiting), 1):
            if number not in known:
                yield replace(self.waiting[number], position=position)


@dataclass(slots=True, eq=False)
class _Listener:
    """What one subscriber has not read yet."""

    session: str
    behind: int
    unread: deque[Signal] = field(default_factory=deque)
    missed: int = 0
    last_missed: str = ""
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def hear(self, signal: Signal) -> None:
        self.unread.append(signal)
        if len(self.unread) > self.behind:
            self.missed += 1
            self.last_missed = self.unread.popleft().id
        self.ready.set()

    def next(self) -> Signal | None:
        """The gap, if there is one, then the oldest unread signal; None when there is nothing."""
        if self.missed:
            count, self.missed = self.missed, 0
            return Signal(self.last_missed, self.session, "", Missed(count))
        return self.unread.popleft() if self.unread else None

    async def wait(self) -> None:
        self.ready.clear()
        await self.ready.wait()
