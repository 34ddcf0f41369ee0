"""Spoken dates and times in both languages: a table of what people say, and rules that hold for all of them."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.providers.offline.moments import duration, moment, split
from tests.providers.desk import MONDAY

ZONES = ("Asia/Hong_Kong", "Europe/Berlin", "America/New_York", "UTC", "Asia/Kolkata")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

TIMED = {
    "tomorrow at 9": "06-16 09:00",
    "in 20 minutes": "06-15 09:20",
    "twenty minutes from now": "06-15 09:20",
    "in half an hour": "06-15 09:30",
    "in an hour and a half": "06-15 10:30",
    "in 1 hour and 20 minutes": "06-15 10:20",
    "in three quarters of an hour": "06-15 09:45",
    "next Wednesday at 3pm": "06-24 15:00",
    "on Friday at noon": "06-19 12:00",
    "Friday at 3": "06-19 15:00",
    "Monday at 8": "06-22 08:00",
    "half past seven": "06-15 19:30",
    "half past seven in the morning": "06-16 07:30",
    "quarter to nine tomorrow morning": "06-16 08:45",
    "ten past five": "06-15 17:10",
    "at 9": "06-15 21:00",
    "at 10 am": "06-15 10:00",
    "7 30 am": "06-16 07:30",
    "five thirty pm": "06-15 17:30",
    "at seven thirty tomorrow": "06-16 07:30",
    "6 o'clock": "06-15 18:00",
    "17:45": "06-15 17:45",
    "08:30": "06-16 08:30",
    "12:15 am tomorrow": "06-16 00:15",
    "tonight at 8": "06-15 20:00",
    "tonight at 12": "06-16 00:00",
    "tomorrow night at 1": "06-17 01:00",
    "tomorrow at midnight": "06-16 00:00",
    "this afternoon": "06-15 15:00",
    "tomorrow evening": "06-16 19:00",
    "in the morning": "06-16 09:00",
    "in 3 days at 5pm": "06-18 17:00",
    "June 20 at 10:30": "06-20 10:30",
    "the twelfth of July at 2 pm": "07-12 14:00",
    "2026-07-01 10:00": "07-01 10:00",
    "Monday next week at 2": "06-22 14:00",
    "下周三下午三点": "06-24 15:00",
    "明天早上九点半": "06-16 09:30",
    "二十分钟后": "06-15 09:20",
    "半小时后": "06-15 09:30",
    "一个半小时后": "06-15 10:30",
    "过十分钟": "06-15 09:10",
    "周五晚上八点": "06-19 20:00",
    "周三十点": "06-17 10:00",
    "星期天上午十点": "06-21 10:00",
    "明晚八点": "06-16 20:00",
    "明早七点": "06-16 07:00",
    "今晚": "06-15 21:00",
    "六月二十号下午两点半": "06-20 14:30",
    "晚上十二点": "06-16 00:00",
    "凌晨两点": "06-16 02:00",
    "中午十二点半": "06-15 12:30",
    "中午一点": "06-15 13:00",
    "九点零五分": "06-15 09:05",
    "8点一刻": "06-15 20:15",
    "九点三刻": "06-15 09:45",
    "明天15:30": "06-16 15:30",
    "明天下午3点半": "06-16 15:30",
    "早上七点": "06-16 07:00",
}
WHOLE_DAYS = {
    "today": ("06-15", 1),
    "tomorrow": ("06-16", 1),
    "the day after tomorrow": ("06-17", 1),
    "yesterday": ("06-14", 1),
    "on Friday": ("06-19", 1),
    "monday": ("06-15", 1),
    "next Monday": ("06-22", 1),
    "last Friday": ("06-12", 1),
    "next week on Tuesday": ("06-23", 1),
    "the 12th of July": ("07-12", 1),
    "20 June": ("06-20", 1),
    "March 3rd, 2026": ("03-03", 1),
    "the twenty-first": ("06-21", 1),
    "in two weeks": ("06-29", 1),
    "a month from now": ("07-15", 1),
    "this week": ("06-15", 7),
    "next week": ("06-22", 7),
    "this weekend": ("06-20", 2),
    "next month": ("07-01", 31),
    "后天": ("06-17", 1),
    "大后天": ("06-18", 1),
    "昨天": ("06-14", 1),
    "下下周一": ("06-29", 1),
    "本周五": ("06-19", 1),
    "上周五": ("06-12", 1),
    "20号": ("06-20", 1),
    "三天后": ("06-18", 1),
    "两周后": ("06-29", 1),
    "一个月后": ("07-15", 1),
    "下周": ("06-22", 7),
    "周末": ("06-20", 2),
    "下个月": ("07-01", 31),
}


@pytest.mark.parametrize(("words", "expected"), TIMED.items())
def test_a_time_is_read(words: str, expected: str) -> None:
    found = moment(words, MONDAY)
    assert found is not None
    assert (found.at.strftime("%m-%d %H:%M"), found.timed, found.at.tzinfo) == (expected, True, MONDAY.tzinfo)


@pytest.mark.parametrize(("words", "expected"), WHOLE_DAYS.items())
def test_a_day_is_read(words: str, expected: tuple[str, int]) -> None:
    found = moment(words, MONDAY)
    assert found is not None
    assert (found.at.strftime("%m-%d"), found.days, found.timed) == (*expected, False)


@pytest.mark.parametrize(
    ("words", "start", "end"),
    [
        ("tomorrow from 3 to 4pm", "06-16 15:00", "06-16 16:00"),
        ("Friday 3-4pm", "06-19 15:00", "06-19 16:00"),
        ("from 9 to 10:30 on Tuesday", "06-16 09:00", "06-16 10:30"),
        ("from 11 am to 1 pm tomorrow", "06-16 11:00", "06-16 13:00"),
        ("tomorrow from 23:00 to 1:00", "06-16 23:00", "06-17 01:00"),
        ("tomorrow at 9 for 2 hours", "06-16 09:00", "06-16 11:00"),
        ("下午三点到四点", "06-15 15:00", "06-15 16:00"),
        ("明天上午九点到下午五点", "06-16 09:00", "06-16 17:00"),
        ("明天九点两小时", "06-16 09:00", "06-16 11:00"),
    ],
)
def test_a_range_has_an_end(words: str, start: str, end: str) -> None:
    found = moment(words, MONDAY)
    assert found is not None
    assert found.end is not None
    assert (found.at.strftime("%m-%d %H:%M"), found.end.strftime("%m-%d %H:%M")) == (start, end)


@pytest.mark.parametrize(
    "words",
    ["apples", "at 25:00", "13 pm", "the 32nd", "31 June 2026", "三只小猪", "25点", "二月三十号", "", "maybe", "at"],
)
def test_other_words_are_no_moment(words: str) -> None:
    assert moment(words, MONDAY) is None


@pytest.mark.parametrize(
    ("words", "rest", "at"),
    [
        ("Dentist tomorrow at 9", "Dentist", "06-16 09:00"),
        ("meeting with Bob at 3 tomorrow", "meeting with Bob", "06-16 15:00"),
        ("tomorrow at 9 dentist", "dentist", "06-16 09:00"),
        ("yoga for 90 minutes tomorrow at 7am", "yoga", "06-16 07:00"),
        ("明天下午三点和小王开会", "和小王开会", "06-16 15:00"),
        ("和三班同学吃饭 周五晚上七点", "和三班同学吃饭", "06-19 19:00"),
    ],
)
def test_a_moment_is_taken_out_of_a_title(words: str, rest: str, at: str) -> None:
    title, found = split(words, MONDAY)
    assert found is not None
    assert (title, found.at.strftime("%m-%d %H:%M")) == (rest, at)


def test_a_title_without_a_moment_stays_whole() -> None:
    assert split(" chapters 2 and 3 ", MONDAY) == ("chapters 2 and 3", None)


@pytest.mark.parametrize(
    ("words", "minutes"),
    [
        ("ten minutes", 10),
        ("an hour and a half", 90),
        ("one and a half hours", 90),
        ("1 hour 20 minutes", 80),
        ("half an hour", 30),
        ("a quarter of an hour", 15),
        ("1.5 hours", 90),
        ("90-minute", 90),
        ("a couple of minutes", 2),
        ("一个半小时", 90),
        ("两小时半", 150),
        ("三刻钟", 45),
        ("1小时20分", 80),
        ("半小时", 30),
        ("soon", None),
        ("很久", None),
    ],
)
def test_lengths(words: str, minutes: int | None) -> None:
    assert duration(words) == (None if minutes is None else timedelta(minutes=minutes))


def test_an_alarm_takes_the_hour_as_it_is_said() -> None:
    found = moment("3", MONDAY, literal=True)
    assert found is not None
    assert found.at == datetime(2026, 6, 16, 3, 0, tzinfo=MONDAY.tzinfo)


@st.composite
def moments(draw: st.DrawFn) -> datetime:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    naive = draw(st.datetimes(datetime(2024, 1, 1), datetime(2031, 12, 31)))
    return naive.replace(second=0, microsecond=0, tzinfo=ZoneInfo("UTC")).astimezone(zone)


def offset(at: datetime) -> timedelta:
    return at.utcoffset() or timedelta()


@given(moments(), st.integers(0, 23), st.integers(0, 59))
def test_a_24_hour_time_is_the_next_one(now: datetime, hour: int, minute: int) -> None:
    found = moment(f"at {hour:02}:{minute:02}", now)
    assert found is not None
    assert timedelta(0) < found.at - now <= timedelta(hours=25)
    assert offset(found.at) == offset(found.at.astimezone(ZoneInfo("UTC")).astimezone(now.tzinfo))


@given(moments(), st.integers(0, 6))
def test_a_weekday_is_the_first_from_today_on(now: datetime, index: int) -> None:
    for words in (f"on {WEEKDAYS[index]}", f"周{'一二三四五六日'[index]}"):
        found = moment(words, now)
        assert found is not None
        assert 0 <= (found.at.date() - now.date()).days <= 6
        assert found.at.weekday() == index


@given(moments(), st.integers(0, 6))
def test_next_weekday_is_in_the_next_week(now: datetime, index: int) -> None:
    following = (now.date() + timedelta(7)).isocalendar()[:2]
    for words in (f"next {WEEKDAYS[index]}", f"下周{'一二三四五六日'[index]}"):
        found = moment(words, now)
        assert found is not None
        assert found.at.date().isocalendar()[:2] == following
        assert found.at.weekday() == index


@given(moments(), st.integers(1, 90))
def test_minutes_from_now_are_exact(now: datetime, minutes: int) -> None:
    for words in (f"in {minutes} minutes", f"{minutes}分钟后"):
        found = moment(words, now)
        assert found is not None
        assert found.at - now == timedelta(minutes=minutes)


@given(moments(), st.dates(date(2024, 1, 1), date(2031, 12, 31)))
def test_a_full_date_is_itself(now: datetime, day: date) -> None:
    for words in (day.isoformat(), f"{day.day} {day:%B} {day.year}", f"{day.year}年{day.month}月{day.day}日"):
        found = moment(words, now)
        assert found is not None
        assert found.at.date() == day


@given(moments(), st.dates(date(2024, 1, 1), date(2031, 12, 31)))
def test_a_date_without_a_year_is_not_in_the_past(now: datetime, day: date) -> None:
    found = moment(f"{day:%B} {day.day}", now)
    assert found is not None
    assert found.at.date() >= now.date()
    assert (found.at.month, found.at.day) == (day.month, day.day)


@given(moments(), st.text(max_size=40))
def test_any_text_is_read_without_harm(now: datetime, text: str) -> None:
    title, found = split(text, now)
    assert found is not None or title == text.strip()
    moment(text, now)
