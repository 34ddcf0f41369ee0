"""What the slots of a sentence can hold besides plain words and moments."""

from datetime import timedelta

from palmclaw.core.values import dataclass
from palmclaw.providers.offline.reading import Moment


@dataclass(frozen=True, slots=True)
class Flaw:
    """What was said cannot be done as it was said; `key` names the sentence that says why."""

    key: str


@dataclass(frozen=True, slots=True)
class Level:
    """A wished level: a share of the whole in percent, or steps of the setting's own scale."""

    value: int
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """Something with a name at a time; `recurrence` as event_add writes it."""

    title: str
    moment: Moment | None = None
    recurrence: str = ""


@dataclass(frozen=True, slots=True)
class Ring:
    """An alarm: when (None or a whole day: the time was not said), under what label, on which weekdays it repeats."""

    moment: Moment | None
    label: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Countdown:
    """A timer: how long, and for what."""

    length: timedelta
    label: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A new contact."""

    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
