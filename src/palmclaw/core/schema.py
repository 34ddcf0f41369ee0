"""Describes a dataclass as JSON Schema: whole, or as briefly as a model needs it to fill a tool's arguments."""

import dataclasses
from enum import Enum
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from palmclaw.core.values import dataclass

SCALARS: dict[type, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, slots=True)
class Doc:
    """A field's description: `limit: Annotated[int, Doc("lines to read")] = 400`."""

    text: str


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a number, both included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Length:
    """Bounds of a text in characters or of a list in items, both included."""

    low: int = 0
    high: int = 1_000_000


BOUNDS = frozenset({"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"})


class Textual:
    """Mixed into a marker: the field is a string on the wire, whatever a resolver makes of it."""


def json_schema(tp: Any) -> dict[str, Any]:
    """Describe `tp` as JSON Schema (draft 2020-12), as small as it can be said."""
    origin, args = get_origin(tp), get_args(tp)
    if origin is Annotated:
        return _annotated_schema(args)
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin in (Union, UnionType):
        return _union_schema([a for a in args if a is not NoneType])
    if origin in (list, tuple):
        return {"type": "array", "items": json_schema(args[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": json_schema(args[1])}
    if tp in SCALARS:
        return {"type": SCALARS[tp]}
    if isinstance(tp, type) and issubclass(tp, Enum):
        return {"type": "string", "enum": [m.value for m in tp]}
    if dataclasses.is_dataclass(tp):
        return _object_schema(tp)
    return {} if tp is Any else {"type": "string"}


def brief_schema(tp: Any) -> dict[str, Any]:
    """`json_schema` without what only refuses: bounds, and that no other field is taken.

    The codec checks both all the same. Each word costs tokens in every request, and servers refuse whole requests
    over some: a long `maxLength` (as a grammar it is too large), a list of types. So a choice of plain types that
    holds text is told as text. A bound worth knowing belongs into the description.
    """
    found: dict[str, Any] = _brief(json_schema(tp))
    return found


def _brief(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return [_brief(s) for s in schema] if isinstance(schema, list) else schema
    shown = {k: v for k, v in schema.items() if k not in BOUNDS and (k, v) != ("additionalProperties", False)}
    if isinstance(types := shown.get("type"), list):
        told = {"type": "string"} if "string" in types else {"anyOf": [{"type": t} for t in types]}
        return told | {k: v for k, v in shown.items() if k != "type"}
    if isinstance(fields := shown.get("properties"), dict):
        shown["properties"] = {name: _brief(field) for name, field in fields.items()}
    return {k: v if k == "properties" else _brief(v) for k, v in shown.items()}


def _annotated_schema(args: tuple[Any, ...]) -> dict[str, Any]:
    textual = any(isinstance(m, Textual) for m in args[1:])
    schema: dict[str, Any] = {"type": "string"} if textual else json_schema(args[0])
    for note in args[1:]:
        if isinstance(note, Doc):
            schema["description"] = note.text
        elif isinstance(note, Between):
            schema |= {"minimum": note.low, "maximum": note.high}
        elif isinstance(note, Length):
            words = ("minItems", "maxItems") if schema.get("type") == "array" else ("minLength", "maxLength")
            schema |= {words[0]: note.low} if note.low else {}
            schema |= {words[1]: note.high} if note.high < 1_000_000 else {}
    return schema


def _union_schema(options: list[Any]) -> dict[str, Any]:
    if len(options) == 1:
        return json_schema(options[0])
    if all(o in SCALARS for o in options):
        return {"type": [SCALARS[o] for o in options]}
    return {"anyOf": [json_schema(o) for o in options]}


def _object_schema(tp: Any) -> dict[str, Any]:
    plan = plan_of(tp)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: json_schema(hint) for name, hint in plan.hints.items()},
        "additionalProperties": False,
    }
    return schema | {"required": list(plan.required)} if plan.required else schema


@dataclass(frozen=True, slots=True)
class Plan:
    """What the codec needs to know of a dataclass, worked out once."""

    hints: dict[str, Any]
    required: tuple[str, ...]
    tag: str


@lru_cache(maxsize=512)
def plan_of(tp: Any) -> Plan:
    hints = get_type_hints(tp, include_extras=True)
    fields = [f for f in dataclasses.fields(tp) if f.init]
    required = tuple(
        f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    )
    tags = get_args(hints.get("type")) if get_origin(hints.get("type")) is Literal else ()
    return Plan({f.name: hints[f.name] for f in fields}, required, tags[0] if len(tags) == 1 else "")
