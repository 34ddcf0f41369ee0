"""Readers of the slots that hold one thing: a name, a text, a level, a path, an address."""

import re
from datetime import datetime

from palmclaw.providers.offline.doubts import objectless
from palmclaw.providers.offline.moments import impossible, is_chinese, moment
from palmclaw.providers.offline.numerals import number
from palmclaw.providers.offline.reading import Moment
from palmclaw.providers.offline.refusals import longer, refusals, refused
from palmclaw.providers.offline.values import Flaw, Level

QUOTES = "\"'“”‘’「」『』《》`"
ENDS = " \t\n,，.。、;；:："
PHONE = re.compile(r"\+?\d[\d\s()-]{1,26}\d")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?)", re.IGNORECASE)
_FILE = re.compile(
    r"(?:(?:shared|session)://)?[\w./\-\u3400-\u9fff ]*\.[A-Za-z0-9]{1,5}"
    r"|[\w.\-\u3400-\u9fff]+(?:/[\w.\-\u3400-\u9fff]+)+/?"
)
_KNOWN_FILE = re.compile(
    r"[\w/\- \u3400-\u9fff.]+\.(?:md|txt|csv|json|py|log|html|pdf|toml|yaml|yml|ini|xml|jpg|png"
    r"|doc|docx|conf|cfg|env|sh|js|ts|css|java|cpp|rs|sql|bak|mp3|mp4|wav|m4a|jpeg|gif|zip|rtf|xlsx?|pptx?)",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"^(?:the\s+(?:text|words?|phrase|sentence|line|message|following)\s+(?:that\s+)?"
    r"|(?:this|these|the\s+following)\s+(?:text|words?|phrase|sentence|line|message)\s*[:ː]\s*"
    r"|(?:写着|内容是|内容为|文字是|文字为|就写|就说)[:：]?|(?:文本|文字)(?=[“「]))",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"[\"'“‘「『](?P<inner>[^\"“”「」『』]+)[\"'”’」』](?:\s*(?:for\s+me|so\s+(?:that\s+)?i\s+can\b.*|please|吧|呀|啊|这几个字|这两个字|这句话?))*[\s.?!。？！]*",
    re.IGNORECASE,
)
_SEARCHED = re.compile(
    r"^(?:(?:the|any|all|with|called|named|containing|关于|名叫|叫做?|名为)\s*)+(?=\S)"
    r"|\s+in\s+(?:the|its|their)\s+(?:file\s?)?names?$|\s+something$|什么$",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"^(?:about|around|roughly|maybe|like|exactly|大约|大概)\s*|\s*(?:or so|就行|就好|就够|左右|上下|的样子|就可以)了?$"
)
_DOT = re.compile(r"\s+dot\s+(?=[a-z0-9])|点(?=(?:txt|md|csv|json|com|cn|org|net|pdf)\b)", re.IGNORECASE)
_KIN = re.compile(
    r"^我(?:的|家)?(?:闺女|女儿|儿子|老公|老婆|爷爷|奶奶|姥姥|姥爷|外婆|外公|哥哥?|姐姐?|弟弟?|妹妹?|同事|朋友|同学|老板|经理|孙子|孙女|邻居|丈夫|妻子|先生|太太)(?=..)"
    r"|^我(?:的|家)?(?=(?:闺女|女儿|儿子|妈|爸|老公|老婆|爷|奶|姥|外婆|外公|哥|姐|弟|妹|同事|朋友|同学|老板|经理|孙|邻居|姑|叔|舅|姨|丈夫|妻子|先生|太太))"
)
_SHARE = re.compile(r"百分之(?P<zh>.+)|(?P<n>.+?)\s*(?:%|％|percent|per cent|pct|个百分点)")


def bare(text: str) -> str:
    """Without what surrounds the words: spaces, stops and quotes."""
    text = text.strip(ENDS)
    pair = len(text) > 1 and text[0] in QUOTES and text[-1] in QUOTES
    return text[1:-1].strip() if pair else text.strip('"“”「」')


def text(words: str, now: datetime) -> str | None:
    """Any words as they were written, without what introduces them, their quotes and their full stop."""
    inner = _INTRODUCED.sub("", words.strip(" \t\n,，:：ː"))
    quoted = _QUOTED.fullmatch(inner)
    inner = quoted["inner"].strip() if quoted else inner.removesuffix(".").removesuffix("。")
    return inner if inner and inner.lower() not in ("that", "it", "this", "me", "这个", "那个", "它") else None


def short(words: str, now: datetime) -> str | None:
    return text(words, now) if len(words) <= 200 else None


def fact(words: str, now: datetime) -> str | None:
    """A statement, not a question and not one word."""
    words = re.sub(r"[，,]\s*(?:你|请)?$", "", words.rstrip("?？ 。.").removeprefix("着"))
    return None if refused("fact", words) or (" " not in words and not is_chinese(words)) else words


def gone(words: str, now: datetime) -> str | None:
    words = re.split(r"[,，]\s*(?=(?:it|he|she|they|because)\b|我(?:已经|现在|早就))", words)[0]
    words = re.sub(r"^[^，]*了，(?=我)", "", words).removesuffix("这件事")
    words = re.sub(r"了?，(?:请?把(?:这条|它|这个|这件事))?(?:忘掉|忘了|忘记|忘|删掉|删了)$", "", words)
    return None if refused("gone", words) else words


