"""The command line: every command in-process on a home of its own."""

import asyncio
import json
import os
import re
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import pytest
from click.testing import CliRunner, Result

from palmclaw.cli.counting import tokenizer
from palmclaw.cli.main import COMMANDS, SUMMARIES, cli, main
from palmclaw.core.errors import PalmclawError
from palmclaw.core.messages import user_message
from palmclaw.core.records import Beginning
from palmclaw.core.text import tokens
from palmclaw.core.traffic import Inbound
from palmclaw.storage.database import Database
from palmclaw.storage.sessions import Sessions


@pytest.fixture(autouse=True)
def home(home_dir: Path) -> Path:
    return home_dir


def run(*args: str, stdin: str | None = None, fails: bool = False) -> Result:
    result = CliRunner().invoke(cli, args, input=stdin, catch_exceptions=False)
    assert fails or result.exit_code == 0, result.output
    return result


def phone() -> dict[str, Any]:
    state: dict[str, Any] = json.loads(run("phone", "--json").stdout)
    return state


def sent() -> list[dict[str, Any]]:
    return [m for m in phone()["sms"] if m["dir"] == "out"]


def script(home: Path, steps: list[Any]) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "script.json").write_text(json.dumps({"steps": steps}))
    table = f'[provider]\nname = "scripted"\nscript = "{home / "script.json"}"\n'
    (home / "config.toml").write_text(table)


# chat


def test_a_message_is_answered_with_the_phones_figure() -> None:
    percent = phone()["device"]["battery"]["percent"]
    result = run("chat", "How much battery is left?")
    assert str(percent) in result.stdout
    assert "device_status" in result.stderr
    assert "device_status" not in result.stdout


def test_a_text_is_sent_once_when_it_is_approved() -> None:
    before = len(sent())
    result = run("chat", "--approve", "always", "text Mei Lin that I'm ten minutes late")
    assert [m["body"] for m in sent()[before:]] == ["I'm ten minutes late"]
    assert "Mei Lin" in result.stdout


def test_a_text_is_not_sent_when_it_is_declined_and_the_answer_says_so() -> None:
    before = len(sent())
    result = run("chat", "--approve", "never", "text Mei Lin that I'm ten minutes late")
    assert len(sent()) == before
    assert re.search(r"not sent|nothing was sent|declined", result.stdout)


def test_the_same_in_chinese() -> None:
    before = len(sent())
    run("chat", "--approve", "never", "给Mei Lin发短信说我晚到十分钟")
    assert len(sent()) == before
    run("chat", "--approve", "always", "给Mei Lin发短信说我晚到十分钟")
    assert [m["body"] for m in sent()[before:]] == ["我晚到十分钟"]
    run("chat", "把媒体音量关掉")
    assert phone()["device"]["volume"]["media"] == 0


def test_a_message_from_standard_input() -> None:
    assert run("chat", "-", stdin="turn the torch on").exit_code == 0
    assert phone()["device"]["flashlight"] is True
    run("chat", stdin="turn the torch off")
    assert phone()["device"]["flashlight"] is False
    assert run("chat", "-", stdin=" \n", fails=True).exit_code == 2


def test_json_gives_one_event_a_line() -> None:
    lines = [json.loads(line) for line in run("chat", "--json", "turn the torch on").stdout.splitlines()]
    kinds = [line["type"] for line in lines]
    assert (kinds[0], kinds[-1]) == ("taken", "turn_ended")
    assert (kinds.count("taken"), kinds.count("turn_started")) == (2, 1)
    assert {"tool_started", "tool_ended", "text_delta"} <= set(kinds)


def test_quiet_shows_the_answer_alone() -> None:
    result = run("chat", "-q", "How much battery is left?")
    assert (bool(result.stdout), result.stderr) == (True, "")


def test_a_failed_turn_has_another_exit_code(home: Path) -> None:
    script(home, [{"error": "auth"}])
    result = run("chat", "hi", fails=True)
    assert result.exit_code == 1
    assert "key" in result.stderr.lower()
    assert result.stdout == ""


def test_a_question_of_the_agent_is_the_answer(home: Path) -> None:
    call = {"name": "ask", "arguments": {"question": "Which Mei?", "choices": ["Mei Lin", "Mei Ling Chow"]}}
    script(home, [{"calls": [call]}])
    assert run("chat", "text Mei").stdout == "Which Mei?\n1. Mei Lin\n2. Mei Ling Chow\n"


