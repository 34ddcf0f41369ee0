"""From one inbound message to the final answer, with everything stored on the way."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Event, MessageAdded, Stop, TurnEnded, TurnStarted
from palmclaw.core.messages import Role, Stamp, Text
from palmclaw.core.traffic import Inbound, Origin
from palmclaw.runtime.turns import Turns, Work
from palmclaw.storage.sessions import Sessions
from tests.runtime.crash_child import SCRIPT, FragileDatabase, Steps, made


@dataclass
class Bed:
    turns: Turns
    database: FragileDatabase

    async def say(self, text: str, origin: Origin = Origin.OWNER) -> list[Event | TurnStarted]:
        return [event async for event in self.turns.run(Work((Inbound("s1", text, origin),)), Interrupt())]

    async def row(self) -> Any:
        query = "SELECT state, stop, error, input > 0, requests FROM turn"
        return await self.database.run(lambda db: db.execute(query).fetchall())


@pytest.fixture
async def bed(tmp_path: Path) -> AsyncIterator[Bed]:
    turns, database = made(tmp_path, Steps(0), list(SCRIPT))
    yield Bed(turns, database)
    await database.close()


async def test_the_log_is_the_events(bed: Bed, tmp_path: Path) -> None:
    events = await bed.say("ring twice")
    added = [e.message for e in events if isinstance(e, MessageAdded)]
    assert added == list(await Sessions(bed.database).all("s1"))
    assert added[0].parts == (Text("ring twice"), Stamp("[2026-06-15 09:00 Mon UTC+0000]"))
    assert isinstance(events[-1], TurnEnded)
    assert (tmp_path / "rung").read_text() == "one\ntwo\n"
    assert await bed.row() == [("ended", "done", "", 1, 3)]


async def test_a_strangers_message_is_outside_content(bed: Bed) -> None:
    await bed.say("ring twice", Origin.OTHER)
    log = await Sessions(bed.database).all("s1")
    assert log[0].tainted
    codes = [r.error.code for m in log for r in m.results if r.error]
    assert codes == ["denied"] * 4


async def test_a_bug_in_a_turn_ends_that_turn_alone(bed: Bed, caplog: pytest.LogCaptureFixture) -> None:
    async def broken(work: Work) -> Agent:
        raise ZeroDivisionError

    events = [e async for e in replace(bed.turns, agent=broken).run(Work((Inbound("s1", "hi"),)), Interrupt())]
    last = events[-1]
    assert isinstance(last, TurnEnded)
    assert (last.stop, last.error and last.error.code) == (Stop.ERROR, "internal")
    assert "ZeroDivisionError" in caplog.text
    assert [m.role for m in await Sessions(bed.database).all("s1")] == [Role.USER, Role.NOTE]
    again = (await bed.say("ring twice"))[-1]
    assert isinstance(again, TurnEnded)
    assert (again.stop, again.error, again.rounds) == (Stop.DONE, None, 3)


async def test_an_effect_whose_record_failed_is_never_called_undone(bed: Bed, tmp_path: Path) -> None:
    trigger = (
        "CREATE TRIGGER full BEFORE UPDATE OF result ON call WHEN new.call_id='e1'"
        " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    await bed.database.run(lambda db: db.execute("SELECT * FROM call"))
    await bed.database.run(lambda db: db.execute(trigger))
    events = await bed.say("ring twice")
    last = events[-1]
    assert isinstance(last, TurnEnded)
    assert (last.stop, last.error and last.error.code) == (Stop.ERROR, "storage")
    assert (tmp_path / "rung").read_text() == "one\n"
    await bed.database.run(lambda db: db.execute("DROP TRIGGER full"))
    await bed.say("and now?")
    log = await Sessions(bed.database).all("s1")
    codes = {r.call_id: r.error.code for m in log for r in m.results if r.error}
    assert codes == {"e1": "outcome_unknown", "e2": "interrupted"}
    states = await bed.database.run(lambda db: db.execute("SELECT state FROM turn ORDER BY started").fetchall())
    assert states == [("interrupted",), ("ended",)]


async def test_a_clock_that_fails_ends_the_turn_too(bed: Bed) -> None:
    class Broken:
        def now(self) -> datetime:
            raise StorageError("phone.json is damaged")

    events = [e async for e in replace(bed.turns, clock=Broken()).run(Work((Inbound("s1", "hi"),)), Interrupt())]
    assert events == [TurnEnded(Stop.ERROR, error=StorageError("phone.json is damaged").fault)]


async def test_a_storage_failure_ends_the_turn_with_its_reason(bed: Bed) -> None:
    async def refused(work: Work) -> Agent:
        raise StorageError("no space left", "Free some space.")

    events = [e async for e in replace(bed.turns, agent=refused).run(Work((Inbound("s1", "hi"),)), Interrupt())]
    assert events[-1] == TurnEnded(Stop.ERROR, error=StorageError("no space left", "Free some space.").fault)
    assert await bed.turns.recover() == ()
    assert [m.role for m in await Sessions(bed.database).all("s1")] == [Role.USER, Role.NOTE]
