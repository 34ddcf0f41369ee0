"""Dates and times as people say them, in English and Chinese, resolved against the device's clock and zone.

Pure. Weeks start on Monday; "next Wednesday" and "下周三" are in the next week, "on Friday" and "周五" are the first
one from today on. An hour without morning or evening is read the way people mean it (see `reading.resolved`).
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache

from palmclaw.providers.offline import chinese, english
from palmclaw.providers.offline.reading import NOTHING, Moment, Reading, merged, resolved

_CJK = re.compile(r"[\u3400-\u9fff]")
_FILLERS = re.compile(
    r"(?:\s|,|，|、|\.|。|\b(?:on|at|by|for|the|and|from|of|in|around|about)\b|的|在|于|是|吧|呢|啊|起)+"
)


def is_chinese(text: str) -> bool:
    return _CJK.search(text) is not None


def moment(text: str, now: datetime, *, literal: bool = False) -> Moment | None:
    """The moment that the whole text names, or None."""
    reading, spans = _scanned(text, now, english.BARE)
    if _FILLERS.sub("", _outside(text, spans, " ")):
        return None
    return resolved(reading, now, literal=literal)


def split(text: str, now: datetime, *, literal: bool = False) -> tuple[str, Moment | None]:
    """What is left of the text when the words for its moment are taken out, and the moment."""
    reading, spans = _scanned(text, now, ())
    found = resolved(reading, now, literal=literal)
    if found is None:
        return text.strip(), None
    rest = _outside(text, spans, " ").strip()
    return re.sub(r"\s{2,}", " ", rest), found


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
