"""One codec for tool arguments, configuration, stored messages and events.

`decode` turns JSON into a dataclass (all problems at once, each with its path), `encode` turns it back. A field
typed `Annotated[T, marker]` is handed to the resolver registered for the marker's type, so that a checked value is
the only one a handler can ever see.
"""

import dataclasses
import json
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from palmclaw.core.errors import BadArguments
from palmclaw.core.schema import SCALARS, Between, Length, Plan, Textual, plan_of

T = TypeVar("T")
Resolver = Callable[[Any, Any], Any]
Resolvers = Mapping[type, Resolver]
_FLAWED = object()


def decode(tp: type[T], value: Any, resolvers: Resolvers | None = None) -> T:
    """Build `tp` from JSON exactly as it is, or raise `BadArguments` naming every problem."""
    result, _ = _decoded(_Decoder(resolvers or {}, mending=False), tp, value)
    return result  # type: ignore[no-any-return]  # the decoder builds a T or raises


def decode_mending(tp: type[T], value: Any, resolvers: Resolvers | None = None) -> tuple[T, tuple[str, ...]]:
    """As `decode`, but forgive a model's harmless slips; also returns one line for each that was mended."""
    return _decoded(_Decoder(resolvers or {}, mending=True), tp, value)


def _decoded(decoder: "_Decoder", tp: Any, value: Any) -> tuple[Any, tuple[str, ...]]:
    result = decoder.read(tp, value, "")
    if decoder.problems:
        raise BadArguments(tuple(decoder.problems))
    return result, tuple(decoder.mended)


