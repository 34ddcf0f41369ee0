"""Calendar arithmetic for spoken dates: pure, on the local date."""

import calendar
from collections.abc import Collection
from datetime import date, timedelta

from palmclaw.providers.offline.reading import Reading

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def by_date(day: date | None) -> Reading | None:
    return None if day is None else Reading(day=day)


def weekday_from(today: date, index: int, week: int | None) -> Reading:
    """The weekday (Monday is 0) of the week `week` weeks from this one, or with None the first from today on."""
    if week is None:
        return Reading(day=today + timedelta((index - today.weekday()) % 7), soon=True)
    return Reading(day=today - timedelta(today.weekday()) + timedelta(7 * week + index))


def span_from(today: date, unit: str, which: int) -> Reading:
    """The week, weekend or month `which` from this one; of the current one what is left of it."""
    monday = today - timedelta(today.weekday()) + timedelta(7 * which)
    if unit == "weekend":
        return Reading(day=monday + timedelta(5), days=2)
    first, end = monday, monday + timedelta(7)
    if unit == "month":
        first = month_after(today.replace(day=1), which)
        end = month_after(first, 1)
    start = today if which == 0 else first
    return Reading(day=start, days=(end - start).days)


def yearday(today: date, month: int, day: int, year: int | None = None) -> date | None:
    """That date in the given year, or without one the first from today on; None when there is no such date."""
    years = [year] if year is not None else range(today.year, today.year + 9)
    found = (_day(y, month, day) for y in years)
    return next((d for d in found if d is not None and (year is not None or d >= today)), None)


def monthday(today: date, day: int) -> date | None:
    """The first such day of a month from today on."""
    for ahead in range(13):
        month = today.month - 1 + ahead
        found = _day(today.year + month // 12, month % 12 + 1, day)
        if found is not None and found >= today:
            return found
    return None


def first_of(days: Collection[str], start: date) -> date:
    """The first date from `start` on that is one of these weekdays ("mon"); without any, `start` itself."""
    dates = (start + timedelta(n) for n in range(7))
    return next((d for d in dates if _WEEKDAYS[d.weekday()] in days), start)


def month_after(today: date, months: int) -> date:
    """The same day some months on, or the last of a shorter month."""
    month = today.month - 1 + months
    year, month = today.year + month // 12, month % 12 + 1
    return date(year, month, min(today.day, calendar.monthrange(year, month)[1]))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
