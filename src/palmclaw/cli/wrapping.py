"""Breaks text into lines by the columns it takes: a Chinese character takes two, and may begin a line."""

import unicodedata
from collections.abc import Iterator

_NEVER_FIRST = "，。、；：？！…）】」』”’》,.;:?!)]}%"
_NEVER_LAST = "（【「『“‘《([{"


def width_of(text: str) -> int:
    """The columns that a text takes."""
    return sum(_columns(char) for char in text)


def is_wide(text: str) -> bool:
    """Whether anything in it takes two columns."""
    return any(_columns(char) == 2 for char in text)


def filled(text: str, width: int, indent: str = "") -> str:
    """The text in lines of at most `width` columns, each after `indent`."""
    lines, line = [], ""
    for piece in _pieces(" ".join(text.split(" "))):
        if line and width_of(indent + line + piece.rstrip(" ")) > width:
            lines.append(line)
            line = ""
        line += piece if line else piece.lstrip(" ")
        while width_of(indent + line.rstrip(" ")) > width:  # a word that is longer than a line
            head = _head(line, width - width_of(indent))
            lines.append(head)
            line = line[len(head) :]
    return "\n".join(f"{indent}{each.rstrip(' ')}" for each in (*lines, line) if each.strip(" ") or not lines)


def _pieces(text: str) -> Iterator[str]:
    """What stays together: a word with the space after it, or a wide character with the signs that belong to it."""
    piece = ""
    for char in text:
        if piece and _may_break(piece, char):
            yield piece
            piece = ""
        piece += char
    if piece:
        yield piece


def _may_break(piece: str, char: str) -> bool:
    if char in _NEVER_FIRST or piece[-1] in _NEVER_LAST or char == " ":
        return False
    return piece[-1] == " " or _columns(char) == 2 or _columns(piece[-1]) == 2


def _head(line: str, width: int) -> str:
    head = line[:1]
    for char in line[1:]:
        if width_of(head + char) > width:
            break
        head += char
    return head


def _columns(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
