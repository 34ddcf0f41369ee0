"""A conversation that can be typed in while a turn runs: what becomes of what is said, what stops, what is left."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from palmclaw.cli.chinese.faults import FAULTS
from palmclaw.cli.chinese.spoken import CHINESE
from tests.cli.terminals import Terminal, Terminals, terminals

LOOK = {"calls": [{"name": "device_status", "arguments": {"fields": ["battery"]}}]}
SEND = {"calls": [{"name": "sms_send", "arguments": {"to": "+85260010001", "text": "late"}}]}
BEGINS = "Well …"
NEVER = {"begins": BEGINS, "text": "never", "pause": 600}


@pytest.fixture
def terminal(home_dir: Path) -> Iterator[Terminals]:
    with terminals(home_dir) as made:
        yield made


def soon(step: dict[str, Any], seconds: float = 0.6) -> dict[str, Any]:
    """A step that leaves time to type something."""
    return {"begins": BEGINS, **step, "pause": seconds}


def log(session: str = "main") -> list[tuple[str, str]]:
    command = [sys.executable, "-m", "palmclaw", "sessions", "export", session]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return [(m["role"], "".join(p.get("text", "") for p in m["parts"] if p["type"] == "text")) for m in found]


def begun(t: Terminal, text: str = "first") -> None:
    """Something is said, and the model has begun to answer."""
    t.shows("›")
    t.type(f"{text}\r")
    t.shows(BEGINS)


def test_what_is_said_meanwhile_joins_what_is_being_done(terminal: Terminals) -> None:
    t = terminal(steps=[soon(LOOK), {"text": "Both."}])
    begun(t)
    t.type("second\r")
    t.shows(r"waits: number 1 in line\..*joins what is being done\..*Both\..*tokens")
    t.type("\x04")
    assert t.ends() == 0
    assert log() == [("user", "first"), ("assistant", BEGINS), ("tool", ""), ("user", "second"), ("assistant", "Both.")]


def test_or_waits_its_turn_and_can_be_taken_back(terminal: Terminals) -> None:
    t = terminal(steps=[soon({"text": "One."}, 1.2), {"text": "Two."}])
    t.shows("›")
    t.type("/withdraw\r")
    t.shows("Nothing waits")
    t.type("/queue followup debounce:0\r")
    t.shows(r"work:\s+followup")
    begun(t)
    for number, text in enumerate(("second", "third", "fourth"), 1):
        t.type(f"{text}\r")
        t.shows(f"waits: number {number} in")
    t.type("/withdraw 2\r")
    assert "Not done" not in t.shows("Taken back: “third”")
    t.type("/withdraw\r")
    t.shows("Taken back: “fourth”")
    t.type("/withdraw 7\r")
    t.shows("from 1 to 1")
    t.shows(r"One\..*tokens.*now: second.*Two\..*tokens")
    t.type("/exit\r")
    assert t.ends() == 0
    assert log() == [("user", "first"), ("assistant", f"{BEGINS}One."), ("user", "second"), ("assistant", "Two.")]


def test_a_message_that_interrupts(terminal: Terminals) -> None:
    t = terminal(steps=[NEVER, {"text": "The other one."}])
    begun(t)
    t.type("/queue interrupt no, the other\r")
    t.shows(r"Stopped by you.*The other one\..*tokens")


def test_stop_and_ctrl_c_end_the_turn_and_keep_what_is_typed(terminal: Terminals) -> None:
    t = terminal(steps=[NEVER, NEVER, {"text": "Fine."}])
    begun(t)
    t.type("/stop\r")
    t.shows(r"Stopped\..*Stopped by you")
    t.type("again\r")
    t.shows(BEGINS)
    t.type("and no")
    t.shows("and no")
    t.type("\x03")
    t.shows("Stopped by you.*› and no")
    t.type("w?\r")
    t.shows(r"Fine\..*tokens")
    t.type("half")
    t.shows("half")
    t.type("\x03")  # throws away what is typed
    t.type("\x03")
    assert "half" not in t.shows("Ctrl-C again").split("›")[-1]
    t.child.send_signal(signal.SIGINT)
    assert t.ends() == 0


def test_a_question_goes_when_its_turn_is_stopped(terminal: Terminals) -> None:
    t = terminal(steps=[SEND, {"text": "Fine."}])
    t.shows("›")
    t.type("text her\r")
    t.shows(r"\[n\]o")
    t.child.send_signal(signal.SIGINT)
    t.shows("Nobody waits for that.*Stopped by you.*›|Stopped by you.*Nobody waits for that.*›")
    t.type("and now?\r")
    t.shows(r"Fine\.")


def test_a_fixed_answer_asks_nobody(terminal: Terminals) -> None:
    t = terminal("chat", "--approve", "always", steps=[SEND, {"text": "Sent."}])
    t.shows("›")
    t.type("text her\r")
    shown = t.shows(r"Sent\..*tokens")
    assert ("→ once" in shown, "[n]o" in shown) == (True, False)


def test_who_leaves_is_told_what_is_left_and_the_next_start_goes_on(terminal: Terminals) -> None:
    t = terminal(steps=[NEVER])
    begun(t)
    t.type("\x04")
    t.shows("Left for the next start: 1 at work, 0")
    assert t.ends() == 0
    t = terminal(steps=[soon({"text": "Here it is."}, 0.2)])
    t.shows(r"stopped in the middle of this.*goes on with what was broken off.*Here it is\..*tokens")
    t.type("/exit\r")
    assert t.ends() == 0
    assert [role for role, _ in log()] == ["user", "note", "assistant"]


def test_a_terminal_that_goes_away_loses_nothing(terminal: Terminals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALMCLAW_LANG", "zh")
    t = terminal(steps=[NEVER])
    begun(t)
    t.hang_up()
    assert t.child.wait(30) == 128 + signal.SIGHUP
    assert log() == [("user", "first")]
    t = terminal(steps=[soon({"text": "好的"}, 0.2)])
    assert "stopped" not in t.shows(f"{FAULTS['crashed'][0][9:18]}.*{CHINESE['continues'][:6]}.*好的")


def test_a_one_shot_whose_terminal_goes_away(terminal: Terminals, home_dir: Path) -> None:
    t = terminal("chat", "--json", "first", steps=[LOOK, NEVER])
    t.shows('"role": "tool"')
    t.hang_up()
    assert t.child.wait(30) == 128 + signal.SIGHUP
    assert [role for role, _ in log()] == ["user", "assistant", "tool"]
    assert not (home_dir / "palmclaw.log").exists()


def test_a_terminal_that_goes_away_without_a_word(terminal: Terminals) -> None:
    for arguments in ((), ("chat", "first")):
        t = terminal(*arguments, steps=[soon({"text": "Late."}, 0.3)])
        if not arguments:
            t.shows("›")
            t.type("first\r")
            t.shows("first")
        os.close(t.master)
        t.master = -1
        assert t.child.wait(30) in (0, 128 + signal.SIGHUP)


def test_a_second_crash_waits_for_the_person(terminal: Terminals) -> None:
    for _ in range(2):
        t = terminal(steps=[NEVER])
        begun(t)
        os.kill(t.child.pid, signal.SIGKILL)
        t.child.wait(30)
    t = terminal(steps=[{"text": "Went on."}])
    t.shows(r"stopped twice.*Say “go on”.*›")
    t.type("go on\r")
    t.shows(r"Went on\..*tokens")


def test_a_question_of_a_conversation_that_was_left_is_asked_all_the_same(terminal: Terminals) -> None:
    t = terminal(steps=[soon(SEND), {"text": "Sent."}])
    t.shows("›")
    t.type("text her\r/sessions work\r")
    t.shows("New conversation: work")
    t.shows(r"main asks:.*\+85260010001.*\[n\]o")
    t.type("o\r")
    while "tool" not in [role for role, _ in log()]:
        assert t.child.poll() is None
    t.type("/exit\r")
    assert t.ends() == 0
    state = json.loads((t.home / "phone.json").read_text())
    assert [m["body"] for m in state["sms"] if m["dir"] == "out"][-1] == "late"


def test_what_was_written_stands_in_one_database(terminal: Terminals, home_dir: Path) -> None:
    t = terminal(steps=[{"text": "One.\n\n```\ncode\n```\n\nTwo."}])
    t.shows("›")
    t.type("hi\r")
    shown = t.shows(r"Two\..*tokens")
    assert shown.count("One.") >= 1
    t.type("\x04")
    assert t.ends() == 0
    with sqlite3.connect(home_dir / "palmclaw.db") as db:
        fates = db.execute("SELECT state FROM inbox ORDER BY id").fetchall()
    db.close()
    assert fates == [("started",)]
