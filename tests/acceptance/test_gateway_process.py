"""One gateway per home, as real processes: killed, refused, started anew, ended in good order, idle."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.core.events import Answer, ApprovalAnswered, MessageAdded, Signal, Standing, Stop, TextDelta, TurnEnded
from palmclaw.core.runtime import Draining
from palmclaw.core.traffic import Fate, Inbound, Receipt
from palmclaw.paths import Home
from palmclaw.storage.process import read, written
from palmclaw.web.client import GatewayGone, RemoteRuntime, attach
from tests.children import bare
from tests.servers.gateways import Gateways, gateways


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Gateways]:
    with gateways(tmp_path / "home") as found:
        yield found


@asynccontextmanager
async def attached(home: Home) -> AsyncIterator[RemoteRuntime]:
    remote = await attach(home)
    assert remote is not None
    try:
        yield remote
    finally:
        await remote.close()


def test_l11_after_kill_9_a_new_gateway_starts_at_once(made: Gateways) -> None:
    first = made.start()
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert made.home.socket.is_socket()
    gone = made.palmclaw("status")
    assert (gone.returncode, gone.stdout) == (3, "No gateway is running.\n")
    second = made.start()
    status = json.loads(made.palmclaw("status", "--json").stdout)
    assert (status["running"], status["pid"]) == (True, second.pid)


def test_l11_a_number_that_is_used_again_is_nobody(made: Gateways) -> None:
    first = made.start()
    first.kill()
    first.wait()
    left = read(made.home.gateway)
    assert left is not None
    written(made.home.gateway, replace(left, pid=os.getpid()))
    made.home.lock.write_text(f"process {os.getpid()} (serve)\n")
    assert made.palmclaw("stop").stderr == "No gateway is running.\n"
    assert made.palmclaw("status").returncode == 3
    second = made.start()
    assert (found := read(made.home.gateway)) is not None
    assert found.pid == second.pid


def test_l14_a_second_gateway_refuses_and_names_the_owner(made: Gateways) -> None:
    first = made.start()
    second = made.begin()
    _, said = second.communicate()
    assert second.returncode == 1
    assert said.splitlines() == [
        f"Error: {made.home.root} is in use by process {first.pid} (serve)",
        "Finish there first, or set PALMCLAW_HOME to use another home.",
    ]
    assert json.loads(made.palmclaw("status", "--json").stdout)["pid"] == first.pid


async def test_who_comes_late_hears_how_the_turn_stands_and_then_the_rest(made: Gateways) -> None:
    made.start()
    async with attached(made.home) as early, attached(made.home) as late:
        assert (await early.take(Inbound("main", "hang"))).fate is Fate.STARTED
        assert await early.take(Inbound("main", "more")) == Receipt(2, "main", Fate.WAITING, 1)
        signals = late.events("main")
        standing, last = await anext(signals), await anext(signals)
        assert standing.event == Standing("t1", "well, ")
        assert last.id.rpartition("-")[2] == "5"
        await early.stop("main")
        assert [(await anext(signals)).event for _ in range(2)][1] == TurnEnded(Stop.CANCELLED, rounds=1)
        again = late.events("main", standing.id)
        assert [(await anext(again)).id for _ in range(3)][1:] == [last.id, f"{last.id[:-1]}6"]
        await signals.aclose()
        await again.aclose()


async def heard(remote: RemoteRuntime, found: list[Signal]) -> None:
    async for signal_ in remote.events("main"):
        found.append(signal_)


async def until(found: list[Signal], kind: type) -> None:
    while not any(isinstance(s.event, kind) for s in found):
        await asyncio.sleep(0.01)


async def refused(remote: RemoteRuntime) -> None:
    """Until the gateway takes no more messages."""
    with suppress(Draining):
        while True:
            await remote.take(Inbound("other", "x"))


async def test_an_end_in_good_order_lets_the_turn_finish_and_its_listeners_hear_it(made: Gateways) -> None:
    child = made.start("30")
    async with attached(made.home) as remote:
        found: list[Signal] = []
        listener = asyncio.create_task(heard(remote, found))
        await until(found, Standing)
        await remote.take(Inbound("main", "ask"))
        child.send_signal(signal.SIGTERM)
        await refused(remote)
        await remote.answer("q1", Answer.NO, "test")
        await listener
    kinds = [type(s.event) for s in found]
    assert kinds[kinds.index(ApprovalAnswered) :] == [ApprovalAnswered, TextDelta, MessageAdded, TurnEnded]
    assert found[-1].event == TurnEnded(Stop.DONE, rounds=1)
    out, said = child.communicate()
    assert (child.returncode, out, said.splitlines()[-2:]) == (
        0,
        "",
        ["Ending: no new messages; running turns have a few seconds. Once more ends at once.", "Ended."],
    )
    assert sorted(p.name for p in made.home.root.iterdir()) == ["lock", "palmclaw.log"]


async def test_the_second_signal_ends_it_at_once(made: Gateways) -> None:
    child = made.start("3600")
    async with attached(made.home) as remote:
        await remote.take(Inbound("main", "hang"))
        child.send_signal(signal.SIGINT)
        await refused(remote)
        child.send_signal(signal.SIGINT)
        child.communicate()
        assert child.returncode == 128 + signal.SIGINT
        with pytest.raises(GatewayGone):
            await remote.status()
    assert made.palmclaw("stop").returncode == 0


async def test_whoever_listens_to_a_gateway_that_is_killed_is_told(made: Gateways) -> None:
    child = made.start()
    async with attached(made.home) as remote:
        signals = remote.events()
        await anext(signals)
        child.kill()
        with pytest.raises(GatewayGone, match="no gateway answers"):
            await anext(signals)


async def test_a_stream_goes_on_with_a_gateway_that_took_the_place_of_another(made: Gateways) -> None:
    made.start().kill()
    made.start()
    async with attached(made.home) as remote:
        await remote.take(Inbound("main", "hi"))
        signals = remote.events("main", "dead-7")
        kinds = [(await anext(signals)).event.type for _ in range(8)]
        await signals.aclose()
    told = ["taken", "turn_started", "message_added", "text_delta", "message_added", "turn_ended"]
    assert kinds == ["standing", "missed", *told]


def switches(pid: int) -> int:
    """How often the process has been woken."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


