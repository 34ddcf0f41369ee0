"""Finds the Chinese for what is said in English: by its name, as it stands, or by the pattern that it was made with."""

import re
from collections.abc import Iterator, Mapping
from importlib import import_module

from palmclaw.cli.texts import ENGLISH
from palmclaw.core.errors import Fault

SAID = ("spoken", "sentences")
TOLD = ("problems", "hints", "skills")
"""The tables in which something is looked for, in this order."""
HOLE = re.compile(r"\{#?\}")
"""Where something is put in; {#} is a number."""


def sentence(said: str) -> str:
    """The Chinese of a name or a sentence; English where there is none."""
    return _found(SAID, said) or ENGLISH.get(said, said)


def count(number: int, one: str) -> str:
    """So many of something."""
    return (_found(SAID, one) or f"{{count}} {one}").format(count=f"{number:,}")


def help_of(paragraph: str) -> str:
    """A paragraph or a line of a help page, however its lines are broken."""
    return _found(("manual",), " ".join(paragraph.split())) or paragraph


def told(text: str) -> str:
    """Whole, by its pattern, or else part by part: lines, places and what is wrong there, one after another."""
    if found := _known(text):
        return found
    for colon in re.finditer(": ", text):
        if found := _known(text[colon.end() :]):
            return f"{told(text[: colon.start()])}：{found}"
    for joint, in_chinese in (("\n", "\n"), ("; ", "；"), (": ", "：")):
        first, there, rest = text.partition(joint)
        parts = (told(first), told(rest)) if there else (first, rest)
        if parts != (first, rest):
            return in_chinese.join(parts)
    return text


def label(text: str) -> str:
    """Also of two reasons in one, and of one with a number in it."""
    whole = _label(text)
    return whole if whole != text else "，".join(map(_label, text.split(", ")))


def fault(found: Fault) -> tuple[str, str]:
    """What went wrong, by its code and with its details; what to do about it."""
    from palmclaw.cli.chinese.faults import EXACT, FAULTS, PLAIN

    detail, hint = told(found.message), told(found.hint)
    said, advice = FAULTS.get(found.code, ("", ""))
    if not said or (found.code in EXACT and detail != found.message):
        return detail, hint or advice
    return said if found.code in PLAIN else f"{said}（{detail}）", advice or hint


def _label(text: str) -> str:
    from palmclaw.cli.chinese.labels import LABELS

    number = re.search(r"\d+", text)
    if number is None:
        return LABELS.get(text, text)
    return LABELS.get(text.replace(number[0], "#"), text).replace("#", number[0])


def _found(tables: tuple[str, ...], said: str) -> str:
    for name in tables:
        if found := _table(name).get(said):
            return found
    return ""


def _table(name: str) -> Mapping[str, str]:
    table: Mapping[str, str] = import_module(f"palmclaw.cli.chinese.{name}").CHINESE
    return table


def _known(text: str) -> str:
    return _found(TOLD, text) or _by_pattern(text)


def _by_pattern(text: str) -> str:
    """By the pattern with the most words that it fits; what stood in its holes is put into the Chinese one's."""
    for english, chinese in sorted(_candidates(text), key=lambda pair: -len(HOLE.sub("", pair[0]))):
        if held := re.fullmatch(_expression(english), text, re.DOTALL):
            return chinese.format(*map(told, held.groups()))
    return ""


def _expression(pattern: str) -> str:
    parts = re.split(r"(\{#?\})", pattern)
    return "".join({"{}": "(.+?)", "{#}": r"(\d+)"}.get(part) or re.escape(part) for part in parts)


def _candidates(text: str) -> Iterator[tuple[str, str]]:
    for name in TOLD:
        for english, chinese in _table(name).items():
            first, *inner = HOLE.split(english)
            if inner and text.startswith(first) and text.endswith(inner[-1]):
                yield english, chinese
