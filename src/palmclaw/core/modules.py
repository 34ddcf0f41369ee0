"""Which tools a conversation needs: keywords wake modules, and modules bring along what they require."""

import re
from collections.abc import Iterable, Mapping

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
    return any(_said(keyword, heard) for keyword in module.keywords)


def _said(keyword: str, heard: str) -> bool:
    """Whole words in alphabets that write spaces (plural and -ing forgiven); anywhere in those that do not."""
    if not keyword.isascii():
        return keyword in heard
    return re.search(rf"(?<![a-z0-9]){re.escape(keyword)}(?:s|es|ed|ing)?(?![a-z0-9])", heard) is not None
