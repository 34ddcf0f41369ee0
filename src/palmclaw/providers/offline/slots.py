"""What a slot of a template may hold: each reader gives the value, or None when the words cannot be that."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from palmclaw.providers.offline.moments import duration, is_chinese, moment, split
from palmclaw.providers.offline.numerals import number
from palmclaw.providers.offline.reading import Moment

_QUOTES = "\"'“”‘’「」『』《》`"
_ENDS = " \t\n,，.。、;；:："
_NOBODY = frozenset(
    "me you him her them us it myself yourself everyone everybody someone somebody anyone anybody nobody this that these "
    "those what who which how why when where one a an of in the my 我 你 他 她 它 我们 你们 他们 她们 自己 大家 谁 别人 有人 "
    "人 咱们 您 哪个 什么 这个 那个".split()
)
_CLOSING = re.compile(
    r"[\s,，]*(?:(?<=\W)(?:please|thanks|thank you|right now|now|for me|ok(?:ay)?|again|will you|would you|can you)|好吗|好不好|行吗|可以吗|谢谢你?|吧|呢|啊|呀|嘛|哦|啦|了吧)[\s.。!！]*$",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\s*[,，]\s*(?:please|thanks|thank you|ok(?:ay)?|will you|would you|谢谢你?|好吗|麻烦你?了?)[\s.。!！?？]*$",
    re.IGNORECASE,
)
_ODD_NAMES = re.compile(
    r"^(?:别|不|先|没|已|我|你|他|她|它|谁|每|该|去|想|再|要)|给|已经|打|把|让|过$|吧$|发|说|一下|怎么|什么|为什么|可以|应该|到底"
)
_VERBS = re.compile(
    r"^(?:back|off|out|up|down|for|to|about|if|when|as|an?|of|and|or|is|it|in|on)\b|\b(?:is|are|was|were|about)\b", re.I
)
_PHONE = re.compile(r"\+?\d[\d\s()-]{1,18}\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?)", re.IGNORECASE)
_FILE = re.compile(
    r"(?:(?:shared|session)://)?[\w./\-\u3400-\u9fff ]*\.[A-Za-z0-9]{1,5}|[\w.\-\u3400-\u9fff]+(?:/[\w.\-\u3400-\u9fff]+)+/?"
)
_CONTACT_WORDS = re.compile(
    r"\b(?:with|whose|has|his|her|their|the|is|as|and|number|phone|mobile|cell|email|e-mail|address|called|named|at|under|to|on)\b"
    r"|电话号码|手机号码|手机号|电话|手机|号码|邮箱地址|邮箱|邮件|电子|，|。|,|：|:|⁝|的$|是",
    re.IGNORECASE,
)
_WEEKDAY_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:on\s+)?(?:every\s*day|daily|each\s+day)|每天|天天", ("mon", "tue", "wed", "thu", "fri", "sat", "sun")),
    (
        r"(?:on\s+)?(?:every\s+|each\s+)?(?:weekdays?|work(?:ing)?\s*days?)|每个?工作日|工作日",
        ("mon", "tue", "wed", "thu", "fri"),
    ),
    (r"(?:on\s+)?(?:every\s+|each\s+)?weekends|every\s+weekend|每个?周末", ("sat", "sun")),
)
_EVERY = re.compile(
    r"\b(?:on\s+)?every\s+(mon|tue|wed|thu|fri|sat|sun)[a-z]*|每(?:个)?(?:周|星期|礼拜)([一二三四五六日天])", re.I
)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class Level:
    """A wished level: a share of the whole in percent, or steps of the setting's own scale."""

    value: int
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """Something with a name at a time."""

    title: str
    moment: Moment | None = None


