"""What goes over the API, as docs/api.md lists it: every value with its fields and their types in words of JSON."""

import types
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from palmclaw.core.errors import Fault
from palmclaw.core.events import Signal
from palmclaw.core.messages import Media
from palmclaw.core.runtime import Question, Status, Stopped
from palmclaw.core.traffic import Inbound, QueueSettings, Receipt
from palmclaw.web.shapes import Answered, Choosing, Listening, Named, Present, Queueing, Which

ROOTS = (
    *(Inbound, Receipt, Which, Stopped, Queueing, QueueSettings, Choosing, Question, Answered, Media, Named),
    *(Status, Present, Fault, Listening, Signal),
)
SCALARS = {str: "text", int: "number", float: "number", bool: "true or false", datetime: "time", type(None): "null"}


def values() -> dict[str, type]:
    """Every dataclass that goes over the API, by name, in the order in which they are first met."""
    found: dict[str, type] = {}
    for root in ROOTS:
        for each in _met(root):
            found.setdefault(each.__name__, each)
    return found


def _met(tp: Any, seen: frozenset[Any] = frozenset()) -> Iterator[type]:
    if tp in seen:
        return
    if is_dataclass(tp) and isinstance(tp, type):
        yield tp
        for hint in get_type_hints(tp).values():
            yield from _met(hint, seen | {tp})
        return
    for inner in get_args(tp):
        yield from _met(inner, seen)


def words() -> dict[str, tuple[str, ...]]:
    """Every enumeration among them, by name, with its words."""
    hints = (hint for value in values().values() for hint in get_type_hints(value).values())
    found = {each.__name__: each for hint in hints for each in _enums(hint)}
    return {name: tuple(member.value for member in found[name]) for name in sorted(found)}


def _enums(tp: Any) -> Iterator[type[Enum]]:
    if isinstance(tp, type) and issubclass(tp, Enum):
        yield tp
    for inner in get_args(tp):
        yield from _enums(inner)


def field_types(value: type) -> dict[str, str]:
    """Of each field, what stands in the JSON; with a star, when it must be there in what is sent."""
    hints = get_type_hints(value)
    return {_starred(f): written(hints[f.name]) for f in fields(value)}


def _starred(f: Field[Any]) -> str:
    return f.name if (f.default, f.default_factory) != (MISSING, MISSING) else f"{f.name}*"


def written(tp: Any) -> str:
    """A type in words."""
    origin, inner = get_origin(tp), get_args(tp)
    if origin is Annotated:
        return written(inner[0])
    if origin is Literal:
        return " or ".join(f"`{value or '(empty)'}`" for value in inner)
    if origin in (Union, types.UnionType):
        return _one_of(inner)
    if origin is tuple:
        return (
            f"list of {written(inner[0])}" if inner[-1] is Ellipsis else "pair of " + " and ".join(map(written, inner))
        )
    if origin is dict:
        return f"object of {written(inner[1])}"
    return SCALARS.get(tp) or ("anything" if tp is Any else f"[{tp.__name__}](#{tp.__name__.lower()})")


def _one_of(inner: tuple[Any, ...]) -> str:
    if len(inner) > 8:
        return "an [event](#events)"
    return " or ".join(written(each) for each in inner)
