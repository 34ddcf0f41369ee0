"""Which tool families a conversation needs: keywords wake them, and families bring along what they require."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from palmclaw.core.keywords import Index, told
from palmclaw.core.tools import Module
from palmclaw.core.values import dataclass
from palmclaw.core.wishes import TALK, is_idle, is_wish, tones

FEW = 4
"""A family of so few tools may come along on a hint, where a sentence speaks of one other for certain."""


def matched(modules: Mapping[str, Module], texts: Iterable[str]) -> frozenset[str]:
    """The modules that the texts speak of, the always-on ones, and all that these require.

    A wish that speaks of none has the common ones.
    """
    found = {name for name, module in modules.items() if module.always}
    ear = _ear(tuple(modules.values()))
    for text in texts:
        families, wishes = _heard(ear, text)
        found |= families or (ear.common if wishes else frozenset())
    return expanded(modules, found)


def spoken_of(modules: Mapping[str, Module], text: str) -> frozenset[str]:
    """The modules that one text speaks of."""
    return _heard(_ear(tuple(modules.values())), text)[0]


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
    """The keywords of all modules, their hints (by `?NAME`) and the tones, at once; small modules, common ones."""

    words: Index
    names: frozenset[str]
    small: frozenset[str]
    common: frozenset[str]

    def families(self, heard: frozenset[str]) -> frozenset[str]:
        """What a sentence speaks of in which these were heard."""
        if is_idle(heard):
            return frozenset()
        certain = heard & self.names
        if len(certain) > 1 or TALK in heard:
            return certain
        hinted = frozenset(name for name in (self.small if certain else self.names) if f"?{name}" in heard)
        return certain | hinted


@lru_cache(maxsize=32)
def _ear(modules: tuple[Module, ...]) -> _Ear:
    hints = {f"?{m.name}": m.hints for m in modules}
    return _Ear(
        Index({**{m.name: m.keywords for m in modules}, **hints, **tones()}),
        frozenset(m.name for m in modules),
        frozenset(m.name for m in modules if len(m.tools) <= FEW),
        frozenset(m.name for m in modules if m.common),
    )


@lru_cache(maxsize=256)
def _heard(ear: _Ear, text: str) -> tuple[frozenset[str], bool]:
    """The modules that a text speaks of, and whether it is a wish."""
    said = [ear.words.heard(sentence) for sentence in told(text)]
    return frozenset[str]().union(*map(ear.families, said)), is_wish(said)
