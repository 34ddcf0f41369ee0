"""MEMORY.md taken apart, as a person wrote it; shown to a model; searched.

An entry is a line of a list, with the lines indented below it; whose it is stands behind it in a comment, and without
one it is the owner's. Whatever else is in the file is the person's, and stays where it is.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from palmclaw.core.memory import CAP, By, Entry, Source
from palmclaw.core.text import printable, tokens
from palmclaw.core.values import dataclass

NEWS = 45
"""Tokens in which a model is told what has changed."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_HEADING = re.compile(r"(#{1,2})[ \t]+(.*?)[ \t]*#*[ \t]*")
_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(?=\S)")
_RULE = re.compile(r"[ \t]*([-*_])[ \t]*(?:\1[ \t]*){2,}")
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)  # one that was never closed hides nothing
_SOURCE = re.compile(r"<!--\s*(?:(\d{4}-\d\d-\d\d)\s+)?(owner|agent|consolidated)(?:\s+(\S+))?\s*-->")
# Compiled when they are first used: a conversation begins without them.
_CJK = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
_WORD = r"[^\W_]+"
_SOFT = r"""[.,;:!?'"()\[\]{}<>…、。“”‘’「」『』【】《》〈〉·•–—_*`~-](?!\d)"""
_FILLERS = frozenset({"the", "a", "an", "user", "users", "owner", "owners", "is", "are", "that"})
_CHINESE_FILLERS = "用户|主人|的"
_COMMON = (
    "a about an and are at be but by can did do does for from had has have how i in is it me my of on or our said say "
    "so that the there they this to us was we were what when where which who why will with you your"
)
_CHINESE_COMMON = (
    "为什么|什么时候|是不是|有没有|什么|时候|怎么样|怎么|怎样|哪里|哪儿|哪个|多少|"
    "我们|你们|他们|说过|记得|请问|[的了吗呢吧我你他她它是在]"
)


@dataclass(frozen=True, slots=True)
class Page:
    """The file taken apart: `lines` with their ends, which joined are the text again; sections by the line they begin.

    What stands before the first heading is in none.
    """

    lines: tuple[str, ...]
    sections: tuple[tuple[int, str], ...]
    entries: tuple[Entry, ...]

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def section(self, name: str) -> tuple[int, int] | None:
        """The lines of the first section of that name, heading included."""
        for number, (start, each) in enumerate(self.sections):
            if folded(each) == folded(name):
                following = self.sections[number + 1 :]
                return start, following[0][0] if following else len(self.lines)
        return None


def page(text: str) -> Page:
    """Take a text apart; never fails."""
    lines, hidden = _LINE.findall(text), _hidden(text)
    headings = ((at, _heading(line)) for at, line in enumerate(lines) if at not in hidden)
    sections = tuple((at, found[2]) for at, found in headings if found)
    starts, section = dict(sections), ""
    found: list[Entry] = []
    at = 0
    while at < len(lines):
        section = starts.get(at, section)
        end = _end(lines, at, hidden) if at not in hidden and _is_bullet(lines[at]) else at
        if end > at and (entry := _entry(len(found) + 1, section, lines[at:end], at)).text:
            found.append(entry)
        at = max(end, at + 1)
    return Page(tuple(lines), sections, tuple(found))


def _hidden(text: str) -> frozenset[int]:
    """The lines that begin inside a comment of several lines."""
    inside = [found.span() for found in _COMMENT.finditer(text)]
    starts = [found.start() for found in _LINE.finditer(text)] if inside else []
    return frozenset(at for at, start in enumerate(starts) if any(a < start < b for a, b in inside))


def _heading(line: str) -> re.Match[str] | None:
    return _HEADING.fullmatch(line.rstrip("\r\n"))


def _is_bullet(line: str) -> bool:
    return _BULLET.match(line) is not None and _RULE.fullmatch(line.rstrip("\r\n")) is None


def _end(lines: Sequence[str], at: int, hidden: Collection[int]) -> int:
    """Behind the lines that are indented below an entry."""
    end = at + 1
    while end < len(lines) and end not in hidden and lines[end].strip() and _indent(lines[end]) > _indent(lines[at]):
        end += 1
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _entry(number: int, section: str, lines: Sequence[str], at: int) -> Entry:
    raw = "".join(lines)
    written = _SOURCE.search(raw)
    source = Source(By(written[2]), written[3] or "", written[1] or "") if written else Source()
    first, *others = _COMMENT.sub("", raw).splitlines()
    text = "\n".join(line for line in (_BULLET.sub("", f"{first}.")[:-1].strip(), *map(str.strip, others)) if line)
    return Entry(number, section, text, source, at, at + len(lines))


