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
DETAIL = (": ", ":\n", "(", "“", '"', "\t")
"""After these a hole holds what a system or a person has said."""
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|“[^”\n]*”")
BETWEEN_CLAUSES = re.compile(r"[:;.?!] |\n|[;?!]$|[a-z]\.$")
SMALL_WORD = re.compile(r"[a-z]{2,}[,')]?")
PRONOUNS = ("it", "they", "there", "this", "that", "nothing", "nobody")


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
    """Whole, by its pattern, or else part by part: lines, places and what is wrong there, one after another.

    A sentence is told in Chinese from its beginning to its end, or stays as it is.
    """
    return _whole(text) or "\n".join(_whole(line) or line for line in text.split("\n"))


def _whole(text: str) -> str:
    """As one sentence, or several of which each is known; empty where one is not."""
    if found := _known(text):
        return found
    for colon in re.finditer(": ", text):
        place, found = _place(text[: colon.start()]), _known(text[colon.end() :])
        if place and found:
            return f"{place}：{found}"
    for semicolon in re.finditer("; ", text):
        first, rest = _whole(text[: semicolon.start()]), _whole(text[semicolon.end() :])
        if first and rest:
            return f"{first}；{rest}"
    return ""


def _place(text: str) -> str:
    """Where something is wrong: names and places of lines."""
    parts = [_known(part) or (part if is_name(part) else "") for part in text.split(": ")]
    return "：".join(parts) if all(parts) else ""


def is_name(text: str) -> bool:
    """Whether this names something, a path, a number, a list of such: nothing that English says of anything."""
    if text.startswith(("/", "~/")):
        return not BETWEEN_CLAUSES.search(text) and _is_one_name(text.rpartition("/")[2])
    bare = QUOTED.sub("'…'", text)
    return not BETWEEN_CLAUSES.search(bare) and all(map(_is_one_name, bare.split(", ")))


def _is_one_name(text: str) -> bool:
    words = text.split(" ")
    return not any(SMALL_WORD.fullmatch(word) for word in words) if len(words) > 1 else text not in PRONOUNS


def label(text: str) -> str:
    """Also of two reasons in one, and of one with a number in it."""
    parts = [text] if _label(text) else text.split(", ")
    found = [_label(part) for part in parts]
    return "，".join(found) if all(found) else text


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
        return LABELS.get(text, "")
    return LABELS.get(text.replace(number[0], "#"), "").replace("#", number[0])


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
        if (held := re.fullmatch(_expression(english), text, re.DOTALL)) and (fillings := _fillings(english, held)):
            return chinese.format(*fillings)
    return ""


def _fillings(pattern: str, held: re.Match[str]) -> list[str]:
    """What goes into the holes: names, sentences that are known, and at a detail's place whatever it says; or none."""
    before = HOLE.split(pattern)
    found = [
        _known(each) or _label(each) or (told(each) if start.endswith(DETAIL) else each if is_name(each) else "")
        for start, each in zip(before, held.groups(), strict=False)
    ]
    return found if all(found) else []


def _expression(pattern: str) -> str:
    parts = re.split(r"(\{#?\})", pattern.replace("{}{}", "{…}{}"))
    kinds = {"{}": "(.+?)", "{#}": r"(\d+)"}
    return "".join(kinds.get(part) or re.escape(part) for part in parts).replace(r"\{…\}", r"(\S+)")


def _candidates(text: str) -> Iterator[tuple[str, str]]:
    for name in TOLD:
        for english, chinese in _table(name).items():
            first, *inner = HOLE.split(english)
            if inner and text.startswith(first) and text.endswith(inner[-1]):
                yield english, chinese
