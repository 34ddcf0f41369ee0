"""What a model sends as arguments, from exact to hopeless."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palmclaw.core.arguments import MAX_CHARS, RAW_CHARS, json_value, literal_value, read_arguments
from palmclaw.core.text import whole

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=5,
)
OBJECTS = st.dictionaries(st.text(max_size=8), JSON, max_size=3)


@pytest.mark.parametrize("text", [None, "", "  ", "null", " null\n", "None", "undefined", "{}", '""', '"null"', "[{}]"])
def test_nothing_is_an_empty_object(text: str | None) -> None:
    assert read_arguments(text) == ({}, "", "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"text":"hi"}', {"text": "hi"}),
        ('{"text":"one\ntwo\tthree"}', {"text": "one\ntwo\tthree"}),  # F020: a raw line feed
        (r"{\"text\": \"hi\"}", {"text": "hi"}),  # F020: escaped twice
        (r"{\"text\": \"a\\nb\"}", {"text": "a\nb"}),
        (r"[{\"text\": \"hi\"}]", {"text": "hi"}),
        ("{'deep': True, 'note': None, 'n': (1, 2)}", {"deep": True, "note": None, "n": [1, 2]}),  # F029
        (r"{'pattern': '\d+'}", {"pattern": r"\d+"}),
        (r'"{\"location\": \"Lima\"}"', {"location": "Lima"}),  # F030: a string that holds JSON
        (json.dumps(json.dumps(json.dumps({"a": 1}))), {"a": 1}),
        ('[{"city":"Lima"}]', {"city": "Lima"}),  # F030: a list of one
        ('{"answer":"5"}Action }looks like{', {"answer": "5"}),  # F030: rubbish behind it
        ('{"a": 1}}', {"a": 1}),
        ('{"a": 1}\n```', {"a": 1}),
        ('{"icon":"\\ud83d\\ude00"}', {"icon": "😀"}),
        ('{"icon":"\\ud83d"}', {"icon": "\ufffd"}),
        ('{"text":"' + "(" * 300 + '"}', {"text": "(" * 300}),
    ],
)
def test_what_can_only_mean_one_thing_is_read(text: str, value: dict[str, Any]) -> None:
    assert read_arguments(text) == (value, "", "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"text":"hi"', {"text": "hi"}),  # F020: no closing brace
        ('{"text":"hi', {"text": "hi"}),
        ('{"text":"hi\\', {"text": "hi"}),
        ('{"text":"hi\\u00', {"text": "hi"}),
        ('{"text":"a\\"b', {"text": 'a"b'}),
        ('{"text":"\\u00e9', {"text": "é"}),
        ('{"a":1,"b":', {"a": 1}),
        ('{"a":1,"b', {"a": 1}),
        ('{"a":[1,2,{"b":"x"},', {"a": [1, 2, {"b": "x"}]}),
        ('{"a":[1,{"b":tr', {"a": [1, {}]}),
        ('{"a":1,', {"a": 1}),
        ("{", {}),
    ],
)
def test_a_text_that_stops_early_is_repaired_and_marked(text: str, value: dict[str, Any]) -> None:
    assert read_arguments(text) == (value, "truncated", text)


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "5",
        "true",
        "[1, 2]",
        '[{"a":1},{"b":2}]',  # F030: two objects would be a guess
        '{"a":1}{"b":2}',  # F001: two calls in one
        '{"a":1} [2]',
        '{"a":NaN}',
        '{"a":1e999}',
        '{"a":-Infinity}',
        '{"a":b"x"}',
        "{'a': {1, 2}}",
        "{'a': 1+2j}",
        "{1: }",
        "{a}",
        '{"a":]',
        r"{\"a\": ",
        r"{\"a\" hm",
        '"just words"',
        '{"a":' + "9" * 5_000 + "}",
        '{"a":' * 200 + "1" + "}" * 200,
        '{"a":' * 200,
        '{"a":' + "[" * 50_000,
        "{'a':" + "(" * 50_000,
        "{'a': '" + "x" * 200_000 + "'}",
        '{"a": "x"} ' * 3,
        "{'a': 1\0}",
    ],
)
def test_what_could_mean_anything_is_invalid(text: str) -> None:
    found = read_arguments(text)
    assert (found.value, found.flaw, found.raw) == ({}, "invalid", text.strip()[:RAW_CHARS])


def test_ten_megabytes_are_refused_unread() -> None:
    text = '{"text":"' + "x" * 10_000_000 + '"}'
    assert read_arguments(text) == ({}, "too_large", text[:RAW_CHARS])
    assert read_arguments('{"a":12}', limit=7) == ({}, "too_large", '{"a":12}')
    assert read_arguments('{"a":12}', limit=8) == ({"a": 12}, "", "")
    assert read_arguments('{"text":"' + "x" * (MAX_CHARS - 11) + '"}').flaw == ""


def test_the_kept_beginning_can_be_stored() -> None:
    assert read_arguments("\ud83d").raw == "\ufffd"


@settings(max_examples=50)
@given(OBJECTS)
def test_every_object_survives(value: dict[str, Any]) -> None:
    whole_value = json.loads(whole(json.dumps(value, ensure_ascii=False)))
    assert read_arguments(json.dumps(value)) == (whole_value, "", "")
    assert read_arguments(json.dumps(json.dumps(value))) == (whole_value, "", "")
    assert read_arguments(json.dumps([value], ensure_ascii=False)) == (whole_value, "", "")
    assert literal_value(repr(value)) == whole_value


@settings(max_examples=50)
@given(OBJECTS, st.integers(0, 400))
def test_every_prefix_of_an_object_is_read_or_marked(value: dict[str, Any], length: int) -> None:
    text = json.dumps(value)[:length]
    found = read_arguments(text)
    assert found.flaw == "" or (
        found.flaw == "truncated" and text.startswith("{") and found.raw == text.strip()[:RAW_CHARS]
    )
    assert found.flaw != "" or found.value in ({}, value)


@given(st.text() | st.text("{}[]\",:\\u0n'()e1 ", max_size=60))
def test_no_text_raises_and_every_result_can_be_stored(text: str) -> None:
    found = read_arguments(text)
    json.dumps([found.value, found.raw], allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("text", "joined"), [("plain", "plain"), ("\ud83d\ude00!", "😀!"), ("a\ud83db", "a\ufffdb"), ("\ude00", "\ufffd")]
)
def test_halves_of_characters_are_joined(text: str, joined: str) -> None:
    assert whole(text) == joined


def test_json_value_and_literal_value_give_up_quietly() -> None:
    assert (json_value("{"), literal_value("{")) == (None, None)
    assert (json_value("[1]"), literal_value("[1]")) == ([1], [1])
