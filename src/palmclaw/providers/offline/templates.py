"""What a sentence must contain before a template is worth parsing, so that only the few that may match are parsed."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from palmclaw.core.values import dataclass

_TOKEN = re.compile(r"[()\[\]|]|<[^>]*>|\{[^}]*\}|[^()\[\]|<{]+")
Clause = frozenset[str]


@dataclass(frozen=True, slots=True)
class Needs:
    """Works out the words that a template cannot do without; each clause wants one of its words."""

    rules: Mapping[str, str]
    known: dict[str, tuple[Clause, ...]] = field(default_factory=dict)

    def of(self, template: str) -> tuple[Clause, ...]:
        tokens = _TOKEN.finditer(template)
        return tuple(self._alternatives(tokens))

    def _alternatives(self, tokens: "Iterator[re.Match[str]]") -> list[Clause]:
        """Read up to the closing bracket; several alternatives together need one word of each."""
        branches: list[list[Clause]] = [[]]
        for token in tokens:
            text = token[0]
            if text in (")", "]"):
                break
            if text == "|":
                branches.append([])
            elif text == "[":
                self._alternatives(tokens)
            elif text == "(":
                branches[-1] += self._alternatives(tokens)
            elif text[0] == "<":
                branches[-1] += self._rule(text[1:-1])
            elif text[0] != "{":
                branches[-1] += [frozenset((word.casefold(),)) for word in text.split()]
        return branches[0] if len(branches) == 1 else _either(branches)

    def _rule(self, name: str) -> tuple[Clause, ...]:
        if name not in self.known:
            self.known[name] = self.of(self.rules[name])
        return self.known[name]


def _either(branches: list[list[Clause]]) -> list[Clause]:
    if not all(branches):
        return []
    return [frozenset().union(*(min(branch, key=len) for branch in branches))]


def present(vocabulary: Iterable[str], folded: str, spaced: bool) -> frozenset[str]:
    """The words that the folded sentence holds; without word spaces, those whose characters it has in any order."""
    if spaced:
        return frozenset(w for w in vocabulary if w in folded)
    chars = frozenset(folded)
    return frozenset(w for w in vocabulary if chars.issuperset(w))


def satisfied(clauses: Iterable[Clause], words: frozenset[str]) -> bool:
    """Whether one word of each clause is among the words."""
    return not any(clause.isdisjoint(words) for clause in clauses)


def rules_in(template: str) -> list[str]:
    """The names of the rules that the template refers to."""
    return re.findall(r"<([^>]*)>", template)
