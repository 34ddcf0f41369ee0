"""Memory work goes on only where nobody is: one conversation at a time, and it is over when somebody speaks."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import pytest

from palmclaw.core.errors import StorageError
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.traffic import Inbound, Origin
from palmclaw.runtime.background import Background
from palmclaw.runtime.turns import Work
from tests.acceptance.rig import Gate, Pace

DONE = TurnEnded(Stop.DONE)


@dataclass
class Looking:
    """Looks through a conversation for as long as its gate is closed."""

    begun: list[tuple[str, str]] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    gates: dict[str, Gate] = field(default_factory=dict)
    error: BaseException | None = None

    async def run(self, session: str, model: str = "") -> bool:
        self.begun.append((session, model))
        if self.error is not None:
            raise self.error
        if session in self.gates:
            await self.gates[session].wait()
        self.ended.append(session)
        return True


@dataclass
class Night:
    """A background in which time passes when the test says so."""

    looking: Looking
    background: Background
    pace: Pace
    busy: set[str]

    def over(self, session: str = "main", ended: TurnEnded = DONE, **more: object) -> None:
        inbound = replace(Inbound(session, "hi"), **more)  # type: ignore[arg-type]  # fields of Inbound
        self.background.over(Work((inbound,)), ended)


def night() -> Night:
    looking, pace, busy = Looking(), Pace(), set[str]()

    async def model(session: str) -> str:
        return f"model of {session}"

    background = Background(looking.run, model, lambda session: session not in busy, pace.sleep)
    return Night(looking, background, pace, busy)


async def test_it_begins_some_seconds_after_a_turn() -> None:
    n = night()
    n.over()
    await n.pace.forward(2.9)
    assert n.looking.begun == []
    await n.pace.forward(0.2)
    assert (n.looking.begun, n.looking.ended) == ([("main", "model of main")], ["main"])
    n.over()
    await n.pace.forward(4)
    assert n.looking.ended == ["main", "main"]
    await n.background.close()


@pytest.mark.parametrize(
    "more",
    [
        {"session": "subagent:1"},
        {"yields": True, "origin": Origin.JOB},
        *({"ended": TurnEnded(stop)} for stop in (Stop.CANCELLED, Stop.ERROR, Stop.EMPTY)),
    ],
)
async def test_for_others_or_where_nothing_was_done_it_never_begins(more: dict[str, object]) -> None:
    n = night()
    n.over(**more)  # type: ignore[arg-type]  # as they are named
    await n.pace.forward(10)
    assert n.looking.begun == []


async def test_a_job_of_the_owners_counts() -> None:
    n = night()
    n.over(origin=Origin.JOB)
    await n.pace.forward(4)
    assert n.looking.begun == [("main", "model of main")]


async def test_it_does_not_begin_where_something_waits() -> None:
    n = night()
    n.busy.add("main")
    n.over()
    await n.pace.forward(10)
    assert n.looking.begun == []


async def test_one_conversation_at_a_time_and_once() -> None:
    n = night()
    n.looking.gates["a"] = Gate()
    for session in ("a", "b", "a", "b"):
        n.over(session)
    await n.pace.forward(4)
    assert [s for s, _ in n.looking.begun] == ["a"]
    n.looking.gates["a"].open()
    await n.pace.forward(0)
    assert n.looking.ended == ["a", "b"]


async def test_c12_it_is_cancelled_and_settled_when_somebody_speaks() -> None:
    n = night()
    n.looking.gates["a"] = Gate()
    n.over("a")
    n.over("b")
    await n.pace.forward(4)
    await n.background.begins("a")
    await n.pace.forward(0)
    assert ([s for s, _ in n.looking.begun], n.looking.ended) == (["a", "b"], ["b"])
    await n.background.begins("nobody")
    n.looking.gates["a"].open()
    n.over("a")
    await n.background.begins("a")  # before it has begun
    await n.pace.forward(4)
    assert n.looking.ended == ["b"]
    n.over("a")
    await n.pace.forward(4)
    assert n.looking.ended == ["b", "a"]


async def test_it_ends_with_the_runtime() -> None:
    n = night()
    n.looking.gates["a"] = Gate()
    for session in ("a", "b"):
        n.over(session)
    await n.pace.forward(4)
    await n.background.close()
    n.over("c")
    await n.pace.forward(4)
    assert ([s for s, _ in n.looking.begun], n.looking.ended) == (["a"], [])
    names = [t.get_name() for t in asyncio.all_tasks()]
    assert [name for name in names if name.startswith("memory of")] == []


@pytest.mark.parametrize(
    ("error", "told"),
    [(StorageError("the disk is full"), "was not looked through"), (KeyError("x"), "looking through main")],
)
async def test_a_failure_is_told_in_the_log_alone(
    error: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    logging.getLogger("palmclaw").propagate = True
    n = night()
    n.looking.error = error
    n.over()
    await n.pace.forward(4)
    assert told in caplog.text
    n.looking.error = None
    n.over()
    await n.pace.forward(4)
    assert n.looking.ended == ["main"]


def stubborn(gate: Gate) -> Callable[[str, str], Awaitable[bool]]:
    async def run(session: str, model: str = "") -> bool:
        while True:
            try:
                await gate.wait()
                return True
            except asyncio.CancelledError:
                continue

    return run


async def test_what_does_not_end_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palmclaw.runtime.background.SETTLE", 0.01)
    n = night()
    gate = Gate()
    n.looking.run = stubborn(gate)  # type: ignore[method-assign,assignment]  # one that ignores a cancellation
    n.over()
    await n.pace.forward(4)
    await n.background.begins("main")
    gate.open()
    await n.pace.forward(0)
