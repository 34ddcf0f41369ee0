"""Which skills a person's words call for: by keywords, names and descriptions, never by words that everybody uses.

A keyword is a phrase; `a|b` are alternatives, ` + ` asks for both in one message, ` - ` for what must not be there
(with nothing before it it bars the skill), and `^` says that a clause begins with it (`^call`, also after "can you
please"). Words match whole and in their inflections; Chinese, Japanese and Korean, which write no spaces, anywhere.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from palmclaw.core.commonwords import HERE, TALK, common, general, joining, pairs, polite
from palmclaw.core.hanzi import simplified
from palmclaw.core.skill import Skill

MESSAGES = 4
AGES = (1.0, 0.6, 0.4, 0.3)
"""What a message counts for, the newest first."""
ENOUGH = 1.0
CALLED, CERTAIN, HALF, NAMED, DESCRIBED = 3.0, 1.0, 0.5, 0.6, 0.4
"""What “the NAME skill” counts for, a keyword, one that everybody uses, a word of the name, one of the description."""
BESIDE = 0.3
"""The share of the fittest one's evidence that another needs, to be more than an echo of it."""
ASIDE, ANYWHERE = 0.4, 0.5
"""How much less evidence counts in talk about the world, and where nothing is said of here, now, or the person."""
LONGEST = 5
"""Words of a keyword with which a clause begins."""
HEAD, TAIL = 400, 200
"""Characters at the beginning and the end of a long message in which a person says what is wanted."""

_PIECE = re.compile(r"[^\W_]+(?:'[^\W_]+)*|[^\w\s]+|_+|\n+")
_INSIDE = re.compile(r"[a-z0-9][^\w\s][a-z0-9]|.?['/_-]")
_QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’")
_POLITE_HAN = re.compile(
    r"^(?:帮我|帮忙|帮|请|麻烦你?|给我|替我|你?能不能|你?可不可以|可以|你?能|你|快点?|我想要?|我要|想|那就?|就|再|先|嘿|喂|劳驾|把)+"
)


def matching(skills: Sequence[Skill], texts: Sequence[str], most: int = 3) -> tuple[Skill, ...]:
    """At most so many of the skills, the fittest first; `texts` are the person's last messages, the newest last."""
    sheets = [_sheet(skill.name, skill.description, skill.terms) for skill in skills]
    spread = Counter(word for sheet in sheets for word in sheet.told)
    recent = [_Heard(text) for text in reversed(texts[-MESSAGES:])]
    aged = tuple(zip(AGES, recent, strict=False))
    scores = [sum(age * _score(sheet, spread, heard) for age, heard in aged) for sheet in sheets]
    enough = max(ENOUGH, BESIDE * max(scores, default=0.0)) - 1e-9
    ranked = sorted((-score, at) for at, score in enumerate(scores) if score >= enough)
    return tuple(skills[at] for _, at in ranked[:most])


@dataclass(slots=True)
class _Term:
    """Evidence for a skill: each of the groups has an alternative in the text, and nothing of `without` is there."""

    groups: Sequence[Sequence[str]]
    without: Sequence[str] = ()
    weight: float = CERTAIN

    def found(self, text: str) -> tuple[str, ...]:
        """The alternatives that the text holds; none where the term does not hold."""
        hits = []
        for group in self.groups:
            hit = next((each for each in group if each in text), None)
            if hit is None:
                return ()
            hits.append(hit)
        return () if any(each in text for each in self.without) else tuple(hits)


@dataclass(frozen=True, slots=True)
class _Sheet:
    """How a skill is called, what speaks for it, what speaks against it, and all words that count.

    `told` are the rare words of its description with their weights; those that several skills share count less.
    """

    called: _Term
    terms: tuple[_Term, ...]
    bars: tuple[str, ...]
    told: Mapping[str, float]
    words: frozenset[str]


class _Heard:
    """A message: as a whole, and without what it quotes."""

    def __init__(self, text: str) -> None:
        text = _folded(text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}")
        own = _QUOTED.sub(" … ", text)
        self.whole = _pieces(text)
        self.own = self.whole if own == text else _pieces(own)
        self.share = _share(self.whole)