@dataclass(frozen=True, slots=True)
class Ring:
    """An alarm: when, under what label, and on which weekdays it repeats."""

    moment: Moment
    label: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A new contact."""

    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()


def read(slot: str, text: str, now: datetime) -> Any:
    """The value of the slot, or None when these words cannot be meant."""
    reader = _READERS[slot]
    words = _COURTESY.sub("", text.strip())
    if slot not in _VERBATIM:
        words = bare(_CLOSING.sub("", bare(words.rstrip("?？!！… "))))
    return reader(words, now) if words else None


def bare(text: str) -> str:
    """Without what surrounds the words: spaces, stops and quotes."""
    text = text.strip(_ENDS)
    pair = len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES
    return text[1:-1].strip() if pair else text.strip('"“”「」')


def _text(words: str, now: datetime) -> str | None:
    quoted = len(words) > 1 and words[0] in _QUOTES and words[-1] in _QUOTES
    inner = words[1:-1] if quoted else words
    inner = inner.strip(" \t\n,，:：⁝").removesuffix(".").removesuffix("。")
    return inner if inner and inner.lower() not in ("that", "it", "this", "me", "这个", "那个", "它") else None


def _note(words: str, now: datetime) -> str | None:
    return _text(words, now)


def _fact(words: str, now: datetime) -> str | None:
    asks = re.match(
        r"(?:when|how|what|who|where|why|the (?:time|days?|titans|alamo)|me\b|us\b|your\b|you\b|to\b|吗|不)",
        words,
        re.I,
    )
    words = words.rstrip("?？ ")
    return None if asks or " " not in words and not is_chinese(words) else words


def _gone(words: str, now: datetime) -> str | None:
    return (
        None
        if re.match(r"(?:it|that|this|about|me|to|how|what|all|everything|我|它|这|那|了)\b|.*[?？]$", words, re.I)
        else words
    )


def _person(words: str, now: datetime) -> str | None:
    phone = _PHONE.fullmatch(words)
    if phone:
        return re.sub(r"[\s()-]", "", words)
    words = re.sub(r"^(?:my|the|to|a contact|contact)\s+(?=\w)", "", words, flags=re.I).removesuffix("'s")
    limit = 12 if is_chinese(words) else 4
    long = len(words) > 24 or (len(words) if is_chinese(words) else len(words.split())) > limit
    first = words.lower().split()[0] if words.split() else ""
    odd = re.search(r"[?？!！/\d]|，|的|和|吗|了", words) or _VERBS.search(words) or _ODD_NAMES.search(words)
    return None if long or odd or first in _NOBODY or words in _NOBODY else words


def _contact(words: str, now: datetime) -> Card | None:
    emails = tuple(_EMAIL.findall(words))
    rest = _EMAIL.sub(" ", words)
    phones = tuple(re.sub(r"[\s()-]", "", p) for p in _PHONE.findall(rest))
    rest = " ".join(_CONTACT_WORDS.sub(" ", _PHONE.sub(" ", rest)).split()).strip(_ENDS + _QUOTES)
    if not phones and not emails:
        return None
    return Card(rest, phones, emails) if not rest or _person(rest, now) else None


def _reader(words: str, now: datetime) -> str | None:
    first = words.split()[0].lower() if words.split() else ""
    return None if first in _NOBODY or re.match(r"(?:back|to|messages?|for|about)\b", words, re.I) else words


def _latin(words: str, now: datetime) -> str | None:
    """A name in Latin letters with Chinese words behind it: only then is it plain where the name ends."""
    return words if re.match(r"[A-Za-z][A-Za-z .'-]*[\s，]*[\u3400-\u9fff]", words) else None


def _moment(words: str, now: datetime) -> Moment | None:
    return moment(re.sub(r"['’]s$|的$", "", words), now)


_LEADING = re.compile(
    r"^(?:(?:an?|the|my|new|another)\s+)*(?:(?:calendar\s+)?(?:event|entry)\s+)?(?:(?:called|named|titled|for|about|that|to|:|⁝)\s+)?",
    re.IGNORECASE,
)
_LEADING_ZH = re.compile(r"^(?:要|有|去|一个|个|新的?|的|我|：|，|叫做?|名为|关于|:|⁝)+|(?:的)?(?:日程|事件|日历)$")


def _event(words: str, now: datetime) -> Planned | None:
    title, when = split(words, now)
    title = _title(title)
    other = re.search(
        r"\b(?:alarm|timer|reminder|file|contact|notification|line|list|notes?|text|message|sms|photo|recording|sentence|entry|song)s?\b"
        r"|\w\.\w{2,4}\b|闹钟|计时|倒计时|提醒|联系人|短信|照片|录音|文件|笔记", title, re.I,
    )  # fmt: skip
    if not title or other:
        return None
    return Planned(title, when)


def _title(words: str) -> str:
    words = bare(words)
    cut = _LEADING_ZH.sub("", words) if is_chinese(words) else _LEADING.sub("", words, count=1)
    return bare(re.sub(r"[\s,，]+(?:on|at|for|from|called|named|with the title|in|to)$", "", bare(cut), flags=re.I))


def _event_timed(words: str, now: datetime) -> Planned | None:
    found = _event(words, now)
    return found if found and found.moment else None


def _cancelled(words: str, now: datetime) -> Planned | None:
    found = _event_timed(words, now)
    if found is None or re.search(
        r"(?:file|photo|message|text|contact|memory|order|subscription)s?\b|文件|照片|短信|订单|会员", words, re.I
    ):
        return None
    return Planned(re.sub(r"\s+(?:event|appointment)$", "", found.title, flags=re.I), found.moment)


def _alarm(words: str, now: datetime) -> Ring | None:
    days: tuple[str, ...] = ()
    for pattern, names in _WEEKDAY_WORDS:
        if re.search(pattern, words, re.I):
            words, days = re.sub(pattern, " ", words, flags=re.I), names
    for found in _EVERY.finditer(words):
        index = "一二三四五六日".find((found[2] or "").replace("天", "日"))
        days = (*days, found[1].lower() if found[1] else _DAYS[index])
    words = _EVERY.sub(" ", words)
    at = moment(words, now, literal=True)
    if at is not None:
        return Ring(at, "", days) if at.timed else None
    label, at = split(f"at {words}" if re.match(r"\d", words) else words, now, literal=True)
    label = re.sub(
        r"^(?:called|named|labell?ed|for|to|with the label|with label|⁝|:|叫我?|提醒我?|响|的)+\s*|(?:的|响|叫我)$",
        "",
        bare(label),
        flags=re.I,
    )
    label = re.sub(r"\b(?:alarm|for|at|on)$", "", bare(label), flags=re.I)
    return Ring(at, bare(label), days) if at is not None and at.timed else None


def _reminder(words: str, now: datetime) -> Ring | None:
    label, at = split(words, now)
    label = re.sub(r"^(?:to|that|about|of|for|⁝)\s+|^(?:要|去|记得|提醒我|：)+", "", bare(label), flags=re.I)
    return Ring(at, bare(label)) if at is not None and at.timed and bare(label) else None


@dataclass(frozen=True, slots=True)
class Countdown:
    """A timer: how long, and for what."""

    length: timedelta
    label: str = ""


def _timer(words: str, now: datetime) -> Countdown | None:
    words = re.sub(r"^(?:for|of|an?)\s+(?=\d)|的$", "", words)
    found = duration(words)
    if found is not None:
        return Countdown(found)
    parts = re.match(
        r"(?P<length>.+?)\s+(?:for|called|named|to|labell?ed)\s+(?:the\s+|my\s+)?(?P<label>.+)$", words, re.I
    )
    if parts and (found := duration(bare(parts["length"]))) is not None:
        return Countdown(found, bare(parts["label"]))
    return None


def _level(words: str, now: datetime) -> Level | None:
    words = words.lower().strip()
    named = {
        "max": 100, "maximum": 100, "full": 100, "the max": 100, "the maximum": 100, "highest": 100, "the highest": 100, "half": 50,
        "half way": 50, "halfway": 50, "the middle": 50, "medium": 50, "min": 0, "minimum": 0, "the minimum": 0, "lowest": 0,
        "the lowest": 0, "zero": 0, "nothing": 0, "mute": 0, "a quarter": 25, "three quarters": 75, "最大": 100, "最高": 100, "最亮": 100,
        "一半": 50, "中间": 50, "最小": 0, "最低": 0, "最暗": 0, "静音": 0, "零": 0, "满": 100, "最响": 100, "low": 20, "high": 80,
        "full blast": 100, "the lowest level": 0, "the highest level": 100, "full power": 100, "half volume": 50, "half brightness": 50,
    }  # fmt: skip
    if words in named:
        return Level(named[words], percent=True)
    share = re.fullmatch(r"(?:百分之)(?P<zh>.+)|(?P<n>.+?)\s*(?:%|％|percent|per cent|pct|个百分点)", words)
    value = number((share["zh"] or share["n"]) if share else re.sub(r"^level\s+|[格级档]$", "", words))
    return Level(value, percent=share is not None) if value is not None and 0 <= value <= 100 else None


def _app(words: str, now: datetime) -> str | None:
    words = re.sub(r"(?:\s+(?:app|application)|应用程序|应用|软件|程序|app)$", "", words, flags=re.I).strip()
    odd = re.search(
        r"\b(?:window|windows|door|doors|gate|box|can|bottle|jar|mouth|eyes|file|files|folder|up|question|account|heart|mind|a|an|new|to"
        r"|about|marathon|conversation|business|restaurant|fire|car|engine|over|of|with|and|bank|book|presents?|machine|washing|dishwasher|oven|tv|television|fridge|lights?|heating|curtains?|blinds)\b|[?？/.]|窗|门|盖|账户|文件|网页|^[个下一]|机$(?<!相机)(?<!录音机)(?<!收音机)|器$(?<!计算器)(?<!浏览器)(?<!播放器)(?<!管理器)(?<!编辑器)|车$|会议|程序员|网站|话题|空调|灯|电视|冰箱|书|礼物|瓶|嘴|的|吗",
        words, re.I,
    )  # fmt: skip
    size = len(words) if is_chinese(words) else len(words.split())
    return None if odd or not words or size > (10 if is_chinese(words) else 3) else words


def _song(words: str, now: datetime) -> str | None:
    odd = re.search(
        r"\b(?:chess|game|games|with|a role|dead|football|soccer|tennis|piano|guitar|cards|fair|it safe|along|dumb|hide|truth|video|outside|how|what|tag"
        r"|role|part|pretend|devil|trick|nice|basketball|store|on words|minecraft)\b|[?？]|游戏|足球|篮球|钢琴|吉他|象棋|围棋|角色|视频|手机|一局",
        words, re.I,
    )  # fmt: skip
    return None if odd or words.lower() in _NOBODY else words


def _file(words: str, now: datetime) -> str | None:
    words = re.sub(r"^(?:the|my|a|file|called|named)\s+|^(?:文件|我的|名为|叫)", "", bare(words), flags=re.I)
    return (
        bare(words)
        if _FILE.fullmatch(bare(words)) and not _URL.fullmatch(bare(words)) or _known_ending(words)
        else None
    )


def _known_ending(words: str) -> bool:
    return (
        re.fullmatch(
            r"[\w/\- \u3400-\u9fff.]+\.(?:md|txt|csv|json|py|log|html|pdf|toml|yaml|yml|ini|xml|jpg|png|doc|docx)",
            words,
        )
        is not None
    )


def _filename(words: str, now: datetime) -> str | None:
    words = re.sub(r"^(?:the|my)\s+", "", words, flags=re.I)
    size = len(words) if is_chinese(words) else len(words.split())
    return (
        words
        if size <= (12 if is_chinese(words) else 3) and not re.search(r"[?？]|\b(?:me|us|a|an)\b", words, re.I)
        else None
    )


def _folder(words: str, now: datetime) -> str | None:
    return None if _known_ending(words) else _filename(words, now)


def _pattern(words: str, now: datetime) -> str | None:
    words = re.sub(r"^(?:the|any|all)\s+", "", words, flags=re.I)
    return words if len(words) <= 60 and not re.search(r"[?？]|\bmy\b", words) else None


def _place(words: str, now: datetime) -> str | None:
    words = re.sub(r"的$", "", words)
    size = len(words) if is_chinese(words) else len(words.split())
    odd = re.search(
        r"[?？\d]|\b(?:mars|venus|moon|general|space|movie|book|minecraft|my|your|the past|history)\b|火星|月球|今天|明天|怎|如何|什么|为|天气|一般|历史",
        words,
        re.I,
    )
    return None if odd or size > (10 if is_chinese(words) else 4) else words


def _url(words: str, now: datetime) -> str | None:
    if not _URL.fullmatch(words) or _known_ending(words):
        return None
    return words if "://" in words else f"https://{words}"


def _gadget(words: str, now: datetime) -> str | None:
    odd = re.search(
        r"\b(?:wi-?fi|internet|network|dots|with|people|the world|and|to|account|call|from)\b|[?？]|网络|无线|网$|账号|热点",
        words,
        re.I,
    )
    size = len(words) if is_chinese(words) else len(words.split())
    return None if odd or words.lower() in _NOBODY or size > (12 if is_chinese(words) else 5) else words


def _short(words: str, now: datetime) -> str | None:
    return _text(words, now) if len(words) <= 200 else None


Reader = Callable[[str, datetime], Any]
_READERS: Mapping[str, Reader] = {
    "level": _level, "step": _level, "text": _text, "note": _note, "fact": _fact, "gone": _gone, "person": _person, "contact": _contact,
    "reader": _reader, "event": _event, "event_timed": _event_timed, "event2": _event_timed, "cancelled": _cancelled, "day": _moment, "when": _moment, "alarm": _alarm,
    "reminder": _reminder, "timer": _timer, "app": _app, "song": _song, "file": _file, "filename": _filename, "folder": _folder,
    "pattern": _pattern, "place": _place, "url": _url, "title": _filename, "gadget": _gadget, "latin": _latin, "short": _short,
}  # fmt: skip
_VERBATIM = frozenset({"text", "note", "short", "reader", "fact", "latin"})