def folded(text: str) -> str:
    """The text as it is compared: width, case and spaces do not count."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def gist(text: str) -> str:
    """What near-equal entries have in common: words without case, spaces, stops and a few that say nothing."""
    plain = re.sub(_CHINESE_FILLERS, "", re.sub(_SOFT, "", folded(text)))
    return "".join(w for w in plain.split() if w not in _FILLERS) or folded(text)


def shown(text: str, limit: int = CAP) -> str:
    """What a model is given: no comments, no empty sections, at most so many characters, and said when it is cut."""
    kept: list[str] = []
    above = 0  # headings of a lower number have something below them
    for line in reversed(_plain(text)):
        heading = _HEADING.fullmatch(line)
        if heading is None:
            above = 9
            kept.append(line)
        elif len(heading[1]) < above:
            above = len(heading[1])
            kept.append(line)
    return _cut("\n".join(reversed(kept)), limit)


def _plain(text: str) -> list[str]:
    """The lines that say something, without comments and what could steer a terminal."""
    lines = _COMMENT.sub("", text).replace("\r", "\n").split("\n")
    return [plain for line in lines if (plain := printable(line).rstrip()).strip()]


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    end = text.rfind("\n", 0, limit + 1)
    end = limit if end <= 0 else end
    return f"{text[:end]}\n(cut: {end:,} of {len(text):,} characters; the rest: memory_search)"


def news(before: str, now: str, limit: int = NEWS) -> str:
    """In a few words, what a model that was shown one text must know of the other; empty: nothing."""
    old, new = ([x for x in t.split("\n") if not _HEADING.fullmatch(x)] for t in (before, now))
    come = [_bare(x) for x in dict.fromkeys(new) if x not in old and x.strip()]
    gone = [f"no longer: {_bare(x)}" for x in dict.fromkeys(old) if x not in new and x.strip()]
    text = "; ".join((*come, *gone))
    if tokens(text) <= limit:
        return text
    while tokens(text) > limit:
        text = text[: len(text) * 9 // 10]
    return f"{text}… (more: memory_read)"


def _bare(line: str) -> str:
    return _BULLET.sub("", line, count=1).strip()


def numbered(text: str, section: str = "") -> str | None:
    """The file, or a section of it, with each entry's number and day; None: there is no such section."""
    read = page(text)
    place = read.section(section) if section else (0, len(read.lines))
    if place is None:
        return None
    at, end = place
    lines: list[str] = []
    for entry in (e for e in read.entries if at <= e.start < end):
        lines += _plain("".join(read.lines[at : entry.start]))
        day = f" ({entry.source.day})" if entry.source.day else ""
        lines += _plain(f"{entry.number}. {entry.text.replace(chr(10), chr(10) + '   ')}{day}")
        at = entry.end
    return "\n".join((*lines, *_plain("".join(read.lines[at:end]))))


def meant(text: str, asked: str) -> tuple[Entry, ...]:
    """The entries that a number or words mean: a near-equal one alone, else all that hold every word."""
    found = page(text).entries
    number = asked.strip().lstrip("#").rstrip(".")
    by_number = [e for e in found if number.isdecimal() and e.number == int(number)]
    exact = by_number or [e for e in found if gist(e.text) == gist(asked)]
    words = folded(asked).split()
    return tuple(exact[:1]) or tuple(e for e in found if words and all(w in folded(e.text) for w in words))


def recalled(text: str, asked: str, most: int = 10) -> tuple[Entry, ...]:
    """The entries that hold all the words, or else those that hold most of their pieces."""
    entries, words, wanted = page(text).entries, folded(asked).split(), pieces(asked)
    if whole := [e for e in entries if words and all(w in folded(e.text) for w in words)]:
        return tuple(whole[:most])
    ranked = sorted(((share(e.text, wanted), e) for e in entries), key=lambda pair: -pair[0])
    return tuple(e for held, e in ranked[:most] if held)


def pieces(words: str) -> tuple[str, ...]:
    """What a question is looked up by when nothing holds all of it: its words, and pairs of Chinese characters."""
    found: list[str] = []
    text, common = folded(words), _COMMON.split()
    for run in re.findall(_CJK, re.sub(_CHINESE_COMMON, " ", text)) or re.findall(_CJK, text):
        found += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    spaced = re.findall(_WORD, re.sub(_CJK, " ", text))
    return tuple(dict.fromkeys((*found, *([w for w in spaced if w not in common] or spaced))))


def share(text: str, wanted: Sequence[str]) -> float:
    """How much of it a text holds; 0 where that is less than a third, which is chance."""
    plain = folded(text)
    words = set(re.findall(_WORD, re.sub(_CJK, " ", plain)))
    held = sum(p in words or (re.match(_CJK, p) is not None and p in plain) for p in wanted)
    return held / len(wanted) if held and held * 3 >= len(wanted) else 0.0
