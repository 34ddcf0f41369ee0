"""What a service's refusals teach about its models, so that the same request can be asked once more."""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from palmclaw.core.ports import Findings
from palmclaw.providers.openai_responses.wire import Terms

_INCLUDE = re.compile(
    r"\binclude\b|reasoning\.encrypted_content|encrypted.content.{0,60}not (?:supported|available|allowed)", re.I | re.S
)
_THOUGHTS = re.compile(r"encrypted.content|\breasoning\b|\brs_|\bphase\b", re.I)
_LEAST = re.compile(r"max_output_tokens.{0,80}(?:>=|at least|minimum of)\D{0,5}(\d{1,4})\b", re.I | re.S)
_EFFORT = re.compile(r"\beffort\b", re.I)


def taught(words: str, terms: Terms, thoughts: AbstractSet[str]) -> Terms | None:
    """What a refusal in these words says should be asked for instead; `thoughts` are the signatures that were sent."""
    if _EFFORT.search(words):
        return None  # that is for the person to change
    if (least := _LEAST.search(words)) and int(least[1]) > terms.least:
        return replace(terms, least=int(least[1]))
    if terms.include and _INCLUDE.search(words):
        return replace(terms, include=False)
    if thoughts - terms.refused and _THOUGHTS.search(words):
        return replace(terms, refused=terms.refused | thoughts)
    return None


@dataclass(slots=True)
class Memory:
    """Terms by model: what was set, and what was learned, some of it beyond this process."""

    findings: Findings
    origin: str
    base: Terms
    _least: int = 0
    _refused: frozenset[str] = frozenset()

    def terms(self, model: str) -> Terms:
        """How to ask this model."""
        include = self.findings.get(self._key(model)) != "no"
        return replace(self.base, include=include, least=self._least, refused=self._refused)

    def keep(self, model: str, learned: Terms) -> None:
        """Remember what a service accepted after it had refused; bounds and signatures only within this process."""
        if not learned.include:
            self.findings.put(self._key(model), "no")
        self._least = max(self._least, learned.least)
        self._refused |= learned.refused

    def _key(self, model: str) -> str:
        return f"openai_responses include {self.origin} {model}"
