"""What a service's refusals teach about its models, so that the same request can be asked once more."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from palmclaw.core.ports import Request
from palmclaw.core.values import dataclass
from palmclaw.core.wire import signatures
from palmclaw.net.ceilings import LEAST, least, shorter
from palmclaw.net.learning import Lesson, Notes
from palmclaw.providers.openai_responses.wire import PROTOCOL, Terms, bounded

_INCLUDE = re.compile(
    r"['\"`]include\b|\binclude[\[.]|param\w*:? include\b|reasoning\.encrypted_content"
    r"|encrypted.content.{0,60}not (?:supported|available|allowed)",
    re.I | re.S,
)
_THOUGHTS = re.compile(r"encrypted.content|\breasoning\b|\brs_|\bphase\b", re.I)
_LEAST = re.compile(r"max_output_tokens.{0,80}(?:>=|at least|minimum of)\D{0,5}(\d{1,3})\b", re.I | re.S)
_EFFORT = re.compile(r"\beffort\b", re.I)


@dataclass(slots=True)
class Memory:
    """Terms by model: what was set, and what was learned, some of it beyond this process."""

    notes: Notes
    base: Callable[[str], Terms]
    _least: int = 0
    _refused: frozenset[str] = frozenset()

    def terms(self, model: str) -> Terms:
        """How to ask this model."""
        base = self.base(model)
        include = self.notes.read("include", model) != "no"
        most = least(base.most, self.notes.number("most", model))
        return replace(base, include=include, least=self._least, most=most, refused=self._refused)

    def taught(self, words: str, asked: Lesson[Terms], request: Request) -> Lesson[Terms] | None:
        """Another bound, a request without encrypted thoughts, or without those that were sent."""
        now, later = asked.now, asked.later
        if _EFFORT.search(words):
            return None  # that is for the person to change
        if (found := _LEAST.search(words)) and now.least < int(found[1]) <= LEAST:
            return _both(asked, least=int(found[1]))
        if bound := shorter(words, bounded(request, now)):
            here, most = bound
            return Lesson(replace(now, most=here), replace(later, most=least(later.most, most)))
        if now.include and _INCLUDE.search(words):
            return _both(asked, include=False)
        thoughts = signatures(request, PROTOCOL)
        if thoughts - now.refused and _THOUGHTS.search(words):
            return _both(asked, refused=now.refused | thoughts)
        return None

    def keep(self, model: str, later: Terms) -> None:
        """Remember what a service accepted after it had refused; the least and signatures only within this process."""
        known = self.terms(model)
        if later.include != known.include:
            self.notes.write("include", model, "no")
        if later.most != known.most:
            self.notes.write("most", model, str(later.most))
        self._least = max(self._least, later.least)
        self._refused |= later.refused


def _both(asked: Lesson[Terms], **changes: Any) -> Lesson[Terms]:
    return Lesson(replace(asked.now, **changes), replace(asked.later, **changes))
