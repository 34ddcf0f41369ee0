"""Cutting what is said into messages that a channel takes, whole or while it is still being said. Pure.

A cut is made at the last paragraph break that fits, else line break, else end of a sentence, else space, else between
two characters as a reader sees them. A code fence that must be cut is closed, and opened again in the next piece.
"""

import re
import unicodedata

from palmclaw.core.channels import Unit
from palmclaw.core.values import dataclass

_SPACE = r"[^\S\xa0\u202f]"
_PARAGRAPH = re.compile(rf"\n{_SPACE}*\n")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(rf"(?:(?<=\D[.!?…])[\"'”’)\]»*_]*(?={_SPACE}|\Z))|(?<=[。！？])[”’」』）】]*")
_WORD = re.compile(_SPACE)
_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_FLAGS = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of these letters are one flag
_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)*")


def chunks(text: str, limit: int, unit: Unit = Unit.CHARACTERS) -> tuple[str, ...]:
    """The text in pieces of at most `limit` units; only blank space is left out, only fences are added.

    Pieces are at least half full where the text allows it. A single character longer than the limit stays whole.
    """
    blocks = Blocks(max(1, limit // 2), limit, unit, least=1)
    return (*blocks.feed(text), *blocks.rest())


def measure(text: str, unit: Unit) -> int:
    """The length of a text as a channel counts it."""
    if unit is Unit.CHARACTERS:
        return len(text)
    if unit is Unit.UTF16:
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class _Fenced:
    """A stretch of code: where its opening line, its code, its closing line and what comes after that begin."""

    start: int
    code: int
    stop: int
    end: int
    opening: str

    @property
    def closing(self) -> str:
        return "\n" + "".join(_marker(self.opening))


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place to cut: at the end of a line or within one; `code` is the stretch of code that it goes through."""

    at: int
    code: _Fenced | None = None
    is_midline: bool = True


@dataclass(slots=True)
class Blocks:
    """A text that is still being said, in blocks of `low` to `high` units; how it was split into deltas is no matter.

    A block is cut as soon as more than `high` has been said, so that the best break can be known. Where no break
    leaves `low`, a shorter block of `least` is better than a cut between two characters; 0: it is not.
    """

    low: int
    high: int
    unit: Unit = Unit.CHARACTERS
    least: int = 0
    _text: str = ""
    _size: int = 0
    _opened: str = ""
    _is_midline: bool = False

    def feed(self, delta: str) -> tuple[str, ...]:
        """The blocks that are complete with this."""
        self._text += delta
        self._size += measure(delta, self.unit)
        self._trim()
        found: list[str] = []
        while self._size + self._before > self.high:
            if not self._code_ends_at_once():
                found += self._taken(self._best())
        return tuple(found)

    def pause(self) -> tuple[str, ...]:
        """Nothing was said for a while: what ends in a natural break and is long enough, as one block."""
        self._code_ends_at_once(is_all=True)
        cut = self._natural(self._text, self.low, len(self._text), _fenced(self._text, self._opened))
        return self._taken(cut) if cut else ()

    def rest(self) -> tuple[str, ...]:
        """The end of the text: what is left of it."""
        self._code_ends_at_once(is_all=True)
        found = self._taken(_Cut(len(self._text.rstrip())))
        self._text, self._size, self._opened, self._is_midline = "", 0, "", False
        return found

    @property
    def _before(self) -> int:
        """The length of what a block begins with when the last one ended inside code."""
        return measure(self._opened, self.unit) + 1 if self._opened else 0

    def _trim(self) -> None:
        """Leave out blank space at the beginning of a block, but not what its first line is indented by."""
        if self._opened:
            return
        blank = _BLANK_LINES.match(self._text)
        kept = self._text.lstrip() if self._is_midline else self._text[blank.end() if blank else 0 :]
        self._is_midline = self._is_midline and not kept
        self._drop(len(self._text) - len(kept))

    def _drop(self, count: int) -> None:
        self._size -= measure(self._text[:count], self.unit)
        self._text = self._text[count:]

    def _code_ends_at_once(self, *, is_all: bool = False) -> bool:
        """Whether the code that the last cut went through was at its end: then it is not opened again."""
        found = _FENCE.match(self._text) if self._opened else None
        if not found or not _closes(found, self._opened) or not (is_all or found.end() < len(self._text)):
            return False
        self._drop(found.end())
        self._opened = ""
        self._trim()
        return True

    def _best(self) -> _Cut:
        """Where to cut a text that is too long. Looks at what fits and one character more, never further."""
        top = _reach(self._text, self.high - self._before, self.unit)
        window = self._text[: top + 1]
        fenced = [f for f in _fenced(window, self._opened) if self._is_worth_it(f)]
        for low in (self.low, self.least) if self.least else (self.low,):
            cut = self._natural(window, low, top, fenced) or self._in_code(window, low, fenced)
            if cut:
                return cut
        return self._hard(window, top, fenced)

    def _is_worth_it(self, code: _Fenced) -> bool:
        """Code whose fences would fill half of each block is cut like any other text."""
        return measure(code.opening + code.closing, self.unit) + 1 <= self.high // 2

    def _natural(self, window: str, low: int, top: int, fenced: list[_Fenced]) -> _Cut | None:
        """The last break outside of code that leaves at least `low`."""
        first = _reach(window, low - self._before - 1, self.unit) + 1
        for kind in (_PARAGRAPH, _LINE, _SENTENCE, _WORD):
            for found in reversed(list(kind.finditer(window))):
                at = found.end() if kind is _SENTENCE else len(window[: found.start()].rstrip())
                if first <= at <= top and not any(f.start < at < f.end for f in fenced):
                    return _Cut(at, is_midline=kind in (_SENTENCE, _WORD))
        return None

    def _in_code(self, window: str, low: int, fenced: list[_Fenced]) -> _Cut | None:
        """The last line or word in the last stretch of code that leaves at least `low`, and room to close it."""
        for code in reversed(fenced):
            first = max(_reach(window, low - self._before - 1, self.unit) + 1, code.code + 1)
            top = min(self._top_in(window, code), code.stop)
            for kind in (_LINE, _WORD):
                for found in reversed(list(kind.finditer(window, code.code))):
                    if first <= found.start() <= top and window[code.code : found.start()].strip():
                        return _Cut(found.start(), code)
        return None

    def _hard(self, window: str, top: int, fenced: list[_Fenced]) -> _Cut:
        """Between two characters; before code of which nothing would fit."""
        code = next((f for f in fenced if f.start < top < f.end), None)
        if code is None:
            return _Cut(_between(window, top))
        if (at := _between(window, self._top_in(window, code))) > code.code:
            return _Cut(at, code)
        return _Cut(len(window[: max(code.start, 0)].rstrip()) or _between(window, top))

    def _top_in(self, window: str, code: _Fenced) -> int:
        return _reach(window, self.high - self._before - measure(code.closing, self.unit), self.unit)

    def _taken(self, cut: _Cut) -> tuple[str, ...]:
        said = self._text[: cut.at]
        block = (f"{self._opened}\n" if self._opened else "") + said + (cut.code.closing if cut.code else "")
        self._opened = cut.code.opening if cut.code else ""
        self._drop(cut.at)
        self._is_midline = cut.is_midline and not cut.code
        if cut.code and self._text.startswith("\n"):
            self._drop(1)
        self._trim()
        return (block,) if said.strip() else ()


def _fenced(text: str, opened: str) -> list[_Fenced]:
    """The stretches of code in a text; it begins inside one where `opened` is an opening line."""
    found: list[_Fenced] = []
    start, code, opening = -1, 0, opened
    for line in _FENCE.finditer(text):
        if not opening:
            if line[2][0] == "~" or "`" not in line[3]:
                start, code, opening = line.start(), line.end() + 1, line[0]
        elif _closes(line, opening) and line.end() < len(text):
            found.append(_Fenced(start, code, line.start(), line.end(), opening))
            opening = ""
    return [*found, _Fenced(start, code, len(text), len(text) + 1, opening)] if opening else found


def _marker(opening: str) -> tuple[str, str]:
    """The indentation and the fence of an opening line."""
    bare = opening.lstrip(" \t")
    fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
    return opening[: len(opening) - len(bare)], fence


def _closes(line: re.Match[str], opening: str) -> bool:
    fence = _marker(opening)[1]
    return line[2].startswith(fence) and not line[3].strip()


def _reach(text: str, room: int, unit: Unit) -> int:
    """How many characters of the text fit."""
    if unit is Unit.CHARACTERS:
        return max(0, min(len(text), room))
    used = 0
    for at, char in enumerate(text):
        used += _size(char, unit)
        if used > room:
            return at
    return len(text)


def _size(char: str, unit: Unit) -> int:
    if unit is Unit.UTF16:
        return 1 if char < "\U00010000" else 2
    return 1 if char < "\x80" else 2 if char < "\u0800" else 3 if char < "\U00010000" else 4


def _between(text: str, top: int) -> int:
    """The last place up to `top` that is not inside a character as a reader sees it; `top`, or 1, where all are."""
    at = top
    while at > 0 and _joined(text, at):
        at -= 1
    return at or max(1, top)


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after this place belong together."""
    before, after = text[at - 1], text[at]
    if _extends(after) or before == "\u200d" or unicodedata.combining(before) == 9:  # 9: joins Indic consonants
        return True
    if after in _FLAGS:
        return (at - len(text[:at].rstrip(_FLAGS))) % 2 == 1
    pair = (before, after)
    return _is_half(pair) or _is_hangul(pair)


def _extends(char: str) -> bool:
    if char < "\u0300":
        return False
    if unicodedata.category(char)[0] == "M" or char in "\u200c\u200d\uff9e\uff9f":
        return True
    return "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f"  # skin tones, tags


def _is_half(pair: tuple[str, str]) -> bool:
    return "\ud800" <= pair[0] <= "\udbff" and "\udc00" <= pair[1] <= "\udfff"


def _is_hangul(pair: tuple[str, str]) -> bool:
    """Whether two Korean letters are written as one syllable."""
    before, after = pair
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7fb":
        return True
    return "\u1100" <= before <= "\u115f" and ("\u1100" <= after <= "\u115f" or "\uac00" <= after <= "\ud7a3")
