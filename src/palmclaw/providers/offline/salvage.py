"""What can still be read of a JSON value whose end was cut off."""

import json
from dataclasses import field
from typing import Any

from palmclaw.core.text import MARKER
from palmclaw.core.values import dataclass

_CUT = f"\n{MARKER} ("


def is_cut(content: str) -> bool:
    """Whether the gate cut the content off."""
    return _CUT in content


def value_in(content: str) -> Any:
    """The JSON value; of a cut one the whole items of its list or the beginning of its text; else the content itself.

    A cut object says so: it has `more`, as results have that leave rows out.
    """
    try:
        return json.loads(content)
    except ValueError:
        head, mark, _ = content.rpartition(_CUT)
    found = _salvaged(_whole(head), content) if mark else content
    return {"more": True} | found if isinstance(found, dict) else found


@dataclass(slots=True)
class _Open:
    """What is still open at the end of a text: each bracket with the end of its last whole item, and a quote."""

    brackets: list[tuple[str, int]] = field(default_factory=list)
    quoted: bool = False
    escaped: bool = False


def _open(head: str) -> _Open:
    found = _Open()
    for at, char in enumerate(head):
        if found.quoted:
            found.quoted, found.escaped = char != '"' or found.escaped, char == "\\" and not found.escaped
        elif char == '"':
            found.quoted = True
        elif char in "{[":
            found.brackets.append((char, at + 1))
        elif char in "}]" and found.brackets:
            found.brackets.pop()
        elif char == "," and found.brackets:
            found.brackets[-1] = (found.brackets[-1][0], at)
    return found


def _whole(head: str) -> str:
    """Without the unfinished item of the outermost list that is open."""
    return head[: next((end for char, end in _open(head).brackets if char == "["), len(head))]


def _salvaged(head: str, content: str) -> Any:
    """Close what is open; where that gives no value, drop the last item and try again."""
    while head:
        try:
            return json.loads(head + _closing(head))
        except ValueError:
            head = head[: max(head.rfind(","), head.rfind("{"), head.rfind("["), 0)]
    return content


def _closing(head: str) -> str:
    """The brackets and the quote that are still open at the end of the text."""
    found = _open(head)
    closing = ("}" if char == "{" else "]" for char, _ in reversed(found.brackets))
    return ('…"' if found.quoted and not found.escaped else "") + "".join(closing)
