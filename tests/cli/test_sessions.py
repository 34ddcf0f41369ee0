"""The list of conversations: sub-agents' below the ones they work for, and what each does where that is known."""

import asyncio
import json
from pathlib import Path

from click.testing import CliRunner

from palmclaw.cli.main import cli
from palmclaw.cli.sessions import nested, state
from palmclaw.core.runtime import Lane
from palmclaw.core.traffic import Inbound
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database
from palmclaw.storage.sessions import SessionInfo, Sessions


def info(name: str, parent: str = "") -> SessionInfo:
    return SessionInfo(name, "", "", "", 0, 0, 0, 0, parent)


def test_those_of_sub_agents_stand_below_the_ones_they_work_for() -> None:
    found = [info("c", "b"), info("lost", "gone"), info("a"), info("b", "a"), info("d"), info("e", "lost")]
    assert [(depth, i.id) for depth, i in nested(found)] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
        (0, "d"),
        (0, "lost"),
        (1, "e"),
    ]
    assert [i.id for _, i in nested([info("x", "y"), info("y", "x")])] == []  # cannot be, and does no harm


def test_what_a_conversation_does() -> None:
    lanes = {"a": Lane("a", "t1", 2), "b": Lane("b", "t2"), "c": Lane("c", "", 1), "d": Lane("d")}
    said = [state(name, lanes) for name in "abcde"]
    assert said == ["at work, 2 waiting", "at work", "1 waiting", "at rest", "at rest"]
    assert state("a", None) == ""


def test_the_list_as_it_is_printed(home_dir: Path) -> None:
    async def made() -> None:
        database = Database(home_dir / "palmclaw.db")
        await Sessions(database).choose_model("main", "")
        await CrewRecords(database).begin(Inbound("subagent:1", "look"), "main", "")
        await database.close()

    asyncio.run(made())
    said = CliRunner().invoke(cli, ["sessions", "list"]).stdout.splitlines()
    hidden = "(1 more of sub-agents: palmclaw sessions list --all)"
    assert [line.split("  ")[0] for line in said if line.strip()] == ["main", hidden]
    said = CliRunner().invoke(cli, ["sessions", "list", "--all"]).stdout.splitlines()
    assert [line.rstrip().rpartition("  20")[0] for line in said if line.strip()] == ["main", "  subagent:1"]
    table = json.loads(CliRunner().invoke(cli, ["sessions", "list", "--json"]).stdout)
    assert {(s["id"], s["parent"], s["state"]) for s in table} == {("main", "", ""), ("subagent:1", "main", "")}
