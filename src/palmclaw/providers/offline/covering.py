"""A second, freer way to understand: every word of the sentence is known, and each idea of an intent is among them.

It takes any word order but no unknown word, so a sentence about something else stays something else. Only intents
that read or set something of the phone itself have such word lists; see the `loose` tables of the data files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from palmclaw.core.values import dataclass

_WORDS = re.compile(r"[a-z0-9%]+(?:['’-][a-z]+)*|[^\W\d_]+", re.IGNORECASE)
_STOPS = re.compile(r"[\s，。？！、,.?!；;：:~…]+")


@dataclass(frozen=True, slots=True)
class Cover:
    """The ideas of one intent, each a set of words of which one must be said, and the words that may stand around."""

    intent: str
    ideas: tuple[frozenset[str], ...]
    around: frozenset[str]
    slots: Mapping[str, Any]

    def holds(self, sentence: str, fillers: frozenset[str], spaced: bool) -> bool:
        known = self.around.union(*self.ideas)
        if spaced:
            words = [w.casefold().replace("’", "'") for w in _WORDS.findall(sentence)]
            return all(w in known or w in fillers for w in words) and all(not i.isdisjoint(words) for i in self.ideas)
        text = _STOPS.sub("", sentence).casefold()
        return all(any(w in text for w in idea) for idea in self.ideas) and _tiled(text, known | fillers, self.ideas)


def covers(written: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Cover]:
    """The word lists as the data files write them: `all = ["torch light", "on"]`, `with = "…"`."""
    for intent, entries in written.items():
        for entry in entries:
            ideas = tuple(frozenset(words.split()) for words in entry["all"])
            yield Cover(intent, ideas, frozenset(entry.get("with", "").split()), entry.get("slots", {}))


def _tiled(text: str, words: frozenset[str], ideas: tuple[frozenset[str], ...]) -> bool:
    """Whether known words laid end to end give the whole text, with one of each idea among them."""
    longest = max(len(w) for w in words)
    everything = frozenset(range(len(ideas)))
    reached: dict[int, set[frozenset[int]]] = {0: {frozenset()}}
    for at in range(len(text)):
        for seen in tuple(reached.get(at, ())):
            for end in range(at + 1, min(len(text), at + longest) + 1):
                word = text[at:end]
                if word in words:
                    hit = frozenset(n for n, idea in enumerate(ideas) if word in idea)
                    reached.setdefault(end, set()).add(seen | hit)
    return everything in reached.get(len(text), set())
