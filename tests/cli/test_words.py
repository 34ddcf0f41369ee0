"""What the terminal says is there in both languages, fits a phone, and names every fault."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from palmclaw.cli.chinese import hints, manual, problems, sentences, skills, spoken
from palmclaw.cli.chinese.faults import EXACT, FAULTS, PLAIN
from palmclaw.cli.chinese.labels import LABELS
from palmclaw.cli.doctor import checked
from palmclaw.cli.main import COMMANDS, cli
from palmclaw.cli.texts import ENGLISH, texts
from palmclaw.cli.wrapping import filled, width_of
from palmclaw.core.errors import Fault
from palmclaw.core.tools import Effect
from palmclaw.guard.policy import STRICTEST, TABLE, TAINTED, Condition, Verdict
from palmclaw.runtime import words
from tests.children import bare
from tests.cli import english

KEPT = ("records.py", "runtime.py", "session.py", "channels.py")
NOT_FOR_PEOPLE = {"error"}
SAID = {**spoken.CHINESE, **sentences.CHINESE}
TOLD = {**problems.CHINESE, **hints.CHINESE, **skills.CHINESE}
ZH = texts({"LANG": "zh_CN.UTF-8"})


def codes() -> Iterator[str]:
    """Of every fault that the runtime, the storage and the local API tell of."""
    files = [f for folder in ("runtime", "storage", "web") for f in (english.SOURCE / folder).rglob("*.py")]
    for path in [*files, *(english.SOURCE / "core" / name for name in KEPT)]:
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


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def holes(text: str) -> int:
    return len(re.findall(r"\{[\d#]?\}", text))


# every text has its Chinese


def test_every_fault_of_the_runtime_has_its_chinese_words() -> None:
    found = set(codes())
    assert {"crashed", "crashed_twice", "not_open", "draining", "gateway_gone", "not_begun", "skipped"} <= found
    assert sorted(found - FAULTS.keys() - NOT_FOR_PEOPLE) == []
    assert sorted((PLAIN | EXACT) - FAULTS.keys()) == []


def test_every_sentence_has_its_chinese_with_the_same_facts_in_it() -> None:
    found = english.sentences() | set(ENGLISH)
    assert {"welcome", "Deleted {name}.", "message", "Nothing is allowed for good."} <= found
    assert sorted(found - SAID.keys()) == []
    assert sorted(SAID.keys() - found) == [], "nobody says that any more"
    differing = {
        said
        for said, chinese in SAID.items()
        if fields(chinese) - {"count"} != fields(ENGLISH.get(said, said)) - {"count"}
    }
    assert differing == set()


def test_every_help_text_of_every_command_and_option_has_its_chinese() -> None:
    found = english.help_texts()
    assert {"Do not ask.", "What lies in the trash.", "Show and change settings."} <= found
    assert sorted(found - manual.CHINESE.keys()) == []
    assert sorted(manual.CHINESE.keys() - found) == [], "no page says that any more"


def test_every_error_hint_finding_and_line_of_the_log_has_its_chinese() -> None:
    found = english.told()
    assert {"there is no session named {}", "Free some space.", "{} MB free", "tool {} in {}: {}"} <= found.keys()
    assert sorted((where, text) for text, where in found.items() if text not in TOLD) == []
    assert {text for text, chinese in TOLD.items() if holes(text) != holes(chinese)} == set()


def test_words_of_the_policy_and_the_doctor_have_their_chinese() -> None:
    chosen = [*Effect, *Condition, *(v.name.lower() for v in Verdict), "owner", "tainted", "job", "other"]
    whys = [row.why for row in (*TABLE.values(), STRICTEST)]
    assert [word for word in (*chosen, *whys, f"and {TAINTED}") if word not in LABELS] == []


def test_names_of_findings_have_their_chinese(home_dir: Path) -> None:
    assert [finding.name for finding in checked() if finding.name not in LABELS] == []


def test_both_languages_of_the_runtime_say_the_same() -> None:
    facts = {key: fields(text) - {"s"} for key, text in words.ENGLISH.items()}  # the ending of a plural
    assert facts == {key: fields(text) for key, text in words.CHINESE.items()}


# how it is found


@pytest.mark.parametrize(
    ("said", "chinese"),
    [
        ("there is no session named 'nobody'", "没有名为 'nobody' 的对话"),
        ("limits.rounds: must be 1 to 100, got 1000", "limits.rounds：必须是 1 到 100，得到 1000"),
        ("/h/c, line 2: limits.x: no such field; there are a, b", "/h/c 第 2 行：limits.x：没有这个字段；有 a, b"),
        ("list_a: expected a list, got 3\nlist_b: missing", "list_a：应为列表，得到 3\nlist_b：缺少"),
        ("a: missing; b: missing", "a：缺少；b：缺少"),
        ("/x is in use by process 7 (serve)", "/x 正被 进程 7（网关） 使用"),
        (
            "No such command 'x'.\nTo say it to the agent: palmclaw chat \"x\"",
            "没有 'x' 这个命令。\n想对助手说这句话：palmclaw chat \"x\"",
        ),
        (
            "telegram: this version has no channel 'telegram'; there are: none yet",
            "telegram：这个版本没有聊天渠道 'telegram'；有：还没有",
        ),
        ("words: that nobody; has foreseen", "words: that nobody; has foreseen"),
        ("a: missing; that nobody has foreseen", "a: missing; that nobody has foreseen"),
        (
            "modules.alarm: there is no such family, and it has no tools",
            "modules.alarm：没有这个工具组，它也没有列出工具",
        ),
        ("SKILL.md, line 1: description is missing", "SKILL.md 第 1 行：缺少 description"),
        ("the library of it is missing", "the library of it is missing"),
        ("there is no more of it", "there is no more of it"),
        ("there is no conversation 'x'", "there is no conversation 'x'"),
        ("cannot write /a b/c: Permission denied", "无法写入 /a b/c：没有权限"),
        ("cannot write /a b/c: something new to us", "无法写入 /a b/c：something new to us"),
        ("max: must be 1 to 100 characters, got 1000", "max：必须是 1 到 100 个字，得到 1000"),
    ],
)
def test_what_others_say_is_recognised(said: str, chinese: str) -> None:
    assert ZH.told(said) == chinese
    assert texts({}).told(said) == said


NAMES = (
    ("'one'", "'two'", "'three'", "'four'"),
    ("a.toml", "b_c", "d-e", "f"),
    ("7", "1,200", "3", "/data/My Files/x"),
)


def filled_in(pattern: str, names: tuple[str, ...]) -> tuple[str, list[str]]:
    """A sentence of that pattern, and what stands in its holes."""
    left, held = iter(names * 5), []
    for hole in re.findall(r"\{#?\}", pattern):
        held.append("12" if hole == "{#}" else next(left))
    return re.sub(r"\{#?\}", "{}", pattern.replace("{}{", "{} {")).format(*held), held


@pytest.mark.parametrize("names", NAMES)
def test_every_sentence_is_told_by_its_own_pattern(names: tuple[str, ...]) -> None:
    wrong = {}
    for pattern, chinese in TOLD.items():
        if "{}{}" in pattern:  # two holes side by side: nobody can say where the first ends
            continue
        said, held = filled_in(pattern, names)
        if (found := ZH.told(said)) != chinese.format(*held):
            wrong[said] = found
    assert wrong == {}


@pytest.mark.parametrize("names", NAMES)
def test_a_sentence_without_chinese_stays_whole_english(names: tuple[str, ...]) -> None:
    """Of all texts in the source: none comes out half in Chinese, half in English."""
    mixed = {}
    for pattern in english.everything() - TOLD.keys():
        said, _ = filled_in(pattern, names)
        found = ZH.told(said)
        if found != said and re.search(r"\b[a-z]{2,} [a-z]{2,}\b", re.sub(r"palmclaw [a-z {}.-]+|%r", "", found)):
            mixed[said] = found
    assert mixed == {}


@pytest.mark.parametrize(
    "command",
    ["skills new Trip", "chat hi", "chat --sesion x", "skill list", "tools sms_sen", "templates show X", "doctor"],
)
def test_what_goes_wrong_is_told_whole_in_chinese(command: str, home_dir: Path) -> None:
    home_dir.mkdir(exist_ok=True)
    (home_dir / "config.toml").write_text("[modules.alarm]\npinned = true\n" if "hi" in command else "")
    said = in_chinese(command, 200).replace(str(home_dir), "HOME")
    assert [line for line in said.splitlines() if PROSE.search(re.sub(r'palmclaw [a-z ._"]+', "", line))] == []
    assert not re.search(r"[\u4e00-\u9fff)] ?[;,] [\u4e00-\u9fff]", said)


def test_no_pattern_is_in_two_tables() -> None:
    tables = (problems.CHINESE, hints.CHINESE, skills.CHINESE)
    assert sum(map(len, tables)) == len(TOLD)


@pytest.mark.parametrize(
    ("number", "one", "many", "english_words", "chinese"),
    [
        (0, "message", "", "0 messages", "0 条消息"),
        (1, "message", "", "1 message", "1 条消息"),
        (1_200, "message", "", "1,200 messages", "1,200 条消息"),
        (1, "message waits", "messages wait", "1 message waits", "1 条消息在等待"),
        (2, "approval waits for you", "approvals wait for you", "2 approvals wait for you", "有 2 项等你确认"),
    ],
)
def test_a_count(number: int, one: str, many: str, english_words: str, chinese: str) -> None:
    assert texts({}).count(number, one, many) == english_words
    assert ZH.count(number, one, many) == chinese


def test_nobody_counts_by_putting_a_number_before_a_plural() -> None:
    plural = re.compile(r"\{\w*\} (messages|approvals|questions|turns|conversations|days)\b")
    said = [*ENGLISH.values(), *english.sentences()]
    assert [text for text in said if plural.search(text)] == []


def test_a_fault_in_the_persons_language() -> None:
    fault = Fault("crashed", "PalmClaw stopped in the middle of this turn; it has been closed.")
    assert texts({}).fault(fault) == (fault.message, "")
    assert ZH.fault(fault) == (FAULTS["crashed"][0], "")
    busy = Fault("home_busy", "/x is in use", hint="Finish there.")
    assert ZH.fault(busy) == ("另一个进程正在使用这个目录。（/x is in use）", FAULTS["home_busy"][1])
    full = Fault("storage", "cannot write /x: full", hint="Is the disk full or read-only?")
    assert ZH.fault(full) == ("无法写入 /x：full", "磁盘满了，还是只读？")


def test_reasons_with_numbers_in_them() -> None:
    assert ZH.label("more than 20 messages waited") == "等待的消息超过 20 条"
    assert ZH.label("stopped") == LABELS["stopped"]
    assert ZH.label("unheard of 3 things") == "unheard of 3 things"
    assert ZH.label("at work, 2 waiting") == "工作中，2 条等待"
    assert texts({}).label("more than 20 messages waited") == "more than 20 messages waited"


# how it looks


def pages() -> list[list[str]]:
    return [[], *([name] for name in COMMANDS), *_inner()]


def _inner() -> Iterator[list[str]]:
    for name in COMMANDS:
        command = next(c for c in english.commands() if c.name == name)
        yield from ([name, inner] for inner in getattr(command, "commands", {}))


def help_page(page: list[str], environ: Mapping[str, str]) -> str:
    result = CliRunner().invoke(cli, [*page, "--help"], terminal_width=40, prog_name="palmclaw", env=dict(environ))
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("page", pages(), ids=lambda page: "-".join(page) or "palmclaw")
def test_a_chinese_help_page_is_chinese_and_fits_a_phone(page: list[str]) -> None:
    lines = help_page(page, {"PALMCLAW_LANG": "zh"}).splitlines()
    prose = [line for line in lines if not line.lstrip().startswith(("palmclaw ", "echo "))]
    assert [line for line in prose if wcswidth(line) > 40] == []
    assert [line for line in prose[1:] if re.search(r"[a-z]{3,} [a-z]{3,} [a-z]{3,}", line)] == []
    assert "用法：" in lines[0]


@pytest.mark.parametrize("page", pages(), ids=lambda page: "-".join(page) or "palmclaw")
def test_an_english_help_page_is_whole_and_fits_a_phone(page: list[str]) -> None:
    text = help_page(page, {"PALMCLAW_LANG": "en"})
    prose = [line for line in text.splitlines() if not line.lstrip().startswith(("palmclaw ", "echo "))]
    assert [line for line in prose if wcswidth(line) > 40] == []
    assert not re.search(r"\.\.\.$", text.partition("Commands:")[2], re.MULTILINE), "a summary is cut off"


PROSE = re.compile(r"[a-z]{3,} [a-z]{2,} [a-z]{2,}")
"""Three English words that are no command."""


@pytest.mark.parametrize(
    "command",
    [
        *(
            "doctor",
            "pair list",
            "pair approve NOCODE",
            "pair forget telegram 7",
            "sessions list",
            "sessions list --all",
        ),
        *("sessions show nobody", "sessions delete nobody --yes", "approvals list", "approvals policy"),
        *("approvals pending", "approvals revoke 7", "approvals answer x yes", "status", "stop", "logs", "trash list"),
        *("trash empty --yes", "trash restore x /", "usage", "config get", "frobnicate"),
        *("config set limits.rounds many", "config set provider.name oracle", "config unset limits.rounds"),
        *("config set provider.api_key sk-12345678", "config set nonsense 1", "tools nothing", "models nothing"),
        *(
            "phone clock tomorrow",
            "phone reset --yes",
            "chat --queue later x",
            "chat --nonsense",
            "frobnicate",
            "prompt",
        ),
    ],
)
def test_a_command_speaks_chinese(command: str, home_dir: Path) -> None:
    said = in_chinese(command, 100).replace(str(home_dir), "HOME")
    assert "Traceback" not in said
    plain = [re.sub(r"palmclaw [a-z ._]+", "", line) for line in said.splitlines()]
    assert [line for line in plain if PROSE.search(line)] == []
    assert re.search(r"[\u4e00-\u9fff]", said)


@pytest.mark.parametrize("command", ["doctor", "approvals policy", "usage", "phone", "sessions list", "pair list"])
def test_what_a_command_says_in_chinese_fits_a_phone(command: str, home_dir: Path) -> None:
    lines = in_chinese(command, 40).splitlines()
    assert [line for line in lines if wcswidth(line) > 40 and str(home_dir.parent)[:20] not in line] == []


def in_chinese(command: str, columns: int) -> str:
    env = bare(PALMCLAW_LANG="zh", COLUMNS=str(columns))
    process = [sys.executable, "-m", "palmclaw", *command.split()]
    done = subprocess.run(process, env=env, capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


@pytest.mark.parametrize("said", [ENGLISH, spoken.CHINESE], ids=["en", "zh"])
def test_the_help_of_a_conversation_fits_a_phone(said: dict[str, str]) -> None:
    assert [line for line in said["help"].splitlines() if wcswidth(line) > 40] == []


@given(st.text(alphabet="ab，。（）好的 x-", max_size=80), st.integers(6, 30), st.sampled_from(["", "  "]))
def test_lines_are_as_wide_as_they_may_be_and_nothing_is_lost(text: str, width: int, indent: str) -> None:
    lines = filled(text, width, indent).split("\n")
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(line.startswith(indent) for line in lines)
    assert max(map(width_of, lines)) <= width


def test_a_sign_does_not_begin_a_line() -> None:
    assert filled("一二三四五六，七八九。", 12) == "一二三四五\n六，七八九。"
    assert filled("看（palmclaw logs）吧", 16) == "看（palmclaw\nlogs）吧"


def test_english_loads_no_chinese() -> None:
    for code in (
        "import palmclaw.cli.chat, palmclaw.cli.serve",
        "from palmclaw.cli.main import main; main(['--help'])",
    ):
        script = f"import atexit, sys; atexit.register(lambda: print(*sys.modules))\n{code}"
        done = subprocess.run([sys.executable, "-c", script], env=bare(), capture_output=True, text=True, check=True)
        found = set(done.stdout.split())
        assert "palmclaw.cli.main" in found or "palmclaw.cli.chat" in found
        assert [name for name in found if name.startswith(("palmclaw.cli.chinese", "palmclaw.cli.wrapping"))] == []
