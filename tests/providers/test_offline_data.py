"""The data files of the offline assistant hang together, and nothing of it is loaded before it is needed."""

import ast
import re
import string
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from palmclaw import plugins
from palmclaw.providers import offline
from palmclaw.providers.offline.grammar import grammar
from palmclaw.providers.offline.refusals import refusals
from palmclaw.providers.offline.scripts import SCRIPTS
from palmclaw.providers.offline.slots import READERS, read
from palmclaw.providers.offline.templates import Needs, present, satisfied
from tests.children import bare
from tests.providers.desk import MONDAY, TOOLS

DATA = Path(offline.__file__).parent / "data"


def written(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text("utf-8"))


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_answers() -> None:
    english, chinese = written("answers.en.toml"), written("answers.zh.toml")
    assert (english.pop("reasons"), len(chinese.pop("reasons")) > 10) == ({}, True)
    assert {k: set(v) for k, v in english.items()} == {k: set(v) for k, v in chinese.items()}
    assert {k: fields(v) for k, v in english["say"].items()} == {k: fields(v) for k, v in chinese["say"].items()}


def test_every_tool_that_can_be_missing_has_a_name() -> None:
    assert set(TOOLS) - {"ask"} <= set(written("answers.en.toml")["can"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_intent_has_a_script_and_every_script_an_intent(language: str) -> None:
    strict = set(written(f"sentences.{language}.toml")["intents"])
    assert strict == set(SCRIPTS)
    assert set(written(f"loose.{language}.toml")["intents"]) <= strict


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_slot_has_a_reader_and_every_rule_is_there(language: str) -> None:
    sentences = written(f"sentences.{language}.toml")
    assert set(sentences["slots"]) <= set(READERS)
    loaded = grammar(language)
    known = set(sentences["slots"]) | set(sentences["lists"])
    for template in loaded.templates:
        lists = {s.split(":")[0] for s in re.findall(r"\{([^}]*)\}", template.text)}
        slots = {s.split(":")[-1] for s in re.findall(r"\{([^}]*)\}", template.text)}
        assert lists <= known, template
        assert slots <= set(READERS) | set(sentences["lists"]) | {"day2"}, template
        assert {r for r in re.findall(r"<([^>]*)>", template.text) if r not in loaded.rules} == set(), template


@pytest.mark.parametrize("language", ["en", "zh"])
def test_brackets_close(language: str) -> None:
    for template in grammar(language).templates:
        assert "?" not in template.text
        for opening, closing in ("()", "[]", "<>", "{}"):
            assert template.text.count(opening) == template.text.count(closing), template


@pytest.mark.parametrize(
    ("template", "sentence", "fits"),
    [
        ("turn [the] (torch|lamp) on", "turn lamp on", True),
        ("turn [the] (torch|lamp) on", "turn it on", False),
        ("<dnd> on", "dnd on", True),
        ("<dnd> on", "it is on", False),
        ("(a|[b]) c", "c", True),
        ("{text} to {file}", "x to y", True),
        ("{text} to {file}", "x y", False),
    ],
)
def test_a_template_is_parsed_only_for_sentences_with_its_words(template: str, sentence: str, fits: bool) -> None:
    needs = Needs({"dnd": "(dnd|do not disturb)"}).of(template)
    assert satisfied(needs, present([w for clause in needs for w in clause], sentence, True)) is fits


def test_chinese_words_may_have_fillers_between() -> None:
    assert present(["打开手电筒"], "打开一下手电筒", False) == {"打开手电筒"}
    assert present(["打开手电筒"], "打开手机", False) == set()


def test_refusals_are_loaded_once() -> None:
    assert refusals() is refusals()
    assert grammar("en") is grammar("en")


@pytest.mark.parametrize(
    ("slot", "words", "value"),
    [
        ("person", "me", None),
        ("person", "my mum", "mum"),
        ("person", "it a day", None),
        ("person", "the number you have", "number you have"),
        ("person", "我的妈妈的电话", None),
        ("app", "the window", None),
        ("app", "it", None),
        ("app", "洗衣机", None),
        ("app", "照相机", "照相机"),
        ("song", "chess with me", None),
        ("fact", "when we met", None),
        ("fact", "Titanic", None),
        ("gone", "it", None),
        ("place", "Mars", None),
        ("gadget", "the internet", None),
        ("url", "notes.md", None),
        ("url", "example.org:8080/a", "https://example.org:8080/a"),
        ("file", "example.com", None),
        ("file", "docs/a", "docs/a"),
        ("file", "shared://a.md", "shared://a.md"),
        ("title", "tomorrow", None),
        ("folder", "a.md", None),
        ("contact", "Bob", None),
        ("alarm", "in 20", None),
        ("alarm", "soon", None),
        ("timer", "a while", None),
        ("reminder", "tomorrow at 9", None),
        ("event_timed", "lunch", None),
        ("cancelled", "my order tomorrow", None),
        ("level", "150", None),
        ("level", "lots", None),
        ("text", "“that”", None),
        ("short", "x" * 300, None),
        ("pattern", "y" * 70, None),
        ("text", " ... ", ".."),
        ("text", "  ", None),
    ],
)
def test_what_a_slot_may_hold(slot: str, words: str, value: object) -> None:
    assert read(slot, words, MONDAY) == value


def test_nothing_is_loaded_before_the_first_sentence() -> None:
    code = (
        "import sys, pathlib\n"
        "from palmclaw.providers import offline\n"
        "from palmclaw.core.plugin import Parts\n"
        "offline.create.create(offline.OfflineConfig(), Parts(pathlib.Path()))\n"
        "print(*(m for m in sys.modules if m.split('.')[0] in ('hassil', 'yaml', 'unicode_rbnf', 'tomllib')\n"
        "        or m.startswith('palmclaw.providers.offline.')))"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=bare(), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_intents_are_written_once_each() -> None:
    for language in ("en", "zh"):
        names = re.findall(r"^\[\[intents\.(\w+)\]\]", (DATA / f"sentences.{language}.toml").read_text("utf-8"), re.M)
        runs = [first for first, second in pairwise([*names, ""]) if first != second]
        assert len(runs) == len(set(runs))


def test_every_call_that_it_can_make_fits_a_tool() -> None:
    """By name and by the names of the arguments; `weather` has no tool yet, and the assistant says so."""
    tools, found = plugins.tools()[0], set()
    for path in sorted(Path(offline.__file__).parent.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Call"):
                continue
            name, *given = node.args
            assert isinstance(name, ast.Constant), f"{path.name}:{node.lineno}"
            keys = [k.value for a in given if isinstance(a, ast.Dict) for k in a.keys if isinstance(k, ast.Constant)]
            found |= {(str(name.value), str(key)) for key in keys} | {(str(name.value), "")}
    known = {(name, field) for name, tool in tools.items() for field in ("", *tool.schema["properties"])}
    assert len(found) > 50
    assert set(TOOLS) - set(tools) == {"weather"}
    assert {call for call in found - known if call[0] != "weather"} == set()
