"""The Chinese words for dates, clock times and lengths of time, as patterns that each give a piece of a Reading."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from palmclaw.providers.offline.days import by_date, month_after, monthday, span_from, weekday_from, yearday
from palmclaw.providers.offline.numerals import number
from palmclaw.providers.offline.reading import Reading

Make = Callable[["re.Match[str]", datetime], Reading | None]

NUMBER = r"(?:\d{1,3}|[零〇一二两兩三四五六七八九十百]{1,5})"
_UNIT = r"(?:小时|小時|钟头|鐘頭|分钟|分鐘|刻钟|秒钟|秒鐘|秒|分)"
_LENGTH = rf"(?:半|{NUMBER}(?:\.\d)?)\s*[个個]?半?\s*{_UNIT}半?"
LENGTHS = rf"{_LENGTH}(?:[零又]?\s*{_LENGTH})*"
_PART_OF_LENGTH = re.compile(
    rf"(?P<count>半|{NUMBER}(?:\.\d)?)\s*[个個]?(?P<plus>半?)\s*(?P<unit>{_UNIT})(?P<more>半?)"
)
_SECONDS = {"小": 3600, "钟": 3600, "鐘": 3600, "分": 60, "刻": 900, "秒": 1}
_WEEK = r"(?:周|週|星期|礼拜|禮拜)"
_PARTS = {
    "凌晨": "dawn", "清晨": "morning", "早上": "morning", "早晨": "morning", "今早": "morning", "上午": "morning",
    "中午": "noon", "下午": "afternoon", "午后": "afternoon", "傍晚": "evening", "晚上": "night", "夜里": "night",
    "晚间": "night", "夜晚": "night", "半夜": "night", "深夜": "night", "早": "morning", "晚": "night",
}  # fmt: skip
_DAYS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨": -1, "今天": 0, "今日": 0, "今": 0, "明天": 1, "明日": 1,
    "明": 1, "后天": 2, "後天": 2, "后日": 2, "大后天": 3, "大後天": 3,
}  # fmt: skip
_WEEKS = {"下下": 2, "下": 1, "上": -1, "这": 0, "這": 0, "本": 0}


def length(text: str) -> timedelta | None:
    """ "一个半小时", "90分钟", "一小时二十分", "三刻钟"."""
    if not re.fullmatch(LENGTHS, text.strip()):
        return None
    return sum((_one_length(m) for m in _PART_OF_LENGTH.finditer(text)), timedelta())


def _one_length(found: "re.Match[str]") -> timedelta:
    words = found["count"]
    count = 0.5 if words == "半" else float(words) if "." in words else float(number(words) or 0)
    count += 0.5 if found["plus"] or found["more"] else 0
    return timedelta(seconds=round(count * _SECONDS[found["unit"][0]]))


def _in_length(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(shift=length(found["length"]))


def _for_length(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(length=length(found["length"]))


def _in_days(found: "re.Match[str]", now: datetime) -> Reading | None:
    count, unit = number(found["count"]) or 0, found["unit"]
    if unit == "月":
        return by_date(month_after(now.date(), count))
    return by_date(now.date() + timedelta(count * (1 if unit in "天日" else 7)))


def _named_day(found: "re.Match[str]", now: datetime) -> Reading | None:
    return by_date(now.date() + timedelta(_DAYS[found["day"]]))


def _day_and_part(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(day=now.date() + timedelta(_DAYS[found["day"]]), part=_PARTS[found["part"]])


def _weekday(found: "re.Match[str]", now: datetime) -> Reading | None:
    index = "一二三四五六日".find(found["weekday"].replace("天", "日").replace("7", "日"))
    index = index if index >= 0 else int(found["weekday"]) - 1
    return weekday_from(now.date(), index, _WEEKS[found["which"]] if found["which"] else None)


def _span(found: "re.Match[str]", now: datetime) -> Reading | None:
    unit = {"末": "weekend", "月": "month"}.get(found["end"], "week")
    return span_from(now.date(), unit, _WEEKS[found["which"]] if found["which"] else 0)


def _month_day(found: "re.Match[str]", now: datetime) -> Reading | None:
    year = {"今年": now.year, "明年": now.year + 1, "后年": now.year + 2}.get(found["year"] or "")
    if found["year"] and year is None:
        year = number(found["year"].rstrip("年"))
    return by_date(yearday(now.date(), number(found["month"]) or 0, number(found["nth"]) or 0, year))


def _nth(found: "re.Match[str]", now: datetime) -> Reading | None:
    return by_date(monthday(now.date(), number(found["nth"]) or 0))


def _iso(found: "re.Match[str]", now: datetime) -> Reading | None:
    return by_date(yearday(now.date(), int(found["month"]), int(found["nth"]), int(found["year"])))


def _part(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(part=_PARTS[found["part"]])


def _clock(found: "re.Match[str]", now: datetime) -> Reading | None:
    hour, minute = number(found["hour"]), _minutes(found["minute"] or "")
    if hour is None or minute is None or hour > 24 or minute > 59:
        return None
    exact = hour > 12 or hour == 0 or found["hour"].startswith("0")
    return Reading(hour=hour % 24, minute=minute, bare=not exact)


def _minutes(words: str) -> int | None:
    words = words.strip().rstrip("分")
    return {"": 0, "半": 30, "一刻": 15, "1刻": 15, "三刻": 45, "3刻": 45, "整": 0}.get(words, number(words))


def _range(found: "re.Match[str]", now: datetime) -> Reading | None:
    start, end, last = _clock(found, now), number(found["hour2"]), _minutes(found["minute2"] or "")
    if start is None or end is None or last is None or end > 23 or last > 59:
        return None
    shift = 12 if (_PARTS.get(found["part2"] or "", "") in ("afternoon", "night", "evening") and end < 12) else 0
    return Reading(hour=start.hour, minute=start.minute, bare=start.bare, until=(end + shift, last))


_DAY = "|".join(sorted((d for d in _DAYS if len(d) > 1), key=len, reverse=True))
_PART = "|".join(sorted((p for p in _PARTS if len(p) > 1), key=len, reverse=True))
_POINT = r"\s*(?:点钟|點鐘|点|點|时|時)"
_MINUTE = (
    rf"(?:\s*(?P<minute>半|[一三13]刻|整|{NUMBER}分|零[一二三四五六七八九]|[二三四五]?十[一二三四五六七八九]?"
    r"|\d{1,2}(?!\d)))?"
)
_MINUTE2 = _MINUTE.replace("minute", "minute2")
_FROM = r"(?:从|從)?\s*"
PIECES: tuple[tuple[str, Make], ...] = (
    (rf"[再过過等]*\s*(?P<length>{LENGTHS})\s*(?:之后|以后|过后|之後|以後|后|後)", _in_length),
    (rf"(?:再过|再等|过|過)\s*(?P<length>{LENGTHS})", _in_length),
    (rf"(?:持续|时长|为时|一共|共)?\s*(?P<length>{LENGTHS})", _for_length),
    (rf"(?P<count>{NUMBER})\s*[个個]?(?P<unit>天|日|周|星期|礼拜|月)\s*(?:之后|以后|后|後)", _in_days),
    (r"(?P<day>今|明|昨)(?P<part>早|晚)上?", _day_and_part),
    (rf"(?P<day>{_DAY})(?P<part>早|晚)(?!上|间|餐|饭|点|会)", _day_and_part),
    (rf"(?P<day>{_DAY})", _named_day),
    (rf"(?P<which>下下|下|上|这|這|本)?\s*[个個]?{_WEEK}(?P<end>末)", _span),
    (rf"(?P<which>下下|下|上|这|這|本)?\s*[个個]?{_WEEK}(?P<weekday>[一二三四五六日天1-7])", _weekday),
    (rf"(?P<which>下下|下|上|这|這|本)\s*[个個]?{_WEEK}(?P<end>)", _span),
    (r"(?P<which>下|上|这|這|本)[个個]?(?P<end>月)(?!\s*\d)", _span),
    (r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<nth>\d{1,2})", _iso),
    (
        rf"(?P<year>今年|明年|后年|\d{{4}}年|[零〇一二三四五六七八九]{{4}}年)?(?:的)?(?P<month>{NUMBER})月(?:份)?(?P<nth>{NUMBER})[日号號]?",
        _month_day,
    ),
    (rf"(?:这个月|本月)?(?P<nth>{NUMBER})[号號]", _nth),
    (
        rf"{_FROM}(?P<hour>{NUMBER})(?:{_POINT}{_MINUTE}|)\s*(?:到|至|-|–)\s*(?P<part2>{_PART})?(?P<hour2>{NUMBER}){_POINT}{_MINUTE2}",
        _range,
    ),
    (rf"(?P<part>{_PART})", _part),
    (r"(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?!\d)", _clock),
    (rf"(?P<hour>{NUMBER}){_POINT}{_MINUTE}", _clock),
)
BARE: tuple[tuple[str, Make], ...] = ()
