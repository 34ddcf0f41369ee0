"""Tool calls that a model wrote into its answer instead of using the protocol.

Only an answer that is nothing but calls counts: one call or a list of calls, fenced or not, each to a known tool. A
call that is quoted, explained or followed by words is text, and stays text.
"""

import re
from collections.abc import Collection
from typing import Any

from palmclaw.core.arguments import json_value, literal_value, read_arguments
from palmclaw.core.messages import ToolCall

MAX_CALLS = 32
_Pair = tuple[str, dict[str, Any]]
_CALL_KEYS = frozenset({"id", "type", "index", "function", "function_call", "name", "arguments", "parameters"})


def calls_in_text(text: str, known: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls that the whole of `text` spells, or none; ids are `text_1`, `text_2` …."""
    content = _unfenced(text.strip())
    try:
        pairs = _in_tags(content) if content.startswith("<") else _in_value(content)
    except _NoCall:
        return ()
    if not 0 < len(pairs) <= MAX_CALLS or any(name not in known for name, _ in pairs):
        return ()
    return tuple(ToolCall(f"text_{n}", name, arguments, as_text=True) for n, (name, arguments) in enumerate(pairs, 1))


class _NoCall(Exception):
    """The text is no call: the way out of nested parsing."""


def _unfenced(text: str) -> str:
    """What stands in the one fence that is the whole text, else the text."""
    if not (text.startswith("```") and text.endswith("```") and len(text) > 6):
        return text
    opening = _FENCE.match(text)
    return text[opening.end() if opening else 3 : -3].strip()


# JSON and Python literals


def _in_value(content: str) -> list[_Pair]:
    if not content.startswith(("{", "[")):
        raise _NoCall
    value = json_value(content)
    return _calls(literal_value(content) if value is None else value)


def _calls(value: Any) -> list[_Pair]:
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list) and value.keys() <= {"tool_calls", "role"}:
        value = value["tool_calls"]
    return [_call(item) for item in (value if isinstance(value, list) else [value])]


def _call(item: Any) -> _Pair:
    """One object that says a name and arguments and nothing else."""
    if not isinstance(item, dict) or not item.keys() <= _CALL_KEYS:
        raise _NoCall
    inner = item.get("function", item.get("function_call"))
    if isinstance(inner, dict):
        return _call(inner)
    name = item.get("name", inner)
    spelt = [item[key] for key in ("arguments", "parameters") if key in item]
    if not isinstance(name, str) or len(spelt) != 1:
        raise _NoCall
    return name, _arguments(spelt[0])


def _arguments(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if value is None or isinstance(value, str):
        found, flaw, _ = read_arguments(value)
        if not flaw:
            return found
    raise _NoCall


# tags: <tool_call>, <vendor:tool_call>, <function_calls> around JSON, <function=…> or <invoke name=…>


def _in_tags(content: str) -> list[_Pair]:
    """A sequence of wrapped or bare calls with nothing but space between them."""
    found: list[_Pair] = []
    at = 0
    while at < len(content):
        if (wrapper := _WRAPPER.match(content, at)) is not None:
            end = _closing(content, f"</{wrapper[1]}>", wrapper.end())
            inner = content[wrapper.end() : end].strip()
            found += _functions(inner) if inner.startswith("<") else _in_value(inner)
            at = end + len(wrapper[1]) + 3
        else:
            pair, at = _function(content, at)
            found.append(pair)
        at = _after_space(content, at)
    return found


def _functions(content: str) -> list[_Pair]:
    found: list[_Pair] = []
    at = 0
    while at < len(content):
        pair, at = _function(content, at)
        found.append(pair)
        at = _after_space(content, at)
    return found


def _function(content: str, at: int) -> tuple[_Pair, int]:
    """`<function=NAME>` or `<invoke name="NAME">` with its parameters, and where it ends."""
    opening = _FUNCTION.match(content, at)
    if opening is None:
        raise _NoCall
    closing = "</function>" if opening["function"] is not None else "</invoke>"
    name = opening["function"] or opening["invoke"] or ""
    arguments: dict[str, Any] = {}
    at = _after_space(content, opening.end())
    while not content.startswith(closing, at):
        key, value, at = _parameter(content, at)
        if key in arguments:
            raise _NoCall
        arguments[key] = value
        at = _after_space(content, at)
    return (name.strip(), arguments), at + len(closing)


def _parameter(content: str, at: int) -> tuple[str, Any, int]:
    opening = _PARAMETER.match(content, at)
    if opening is None:
        raise _NoCall
    end = _closing(content, "</parameter>", opening.end())
    text = content[opening.end() : end].removeprefix("\n").removesuffix("\n")
    key = opening["short"] or opening["named"] or ""
    value = text if 'string="true"' in (opening["rest"] or "") else _typed(text)
    return key.strip(), value, end + len("</parameter>")


def _typed(text: str) -> Any:
    """A number or truth value where the text reads so and would be written the same way again; else the text."""
    word = text.strip()
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if len(word) < 20 and _NUMBER.fullmatch(word):
        number = float(word) if "." in word else int(word)
        return number if str(number) == word else text
    return text


def _closing(content: str, tag: str, start: int) -> int:
    end = content.find(tag, start)
    if end < 0:
        raise _NoCall
    return end


def _after_space(content: str, at: int) -> int:
    while at < len(content) and content[at].isspace():
        at += 1
    return at


_FENCE = re.compile(r"```[A-Za-z0-9_-]*[ \t]*\n")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_WRAPPER = re.compile(r"<((?:[A-Za-z0-9_.-]{1,40}:)?(?:tool_calls?|function_calls?))>\s*")
_FUNCTION = re.compile(
    r"<(?:function=(?P<function>[^<>\n]{1,100})|invoke\s{1,9}name=\"(?P<invoke>[^\"<>\n]{1,100})\"\s{0,9})>"
)
_PARAMETER = re.compile(
    r"<parameter(?:=(?P<short>[^<>\n]{1,100})|\s{1,9}name=\"(?P<named>[^\"<>\n]{1,100})\"(?P<rest>[^<>\n]{0,100}))>"
)
