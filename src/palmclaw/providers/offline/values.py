"""What the slots of a sentence can hold besides plain words and moments."""

from dataclasses import dataclass
from datetime import timedelta

from palmclaw.providers.offline.reading import Moment


@dataclass(frozen=True, slots=True)
class Level:
    """A wished level: a share of the whole in percent, or steps of the setting's own scale."""

    value: int
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """Something with a name at a time."""

    title: str
    moment: Moment | None = None


@dataclass(frozen=True, slots=True)
class Ring:
    """An alarm: when, under what label, and on which weekdays it repeats."""

    moment: Moment
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
