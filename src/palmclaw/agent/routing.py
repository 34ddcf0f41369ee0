"""Knows each session's awake tool families: woken by the owner's words or by `find_tools`, asleep after idling."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from palmclaw.core.modules import expanded, matched
from palmclaw.core.tools import Module, Tool

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
        """Wake what the texts speak of, beside what was awake `before`; `anew` lets the session begin from nothing."""
        kept = frozenset() if anew else self._awake.get(session, frozenset())
        return self._keep(session, kept | before | matched(self.modules, texts))

    def find(self, session: str, need: str) -> Sequence[Tool]:
        """The tools of families whose keywords, names or descriptions share a word with the need."""
        named = {m for m in self.modules if m in need.lower()}
        found = named | (matched(self.modules, [need]) - matched(self.modules, [""]))
        if not found:
            words = {w for w in need.lower().split() if len(w) > 3}
            found = {t.module for t in self.tools.values() if words & set(t.description.lower().split())}
        names = expanded(self.modules, found)
        self._keep(session, self._awake.get(session, frozenset()) | names)
        return [self.tools[tool] for name in sorted(names) for tool in self.modules[name].tools]

    def _keep(self, session: str, families: frozenset[str]) -> frozenset[str]:
        self._awake.pop(session, None)
        self._awake[session] = families
        if len(self._awake) > REMEMBERED:
            del self._awake[next(iter(self._awake))]
        return families
