"""Terminals and commands beside a running gateway: one conversation in many places, and what becomes of a gateway."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from palmclaw.core.events import Answer, ApprovalAsked, Signal, Taken
from palmclaw.core.traffic import Fate, Inbound, Receipt
from palmclaw.paths import Home
from palmclaw.storage.process import read
from palmclaw.web.client import RemoteRuntime, attach
from tests.children import bare
from tests.cli.terminals import Terminals, terminals

SEND = {"calls": [{"name": "sms_send", "arguments": {"to": "+85260010001", "text": "late"}}]}
ASK = {"calls": [{"name": "ask", "arguments": {"question": "Which one?"}}]}
NEVER = {"text": "never", "pause": 600}
T = TypeVar("T")
AT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
Done = subprocess.CompletedProcess[str]


@dataclass(slots=True)
class Place:
    """A home with a gateway, terminals and commands."""

    terminal: Terminals
    children: "list[subprocess.Popen[str]]" = field(default_factory=list)

    @property
    def home(self) -> Home:
        return Home(self.terminal.home)

    def serve(self, *steps: Any) -> "subprocess.Popen[str]":
        """A gateway that answers."""
        self.terminal.script(list(steps))
        child = subprocess.Popen(command("serve"), env=bare(), stderr=subprocess.PIPE, text=True)
        self.children.append(child)
        assert child.stderr is not None
        assert "serves" in (line := child.stderr.readline()), line + child.stderr.read()
        return child

    def started(self, *arguments: str) -> "subprocess.Popen[str]":
        """One command that goes on."""
        pipe = subprocess.PIPE
        child = subprocess.Popen(command(*arguments), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True)
        self.children.append(child)
        return child

    def kill(self) -> None:
        """Nothing runs any more."""
        for child in self.children:
            if child.poll() is None:
                child.kill()
            if child.stderr is not None and not child.stderr.closed:
                child.communicate()


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "palmclaw", *arguments]


def palmclaw(*arguments: str) -> Done:
    """One command, without a terminal."""
    pipe = subprocess.PIPE
    return subprocess.run(
        command(*arguments), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True, timeout=60, check=False
    )


def until(child: "subprocess.Popen[str]", sign: str) -> None:
    """Read its events up to the one that has this."""
    assert child.stdout is not None
    while sign not in (line := child.stdout.readline()):
        assert line, f"ended before {sign!r}"


async def heard(signals: AsyncIterator[Signal], kind: type[T]) -> T:
    """The next happening of this kind."""
    async for told in signals:
        if isinstance(told.event, kind):
            return told.event
    raise AssertionError(f"no {kind.__name__}")


@pytest.fixture
def place(home_dir: Path) -> Iterator[Place]:
    with terminals(home_dir) as made:
        found = Place(made)
        try:
            yield found
        finally:
            found.kill()
            if (left := read(found.home.gateway)) is not None:
                left.kill(signal.SIGKILL)


@asynccontextmanager
async def reached(place: Place) -> AsyncIterator[RemoteRuntime]:
    remote = await attach(place.home)
    assert remote is not None
    try:
        yield remote
    finally:
        await remote.close()


def test_one_conversation_in_two_terminals(place: Place) -> None:
    place.serve(SEND, {"text": "Sent."}, {"text": "Fine."})
    one, two = place.terminal(), place.terminal()
    for each in (one, two):
        each.shows("Attached to the gateway.*›")
    one.type("text her\r")
    one.shows(r"\[n\]o")
    two.shows(r"from elsewhere: text her.*\[n\]o")
    late = place.terminal()
    late.shows(r"is at work here already.*\[n\]o")
    two.type("o\r")
    for each in (one, late):
        each.shows(r"→ once \(answered elsewhere\).*Sent\..*tokens.*›")
    assert "elsewhere" not in two.shows(r"→ once.*Sent\..*tokens.*›")
    late.type("thanks\r")
    late.shows(r"Fine\..*tokens")
    one.shows(r"from elsewhere: thanks.*Fine\.")
    late.type("\x04")
    assert late.ends() == 0


def test_the_gateway_goes_on_without_the_terminal(place: Place) -> None:
    place.serve(NEVER)
    t = place.terminal()
    t.shows("Attached.*›")
    t.type("first\r/status\r")
    t.shows("Working on your message")
    t.type("\x04")
    t.shows("The gateway goes on with it")
    assert t.ends() == 0
    listed = json.loads(palmclaw("sessions", "list", "--json").stdout)
    assert [(s["id"], s["state"]) for s in listed] == [("main", "at work")]
    assert re.search(r"^main  .* · at work$", palmclaw("sessions", "list").stdout, re.MULTILINE)


def test_a_gateway_that_ends_is_looked_for_again_with_the_next_message(place: Place) -> None:
    gateway = place.serve(NEVER)
    t = place.terminal()
    t.shows("Attached.*›")
    t.type("first\r/status\r")
    t.shows("Working on your message")
    assert any("first" in palmclaw("sessions", "export", "main").stdout for _ in range(60))  # its turn is stored
    gateway.kill()
    t.shows("The gateway has ended.*›")
    place.terminal.script([{"text": "Went on.", "pause": 0.3}, {"text": "Both."}])
    t.type("\r\x03")
    t.shows("Press Ctrl-C again")
    t.type("second\r")
    t.shows(r"goes on with what was broken off.*Both\..*tokens")
    t.type("\x04")
    assert t.ends() == 0


def test_a_gateway_that_dies_in_the_middle_of_its_answer_leaves_a_line_to_type_in(place: Place) -> None:
    gateway = place.serve({"begins": "Well, let me see", **NEVER})
    t = place.terminal()
    t.shows("Attached.*›")
    t.type("first\r")
    t.shows("Well, let me see")
    gateway.kill()
    t.shows("Well, let me see.*The gateway has ended.*›")
    place.terminal.script([{"text": "Went on."}, {"text": "Both."}])
    t.type("second\r")
    t.shows(r"goes on with what was broken off.*Both\..*tokens")
    t.type("\x04")
    assert t.ends() == 0


def test_a_gateway_that_is_still_busy_ending_refuses_and_the_line_stays(place: Place) -> None:
    gateway = place.serve({"text": "Fine."})
    t = place.terminal()
    t.shows("Attached.*›")
    gateway.kill()
    t.shows("The gateway has ended.*›")
    other = place.terminal()  # works by itself, and has the home
    other.shows("›")
    t.type("hello\r")
    t.shows(r"in\s+use\s+by\s+process.*What\s+you\s+said\s+is\s+kept.*›")
    other.type("\x04")
    assert other.ends() == 0
    t.type("/exit\r")
    assert t.ends() == 0


def test_one_message_through_the_gateway(place: Place) -> None:
    place.serve(NEVER, {"text": "Now."}, {"text": "Later."})
    running = place.started("chat", "--json", "first")
    until(running, '"turn_started"')
    waiting = place.started("chat", "--json", "--queue", "followup", "never mind")
    until(waiting, '"waiting"')
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=30)
    last = json.loads(out.splitlines()[-1])["receipt"]
    assert (waiting.returncode, err, last["fate"], last["reason"]) == (130, "", "cancelled", "taken back")
    assert running.poll() is None  # what others have begun is left alone
    done = palmclaw("chat", "--queue", "interrupt", "the other one")
    assert (done.returncode, done.stdout) == (0, "Now.\n")
    assert "waits: number 1 in line" in done.stderr
    out, _ = running.communicate(timeout=30)
    assert (running.returncode, json.loads(out.splitlines()[-1])["stop"]) == (130, "cancelled")
    assert palmclaw("chat", "/queue").stdout.startswith("Messages that come while I work: steer")
    other = palmclaw("chat", "--device", "virtual", "x")
    assert (other.returncode, "the gateway that runs has its own phone" in other.stderr) == (1, True)


async def test_what_is_said_joins_the_turn_of_another(place: Place) -> None:
    place.serve(SEND, {"text": "Both."})
    async with reached(place) as remote, aclosing(remote.events("main")) as signals:
        await anext(signals)
        await remote.take(Inbound("main", "first"))
        asked = await heard(signals, ApprovalAsked)
        second = place.started("chat", "--approve", "never", "second")
        assert (await heard(signals, Taken)).receipt == Receipt(2, "main", Fate.WAITING, 1)
        await remote.answer(asked.id, Answer.NO, "test")
    out, err = await asyncio.to_thread(second.communicate, timeout=30)
    assert (second.returncode, out) == (0, "Both.\n")
    assert err.splitlines()[:3] == [
        "A question is open in main: /approvals, or palmclaw approvals pending",
        "… waits: number 1 in line.",
        "… joins what is being done.",
    ]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_f065_a_gateway_that_goes_while_one_waits_for_an_answer(place: Place, number: signal.Signals) -> None:
    gateway = place.serve({**NEVER, "pause": 60})
    child = place.started("chat", "--json", "first")
    until(child, '"turn_started"')
    gateway.send_signal(number)
    gateway.communicate(timeout=60)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, "Traceback" in err) == (1, False)
    assert err.splitlines()[-1] == "Your message is stored: the next start goes on with it."
    place.terminal.script([{"text": "Went on.", "pause": 0.5}, {"text": "Both."}])
    assert palmclaw("chat", "and now").stdout.startswith("Went on.\n")


def test_f053_what_a_tool_has_said_is_the_answer(place: Place) -> None:
    place.terminal.script([ASK, ASK])
    alone = palmclaw("chat", "do it")
    assert (alone.returncode, alone.stdout) == (0, "Which one?\n")
    place.serve(ASK)
    through = palmclaw("chat", "do it")
    assert (through.returncode, through.stdout) == (0, "Which one?\n")


async def test_a_word_that_was_typed_before_the_question_was_shown_does_not_answer_it(place: Place) -> None:
    place.serve(SEND, {"text": "Fine."})
    async with reached(place) as remote, aclosing(remote.events("main")) as signals:
        await anext(signals)
        await remote.take(Inbound("main", "text her"))
        asked = await heard(signals, ApprovalAsked)
        assert (await remote.take(Inbound("main", "yes"))).fate is Fate.WAITING
        assert [q.asked for q in await remote.questions()] == [asked]


def test_questions_are_listed_and_answered_from_elsewhere(place: Place) -> None:
    place.serve(SEND, {"text": "Sent."}, SEND, {"text": "Not sent."})
    t = place.terminal()
    t.shows("Attached.*›")
    assert palmclaw("approvals", "pending").stdout == "Nothing waits for an answer.\n"
    t.type("text her\r")
    t.shows(r"\[n\]o")
    (found,) = json.loads(palmclaw("approvals", "pending", "--json").stdout)
    number = found["asked"]["id"]
    lines = palmclaw("approvals", "pending").stdout.splitlines()
    assert lines[0].startswith(f"{number}  in main, until ")
    assert lines[1:] == [
        "┌ Send a text message",
        "│ To: Mei Lin (+85260010001)",
        "│ Text: late",
        "└ asked because it speaks for you",
        f"palmclaw approvals answer {number} yes|session|always|no",
    ]
    unclear = palmclaw("approvals", "answer", number, "perhaps")
    assert (unclear.returncode, "say yes, session, always or no" in unclear.stderr) == (2, True)
    assert palmclaw("approvals", "answer", number[:4], "yes").stderr == "Answered.\n"
    t.shows(r"→ once \(answered elsewhere\).*Sent\..*tokens")
    again = palmclaw("approvals", "answer", number, "no")
    assert (again.returncode, "has answered 'once'" in again.stderr) == (1, True)
    t.type("again\r")
    t.shows(r"\[n\]o")
    t.type("s\r")
    t.shows("for this session.*tokens")
    (lasting,) = json.loads(palmclaw("approvals", "list", "--json").stdout)
    listed = palmclaw("approvals", "list").stdout.splitlines()
    assert [AT.sub("NOW", line) for line in listed] == [
        "sms_send for +85260010001",
        "  only in the conversation main",
        "  since NOW",
        f"  to take it back: palmclaw approvals revoke {lasting['id']}",
    ]
    taken = palmclaw("approvals", "revoke", str(lasting["id"])).stderr
    assert taken == "Taken back: from now on it is asked again.\n"
    assert palmclaw("approvals", "list").stdout == "Nothing is allowed for good.\n"


def test_questions_of_a_terminal_that_works_by_itself(place: Place) -> None:
    t = place.terminal(steps=[SEND, {"text": "Fine."}])
    t.shows("›")
    t.type("text her\r")
    t.shows(r"\[n\]o")
    assert palmclaw("approvals", "pending").stdout.splitlines()[-1] == (
        f"Answer it where it is asked: process {t.child.pid}"
    )
    refused = palmclaw("approvals", "answer", "x", "yes")
    assert (refused.returncode, "no gateway runs" in refused.stderr) == (1, True)


def test_a_conversation_is_deleted_beside_the_gateway_with_its_files(place: Place, tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    place.serve({"text": "A cat."}, NEVER)
    palmclaw("chat", "--file", str(tmp_path / "cat.png"), "look")
    running = place.started("chat", "--json", "--session", "busy", "hi")
    until(running, '"turn_started"')
    busy = palmclaw("sessions", "delete", "busy", "--yes")
    assert (busy.returncode, busy.stderr.splitlines()[0]) == (1, "Error: busy is at work")
    assert len(os.listdir(place.home.media)) == 1
    done = palmclaw("sessions", "delete", "main", "--yes")
    assert (done.returncode, os.listdir(place.home.media)) == (0, [])
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)


def test_the_doctor_finds_a_gateway_well_and_says_what_it_found(place: Place) -> None:
    gateway = place.serve({**NEVER, "pause": 60})
    running = place.started("chat", "--json", "first")
    until(running, '"turn_started"')
    found = {f["name"]: f for f in json.loads(palmclaw("doctor", "--json").stdout)}
    assert found["home"]["text"] == f"{place.home.root} is served by process {gateway.pid}"
    assert (found["gateway"]["ok"], found["unfinished"]["text"]) == (True, "no turn waits for you")
    gateway.kill()
    gateway.communicate()
    running.communicate(timeout=60)
    found = {f["name"]: f for f in json.loads(palmclaw("doctor", "--json").stdout)}
    assert found["unfinished"]["text"] == "1 turn was broken off; the next start closes it and goes on"
    gateway = place.serve({**NEVER, "pause": 60})
    done = palmclaw("doctor")
    assert (done.returncode, "! gateway: process" in done.stdout) == (0, True)
    assert "a turn in main had been broken off" in " ".join(done.stdout.split())
    asyncio.run(_until_it_goes_on(place))
    gateway.kill()
    gateway.communicate()
    place.serve()
    done = palmclaw("doctor")
    assert done.returncode == 0
    said = " ".join(done.stdout.split())
    assert "! unfinished: broken off, and not gone on with by itself: main" in said
    assert 'palmclaw chat --session main "go on"' in said


async def _until_it_goes_on(place: Place) -> None:
    async with reached(place) as remote:
        while not any(lane.turn for lane in (await remote.status()).lanes):
            await asyncio.sleep(0.02)
