"""The one codec: round trips, schemas, every problem at once with its path, and what is forgiven to a model."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.codec import decode, decode_mending, encode
from palmclaw.core.errors import BadArguments, Fault
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    MessageAdded,
    ReasoningDelta,
    Stop,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from palmclaw.core.messages import (
    Cut,
    Media,
    Message,
    Reasoning,
    Role,
    Stamp,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from palmclaw.core.schema import Between, Doc, Length, json_schema
from palmclaw.core.tools import Access, CheckedPath, Effect, Preview, ReadPath


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    x: int
    type: Literal["inner"] = "inner"


@dataclass(frozen=True)
class Other:
    y: str
    type: Literal["other"] = "other"


@dataclass(frozen=True)
class Everything:
    name: Annotated[str, Length(1, 10), Doc("a name")]
    number: Annotated[int, Between(1, 9)] = 1
    ratio: float = 0.5
    flag: bool = False
    colour: Colour = Colour.RED
    mode: Literal["fast", "slow"] = "fast"
    maybe: str | None = None
    items: list[int] = field(default_factory=list)
    some: Annotated[tuple[str, ...], Length(0, 2)] = ()
    table: dict[str, int] = field(default_factory=dict)
    either: bool | int | str = ""
    inner: Inner | Other | None = None
    when: datetime | None = None
    where: Path | None = None
    anything: Any = None
    path: ReadPath | None = None


def problems(value: Any, tp: type = Everything) -> tuple[str, ...]:
    with pytest.raises(BadArguments) as caught:
        decode(tp, value)
    return caught.value.problems


def test_the_schema_says_all_that_is_checked() -> None:
    schema = json_schema(Everything)
    assert (schema["required"], schema["additionalProperties"]) == (["name"], False)
    assert schema["properties"] == {
        "name": {"type": "string", "description": "a name", "minLength": 1, "maxLength": 10},
        "number": {"type": "integer", "minimum": 1, "maximum": 9},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "maybe": {"type": "string"},
        "items": {"type": "array", "items": {"type": "integer"}},
        "some": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "table": {"type": "object", "additionalProperties": {"type": "integer"}},
        "either": {"type": ["boolean", "integer", "string"]},
        "inner": {"anyOf": [json_schema(Inner), json_schema(Other)]},
        "when": {"type": "string"},
        "where": {"type": "string"},
        "anything": {},
        "path": {"type": "string"},
    }


def test_every_problem_comes_at_once_with_its_path() -> None:
    value = {
        "number": 10, "ratio": "x", "flag": 1, "colour": "green", "mode": "FAST", "items": [1, "b", None],
        "some": ["a", "b", "c"], "table": {"k": "v"}, "inner": {"type": "what"}, "when": "tomorrow", "extra": 1,
        "either": None, "where": 5,
    }  # fmt: skip
    assert problems(value) == (
        "extra: no such field; there are name, number, ratio, flag, colour, mode, maybe, items, some, table, either, "
        "inner, when, where, anything, path",
        "name: missing",
        "number: must be 1 to 9, got 10",
        "ratio: expected number, got 'x'",
        "flag: expected boolean, got 1",
        "colour: expected 'red' or 'blue', got 'green'",
        "mode: expected 'fast' or 'slow', got 'FAST'",
        "items[1]: expected integer, got 'b'",
        "items[2]: expected integer, got null",
        "some: must be 0 to 2 long, got 3",
        "table.k: expected integer, got 'v'",
        "either: expected boolean, got null",
        "inner.type: expected 'inner' or 'other', got 'what'",
        "when: expected datetime, got 'tomorrow'",
        "where: expected Path, got 5",
    )


@pytest.mark.parametrize("value", [None, 3, "x", [], True])
def test_what_is_no_object_is_named(value: Any) -> None:
    shown = {None: "null", 3: "3", "x": "'x'", True: "true"}.get(value if not isinstance(value, list) else "", "a list")
    assert problems(value) == (f"arguments: expected an object, got {shown}",)


def test_a_long_value_is_not_repeated_in_the_problem() -> None:
    assert len(problems({"name": "x", "number": "y" * 5_000})[0]) < 100


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_only_finite_numbers_are_numbers(number: float) -> None:
    assert "ratio" in problems({"name": "x", "ratio": number})[0]
    with pytest.raises(BadArguments):
        decode_mending(Everything, {"name": "x", "ratio": str(number)})


@pytest.mark.parametrize(
    ("value", "wanted", "mended"),
    [
        ({"name": "x", "number": "5"}, {"number": 5}, ["number: read '5' as integer"]),
        ({"name": "x", "number": 5.0}, {"number": 5}, ["number: read 5.0 as integer"]),
        ({"name": "x", "ratio": "1.5"}, {"ratio": 1.5}, ["ratio: read '1.5' as number"]),
        ({"name": "x", "flag": "True"}, {"flag": True}, ["flag: read 'True' as boolean"]),
        ({"name": 7}, {"name": "7"}, ["name: read 7 as string"]),
        ({"name": "x", "items": 3}, {"items": [3]}, ["items: read one value as a list"]),
        ({"name": "x", "items": "[1, 2]"}, {"items": [1, 2]}, ["items: read one value as a list"]),
        ({"name": "x", "mode": " Slow"}, {"mode": "slow"}, ["mode: read ' Slow' as 'slow'"]),
        ({"name": "x", "colour": "BLUE"}, {"colour": Colour.BLUE}, ["colour: read 'BLUE' as 'blue'"]),
        ({"name": "x", "mode": "fast"}, {"mode": "fast"}, []),
        ({"name": "x", "number": None}, {"number": 1}, ["number: left out, since it was null"]),
        ('{"name": "x"}', {}, ["arguments: read an object out of its wrapping"]),
        ([{"name": "x"}], {}, ["arguments: read an object out of its wrapping"]),
        ({"name": "x", "table": '{"a": 1}'}, {"table": {"a": 1}}, ["table: read an object out of its wrapping"]),
        ({"name": "x", "either": "5"}, {"either": "5"}, []),
        ({"name": "x", "either": True}, {"either": True}, []),
        ({"name": "x", "either": 5}, {"either": 5}, []),
        ({"name": "x", "ratio": 2}, {"ratio": 2.0}, []),
    ],
)
def test_harmless_slips_are_mended(value: Any, wanted: dict[str, Any], mended: list[str]) -> None:
    found, said = decode_mending(Everything, value)
    assert (found, list(said)) == (Everything(**{"name": "7" if wanted.get("name") else "x", **wanted}), mended)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "x", "number": "five"}, {"name": "x", "number": "5.5"}, {"name": "x", "number": "9" * 30},
        {"name": "x", "flag": "yes"}, {"name": True}, {"name": None}, {"name": "x", "ratio": "fast"},
        {"name": "x", "number": True}, [{"name": "x"}, {"name": "y"}], "not json", "[" * 100_000,
        {"name": "x", "table": "[1]"}, {"name": "x", "items": "x"}, {"name": "x", "mode": 3},
        {"name": "x", "mode": "medium"},
    ],
)  # fmt: skip
def test_what_is_not_plain_is_not_guessed(value: Any) -> None:
    with pytest.raises(BadArguments):
        decode_mending(Everything, value)


def test_a_number_may_be_beyond_all_bounds() -> None:
    huge = 10**5_000
    assert problems({"name": "x", "number": huge}) == ("number: must be 1 to 9, got a number of more than 40 digits",)
    assert problems({"name": "x", "ratio": huge}) == ("ratio: expected number, got a number of more than 40 digits",)


def test_strict_decoding_mends_nothing() -> None:
    assert problems({"name": "x", "number": "5"}) == ("number: expected integer, got '5'",)
    assert problems({"name": "x", "items": 5}) == ("items: expected a list, got 5",)
    assert problems('{"name": "x"}') == ('arguments: expected an object, got \'{"name": "x"}\'',)


def test_a_marked_field_is_handed_to_its_resolver_only_when_it_is_sound() -> None:
    seen: list[tuple[Any, Access]] = []

    def resolver(text: str, access: Access) -> CheckedPath:
        seen.append((text, access))
        return CheckedPath("session", (text,), access)

    found = decode(Everything, {"name": "x", "path": "a"}, {Access: resolver})
    assert (found.path, seen) == (CheckedPath("session", ("a",), Access.READ), [("a", Access.READ)])
    with pytest.raises(BadArguments):
        decode(Everything, {"name": "x", "path": 5}, {Access: resolver})
    assert decode(Everything, {"name": "x", "path": None}, {Access: resolver}).path is None
    assert len(seen) == 1


def test_encoding_turns_everything_into_plain_json() -> None:
    at = datetime(2026, 6, 15, tzinfo=UTC)
    value = Everything("x", inner=Inner(1), when=at, where=Path("/a"), anything=[(1,), {2: Colour.RED}])
    plain = encode(value)
    assert json.loads(json.dumps(plain)) == plain
    assert (plain["inner"], plain["when"], plain["where"]) == ({"x": 1, "type": "inner"}, at.isoformat(), "/a")
    assert plain["anything"] == [[1], {"2": "red"}]


# round trips of everything that is stored or sent

words = st.text(max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
faults = st.builds(Fault, words, words, st.booleans(), words)
calls = st.builds(ToolCall, words, words, st.dictionaries(words, json_values, max_size=3), as_text=st.booleans())
results = st.builds(ToolResult, words, words, words, st.none() | faults, words, st.booleans(), st.just(("a", "b")))
parts = st.one_of(
    st.builds(Text, words),
    st.builds(Stamp, words),
    st.builds(Reasoning, words, words),
    st.builds(Media, words, words, words),
    calls,
    results,
)
messages = st.builds(
    Message,
    st.sampled_from(Role),
    st.lists(parts, max_size=5).map(tuple),
    st.datetimes(timezones=st.just(UTC)),
    words,
    st.booleans(),
    st.booleans(),
    st.sampled_from(Cut),
)
usages = st.builds(Usage, *[st.integers(0, 10**9)] * 5, st.booleans())
previews = st.builds(Preview, words, words, st.lists(st.tuples(words, words), max_size=2).map(tuple), words)
events = st.one_of(
    st.builds(TextDelta, words),
    st.builds(ReasoningDelta, words),
    st.builds(MessageAdded, messages),
    st.builds(ToolStarted, calls),
    st.builds(ToolProgress, words, words),
    st.builds(ToolEnded, calls, results),
    st.builds(ApprovalAsked, words, calls, st.sampled_from(Effect), previews, words, st.just((Answer.ONCE,))),
    st.builds(ApprovalAnswered, words, words, st.sampled_from(Answer)),
    st.builds(TurnEnded, st.sampled_from(Stop), usages, st.none() | faults, st.integers(0, 9)),
)


@given(messages)
def test_a_message_survives_storage(message: Message) -> None:
    assert decode(Message, json.loads(json.dumps(encode(message)))) == message


@given(events)
def test_an_event_survives_the_wire(event: Event) -> None:
    assert decode(type(event), json.loads(json.dumps(encode(event)))) == event


@given(json_values)
def test_decoding_never_fails_in_another_way(value: Any) -> None:
    for read in (decode, decode_mending):
        with suppress(BadArguments):
            assert isinstance(read(Everything, value), Everything | tuple)