async def test_an_idle_gateway_is_never_woken(made: Gateways) -> None:
    child = made.start()
    async with attached(made.home) as remote:
        await remote.take(Inbound("main", "hi"))
        signals = remote.events()
        await anext(signals)
        await signals.aclose()
    await asyncio.sleep(0.3)
    before = switches(child.pid)
    await asyncio.sleep(1.5)
    assert switches(child.pid) == before


def test_f059_eight_processes_may_begin_on_an_empty_home_at_once(tmp_path: Path) -> None:
    code = (
        "import asyncio, sys, time; from pathlib import Path; from palmclaw.storage.database import Database\n"
        "database = Database(Path(sys.argv[1])); time.sleep(max(0, float(sys.argv[2]) - time.time()))\n"
        "async def main():\n"
        '    await database.run(lambda db: db.execute("INSERT INTO session (id, created, updated) '
        "VALUES (?, '', '')\", (sys.argv[3],)))\n"
        "    print(await database.run(lambda db: db.execute('PRAGMA user_version').fetchone()[0]))\n"
        "    await database.close()\n"
        "asyncio.run(main())"
    )
    at = str(time.time() + 1)
    command = [sys.executable, "-c", code, str(tmp_path / "home" / "palmclaw.db"), at]
    pipe = subprocess.PIPE
    children = [subprocess.Popen([*command, str(n)], env=bare(), stdout=pipe, stderr=pipe, text=True) for n in range(8)]
    ends = [(*child.communicate(), child.returncode) for child in children]
    assert len(set(ends)) == 1, ends
    assert ends[0][1:] == ("", 0)
