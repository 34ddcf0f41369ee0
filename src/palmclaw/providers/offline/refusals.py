"""The words of `data/refusals.toml`: what a slot must not hold, and levels by name."""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from palmclaw.core.hanzi import simplified
from palmclaw.core.values import dataclass
from palmclaw.providers.offline.moments import is_chinese

_LATIN = re.compile(r"[A-Za-z0-9]+")


@dataclass(frozen=True, slots=True)
class Refusals:
    """The loaded words."""

    patterns: Mapping[str, "re.Pattern[str]"]
    nobody: frozenset[str]
    levels: Mapping[str, int]


@lru_cache(maxsize=1)
def refusals() -> Refusals:
    """Loaded at the first slot, once per process."""
    with (Path(__file__).parent / "data" / "refusals.toml").open("rb") as file:
        written = tomllib.load(file)
    nobody, levels = frozenset(written.pop("nobody").split()), written.pop("levels")
    return Refusals({k: re.compile(v, re.VERBOSE | re.IGNORECASE) for k, v in written.items()}, nobody, levels)


def refused(slot: str, words: str) -> bool:
    return refusals().patterns[slot].search(simplified(words)) is not None


def longer(words: str, english: int, chinese: int) -> bool:
    """Whether there are more words (in Chinese: characters) than a name of that kind has."""
    if is_chinese(words):
        return len(_LATIN.sub("xx", words)) > chinese
    return len(words.split()) > english
