"""What a service's refusals teach about its models, so that the same request can be asked once more."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from palmclaw.core.ports import Request
from palmclaw.core.values import dataclass
from palmclaw.core.wire import signatures
from palmclaw.net.ceilings import least, shorter
from palmclaw.net.learning import Lesson, Notes
from palmclaw.providers.anthropic.wire import PROTOCOL, Terms, bounded

_ONLY_ADAPTIVE = re.compile(r"thinking.{0,40}enabled.{0,40}not supported|thinking.{0,200}adaptive", re.S)
_THOUGHT_REFUSED = re.compile(r"signature|bound to a different|cannot be modified|redacted_thinking")


@dataclass(slots=True)
class Memory:
    """Terms by model: what was set, what is documented, and what was learned, some of it beyond this process."""

    notes: Notes
    base: Callable[[str], Terms]
    _refused: frozenset[str] = frozenset()

    def terms(self, model: str) -> Terms:
        """How to ask this model."""
        base = self.base(model)
        bound = least(base.max_tokens, self.notes.number("max_tokens", model))
        adaptive = self.notes.read("thinking", model) == "adaptive"
        return replace(base, max_tokens=bound, adaptive=adaptive, refused=self._refused)

    def taught(self, words: str, asked: Lesson[Terms], request: Request) -> Lesson[Terms] | None:
        """A model that sets its own budget, thoughts that are not taken back, or a lower bound."""
        now, later = asked.now, asked.later
        if now.thinking and not now.adaptive and _ONLY_ADAPTIVE.search(words):
            return _both(asked, adaptive=True)
        if "thinking" in words and _THOUGHT_REFUSED.search(words):
            refused = now.refused | signatures(request, PROTOCOL)
            return _both(asked, refused=refused) if refused != now.refused else None
        if found := shorter(words, bounded(request, now)):
            here, ceiling = found
            return Lesson(replace(now, max_tokens=here), replace(later, max_tokens=min(later.max_tokens, ceiling)))
        return None

    def keep(self, model: str, later: Terms) -> None:
        """Remember what a service accepted after it had refused; signatures only as long as the process lasts."""
        known = self.terms(model)
        if later.max_tokens != known.max_tokens:
            self.notes.write("max_tokens", model, str(later.max_tokens))
        if later.adaptive and not known.adaptive:
            self.notes.write("thinking", model, "adaptive")
        self._refused |= later.refused


def _both(asked: Lesson[Terms], **changes: Any) -> Lesson[Terms]:
    return Lesson(replace(asked.now, **changes), replace(asked.later, **changes))
