"""Who is told that something goes on with the settings that it read at its start."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from palmclaw.cli.holding import Served, serving
from palmclaw.cli.main import cli
from palmclaw.cli.texts import texts
from palmclaw.paths import Home
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.process import this_process, written

RESTART = "palmclaw stop && palmclaw serve --background"


def changed(*arguments: str, language: str = "en") -> list[str]:
    done = CliRunner().invoke(cli, ["config", *arguments], env={"PALMCLAW_LANG": language}, catch_exceptions=False)
    assert (done.exit_code, done.stdout) == (0, "")
    return done.stderr.splitlines()


def test_a_gateway_goes_on_with_what_it_read(home_dir: Path) -> None:
    goes_on = f"The gateway (process {os.getpid()}) goes on with what it read when it started. To restart it:"
    secrets = f"(in {home_dir / 'secrets.toml'}, readable by you alone)"
    lock = HomeLock(home_dir / "lock")
    lock.acquire(SERVING)
    assert changed("set", "limits.rounds", "30") == ["limits.rounds = 30", goes_on, RESTART]
    assert changed("unset", "limits.rounds") == ["limits.rounds is back to its default.", goes_on, RESTART]
    key = changed("set", "provider.api_key", "sk-12345678")
    assert key == [f"provider.api_key is set {secrets}.", goes_on, RESTART]
    chinese = changed("set", "limits.rounds", "31", language="zh")
    assert chinese[1:] == [f"网关（进程 {os.getpid()}）仍按启动时读到的设置运行。重新启动：", RESTART]
    lock.release()
    assert changed("set", "limits.rounds", "32") == ["limits.rounds = 32"]


@pytest.mark.parametrize(("language", "purpose"), [("en", "chat"), ("zh", "对话")])
def test_a_conversation_does_too(home_dir: Path, language: str, purpose: str) -> None:
    lock = HomeLock(home_dir / "lock")
    lock.acquire("chat")
    said = texts({"LANG": language})("process_keeps", pid=os.getpid(), purpose=purpose)
    assert changed("set", "limits.rounds", "30", language=language)[1:] == [said]
    lock.release()


def test_who_serves_a_home(tmp_path: Path) -> None:
    home, lock = Home(tmp_path), HomeLock(tmp_path / "lock")
    assert serving(home) is None
    lock.acquire("chat")
    assert serving(home) is None
    lock.release()
    lock.acquire(SERVING)
    assert serving(home) == Served(os.getpid())
    gateway = this_process()
    written(home.gateway, gateway)
    assert serving(home) == Served(gateway.pid, gateway.started, gateway.version)
    lock.release()
    assert Served(7).said(texts({})).splitlines()[0] == "A gateway runs already: process 7."
