"""What the terminal says is there in both languages, fits a phone, and names every fault."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from wcwidth import wcswidth

from palmclaw.cli import gateway_words
from palmclaw.cli.chinese import CHINESE_FAULTS, CHINESE_LABELS, PLAIN
from palmclaw.cli.texts import CHINESE, ENGLISH, texts
from palmclaw.core.errors import Fault
from palmclaw.runtime import words

SOURCE = Path(__file__).parents[2] / "src/palmclaw"
KEPT = ("records.py", "runtime.py", "session.py", "channels.py")
NOT_FOR_PEOPLE = {"error"}


def codes() -> Iterator[str]:
    """Of every fault that the runtime, the storage and the local API tell of."""
    files = [f for folder in ("runtime", "storage", "web") for f in (SOURCE / folder).rglob("*.py")]
    for path in [*files, *(SOURCE / "core" / name for name in KEPT)]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Fault":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant):
                    yield str(first.value)
            if isinstance(node, ast.ClassDef):
                yield from _own_codes(node)


def _own_codes(found: ast.ClassDef) -> Iterator[str]:
    for line in found.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "code":
            yield str(ast.literal_eval(line.value))


def test_every_fault_of_the_runtime_has_its_chinese_words() -> None:
    found = set(codes())
    assert {"crashed", "crashed_twice", "not_open", "draining", "gateway_gone", "not_begun", "skipped"} <= found
    assert sorted(found - CHINESE_FAULTS.keys() - NOT_FOR_PEOPLE) == []
    assert sorted(PLAIN - CHINESE_FAULTS.keys()) == []


@pytest.mark.parametrize(
    ("english", "chinese"),
    [(ENGLISH, CHINESE), (gateway_words.ENGLISH, gateway_words.CHINESE), (words.ENGLISH, words.CHINESE)],
)
def test_both_languages_say_the_same(english: dict[str, str], chinese: dict[str, str]) -> None:
    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in Formatter().parse(text) if name}

    assert {key: fields(text) for key, text in english.items()} == {k: fields(t) for k, t in chinese.items()}


@pytest.mark.parametrize("said", [ENGLISH, CHINESE], ids=["en", "zh"])
def test_the_help_fits_a_phone(said: dict[str, str]) -> None:
    assert [line for line in said["help"].splitlines() if wcswidth(line) > 40] == []


def test_a_fault_in_the_persons_language() -> None:
    fault = Fault("crashed", "PalmClaw stopped in the middle of this turn; it has been closed.")
    english, chinese = texts({}), texts({"LANG": "zh_CN.UTF-8"})
    assert english.fault(fault) == (fault.message, "")
    assert chinese.fault(fault) == (CHINESE_FAULTS["crashed"][0], "")
    busy = Fault("home_busy", "/x is in use", hint="Finish there.")
    assert chinese.fault(busy) == ("另一个进程正在使用这个目录。（/x is in use）", CHINESE_FAULTS["home_busy"][1])


def test_reasons_with_numbers_in_them() -> None:
    chinese = texts({"LANG": "zh"})
    assert chinese.label("more than 20 messages waited") == "等待的消息超过 20 条"
    assert chinese.label("stopped") == CHINESE_LABELS["stopped"]
    assert chinese.label("unheard of 3 things") == "unheard of 3 things"
    assert texts({}).label("more than 20 messages waited") == "more than 20 messages waited"
