"""Which skills a person's words call for: by their keywords, or by the rare words of their names and descriptions.

Of a skill's keywords the hints count only in a sentence of the person's own matter, and a bar calls the skill off for
its sentence. What stands in quotes calls for none, and mere talk only for one whose description speaks of such.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise

from palmclaw.core.commonwords import common, pairs
from palmclaw.core.keywords import Index, Piece, sentences, told
from palmclaw.core.skill import Skill
from palmclaw.core.values import dataclass
from palmclaw.core.wishes import is_mere_talk, is_own, tones

AGES = (1.0, 0.6, 0.4, 0.3)
"""What a message counts for, the newest first."""
CALLED, CERTAIN, NAMED, DESCRIBED = 3.0, 1.0, 0.6, 0.4
"""What “the NAME skill” counts for, a keyword, a rare word of the name, and one of the description."""
_QUOTED = r"“[^”]*”|\"[^\"]*\"|「[^」]*」|『[^』]*』|《[^》]*》|‘[^’]*’|(?<!\w)'[^']*'(?!\w)"


def matching(skills: Sequence[Skill], texts: Sequence[str], most: int = 3) -> tuple[Skill, ...]:
    """At most so many of the skills, the fittest first; `texts` are the person's last messages, the newest last.

    The newest calls for a skill by itself, older ones only together.
    """
    ear = _ear(tuple(_Told(s.name, s.description, s.keywords, s.hints, s.bars) for s in skills))
    aged = list(zip(AGES, (_heard(ear, text) for text in reversed(texts[-len(AGES) :])), strict=False))
    scores = [sum(age * said.get(at, 0.0) for age, said in aged) for at in range(len(skills))]
    ranked = sorted((-score, at) for at, score in enumerate(scores) if score > CERTAIN - 1e-9)
    return tuple(skills[at] for _, at in ranked[:most])


class _Kind(Enum):
    """What a phrase is to a skill."""

    CALL = "!"
    KEYWORD = "="
    HINT = "?"
    BAR = "-"
    RARE = ":"


@dataclass(frozen=True, slots=True)
class _Told:
    """What of a skill is compared with what a person says."""

    name: str
    description: str
    keywords: tuple[str, ...]
    hints: tuple[str, ...]
    bars: tuple[str, ...]

    def phrases(self) -> Iterator[tuple[_Kind, tuple[str, ...]]]:
        """All but the rare words; a name of several words is a keyword, if it is not one that everybody uses."""
        plain = self.name.replace("-", " ").replace("_", " ")
        words = plain.split()
        yield _Kind.CALL, (f"{plain} skill", f"skill {plain}")
        yield _Kind.KEYWORD, (*self.keywords, *([plain] if len(words) > 1 and not common().issuperset(words) else []))
        yield _Kind.HINT, self.hints
        yield _Kind.BAR, self.bars

    def rare(self) -> Mapping[str, float]:
        """The rare words of a skill without keywords, and what they count for."""
        if self.keywords:
            return {}
        found = dict.fromkeys(_rare(self.description), DESCRIBED)
        return found | {word: NAMED + found.get(word, 0.0) for word in _rare(self.name)}


@dataclass(frozen=True, slots=True)
class _Sign:
    """What it says that a phrase is heard: what that is, to which skill, and how much it counts."""

    kind: _Kind
    told: _Told
    at: int
    weight: float


@dataclass(frozen=True, eq=False, slots=True)
class _Ear:
    """The phrases of all skills and the tones at once, and for each name in the index its sign."""

    words: Index
    signs: Mapping[str, _Sign]

    def counts(self, heard: frozenset[str], talk: bool) -> Iterator[tuple[int, float]]:
        """What a sentence in which these were heard says for each skill."""
        signs = [self.signs[name] for name in heard & self.signs.keys()]
        barred = {sign.at for sign in signs if sign.kind is _Kind.BAR}
        barred |= {sign.at for sign in signs if talk and not _is_of_talk(sign.told.description)}
        silent = {_Kind.BAR} if is_own(heard) else {_Kind.BAR, _Kind.HINT}
        for sign in signs:
            if sign.kind is _Kind.CALL or (sign.at not in barred and sign.kind not in silent):
                yield sign.at, sign.weight


@lru_cache(maxsize=8)
def _ear(skills: tuple[_Told, ...]) -> _Ear:
    phrases: dict[str, tuple[str, ...]] = dict(tones())
    signs: dict[str, _Sign] = {}
    rare = [skill.rare() for skill in skills]
    spread = Counter(word for words in rare for word in words)
    for at, skill in enumerate(skills):
        for kind, wording in skill.phrases():
            phrases[f"{at}{kind.value}"] = wording
            signs[f"{at}{kind.value}"] = _Sign(kind, skill, at, CALLED if kind is _Kind.CALL else CERTAIN)
        for word, weight in rare[at].items():
            phrases[f"{at}:{word}"] = (word,)
            signs[f"{at}:{word}"] = _Sign(_Kind.RARE, skill, at, weight / spread[word])
    return _Ear(Index(phrases), signs)


@lru_cache(maxsize=256)
def _heard(ear: _Ear, text: str) -> Mapping[int, float]:
    """What a message says for each skill, by its place."""
    said = [ear.words.heard(sentence) for sentence in told(re.sub(_QUOTED, " … ", text)) or told(text)]
    talk = is_mere_talk(said)
    scores: dict[int, float] = {}
    for heard in said:
        for at, weight in ear.counts(heard, talk):
            scores[at] = scores.get(at, 0.0) + weight
    return scores


@lru_cache(maxsize=256)
def _is_of_talk(description: str) -> bool:
    return is_mere_talk([_tones().heard(sentence) for sentence in sentences(description)])


@cache
def _tones() -> Index:
    return Index(tones())


def _rare(text: str) -> Iterator[str]:
    """The rare words of a text as keywords, and pairs of characters where no spaces are written."""
    for sentence in sentences(text):
        yield from filter(None, map(_word, sentence))
        characters = (min(piece.forms, key=len) if piece.width == 1 else "" for piece in sentence)
        yield from (pair for pair in map("".join, pairwise(characters)) if len(pair) == 2 and pair not in pairs())


def _word(piece: Piece) -> str:
    """All forms of a word as alternatives; empty for one that everybody uses."""
    forms = {form for form in piece.forms if form.isalpha() and len(form) > 2}
    return "" if piece.width == 1 or not common().isdisjoint(forms) else "|".join(sorted(forms))
