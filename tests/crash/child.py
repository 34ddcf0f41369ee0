"""The program that is killed: `palmclaw serve`, whose database says where it is; it begins when a line is read.

    python -m tests.crash.child [journal|inbox]

The word switches a commit off, to see whether the driver would notice: an operation that is not kept, as if it were.
"""

import asyncio
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from palmclaw import plugins
from palmclaw.app import assembled
from palmclaw.cli.serve import served
from palmclaw.cli.texts import texts
from palmclaw.core.messages import Message, Role
from palmclaw.core.plugin import Kind
from palmclaw.core.ports import OutboxState
from palmclaw.house import gateway
from palmclaw.storage.database import Database, Work
from palmclaw.web import server
from tests.crash.windows import Windows

_STEPS = {
    "Inbox.put": "inbox put",
    "Sessions.begin": "turn begin",
    "Sessions.end": "turn end",
    "CallJournal.begin": "journal begin",
    "CallJournal.end": "journal end",
    "Outbox.claim": "outbox claim",
}
_SWITCHED_OFF = {"journal": "CallJournal.begin", "inbox": "Inbox.put", "": ""}


class NotKept(Exception):
    """Undoes a transaction whose result is passed on all the same."""


@dataclass(slots=True)
class MarkedDatabase(Database):
    """Marks the window before and after each operation that counts; what is `off` is not kept."""

    windows: Windows = field(default_factory=lambda: Windows(None))
    off: str = ""

    async def run(self, work: Work[Any]) -> Any:
        return await self._marked(work, Database.run)

    async def note(self, work: Work[Any]) -> Any:
        return await self._marked(work, Database.note)

    async def _marked(self, work: Work[Any], how: Callable[..., Awaitable[Any]]) -> Any:
        name = work.__qualname__.partition(".<locals>")[0]
        step = _step(name, work)
        if step:
            self.windows.mark(f"before {step}")
        result = await (_not_kept(self, work) if name == self.off else how(self, work))
        if step:
            self.windows.mark(f"after {step}")
        return result


async def _not_kept(database: Database, work: Work[Any]) -> Any:
    results: list[Any] = []

    def undone(connection: sqlite3.Connection) -> None:
        results.append(work(connection))
        raise NotKept

    try:
        await Database.run(database, undone)
    except NotKept:
        return results[0]


def _step(name: str, work: Work[Any]) -> str:
    """The step that an operation is, where it is one; some are told apart by what they are given."""
    if name == "Sessions.append":
        given = _given(work)
        return _appended(given["message"], joins=bool(given["inbox"]))
    if name == "Outbox._mark":
        return "outbox sent" if OutboxState.SENT in _given(work)["values"] else ""
    return _STEPS.get(name, "")


def _appended(message: Message, *, joins: bool) -> str:
    if joins:
        return "joined append"
    if message.role is Role.ASSISTANT:
        return "call append" if message.calls else "answer append"
    return "result append" if message.role is Role.TOOL else ""


def _given(work: Work[Any]) -> Mapping[str, Any]:
    """What an operation was made from."""
    code, cells = work.__code__, work.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}


def main(off: str) -> None:
    app = assembled(os.environ)
    app.services.provider(app.services.chosen("").service)
    plugins.load(Kind.CHANNEL, "post")
    sys.stdin.readline()  # what comes before would take most of a short life
    windows = Windows.of(os.environ)
    app.opening = lambda path: MarkedDatabase(path, windows=windows, off=_SWITCHED_OFF[off])
    asyncio.run(served(app.home, lambda: gateway(app), texts(os.environ)))


if __name__ == "__main__":
    assert server  # imported early, for the same reason
    main("".join(sys.argv[1:]))
