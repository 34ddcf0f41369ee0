"""What may go wrong outside gets a clear error and another exit code, and nothing is lost."""

import asyncio
import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.children import bare
from tests.servers.chat_server import Answer, ChatServer

Done = subprocess.CompletedProcess[str]


def run(*arguments: str, **more: Any) -> Done:
    """The real command in a process of its own."""
    command = [sys.executable, "-m", "palmclaw", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def log() -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("sessions", "export").stdout.splitlines()]


async def asked(*answers: Answer) -> tuple[Done, ChatServer]:
    async with ChatServer(list(answers)) as server:
        service = {"PALMCLAW_BASE_URL": server.url, "PALMCLAW_MODEL": "m", "PALMCLAW_API_KEY": "sk-secret-123456"}
        done = await asyncio.to_thread(run, "chat", "hi", env={**os.environ, **service})
    return done, server


def holding(folder: Path, secret: bytes) -> list[str]:
    """The files in which a secret stands."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and secret in file.read_bytes()]


@pytest.fixture(autouse=True)
def home(home_dir: Path) -> Path:
    return home_dir


async def test_a_service_that_answers(home: Path) -> None:
    done, server = await asked(Answer(calls=({"name": "device_status", "arguments": {}},)), Answer(text="Fine."))
    assert (done.returncode, done.stdout) == (0, "Fine.\n")
    assert [m["role"] for m in server.requests[1].body["messages"]] == ["system", "user", "assistant", "tool"]
    assert server.requests[0].headers["Authorization"] == "Bearer sk-secret-123456"
    assert holding(home, b"sk-secret") == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(status=401, body='{"error": {"message": "bad key sk-secret-123456"}}'), "key"),
        (Answer(status=429, body='{"error": {"message": "slow down"}}'), "slow down"),
        (Answer(status=500, body='{"error": {"message": "we broke"}}'), "we broke"),
        (Answer(body="<html><body>Welcome</body></html>", content_type="text/html"), "web page"),
        (Answer(text="", finish="stop"), "nothing"),
        (Answer(drop=True), "127.0.0.1"),
    ],
    ids=["401", "429", "500", "html", "empty", "dropped"],
)
async def test_a_service_that_fails(answer: Answer, words: str) -> None:
    done, _ = await asked(answer, answer, answer)
    assert done.returncode == 1
    assert words in done.stderr
    assert "sk-secret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert [m["role"] for m in log()] == ["user", "note"]


async def test_a_stream_that_breaks_keeps_what_arrived() -> None:
    done, _ = await asked(Answer(text="one two three four", fragments=4, cut_after=3))
    assert done.returncode == 1
    assert "one two" in done.stdout
    kept = [m for m in log() if m["role"] == "assistant"]
    assert kept[0]["cut"] == "stream"
    assert kept[0]["parts"][-1]["text"] in "one two three four"


def test_nobody_at_the_address() -> None:
    done = run("chat", "hi", env={**os.environ, "PALMCLAW_BASE_URL": "http://127.0.0.1:9/v1"})
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr
    assert [m["role"] for m in log()] == ["user", "note"]


AS_NOBODY = """
import encodings.utf_8_sig, importlib.readers, importlib.resources, os, pkgutil, sys, palmclaw
list(importlib.resources.files("palmclaw.storage").iterdir())
for module in pkgutil.walk_packages(palmclaw.__path__, "palmclaw."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
os.chdir("/")
os.setgid(65534), os.setuid(65534)
from palmclaw.cli.main import main
main(sys.argv[1:])
"""


def as_nobody(*arguments: str) -> Done:
    """The command in a process that may read everything under the temporary folder and write nothing."""
    command = [sys.executable, "-c", AS_NOBODY, *arguments]
    return subprocess.run(command, env=bare(), capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_home_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to everybody else
        monkeypatch.setenv("PALMCLAW_HOME", f"{folder}/home")
        assert run("chat", "turn the torch on").returncode == 0
        for path in [Path(folder), *Path(folder).rglob("*")]:
            os.chmod(path, 0o755 if path.is_dir() else 0o644)
        cannot_be_written()


def cannot_be_written() -> None:
    done = as_nobody("chat", "turn the torch off")
    assert done.returncode == 1
    assert "cannot write" in done.stderr
    assert "PALMCLAW_HOME" in done.stderr
    assert "Traceback" not in done.stderr
    assert "turn the torch on" in as_nobody("sessions", "list").stdout
    assert "Mei Lin" in as_nobody("phone").stdout
    assert as_nobody("prompt", "hi").returncode == 0


def test_a_full_disk_ends_the_turn_and_the_next_one_works() -> None:
    run("chat", "turn the torch on")
    before = log()

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))

    done = run("chat", "turn the torch off", preexec_fn=small, env=bare())
    assert done.returncode == 1
    assert "space" in done.stderr
    assert "Traceback" not in done.stderr
    assert log()[: len(before)] == before
    assert run("chat", "turn the torch off").returncode == 0


def test_bytes_that_are_no_text_are_shown_as_what_they_are() -> None:
    command = f"printf 'turn the torch on \\377' | {sys.executable} -m palmclaw chat -"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert log()[0]["parts"][0]["text"] == "turn the torch on \ufffd"
    command = f"{sys.executable} -m palmclaw chat --session \"$(printf 'caf\\351')\" hi"
    assert subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, check=False).returncode == 0


@pytest.mark.parametrize(("redirect", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0)])
def test_a_closed_stream_is_no_crash(redirect: str, code: int) -> None:
    command = f"{sys.executable} -m palmclaw chat 'turn the torch on' {redirect}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert log()[-1]["role"] == "assistant"


def test_no_message_and_no_standard_input_is_a_usage_error() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m palmclaw chat <&-"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def test_a_damaged_message_does_not_hide_the_others(home: Path) -> None:
    run("chat", "turn the torch on")
    with sqlite3.connect(home / "palmclaw.db") as db:
        db.execute("UPDATE message SET body='{\"role\":' WHERE position=1")
    db.close()
    assert "damaged" in run("sessions", "show").stdout
    assert [m["role"] for m in log()] == ["user", "note", "tool", "assistant"]
    assert run("chat", "turn the torch off").returncode == 0


@pytest.mark.parametrize("content", [b"null", b"{}", b"[]", b"", b"\0" * 100, b'{"device": {'])
def test_a_damaged_phone_is_kept_aside(home: Path, content: bytes) -> None:
    home.mkdir(parents=True)
    (home / "phone.json").write_bytes(content)
    done = run("chat", "turn the torch on")
    assert (done.returncode, "damaged" in done.stderr) == (1, True)
    kept = [f for f in home.iterdir() if "damaged" in f.name]
    assert [f.read_bytes() for f in kept] == [content]
    assert run("chat", "turn the torch on").returncode == 0


def test_a_turn_that_was_killed_is_closed_at_the_next_start_and_gone_on_with(home: Path) -> None:
    script = {"steps": [{"text": "never", "pause": 600}]}
    home.mkdir(parents=True)
    (home / "script.json").write_text(json.dumps(script))
    (home / "config.toml").write_text(f'[provider]\nname = "scripted"\nscript = "{home / "script.json"}"\n')
    child = subprocess.Popen([sys.executable, "-m", "palmclaw", "chat", "--json", "hi"], stdout=-1, text=True)
    assert child.stdout is not None
    while '"turn_started"' not in child.stdout.readline():
        pass
    child.kill()
    child.communicate()
    (home / "config.toml").unlink()
    assert run("chat", "turn the torch on").returncode == 0
    roles = [m["role"] for m in log()]
    assert roles == ["user", "note", "user", "assistant", "tool", "assistant"]  # what was said joined it
