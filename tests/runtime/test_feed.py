"""The feed: a late listener knows how things stand, a slow one loses the oldest by count, nobody holds up a turn."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Happening,
    MessageAdded,
    Missed,
    Signal,
    Standing,
    Stop,
    Taken,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from palmclaw.core.messages import Message, Role, Text, ToolCall, user_message
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Fate, Receipt
from palmclaw.runtime.feed import Feed

ASKED = ApprovalAsked("q1", ToolCall("c", "send"), Effect.SEND, Preview("Send"), "speaks for you")
ENDED = TurnEnded(Stop.DONE)


def made(remembered: int = 2_000, behind: int = 256) -> Feed:
    return Feed("e", remembered, behind)


class Reader:
    """Reads a subscription without waiting for anything new; a read that found nothing goes on the next time."""

    def __init__(self, signals: AsyncGenerator[Signal, None]) -> None:
        self.signals = signals
        self.open: asyncio.Future[Signal] | None = None

    async def first(self) -> Signal:
        return await anext(self.signals)

    async def ready(self) -> list[Signal]:
        found: list[Signal] = []
        while True:
            self.open = self.open or asyncio.ensure_future(anext(self.signals))
            for _ in range(3):
                await asyncio.sleep(0)
            if not self.open.done():
                return found
            read, self.open = self.open, None
            try:
                found.append(read.result())
            except StopAsyncIteration:
                return found

    async def aclose(self) -> None:
        if self.open is not None:
            self.open.cancel()
            await asyncio.gather(self.open, return_exceptions=True)
        await self.signals.aclose()


def reading(feed: Feed, session: str = "", since: str = "") -> "aclosing[Reader]":
    return aclosing(Reader(feed.subscribe(session, since)))


async def heard(feed: Feed, session: str = "", since: str = "") -> list[Signal]:
    async with reading(feed, session, since) as reader:
        return await reader.ready()


def told(feed: Feed, session: str, turn: str, *events: Happening) -> list[Signal]:
    return [feed.publish(session, turn, event) for event in events]


def standing(number: int, session: str = "s", turn: str = "", **more: object) -> Signal:
    state = Standing(turn, **more)  # type: ignore[arg-type]  # the test names the fields
    return Signal(f"e-{number}", session, turn, state)


async def test_the_first_signal_comes_at_once_also_when_nothing_has_ever_happened() -> None:
    assert await heard(made()) == [standing(0, "")]
    assert await heard(made(), "s") == [standing(0)]


async def test_a_listener_hears_what_comes_in_order_and_only_of_its_session() -> None:
    feed = made()
    async with aclosing(feed.subscribe("s")) as signals, aclosing(feed.subscribe()) as every:
        assert [await anext(signals), await anext(every)] == [standing(0), standing(0, "")]
        first = told(feed, "s", "t", TurnStarted(), TextDelta("a"))
        other = told(feed, "z", "u", TurnStarted())
        last = told(feed, "s", "t", ENDED)
        assert [await anext(signals) for _ in range(3)] == [*first, *last]
        assert [await anext(every) for _ in range(4)] == [*first, *other, *last]
    assert [s.id for s in (*first, *other, *last)] == ["e-1", "e-2", "e-3", "e-4"]


async def test_a_late_listener_learns_how_a_running_turn_stands_and_hears_its_last_signal() -> None:
    feed = made()
    waiting = [Receipt(n, "s", Fate.WAITING, n) for n in (1, 2, 3)]
    told(feed, "s", "", *(Taken(r) for r in waiting), Taken(Receipt(1, "s", Fate.STARTED)))
    told(feed, "s", "t", TurnStarted((1,)), MessageAdded(user_message("hi")), TextDelta("let me "), TextDelta("see"))
    told(feed, "s", "t", MessageAdded(Message(Role.ASSISTANT, (Text("let me see"),))), TextDelta("I "), ASKED)
    told(feed, "z", "u", TurnStarted(), ENDED)
    last = told(feed, "s", "t", TextDelta("think"))
    queue = (Receipt(2, "s", Fate.WAITING, 1), Receipt(3, "s", Fate.WAITING, 2))
    here = standing(13, turn="t", text="I ", asked=(ASKED,), waiting=queue)
    assert await heard(feed, "s") == [here, *last]
    assert await heard(feed) == [here, *last]
    assert await heard(feed, "s", "e-14") == [standing(14, turn="t", text="I think", asked=(ASKED,), waiting=queue)]


async def test_what_follows_is_not_told_in_the_standing_too() -> None:
    feed = made()
    told(feed, "s", "t", TurnStarted(), TextDelta("a"))
    later = told(feed, "s", "t", TextDelta("b"), ASKED, Taken(Receipt(7, "s", Fate.WAITING, 1)))
    assert await heard(feed, "s", "e-2") == [standing(2, turn="t", text="a"), *later]
    whole = told(feed, "s", "t", MessageAdded(user_message("x")), TextDelta("c"))
    assert await heard(feed, "s", "e-2") == [standing(2, turn="t"), *later, *whole]
    everything = await heard(feed, "s", "e-0")
    assert everything[0] == standing(0)
    assert [s.id for s in everything[1:]] == [f"e-{n}" for n in range(1, 8)]


async def test_a_session_at_rest_is_told_with_its_last_signal() -> None:
    feed = made()
    told(feed, "s", "t", TurnStarted(), ASKED, ApprovalAnswered("q1", "c", Answer.ONCE))
    last = told(feed, "s", "t", ENDED)
    told(feed, "z", "u", TurnStarted())
    assert await heard(feed, "s") == [standing(3), *last]


async def test_the_late_end_of_an_earlier_turn_changes_nothing() -> None:
    feed = made()
    told(feed, "s", "t1", TurnStarted())
    told(feed, "s", "t2", TurnStarted(), TextDelta("new"))
    told(feed, "s", "t1", TextDelta("old"), ENDED)
    assert (await heard(feed, "s"))[0] == standing(4, turn="t2", text="new")


async def test_what_a_sub_agent_has_asked_is_told_to_the_late_one_until_it_is_answered() -> None:
    feed = made()
    below = replace(ASKED, id="q2")
    told(feed, "s", "sub", below)
    told(feed, "s", "t", TurnStarted(), ASKED)
    assert feed.asked("s", "sub") == (below,)
    last = told(feed, "s", "t", ENDED)
    assert await heard(feed, "s") == [standing(3, asked=(below,)), *last]
    last = told(feed, "s", "t", TextDelta("late"))
    assert await heard(feed, "s") == [standing(4, asked=(below,)), *last]
    told(feed, "s", "sub", ApprovalAnswered("q2", "c", Answer.UNASKED))
    assert (await heard(feed, "s", "e-6"), feed.asked("s", "sub")) == ([standing(6)], ())


async def test_of_another_process_or_forgotten_is_said_and_all_that_is_remembered_follows() -> None:
    feed = made(remembered=3)
    for number in range(5):
        told(feed, "s" if number % 2 else "z", "", TextDelta(str(number)))
    kept = [Signal(f"e-{n + 1}", "s" if n % 2 else "z", "", TextDelta(str(n))) for n in (2, 3, 4)]

    def gap(session: str, count: int) -> list[Signal]:
        return [standing(2, session), Signal("e-2", session, "", Missed(count))]

    assert await heard(feed, since="e-1") == [*gap("", 1), *kept]
    assert await heard(feed, since="e-2") == [standing(2, ""), *kept]
    assert await heard(feed, "s", "e-1") == [*gap("s", 0), kept[1]]
    for strange in ("d-4", "e-6", "e-x", "e--1", "4", "e-" + "9" * 5_000, "e-²", "\n"):
        assert await heard(feed, since=strange) == [*gap("", 0), *kept]


async def test_a_slow_listener_loses_the_oldest_and_is_told_how_many() -> None:
    feed = made(behind=3)
    async with reading(feed) as slow, reading(feed) as quick:
        await slow.first()
        await quick.first()
        sent = []
        for number in range(10):
            sent += told(feed, "s", "", TextDelta(str(number)))
            assert await quick.ready() == sent[-1:]
        assert await slow.ready() == [Signal("e-7", "", "", Missed(7)), *sent[7:]]
        more = told(feed, "s", "", TextDelta("x"))
        assert await slow.ready() == more


async def test_a_replay_is_not_cut_by_being_longer_than_a_listener_may_be_behind() -> None:
    feed = made(behind=3)
    sent = told(feed, "s", "", *(TextDelta(str(n)) for n in range(10)))
    async with reading(feed, since="e-0") as reader:
        await reader.first()
        new = told(feed, "s", "", *(TextDelta(f"new {n}") for n in range(5)))
        assert await reader.ready() == [*sent, Signal("e-12", "", "", Missed(2)), *new[2:]]


async def test_closing_leaves_nothing_behind_however_the_reader_ends() -> None:
    feed = made()
    signals = feed.subscribe("s")
    await anext(signals)
    await signals.aclose()
    assert feed._listeners == {}

    async def read() -> None:
        async for _ in feed.subscribe("s"):
            pass

    async def leave(found: AsyncIterator[Signal]) -> None:
        async for _ in found:
            return

    reader = asyncio.create_task(read())
    await asyncio.sleep(0)
    assert set(feed._listeners) == {"s"}
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)
    await leave(feed.subscribe("s"))
    await asyncio.sleep(0.01)  # the loop closes what nobody holds any more
    assert feed._listeners == {}


async def test_after_the_end_everything_unread_is_read_and_then_it_is_over() -> None:
    feed = made()
    async with aclosing(feed.subscribe()) as early, reading(feed) as waiting:
        await anext(early)
        assert await waiting.ready() == [standing(0, "")]
        sent = told(feed, "s", "", TextDelta("last"))
        feed.close()
        assert [s async for s in early] == sent
        assert await waiting.ready() == sent
    assert [s async for s in feed.subscribe()] == [standing(0, ""), *sent]


async def test_f058_ten_thousand_sessions_at_rest_cost_nothing() -> None:
    feed = made(remembered=50)
    for number in range(10_000):
        name = f"s{number}"
        told(feed, name, "", Taken(Receipt(number, name, Fate.WAITING, 1)), Taken(Receipt(number, name, Fate.STARTED)))
        told(feed, name, f"t{number}", TurnStarted(), TextDelta("x"), ASKED, ENDED)
        async with aclosing(feed.subscribe(name)) as signals:
            await anext(signals)
    assert (feed._open, feed._listeners, len(feed._signals)) == ({}, {}, 50)


async def test_whether_anybody_hears_a_session_is_known() -> None:
    feed = made()
    assert not feed.is_heard("s")
    async with reading(feed, "s") as reader:
        assert not feed.is_heard("s")
        await reader.first()
        assert (feed.is_heard("s"), feed.is_heard("z")) == (True, False)
    async with reading(feed) as reader:
        await reader.first()
        assert (feed.is_heard("s"), feed.is_heard("z")) == (True, True)
    assert not feed.is_heard("s")


def test_the_epoch_is_new_in_each_process() -> None:
    assert len({Feed().epoch for _ in range(50)}) == 50


Step = tuple[str, int, str]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["tell", "tell", "tell", "read", "subscribe", "resume", "leave"]),
        st.integers(0, 7),
        st.sampled_from(["a", "b", ""]),
    ),
    min_size=10,
    max_size=80,
)


class Listening:
    """A subscriber of the test, with what it has read so far and what it must read next."""

    def __init__(self, feed: Feed, session: str, since: str) -> None:
        self.session = session
        self.remembered = feed.remembered
        self.reader = Reader(feed.subscribe(session, since))
        self.place = since
        self.next: int | None = int(since[2:]) if since else None

    def check(self, signal: Signal, everything: list[Signal]) -> None:
        """Every signal is the next one of its session, or the gap before it says exactly how many are gone."""
        mine = [int(s.id[2:]) for s in everything if self.session in ("", s.session)]
        at = int(signal.id[2:])
        self.place = signal.id
        if self.next is None:
            assert isinstance(signal.event, Standing)
            remembered = [n for n in mine[-1:] if n > len(everything) - self.remembered]
            assert remembered == [n for n in mine if n > at]
            self.next = at
        between = [n for n in mine if self.next < n <= at]
        if isinstance(signal.event, Standing):
            return
        if isinstance(signal.event, Missed):
            assert signal.event.count == len(between) > 0 or (self.session and signal.event.count == 0)
        else:
            assert between == [at]
            assert everything[at - 1] == signal
        self.next = at


@given(STEPS, st.integers(1, 6), st.sampled_from([1, 2, 3, 5, 40]))
def test_whatever_happens_each_listener_hears_a_whole_suffix_with_counted_gaps(
    steps: list[Step], behind: int, remembered: int
) -> None:
    async def run() -> None:
        feed, everything = made(remembered, behind), list[Signal]()
        listeners: list[Listening] = []
        for act, number, session in steps:
            if act == "tell":
                everything.append(feed.publish(session or "c", "t", TextDelta(str(len(everything)))))
            elif act == "subscribe" or not listeners:
                listeners.append(Listening(feed, session, ""))
                listeners[-1].check(await listeners[-1].reader.first(), everything)
            else:
                await meet(feed, listeners, listeners[number % len(listeners)], act, everything)
        for listener in listeners:
            for signal in await listener.reader.ready():
                listener.check(signal, everything)
            mine = [s.id for s in everything if listener.session in ("", s.session)]
            assert not mine or int(listener.place[2:]) >= int(mine[-1][2:])
            await listener.reader.aclose()
        assert feed._listeners == {}

    asyncio.run(run())


async def meet(feed: Feed, listeners: list[Listening], one: Listening, act: str, everything: list[Signal]) -> None:
    if act == "read":
        for signal in await one.reader.ready():
            one.check(signal, everything)
        return
    await one.reader.aclose()
    listeners.remove(one)
    if act == "resume":
        listeners.append(Listening(feed, one.session, one.place))
        listeners[-1].check(await listeners[-1].reader.first(), everything)
