"""Which tool families a conversation needs: keywords wake them, and families bring along what they require."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from palmclaw.core.keywords import Index, Piece, sentences
from palmclaw.core.tools import Module
from palmclaw.core.wishes import is_idle, is_talk, is_wish

HEAD, TAIL = 400, 200
"""Characters at the beginning and the end of a long message in which a person says what is wanted."""
FEW = 4
"""A family of so few tools may come along on a hint, where a sentence speaks of one other for certain."""


def matched(modules: Mapping[str, Module], texts: Iterable[str]) -> frozenset[str]:
    """The modules that the texts speak of, the always-on ones, and all that these require.

    A wish that speaks of none has the common ones.
    """
    found = {name for name, module in modules.items() if module.always}
    ear = _ear(tuple(modules.values()))
    for text in texts:
        found |= spoken_of(modules, text) or (ear.common if is_wish(_said(text)) else frozenset())
    return expanded(modules, found)


def spoken_of(modules: Mapping[str, Module], text: str) -> frozenset[str]:
    """The modules that one text speaks of."""
    return _spoken_of(_ear(tuple(modules.values())), text)


def expanded(modules: Mapping[str, Module], names: Iterable[str]) -> frozenset[str]:
    """The named modules and, recursively, everything they require."""
    found: set[str] = set()
    waiting = [n for n in names if n in modules]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [r for r in modules[name].requires if r in modules]
    return frozenset(found)


@dataclass(frozen=True, eq=False, slots=True)
class _Ear:
    """The keywords of all modules, their hints, those of few tools, and the common ones."""

    keywords: Index
    hints: Index
    small: frozenset[str]
    common: frozenset[str]


@lru_cache(maxsize=32)
def _ear(modules: tuple[Module, ...]) -> _Ear:
    return _Ear(
        Index({m.name: m.keywords for m in modules}),
        Index({m.name: m.hints for m in modules}),
        frozenset(m.name for m in modules if len(m.tools) <= FEW),
        frozenset(m.name for m in modules if m.common),
    )


@lru_cache(maxsize=64)
def _said(text: str) -> tuple[tuple[Piece, ...], ...]:
    text = text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
    return tuple(sentences(text))


@lru_cache(maxsize=256)
def _spoken_of(ear: _Ear, text: str) -> frozenset[str]:
    return frozenset[str]().union(*(_in_sentence(ear, sentence) for sentence in _said(text)))


def _in_sentence(ear: _Ear, sentence: tuple[Piece, ...]) -> frozenset[str]:
    if is_idle(sentence):
        return frozenset()
    certain = ear.keywords.heard(sentence)
    if len(certain) > 1 or is_talk(sentence):
        return certain
    hinted = ear.hints.heard(sentence)
    return certain | (hinted & ear.small) if certain else hinted
