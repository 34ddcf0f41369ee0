"""What can still be read of a JSON value whose end was cut off."""

import json
from typing import Any

from palmclaw.core.text import MARKER

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


def _whole(head: str) -> str:
    """Without the unfinished item of the outermost list that is still open."""
    opened = _open(head)
    start = next((at for at, char in opened if char == "["), None)
    if start is None:
        return head
    inside = next((at for at, char in opened if at > start and char in "{["), len(head))
    commas = [at for at in _outside_text(head, start) if head[at] == "," and at < inside]
    finished = [at for at in commas if len(_open(head[:at])) == [a for a, _ in opened].index(start) + 1]
    return head[: finished[-1]] if finished else head[: start + 1]


def _salvaged(head: str, content: str) -> Any:
    """Close what is open; where that gives no value, drop the last item and try again."""
    while head:
        try:
            return json.loads(head + _closing(head))
        except ValueError:
            head = head[: max(head.rfind(","), head.rfind("{"), head.rfind("["), 0)]
    return content
