"""What the words for a date and a time said, and the moment that this means."""

from dataclasses import fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from palmclaw.core.values import dataclass

# The hour that a part of the day stands for when no clock time is given.
PARTS = {"dawn": 5, "morning": 9, "noon": 12, "afternoon": 15, "evening": 19, "night": 21}


@dataclass(frozen=True, slots=True)
class Reading:
    """The facts that the pieces of one phrase have given so far.

    `bare`: the hour came without am, pm or 24-hour form. `soon`: a weekday by its name alone, which moves on a week
    when it has passed. `shift` counts from now. `until` is the end of a range of clock times.
    """

    day: date | None = None
    days: int = 1
    soon: bool = False
    hour: int | None = None
    minute: int = 0
    bare: bool = False
    part: str = ""
    shift: timedelta | None = None
    until: tuple[int, int] | None = None
    length: timedelta | None = None


NOTHING = Reading()


def merged(first: Reading, second: Reading) -> Reading | None:
    """Both together, or None when they speak of the same thing."""
    changes = {}
    for field in fields(Reading):
        mine, other = getattr(first, field.name), getattr(second, field.name)
        if other != field.default:
            if mine != field.default and mine != other:
                return None
            changes[field.name] = other
    clash = second.hour is not None and first.hour is not None
    return None if clash or (second.shift and first.hour is not None) else replace(first, **changes)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time with its zone; when `timed` is False, `days` whole days from there. `end` closes a range."""

    at: datetime
    timed: bool = True
    days: int = 1
    end: datetime | None = None


def resolved(reading: Reading, now: datetime, *, literal: bool = False) -> Moment | None:
    """The moment meant, or None when nothing was said.

    A bare hour from 1 to 6 is in the afternoon, and without a day it is the next one to come by a twelve-hour clock;
    `literal` (alarms) takes the hour as it was said. What has no day and has passed today is tomorrow.
    """
    if reading.shift is not None:
        return Moment(_shifted(now, reading.shift))
    if reading.hour is not None:
        return _clocked(reading, now, literal)
    if reading.part:
        return _in_part(reading, now)
    if reading.day is None:
        return None
    return Moment(local(reading.day, 0, 0, now.tzinfo), False, reading.days)


def local(day: date, hour: int, minute: int, zone: tzinfo | None) -> datetime:
    """A wall-clock time that exists: one inside a jump of daylight saving is moved over it."""
    at = datetime.combine(day, time(hour, minute), zone)
    return at.astimezone(UTC).astimezone(zone)


def _shifted(now: datetime, shift: timedelta) -> datetime:
    return (now.astimezone(UTC) + shift).astimezone(now.tzinfo).replace(second=0, microsecond=0)


def _in_part(reading: Reading, now: datetime) -> Moment:
    day = reading.day or now.date()
    at = local(day, PARTS[reading.part], 0, now.tzinfo)
    if reading.day is None and at <= now:
        at = local(day + timedelta(1), PARTS[reading.part], 0, now.tzinfo)
    return Moment(at)


def _clocked(reading: Reading, now: datetime, literal: bool) -> Moment:
    hour = reading.hour or 0
    ahead = reading.bare and not literal and not reading.part and 1 <= hour <= 6
    extra, hour = _in_day(hour + 12 if ahead else hour, reading.part)
    day = (reading.day or now.date()) + timedelta(extra)
    at = local(day, hour, reading.minute, now.tzinfo)
    if at <= now and reading.day is None:
        later = reading.bare and not literal and not reading.part and hour < 12
        at = local(day, hour + 12, reading.minute, now.tzinfo) if later else at
        at = local(day + timedelta(1), hour, reading.minute, now.tzinfo) if at <= now else at
    elif at <= now and reading.soon:
        at = local(day + timedelta(7), hour, reading.minute, now.tzinfo)
    return Moment(at, end=_end(reading, at))


def _in_day(hour: int, part: str) -> tuple[int, int]:
    """Days to add and the hour on a 24-hour clock: twelve at night is the midnight that ends the day."""
    if part in ("evening", "night") and hour == 12:
        return 1, 0
    if part == "night" and hour < 5:
        return 1, hour
    if part in ("dawn", "morning"):
        return 0, 0 if hour == 12 else hour
    late = part in ("afternoon", "evening", "night") or (part == "noon" and hour < 3)
    return (0, hour + 12) if late and hour < 12 else (0, hour)


def _end(reading: Reading, at: datetime) -> datetime | None:
    """The end, on the next day where a night lies between; one that is simply before the start stays there."""
    if reading.length:
        return _shifted(at, reading.length)
    if reading.until is None:
        return None
    end = local(at.date(), *reading.until, at.tzinfo)
    for step in (12, 24):
        if end <= at and reading.until[0] + step < 24:
            end = local(at.date(), reading.until[0] + step, reading.until[1], at.tzinfo)
    after = local(at.date() + timedelta(1), *reading.until, at.tzinfo)
    night = after - at <= timedelta(hours=12) and reading.part not in ("morning", "noon", "afternoon")
    return after if end <= at and night else end
