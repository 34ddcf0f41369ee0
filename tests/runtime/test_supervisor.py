"""One runtime for all who hold it: the first starts it, the last stops it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from palmclaw.core.errors import HomeBusy, StorageError
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.supervisor import Supervisor
from tests.acceptance.rig import Gate, rigged


class House:
    """Opens real gateways, one after the other, and counts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened = 0
        self.closed = 0
        self.gate: Gate | None = None
        self.refusal: StorageError | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Gateway]:
        if self.gate is not None:
            await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal
        async with rigged(self.folder) as rig:
            self.opened += 1
            try:
                yield rig.gateway
            finally:
                self.closed += 1

    @property
    def counts(self) -> tuple[int, int]:
        return self.opened, self.closed


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_the_first_holder_starts_it_and_the_last_stops_it(house: House) -> None:
    supervisor = Supervisor(house.open)
    async with supervisor.hold("terminal") as first:
        async with supervisor.hold("always on") as second:
            assert first is second
            assert supervisor.holders == ["terminal", "always on"]
        assert (supervisor.holders, house.counts) == (["terminal"], (1, 0))
        assert (await first.status()).lanes == ()
    assert (supervisor.holders, house.counts) == ([], (1, 1))
    async with supervisor.hold("job") as third:
        assert third is not first
    assert house.counts == (2, 2)


async def test_holders_may_leave_in_any_order_and_have_one_name(house: House) -> None:
    supervisor = Supervisor(house.open)
    async with AsyncExitStack() as first, AsyncExitStack() as second:
        await first.enter_async_context(supervisor.hold("job"))
        gateway = await second.enter_async_context(supervisor.hold("job"))
        await first.aclose()
        assert (supervisor.holders, house.counts) == (["job"], (1, 0))
        assert (await gateway.status()).lanes == ()
    assert (supervisor.holders, house.counts) == ([], (1, 1))


async def test_those_who_come_at_once_share_one(house: House) -> None:
    supervisor = Supervisor(house.open)
    house.gate = Gate()
    found: list[Gateway] = []
    leave = asyncio.Event()

    async def holds(name: str) -> None:
        async with supervisor.hold(name) as gateway:
            found.append(gateway)
            await leave.wait()

    tasks = [asyncio.create_task(holds(str(n))) for n in range(5)]
    await house.gate.reached.wait()
    house.gate.open()
    while len(found) < 5:
        await asyncio.sleep(0.001)
    assert len({id(gateway) for gateway in found}) == 1
    assert (sorted(supervisor.holders), house.counts) == (list("01234"), (1, 0))
    leave.set()
    await asyncio.gather(*tasks)
    assert (supervisor.holders, house.counts) == ([], (1, 1))


async def test_a_start_that_fails_can_be_tried_again(house: House) -> None:
    supervisor = Supervisor(house.open)
    house.refusal = HomeBusy("somebody else has it")
    with pytest.raises(HomeBusy, match="somebody else has it"):
        async with supervisor.hold("terminal"):
            pytest.fail("nobody holds what did not start")
    assert supervisor.holders == []
    house.refusal = None
    async with supervisor.hold("terminal"):
        assert house.counts == (1, 0)
    assert house.counts == (1, 1)


async def test_who_fails_lets_go(house: House) -> None:
    supervisor = Supervisor(house.open)
    with pytest.raises(KeyError):
        async with supervisor.hold("terminal"):
            raise KeyError
    assert (supervisor.holders, house.counts) == ([], (1, 1))


async def test_who_is_cancelled_lets_go_and_the_end_is_not_cut_short(house: House) -> None:
    supervisor = Supervisor(house.open)
    inside = asyncio.Event()

    async def holds() -> None:
        async with supervisor.hold("terminal"):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(holds())
    await inside.wait()
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # once more, while it lets go
    with pytest.raises(asyncio.CancelledError):
        await task
    async with supervisor.hold("the next"):
        assert house.counts == (2, 1)
    assert house.counts == (2, 2)


async def test_who_gives_up_while_it_starts_leaves_nothing_behind(house: House) -> None:
    supervisor = Supervisor(house.open)
    house.gate = Gate()

    async def holds() -> None:
        async with supervisor.hold("terminal"):
            pytest.fail("it was cancelled before")

    task = asyncio.create_task(holds())
    await house.gate.reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    house.gate.open()
    async with supervisor.hold("the next"):
        assert (supervisor.holders, house.counts) == (["the next"], (1, 0))