def test_a_script_that_holds_a_session_is_continued(home: Path) -> None:
    run("chat", "--session", "work", "turn the torch on")
    run("chat", "--session", "work", "turn the torch off")
    listed = json.loads(run("sessions", "list", "--json").stdout)
    assert [(s["id"], s["turns"]) for s in listed] == [("work", 2)]


def test_an_unknown_device_is_said() -> None:
    with pytest.raises(PalmclawError, match="there is no device named 'toaster'; there are virtual"):
        run("chat", "--device", "toaster", "hi")


# sessions


def test_sessions_are_listed_shown_exported_and_deleted(tmp_path: Path) -> None:
    assert "No conversations yet" in run("sessions", "list").stdout
    run("chat", "turn the torch on")
    assert "turn the torch on" in run("sessions", "list").stdout
    assert "device_set" in run("sessions", "show").stdout
    shown = json.loads(run("sessions", "show", "--json").stdout)
    assert [m["role"] for m in shown] == ["user", "assistant", "tool", "assistant"]
    exported = [json.loads(line) for line in run("sessions", "export").stdout.splitlines()]
    assert exported == shown
    run("sessions", "export", "-o", str(tmp_path / "out.jsonl"))
    assert stat.S_IMODE((tmp_path / "out.jsonl").stat().st_mode) == 0o600
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 4
    assert run("sessions", "delete", "main", stdin="n\n", fails=True).exit_code == 1
    run("sessions", "delete", "main", "--yes")
    assert json.loads(run("sessions", "list", "--json").stdout) == []


@pytest.mark.parametrize("command", [("show",), ("export",), ("delete", "--yes")])
def test_an_unknown_session_is_named(command: tuple[str, ...]) -> None:
    with pytest.raises(PalmclawError, match="there is no session named 'nobody'"):
        run("sessions", *command, "nobody")


# tools, prompt


def test_tools_are_listed_and_explained() -> None:
    assert "sms_send" in run("tools").stdout
    text = run("tools", "sms_send").stdout
    assert "effect: send" in text
    assert "needs the permission: sms" in text
    assert "depends on the arguments" in run("tools", "file_write").stdout
    described = json.loads(run("tools", "--json").stdout)
    assert len({t["name"] for t in described}) == len(described) > 40
    with pytest.raises(PalmclawError, match="no tool or family named 'nothing'"):
        run("tools", "nothing")
    with pytest.raises(PalmclawError) as caught:
        run("tools", "sms_sent")
    assert caught.value.hint.startswith("Did you mean sms_send")