class _Decoder:
    def __init__(self, resolvers: Resolvers, *, mending: bool) -> None:
        self.resolvers = resolvers
        self.mending = mending
        self.problems: list[str] = []
        self.mended: list[str] = []

    def fail(self, at: str, problem: str) -> Any:
        self.problems.append(f"{at or 'arguments'}: {problem}")
        return _FLAWED

    def mend(self, at: str, what: str) -> None:
        self.mended.append(f"{at or 'arguments'}: {what}")

    def read(self, tp: Any, value: Any, at: str) -> Any:
        origin, args = get_origin(tp), get_args(tp)
        if origin is Annotated:
            return self._annotated(args, value, at)
        if origin in (Union, UnionType):
            return self._union(args, value, at)
        if origin is Literal:
            return self._choice(args, value, at)
        if origin in (list, tuple):
            return self._sequence(origin, args[0], value, at)
        if origin is dict:
            return self._mapping(args[1], value, at)
        if tp is Any:
            return value
        if isinstance(tp, type) and issubclass(tp, Enum):
            found = self._choice(tuple(m.value for m in tp), value, at)
            return found if found is _FLAWED else tp(found)
        if isinstance(tp, type) and dataclasses.is_dataclass(tp):
            return self._object(tp, value, at)
        return self._scalar(tp, value, at)

    def _annotated(self, args: tuple[Any, ...], value: Any, at: str) -> Any:
        textual = any(isinstance(m, Textual) for m in args[1:])
        result = self.read(str if textual else args[0], value, at)
        for marker in args[1:]:
            if result is _FLAWED or result is None:
                return result
            if isinstance(marker, Between | Length):
                result = self._bounded(marker, result, at)
            elif (resolver := self.resolvers.get(type(marker))) is not None:
                result = resolver(result, marker)
        return result

    def _bounded(self, marker: Between | Length, value: Any, at: str) -> Any:
        size, unit = (value, "") if isinstance(marker, Between) else (len(value), " long")
        if marker.low <= size <= marker.high:
            return value
        return self.fail(at, f"must be {marker.low:g} to {marker.high:g}{unit}, got {_shown(size)}")

    def _union(self, options: tuple[Any, ...], value: Any, at: str) -> Any:
        if value is None and NoneType in options:
            return None
        options = tuple(o for o in options if o is not NoneType)
        if len(options) > 1 and isinstance(value, dict):
            return self._tagged(options, value, at)
        exact = [o for o in options if o in SCALARS and type(value) is o]
        return self.read(exact[0] if exact else options[0], value, at)

    def _tagged(self, options: tuple[Any, ...], value: dict[str, Any], at: str) -> Any:
        plans = {plan_of(o).tag: o for o in options if isinstance(o, type) and dataclasses.is_dataclass(o)}
        if (tag := value.get("type")) in plans:
            return self.read(plans[tag], value, at)
        return self.fail(_join(at, "type"), f"expected {_or(tuple(plans))}, got {_shown(tag)}")

    def _choice(self, choices: tuple[Any, ...], value: Any, at: str) -> Any:
        if any(value == c and type(value) is type(c) for c in choices):
            return value
        if self.mending and isinstance(value, str):
            for choice in choices:
                if isinstance(choice, str) and choice.lower() == value.strip().lower():
                    self.mend(at, f"read {value!r} as {choice!r}")
                    return choice
        return self.fail(at, f"expected {_or(choices)}, got {_shown(value)}")

    def _sequence(self, origin: Any, item: Any, value: Any, at: str) -> Any:
        if self.mending and isinstance(value, str | int | float | bool | dict):
            parsed = _json(value) if isinstance(value, str) else None
            value = parsed if isinstance(parsed, list) else [value]
            self.mend(at, "read one value as a list")
        if not isinstance(value, list | tuple):
            return self.fail(at, f"expected a list, got {_shown(value)}")
        return self._whole(origin([self.read(item, v, f"{at}[{i}]") for i, v in enumerate(value)]))

    def _mapping(self, item: Any, value: Any, at: str) -> Any:
        value = self._opened(value, at)
        if not isinstance(value, dict):
            return self.fail(at, f"expected an object, got {_shown(value)}")
        return {k: self.read(item, v, _join(at, str(k))) for k, v in value.items()}

    def _object(self, tp: Any, value: Any, at: str) -> Any:
        value = self._opened(value, at)
        if not isinstance(value, dict):
            return self.fail(at, f"expected an object, got {_shown(value)}")
        plan = plan_of(tp)
        before = len(self.problems)
        for key in value:
            if key not in plan.hints:
                self.fail(_join(at, str(key)), f"no such field; there are {', '.join(plan.hints) or 'none'}")
        if self.mending:
            value = self._without_nulls(plan, value, at)
        for name in plan.required:
            if name not in value:
                self.fail(_join(at, name), "missing")
        read = {n: self.read(h, value[n], _join(at, n)) for n, h in plan.hints.items() if n in value}
        return tp(**read) if len(self.problems) == before else _FLAWED

    def _without_nulls(self, plan: Plan, value: dict[str, Any], at: str) -> dict[str, Any]:
        """A null for a field that may be left out means that it is left out."""
        nulls = [k for k, v in value.items() if v is None and k in plan.hints and k not in plan.required]
        for key in nulls:
            self.mend(_join(at, key), "left out, since it was null")
        return {k: v for k, v in value.items() if k not in nulls}

    def _opened(self, value: Any, at: str) -> Any:
        """An object that came as JSON text, or as the only item of a list."""
        if not self.mending:
            return value
        opened = _json(value) if isinstance(value, str) else value
        if isinstance(opened, list) and len(opened) == 1 and isinstance(opened[0], dict):
            opened = opened[0]
        if opened is not value and isinstance(opened, dict):
            self.mend(at, "read an object out of its wrapping")
            return opened
        return value

    def _whole(self, items: Any) -> Any:
        return _FLAWED if any(i is _FLAWED for i in items) else items

    def _scalar(self, tp: Any, value: Any, at: str) -> Any:
        if tp is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1000:
            return float(value)
        if tp in SCALARS:
            return self._exact(tp, value, at)
        try:
            return datetime.fromisoformat(value) if tp is datetime else tp(value)
        except (TypeError, ValueError):
            return self.fail(at, f"expected {tp.__name__}, got {_shown(value)}")

    def _exact(self, tp: Any, value: Any, at: str) -> Any:
        if type(value) is tp and not (tp is float and not math.isfinite(value)):
            return value
        mended = _mended(tp, value) if self.mending else _FLAWED
        if mended is _FLAWED:
            return self.fail(at, f"expected {SCALARS[tp]}, got {_shown(value)}")
        self.mend(at, f"read {_shown(value)} as {SCALARS[tp]}")
        return mended


def _mended(tp: type, value: Any) -> Any:
    """The scalar that a model plainly meant, or `_FLAWED`."""
    if tp is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if tp is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        text = value.strip().lower()
        if tp is bool and text in ("true", "false"):
            return text == "true"
        if tp is int and text.removeprefix("-").isdecimal() and len(text) < 20:
            return int(text)
        if tp is float:
            return _float(text)
    return _FLAWED


def _float(text: str) -> Any:
    try:
        number = float(text)
    except ValueError:
        return _FLAWED
    return number if math.isfinite(number) else _FLAWED


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _join(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _or(choices: tuple[Any, ...]) -> str:
    return " or ".join(repr(c) for c in choices)


def _shown(value: Any) -> str:
    """A value in a few characters: enough to recognise, never a whole secret or file."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "…")
    if isinstance(value, int) and abs(value) > 10**40:
        return "a number of more than 40 digits"
    if isinstance(value, int | float):
        return str(value)
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__


def encode(value: Any) -> Any:
    """Turn dataclasses, enums, paths and moments into plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: encode(getattr(value, name)) for name in plan_of(type(value)).hints}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return {str(k): encode(v) for k, v in value.items()}
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, Path) else value
