"""`palmclaw pair` and the settings that go with it, in-process on a home of its own, beside a process that runs."""

import asyncio
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from palmclaw.cli.main import cli
from palmclaw.core.errors import PalmclawError
from palmclaw.core.traffic import Address, Inbound
from palmclaw.runtime.access import Access, AccessSettings, Who
from palmclaw.storage.database import Database
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.people import KnownPeople


@pytest.fixture(autouse=True)
def home(home_dir: Path) -> Path:
    return home_dir


def run(*args: str, fails: bool = False) -> Result:
    result = CliRunner().invoke(cli, args, catch_exceptions=False)
    assert fails == (result.exit_code != 0), result.output
    return result


def knock(home: Path, sender: str, code: str, name: str = "") -> Who:
    """A message as the gateway of the home would judge it."""

    async def judged() -> Who:
        database = Database(home / "palmclaw.db")
        access = Access({"telegram": AccessSettings()}, KnownPeople(database), code=lambda: code)
        try:
            return (
                await access.judge(Inbound("", "hi", sender=sender, name=name, address=Address("telegram", "1")))
            ).who
        finally:
            await database.close()

    return asyncio.run(judged())


def listed() -> Any:
    return json.loads(run("pair", "list", "--json").stdout)


def test_nobody(home: Path) -> None:
    assert run("pair", "list").stdout == "Nobody: it takes no message of any chat app.\n"
    assert listed() == {"people": [], "waiting": [], "configured": []}
    assert not home.exists()


def test_a_code_is_approved_while_the_gateway_runs(home: Path) -> None:
    lock = HomeLock(home / "lock")
    lock.acquire("serve")
    try:
        assert knock(home, "5", "ABCD2345", "Mei \x1b[31m\nLin") is Who.STRANGER
        who, waits = run("pair", "list").stdout.splitlines()
        assert who == "telegram 5 (Mei [31m Lin)"
        assert re.fullmatch(r"  waits for you: palmclaw pair approve ABCD2345 \(until \d\d:\d\d\)", waits)
        assert [w["code"] for w in listed()["waiting"]] == ["ABCD2345"]
        done = run("pair", "approve", "abcd-2345")
        assert done.stderr == "telegram 5 (Mei [31m Lin) is let in, and may do everything you may.\n"
        assert knock(home, "5", "XXXXXXXX") is Who.OWNER
    finally:
        lock.release()
    today = datetime.now().astimezone().date().isoformat()
    assert run("pair", "list").stdout == f"telegram 5 (Mei [31m Lin)\n  owner, since {today}\n"


def test_a_guest_is_let_in_and_forgotten(home: Path) -> None:
    knock(home, "6", "GGGG2222")
    person = json.loads(run("pair", "approve", "GGGG2222", "--guest", "--json").stdout)
    assert (person["channel"], person["id"], person["role"]) == ("telegram", "6", "guest")
    assert knock(home, "6", "XXXXXXXX") is Who.GUEST
    assert json.loads(run("pair", "forget", "telegram", "6", "--json").stdout) == {"forgotten": True, "configured": []}
    assert knock(home, "6", "YYYY3333") is Who.STRANGER
    assert run("pair", "forget", "telegram", "6").stderr == "Forgotten.\n"
    assert listed()["waiting"] == []


def test_what_is_not_there_is_said(home: Path) -> None:
    assert (
        "there is no open pairing code ZZZZ; see palmclaw pair list"
        in run("pair", "approve", "zzzz", fails=True).stderr
    )
    assert "nobody of the id 9 in telegram" in run("pair", "forget", "telegram", "9", fails=True).stderr


def test_those_whom_the_configuration_names_are_listed_and_cannot_be_forgotten_here(home: Path) -> None:
    run("config", "set", "channels.telegram.owners", "555000111,7|mei")
    run("config", "set", "channels.telegram.allow", "[8]")
    assert run("pair", "list").stdout == (
        "telegram 555000111\n  owner, in config.toml\n"
        "telegram 7\n  owner, in config.toml\n"
        "telegram 8\n  guest, in config.toml\n"
    )
    assert listed()["configured"][1] == {"channel": "telegram", "id": "7", "role": "owner"}
    said = run("pair", "forget", "telegram", "7", fails=True).stderr
    assert said == "Error: config.toml still names 7 in channels.telegram.owners: take it out there\n"


def test_help_teaches() -> None:
    for command in ([], ["approve"], ["forget"]):
        assert "palmclaw pair" in run("pair", *command, "--help").stdout


@pytest.mark.parametrize(
    ("key", "value", "written"),
    [
        ("channels.telegram.owners", "555000111", 'owners = ["555000111"]'),
        ("channels.telegram.pairing", "false", "pairing = false"),
        ("channels.telegram.token", "123:abc", 'token = "123:abc"'),
        ("channels.telegram.block_max", "900", "block_max = 900"),
        ("channels.telegram.preview", "partial", 'preview = "partial"'),
        ("queue.mode", "steer-backlog", 'mode = "steer-backlog"'),
        ("queue.debounce", "1.5", "debounce = 1.5"),
        ("queue.channels.telegram.cap", "5", "cap = 5"),
        ("agents.work.bindings", "telegram,terminal", 'bindings = ["telegram", "terminal"]'),
        ("agents.work.model", "groq/big", 'model = "groq/big"'),
        ("limits.turns", "4", "turns = 4"),
    ],
)
def test_the_settings_can_be_set(home: Path, key: str, value: str, written: str) -> None:
    run("config", "set", key, value)
    assert written in (home / "config.toml").read_text()


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("channels.telegram.owners", "@mei", "@mei is a name"),
        ("queue.mode", "later", "queue.mode: expected"),
        ("queue.cap", "many", "queue.cap: expected integer"),
        ("agents.work.workspace", "work", "agents.work.workspace: work is no absolute path"),
        ("agents.work.policy", "no.md", "agents.work.policy: cannot read"),
        ("limits.turns", "0", "limits.turns: must be 1 to 16"),
    ],
)
def test_what_is_wrong_is_not_written(home: Path, key: str, value: str, problem: str) -> None:
    with pytest.raises(PalmclawError, match=problem):
        run("config", "set", key, value)
    assert not (home / "config.toml").exists()
