"""Dates and times as people say them, in English and Chinese, resolved against the device's clock and zone.

Pure. Weeks start on Monday; "next Wednesday" and "下周三" are in the next week, "on Friday" and "周五" are the first
one from today on. An hour without morning or evening is read the way people mean it (see `reading.resolved`).
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from palmclaw.providers.offline import chinese, english
from palmclaw.providers.offline.numerals import number, with_ordinals
from palmclaw.providers.offline.reading import NOTHING, Moment, Reading, merged, resolved

_CJK = re.compile(r"[\u3400-\u9fff]")
_FILLERS = re.compile(
    r"(?:\s|,|，|、|\.|。|\b(?:on|at|by|for|the|and|from|of|in|around|about)\b|的|在|于|是|吧|呢|啊|起)+"
)

_DATED = re.compile(
    rf"\b(?:the\s+)?(?P<nth>{english.ORDINAL}|\d{{1,2}})\s+(?:of\s+)?(?P<month>{english.MONTH})\b(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|\b(?P<month2>{english.MONTH})\s+(?:the\s+)?(?P<nth2>{english.ORDINAL}|\d{{1,2}})(?!\d|[:.]\d|\s*[ap]\.?m)(?:,?\s+(?P<year2>\d{{4}}))?"
    r"|(?P<year3>\d{4})-(?P<month3>\d{1,2})-(?P<nth3>\d{1,2})(?!\d)"
    rf"|(?P<month4>{chinese.NUMBER})月(?:份)?(?P<nth4>{chinese.NUMBER})(?=[日号號\s]|[上下中早晚]|$)",
    re.IGNORECASE,
)
_PLACES = (("month", "nth"), ("month2", "nth2"), ("month3", "nth3"), ("month4", "nth4"))
_NO_TIME = re.compile(
    r"(?:\b(?:at|from|by|until|till)\s+|@\s?|^)(?:(?:2[5-9]|[3-9]\d):\d\d|\d{1,2}:[6-9]\d)\b"
    r"|(?:2[5-9]|[3-9]\d)[点點](?![\d五])|\d{1,2}[点點][6-9]\d分?",
    re.IGNORECASE,
)


def is_chinese(text: str) -> bool:
    return _CJK.search(text) is not None


def moment(text: str, now: datetime, *, literal: bool = False, day: date | None = None) -> Moment | None:
    """The moment that the whole text names, or None; on `day` when it names none itself."""
    reading, spans = _scanned(text, now, english.BARE)
    if _FILLERS.sub("", _outside(text, spans, " ")):
        return None
    return resolved(_on(reading, day), now, literal=literal)


def split(text: str, now: datetime, *, literal: bool = False, day: date | None = None) -> tuple[str, Moment | None]:
    """What is left of the text when the words for its moment are taken out, and the moment; on `day` as above."""
    reading, spans = _scanned(text, now, ())
    found = resolved(_on(reading, day), now, literal=literal)
    if found is None:
        return text.strip(), None
    rest = _outside(text, spans, " ").strip()
    return re.sub(r"\s{2,}", " ", rest), found


def _on(reading: Reading, day: date | None) -> Reading:
    unsaid = day is not None and reading != NOTHING and reading.day is None and reading.shift is None
    return replace(reading, day=day) if unsaid else reading


def impossible(text: str, now: datetime) -> bool:
    """Whether the text names a date or a clock time that does not exist: "30 February", "at 25:00"."""
    return any(_nowhere(found) for found in _DATED.finditer(text)) or _NO_TIME.search(text) is not None


def _nowhere(found: "re.Match[str]") -> bool:
    month, day = next(((found[m], found[d]) for m, d in _PLACES if found[m]), ("", ""))
    number_of = english.month(month) if month.isalpha() and month.isascii() else number(month)
    nth = number(re.sub(r"(?:st|nd|rd|th)$", "", with_ordinals(day.lower())))
    year = number(found["year"] or found["year2"] or found["year3"] or "")
    if number_of is None or nth is None:
        return False
    return not 1 <= number_of <= 12 or (29 <= nth <= 39 and nth > monthrange(year or 2024, number_of)[1])


def duration(text: str) -> timedelta | None:
    """A length of time such as "an hour and a half" or "二十分钟", or None."""
    return chinese.length(text) if is_chinese(text) else english.length(text)


def _outside(text: str, spans: list[tuple[int, int]], mark: str) -> str:
    kept, at = [], 0
    for start, end in spans:
        kept.append(text[at:start])
        at = end
    return mark.join(k.strip() for k in (*kept, text[at:]))


def _scanned(
    text: str, now: datetime, more: tuple[tuple[str, english.Make], ...]
) -> tuple[Reading, list[tuple[int, int]]]:
    """Read the pieces from left to right; a piece that contradicts an earlier one is left as it is."""
    reading, spans, at = NOTHING, [], 0
    while at < len(text):
        step = 1
        for end, piece in _pieces_at(text, at, now, more):
            together = merged(reading, piece)
            if together is not None:
                reading, step = together, end - at
                spans.append((at, end))
                break
        at += step
    return reading, spans


def _pieces_at(
    text: str, at: int, now: datetime, more: tuple[tuple[str, english.Make], ...]
) -> Iterator[tuple[int, Reading]]:
    if text[at].isspace():
        return
    inside = at > 0 and text[at - 1].isalnum() and text[at - 1].isascii()
    language = () if inside else (*english.PIECES, *more)
    for pattern, make in chinese.PIECES if is_chinese(text) else ():
        found = _compiled(pattern, "").match(text, at)
        if found and (piece := make(found, now)) is not None:
            yield found.end(), piece
    for pattern, make in language:
        found = _compiled(pattern, "(?![A-Za-z0-9])").match(text, at)
        if found and (piece := make(found, now)) is not None:
            yield found.end(), piece


@lru_cache(maxsize=128)
def _compiled(pattern: str, end: str) -> "re.Pattern[str]":
    return re.compile(f"(?:{pattern}){end}", re.IGNORECASE)
