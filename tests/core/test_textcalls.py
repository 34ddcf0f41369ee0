"""Calls that a model wrote into its answer: the whole content, a known tool, or it stays text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.messages import ToolCall
from palmclaw.core.textcalls import MAX_CALLS, calls_in_text

KNOWN = ("terminal", "exec", "get_status", "cronjob", "final_answer", "note")
ECHO = {"name": "terminal", "arguments": {"command": "echo hi"}}


def only(name: str, **arguments: Any) -> tuple[ToolCall, ...]:
    return (ToolCall("text_1", name, arguments, as_text=True),)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (json.dumps(ECHO), only("terminal", command="echo hi")),  # F021
        (f"\n  {json.dumps(ECHO, indent=2)}\n", only("terminal", command="echo hi")),
        (f"```json\n{json.dumps(ECHO)}\n```", only("terminal", command="echo hi")),
        (f"```\n{json.dumps(ECHO)}```", only("terminal", command="echo hi")),
        (f"```{json.dumps(ECHO)}```", only("terminal", command="echo hi")),
        (json.dumps({"name": "final_answer", "parameters": {"answer": "5"}}), only("final_answer", answer="5")),
        (json.dumps({"type": "function", "function": ECHO}), only("terminal", command="echo hi")),
        (json.dumps({"function_call": ECHO}), only("terminal", command="echo hi")),
        (json.dumps({"function": "get_status", "arguments": None}), only("get_status")),
        (json.dumps({"name": "exec", "arguments": '{"command": "ls"}'}), only("exec", command="ls")),
        (
            "{'id': '58136', 'type': 'function', 'function': {'name': 'get_status', 'arguments': "
            "{'system': 'A1', 'deep': True, 'note': None}}}",
            only("get_status", system="A1", deep=True, note=None),
        ),  # F029
        (
            "<tool_call>\n<function=exec>\n<parameter=command>ls -la</parameter>\n<parameter=timeout>30</parameter>\n"
            "</function>\n</tool_call>",
            only("exec", command="ls -la", timeout=30),
        ),  # F022
        (f"<tool_call>\n{json.dumps(ECHO)}\n</tool_call>", only("terminal", command="echo hi")),
        (
            '<minimax:tool_call>\n <invoke name="terminal">\n  <parameter name="command">date</parameter>\n </invoke>\n'
            "</minimax:tool_call>",
            only("terminal", command="date"),
        ),  # F024
        (
            '<function_calls><invoke name="cronjob"><parameter name="action" string="true">list</parameter></invoke>'
            "</function_calls>",
            only("cronjob", action="list"),
        ),  # F024
        ("<function=get_status></function>", only("get_status")),
        ('<invoke name="note"><parameter name="text"></parameter></invoke>', only("note", text="")),
        ('<parameter name="x">1</parameter>', ()),
    ],
)
def test_the_spellings(text: str, calls: tuple[ToolCall, ...]) -> None:
    assert calls_in_text(text, KNOWN) == calls


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([ECHO, {"name": "note", "arguments": {"n": 1}}]),
        json.dumps({"tool_calls": [{"id": "a", "function": ECHO}, {"name": "note", "parameters": {"n": 1}}]}),
        f"<tool_call>{json.dumps(ECHO)}</tool_call>\n<tool_call><function=note><parameter=n>1</parameter></function>"
        "</tool_call>",
        '<function_calls><invoke name="terminal"><parameter name="command">echo hi</parameter></invoke>\n'
        '<invoke name="note"><parameter name="n">1</parameter></invoke></function_calls>',
        f"<tool_calls>{json.dumps([ECHO, {'name': 'note', 'arguments': {'n': 1}}])}</tool_calls>",
    ],
)
def test_a_list_of_calls(text: str) -> None:
    assert calls_in_text(text, KNOWN) == (
        ToolCall("text_1", "terminal", {"command": "echo hi"}, as_text=True),
        ToolCall("text_2", "note", {"n": 1}, as_text=True),
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Starting now, I will write report.md",
        f"I will run {json.dumps(ECHO)}",
        f"{json.dumps(ECHO)} and then look",
        f"{json.dumps(ECHO)}\n{json.dumps(ECHO)}",
        f"The page says:\n```json\n{json.dumps(ECHO)}\n```",
        f"```json\n{json.dumps(ECHO)}\n```\ndone",
        f"```json\n{json.dumps(ECHO)}\n```\nand\n```json\n{json.dumps(ECHO)}\n```",
        f"> {json.dumps(ECHO)}",
        json.dumps({"name": "unknown", "arguments": {}}),
        json.dumps([ECHO, {"name": "unknown", "arguments": {}}]),
        json.dumps([ECHO, "words"]),
        json.dumps({"name": "terminal"}),
        json.dumps({"name": "terminal", "arguments": [1]}),
        json.dumps({"name": "terminal", "arguments": "words"}),
        json.dumps({"name": "terminal", "arguments": '{"command": "rm'}),
        json.dumps({"name": "terminal", "arguments": {}, "parameters": {}}),
        json.dumps({"name": ["terminal"], "arguments": {}}),
        json.dumps({**ECHO, "why": "to greet"}),
        json.dumps({"tool_calls": [ECHO], "text": "hello"}),
        json.dumps({"tool_calls": []}),
        json.dumps([ECHO] * (MAX_CALLS + 1)),
        json.dumps(ECHO)[:-1],
        "[]",
        "{}",
        "```",
        "``````",
        "```json\n```",
        "<b>bold</b>",
        "<tool_call>",
        "<tool_call></tool_call>",
        "<tool_call>words</tool_call>",
        f"<tool_call>{json.dumps(ECHO)}</tool_call> as asked",
        f"<tool_call>{json.dumps(ECHO)}</function_calls>",
        "<function=exec>",
        "<function=exec>words</function>",
        "<function=exec><parameter=command>ls</function>",
        "<function=exec><parameter=a>1</parameter><parameter=a>2</parameter></function>",
        "<function=unknown></function>",
        '<invoke name="exec"></function>',
        "<tool_call><function=exec></function>, please</tool_call>",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert calls_in_text(text, KNOWN) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30),
        ("-4", -4),
        ("0.5", 0.5),
        ("true", True),
        ("False", False),
        ("1.50", "1.50"),
        ("007", "007"),
        ("+85291234567", "+85291234567"),
        ("1e5", "1e5"),
        ("123456789012345678901", "123456789012345678901"),
        ("10:30", "10:30"),
        ("\none\ntwo\n", "one\ntwo"),
        ("a < b && c > d", "a < b && c > d"),
        ("٣", "٣"),
    ],
)
def test_a_parameter_is_typed_when_it_reads_so(text: str, value: object) -> None:
    (call,) = calls_in_text(f"<function=note><parameter=x>{text}</parameter></function>", KNOWN)
    assert call.arguments == {"x": value}
    assert type(call.arguments["x"]) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "<" * 1_000_000,
        "<tool_call>" * 90_000,
        "<function=exec>" + "<parameter=a>" * 80_000,
        "<function=exec>" + " " * 1_000_000,
        "{" * 1_000_000,
        '{"name":"exec","arguments":' * 40_000,
        "[" + '{"name":"exec","arguments":{}},' * 30_000,
        "```" * 300_000,
        "<tool_call>" + "</tool_call" * 90_000,
        "<function=exec></function>" * 40_000,
    ],
    ids=lambda text: text[:16],
)
def test_a_megabyte_of_almost_calls_is_text(text: str) -> None:
    assert calls_in_text(text, KNOWN) == ()


@given(st.text() | st.text('{}[]<>/=":,`\n toolcainvkefup_', max_size=80))
def test_no_text_raises(text: str) -> None:
    assert isinstance(calls_in_text(text, KNOWN), tuple)


@given(
    st.sampled_from(KNOWN),
    st.dictionaries(st.text(max_size=6), st.integers() | st.booleans() | st.none() | st.text(max_size=9), max_size=4),
)
def test_json_and_python_spellings_agree(name: str, arguments: dict[str, Any]) -> None:
    call = {"name": name, "arguments": arguments}
    assert calls_in_text(json.dumps(call), KNOWN) == calls_in_text(repr(call), KNOWN) == only_of(name, arguments)


def only_of(name: str, arguments: dict[str, Any]) -> tuple[ToolCall, ...]:
    return (ToolCall("text_1", name, arguments, as_text=True),)
