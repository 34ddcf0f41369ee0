"""Knows each session's awake tool families: woken by the owner's words or by `find_tools`, asleep after idling."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import timedelta

from palmclaw.core.modules import expanded, matched, spoken_of
from palmclaw.core.tools import Module, Tool
from palmclaw.core.values import dataclass

IDLE = timedelta(minutes=30)
REMEMBERED = 256
"""Sessions whose families are kept in memory; of others the snapshot in the store tells."""


@dataclass(slots=True)
class ModuleRoutes:
    """Implements the Routes port over the table of modules."""

    modules: Mapping[str, Module]
    tools: Mapping[str, Tool]
    _awake: dict[str, frozenset[str]] = field(default_factory=dict)

    def wake(
        self, session: str, texts: Sequence[str], before: frozenset[str] = frozenset(), *, anew: bool = False
    ) -> frozenset[str]:
        """Wake what the texts speak of, beside what was awake `before`.

        `anew` lets the session begin from nothing: a newest text that speaks of something stands for itself, and only
        one that does not goes on with the matters before it.
        """
        kept = frozenset() if anew else self._awake.get(session, frozenset())
        if anew and any(spoken_of(self.modules, text) for text in texts[-1:]):
            texts = texts[-1:]
        return self._keep(session, kept | before | matched(self.modules, texts))

    def find(self, session: str, need: str) -> Sequence[Tool]:
        """The tools of the families that a need names or speaks of, else whose descriptions share a word with it."""
        words = set(re.findall(r"[\w-]+", need.lower()))
        named = {n for n, m in self.modules.items() if n.lower() in words or not words.isdisjoint(m.tools)}
        found = named | spoken_of(self.modules, need) or self._described(words)
        names = expanded(self.modules, found)
        self._keep(session, self._awake.get(session, frozenset()) | names)
        tools = dict.fromkeys(tool for name in sorted(names) for tool in self.modules[name].tools)
        return [self.tools[tool] for tool in tools]

    def _described(self, words: set[str]) -> set[str]:
        telling = {word for word in words if len(word) > 3}
        return {
            name
            for name, module in self.modules.items()
            if any(telling & set(self.tools[tool].description.lower().split()) for tool in module.tools)
        }

    def _keep(self, session: str, families: frozenset[str]) -> frozenset[str]:
        self._awake.pop(session, None)
        self._awake[session] = families
        if len(self._awake) > REMEMBERED:
            del self._awake[next(iter(self._awake))]
        return families
