"""So many turns at once: in order, lent while a person is asked, and none lost when somebody gives up waiting."""

import asyncio

import pytest

from palmclaw.runtime.slots import Slot, Slots


async def asked(slots: Slots) -> "asyncio.Task[Slot]":
    """Somebody who waits for a place."""
    task = asyncio.create_task(slots.take())
    await asyncio.sleep(0)
    return task


async def soon(task: "asyncio.Task[Slot]") -> Slot:
    return await asyncio.wait_for(task, 10)


async def moment() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_places_are_given_in_the_order_of_asking() -> None:
    slots = Slots(2)
    first, second = await slots.take(), await slots.take()
    third, fourth = await asked(slots), await asked(slots)
    assert (slots.free, slots.awaited) == (0, 2)
    second.release()
    assert await soon(third) == Slot(slots)
    assert not fourth.done()
    first.release()
    (await soon(third)).release()
    (await soon(fourth)).release()
    assert (slots.free, slots.awaited) == (2, 0)


async def test_a_place_given_back_twice_is_free_once() -> None:
    slots = Slots(1)
    slot = await slots.take()
    slot.release()
    slot.release()
    assert (slots.free, slot.is_held) == (1, False)


async def test_who_gives_up_waiting_is_passed_over() -> None:
    slots = Slots(1)
    slot = await slots.take()
    gone, next_ = await asked(slots), await asked(slots)
    gone.cancel()
    await moment()
    assert slots.awaited == 1
    slot.release()
    (await soon(next_)).release()
    assert slots.free == 1


async def test_who_gives_up_in_the_moment_of_the_gift_hands_it_on() -> None:
    slots = Slots(1)
    slot = await slots.take()
    gone, next_ = await asked(slots), await asked(slots)
    slot.release()
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    (await soon(next_)).release()
    assert (slots.free, slots.awaited) == (1, 0)


async def test_a_place_that_comes_free_while_somebody_is_giving_up() -> None:
    slots = Slots(1)
    slot = await slots.take()
    gone = await asked(slots)
    gone.cancel()
    slot.release()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert (slots.free, slots.awaited) == (1, 0)


async def test_a_lent_place_is_somebody_elses_until_it_comes_back() -> None:
    slots = Slots(1)
    slot = await slots.take()
    async with slot.lent():
        other = await slots.take()
        assert (slot.is_held, slots.free) == (False, 0)
        asyncio.get_running_loop().call_later(0.001, other.release)
    assert (slot.is_held, slots.free) == (True, 0)
    slot.release()
    assert slots.free == 1


async def test_who_gave_the_place_back_does_not_get_it_by_lending() -> None:
    slots = Slots(1)
    slot = await slots.take()
    slot.release()
    async with slot.lent():
        assert slots.free == 1
    assert (slot.is_held, slots.free) == (False, 1)


async def test_a_turn_that_ends_while_it_lends_takes_no_place_again() -> None:
    slots = Slots(1)
    slot = await slots.take()
    with pytest.raises(KeyError):
        async with slot.lent():
            raise KeyError
    slot.release()
    assert (slot.is_held, slots.free) == (False, 1)


async def test_a_turn_that_is_stopped_while_it_waits_for_its_place_has_none() -> None:
    slots = Slots(1)
    slot = await slots.take()

    async def lends() -> None:
        async with slot.lent():
            await slots._taken()

    task = asyncio.create_task(lends())
    await moment()
    assert slots.awaited == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    slot.release()
    assert (slots.free, slots.awaited) == (0, 0)  # the other one has it