def _share(pieces: Sequence[str]) -> float:
    """How far a message is a wish or a matter of the person's own, and not talk about the world."""
    share = 1.0
    if _holds(TALK, pieces):
        share *= ASIDE
    if pieces and (pieces[0] in general() or _is_chinese(pieces)) and not _holds(HERE, pieces):
        share *= ANYWHERE
    return share


def _is_chinese(pieces: Sequence[str]) -> bool:
    """Not Japanese or Korean, of whose talk we know no words."""
    return _is_han(pieces[0]) and not any(_is_spelled(char) for piece in pieces for char in piece)


def _is_han(text: str) -> bool:
    """Whether it begins with a character of a script that writes no spaces."""
    return "\u3400" <= text[:1] <= "\u9fff" or _is_spelled(text[:1])


def _holds_han(text: str) -> bool:
    return not text.isascii() and any(map(_is_han, text))


def _is_spelled(char: str) -> bool:
    return "\u3040" <= char <= "\u30ff" or "\uac00" <= char <= "\ud7af"


def _holds(lines: str, pieces: Sequence[str]) -> bool:
    sheet = _sheet("", "", _terms_of(lines))
    text = _line(pieces, sheet.words)
    return any(term.found(text) for term in sheet.terms)


def _score(sheet: _Sheet, spread: Mapping[str, int], heard: _Heard) -> float:
    whole = _line(heard.whole, sheet.words)
    if sheet.called.found(whole):
        return sheet.called.weight
    if any(bar in whole for bar in sheet.bars):
        return 0.0
    score = _evidence(sheet, spread, whole)
    if heard.own is not heard.whole:
        score = (score + _evidence(sheet, spread, _line(heard.own, sheet.words))) / 2
    return score * heard.share


def _evidence(sheet: _Sheet, spread: Mapping[str, int], text: str) -> float:
    """The weight of all terms that hold, each place in the text counted once."""
    held = [(hits, term.weight) for term in sheet.terms if (hits := term.found(text))]
    held += [((word,), weight / spread[word]) for word, weight in sheet.told.items() if word in text]
    counted: list[str] = []
    score = 0.0
    for hits, weight in sorted(held, key=lambda each: (-each[1], -len("".join(each[0])))):
        if not all(any(hit in other for other in counted) for hit in hits):
            counted += hits
            score += weight
    return score