def test_families_are_listed_as_the_owner_wants_them(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(
        '[tools]\ndisabled = ["sms_send"]\n[modules.bluetooth]\nbarred = true\n[modules.device]\npinned = true\n'
        '[modules.commute]\ntools = ["location", "page_open"]\nkeywords = ["commute"]\n'
    )
    lines = run("tools").stdout.splitlines()
    assert {
        *("bluetooth  (switched off by you)", "device  (always there, because you pinned it)", "commute"),
        *("  sms_send  (switched off by you)", "base  (always there)"),
    } <= set(lines)
    commute = run("tools", "commute").stdout.splitlines()
    assert [line for line in commute if not line.startswith("    ")] == ["commute", "  location", "  page_open"]
    assert [t["name"] for t in json.loads(run("tools", "commute", "--json").stdout)] == ["location", "page_open"]
    (home / "config.toml").write_text("[modules.base]\nbarred = true\n")
    with pytest.raises(PalmclawError, match="the family base is always needed"):
        run("tools")


def test_the_prompt_is_what_would_go_out() -> None:
    done = run("prompt", "text Mei Lin")
    assert done.stderr == "No model is connected; this is what a service would be sent:\n"
    text = done.stdout
    assert "policy and rules" in text
    assert "sms_send" in text
    body = json.loads(run("prompt", "--json", "hi").stdout)
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["stream"] is True
    assert {t["function"]["name"] for t in body["tools"]} == {"ask", "find_tools", "skill"}
    assert not (Path(os.environ["PALMCLAW_HOME"]) / "palmclaw.db").exists()


def test_the_prompt_says_whose_it_is(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[provider]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m1"\n')
    assert run("prompt", "hi", "--tokens").stderr == "The request to custom/m1:\n"


@pytest.mark.parametrize("is_group", [False, True])
async def test_the_prompt_holds_memory_only_where_the_owner_is_alone(home: Path, is_group: bool) -> None:
    (home / "memory").mkdir(parents=True)
    (home / "memory" / "MEMORY.md").write_text("- likes tea\n")
    database = Database(home / "palmclaw.db")
    await Sessions(database).begin(Beginning("t", (Inbound("chat:c1", "hi", group=is_group),), (user_message("hi"),)))
    await database.close()
    shown = await asyncio.to_thread(run, "prompt", "--session", "chat:c1", "--json", "hello")
    assert ("likes tea" in shown.stdout) is not is_group


def test_what_each_part_of_a_request_costs_is_counted() -> None:
    found = json.loads(run("prompt", "text Mei Lin", "--tokens", "--json").stdout)
    assert set(found) == {"tokenizer", "total", "parts"}
    assert found["tokenizer"] == "o200k_base"
    assert [p["name"] for p in found["parts"]] == [
        "policy", "tools: base", "tools: contacts", "tools: messages", "tools: skills", "history", "message", "rest",
    ]  # fmt: skip
    body = json.loads(run("prompt", "text Mei Lin", "--json").stdout)
    whole = tokenizer({}).count(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
    assert found["total"] == sum(p["tokens"] for p in found["parts"]) == pytest.approx(whole, rel=0.02)
    assert not (Path(os.environ["PALMCLAW_HOME"]) / "palmclaw.db").exists()


def test_without_a_tokenizer_it_is_estimated_and_says_so(home: Path) -> None:
    start = "import sys; sys.modules |= dict.fromkeys(('bpe_openai', 'tiktoken'))\n"
    start += "from palmclaw.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", start, "prompt", "text Mei Lin", "--tokens"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    body = json.loads(run("prompt", "text Mei Lin", "--json").stdout)
    whole = tokens(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
    assert found["tokenizer"] == "estimate"
    assert found["total"] == sum(p["tokens"] for p in found["parts"]) == pytest.approx(whole, rel=0.02)
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.endswith("  in all\nEstimated; to count tokens:\npip install bpe-openai\n")


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["policy and rules", "tools: messages", "history (0 messages)", "counted with o200k_base"]),
        ("zh", ["策略和规则", "工具：messages", "历史（0 条消息）", "由 o200k_base 计得"]),
    ],
)
def test_the_costs_fit_a_phone(language: str, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("PALMCLAW_LANG", language)
    text = run("prompt", "remind me to text Mei Lin, and save it to a file", "--tokens").stdout
    assert [words for words in said if words not in text] == []
    assert re.search(r"\bsms_send \d+\b", text)
    assert max(sum(1 + (east_asian_width(c) in "WF") for c in line) for line in text.splitlines()) <= 40


# config


def test_settings_are_set_shown_and_unset(home: Path) -> None:
    assert run("config", "path").stdout.strip() == str(home / "config.toml")
    home.mkdir(parents=True)
    (home / "config.toml").write_text("# mine\n[provider]\nmodel = 'old' # keep\n")
    run("config", "set", "provider.model", "qwen3:4b")
    run("config", "set", "limits.rounds", "30")
    run("config", "set", "limits.tool_seconds", "30.5")
    run("config", "set", "tools.disabled", "call, sms_send")
    assert run("config", "get", "provider.model").stdout == "qwen3:4b\n"
    assert run("config", "get").stdout.splitlines() == [
        "provider.model = qwen3:4b",
        "limits.rounds = 30",
        "limits.tool_seconds = 30.5",
        "tools.disabled = call,sms_send",
    ]
    assert "# mine" in (home / "config.toml").read_text()
    run("config", "unset", "limits.rounds")
    assert run("config", "get", "limits.rounds").stdout == ""


def test_a_key_is_kept_apart_and_never_shown(home: Path) -> None:
    run("config", "set", "provider.api_key", "sk-test-1234567890")
    assert stat.S_IMODE((home / "secrets.toml").stat().st_mode) == 0o600
    assert not (home / "config.toml").exists()
    assert run("config", "get", "provider.api_key").stdout == "***\n"
    assert "1234567890" not in run("config", "get").stdout
    run("config", "unset", "provider.api_key")
    assert run("config", "get", "provider.api_key").stdout == ""


@pytest.mark.parametrize(
    ("key", "is_secret"),
    [
        ("modules.commute.keywords", False),
        ("modules.keyring.tools", False),
        ("agents.keeper_of_secrets.tools", False),
        ("channels.token_bot.owners", False),
        ("services.monkey.base_url", False),
        ("provider.max_tokens", False),
        ("provider.key_header", False),
        ("services.x.api_key", True),
        ("channels.telegram.token", True),
        ("channels.mail.password", True),
        ("provider.headers.X-Mine", True),
        ("provider.body.secret_code", True),
    ],
)
def test_secrets_alone_are_not_shown(home: Path, key: str, is_secret: bool) -> None:
    *tables, name = key.split(".")
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(f'[{".".join(tables)}]\n{name} = "seen"\n')
    assert run("config", "get", key).stdout == ("***\n" if is_secret else "seen\n")
    assert run("config", "get", tables[0]).stdout == f"{key} = {'***' if is_secret else 'seen'}\n"


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("limits.rounds", "1000", "must be 1 to 100"),
        ("limits.rounds", "many", "expected a number"),
        ("limits.round", "3", "did you mean limits.rounds"),
        ("nonsense", "3", "name a setting"),
    ],
)
def test_a_wrong_setting_is_refused_and_the_file_left_alone(home: Path, key: str, value: str, problem: str) -> None:
    run("config", "set", "provider.model", "x")
    before = (home / "config.toml").read_bytes()
    with pytest.raises(PalmclawError, match=problem):
        run("config", "set", key, value)
    assert (home / "config.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("provider.name", "oracle", "no service named 'oracle'"),
        ("provider.nope", "x", "nope: no such field"),
        ("device.name", "toaster", "no device named 'toaster'"),
        ("tools.disabled", "[1", "is no list"),
    ],
)
def test_what_an_extension_would_refuse_later_is_refused_now(home: Path, key: str, value: str, problem: str) -> None:
    with pytest.raises(PalmclawError, match=problem):
        run("config", "set", key, value)
    assert not (home / "config.toml").exists()


