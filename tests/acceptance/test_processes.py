"""Child processes of tools when a turn is stopped or a program takes too long (A-03, A-04, A-13)."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import ToolError
from palmclaw.core.messages import Message
from palmclaw.core.session import UNKNOWN
from palmclaw.core.tools import Effect, ToolContext, tool
from palmclaw.guard.processes import PROCESSES, Processes
from tests.agent.kit import Bench, bench, call
from tests.guard.test_processes import ENV, dies, lives

FAMILY = "sleep 300 & echo $! > child; echo $$ > parent; wait"


@dataclass(frozen=True)
class Command:
    script: str
    seconds: float = 30
    background: bool = False


@tool(module="test", effect=Effect.EXECUTE)
async def shell(args: Command, ctx: ToolContext) -> Any:
    """Run a program."""
    processes, argv, cwd = ctx.need(PROCESSES), ["sh", "-c", args.script], Path(os.environ["PALMCLAW_HOME"]).parent
    if args.background:
        return {"id": (await processes.start(argv, cwd, ENV)).id}
    finished = await processes.run(argv, cwd, ENV, args.seconds, 1_000)
    if finished.timed_out:
        raise ToolError("timeout", f"ended after {args.seconds:g} s; it said: {finished.output}")
    return finished


@tool(module="test", effect=Effect.READ)
async def process_list(args: Command, ctx: ToolContext) -> Any:
    """What runs in the background."""
    return [each.id for each in ctx.need(PROCESSES).listed() if each.code is None]


@dataclass
class Phone:
    bench: Bench
    processes: Processes
    folder: Path
    running: list["asyncio.Task[Message]"] = field(default_factory=list)

    async def pid(self, name: str) -> int:
        path = self.folder / name
        while not (path.exists() and path.read_text().strip()):
            await asyncio.sleep(0.005)
        return int(path.read_text())


@pytest.fixture
async def phone(tmp_path: Path, home_dir: Path) -> AsyncIterator[Phone]:
    made, processes = await bench(tmp_path), Processes()
    tools = {t.name: t for t in (shell, process_list)}
    made.toolbox = replace(made.toolbox, tools=tools, services={PROCESSES: processes})
    yield Phone(made, processes, tmp_path)
    await processes.close()
    await made.database.close()


async def test_a03_stop_ends_the_process_group_and_the_call_has_its_result(phone: Phone) -> None:
    asked = call("shell", script=FAMILY)
    running = asyncio.create_task(phone.bench.run(asked))
    child, parent = await phone.pid("child"), await phone.pid("parent")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    entry = await phone.bench.toolbox.abandon(asked, phone.bench.turn)
    assert [(r.call_id, r.error) for r in entry.results] == [("c1", UNKNOWN)]
    await dies(child)
    await dies(parent)


async def test_a04_what_was_put_into_the_background_survives_the_stop_and_is_listed(phone: Phone) -> None:
    started = await phone.bench.run(call("shell", script=FAMILY, background=True))
    assert started.results[0].error is None
    child = await phone.pid("child")
    running = asyncio.create_task(phone.bench.run(call("shell", "c2", script="echo $$ > other; exec sleep 300")))
    other = await phone.pid("other")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await dies(other)
    assert lives(child)
    (listed,) = phone.processes.listed()
    assert (await phone.bench.run(call("process_list", "c3", script=""))).results[0].content == f'["{listed.id}"]'
    await phone.processes.close()
    await dies(child)


async def test_a13_a_program_that_takes_too_long_is_an_error_of_the_tool_and_the_turn_goes_on(phone: Phone) -> None:
    late = await phone.bench.run(call("shell", script=f"echo begun; {FAMILY}", seconds=0.2))
    error = late.results[0].error
    assert error is not None
    assert (error.code, error.message) == ("timeout", "ended after 0.2 s; it said: begun\n")
    await dies(await phone.pid("child"))
    fine = await phone.bench.run(call("shell", "c2", script="echo fine"))
    assert fine.results[0].error is None
    assert "fine" in fine.results[0].content
