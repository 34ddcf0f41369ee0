"""Puts tool calls together from the fragments of a stream, whatever the service does with index and id."""

import json
import re
from collections.abc import Collection
from dataclasses import field
from typing import Any

from palmclaw.core.answers import Pieces, free_id, index_in, read_call
from palmclaw.core.messages import ToolCall
from palmclaw.core.values import dataclass
from palmclaw.core.wire import sealed
from palmclaw.providers.openai_chat.wire import PROTOCOL

_TOKENS = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)


@dataclass(slots=True)
class Fragment:
    """One entry of `tool_calls` in a chunk; what is missing is None or empty."""

    index: int | None
    id: str
    name: str
    text: str
    extra: Any = None

    @property
    def says_something(self) -> bool:
        """False for an entry that only keeps the connection warm."""
        return bool(self.id or self.name or self.text)


def fragment(entry: Any) -> Fragment | None:
    """Read one entry, or None where it is no object."""
    if not isinstance(entry, dict):
        return None
    function = entry.get("function")
    function = function if isinstance(function, dict) else entry
    index, extra = _index(entry), entry.get("extra_content")
    return Fragment(index, _word(entry.get("id")), _word(function.get("name")), _text(function), extra)


def _index(entry: dict[str, Any]) -> int | None:
    value = entry.get("index")
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 6 else index_in(entry)


def _word(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) else ""


def _text(function: dict[str, Any]) -> str:
    value = function.get("arguments")
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)


@dataclass(slots=True)
class _Open:
    """A call that is still being said.

    `complete`: its arguments are a whole object already; `after`: the call that it may only repeat.
    """

    id: str = ""
    name: str = ""
    after: "_Open | None" = None
    pieces: Pieces = field(default_factory=Pieces)
    depth: int = 0
    quoted: bool = False
    escaped: bool = False
    complete: bool = False
    extra: Any = None

    @property
    def text(self) -> str:
        """The arguments as far as they have been said."""
        return self.pieces.text

    def is_left_by(self, part: Fragment) -> bool:
        """Whether the fragment belongs to another call: it has a new name or id, or comes after a whole object."""
        if part.name and self.name and part.name != self.name:
            return True
        if part.id and self.id and part.id != self.id:
            return bool(part.name) or self.complete or not part.text
        return self.complete and self.text.strip() != "{}" and part.text.lstrip().startswith("{")

    def is_new(self, part: Fragment) -> bool:
        """Whether a fragment that leaves this call says who it is; if not, it may be an echo."""
        return (bool(part.id) and part.id != self.id) or part.name not in ("", self.name)

    def add(self, part: Fragment, limit: int) -> None:
        """Take over what the fragment says; text beyond the limit is not kept."""
        self.id = self.id or part.id
        self.name = self.name or part.name
        self.extra = self.extra or part.extra
        if self.complete and part.text.strip() and self.text.strip() == "{}":
            self.pieces, self.complete = Pieces(), False  # an empty object was only a placeholder
        self.pieces.add(part.text, limit)
        self._scan(part.text)

    def _scan(self, text: str) -> None:
        start, self.escaped = int(self.escaped), False
        for match in _TOKENS.finditer(text, start):
            token = match[0]
            if token.startswith("\\"):
                self.escaped = len(token) == 1
            elif token == '"':
                self.quoted = not self.quoted
            elif not self.quoted:
                self.depth += 1 if token in "{[" else -1
                self.complete = self.depth == 0


class CallAssembly:
    """Feed it fragments; at the end it has the calls in the order in which they were begun."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._calls: list[_Open] = []
        self._at: dict[int, _Open] = {}

    def add(self, part: Fragment, *, whole: bool = False) -> None:
        """`whole` entries are calls of their own, never the continuation of another."""
        found = None if whole else self._found(part)
        if found is None or found.is_left_by(part):
            found = _Open() if found is None or found.is_new(part) else _Open(name=found.name, after=found)
            self._calls.append(found)
        if part.index is not None:
            self._at[part.index] = found
        found.add(part, self._limit)

    def _found(self, part: Fragment) -> _Open | None:
        """The open call that the fragment speaks of, by index, by id, or as the newest."""
        found = self._at.get(part.index) if part.index is not None else None
        if found is None and part.id:
            found = next((c for c in self._calls if c.id == part.id and part.name in ("", c.name)), None)
        if found is None and self._calls and (part.index is None or not (part.id or part.name)):
            found = self._calls[-1]
        return found

    def calls(self, taken: Collection[str], *, cut: bool) -> tuple[ToolCall, ...]:
        """The calls with ids that nobody else has; when the answer was `cut`, the last one may be incomplete."""
        said = [c for c in self._calls if (c.name or c.text.strip()) and not _is_echo(c)]
        found: list[ToolCall] = []
        used = set(taken)
        for open_call in said:
            found.append(self._read(open_call, free_id(open_call.id, used), cut=cut and open_call is said[-1]))
            used.add(found[-1].id)
        return tuple(found)

    def _read(self, call: _Open, call_id: str, *, cut: bool) -> ToolCall:
        signature = sealed(json.dumps(call.extra), PROTOCOL) if call.extra else ""
        return read_call(ToolCall(call_id, call.name, signature=signature), call.text, self._limit, cut=cut)


def _is_echo(call: _Open) -> bool:
    """Whether it only says again what the call before it said; nothing may happen twice."""
    return call.after is not None and call.text.strip() == call.after.text.strip()
