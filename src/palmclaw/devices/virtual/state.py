"""The state of a virtual phone as one JSON document: seeded, completed and checked.

The shape is that of the evaluation suite's `base`, with `alarms`, `timers`, `faults` and the counter `serial`.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from palmclaw.core.device import Capability, Code
from palmclaw.core.errors import ConfigError, DeviceError
from palmclaw.core.times import minutes
from palmclaw.core.values import dataclass

State = dict[str, Any]
Row = dict[str, Any]
_RELATIVE = re.compile(r"@(?:(?P<days>[+-]\d+) (?P<hour>\d\d):(?P<minute>\d\d)|(?P<minutes>[+-]\d+)m)")
_TEXTS = {  # what every row of a list must have, as a text
    "device.apps": ("package", "label"),
    "bluetooth.paired": ("name", "address"),
    "bluetooth.nearby": ("name", "address"),
    "media.items": ("id", "kind", "name"),
    "calendar.calendars": ("id", "name"),
    "calendar.events": ("id", "calendar", "title"),
    "contacts": ("id", "name"),
    "sms": ("id", "address", "body"),
    "calls": ("id", "number"),
    "notifications": ("id", "title"),
    "alarms": ("id", "time"),
    "timers": ("id",),
}
_TIMES = {
    "calendar.events": ("start", "end"),
    "media.items": ("taken",),
    "sms": ("time",),
    "calls": ("time",),
    "timers": ("ends",),
}
_OPTIONAL = ("taken",)


@dataclass(frozen=True, slots=True)
class Scene:
    """The state that one request meets, and the phone's time at that moment."""

    state: State
    now: datetime

    def rows(self, place: str) -> list[Row]:
        """The list at a place such as `calendar.events`."""
        return rows_at(self.state, place)

    def row(self, place: str, key: str, value: str, what: str) -> Row:
        """The row whose `key` is `value`; `what` names the kind of thing that is missing otherwise."""
        for row in self.rows(place):
            if row[key] == value:
                return row
        raise DeviceError(Code.NOT_FOUND, f"there is no {what} {value[:40]!r}")

    def new_id(self, place: str, prefix: str) -> str:
        """An id that no row of the list has, and that no earlier row had."""
        taken = {row["id"] for row in self.rows(place)}
        while True:
            self.state["serial"] += 1
            if (fresh := f"{prefix}_{self.state['serial']}") not in taken:
                return fresh

    def moment(self, text: str) -> datetime:
        """A stored time, in the phone's zone."""
        return moment(text, self.now)


Acts = Mapping[type[Capability[Any]], Callable[[Scene, Any], Any]]


def moment(text: str, now: datetime) -> datetime:
    """Read a stored time; without an offset it is meant in the zone of `now`."""
    read = datetime.fromisoformat(text)
    return read.replace(tzinfo=now.tzinfo) if read.tzinfo is None else read.astimezone(now.tzinfo)


def rows_at(state: State, place: str) -> list[Row]:
    section: Any = state
    for key in place.split("."):
        section = section[key]
    rows: list[Row] = section
    return rows


def seeded(now: datetime) -> State:
    """A phone as it comes out of the box, its people and appointments placed around `now`."""
    seed = _resolved(_packaged("seed.json"), now)
    return checked({**seed, "clock": {"zone": str(now.tzinfo)}})


def _packaged(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text("utf-8"))


def _resolved(node: Any, now: datetime) -> Any:
    if isinstance(node, dict):
        return {key: _resolved(value, now) for key, value in node.items()}
    if isinstance(node, list):
        return [_resolved(value, now) for value in node]
    found = _RELATIVE.fullmatch(node) if isinstance(node, str) else None
    return minutes(_placed(found, now)) if found else node


def _placed(found: re.Match[str], now: datetime) -> datetime:
    if found["minutes"]:
        return now + timedelta(minutes=int(found["minutes"]))
    day = now + timedelta(days=int(found["days"]))
    return day.replace(hour=int(found["hour"]), minute=int(found["minute"]))


def loaded(state: Any) -> State:
    """A state made elsewhere, whose times may be `datetime` values, as `checked` JSON."""
    return checked(json.loads(json.dumps(state, default=_plain)))


def checked(state: Any) -> State:
    """The state with everything that was left out filled in, or `ConfigError` naming what is wrong and where."""
    whole: State = _completed(_packaged("blank.json"), state, "")
    now = datetime.now(zone_named(whole["clock"]["zone"]))
    if whole["clock"].get("now") is not None:
        _check_time(whole["clock"], "now", "clock", now)
    for place, texts in _TEXTS.items():
        for index, row in enumerate(rows_at(whole, place)):
            _check_row(row, f"{place}[{index}]", texts, _TIMES.get(place, ()), now)
    return whole


def _plain(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _completed(blank: Any, given: Any, at: str) -> Any:
    """`given` over `blank`: missing or null parts are filled in, foreign parts are kept, other types are refused."""
    if given is None:
        return blank
    if blank is not None and _sort(given) is not _sort(blank):
        raise ConfigError(at or "phone", f"expected {_sort(blank).__name__}, got {_sort(given).__name__}")
    if not (isinstance(given, dict) and isinstance(blank, dict)):
        return given
    filled = {key: _completed(value, given.get(key), f"{at}.{key}".strip(".")) for key, value in blank.items()}
    return {**given, **filled}


def _sort(value: Any) -> type:
    return float if type(value) is int else type(value)


def _check_row(row: Any, at: str, texts: tuple[str, ...], times: tuple[str, ...], now: datetime) -> None:
    if not isinstance(row, dict):
        raise ConfigError(at, "expected an object")
    for key in texts:
        if not isinstance(row.get(key), str):
            raise ConfigError(f"{at}.{key}", "expected a text")
    for key in times:
        if not (key in _OPTIONAL and row.get(key) is None):
            _check_time(row, key, at, now)


def _check_time(row: Row, key: str, at: str, now: datetime) -> None:
    try:
        moment(row[key], now)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ConfigError(f"{at}.{key}", "expected a time such as 2026-06-15T09:00+08:00") from None


def zone_named(name: str) -> ZoneInfo:
    """The zone of that name, or `ConfigError`."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # a KeyError is ZoneInfoNotFoundError
        raise ConfigError("clock.zone", f"no such time zone: {name[:60]!r}") from None


def machine_zone(environ: Mapping[str, str], link: Path = Path("/etc/localtime")) -> ZoneInfo:
    """The zone this machine is set to, or UTC where that cannot be told."""
    target = str(link.readlink()) if link.is_symlink() else ""
    for name in (environ.get("TZ", "").lstrip(":"), target.rpartition("zoneinfo/")[2] if "zoneinfo/" in target else ""):
        if name:
            try:
                return zone_named(name)
            except ConfigError:
                continue
    return ZoneInfo("UTC")
