"""Moments as tools read and write them (ISO 8601 to the minute, in the phone's zone), and the days of a series."""

from datetime import date, datetime, time, timedelta

from palmclaw.core.errors import ToolError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_YEARS = range(1970, 2101)


def minutes(moment: datetime) -> str:
    """`2026-06-15T10:00+08:00`."""
    return moment.isoformat(timespec="minutes")


def spoken(moment: datetime) -> str:
    """`Mon 2026-06-15 10:00`, for a person."""
    return f"{WEEKDAYS[moment.weekday()][:3]} {moment:%Y-%m-%d %H:%M}"


def moment(text: str, field: str, now: datetime) -> datetime:
    """Read an argument in the zone of `now` (its offset, where it has one, is honoured); the error names the field."""
    try:
        read = datetime.fromisoformat(text.strip())
        aware = read.replace(tzinfo=now.tzinfo) if read.tzinfo is None else read.astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        raise _unreadable(field, text, f"{now:%Y-%m-%d}T15:00") from None
    if aware.year not in _YEARS:
        raise _unreadable(field, text, f"{now:%Y-%m-%d}T15:00")
    return aware.replace(second=0, microsecond=0)


def ending(text: str, field: str, now: datetime) -> datetime:
    """As `moment`, for the end of something: a bare date means the end of that day."""
    read = moment(text, field, now)
    return read if "T" in text or ":" in text else read + timedelta(days=1)


def clock_time(text: str, field: str) -> str:
    """Read `7:05`, `07:05` or `07:05:00` as `07:05`."""
    try:
        read = time.fromisoformat(text.strip().zfill(5))
    except ValueError:
        raise _unreadable(field, text, "07:30") from None
    return f"{read:%H:%M}"


def midnight(day: datetime) -> datetime:
    """The start of that day in its own zone."""
    return day.replace(hour=0, minute=0, second=0, microsecond=0)


def series_days(recurrence: str) -> tuple[int, ...]:
    """The weekdays (Monday is 0) that `weekly:MO,WE` names; none for another recurrence."""
    names = recurrence.partition(":")[2]
    return tuple(i for i, d in enumerate(DAYS) if d[:2].upper() in names.split(","))


def recurrence(text: str, start: datetime) -> str:
    """The checked spelling of a series that begins at `start`: `daily`, `weekly:WE`, `monthly`, `yearly` or nothing."""
    kind, _, days = text.strip().lower().partition(":")
    if kind in ("", "daily", "monthly", "yearly") and not days:
        return kind
    wanted = [d.strip()[:2].upper() for d in days.split(",") if d.strip()]
    known = [d[:2].upper() for d in DAYS]
    own = known[start.weekday()]
    if kind != "weekly" or not set(wanted) <= set(known):
        raise ToolError(
            "invalid_arguments",
            f"recurrence: {text[:40]!r} is none of daily, weekly:WE, weekly:MO,TH, monthly, yearly",
            retryable=True,
        )
    if wanted and own not in wanted:
        raise ToolError(
            "invalid_arguments",
            f"recurrence: {text[:40]!r} leaves out the day of start, which is {WEEKDAYS[start.weekday()]}",
            retryable=True,
            hint="Give the first day of the series as start.",
        )
    return "weekly:" + ",".join(d for d in known if d in (wanted or [own]))


def falls_on(day: date, start: date, recurrence: str) -> bool:
    """Whether a series that begins on `start` has an occurrence on `day`."""
    if day <= start:
        return day == start
    kind = recurrence.partition(":")[0]
    if kind == "weekly":
        return day.weekday() in (series_days(recurrence) or (start.weekday(),))
    if kind == "monthly":
        return day.day == start.day
    return kind == "daily" or (kind == "yearly" and (day.month, day.day) == (start.month, start.day))


def occurrences(
    start: datetime, length: timedelta, recurrence: str, since: datetime, until: datetime
) -> list[datetime]:
    """The starts of a series, on the wall clock of `start`'s zone, whose occurrence touches [since, until)."""
    found = []
    day = max(start.date(), since.astimezone(start.tzinfo).date() - length - timedelta(days=1))
    last = until.astimezone(start.tzinfo).date() if recurrence else start.date()
    while day <= last:
        if falls_on(day, start.date(), recurrence):
            at = datetime.combine(day, start.timetz())
            if at < until and (at + length > since or at >= since):
                found.append(at)
        day += timedelta(days=1)
    return found


def _unreadable(field: str, text: str, example: str) -> ToolError:
    return ToolError(
        "invalid_arguments", f"{field}: cannot read {text[:40]!r} as a time", retryable=True, hint=f"Example: {example}"
    )
