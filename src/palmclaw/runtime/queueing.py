"""What waits in one session, and what becomes of it: values and pure functions, so that every rule can be tried."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from itertools import takewhile

from palmclaw.core.traffic import Drop, Fate, Inbound, Mode, Origin, QueueChange, QueueSettings
from palmclaw.core.values import dataclass

LINE = 160
"""Characters that are left of a message which had to give way."""


_TRUST: Mapping[Origin, int] = {Origin.OTHER: 0, Origin.JOB: 1, Origin.OWNER: 2}
"""Nobody makes somebody more trusted give way."""


@dataclass(frozen=True, slots=True)
class Item:
    """A message that waits, its row in the inbox, and what it does to a running turn."""

    inbox: int
    inbound: Inbound
    mode: Mode

    @property
    def key(self) -> tuple[object, ...]:
        """Messages with equal keys may share a turn: the same authority, the same model, the same way back."""
        inbound = self.inbound
        return (inbound.origin, inbound.is_report, inbound.model, inbound.address)


@dataclass(frozen=True, slots=True)
class Line:
    """The messages that wait, in the order in which they came, and those of which only a line is left.

    `joining` is the row of a message that is being stored into the running turn: it can neither go nor be taken.
    """

    items: tuple[Item, ...] = ()
    summarized: tuple[Item, ...] = ()
    joining: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.items and not self.summarized

    def position(self, inbox: int) -> int:
        """From 1; 0 when it does not wait."""
        return next((n for n, item in enumerate(self.items, 1) if item.inbox == inbox), 0)


@dataclass(frozen=True, slots=True)
class Change:
    """A line after something happened to it, and the rows whose fate that has changed, with the reason."""

    line: Line
    fates: tuple[tuple[int, Fate, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Batch:
    """What becomes one turn."""

    items: tuple[Item, ...] = ()
    summarized: tuple[Item, ...] = ()

    @property
    def rows(self) -> tuple[int, ...]:
        return tuple(i.inbox for i in (*self.items, *self.summarized))

    def without(self, row: int) -> "Batch":
        """The batch without a message that was taken back."""
        return Batch(*(tuple(i for i in part if i.inbox != row) for part in (self.items, self.summarized)))


def settled(base: QueueSettings, *changes: QueueChange) -> QueueSettings:
    """The settings after each change in turn; the last one that says something wins."""
    for change in changes:
        said = {f.name: getattr(change, f.name) for f in fields(change)}
        base = replace(base, **{name: value for name, value in said.items() if value is not None})
    return base


def merged(first: QueueChange, second: QueueChange) -> QueueChange:
    """Both changes as one."""
    said = {f.name: getattr(second, f.name) for f in fields(second)}
    return replace(first, **{name: value for name, value in said.items() if value is not None})


def added(line: Line, item: Item, settings: QueueSettings) -> Change:
    """The line with a new message at its end; when it is full somebody gives way."""
    excess = len(line.items) - settings.cap + 1
    if excess <= 0:
        return Change(replace(line, items=(*line.items, item)))
    free = [
        i for i in line.items if i.inbox != line.joining and _TRUST[i.inbound.origin] <= _TRUST[item.inbound.origin]
    ]
    if settings.drop is Drop.NEW or len(free) < excess:
        return Change(line, ((item.inbox, Fate.DROPPED, f"{len(line.items)} messages wait already"),))
    victims = free[:excess]
    kept = (*(i for i in line.items if i not in victims), item)
    if settings.drop is Drop.OLD:
        fates = tuple((v.inbox, Fate.DROPPED, f"more than {settings.cap} messages waited") for v in victims)
        return Change(replace(line, items=kept), fates)
    fates = tuple((v.inbox, Fate.SUMMARIZED, f"more than {settings.cap} messages waited") for v in victims)
    return Change(replace(line, items=kept, summarized=(*line.summarized, *victims)), fates)


def without(line: Line, rows: Iterable[int]) -> Line:
    """The line after these messages were taken away or have joined a turn."""
    gone = set(rows)
    return Line(
        tuple(i for i in line.items if i.inbox not in gone),
        tuple(i for i in line.summarized if i.inbox not in gone),
        0 if line.joining in gone else line.joining,
    )


def may_interrupt(new: Inbound, running: Inbound) -> bool:
    """Whether a message may end the turn of another one."""
    return _TRUST[new.origin] >= _TRUST[running.origin]


def steerable(line: Line, running: Item) -> Item | None:
    """The message that may join the running turn now: the first in line alone, so that order is kept."""
    if not line.items or line.summarized:
        return None
    head = line.items[0]
    fits = head.mode is Mode.STEER and _joins(head.inbound, running.inbound)
    return head if fits and head.inbox != line.joining else None


def is_urgent(line: Line) -> bool:
    """Whether something in it may not wait for a silence."""
    return any(i.mode is Mode.INTERRUPT for i in line.items)


def batch(line: Line) -> Batch:
    """What the next turn is made of; empty when nothing waits.

    A message that interrupts brings along what waits of its kind; messages to collect go together with their
    neighbours of the same kind; any other goes alone. Those of which only a line is left come first: with the others
    where all are of one kind, else in a turn of their own, with no more authority than their senders have.
    """
    items, left = _next_items(line.items), line.summarized
    if items and all(i.key == items[0].key for i in left):
        return Batch(items, left)
    return Batch((), tuple(takewhile(lambda i: i.key == left[0].key, left)))


def _next_items(items: tuple[Item, ...]) -> tuple[Item, ...]:
    urgent = [i for i in items if i.mode is Mode.INTERRUPT]
    if urgent:
        last = urgent[-1]
        upto = items[: items.index(last) + 1]
        return tuple(i for i in upto if i.key == last.key)
    head = items[:1]
    kind = (Mode.COLLECT, head[0].key) if head else None
    return tuple(takewhile(lambda i: (i.mode, i.key) == kind, items)) or head


def summary(summarized: tuple[Item, ...], cap: int) -> Inbound | None:
    """What is left of messages that had to give way, as a message of the least trusted of their senders."""
    if not summarized:
        return None
    lines = [_line(i.inbound.text) for i in summarized][-cap:]
    text = f"({len(summarized)} messages came while more than {cap} waited; this is left of them:)"
    inbound = min((i.inbound for i in summarized), key=lambda i: (_TRUST[i.origin], not i.is_report))
    tainted = any(i.inbound.tainted or i.inbound.media for i in summarized)
    return replace(inbound, text="\n".join((text, *(f"- {line}" for line in lines))), media=(), tainted=tainted)


def _joins(new: Inbound, running: Inbound) -> bool:
    same = new.origin is running.origin and new.address == running.address
    return same and new.model in ("", running.model)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LINE else f"{flat[: LINE - 1]}…"
