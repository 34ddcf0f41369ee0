"""What repeats: the words for it in both languages, as event_add and alarm_set write it."""

import re

from palmclaw.core.values import dataclass

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_DAY_EN = r"(?:mon|tue|wed|thu|fri|sat|sun|tues|thurs?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
_DAY_ZH = r"[一二三四五六日天]"
_WEEK_ZH = r"(?:周|星期|礼拜)"
_EVERY_DAY = re.compile(
    r"(?:on\s+)?\b(?:every\s*(?:single\s+)?day|daily|each\s+day|(?:every|each)\s+(?=morning|afternoon|evening|night))\b"
    r"|每天|天天|每日|每(?=[早晚中上下])",
    re.IGNORECASE,
)
_WORKDAYS = re.compile(
    r"\b(?:on\s+)?(?:every\s+|each\s+)?(?:weekdays?|work(?:ing)?\s*days?)\b|每个?工作日|工作日|(?:每个?)?周一[到至]周?五",
    re.IGNORECASE,
)
_WEEKENDS = re.compile(r"\b(?:on\s+)?(?:(?:every\s+|each\s+)?weekends|every\s+weekend)\b|每个?周末", re.IGNORECASE)
_EVERY = re.compile(
    rf"\b(?:on\s+)?(?:every|each)\s+(?P<en>{_DAY_EN}(?:(?:\s*,\s*|\s+)(?:(?:and|&)\s+)?(?:every\s+|each\s+)?{_DAY_EN})*)\b"
    r"|\b(?:on\s+)?(?P<plural>(?:mon|tues|wednes|thurs|fri|satur|sun)days(?:(?:\s*,\s*|\s+)(?:(?:and|&)\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)days)*)\b"
    rf"|每个?{_WEEK_ZH}(?P<zh>{_DAY_ZH}(?:[、，和及]?(?:每个?)?{_WEEK_ZH}?{_DAY_ZH}(?![点點十]))*)",
    re.IGNORECASE,
)
_LONGER = (
    (r"\b(?:every\s+week|each\s+week|weekly)\b|每个?(?:周|星期|礼拜)(?![一二三四五六日天末])", "weekly"),
    (r"\b(?:every\s+month|each\s+month|monthly)\b|每个?月", "monthly"),
    (r"\b(?:every\s+year|each\s+year|yearly|annually)\b|每年", "yearly"),
)
_ODD = re.compile(
    r"\b(?:every|each)\s+(?:other|second|third|\d+(?:st|nd|rd|th)?|two|three|four|five|six|few|couple|hour|minute|half|quarter|fortnight|first|last)\b"
    r"|\b(?:bi-?weekly|fortnightly|hourly|quarterly|bi-?monthly|twice\s+a\s+(?:day|week|month|year)|once\s+every)\b"
    r"|每隔|隔[一两二三]?[天日周]|每(?:两|二|三|四|五|六|\d+)个?(?:天|日|周|星期|礼拜|月|年|小时|分钟)|每个?小时|每个?季度|每半",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Repeated:
    """What is left of the words, the weekdays named, and the recurrence; `odd`: one that no tool here can keep."""

    rest: str
    days: tuple[str, ...] = ()
    recurrence: str = ""
    odd: bool = False


def repeated(words: str) -> Repeated:
    """Take out of the words how often the thing is to repeat."""
    if _ODD.search(words):
        return Repeated(words, odd=True)
    named: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]
    named = ((_EVERY_DAY, DAYS), (_WORKDAYS, DAYS[:5]), (_WEEKENDS, DAYS[5:]))
    for pattern, days in named:
        if pattern.search(words):
            return Repeated(pattern.sub(" ", words), days, _weekly(days))
    found = _EVERY.search(words)
    if found:
        return Repeated(_EVERY.sub(" ", words), _named(found), _weekly(_named(found)))
    for longer, recurrence in _LONGER:
        rest, count = re.subn(longer, " ", words, flags=re.IGNORECASE)
        if count:
            return Repeated(rest, (), recurrence)
    return Repeated(words)


def _weekly(days: tuple[str, ...]) -> str:
    return "daily" if days == DAYS else "weekly:" + ",".join(d[:2].upper() for d in days)


def _named(found: "re.Match[str]") -> tuple[str, ...]:
    english = (found["en"] or found["plural"] or "").lower()
    named = {d[:3] for d in re.findall(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*", english)}
    named |= {DAYS["一二三四五六日".find(d)] for d in re.findall(_DAY_ZH, (found["zh"] or "").replace("天", "日"))}
    return tuple(d for d in DAYS if d in named)


def series_day(code: str) -> int:
    """The weekday (Monday is 0) of "MO"."""
    return next((n for n, d in enumerate(DAYS) if d[:2].upper() == code.strip().upper()), 0)
