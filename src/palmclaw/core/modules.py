"""Which tools a conversation needs: keywords wake modules, and modules bring along what they require."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from palmclaw.core.tools import Module


def matched(modules: Mapping[str, Module], texts: Iterable[str]) -> frozenset[str]:
    """The modules one of whose keywords stands in one of the texts, with the always-on ones."""
    heard = "\n".join(texts).lower()
    found = {name for name, module in modules.items() if module.always or _hears(module, heard)}
    return expanded(modules, found)


def expanded(modules: Mapping[str, Module], names: Iterable[str]) -> frozenset[str]:
    """The named modules and, recursively, everything they require."""
    found: set[str] = set()
    waiting = [n for n in names if n in modules]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [r for r in modules[name].requires if r in modules]
    return frozenset(found)


def _hears(module: Module, heard: str) -> bool:
    pattern = _pattern(module.keywords)
    return pattern is not None and pattern.search(heard) is not None


@lru_cache(maxsize=256)
def _pattern(keywords: tuple[str, ...]) -> re.Pattern[str] | None:
    """Whole words in alphabets that write spaces (plural and -ing forgiven); anywhere in those that do not."""
    words = "|".join(re.escape(k) for k in keywords if k.isascii())
    others = [re.escape(k) for k in keywords if not k.isascii()]
    spaced = [rf"(?<![a-z0-9])(?:{words})(?:s|es|ed|ing)?(?![a-z0-9])"] if words else []
    return re.compile("|".join([*spaced, *others])) if keywords else None