def test_a_list_may_be_written_both_ways_and_headers_are_secret() -> None:
    run("config", "set", "tools.disabled", '["call", "sms_send"]')
    assert run("config", "get", "tools.disabled").stdout == "call,sms_send\n"
    run("config", "set", "provider.base_url", "http://localhost:1/v1")
    result = run("config", "set", "provider.headers.X-Thing", "topsecretvalue")
    assert "topsecret" not in result.stderr
    assert "topsecret" not in run("config", "get").stdout


def test_a_switched_off_tool_is_not_offered() -> None:
    run("config", "set", "tools.disabled", "find_tools")
    body = json.loads(run("prompt", "--json", "hi").stdout)
    assert [t["function"]["name"] for t in body["tools"]] == ["ask", "skill"]


@pytest.mark.parametrize("text", ["provider = 3", "[provider]\napi_key = 5"])
def test_a_key_file_of_another_shape_is_named(home: Path, text: str) -> None:
    home.mkdir(parents=True)
    (home / "secrets.toml").write_text(text)
    with pytest.raises(PalmclawError, match=r"secrets\.toml: expected a text provider\.api_key"):
        run("chat", "hi")
    assert "✗ configuration" in run("doctor", fails=True).stdout


def test_a_mark_at_the_beginning_of_the_file_does_no_harm(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_bytes(b"\xef\xbb\xbf[limits]\r\nrounds = 5\r\n")
    assert run("config", "get", "limits.rounds").stdout == "5\n"
    run("config", "set", "limits.rounds", "6")
    assert run("config", "get", "limits.rounds").stdout == "6\n"


def test_an_unknown_setting_is_not_shown() -> None:
    with pytest.raises(PalmclawError, match="no such setting"):
        run("config", "get", "nonsense")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[limits]\nrounds = 5\nrounds = 6\n", r"config\.toml: .*line 3"),
        ("[limits]\n\nrounds = 'x'\n", r"line 3: limits\.rounds: expected integer"),
        ("[limitz]\nrounds = 5\n", r"line 1: limitz: no such field.*did you mean limits\?"),
        ("[tools]\ndisabled = ['nothing']\n", "no tool named nothing"),
        ("[device]\nname = 'toaster'\n", "no device named 'toaster'"),
        ("[device]\nzoone = 'x'\n", "zoone: no such field"),
        ("[provider]\nname = 'oracle'\n", "no service named 'oracle'"),
    ],
)
def test_a_corrupt_configuration_is_named_and_left_alone(home: Path, text: str, problem: str) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text(text)
    with pytest.raises(PalmclawError, match=problem):
        run("chat", "hi")
    assert (home / "config.toml").read_text() == text


