"""What a service's refusals teach about its models, so that the same request can be asked once more."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from palmclaw.core.ports import Findings
from palmclaw.providers.anthropic.wire import Terms

UNKNOWN_CEILING = 32_000
CEILINGS = (
    # https://platform.claude.com/docs/en/models/overview, seen 2026-11-30
    *((f"claude-{family}-5", 128_000) for family in ("fable", "opus", "sonnet", "haiku")),
    ("claude-haiku-4-5", 64_000),
    # https://github.com/Effect-TS/effect/releases/tag/@effect%2Fai-anthropic@4.0.0-beta.106, seen 2026-11-30
    *((f"claude-opus-4-{version}", 128_000) for version in (6, 7, 8)),
    ("claude-sonnet-4-6", 128_000),
    ("claude-opus-4-5", 64_000),
    ("claude-sonnet-4-5", 64_000),
)
_TOO_MUCH = re.compile(
    r"(?=.*(?:max_tokens|output tokens|completion tokens))(?=.*(?:>|maximum|at most|less than|exceed|range|too large))",
    re.DOTALL,
)
LEAST = 256
"""Fewer tokens are no ceiling of a model's, but some other number."""
_NUMBER = re.compile(r"\d[\d_,]*")
_WINDOW_LESS_INPUT = re.compile(r"> (\d+) - (\d+)")
_INPUT_IN_WINDOW = re.compile(r"(\d+) \+ (?:`?max_tokens`? )?(\d+) > (\d+)")
_ONLY_ADAPTIVE = re.compile(r"thinking.{0,40}enabled.{0,40}not supported|thinking.{0,200}adaptive", re.S)
_THOUGHT_REFUSED = re.compile(r"signature|bound to a different|cannot be modified|redacted_thinking")


@dataclass(frozen=True, slots=True)
class Lesson:
    """How to ask `now`, and how to ask from the beginning `later`."""

    now: Terms
    later: Terms


def ceiling(model: str) -> int:
    """The most tokens that the vendor documents for an answer of the model."""
    return next((limit for name, limit in CEILINGS if name in model), UNKNOWN_CEILING)


def taught(words: str, terms: Terms, thoughts: Collection[str]) -> Lesson | None:
    """What a refusal in these words says should be asked for instead; `thoughts` are the signatures that were sent."""
    if terms.thinking and not terms.adaptive and _ONLY_ADAPTIVE.search(words):
        return _always(replace(terms, adaptive=True))
    if "thinking" in words and _THOUGHT_REFUSED.search(words):
        refused = terms.refused | frozenset(thoughts)
        return _always(replace(terms, refused=refused)) if refused != terms.refused else None
    return _shorter(words, terms)


def _always(terms: Terms) -> Lesson:
    return Lesson(terms, terms)


def _shorter(words: str, terms: Terms) -> Lesson | None:
    """The ceiling that the service names; where it names its window, what is left there, and from then on half."""
    window, room = _window(words)
    if not window:
        named = (int(re.sub("[_,]", "", n)) for n in _NUMBER.findall(words)) if _TOO_MUCH.match(words) else ()
        room = max((n for n in named if n < terms.max_tokens), default=0)
    if not LEAST <= room < terms.max_tokens:
        return None
    later = min(terms.max_tokens, window // 2) if window else room
    return Lesson(replace(terms, max_tokens=room), replace(terms, max_tokens=later))


def _window(words: str) -> tuple[int, int]:
    """The model's window and what the input leaves of it; zeros where the words do not say."""
    if found := _WINDOW_LESS_INPUT.search(words):
        return int(found[1]), int(found[1]) - int(found[2])
    if found := _INPUT_IN_WINDOW.search(words):
        return int(found[3]), int(found[3]) - int(found[1])
    return 0, 0


@dataclass(slots=True)
class Memory:
    """Terms by model: what was set, what is documented, and what was learned, some of it beyond this process."""

    findings: Findings
    origin: str
    base: Terms
    _refused: frozenset[str] = frozenset()

    def terms(self, model: str) -> Terms:
        """How to ask this model."""
        learned = self.findings.get(self._key("max_tokens", model)) or ""
        set_here = self.base.max_tokens or ceiling(model)
        bound = min(set_here, int(learned)) if learned.isdecimal() and int(learned) > 0 else set_here
        adaptive = self.findings.get(self._key("thinking", model)) == "adaptive"
        return replace(self.base, max_tokens=bound, adaptive=adaptive, refused=self._refused)

    def keep(self, model: str, later: Terms) -> None:
        """Remember what was learned; signatures only as long as the process lasts."""
        before = self.terms(model)
        if later.max_tokens != before.max_tokens:
            self.findings.put(self._key("max_tokens", model), str(later.max_tokens))
        if later.adaptive and not before.adaptive:
            self.findings.put(self._key("thinking", model), "adaptive")
        self._refused |= later.refused

    def _key(self, what: str, model: str) -> str:
        return f"anthropic {what} {self.origin} {model}"