def _folded(text: str) -> str:
    return simplified(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def _pieces(text: str) -> tuple[str, ...]:
    """Words, runs of characters that write no spaces, and a point where a clause ends."""
    found: list[str] = []
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece[0].isalnum():
            found += [_bare(piece)] if piece.isascii() else _runs(piece)
        elif not _INSIDE.match(text, max(0, match.start() - 1)):
            found.append(".")
    return tuple(found)


def _runs(piece: str) -> Iterator[str]:
    """Words and what writes no spaces, which may stand close together."""
    for is_han, run in groupby(piece, _is_han):
        text = "".join(run)
        yield text if is_han else _bare(text)


def _line(pieces: Iterable[str], known: frozenset[str]) -> str:
    """The words of a text with a space around each and how its clauses begin after `^`; then what writes no spaces."""
    words: list[str] = []
    starts = [0]
    han: list[str] = []
    for piece in pieces:
        if _is_han(piece):
            han.append(piece)
            starts.append(len(words))
            continue
        words.append(_base(piece, known))
        if piece == "." or piece in joining() or (starts[-1] == len(words) - 1 and piece in polite()):
            starts.append(len(words))
    clauses = (f"^ {' '.join(words[at : at + LONGEST])}" for at in dict.fromkeys(starts))
    begun = (f"^{_POLITE_HAN.sub('', piece, count=1)}" for piece in han)
    return f" {' '.join(words)} \n {' '.join(clauses)} \n{' '.join(han)}\n{' '.join(begun)}"


def _bare(word: str) -> str:
    return word.removesuffix("'s").replace("'", "")


def _base(word: str, known: frozenset[str]) -> str:
    """The word, or what it is an inflection of, if that is known."""
    form = next((f for f in _singular(word) if f in known), None) if word.endswith("s") else None
    if form is None and word not in known:
        form = next((f for f in _inflected(word) if f in known), None)
    return form or word


def _singular(word: str) -> Iterator[str]:
    if len(word) > 3 and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
        if word.endswith("ies"):
            yield word[:-3] + "y"
        if word.endswith("es"):
            yield word[:-2]


def _inflected(word: str) -> Iterator[str]:
    for ending in ("ed", "ing", "er"):
        if len(word) > len(ending) + 2 and word.endswith(ending):
            stem = word[: -len(ending)]
            yield stem + "e"
            yield stem
            if stem[-1] == stem[-2]:
                yield stem[:-1]
    yield word + "s"


@lru_cache(maxsize=2)
def _terms_of(lines: str) -> str:
    return terms_of(lines.strip().split("\n"))


def terms_of(keywords: Sequence[str]) -> str:
    """Keywords in the form in which they are compared (`Skill.terms`), worked out when a skill is read."""
    text = "\n".join(line for line in map(_normal, keywords) if line)
    known = _words_in(text)
    based = {word: base for word in known if (base := _base(word, known)) != word}
    return " ".join(based.get(word, word) for word in text.split(" "))


def _normal(keyword: str) -> str:
    """Alternatives between bars, each word between spaces; groups after `+`, what must not be there after `~`.

    Empty for a keyword that holds no word.
    """
    wanted, *unwanted = f" {_folded(keyword)}".split(" - ")
    groups = ["|".join(_phrases(group)) for group in wanted.split(" + ")]
    barring = [phrase for each in unwanted for phrase in _phrases(each)]
    if not all(groups) and (any(groups) or not barring):
        return ""
    return "~".join(("+".join(groups), *barring))


def _phrases(alternatives: str) -> Iterator[str]:
    """Each as it stands in a line."""
    for phrase in alternatives.split("|"):
        if _holds_han(phrase):
            yield "".join(char for char in phrase if char == "^" or char.isalnum())
        elif words := " ".join(piece for piece in _pieces(phrase) if piece != "."):
            yield f" ^ {words} " if phrase.strip().startswith("^") else f" {words} "


def _words_in(terms: str) -> frozenset[str]:
    for sign in "|+~\n":
        terms = terms.replace(sign, " ")
    return frozenset(terms.split())


@lru_cache(maxsize=256)
def _sheet(name: str, description: str, terms: str) -> _Sheet:
    named, told = [word for word in _pieces(_folded(name)) if word != "."], set(_told(description))
    words = _words_in(terms) | told | set(named) | {"skill"}
    named = [_base(word, words) for word in named]
    weights = {_base(word, words): DESCRIBED for word in told}
    weights |= {word: NAMED + weights.get(word, 0.0) for word in named if _is_telling(word)}
    written, bars = _parsed(terms)
    phrase = " ".join(named)
    if len(named) > 1:
        written.append(_Term(((f" {phrase} ",),), weight=HALF if common().issuperset(named) else CERTAIN))
    called = _Term(((f" {phrase} skill ", f" skill {phrase} "),), weight=CALLED)
    found = {word if _is_han(word) else f" {word} ": weight for word, weight in weights.items()}
    return _Sheet(called, tuple(written), bars, found, words)


def _parsed(text: str) -> tuple[list[_Term], tuple[str, ...]]:
    """The terms of keywords, and what bars them all."""
    terms: list[_Term] = []
    bars: list[str] = []
    for line in text.split("\n") if text else ():
        wanted, *unwanted = line.split("~")
        if not wanted:
            bars += unwanted
            continue
        groups = [group.split("|") for group in wanted.split("+")]
        terms.append(_Term(groups, unwanted, HALF if _is_weak(wanted) else CERTAIN))
    return terms, tuple(bars)


def _is_weak(wanted: str) -> bool:
    """Whether a keyword is a single word that everybody uses, or a single character."""
    return (len(wanted) == 1 and _is_han(wanted)) or (wanted[0] == " " and wanted[1:-1] in common())


def _told(description: str) -> Iterator[str]:
    """The rare words of a description, and pairs of characters where no spaces are written."""
    for piece in _pieces(_folded(description)):
        if _is_han(piece):
            yield from (pair for at in range(len(piece) - 1) if (pair := piece[at : at + 2]) not in pairs())
        elif _is_telling(piece):
            yield piece


def _is_telling(word: str) -> bool:
    if _is_han(word):
        return len(word) > 1
    return len(word) > 2 and not word.isdecimal() and _base(word, common()) not in common()
