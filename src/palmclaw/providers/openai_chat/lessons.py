"""What a service's refusals teach about its models, so that the same request can be asked once more."""

import re
from collections.abc import Callable
from dataclasses import replace

from palmclaw.core.ports import Request
from palmclaw.core.values import dataclass
from palmclaw.net.ceilings import least, shorter
from palmclaw.net.learning import Lesson, Notes
from palmclaw.providers.openai_chat.wire import Dialect, bounded, other_field

_UNKNOWN = re.compile(
    r"unsupported|not support|not permitted|not allowed|unknown|unrecogni[sz]ed|unexpected|no such|invalid (?:argument|"
    r"field|param)|extra inputs?|instead",
    re.IGNORECASE,
)
_USAGE = re.compile(r"stream_options|include_usage")
_REFUSED = re.compile(
    r"support|permitted|allowed|unknown|unrecogni[sz]ed|unexpected|invalid|extra inputs?|only", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Memory:
    """Dialects by model: what is set, and what was learned beyond this process."""

    notes: Notes
    base: Callable[[str], Dialect]

    def terms(self, model: str) -> Dialect:
        """How to ask this model."""
        base = self.base(model)
        learned = self.notes.read("token_field", model) == other_field(base.token_field)
        return replace(
            base,
            token_field=other_field(base.token_field) if learned else base.token_field,
            usage=base.usage and self.notes.read("usage", model) != "no",
            ceiling=least(base.ceiling, self.notes.number("ceiling", model)),
        )

    def taught(self, words: str, asked: Lesson[Dialect], request: Request) -> Lesson[Dialect] | None:
        """The other field for the bound, a request without counts, or a lower bound."""
        now, later, sent = asked.now, asked.later, bounded(request, asked.now)
        if now.usage and _USAGE.search(words) and _REFUSED.search(words):
            return Lesson(replace(now, usage=False), replace(later, usage=False))
        if sent and _UNKNOWN.search(words) and re.search(rf"\b{now.token_field}\b", words):
            field = other_field(now.token_field)
            first = now.token_field == self.terms(request.model).token_field  # else both are refused
            return Lesson(replace(now, token_field=field), replace(later, token_field=field)) if first else None
        if found := shorter(words, sent):
            here, ceiling = found
            return Lesson(replace(now, ceiling=here), replace(later, ceiling=least(later.ceiling, ceiling)))
        return None

    def keep(self, model: str, later: Dialect) -> None:
        """Remember what a service accepted after it had refused."""
        known = self.terms(model)
        if later.token_field != known.token_field:
            self.notes.write("token_field", model, later.token_field)
        if later.usage != known.usage:
            self.notes.write("usage", model, "no")
        if later.ceiling != known.ceiling:
            self.notes.write("ceiling", model, str(later.ceiling))
