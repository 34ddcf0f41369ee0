"""One form for the many ways to write the same: traditional characters, "telephone", "gonna".

A folded sentence is matched; the words of its slots are taken from the original, so each character keeps its place.
"""

import re
from collections.abc import Mapping

from palmclaw.core.hanzi import simplified
from palmclaw.core.values import dataclass

_COLON = re.compile(r"(?<![0-9])[:：](?!//)|(?<=[0-9])[:：](?![0-9/])")
_SPACE_AT_CJK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s+|\s+(?=[\u3000-\u9fff\uff00-\uffef])")
MARK = "ː"  # stands for a colon, which hassil would drop; it must be a letter to be found at a word's edge


@dataclass(frozen=True, slots=True)
class Folding:
    """The words that one language writes in several ways: a pattern for each group, and the word for it."""

    language: str
    pattern: "re.Pattern[str] | None" = None
    words: tuple[str, ...] = ()

    def folded(self, sentence: str) -> tuple[str, list[int]]:
        """The sentence as hassil matches it, and for each of its characters the place in the original."""
        found = {m.start(): m for m in self.pattern.finditer(sentence)} if self.pattern else {}
        text = simplified(sentence) if self.language == "zh" else sentence
        dropped = _dropped(sentence, self.language)
        chars: list[str] = []
        offsets: list[int] = []
        at = 0
        while at < len(sentence):
            match = found.get(at)
            end = match.end() if match else at + 1
            piece = self.words[(match.lastindex or 1) - 1] if match else dropped.get(at, text[at])
            chars.append(piece)
            offsets += [min(at + n, end - 1) for n in range(len(piece) - 1)] + [end - 1] * bool(piece)
            at = end
        return "".join(chars), [*offsets, len(sentence)]


def folding(language: str, written: Mapping[str, str]) -> Folding:
    """From the `folds` of a data file: `"gonna|goin to" = "going to"`."""
    if not written:
        return Folding(language)
    pattern = "|".join(f"({words})" for words in written)
    return Folding(language, re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), tuple(written.values()))


def _dropped(sentence: str, language: str) -> dict[int, str]:
    """The single characters that are written otherwise: colons, quotes, and in Chinese commas and gaps."""
    mark = MARK if language == "zh" else f" {MARK} "
    same = {"‘": "'", "’": "'", ",": "，" if language == "zh" else ","}
    changed = {at: same[char] for at, char in enumerate(sentence) if char in same}
    changed |= {m.start(): mark for m in _COLON.finditer(sentence)}
    if language == "zh":
        changed |= {at: "" for m in _SPACE_AT_CJK.finditer(sentence) for at in range(*m.span())}
    return changed
