"""Long answers in parts that say where to read on, and changes to a text that keep its line ends."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

from palmclaw.core.errors import ToolError
from palmclaw.core.values import dataclass


def size(value: Any) -> int:
    """How many characters a plain value has as the JSON that a model reads."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a text; `line` and `char` say where the next one begins, `line` 0 that there is none."""

    text: str
    line: int = 0
    char: int = 0


def part(lines: Sequence[str], start: int, char: int, count: int, room: int) -> Part:
    """At most `count` whole lines from line `start` (the first is 1) that fit into `room` characters of JSON.

    `char` is an offset inside the first line. A line that does not fit at all is cut, never before its first character.
    """
    taken: list[str] = []
    at = start - 1
    for line in lines[at : at + count]:
        rest = line[char:]
        fits = _fitting(rest, room)
        if fits < len(rest) and taken:
            break
        if fits < len(rest):
            cut = _before_combining(rest, fits) or 1
            return Part(rest[:cut], at + 1, char + cut)
        taken.append(rest)
        room -= size(rest) - 2
        at, char = at + 1, 0
    return Part("".join(taken), at + 1 if at < len(lines) else 0)


def _fitting(text: str, room: int) -> int:
    """How many characters of the text fit, counted as JSON writes them."""
    used = 0
    for at, char in enumerate(text):
        used += 1 if char >= " " and char not in '"\\' else size(char) - 2
        if used > room:
            return at
    return len(text)


def _before_combining(text: str, end: int) -> int:
    """The nearest place not after `end` that is not inside a character and its accents; 0 when there is none."""
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    return end


@dataclass(slots=True)
class Page:
    """The first items of a long list: as many as are wanted and as fit into `room` characters of JSON."""

    limit: int
    room: int
    items: list[Any] = field(default_factory=list)

    def add(self, item: Any) -> bool:
        """False for the first item that is left out; after it no other is taken."""
        self.room -= size(item) + 1
        if self.room < 0:
            self.limit = len(self.items)
        if len(self.items) >= self.limit:
            return False
        self.items.append(item)
        return True


def hits(text: str, query: str, most: int) -> Iterator[dict[str, Any]]:
    """The lines that hold a text in whatever case, by number, at most `most` characters of each."""
    for number, line in enumerate(text.splitlines(), 1):
        if query.lower() in line.lower():
            yield {"line": number, "text": line[:most]}


def edited(text: str, old: str, new: str, *, everywhere: bool) -> tuple[str, int]:
    """The text with `old` replaced in one place or everywhere, and in how many. Raises ToolError."""
    if old == new:
        raise ToolError("no_change", "old and new are the same text; nothing was changed")
    old, new = in_its_line_ends(text, old), in_its_line_ends(text, new)
    count = text.count(old)
    if count == 0:
        raise ToolError("no_match", "the old text is not in the file", hint="Read the file first.")
    if count > 1 and not everywhere:
        raise ToolError("ambiguous", f"the old text is there {count} times", hint="Give more of it, or set all.")
    return text.replace(old, new), count


def in_its_line_ends(text: str, added: str) -> str:
    """What is put into a text, with the line ends that the text has."""
    return added.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else added


def appended(text: str, added: str) -> str:
    """The text with another one on a line of its own at the end."""
    is_open = bool(text) and not text.endswith(("\n", "\r"))
    parted = "\n" if is_open and added and not added.startswith(("\n", "\r")) else ""
    return text + in_its_line_ends(text, parted + added)