# approvals, trash, phone, doctor, completion


def test_the_policy_is_printed() -> None:
    assert "ask; allow if it goes to the job's own address" in run("approvals", "policy").stdout
    table = json.loads(run("approvals", "policy", "--json").stdout)
    assert table["send"]["other"] == "deny"


def test_lasting_answers_are_listed_and_taken_back() -> None:
    assert "Nothing is allowed" in run("approvals", "list").stdout
    assert "no lasting answer 7" in run("approvals", "revoke", "7", fails=True).output
    assert json.loads(run("approvals", "list", "--json").stdout) == []


def test_a_deleted_file_is_taken_back(home: Path, tmp_path: Path) -> None:
    assert "empty" in run("trash", "list").stdout
    write = {"name": "file_write", "arguments": {"path": "a.txt", "text": "precious"}}
    delete = {"name": "file_delete", "arguments": {"path": "a.txt"}}
    script(home, [{"calls": [write]}, {"calls": [delete]}, {"text": "gone"}])
    run("chat", "--approve", "always", "delete it")
    assert run("trash", "list").stdout == "a.txt\n"
    (tmp_path / "taken").touch()
    assert "exists already" in run("trash", "restore", "a.txt", str(tmp_path / "taken"), fails=True).output
    assert "there is no '../x'" in run("trash", "restore", "../x", str(tmp_path), fails=True).output
    run("trash", "restore", "a.txt", str(tmp_path))
    assert (tmp_path / "a.txt").read_text() == "precious"
    assert run("trash", "empty", stdin="n\n", fails=True).exit_code == 1
    run("trash", "empty", "--yes")


def test_the_phone_is_shown_and_reset() -> None:
    assert "Mei Ling Chow" in run("phone").stdout
    run("chat", "turn the torch on")
    assert "flashlight" in run("phone").stdout
    assert run("phone", "reset", stdin="n\n", fails=True).exit_code == 1
    run("phone", "reset", "--yes")
    assert phone()["device"]["flashlight"] is False


def test_the_phones_clock_can_be_set() -> None:
    run("phone", "clock", "2026-06-15T09:00", "--frozen", "--zone", "Asia/Hong_Kong")
    assert phone()["clock"]["now"] == "2026-06-15T09:00+08:00"
    assert "no moment" in run("phone", "clock", "tomorrow", fails=True).output
    run("phone", "clock")
    assert phone()["clock"]["now"] != "2026-06-15T09:00+08:00"


def test_a_fault_is_seen_by_the_agent() -> None:
    run("phone", "fault", "denied", "location")
    result = run("chat", "where am I?")
    assert "permission" in result.stdout.lower()
    run("phone", "fault", "denied", "location", "false")
    run("phone", "fault", "slow", "read_position", "0.01")
    with pytest.raises(PalmclawError, match="no capability 'nonsense'"):
        run("phone", "fault", "hang", "nonsense")


def test_a_phone_that_is_not_virtual_cannot_be_laid_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from palmclaw.cli import phone as module  # noqa: PLC0415  # only this test looks inside

    monkeypatch.setattr(module, "VirtualPhone", int)
    with pytest.raises(PalmclawError, match="is no virtual phone"):
        run("phone")


