"""Runs one turn in a process of its own and kills itself at a chosen step; a program for `test_crash.py`.

    python -m tests.runtime.crash_child FOLDER STEP

A step is: before a database transaction, after it, before the tool's effect, after the effect. Step 0 never comes.
"""

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from palmclaw.agent.context import SessionContext
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.agent.toolbox import Ports, Toolbox
from palmclaw.core.limits import Limits
from palmclaw.core.messages import ToolCall
from palmclaw.core.tools import Effect, Module, ToolContext, tool
from palmclaw.core.traffic import Inbound
from palmclaw.guard.workspace import Workspace
from palmclaw.providers.scripted import Scripted
from palmclaw.runtime import turns as running
from palmclaw.runtime.turns import Turns
from palmclaw.storage.database import Database, Work
from palmclaw.storage.journal import Approvals, CallJournal
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import Sessions
from tests.agent.kit import Person, PhonePermissions

SCRIPT = [
    [ToolCall("r1", "look"), ToolCall("r2", "look", {"again": True})],
    [ToolCall("e1", "ring", {"text": "one"}), ToolCall("e2", "ring", {"text": "two"})],
    "all done",
]


@dataclass(slots=True)
class Steps:
    """Counts steps and dies at one of them."""

    fatal: int
    count: int = 0

    def __call__(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(slots=True)
class FragileDatabase(Database):
    """A database whose process may die just before or just after any transaction."""

    step: Steps = field(default_factory=lambda: Steps(0))

    async def run(self, work: Work[Any]) -> Any:
        self.step()
        result = await Database.run(self, work)
        self.step()
        return result


@dataclass(frozen=True)
class Look:
    again: bool = False


@dataclass(frozen=True)
class Ring:
    text: str


@dataclass(frozen=True)
class Clock:
    def now(self) -> datetime:
        return datetime(2026, 6, 15, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Facts:
    """A model that costs something and takes no attachments; its `size` in tokens is known or not."""

    size: int = 0

    def name(self, reference: str) -> str:
        return reference

    def is_local(self, reference: str) -> bool:
        return False

    def takes(self, reference: str) -> frozenset[str]:
        return frozenset()

    def window(self, reference: str) -> int:
        return self.size


def made(folder: Path, step: Steps, script: list[Any]) -> tuple[Turns, FragileDatabase]:
    """Everything a turn needs, over the database in `folder`."""
    database = FragileDatabase(folder / "palmclaw.db", step=step)

    @tool(module="test", effect=Effect.READ)
    async def look(args: Look, ctx: ToolContext) -> Any:
        """Look."""
        return {"seen": True}

    @tool(module="test", effect=Effect.SEND)
    async def ring(args: Ring, ctx: ToolContext) -> Any:
        """Ring a bell that everybody hears."""
        step()
        with (folder / "rung").open("a") as file:
            file.write(f"{args.text}\n")
            file.flush()
            os.fsync(file.fileno())
        step()
        return {"rung": args.text}

    tools = {"look": look, "ring": ring}
    modules = {"test": Module("test", "test", always=True, tools=tuple(tools))}
    sessions, journal = Sessions(database), CallJournal(database)
    ports = Ports(Person(), Approvals(database), PhonePermissions(), journal)
    routes, media = ModuleRoutes(modules, tools), MediaFolder(folder / "media")
    context = SessionContext("policy", sessions, sessions, media, Facts(), routes, tools, modules, Limits())
    toolbox = Toolbox(tools, Workspace({"session": folder, "shared": folder}), ports)
    provider = Scripted(script)

    async def agent(work: running.Work) -> Agent:
        return Agent(provider, context, toolbox)

    return Turns(sessions, journal, Clock(), agent), database


async def turn(folder: Path, step: Steps) -> None:
    turns, database = made(folder, step, list(SCRIPT))
    async for _ in turns.run(running.Work((Inbound("s1", "ring twice"),)), Interrupt()):
        pass
    await database.close()
    print(step.count)


if __name__ == "__main__":
    asyncio.run(turn(Path(sys.argv[1]), Steps(int(sys.argv[2]))))
