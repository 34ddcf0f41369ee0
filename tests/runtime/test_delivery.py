"""Delivery: in order at each address, again only where that is safe, never twice, and whatever happens is told."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.channels import Abilities
from palmclaw.core.events import Sent
from palmclaw.core.ports import OutboxRow, OutboxState
from palmclaw.core.traffic import Address, Outbound
from palmclaw.runtime.delivery import ATTEMPTS, EDITS
from palmclaw.storage.outbox import Outbox
from tests.servers.manual_time import until
from tests.servers.office import Office
from tests.servers.platform import Breaks, Hangs, Refuses

HERE, THERE = Address("chat", "1"), Address("chat", "2")


def texts(*words: str, address: Address = HERE, turn: str = "t") -> tuple[Outbound, ...]:
    return tuple(Outbound(address, word, f"{turn}:{address.chat}:{word}") for word in words)


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(tmp_path)
    yield office
    await office.close()


async def test_sent_in_order_and_told(office: Office) -> None:
    await office.post(*texts("one", "two", "three"))
    await until(lambda: len(office.told) == 3)
    assert office.platform.log == list(texts("one", "two", "three"))
    assert office.told == [("s", "t", Sent(n, "sent")) for n in (1, 2, 3)]
    assert await office.outbox.counts() == {"sent": 3}


async def test_a_text_of_no_turn_in_pieces_that_fit(office: Office) -> None:
    office.platform.abilities = Abilities(max_text=10)
    pieces = office.delivery.pieces(HERE, "one two three", "k")
    assert pieces == (Outbound(HERE, "one two", "k"), Outbound(HERE, "three", "k:1"))
    assert office.delivery.pieces(Address("mail", "1"), "one two three", "k") == (
        Outbound(Address("mail", "1"), "one two three", "k"),
    )


async def test_a_sender_ends_when_nothing_waits(office: Office) -> None:
    for chat in range(50):
        await office.post(*texts("hi", address=Address("chat", str(chat))))
    await until(lambda: len(office.told) == 50)
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert not office.delivery._lanes
    assert not office.delivery._lines._locks


@dataclass(frozen=True)
class LateOutbox(Outbox):
    """Something is stored just after it was found empty."""

    late: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    async def next(self, address: Address) -> OutboxRow | None:
        found = await Outbox.next(self, address)
        if found is None and self.late:
            await self.late.pop()()
        return found


async def test_what_comes_in_the_moment_a_sender_ends_is_sent(office: Office) -> None:
    office.delivery.store = LateOutbox(office.database, [partial(office.post, *texts("two"))])
    await office.post(*texts("one"))
    await until(lambda: office.fates == [(1, "sent"), (2, "sent")])


async def test_what_was_refused_is_sent_again_before_anything_else_there(office: Office) -> None:
    office.platform.will(Refuses(), Refuses())
    await office.post(*texts("one", "two"))
    await office.time.let_pass(1.0)
    await office.post(*texts("other", address=THERE))
    await until(lambda: office.platform.texts == ["other"])
    await office.time.let_pass(2.0)
    await until(lambda: len(office.told) == 3)
    assert office.platform.texts == ["other", "one", "two"]
    assert office.fates == [(3, "sent"), (1, "sent"), (2, "sent")]
    (row,) = await office.outbox._rows("id=1")
    assert row.attempts == 3


async def test_the_platform_says_how_long_to_wait_at_least(office: Office) -> None:
    office.platform.will(Refuses(retry_after=90.0), Refuses(retry_after=0.5))
    await office.post(*texts("one"))
    await office.time.let_pass(90.0)
    await office.time.let_pass(2.0)
    await until(lambda: office.fates == [(1, "sent")])


async def test_it_is_given_up_after_so_many_times_and_the_next_goes_on(office: Office) -> None:
    office.platform.will(*[Refuses()] * ATTEMPTS)
    await office.post(*texts("one", "two"))
    for pause in [min(60.0, 2.0**n) for n in range(ATTEMPTS - 1)]:
        await office.time.let_pass(pause)
    await until(lambda: len(office.told) == 2)
    assert office.told[0] == ("s", "t", Sent(1, "failed", "given up: too many requests"))
    assert office.platform.texts == ["two"]


async def test_what_is_refused_for_good_fails_at_once(office: Office) -> None:
    office.platform.will(Refuses(retryable=False))
    await office.post(*texts("one", "two"))
    await until(lambda: len(office.told) == 2)
    assert office.told[0] == ("s", "t", Sent(1, "failed", "no such chat"))
    assert (office.platform.texts, office.platform.tries) == (["two"], 2)


async def test_an_error_that_says_nothing_leaves_it_unknown_and_is_never_resent(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.platform.will(Breaks())
    await office.post(*texts("one", "two"))
    await until(lambda: len(office.told) == 2)
    reason = "the channel broke (ConnectionResetError): it may have arrived"
    assert office.told[0] == ("s", "t", Sent(1, "unknown", reason))
    assert office.platform.texts == ["one", "two"]
    assert "SECRET" not in caplog.text
    assert "ConnectionResetError" in caplog.text


@pytest.mark.parametrize("delivers", [False, True])
async def test_a_channel_that_hangs_is_left_after_fifteen_seconds(office: Office, delivers: bool) -> None:
    office.platform.will(Hangs(delivers))
    await office.post(*texts("one", "two"))
    await office.time.let_pass(15.0)
    await until(lambda: len(office.told) == 2)
    assert office.told[0] == ("s", "t", Sent(1, "unknown", "no answer within 15 s: it may have arrived"))
    assert office.platform.texts == (["one", "two"] if delivers else ["two"])
    await until(lambda: len(asyncio.all_tasks()) == 1)


async def test_a_channel_that_cancels_itself_leaves_it_unknown(office: Office) -> None:
    office.platform.will(Breaks(asyncio.CancelledError()))
    await office.post(*texts("one"))
    await until(lambda: len(office.told) == 1)
    assert office.told == [("s", "t", Sent(1, "unknown", "sending was broken off: it may have arrived"))]


async def test_f111_for_a_channel_that_does_not_run_it_waits(office: Office) -> None:
    del office.channels["chat"]
    assert not office.delivery.running("chat")
    await office.post(*texts("one"))
    await office.delivery.start()
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert (office.platform.tries, await office.outbox.counts()) == (0, {"waiting": 1})

    office.channels["chat"] = office.platform
    assert office.delivery.running("chat")
    office.delivery.wake()
    office.delivery.wake()
    await until(lambda: office.fates == [(1, "sent")])


async def test_a_channel_that_stops_meanwhile_keeps_what_waits(office: Office) -> None:
    office.platform.after = lambda outbound: office.channels.clear()
    await office.post(*texts("one", "two"))
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert office.fates == [(1, "sent")]
    assert await office.outbox.counts() == {"sent": 1, "waiting": 1}


async def test_a_channel_that_stops_during_a_pause_keeps_what_waits(office: Office) -> None:
    (one,) = texts("one")
    await office.delivery.post("s", "t", (one,), {one.key: 3.0})
    await until(lambda: office.time.waits(3.0))
    office.channels.clear()
    await office.time.let_pass(3.0)
    await office.time.let_pass(1.0)
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert (office.told, await office.outbox.counts()) == ([], {"waiting": 1})


async def test_the_start_tells_what_is_unknown_and_sends_what_waits(office: Office) -> None:
    await office.outbox.add("s", "t", texts("one", "two"))
    await office.outbox.claim(1)
    await office.delivery.start()
    await until(lambda: len(office.told) == 2)
    assert office.fates == [(1, "unknown"), (2, "sent")]
    assert office.platform.texts == ["two"]


async def test_posts_that_were_stored_with_an_answer_are_found(office: Office) -> None:
    await office.outbox.add("s", "t", texts("one"))
    office.delivery.wake(HERE)
    await until(lambda: office.fates == [(1, "sent")])
    await office.outbox.add("s", "t", texts("two"))
    office.delivery.wake()
    await until(lambda: office.fates[1:] == [(2, "sent")])


async def test_a_message_of_a_deleted_session_is_not_sent(office: Office) -> None:
    one, two = texts("one", "two")
    await office.delivery.post("s", "t", (one, two), {one.key: 3.0})
    await until(lambda: office.time.waits(3.0))
    await office.database.run(lambda db: db.execute("DELETE FROM outbox WHERE id=1"))
    await office.time.let_pass(3.0)
    await until(lambda: office.fates == [(2, "sent")])
    assert office.platform.texts == ["two"]


async def test_a_full_disk_sends_nothing_twice_and_goes_on_later(office: Office) -> None:
    await office.outbox.add("s", "t", texts("one"))
    office.database.refuses = 2
    office.delivery.wake(HERE)
    await office.time.let_pass(1.0)
    assert office.platform.tries == 0
    await office.time.let_pass(2.0)
    await until(lambda: office.fates == [(1, "sent")])


async def test_what_cannot_be_recorded_is_unknown_and_not_resent(office: Office) -> None:
    def full(outbound: Outbound) -> None:
        office.database.refuses = 1

    office.platform.after = full
    await office.outbox.add("s", "t", texts("one"))
    office.delivery.wake(HERE)
    await until(lambda: len(office.told) == 1)
    assert office.told == [("s", "t", Sent(1, "unknown", "it may have arrived, which could not be stored"))]
    office.platform.after = lambda outbound: None
    office.delivery.wake()
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert office.platform.tries == 1
    assert [r.state for r in await office.outbox.recover()] == [OutboxState.UNKNOWN]


async def test_a_disk_that_cannot_be_read_at_all(office: Office, caplog: pytest.LogCaptureFixture) -> None:
    office.database.refuses = 1
    office.delivery.wake()
    await until(lambda: "cannot be read" in caplog.text)
    assert caplog.records[0].levelno == logging.ERROR


async def test_an_edit_that_cannot_be_made_is_sent_as_a_message_of_its_own(office: Office) -> None:
    await office.post(replace(texts("one")[0], edits="m9"))
    await until(lambda: office.fates == [(1, "sent")])
    assert office.platform.log == list(texts("one"))


async def test_an_edit_whose_outcome_nobody_knows_is_made_again(office: Office) -> None:
    office.platform.will(None)
    await office.post(*texts("one"))
    await until(lambda: office.fates == [(1, "sent")])
    shown = next(iter(office.platform.shown))
    office.platform.will(Breaks(), Breaks())
    await office.post(replace(texts("two")[0], edits=shown), *texts("three"))
    await office.time.let_pass(1.0)
    await office.time.let_pass(2.0)
    await until(lambda: office.fates == [(1, "sent"), (2, "sent"), (3, "sent")])
    assert office.platform.texts == ["two", "three"]


async def test_an_edit_of_which_nobody_ever_knows_is_unknown_in_the_end(office: Office) -> None:
    await office.post(*texts("one"))
    await until(lambda: office.fates == [(1, "sent")])
    shown = next(iter(office.platform.shown))
    office.platform.will(*[Breaks()] * EDITS)
    await office.post(replace(texts("two")[0], edits=shown))
    for pause in (1.0, 2.0, 4.0, 8.0):
        await office.time.let_pass(pause)
    await until(lambda: office.fates == [(1, "sent"), (2, "unknown")])


async def test_closing_lets_a_message_come_to_its_end_and_leaves_what_waits(office: Office) -> None:
    office.platform.will(None, Refuses())
    await office.post(*texts("one"))
    await office.post(*texts("two", address=THERE))
    await until(lambda: office.time.waits(1.0))
    await office.delivery.close(5.0)
    office.delivery.wake()
    office.delivery.wake(HERE)
    assert await office.outbox.counts() == {"sent": 1, "waiting": 1}
    assert len(asyncio.all_tasks()) == 1


async def test_closing_does_not_wait_for_ever(office: Office) -> None:
    office.platform.will(Hangs())
    await office.post(*texts("one", "two"))
    await until(lambda: office.platform.tries == 1)
    await office.delivery.close(0.01)
    assert await office.outbox.counts() == {"sending": 1, "waiting": 1}
    assert [r.id for r in await office.outbox.recover()] == [1]


async def test_closing_does_not_try_again(office: Office) -> None:
    office.platform.will(Refuses())
    await office.outbox.add("s", "t", texts("one"))
    office.delivery.wake(HERE)
    await office.delivery.close(5.0)
    assert (office.platform.tries, await office.outbox.counts()) == (1, {"waiting": 1})


events = st.lists(
    st.tuples(st.sampled_from("12"), st.sampled_from([None, Refuses(), Refuses(retryable=False), Breaks()])), max_size=8
)


@given(events)
def test_order_is_kept_and_nothing_is_delivered_twice(
    tmp_path_factory: pytest.TempPathFactory, messages: list[tuple[str, Breaks | Refuses | None]]
) -> None:
    async def run() -> None:
        office = Office(tmp_path_factory.mktemp("office"))
        office.platform.will(*[trouble for _, trouble in messages])
        for n, (chat, _) in enumerate(messages):
            await office.post(Outbound(Address("chat", chat), str(n), f"k{n}"))
        while len(office.told) < len(messages):
            if office.time.waits(1.0):
                await office.time.let_pass(1.0)
            elif any(office.time.waits(p) for p in (2.0, 4.0, 8.0, 16.0, 32.0, 60.0)):
                await office.time.let_pass(next(p for p in (2.0, 4.0, 8.0, 16.0, 32.0, 60.0) if office.time.waits(p)))
            await asyncio.sleep(0.0005)
        for chat in "12":
            numbers = [int(o.text) for o in office.platform.log if o.address.chat == chat]
            assert numbers == sorted(set(numbers))
        assert sorted(fate[0] for fate in office.fates) == list(range(1, len(messages) + 1))
        delivered = {o.key for o in office.platform.log}
        failed = {f"k{row - 1}" for row, state in office.fates if state == "failed"}
        assert delivered.isdisjoint(failed)
        assert delivered | failed == {f"k{n}" for n in range(len(messages))}
        await office.close()

    asyncio.run(run())
