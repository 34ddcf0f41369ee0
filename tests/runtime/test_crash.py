"""kill -9 at every step of a turn: each call ends with exactly one result, and no effect happens twice."""

import asyncio
import subprocess
import sys
from pathlib import Path

from palmclaw.agent.interrupt import Interrupt
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import Message, Role
from palmclaw.core.session import projected
from palmclaw.core.traffic import Inbound
from palmclaw.runtime.turns import Work
from palmclaw.storage.sessions import Sessions
from tests.children import bare
from tests.runtime.crash_child import Steps, made

ROOT = Path(__file__).parents[2]


def run_child(folder: Path, step: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.runtime.crash_child", str(folder), str(step)]
    return subprocess.run(command, cwd=ROOT, env=bare(), capture_output=True, text=True, timeout=60, check=False)


async def recovered(folder: Path) -> tuple[tuple[Message, ...], Stop]:
    """Open the home again, close what was left open, have one more turn; returns the log and how that turn ended."""
    turns, database = made(folder, Steps(0), ["still here"])
    await turns.recover()
    assert await turns.recover() == ()
    stop = Stop.ERROR
    async for event in turns.run(Work((Inbound("s1", "are you there?"),)), Interrupt()):
        if isinstance(event, TurnEnded):
            stop = event.stop
    log = await Sessions(database).all("s1")
    await database.close()
    return log, stop


def check(log: tuple[Message, ...], rung: list[str]) -> None:
    calls = [c.id for m in log for c in m.calls]
    results = {r.call_id: r for m in log for r in m.results}
    assert sorted(r.call_id for m in log for r in m.results) == sorted(calls)  # exactly one each
    assert len(rung) == len(set(rung))  # nothing twice
    for call_id, text in (("e1", "one"), ("e2", "two")):
        if call_id not in results:
            assert text not in rung
            continue
        error = results[call_id].error
        if error is None:
            assert text in rung
        elif text in rung:
            assert error.code == "outcome_unknown"  # it happened, and nobody claims that it did not
        else:
            assert error.code in ("outcome_unknown", "interrupted")
    assert projected(log) == tuple(m for m in log if m.role is not Role.NOTE)  # already whole


def test_a_turn_survives_a_kill_at_every_step(tmp_path: Path) -> None:
    whole = run_child(tmp_path / "whole", 0)
    assert whole.returncode == 0, whole.stderr
    last = int(whole.stdout)
    assert last > 20
    codes = set()
    for step in range(1, last + 1):
        folder = tmp_path / str(step)
        assert run_child(folder, step).returncode == -9
        rung = (folder / "rung").read_text().split() if (folder / "rung").exists() else []
        log, stop = asyncio.run(recovered(folder))
        assert stop is Stop.DONE, step
        check(log, rung)
        codes |= {r.error.code for m in log for r in m.results if r.error}
    assert codes == {"interrupted", "outcome_unknown"}
