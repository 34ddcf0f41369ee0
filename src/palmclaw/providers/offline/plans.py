"""Readers of the slots that hold several things at once: events, alarms, timers, contacts."""

import re
from datetime import datetime
from typing import NamedTuple

from palmclaw.providers.offline.moments import duration, is_chinese, moment, split
from palmclaw.providers.offline.plain import EMAIL, ENDS, PHONE, QUOTES, bare, person
from palmclaw.providers.offline.refusals import refused
from palmclaw.providers.offline.values import Card, Countdown, Planned, Ring

_LEADING = re.compile(
    r"^(?:(?:an?|the|my|new|another)\s+)*(?:(?:calendar\s+)?(?:event|entry)\s+)?"
    r"(?:(?:called|named|titled|with\s+(?:the\s+)?(?:name|title)|for|about|that|to|:|ː)\s+)?",
    re.IGNORECASE,
)
_LEADING_ZH = re.compile(r"^(?:要|有|去|一个|个|新的?|的|我|：|，|叫做?|名为|关于|:|ː)+|(?:的)?(?:日程|事件|日历)$")
_ON_CALENDAR = re.compile(
    r"\s*\b(?:to|on|in|into|onto)\s+(?:my|the)\s+(?:calendar|schedule|agenda|diary|planner)\b|(?:加?到|进|在)(?:我的)?"
    r"(?:日历|日程)[里上中]?",
    re.IGNORECASE,
)
_NAMED_ZH = re.compile(
    r"^(?:活动|日程|会议|事件)?，?(?:名称|名字|标题|主题)(?:是|为|叫)?[：:]?|，?时间(?:是|为|在)?[：:]?$"
)
_TRAILING = re.compile(r"[\s,，]+(?:on|at|for|from|called|named|with the title|in|to)$", re.IGNORECASE)
_CONTACT_WORDS = re.compile(
    r"\b(?:as\s+)?an?\s+(?:new\s+)?contact\b|\b(?:with|whose|has|his|her|their|the|is|as|and|number|phone|mobile|cell|email|e-mail|address|called|named|at|under|to|on)\b"
    r"|名字叫|名字是|名叫|叫做|姓名|电话号码|手机号码|手机号|电话|手机|号码|邮箱地址|邮箱|邮件|电子|，|。|,|：|:|ː|的$|是",
    re.IGNORECASE,
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_EVERY_DAY = re.compile(
    r"(?:on\s+)?\b(?:every\s*day|daily|each\s+day|every\s+(?=morning|evening))\b|每天|天天|每日", re.IGNORECASE
)
_WORKDAYS = re.compile(
    r"\b(?:on\s+)?(?:every\s+|each\s+)?(?:weekdays?|work(?:ing)?\s*days?)\b|每个?工作日|工作日|(?:每)?周一到周五",
    re.IGNORECASE,
)
_WEEKENDS = re.compile(r"\b(?:on\s+)?(?:(?:every\s+|each\s+)?weekends|every\s+weekend)\b|每个?周末", re.IGNORECASE)
_EVERY = re.compile(
    r"\b(?:on\s+)?every\s+(mon|tue|wed|thu|fri|sat|sun)[a-z]*|每个?(?:周|星期|礼拜)([一二三四五六日天])", re.IGNORECASE
)
_BEFORE_LABEL = re.compile(
    r"^(?:called|named|labell?ed|for|to|with (?:the )?label|ː|:|叫我?|提醒我?|响|的|[给帮]我)+\s*|(?:的|响|[叫给]我)$",
    re.IGNORECASE,
)
_TIMED_LABEL = re.compile(
    r"(?P<length>.+?)\s+(?:for|called|named|to|labell?ed)\s+(?:the\s+|my\s+)?(?P<label>.+)$", re.IGNORECASE
)


def event(words: str, now: datetime) -> Planned | None:
    """A title, with the moment that stands somewhere in it."""
    title, when = split(words, now)
    title = _title(title)
    return None if not title or refused("event", title) else Planned(title, when)


def event_timed(words: str, now: datetime) -> Planned | None:
    found = event(words, now)
    return found if found and found.moment else None


def cancelled(words: str, now: datetime) -> Planned | None:
    """What is to be taken out of the calendar: it must name a moment, or it could be anything."""
    found = event_timed(words, now)
    if found is None or refused("cancelled", words):
        return None
    return Planned(re.sub(r"\s+(?:event|appointment)$", "", found.title, flags=re.IGNORECASE), found.moment)


def _title(words: str) -> str:
    words = bare(words)
    words = _ON_CALENDAR.sub("", words)
    cut = _LEADING_ZH.sub("", _NAMED_ZH.sub("", words)) if is_chinese(words) else _LEADING.sub("", words, count=1)
    return bare(_TRAILING.sub("", bare(cut)))


class _Days(NamedTuple):
    rest: str
    days: tuple[str, ...]


def _repeated(words: str) -> _Days:
    for pattern, days in ((_EVERY_DAY, _DAYS), (_WORKDAYS, _DAYS[:5]), (_WEEKENDS, _DAYS[5:])):
        if pattern.search(words):
            return _Days(pattern.sub(" ", words), days)
    found = [
        m[1].lower() if m[1] else _DAYS["一二三四五六日".find(m[2].replace("天", "日"))] for m in _EVERY.finditer(words)
    ]
    return _Days(_EVERY.sub(" ", words), tuple(found))


def alarm(words: str, now: datetime) -> Ring | None:
    """A clock time, read as it was said, perhaps with weekdays and a label."""
    rest, days = _repeated(words)
    at = moment(rest, now, literal=True)
    if at is not None:
        return Ring(at, "", days) if at.timed else None
    label, at = split(f"at {rest}" if re.match(r"\s*\d", rest) else rest, now, literal=True)
    label = re.sub(r"\b(?:alarm|for|at|on)$", "", bare(_BEFORE_LABEL.sub("", bare(label))), flags=re.IGNORECASE)
    return Ring(at, bare(label), days) if at is not None and at.timed and not refused("alarm", label) else None


def reminder(words: str, now: datetime) -> Ring | None:
    """What to be reminded of, and when; both must be said."""
    label, at = split(words, now)
    label = re.sub(r"^(?:to|that|about|of|for|ː)\s+|^(?:要|去|记得|提醒我|：)+", "", bare(label), flags=re.IGNORECASE)
    return Ring(at, bare(label)) if at is not None and at.timed and bare(label) else None


def timer(words: str, now: datetime) -> Countdown | None:
    words = re.sub(r"^(?:for|of|an?)\s+(?=\d)|的$", "", words)
    if (found := duration(words)) is not None:
        return Countdown(found)
    parts = _TIMED_LABEL.match(words)
    if parts and (found := duration(bare(parts["length"]))) is not None:
        return Countdown(found, bare(parts["label"]))
    return None


def contact(words: str, now: datetime) -> Card | None:
    """A name with at least a number or an address."""
    emails = tuple(EMAIL.findall(words))
    rest = EMAIL.sub(" ", words)
    phones = tuple(re.sub(r"[\s()-]", "", p) for p in PHONE.findall(rest))
    name = " ".join(_CONTACT_WORDS.sub(" ", PHONE.sub(" ", rest)).split()).strip(ENDS + QUOTES)
    name = re.sub(r"^.*叫|^(?:我的?|新的?)+(?=..)", "", name) if is_chinese(name) else name
    if not phones and not emails:
        return None
    return Card(name, phones, emails) if not name or person(name, now) else None
