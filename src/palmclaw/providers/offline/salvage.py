"""What can still be read of a JSON value whose end was cut off."""

import json
from typing import Any

from palmclaw.core.text import MARKER


def value_in(content: str) -> Any:
    """The JSON value; of a cut one its whole items and the beginning of a cut text; else the content itself."""
    try:
        return json.loads(content)
    except ValueError:
        head, mark, _ = content.rpartition(f"\n{MARKER}")
    return _salvaged(head, content) if mark else content


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
    waiting: list[str] = []
    quoted = escaped = False
    for char in head:
        if quoted:
            quoted, escaped = char != '"' or escaped, char == "\\" and not escaped
        elif char == '"':
            quoted = True
        elif char in "{[":
            waiting.append("}" if char == "{" else "]")
        elif char in "}]" and waiting:
            waiting.pop()
    return ('…"' if quoted and not escaped else "") + "".join(reversed(waiting))
