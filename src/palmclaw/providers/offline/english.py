"""The English words for dates, clock times and lengths of time, as patterns that each give a piece of a Reading."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from palmclaw.providers.offline.days import by_date, month_after, monthday, span_from, weekday_from, yearday
from palmclaw.providers.offline.numerals import number, with_ordinals
from palmclaw.providers.offline.reading import Reading

Make = Callable[["re.Match[str]", datetime], Reading | None]

_SMALL = "one|two|three|four|five|six|seven|eight|nine"
_NUMBER = (
    rf"(?:\d{{1,3}}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[\s-](?:{_SMALL}))?|ten|eleven|twelve"
    rf"|(?:thir|four|fif|six|seven|eigh|nine)teen|{_SMALL})"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAY = r"(?:mon|tues?|wednes|wed|thurs?|fri|satur|sat|sun)(?:day)?"
_FULL_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|tues?|wed|thurs?|fri"
MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)(?:uary|ruary|ch|il|ust|tember|ember|ober)?"
ORDINAL = (
    r"(?:\d{1,2}(?:st|nd|rd|th)|(?:(?:twenty|thirty)[\s-])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    r"|tenth|eleventh|twelfth|(?:thir|four|fif|six|seven|eigh|nine)teenth|twentieth|thirtieth)"
)
_UNIT = r"(?:hours?|hrs?|minutes?|mins?|seconds?|secs?)"
_LONG_UNIT = r"(?:days?|weeks?|fortnights?|months?)"
_COUNT = rf"(?:{_NUMBER}(?:\.\d)?|an?|a\s+couple\s+of|a\s+few)"
_LENGTH = (
    rf"(?:half\s+an?|a\s+half|(?:three\s+)?(?:a\s+)?quarters?\s+of\s+an|{_COUNT}(?:\s+and\s+a\s+half)?)"
    rf"[\s-]*{_UNIT}(?:\s+and\s+a\s+half)?"
)
LENGTHS = rf"{_LENGTH}(?:(?:\s+and|,)?\s+{_LENGTH})*"
_PART_OF_LENGTH = re.compile(
    rf"(?P<count>half\s+an?|a\s+half|three\s+quarters\s+of\s+an|(?:a\s+)?quarter\s+of\s+an|{_COUNT})"
    rf"(?P<plus>\s+and\s+a\s+half)?[\s-]*(?P<unit>{_UNIT})(?P<more>\s+and\s+a\s+half)?",
    re.IGNORECASE,
)
_MERIDIEM = r"(?:a\.?m\b\.?|p\.?m\b\.?)"


def length(text: str) -> timedelta | None:
    """ "an hour and a half", "90 minutes", "1 hour 20 minutes"."""
    if not re.fullmatch(LENGTHS, text.strip(), re.IGNORECASE):
        return None
    return sum((_one_length(m) for m in _PART_OF_LENGTH.finditer(text)), timedelta())


def _one_length(found: "re.Match[str]") -> timedelta:
    count = _counted(found["count"]) + (0.5 if found["plus"] or found["more"] else 0)
    unit = found["unit"].lower()
    return timedelta(seconds=round(count * {"h": 3600, "m": 60, "s": 1}[unit[0]]))


def _counted(words: str) -> float:
    words = " ".join(words.lower().split())
    fixed = {"a": 1, "an": 1, "a couple of": 2, "a few": 3, "half a": 0.5, "half an": 0.5, "a half": 0.5}
    if words in fixed:
        return fixed[words]
    if "quarter" in words:
        return 0.75 if words.startswith("three") else 0.25
    return float(words) if "." in words else float(number(words) or 0)


def _in_length(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(shift=length(found["length"]))


def _for_length(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(length=length(found["length"]))


def _in_days(found: "re.Match[str]", now: datetime) -> Reading | None:
    count, unit = int(_counted(found["count"])), found["unit"].lower()
    if unit.startswith("month"):
        return by_date(month_after(now.date(), count))
    return by_date(now.date() + timedelta(count * {"d": 1, "w": 7, "f": 14}[unit[0]]))


def _named_day(found: "re.Match[str]", now: datetime) -> Reading | None:
    word = " ".join(found["day"].lower().split())
    offsets = {"today": 0, "yesterday": -1, "day after tomorrow": 2, "day before yesterday": -2}
    return by_date(now.date() + timedelta(offsets.get(word, 1)))


def _tonight(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(day=now.date(), part="night")


def _weekday(found: "re.Match[str]", now: datetime) -> Reading | None:
    which, word = (found["which"] or "").lower(), found["weekday"].lower()
    index = next(i for i, name in enumerate(_WEEKDAYS) if name.startswith(word[:3]))
    week = 1 if which == "next" or found["week"] else -1 if which == "last" else None
    return weekday_from(now.date(), index, week)


def _span(found: "re.Match[str]", now: datetime) -> Reading | None:
    which = {"next": 1, "last": -1}.get((found["which"] or "").lower(), 0)
    return span_from(now.date(), found["unit"].lower(), which)


def month(word: str) -> int | None:
    """The number of the month that the word or its short form names."""
    return next((i for i, name in enumerate(_MONTHS, 1) if name.startswith(word.lower()[:3])), None)


def _month_day(found: "re.Match[str]", now: datetime) -> Reading | None:
    day = int(re.sub(r"\D", "", with_ordinals(found["nth"])))
    return by_date(yearday(now.date(), month(found["month"]) or 0, day, int(found["year"]) if found["year"] else None))


def _nth(found: "re.Match[str]", now: datetime) -> Reading | None:
    words = found["nth"] or found["nth2"]
    return by_date(monthday(now.date(), int(re.sub(r"\D", "", with_ordinals(words)))))


def _iso(found: "re.Match[str]", now: datetime) -> Reading | None:
    return by_date(yearday(now.date(), int(found["month"]), int(found["nth"]), int(found["year"])))


def _part(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(day=now.date() if found["this"] else None, part=found["part"].lower())


def _noon(found: "re.Match[str]", now: datetime) -> Reading | None:
    return Reading(hour=0, part="") if found["word"].lower() == "midnight" else Reading(hour=12)


def _clock(found: "re.Match[str]", now: datetime) -> Reading | None:
    hour, minute = number(found["hour"]), number(found["minute"] or "0")
    return _with_meridiem(hour, minute, found["meridiem"] or "", padded=found["hour"].startswith("0"))


def _spoken_clock(found: "re.Match[str]", now: datetime) -> Reading | None:
    hour, before = number(found["hour"]), found["side"].lower() in ("to", "before", "til", "till")
    words = found["minutes"].lower()
    minutes = {"half": 30, "quarter": 15, "a quarter": 15}.get(words, number(words) or 0)
    if hour is None or not 1 <= hour <= 23 or minutes > 59:
        return None
    hour, minutes = ((hour - 1) or 12, 60 - minutes) if before else (hour, minutes)
    return _with_meridiem(hour, minutes, found["meridiem"] or "")


def _range(found: "re.Match[str]", now: datetime) -> Reading | None:
    last = found["meridiem2"] or ""
    end = _with_meridiem(number(found["hour2"]), number(found["minute2"] or "0"), last)
    first = found["meridiem"] or (last if _same_half(found["hour"], found["hour2"]) else "")
    start = _with_meridiem(number(found["hour"]), number(found["minute"] or "0"), first)
    if start is None or end is None or end.hour is None:
        return None
    return Reading(hour=start.hour, minute=start.minute, bare=start.bare, until=(end.hour, end.minute))


def _same_half(first: str, second: str) -> bool:
    return (number(first) or 0) % 12 < (number(second) or 0) % 12


def _with_meridiem(hour: int | None, minute: int | None, meridiem: str, padded: bool = False) -> Reading | None:
    if hour is None or minute is None or hour > 23 or minute > 59 or (meridiem and not 1 <= hour <= 12):
        return None
    if meridiem:
        return Reading(hour=hour % 12 + (12 if meridiem.lower().startswith("p") else 0), minute=minute)
    return Reading(hour=hour, minute=minute, bare=1 <= hour <= 12 and not padded)


_AT = r"(?:at\s+|by\s+|from\s+|around\s+|about\s+|before\s+|@\s?)?"
_HHMM = rf"(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:\s*(?P<meridiem>{_MERIDIEM}))?"
_START = rf"(?P<hour>\d{{1,2}})(?:[:.](?P<minute>\d\d))?(?:\s*(?P<meridiem>{_MERIDIEM}))?"
_END = r"(?P<hour2>\d{1,2})(?:[:.](?P<minute2>\d\d))?"
PIECES: tuple[tuple[str, Make], ...] = (
    (rf"(?:in\s+)?(?P<length>{LENGTHS})\s+(?:from\s+now|later)", _in_length),
    (rf"(?:in|after)\s+(?P<length>{LENGTHS})(?:['’]?\s+time)?", _in_length),
    (rf"for\s+(?P<length>{LENGTHS})", _for_length),
    (rf"(?:in\s+)?(?P<count>{_COUNT})\s+(?P<unit>{_LONG_UNIT})\s+(?:from\s+(?:now|today)|later)", _in_days),
    (rf"in\s+(?P<count>{_COUNT})\s+(?P<unit>{_LONG_UNIT})(?:['’]?\s+time)?", _in_days),
    (r"(?:the\s+)?(?P<day>day\s+after\s+tomorrow|day\s+before\s+yesterday)", _named_day),
    (r"(?P<day>today|tomorrow|tmrw?|yesterday)(?:['’]s)?", _named_day),
    (r"(?:tonight|this\s+evening)(?:['’]s)?", _tonight),
    (rf"(?P<which>)(?P<weekday>{_FULL_WEEKDAY})(?P<week>\s+next\s+week)", _weekday),
    (rf"(?P<which>next)\s+week(?P<week>)(?:\s+on|,)?\s+(?P<weekday>{_WEEKDAY})", _weekday),
    (rf"(?:on\s+)?(?P<which>next|last)\s+(?P<weekday>{_WEEKDAY})(?P<week>)", _weekday),
    (rf"(?:on|this(?:\s+coming)?|coming)\s+(?P<which>)(?P<weekday>{_WEEKDAY})(?P<week>)", _weekday),
    (rf"(?:on\s+)?(?P<which>)(?P<weekday>{_FULL_WEEKDAY})(?P<week>\s+of\s+next\s+week)", _weekday),
    (rf"(?:on\s+)?(?P<which>)(?P<weekday>{_FULL_WEEKDAY})(?P<week>)(?:\s+of\s+this\s+week)?", _weekday),
    (r"(?:on\s+|at\s+)?(?:the\s+)?(?P<which>this|next|last)\s+(?P<unit>weekend|week|month)", _span),
    (r"(?:on\s+|at\s+)?the\s+(?P<which>)(?P<unit>weekend)", _span),
    (r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<nth>\d{1,2})", _iso),
    (
        rf"(?:the\s+)?(?P<nth>{ORDINAL}|\d{{1,2}})\s+(?:of\s+)?(?P<month>{MONTH})(?:,?\s+(?P<year>\d{{4}}))?",
        _month_day,
    ),
    (
        rf"(?P<month>{MONTH})\s+(?:the\s+)?(?P<nth>{ORDINAL}|\d{{1,2}}(?!\d|[:.]\d|\s*[ap]\.?m))"
        r"(?:,?\s+(?P<year>\d{4}))?",
        _month_day,
    ),
    (rf"(?:on\s+the\s+(?P<nth>{ORDINAL})|the\s+(?P<nth2>\d{{1,2}}(?:st|nd|rd|th)))", _nth),
    (r"(?:in\s+the\s+|at\s+)?(?P<this>this\s+)?(?P<part>morning|afternoon|evening|night)", _part),
    (r"(?:at\s+)?(?P<word>noon|midday|midnight)", _noon),
    (
        rf"(?:from|between)\s+{_START}\s*(?:to|until|till|-|–|and)\s*{_END}(?:\s*(?P<meridiem2>{_MERIDIEM}))?",
        _range,
    ),
    (rf"(?:at\s+)?{_START}\s*(?:to|until|till|-|–)\s*{_END}\s*(?P<meridiem2>{_MERIDIEM})", _range),
    (
        rf"{_AT}(?P<minutes>half|a\s+quarter|quarter|{_NUMBER})(?:\s+minutes?)?\s+(?P<side>past|to|after|before|till?)\s+"
        rf"(?P<hour>{_NUMBER})(?:\s*(?P<meridiem>{_MERIDIEM}))?",
        _spoken_clock,
    ),
    (rf"{_AT}{_HHMM}", _clock),
    (rf"{_AT}(?P<hour>{_NUMBER})(?P<minute>)\s*(?P<meridiem>{_MERIDIEM})", _clock),
    (rf"{_AT}(?P<hour>{_NUMBER})\s+(?P<minute>{_NUMBER})\s*(?P<meridiem>{_MERIDIEM})", _clock),
    (rf"{_AT}(?P<hour>{_NUMBER})(?P<minute>)(?P<meridiem>)\s*o['’]?\s?clock", _clock),
    (
        rf"(?:at|by)\s+(?P<hour>{_NUMBER})\s+(?P<minute>\d\d|(?:[tf]|twenty|thirty|forty|fifty)\w+)(?P<meridiem>)",
        _clock,
    ),
    (rf"(?:at|by|@)\s*(?P<hour>{_NUMBER})(?P<minute>)(?P<meridiem>)(?!\s*(?:%|percent|people))", _clock),
)
BARE: tuple[tuple[str, Make], ...] = (
    (rf"the\s+(?P<nth>{ORDINAL})(?P<nth2>)", _nth),
    (rf"{_AT}(?P<hour>{_NUMBER})(?:\s+(?P<minute>{_NUMBER}))?(?P<meridiem>)", _clock),
)
