"""What a model reads of a tool's arguments: less than what is checked, and nothing else."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments
from palmclaw.core.schema import Between, Doc, Length, brief_schema, json_schema


@dataclass(frozen=True)
class Row:
    minimum: Annotated[int, Between(1, 9), Doc("of the row")]
    type: Literal["row"] = "row"


@dataclass(frozen=True)
class Note:
    text: str
    type: Literal["note"] = "note"


@dataclass(frozen=True)
class Bounded:
    name: Annotated[str, Length(1, 10), Doc("a name")]
    items: Annotated[tuple[Annotated[int, Between(0, 5)], ...], Length(1, 3)] = ()
    table: dict[str, Annotated[int, Between(0, 5)]] = field(default_factory=dict)
    either: Row | Note | None = None
    setting: Annotated[int | bool | str, Doc("on, off or a level")] = ""
    size: int | float = 1


def test_the_brief_schema_leaves_out_what_only_refuses() -> None:
    row: dict[str, Any] = {
        "type": "object",
        "properties": {
            "minimum": {"type": "integer", "description": "of the row"},
            "type": {"type": "string", "enum": ["row"]},
        },
        "required": ["minimum"],
    }
    note: dict[str, Any] = {
        "type": "object",
        "properties": {"text": {"type": "string"}, "type": {"type": "string", "enum": ["note"]}},
        "required": ["text"],
    }
    assert brief_schema(Bounded) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "a name"},
            "items": {"type": "array", "items": {"type": "integer"}},
            "table": {"type": "object", "additionalProperties": {"type": "integer"}},
            "either": {"anyOf": [row, note]},
            "setting": {"type": "string", "description": "on, off or a level"},
            "size": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        },
        "required": ["name"],
    }


def test_the_whole_schema_still_says_it() -> None:
    assert json_schema(Bounded)["properties"]["name"]["maxLength"] == 10
    assert json_schema(Row)["additionalProperties"] is False


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"name": ""}, "name: must be 1 to 10 long, got 0"),
        ({"name": "x", "items": [6]}, "items[0]: must be 0 to 5, got 6"),
        ({"name": "x", "items": [1, 1, 1, 1]}, "items: must be 1 to 3 long, got 4"),
        ({"name": "x", "table": {"a": 9}}, "table.a: must be 0 to 5, got 9"),
        ({"name": "x", "either": {"type": "row", "minimum": 0}}, "either.minimum: must be 1 to 9, got 0"),
        ({"name": "x", "more": 1}, "more: no such field; there are name, items, table, either, setting, size"),
    ],
)
def test_what_it_leaves_out_is_checked_all_the_same(value: Any, problem: str) -> None:
    with pytest.raises(BadArguments) as caught:
        decode(Bounded, value)
    assert caught.value.problems == (problem,)
