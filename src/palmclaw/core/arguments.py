"""Reads the text that a model sent as a call's arguments; forgives what can only mean one thing."""

import ast
import json
import re
import warnings
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, NoReturn

from palmclaw.core.text import whole

MAX_CHARS = 600_000
RAW_CHARS = 200
_LITERAL_CHARS = 100_000
_DEPTH = 100
_NOTHING = ("", "null", "None", "undefined")
_SAYS_MORE = re.compile(r"[^\s,;}\])`'\"]")

Flaw = Literal["", "invalid", "truncated", "too_large"]


class ReadArguments(NamedTuple):
    """The arguments, what was wrong with their text, and the text's beginning when something was."""

    value: dict[str, Any]
    flaw: Flaw = ""
    raw: str = ""


def read_arguments(text: str | None, limit: int = MAX_CHARS) -> ReadArguments:
    """The object that `text` spells; never raises.

    `truncated` arguments are the best repair of a text that stops early: good enough to read with, never to write.
    """
    text = (text or "").strip()
    if text in _NOTHING:
        return ReadArguments({})
    if len(text) > limit:
        return ReadArguments({}, "too_large", _beginning(text))
    if (value := _object(text, unwraps=2)) is not None:
        return ReadArguments(value)
    if (value := _closed(text)) is not None:
        return ReadArguments(value, "truncated", _beginning(text))
    return ReadArguments({}, "invalid", _beginning(text))


def json_value(text: str) -> Any:
    """JSON as models write it (raw line feeds inside strings), or None; no infinities, no endless nesting."""
    try:
        return _sound(_DECODER.decode(text))
    except (ValueError, RecursionError):
        return None


def literal_value(text: str) -> Any:
    """A Python literal as the JSON value that it stands for, or None."""
    if len(text) > _LITERAL_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
        return _sound(json.loads(json.dumps(value, allow_nan=False)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _object(text: str, unwraps: int) -> dict[str, Any] | None:
    """The one object in a text, tried in the order from exact to forgiving."""
    for read in (json_value, _unescaped, literal_value, _before_rubbish):
        found = _unwrapped(read(text), unwraps)
        if found is not None:
            return found
    return None


def _unwrapped(value: Any, unwraps: int) -> dict[str, Any] | None:
    """An object itself, the only one of a list, or the one that a string spells."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and unwraps:
        text = value.strip()
        return {} if text in _NOTHING else _object(text, unwraps - 1)
    return value if isinstance(value, dict) else None


def _unescaped(text: str) -> Any:
    """An object whose quotes were escaped once too often."""
    if not text.startswith(("{\\", "[{\\")):
        return None
    inner = json_value(f'"{text}"')
    return json_value(inner) if isinstance(inner, str) else None


def _before_rubbish(text: str) -> Any:
    """A complete object followed by words; a second object or list behind it would be a guess."""
    if not text.startswith("{"):
        return None
    try:
        value, end = _DECODER.raw_decode(text)
        value = _sound(value)
    except (ValueError, RecursionError):
        return None
    rest = _SAYS_MORE.search(text, end)
    return None if rest is not None and rest[0] in "{[" else value


def _closed(text: str) -> dict[str, Any] | None:
    """The object of a text that stops early: its open string and brackets closed, else cut at the last whole value."""
    if not text.startswith("{"):
        return None
    scan = _Scan()
    scan.run(text)
    if not scan.open or len(scan.open) > _DEPTH:
        return None
    ending = text[: -len(scan.escape)] if scan.escape else text
    closed = json_value(ending + '"' * scan.in_string + scan.closers)
    if closed is None and _UNFINISHED.match(text, scan.safe):
        closed = json_value(text[: scan.safe] + scan.safe_closers)
    return closed if isinstance(closed, dict) else None


class _Scan:
    """Walks JSON text once: which brackets are open at its end, and where it could be cut without harm."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.in_string = False
        self.escape = ""
        self.safe = 0
        self.safe_closers = ""

    @property
    def closers(self) -> str:
        """What would close every open bracket."""
        return "".join(reversed(self.open))

    def run(self, text: str) -> None:
        """Walk the whole text, or as far as it can be JSON."""
        for match in _TOKENS.finditer(text):
            token, at = match[0], match.start()
            self.escape = ""
            if token == '"':
                self.in_string = not self.in_string
            elif self.in_string:
                self.escape = token if _CUT_ESCAPE.fullmatch(token) and match.end() == len(text) else ""
            elif not self._bracket(token, at):
                return

    def _bracket(self, token: str, at: int) -> bool:
        """False where the text cannot be JSON any more."""
        if token in "{[":
            self.open.append("}" if token == "{" else "]")
            self._may_cut(at + 1)
        elif token == ",":
            self._may_cut(at)
        elif token in "}]" and (not self.open or self.open.pop() != token):
            self.open = []
            return False
        return len(self.open) <= _DEPTH

    def _may_cut(self, at: int) -> None:
        self.safe, self.safe_closers = at, self.closers


def _beginning(text: str) -> str:
    return whole(text[:RAW_CHARS])


def _sound(value: Any) -> Any:
    """The value with no half characters in it, so that it can be stored and sent; raises when it nests too deeply."""
    level = [value]
    for _ in range(_DEPTH):
        level = [child for box in level for child in _children(box)]
        if not level:
            break
    else:
        raise RecursionError
    text = json.dumps(value, ensure_ascii=False)
    joined = whole(text)
    return value if joined is text else json.loads(joined)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        _refused(text)
    return number


_TOKENS = re.compile(r'\\(?:u[0-9a-fA-F]{0,4}|.|$)|["{}\[\],]', re.DOTALL)
_UNFINISHED = re.compile(r',?\s*(?:"(?:[^"\\]|\\.)*+(?:"\s*(?::\s*[-+.\w]*)?)?|[-+.\w]*)\\?\Z', re.DOTALL)
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refused, parse_float=_finite)
