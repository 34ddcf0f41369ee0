"""Others' sentences find their tools, at what they may cost; the figures stand in docs/routing.md."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

import palmclaw.tools
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.app import App, assembled
from palmclaw.cli.counting import tokenizer
from palmclaw.core.families import check
from palmclaw.core.keywords import can_be_heard, unknown_kinds
from palmclaw.core.modules import matched, spoken_of
from tests.routing.evaluation import Case, Figures, costs, left_out, measured, missed, sentences, tasks, ways

ROOT = Path(__file__).parents[2]
FLOOR, MOST = 0.98, 900
PARTS: dict[str, Callable[[Case], bool]] = {
    "all": lambda case: True,
    "looked at": lambda case: not case.is_held_out,
    "held out": lambda case: case.is_held_out,
    "en": lambda case: case.language == "en",
    "zh": lambda case: case.language == "zh",
}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> App:
    return assembled({"PALMCLAW_HOME": str(tmp_path_factory.mktemp("home"))})


def figures(app: App, cases: list[Case], way: str = "routing") -> Figures:
    return measured(cases, ways(app.modules)[way], app.modules, costs(app.tools, tokenizer({}).count))


@pytest.mark.parametrize("part", PARTS)
def test_what_a_sentence_needs_is_there(app: App, part: str) -> None:
    cases = [case for case in sentences() if PARTS[part](case)]
    lacking = missed(cases, ways(app.modules)["routing"], app.modules)
    assert 1 - len(lacking) / len(cases) >= FLOOR, "\n".join(lacking)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_task_needs_is_there(app: App, language: str) -> None:
    cases = [case for case in tasks() if case.language == language]
    lacking = missed(cases, ways(app.modules)["routing"], app.modules)
    assert 1 - len(lacking) / len(cases) >= FLOOR, "\n".join(lacking)


def test_what_is_offered_stays_small(app: App) -> None:
    assert (figures(app, sentences()).tokens <= MOST, figures(app, tasks()).tokens <= MOST) == (True, True)


def test_routing_is_between_all_tools_and_keywords_alone(app: App) -> None:
    whole, bare, routed = (figures(app, sentences(), way) for way in ("all tools", "keywords alone", "routing"))
    assert (whole.recall, whole.quiet) == (1.0, 0.0)
    assert bare.tokens < routed.tokens < whole.tokens / 2
    assert bare.recall + 0.05 < routed.recall
    assert min(bare.quiet, routed.quiet) >= 0.7


def test_the_sentences_are_as_many_as_they_should_be() -> None:
    said, suite = sentences(), tasks()
    assert [len([c for c in said if keep(c)]) for keep in PARTS.values()] == [180, 120, 60, 120, 60]
    assert (len(suite), len({case.id for case in suite})) == (100, 70)
    assert left_out() == [
        *("cron.create", "cron.list", "cron.update", "media.delete", "media.photo", "media.update"),
        *("weather.get", "web.fetch", "web.search"),
    ]


def test_every_needed_tool_is_one_of_ours(app: App) -> None:
    assert {tool for case in (*sentences(), *tasks()) for tool in case.tools} - set(app.tools) == set()


def test_a_need_in_words_finds_its_family(app: App) -> None:
    routes = ModuleRoutes(app.modules, app.tools)
    needs = [case for case in sentences() if case.tools]
    found = [case.tools <= {tool.name for tool in routes.find("s", case.texts[0])} for case in needs]
    assert sum(found) / len(found) >= FLOOR


@pytest.mark.parametrize(
    ("need", "family"),
    [
        ("set an alarm", "alarms"),
        ("sms_send", "messages"),
        ("bluetooth", "bluetooth"),
        ("read and edit files", "files"),
        ("play music", "media"),
        ("look up a phone number", "contacts"),
        ("events of a day", "calendar"),
        ("change the volume", "device"),
        ("long-term memory", "memory"),
        ("start a sub-agent", "sessions"),
        ("open a web page", "apps"),
        ("发短信", "messages"),
        ("定闹钟", "alarms"),
        ("查日程", "calendar"),
        ("读写文件", "files"),
        ("播放音乐", "media"),
        ("联系人的号码", "contacts"),
        ("调音量", "device"),
        ("长期记忆", "memory"),
        ("子代理", "sessions"),
        ("打开应用", "apps"),
        ("连接蓝牙设备", "bluetooth"),
    ],
)
def test_a_model_that_asks_for_a_family_gets_it(app: App, need: str, family: str) -> None:
    found = ModuleRoutes(app.modules, app.tools).find("s", need)
    assert set(app.modules[family].tools) <= {tool.name for tool in found}


@pytest.mark.parametrize(
    "text",
    [
        *("hi", "hello!", "thanks a lot", "good night", "lol", "你好", "谢谢你", "嗯嗯", "晚安"),
        *("Look again", "You again", "Tell me everything", "Try again", "Say that again", "tell me more", "再说一遍"),
    ],
)
def test_small_talk_is_of_nothing(app: App, text: str) -> None:
    assert spoken_of(app.modules, text) == frozenset()


def test_the_keywords_are_well_written_and_the_families_fit_together(app: App) -> None:
    check(app.modules)
    words = [word for module in app.modules.values() for word in (*module.keywords, *module.hints)]
    assert [word for word in words if unknown_kinds(word) or not can_be_heard(word)] == []


def test_words_lie_beside_the_families_they_are_of(app: App) -> None:
    folder = Path(palmclaw.tools.__path__[0]) / "words"
    files = {path.stem: path.read_text("utf-8") for path in folder.iterdir()}
    assert sorted(files) == sorted(n for n, m in app.modules.items() if not m.always)
    assert [name for name, text in files.items() if "\nhints:\n" not in text or "\r" in text] == []


def test_the_bench_prints_these_figures(app: App) -> None:
    command = [sys.executable, "bench/routing.py", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    printed = json.loads(done.stdout)
    assert (printed["tokenizer"], printed["left_out"]) == ("o200k_base", left_out())
    assert printed["ways"]["routing"]["all"] == asdict(figures(app, sentences()))
    assert list(printed["ways"]) == ["all tools", "keywords alone", "routing"]


def test_families_are_found_in_sentences_that_nobody_looked_at(app: App) -> None:
    """Written by a stranger who had not seen the words: the first run found every family that was needed."""
    lines = (Path(__file__).parent / "strangers.jsonl").read_text("utf-8").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) == 49
    assert [c["id"] for c in cases if not set(c["needs"]) <= matched(app.modules, [c["text"]])] == []
