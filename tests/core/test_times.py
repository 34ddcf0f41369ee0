"""Reading and writing moments; the days of a series."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import ToolError
from palmclaw.core.times import (
    clock_time,
    ending,
    falls_on,
    midnight,
    minutes,
    moment,
    occurrences,
    recurrence,
    series_days,
    spoken,
)
from tests.devices.kit import NOW, ZONE


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-06-16T10:00", "2026-06-16T10:00+08:00"),
        (" 2026-06-16 10:00:59 ", "2026-06-16T10:00+08:00"),
        ("2026-06-16", "2026-06-16T00:00+08:00"),
        ("2026-06-16T02:00Z", "2026-06-16T10:00+08:00"),
        ("2026-06-16T04:00+02:00", "2026-06-16T10:00+08:00"),
    ],
)
def test_a_time_is_read_in_the_phones_zone(text: str, read: str) -> None:
    assert minutes(moment(text, "start", NOW)) == read


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "2026-13-01", "10:00", "0001-01-01T00:00+14:00", "1969-12-31", "9999"]
)
def test_what_is_no_time_is_refused_with_the_field_and_an_example(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        moment(text, "start", NOW)
    assert caught.value.code == "invalid_arguments"
    assert str(caught.value) == f"start: cannot read {text!r} as a time"
    assert (caught.value.hint, caught.value.retryable) == ("Example: 2026-06-15T15:00", True)


def test_a_bare_date_as_an_end_means_the_whole_day() -> None:
    assert ending("2026-06-16", "end", NOW) == datetime(2026, 6, 17, tzinfo=ZONE)
    assert ending("2026-06-16T10:00", "end", NOW) == datetime(2026, 6, 16, 10, tzinfo=ZONE)
    assert ending("2026-06-16 10:00", "end", NOW) == datetime(2026, 6, 16, 10, tzinfo=ZONE)


@pytest.mark.parametrize(("text", "read"), [("7:05", "07:05"), ("07:05", "07:05"), (" 23:59:30 ", "23:59")])
def test_a_clock_time(text: str, read: str) -> None:
    assert clock_time(text, "time") == read


@pytest.mark.parametrize("text", ["", "7", "25:00", "half past seven", "7:5"])
def test_no_clock_time(text: str) -> None:
    with pytest.raises(ToolError, match="time: cannot read") as caught:
        clock_time(text, "time")
    assert caught.value.hint == "Example: 07:30"


def test_words_for_a_person() -> None:
    assert spoken(NOW) == "Mon 2026-06-15 09:00"
    assert midnight(NOW.replace(second=5)) == datetime(2026, 6, 15, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("Daily", "daily"),
        ("monthly", "monthly"),
        ("yearly", "yearly"),
        ("weekly", "weekly:MO"),
        ("weekly:MO", "weekly:MO"),
        ("weekly: friday, mon", "weekly:MO,FR"),
    ],
)
def test_a_recurrence_is_kept_in_one_spelling(text: str, kept: str) -> None:
    assert recurrence(text, NOW) == kept


@pytest.mark.parametrize("text", ["hourly", "daily:MO", "weekly:XX", "FREQ=WEEKLY"])
def test_an_unknown_recurrence(text: str) -> None:
    with pytest.raises(ToolError, match="is none of daily"):
        recurrence(text, NOW)


def test_a_series_must_hold_its_own_first_day() -> None:
    with pytest.raises(ToolError, match="leaves out the day of start, which is Monday") as caught:
        recurrence("weekly:TU,WE", NOW)
    assert caught.value.hint == "Give the first day of the series as start."


def test_the_days_of_a_series() -> None:
    assert series_days("weekly:MO,SU") == (0, 6)
    assert series_days("daily") == ()


@pytest.mark.parametrize(
    ("series", "days"),
    [
        ("", [15]),
        ("daily", [15, 16, 17, 18, 19, 20, 21, 22]),
        ("weekly", [15, 22]),
        ("weekly:MO,TH", [15, 18, 22]),
        ("monthly", [15]),
        ("unheard of", [15]),
    ],
)
def test_the_days_a_series_falls_on(series: str, days: list[int]) -> None:
    start = date(2026, 6, 15)
    assert [d for d in range(10, 23) if falls_on(date(2026, 6, d), start, series)] == days


def test_months_and_years() -> None:
    assert falls_on(date(2026, 7, 31), date(2026, 5, 31), "monthly")
    assert not falls_on(date(2026, 6, 30), date(2026, 5, 31), "monthly")
    assert falls_on(date(2028, 2, 29), date(2024, 2, 29), "yearly")
    assert not falls_on(date(2025, 2, 28), date(2024, 2, 29), "yearly")
    assert not falls_on(date(2025, 2, 1), date(2024, 1, 1), "yearly")


def test_a_series_keeps_its_hour_when_the_clocks_change() -> None:
    oslo = ZoneInfo("Europe/Oslo")
    start = datetime(2026, 10, 24, 9, 0, tzinfo=oslo)
    found = occurrences(start, timedelta(hours=1), "daily", start, start + timedelta(days=2))
    assert [minutes(f) for f in found] == ["2026-10-24T09:00+02:00", "2026-10-25T09:00+01:00"]


def test_what_only_touches_the_range_from_outside_is_not_in_it() -> None:
    hour = timedelta(hours=1)
    assert occurrences(NOW, hour, "", NOW + hour, NOW + 2 * hour) == []
    assert occurrences(NOW, hour, "", NOW - hour, NOW) == []
    assert occurrences(NOW, hour, "", NOW + hour / 2, NOW + 2 * hour) == [NOW]
    assert occurrences(NOW, timedelta(0), "", NOW, NOW + hour) == [NOW]


DAYS = st.integers(-400, 400).map(lambda n: NOW + timedelta(days=n, hours=n % 5))


@given(
    start=DAYS,
    length=st.integers(0, 60 * 24 * 9).map(lambda m: timedelta(minutes=m)),
    series=st.sampled_from(["", "daily", "weekly", "weekly:MO,FR", "monthly", "yearly"]),
    since=DAYS,
    span=st.integers(1, 60).map(lambda d: timedelta(days=d)),
    abroad=st.booleans(),
)
def test_a_range_holds_exactly_the_occurrences_that_touch_it(
    start: datetime, length: timedelta, series: str, since: datetime, span: timedelta, abroad: bool
) -> None:
    until = since + span
    asked = (since.astimezone(UTC), until.astimezone(UTC)) if abroad else (since, until)
    every = [start + timedelta(days=n) for n in range(900)]
    touching = [
        at
        for at in every
        if falls_on(at.date(), start.date(), series) and at < until and (at + length > since or at >= since)
    ]
    assert occurrences(start, length, series, *asked) == touching