def test_the_doctor_finds_a_new_home_well() -> None:
    result = run("doctor")
    assert "✗" not in result.stdout
    found = json.loads(run("doctor", "--json").stdout)
    assert {f["name"] for f in found} == {
        "python",
        "sqlite",
        "disk",
        "configuration",
        "home",
        "gateway",
        "database",
        "unfinished",
        "outbox",
        "channels",
        "memory",
        "skills",
        "templates",
        "log",
        "phone",
        "model",
        "fallbacks",
        "services",
        "learned",
    }


def test_the_doctor_names_what_is_wrong(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "config.toml").write_text("[limits\n")
    result = run("doctor", fails=True)
    assert result.exit_code == 1
    assert "✗ configuration" in result.stdout
    (home / "config.toml").write_text("[provider]\nname = 'openai_chat'\nbase_url = 'http://localhost:1'\n")
    (home / "palmclaw.db").write_bytes(b"no database" * 100)
    result = run("doctor", fails=True)
    assert "✗ database" in result.stdout
    assert "✗ model: nobody answers at http://localhost:1" in result.stdout


def test_the_doctor_asks_whether_the_service_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        run("config", "set", "provider.base_url", address)
        assert f"✓ model: custom at {address}" in run("doctor").stdout
        with server.accept()[0] as asked:
            assert asked.recv(100) == b""  # nothing was asked, and no key was sent
    assert "✗ model: nobody answers" in run("doctor", fails=True).stdout


def test_the_doctor_notices_a_model_without_an_address() -> None:
    run("config", "set", "provider.model", "m")
    assert "provider.model is set: without a service" in run("doctor", fails=True).stdout


def test_a_key_is_asked_for_without_being_shown(home: Path) -> None:
    result = run("config", "set", "provider.api_key", stdin="sk-typed-1234\n")
    assert "sk-typed" not in result.output
    assert "sk-typed-1234" in (home / "secrets.toml").read_text()
    with pytest.raises(PalmclawError, match="must be 1 to 100, got -1"):
        run("config", "set", "limits.rounds", "-1")


def test_words_that_are_no_command_can_be_said_to_the_agent() -> None:
    assert 'palmclaw chat "hello there"' in run("hello", "there", fails=True).output


def test_help_fits_a_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for command in ([], ["chat"], ["doctor"], ["phone"]):
        done = subprocess.run(
            [sys.executable, "-m", "palmclaw", *command, "--help"], capture_output=True, text=True, check=True
        )
        lines = [
            line for line in done.stdout.splitlines() if not line.lstrip().startswith(("palmclaw ", "echo ", "Usage: "))
        ]
        assert max(len(line) for line in lines) <= 40


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_code(shell: str) -> None:
    assert "_PALMCLAW_COMPLETE" in run("completion", shell).stdout


# help, errors


def test_help_teaches_every_command() -> None:
    text = run("--help").stdout
    assert set(COMMANDS) == set(SUMMARIES)
    assert all(name in text for name in COMMANDS)
    for name in COMMANDS:
        assert len(run(name, "--help").stdout) > 100
    assert "No such command" in run("nonsense", fails=True).output
    assert "0.1.0" in run("--version").stdout


def test_an_error_is_two_lines_and_no_traceback(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["sessions", "show", "nobody"])
    assert caught.value.code == 1
    assert capsys.readouterr().err == "Error: there is no session named 'nobody'\n"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text("[limits\n")
    with pytest.raises(SystemExit):
        main(["tools"])
    assert capsys.readouterr().err.splitlines()[-1] == "Mend that line; the file has been left as it is."


def test_a_second_owner_is_refused_while_readers_work(home: Path) -> None:
    code = "import sys, time; from palmclaw.storage.lock import HomeLock; from pathlib import Path\n"
    code += "HomeLock(Path(sys.argv[1])).acquire('chat'); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code, str(home / "lock")], stdin=-1, stdout=-1, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    try:
        with pytest.raises(PalmclawError, match=rf"in use by process {holder.pid} \(chat\)"):
            run("chat", "hi")
        for command in (("phone",), ("sessions", "list"), ("config", "get"), ("tools",), ("prompt", "hi")):
            run(*command)
        assert "✗ home" in run("doctor", fails=True).stdout
    finally:
        holder.communicate("")


def test_a_reader_of_the_output_may_leave() -> None:
    command = f"{sys.executable} -m palmclaw tools | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert "Traceback" not in done.stderr
    assert done.stdout == "alarms\n"
