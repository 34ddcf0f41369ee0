"""Readers of the slots that hold several things at once: events, alarms, timers, contacts."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from palmclaw.providers.offline import chinese, english
from palmclaw.providers.offline.days import first_of
from palmclaw.providers.offline.moments import duration, impossible, is_chinese, moment, split
from palmclaw.providers.offline.plain import EMAIL, ENDS, PHONE, QUOTES, bare, person
from palmclaw.providers.offline.reading import Moment, local
from palmclaw.providers.offline.refusals import refused
from palmclaw.providers.offline.series import Repeated, repeated
from palmclaw.providers.offline.values import Card, Countdown, Flaw, Planned, Ring

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
_WHOLE_SERIES = re.compile(
    r"\s*\b(?:the\s+)?(?:whole|entire|complete|full)\s+series(?:\s+of)?\b\s*|\s*(?:整个|全部|所有)的?系列的?\s*",
    re.IGNORECASE,
)
_AND_AGAIN = re.compile(
    r"^(?:and|or|then|also|plus|&|和|还有|以及|跟|、)+\s*(?:also\s+)?(?:(?:another|one)\s+)?(?:for\s+)?", re.IGNORECASE
)
_BEFORE_LABEL = re.compile(
    r"^(?:called|named|labell?ed|for|to|with (?:the )?label|ː|:|叫我?|提醒我?|响|的|[给帮]我)+\s*|(?:的|响|[叫给]我)$",
    re.IGNORECASE,
)
_ASKING = re.compile(r"[?？吗]|什么|怎么|为什么|谁|哪|^(?:why|how|who|what|when|where|which|if|of)\b", re.IGNORECASE)
_TIMED_LABEL = re.compile(
    r"(?P<length>.+?)\s+(?:for|called|named|to|labell?ed)\s+(?:the\s+|my\s+)?(?P<label>.+)$", re.IGNORECASE
)


def event(words: str, now: datetime) -> Planned | Flaw | None:
    """A title, with the moment that stands somewhere in it and how often it repeats."""
    again = repeated(words)
    title, when = split(again.rest, now)
    title = _title(title)
    if not title or refused("event", title):
        return None
    flaw = _flaw(words, now, when) or (Flaw("series_odd") if again.odd else None)
    if flaw or not again.recurrence:
        return flaw or Planned(title, when)
    return Planned(title, _first(again, now), again.recurrence)


def _flaw(words: str, now: datetime, when: Moment | None) -> Flaw | None:
    if impossible(words, now):
        return Flaw("no_such_moment")
    return Flaw("end_first") if when and when.end and when.end <= when.at else None


def _first(again: Repeated, now: datetime) -> Moment | None:
    """When the series begins: on the first of its days from the named one or today on, and not in the past."""
    _, named = split(again.rest, now, day=now.date())
    if named is None:
        only = first_of(again.days, now.date()) if 0 < len(again.days) < 7 else None
        return Moment(local(only, 0, 0, now.tzinfo), timed=False) if only else None
    first = first_of(again.days, named.at.date())
    _, found = split(again.rest, now, day=first)
    if found and found.timed and found.at <= now:
        _, found = split(again.rest, now, day=first_of(again.days, first + timedelta(1)))
    elif found and found.at.date() != first:
        found = replace(found, at=local(first, found.at.hour, found.at.minute, now.tzinfo), end=None)
    return found


def event_timed(words: str, now: datetime) -> Planned | Flaw | None:
    found = event(words, now)
    return found if isinstance(found, Flaw) or (found and (found.moment or found.recurrence)) else None


def cancelled(words: str, now: datetime) -> Planned | None:
    """What is to be taken out of the calendar: it must name a moment, or it could be anything."""
    found = event_timed(words, now)
    if not isinstance(found, Planned) or refused("cancelled", words):
        return None
    title = re.sub(r"\s+(?:event|appointment)$", "", found.title, flags=re.IGNORECASE)
    return Planned(title, found.moment, found.recurrence)


def series(words: str, now: datetime) -> str | None:
    """The title of a series that is to go as a whole; the words for "whole series" must stand in it."""
    title = bare(_WHOLE_SERIES.sub(" ", words))
    return None if title == bare(words) or len(title) > 80 else title


def _title(words: str) -> str:
    words = bare(words)
    words = _ON_CALENDAR.sub("", words)
    cut = _LEADING_ZH.sub("", _NAMED_ZH.sub("", words)) if is_chinese(words) else _LEADING.sub("", words, count=1)
    return bare(_TRAILING.sub("", bare(cut)))


def alarm(words: str, now: datetime) -> Ring | Flaw | None:
    """A clock time, read as it was said, or a length of time from now; perhaps with weekdays and a label."""
    again = repeated(words)
    if again.odd or again.recurrence in ("monthly", "yearly", "weekly"):
        return Flaw("alarm_odd")
    rest = _from_now(again.rest)
    if re.match(r"in\s+\d+$", rest, re.IGNORECASE):
        return None  # minutes or an hour of the day?
    at = moment(rest, now, literal=True)
    if at is not None:
        return Flaw("no_such_moment") if impossible(rest, now) else Ring(at, "", again.days)
    label, at = split(f"at {rest}" if re.match(r"\s*\d", rest) else rest, now, literal=True)
    label = re.sub(r"\b(?:alarm|for|at|on)$", "", bare(_BEFORE_LABEL.sub("", bare(label))), flags=re.IGNORECASE)
    if at is None or not at.timed or refused("alarm", label):
        return None
    if impossible(rest, now):
        return Flaw("no_such_moment")
    return Flaw("crowded") if _one_more(label, now) else Ring(at, bare(label), again.days)


def _from_now(words: str) -> str:
    """ "20 minutes" as "in 20 minutes": for an alarm a length of time counts from now."""
    words = words.strip()
    lengths = chinese.LENGTHS if is_chinese(words) else english.LENGTHS
    found = re.match(lengths, words, re.IGNORECASE)
    if found is None or re.match(r"[\w之以]*[后後]", words[found.end() :]):
        return words
    return f"{found[0]}后{words[found.end() :]}" if is_chinese(words) else f"in {words}"


def _one_more(label: str, now: datetime) -> bool:
    """Whether what is left is a second time ("and for 8")."""
    rest = _AND_AGAIN.sub("", label)
    return rest != label and moment(re.sub(r"^(?:at|for)\s+", "", rest, flags=re.IGNORECASE), now) is not None


def reminder(words: str, now: datetime) -> Ring | Flaw | None:
    """What to be reminded of, and when; without a time of day the script asks for it."""
    again = repeated(words)
    label, at = split(again.rest, now, literal=bool(again.days))
    label = bare(label)
    cut = bare(re.sub(r"^(?:to|that|about|of|for|ː)\s+|^(?:要|去|记得|提醒我|：)+", "", label, flags=re.IGNORECASE))
    if not cut:
        return None
    if again.odd or again.recurrence in ("monthly", "yearly", "weekly"):
        return Flaw("alarm_odd")
    if impossible(words, now):
        return Flaw("no_such_moment")
    said = at is not None or re.match(r"(?:to|about)\s+\w+\s+\w|[^a-z]", label, re.IGNORECASE)
    return Ring(at, cut, again.days) if said and not _ASKING.search(cut) else None


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
