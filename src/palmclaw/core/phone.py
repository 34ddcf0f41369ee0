"""What a phone tells about itself: the replies of the capability port, and what tools ask of all of them."""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from palmclaw.core.codec import encode
from palmclaw.core.values import dataclass

Setting = bool | int | str


@dataclass(frozen=True, slots=True)
class Change:
    """A setting's new value, and the old one where the phone can tell it."""

    value: Setting
    was: Setting | None = None


@dataclass(frozen=True, slots=True)
class Battery:
    """Charge and power."""

    percent: int
    charging: bool
    saver: bool
    temperature_c: float | None = None


@dataclass(frozen=True, slots=True)
class Storage:
    """Room on the phone, in GB."""

    total_gb: float
    free_gb: float


@dataclass(frozen=True, slots=True)
class Network:
    """The links to the world; `cellular` is mobile data."""

    wifi: bool
    ssid: str
    cellular: bool
    airplane: bool


@dataclass(frozen=True, slots=True)
class Volume:
    """Levels from 0 to 15."""

    media: int
    ring: int
    alarm: int


@dataclass(frozen=True, slots=True)
class Model:
    """Which phone this is."""

    model: str
    os: str


@dataclass(frozen=True, slots=True)
class Position:
    """Where the phone is; `place` in words when known."""

    lat: float
    lon: float
    place: str = ""


@dataclass(frozen=True, slots=True)
class Notification:
    """A line in the notification shade; `by` is the app, or `agent`."""

    id: str
    title: str
    text: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class App:
    """An installed app."""

    label: str
    package: str


@dataclass(frozen=True, slots=True)
class Contact:
    """An entry of the address book."""

    id: str
    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    org: str = ""


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar of the phone."""

    id: str
    name: str
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """An event, or one occurrence of a series (then `id` is the series). `end` is the first moment after it."""

    id: str
    title: str
    start: datetime
    end: datetime
    calendar: Calendar
    location: str = ""
    attendees: tuple[str, ...] = ()
    reminders: tuple[int, ...] = ()
    recurrence: str = ""
    all_day: bool = False


@dataclass(frozen=True, slots=True)
class Sms:
    """A text message; `address` is the other side."""

    id: str
    from_me: bool
    address: str
    body: str
    time: datetime
    read: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """A line of the call log; `direction` is in, out or missed."""

    id: str
    number: str
    direction: str
    time: datetime


@dataclass(frozen=True, slots=True)
class MediaItem:
    """A photo, video, screenshot or sound."""

    id: str
    kind: str
    name: str
    album: str = ""
    taken: datetime | None = None
    artist: str = ""
    duration_s: int | None = None
    size_mb: float | None = None


@dataclass(frozen=True, slots=True)
class Player:
    """What is played: `playing`, `paused` or `stopped`."""

    state: str
    item: MediaItem | None = None


@dataclass(frozen=True, slots=True)
class PairedDevice:
    """A Bluetooth device the phone knows."""

    name: str
    address: str
    kind: str = ""
    connected: bool = False
    battery: int | None = None


@dataclass(frozen=True, slots=True)
class NearbyDevice:
    """A Bluetooth device in range."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class Bluetooth:
    """The Bluetooth radio and its devices."""

    enabled: bool
    paired: tuple[PairedDevice, ...] = ()


@dataclass(frozen=True, slots=True)
class Alarm:
    """An alarm at `HH:MM` of the phone's zone; no days means once."""

    id: str
    time: str
    label: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timer:
    """A running countdown."""

    id: str
    seconds: int
    label: str
    ends: datetime


def revision(*things: object) -> str:
    """A short hash that changes when any of the things does."""
    text = json.dumps([encode(t) for t in things], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same_number(one: str, other: str) -> bool:
    """Whether two spellings mean the same telephone: country code and leading zero may be missing on one side."""
    a, b = one.strip(), other.strip()
    long, short = sorted(("".join(c for c in n if c.isdecimal()) for n in (a, b)), key=len, reverse=True)
    bare = short.lstrip("0")
    if (a.startswith("+") and b.startswith("+")) or len(bare) < 7:
        return bool(short) and long == short
    return long.endswith(bare)


def listed(name: str, rows: Sequence[dict[str, Any]], limit: int) -> dict[str, Any]:
    """The first `limit` rows under `name`; `more` says how many were left out, where any were."""
    shown = max(1, min(limit, 200))
    left_out = len(rows) - shown
    return {name: list(rows[:shown])} | ({"more": left_out} if left_out > 0 else {})