def person(words: str, now: datetime) -> str | None:
    """A name or a number; never a pronoun or half a sentence."""
    if PHONE.fullmatch(words):
        return re.sub(r"[\s()-]", "", words)
    words = re.sub(r"\s+on\s+(?:her|his|their)\s+(?:mobile|cell|phone|number)$", "", _KIN.sub("", words))
    words = re.sub(r"^(?:my|the|to|a contact|contact)\s+(?=\w)", "", words, flags=re.IGNORECASE).removesuffix("'s")
    nobody = refusals().nobody
    unknown = not words or words.lower().split()[0] in nobody or words in nobody
    return None if unknown or len(words) > 24 or longer(words, 4, 12) or refused("person", words) else words


def reader(words: str, now: datetime) -> str | None:
    """A name with a message run on to it."""
    return None if words.lower().split()[0] in refusals().nobody or refused("reader", words) else words


def latin(words: str, now: datetime) -> str | None:
    """A name in Latin letters with Chinese words behind it: only then is it plain where the name ends."""
    return words if re.match(r"[A-Za-z][A-Za-z .'-]*[\s，]*[\u3400-\u9fff]", words) else None


def day(words: str, now: datetime) -> Moment | Flaw | None:
    words = re.sub(r"['’]s$|的$", "", words)
    found = moment(words, now)
    if found is None and not impossible(words, now):
        return None
    return found if found and not impossible(words, now) else _no_such(words, now)


def _no_such(words: str, now: datetime) -> Flaw | None:
    """Words that would be a moment, were there such a day."""
    there = re.sub(r"(?<![:.])\b(?:29|3\d)(?=\D|$)|二十九|三十[一二]?", "1", words, count=1)
    return Flaw("no_such_moment") if moment(there, now) else None


def level(words: str, now: datetime) -> Level | None:
    words = _ROUGHLY.sub("", words.lower().strip())
    named = refusals().levels
    if words in named:
        return Level(named[words], percent=True)
    share = _SHARE.fullmatch(words)
    value = number((share["zh"] or share["n"]) if share else re.sub(r"^level\s+|[格级档]$", "", words))
    return Level(value, percent=share is not None) if value is not None and 0 <= value <= 100 else None


def app(words: str, now: datetime) -> str | None:
    words = re.sub(
        r"(?:\s+(?:app|application)|(?:这个)?(?:应用程序|应用|软件|程序|app)|看看|用用|瞧瞧)$",
        "",
        words,
        flags=re.IGNORECASE,
    ).strip()
    unknown = not words or words.lower() in refusals().nobody or longer(words, 3, 10)
    return None if unknown or refused("app", words) else words


def song(words: str, now: datetime) -> str | None:
    halves = re.split(r"\s+(?:and\s+then|and|then)\s+|[，,]?(?:然后|再)", words)
    if len(halves) > 1 and objectless(halves[-1]):
        return None
    return None if refused("song", words) or words.lower() in refusals().nobody else words


def file(words: str, now: datetime) -> str | None:
    """A path: something with an ending or a slash, but no web address."""
    words = bare(
        re.sub(
            r"^(?:(?:the|my|a|file|called|named|end of|bottom of)\s+)+|^(?:文件|我的|名为|叫)",
            "",
            bare(words),
            flags=re.IGNORECASE,
        )
    )
    words = _DOT.sub(".", words)
    if refused("file", words):
        return None
    path = _FILE.fullmatch(words) is not None and _URL.fullmatch(words) is None
    return words if path or _KNOWN_FILE.fullmatch(words) else None


def filename(words: str, now: datetime) -> str | None:
    """A few words that may be the name of a file, an event or a recording."""
    words = re.sub(r"^(?:the|my)\s+|^(?:名叫|叫做?|名为|个)|(?:那个|这个)$", "", words, flags=re.IGNORECASE)
    return None if longer(words, 3, 12) or refused("filename", words) else words


def title(words: str, now: datetime) -> str | None:
    """A name of something, not the time of it."""
    return None if moment(words, now) is not None else filename(words, now)


def folder(words: str, now: datetime) -> str | None:
    return None if _KNOWN_FILE.fullmatch(words) else filename(words, now)


def pattern(words: str, now: datetime) -> str | None:
    words = bare(_SEARCHED.sub("", words))
    return None if not words or len(words) > 60 or refused("pattern", words) else words


def place(words: str, now: datetime) -> str | None:
    words = words.removesuffix("的")
    return None if longer(words, 4, 10) or refused("place", words) else words


def url(words: str, now: datetime) -> str | None:
    words = _DOT.sub(".", words)
    if not _URL.fullmatch(words) or _KNOWN_FILE.fullmatch(words):
        return None
    return words if "://" in words else f"https://{words}"


def gadget(words: str, now: datetime) -> str | None:
    return None if longer(words, 5, 12) or refused("gadget", words) or words.lower() in refusals().nobody else words
