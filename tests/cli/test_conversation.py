"""The open conversation on a real terminal: a pseudo-terminal, typed into and read from."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminals import Terminals, terminals


@pytest.fixture
def terminal(home_dir: Path) -> Iterator[Terminals]:
    with terminals(home_dir) as made:
        yield made


LOOK = {"calls": [{"name": "device_status", "arguments": {"fields": ["battery"]}}]}
SEND = {"calls": [{"name": "sms_send", "arguments": {"to": "+85260010001", "text": "late\u202e"}}]}


def hang_the_battery() -> None:
    """From now on the phone never answers when it is asked for its charge."""
    fault = [sys.executable, "-m", "palmclaw", "phone", "fault", "hang", "read_battery"]
    subprocess.run(fault, check=True, capture_output=True)


def out(home: Path) -> list[str]:
    state = json.loads((home / "phone.json").read_text())
    return [m["body"] for m in state["sms"] if m["dir"] == "out"]


def test_a_conversation_from_greeting_to_goodbye(terminal: Terminals) -> None:
    t = terminal(steps=[{"text": "Hello **you**.\n\n- one\n- two"}, {"text": "again"}])
    assert "PalmClaw" in t.shows("›")
    t.type("hi\r")
    shown = t.shows("two.*›")
    assert "Hello you." in shown
    assert "**" not in shown.split("you")[-1]
    for command, answer in (
        ("/help", "/sessions.*leave"),
        ("/model", "scripted"),
        ("/stop", "Nothing is running"),
        ("/tools", "sms_send"),
        ("/sessions", "→ main"),
        ("/sessions work", "New conversation: work"),
        ("/sessions main", "Conversation: main"),
        ("/nonsense", "no command /nonsense"),
        ("/new", "New conversation: chat-"),
    ):
        t.type(f"{command}\r")
        t.shows(f"{answer}.*›")
    t.type("hello?\r")
    t.shows("again.*›")
    t.type("/exit\r")
    assert t.ends() == 0


def test_an_approval_shows_the_resolved_call_and_takes_an_answer(terminal: Terminals) -> None:
    t = terminal(steps=[SEND, {"text": "Sent."}, SEND, {"text": "Not sent."}])
    t.shows("›")
    t.type("text her\r")
    shown = t.shows(r"\[n\]o")
    assert "+85260010001" in shown
    assert "⟨U+202E⟩" in shown
    assert re.search(r"this \[s\]ession.*\[a\]lways", shown, re.DOTALL)
    before = len(out(t.home))
    t.type("o\r")
    t.shows("Sent.*›")
    assert len(out(t.home)) == before + 1
    t.type("again\r")
    t.shows(r"\[n\]o")
    t.type("n\r")
    t.shows("Not sent.*›")
    assert len(out(t.home)) == before + 1
    t.type("\x04")
    assert t.ends() == 0


def test_a_session_yes_is_not_asked_again(terminal: Terminals) -> None:
    t = terminal(steps=[SEND, {"text": "One."}, SEND, {"text": "Two."}])
    t.shows("›")
    t.type("text her\r")
    t.shows(r"\[n\]o")
    t.type("s\r")
    t.shows("One.*›")
    t.type("again\r")
    assert "[n]o" not in t.shows("Two.*›")


def test_ctrl_c_stops_a_turn_and_twice_leaves(terminal: Terminals) -> None:
    hang_the_battery()
    t = terminal(steps=[LOOK, {"text": "Fine."}])
    t.shows("›")
    t.type("think\r")
    t.shows("device_status")
    t.child.send_signal(signal.SIGINT)
    t.shows("Stopped by you.*›")
    t.type("and now?\r")
    t.shows("Fine.*tokens.*›")
    t.type("\x03")
    t.shows("Press Ctrl-C again.*›")
    t.type("\x03")
    assert t.ends() == 0


def test_ctrl_c_stops_a_one_shot_with_its_own_exit_code(terminal: Terminals) -> None:
    hang_the_battery()
    t = terminal("chat", "think", steps=[LOOK, {"text": "never"}])
    t.shows("device_status")
    t.child.send_signal(signal.SIGINT)
    t.shows("Stopped by you")
    assert t.ends() == 130


def test_the_terminal_speaks_chinese(terminal: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALMCLAW_LANG", "zh_CN.UTF-8")
    t = terminal(steps=[SEND, {"text": "好的"}])
    t.shows("输入消息.*›")
    t.type("发短信\r")
    shown = t.shows("可以这样做吗")
    assert re.search("发送短信.*收件人.*内容.*要替你说话", shown, re.DOTALL)
    t.type("n\r")
    t.shows("好的.*›")


def test_what_was_typed_before_the_question_is_no_answer_and_is_given_back(terminal: Terminals) -> None:
    t = terminal(steps=[SEND, {"text": "Not sent."}])
    t.shows("›")
    before = len(out(t.home)) if (t.home / "phone.json").exists() else 0
    t.type("text her\ro")
    t.shows(r"\[n\]o")
    t.type("n\r")
    t.shows("→ no.*Not sent.*› o")
    assert len(out(t.home)) == max(before, 2)


def test_colours_respect_no_color(terminal: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("", "1"):
        monkeypatch.setenv("NO_COLOR", value)
        master, slave = pty.openpty()
        child = subprocess.Popen([sys.executable, "-m", "palmclaw", "doctor"], stdout=slave, stderr=slave)
        os.close(slave)
        child.wait(60)
        raw = os.read(master, 65_536)
        os.close(master)
        assert (b"\x1b[3" in raw) is (value == "")


def test_an_unclear_answer_is_asked_again_as_often_as_it_takes(terminal: Terminals) -> None:
    t = terminal(steps=[SEND, {"text": "Sent."}])
    t.shows("›")
    before = len(out(t.home)) if (t.home / "phone.json").exists() else 2
    t.type("text her\r")
    for unclear in ("perhaps", "", "what?"):
        t.shows(r"\[n\]o")
        t.type(f"{unclear}\r")
        t.shows(r"Please answer o, s, a, n; \? explains")
    t.type("?\r")
    t.shows(r"o  do it, this once.*s  do it.*in this\s+conversation.*a  do it.*n  don't do it.*10\s+minutes.*\[n\]o")
    t.type("ONCE.\r")
    t.shows("→ once.*Sent.*›")
    assert len(out(t.home)) == before + 1


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "end of input"])
def test_the_end_of_input_is_a_no(terminal: Terminals, key: str) -> None:
    t = terminal(steps=[SEND, {"text": "Not sent."}])
    t.shows("›")
    t.type("text her\r")
    t.shows(r"\[n\]o")
    t.type("perhaps\r")
    t.shows("Please answer")
    t.type(key)
    t.shows("→ no.*Not sent.*›")


def test_where_nobody_can_be_asked_it_is_a_no(terminal: Terminals) -> None:
    terminal.script([SEND, {"text": "Not sent."}])
    command = [sys.executable, "-m", "palmclaw", "chat", "text her"]
    done = subprocess.run(command, input="yes\n", capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "Not sent.\n")
    assert "nobody can be asked here" in done.stderr


def test_another_model_for_this_conversation_alone(terminal: Terminals) -> None:
    t = terminal(steps=[{"text": "scripted answer"}])
    t.shows("›")
    for command, answer in (
        ("/model offline", "From now on here: offline"),
        ("turn the torch on", "torch is on"),
        ("/model", "offline"),
        ("/model nonesuch", "no service named"),
        ("/new", "New conversation"),
        ("hello", "scripted answer"),
        ("/sessions main", "Conversation: main"),
        ("turn the torch off", "torch is off"),
        ("/model default", "From now on here: scripted"),
    ):
        t.type(f"{command}\r")
        t.shows(f"{answer}.*›")


def test_a_file_goes_with_the_next_message(terminal: Terminals, home_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    t = terminal(steps=[{"text": "I see"}])
    t.shows("›")
    t.type(f"/attach {tmp_path / 'gone.png'}\r")
    t.shows("no such file.*›")
    t.type(f"/attach {tmp_path / 'cat.png'}\r")
    t.shows("Goes with your next message.*›")
    t.type("look\r")
    t.shows("I see.*›")
    t.type("/exit\r")
    assert t.ends() == 0
    command = [sys.executable, "-m", "palmclaw", "sessions", "show", "main", "--json"]
    messages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert [p["name"] for p in messages[0]["parts"] if p["type"] == "media"] == ["cat.png"]
