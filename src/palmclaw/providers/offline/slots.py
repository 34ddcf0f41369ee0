"""Which reader reads which slot: it gives the value, or None when the words cannot be that."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from palmclaw.providers.offline import plain, plans
from palmclaw.providers.offline.moments import is_chinese, split

Reader = Callable[[str, datetime], Any]
_COURTESY = re.compile(
    r"\s*[,，]\s*(?:please|thanks|thank you|ok(?:ay)?|will you|would you|谢谢你?|好吗|麻烦你?了?)[\s.。!！?？]*$",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[\s,，]*(?:(?<=\W)(?:please|thanks|thank you|right now|now|for me|ok(?:ay)?|again|will you|would you|can you)"
    r"|好吗|好不好|行吗|可以吗|谢谢你?|吧|呢|啊|呀|嘛|哦|啦|了吧|吗|来着)[\s.。!！]*$",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"['’]s\s+(?=(?:new\s+|phone\s+|mobile\s+|cell\s+)*(?:number|phone|mobile|cell|e-?mail)\b)|\b(?:it|that)['’]s\b",
    re.IGNORECASE,
)


def _contact(words: str, now: datetime) -> Any:
    """ "Mike's number, it's …" is Mike."""
    return plans.contact(_OWNED.sub(" ", words), now)


def _title(words: str, now: datetime) -> str | None:
    """A name without a moment; in Chinese it may stand before the name without a space."""
    return None if is_chinese(words) and split(words, now)[1] is not None else plain.title(words, now)


READERS: Mapping[str, Reader] = {
    "level": plain.level,
    "step": plain.level,
    "text": plain.text,
    "short": plain.short,
    "fact": plain.fact,
    "gone": plain.gone,
    "person": plain.person,
    "reader": plain.reader,
    "latin": plain.latin,
    "contact": _contact,
    "event": plans.event,
    "event_timed": plans.event_timed,
    "event2": plans.event_timed,
    "cancelled": plans.cancelled,
    "series": plans.series,
    "day": plain.day,
    "when": plain.day,
    "alarm": plans.alarm,
    "reminder": plans.reminder,
    "timer": plans.timer,
    "app": plain.app,
    "song": plain.song,
    "file": plain.file,
    "filename": plain.filename,
    "folder": plain.folder,
    "pattern": plain.pattern,
    "query": plain.pattern,
    "place": plain.place,
    "url": plain.url,
    "title": _title,
    "gadget": plain.gadget,
}
_LEADING = re.compile(r"^(?:一下|下子)\s*")
_UNQUOTED = frozenset({"short", "person", "file", "title"})  # half a quotation is none of these
_VERBATIM = frozenset({"text", "short", "reader", "fact", "latin"})


def read(slot: str, text: str, now: datetime) -> Any:
    """The value of the slot, or None when these words cannot be meant."""
    if slot in _UNQUOTED and text.count('"') % 2:
        return None
    words = _COURTESY.sub("", text.strip())
    if slot not in _VERBATIM:
        words = plain.bare(_CLOSING.sub("", plain.bare(_LEADING.sub("", words.rstrip("?？!！… ")))))
    return READERS[slot](words, now) if words else None
