"""Many model services as one: waiting, going on, moving on, counting."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.agent.asking import Asking
from palmclaw.agent.interrupt import Interrupt, Interrupted
from palmclaw.core.errors import (
    AuthFailed,
    BadCall,
    BadCertificate,
    BadReply,
    BadRequest,
    BudgetReached,
    ConfigError,
    ContentFiltered,
    ContextOverflow,
    Fault,
    ModelNotFound,
    NobodyThere,
    NoEndpoint,
    NoNetwork,
    Overloaded,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
    Unreachable,
)
from palmclaw.core.events import ModelChanged, ReasoningDelta, Retrying, TextDelta
from palmclaw.core.messages import Media, Message, Reasoning, Role, Text, Usage, user_message
from palmclaw.core.ports import Delta, Reply, Request, Spent
from palmclaw.core.wire import DOCUMENTS, IMAGES
from palmclaw.providers.scripted import Scene, Scripted, Step, call
from palmclaw.runtime.budget import ROOM, Budget, BudgetSettings, Prices, estimated, weighed
from palmclaw.runtime.models import CONTINUE, SMALLER, Choice, Models
from palmclaw.runtime.patience import Patience, is_for_others, rest

HI = Request("", "Be brief.", (user_message("hi"),), session="s", turn="t")
ONE = Usage(10, 5, requests=1)


@dataclass
class Book:
    """Keeps what was spent."""

    spent: list[Spent] = field(default_factory=list)
    before: tuple[int, float] = (0, 0.0)

    async def add(self, spent: Spent) -> None:
        self.spent.append(spent)

    async def today(self) -> tuple[int, float]:
        tokens = sum(s.usage.input + s.usage.output for s in self.spent)
        return self.before[0] + tokens, self.before[1] + sum(s.usd or 0.0 for s in self.spent)


@dataclass
class Desk:
    """Scripted services by name, a clock that only sleeping moves, and a ledger."""

    services: dict[str, Scripted]
    priced: dict[str, Prices] = field(default_factory=dict)
    book: Book = field(default_factory=Book)
    slept: list[float] = field(default_factory=list)
    time: float = 0.0
    sees: dict[str, frozenset[str]] = field(default_factory=dict)

    def models(self, *fallbacks: str, budget: BudgetSettings = BudgetSettings(), retries: int = 4) -> Models:
        patience = Patience(retries, 60.0, chance=lambda: 0.5)
        wallet = Budget(budget, self.book)
        return Models(self, self.book, wallet, fallbacks, patience, self.sleep, lambda: self.time)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def chosen(self, reference: str) -> Choice:
        service, _, model = (reference or next(iter(self.services))).partition("/")
        return Choice(service, model or "m")

    def provider(self, service: str) -> Scripted:
        if service not in self.services:
            raise ConfigError("provider.name", f"there is no service named {service!r}")
        return self.services[service]

    def takes(self, choice: Choice) -> frozenset[str]:
        return self.sees.get(choice.service, IMAGES)

    def window(self, choice: Choice) -> int:
        return 0

    def prices(self, choice: Choice) -> Prices | None:
        return self.priced.get(choice.service)

    def usd(self, choice: Choice, usage: Usage) -> float | None:
        found = self.priced.get(choice.service)
        return (usage.input * found.input + usage.output * found.output) / 1e6 if found else None


def desk(*steps: Scene, **others: Sequence[Scene]) -> Desk:
    return Desk({"one": Scripted(steps), **{name: Scripted(scenes) for name, scenes in others.items()}})


async def said(models: Models, request: Request = HI) -> list[Delta]:
    return [delta async for delta in models.stream(request)]


async def gathered(models: Models, seen: list[Delta]) -> None:
    async for delta in models.stream(HI):
        seen.append(delta)


def texts(deltas: list[Delta]) -> str:
    return "".join(d.text for d in deltas if isinstance(d, TextDelta))


def notes(deltas: list[Delta]) -> list[Delta]:
    return [d for d in deltas if isinstance(d, Retrying | ModelChanged)]


def reply_of(deltas: list[Delta]) -> Reply:
    found = [d for d in deltas if isinstance(d, Reply)]
    assert found == [deltas[-1]]
    return found[0]


async def test_an_answer_passes_through_and_is_written_down() -> None:
    here = desk("Hello")
    deltas = await said(here.models(), replace(HI, choice="one/big"))
    assert texts(deltas) == "Hello"
    assert reply_of(deltas) == Reply(replace(reply_of(deltas).message, parts=(Text("Hello"),)), ONE)
    assert here.services["one"].requests == [replace(HI, choice="one/big", model="big")]
    assert here.book.spent == [Spent("one", "big", ONE, None, "s", "t", "turn")]


@pytest.mark.parametrize("error", ["rate_limited", "unavailable", "overloaded", "unreachable", "no_network", "cut"])
async def test_a_hiccup_is_ridden_out(error: str) -> None:
    here = desk(Step(error=error), Step(error=error), "Hello")  # type: ignore[arg-type]  # each is a word of Step
    deltas = await said(here.models())
    assert texts(deltas) == "Hello"
    assert here.slept == [1.0, 2.0]
    assert [(type(n), n.seconds) for n in notes(deltas) if isinstance(n, Retrying)] == [
        (Retrying, 1.0),
        (Retrying, 2.0),
    ]
    assert reply_of(deltas).usage.requests == (3 if error == "cut" else 1)  # what had begun is counted


@pytest.mark.parametrize(
    "error",
    [AuthFailed("x"), QuotaExceeded("x"), ContextOverflow("x"), ContentFiltered("x"), BadRequest("x"), BadReply("x"),
     ModelNotFound("x"), NobodyThere("x"), BudgetReached("x")],
    ids=lambda e: e.code,
)  # fmt: skip
async def test_what_waiting_does_not_mend_is_not_waited_for(error: ProviderError) -> None:
    here = desk(error, "never")
    with pytest.raises(type(error)):
        await said(here.models())
    assert (here.slept, here.book.spent) == ([], [])


async def test_tries_end() -> None:
    here = desk(*[Step(error="unavailable")] * 9)
    with pytest.raises(Unavailable):
        await said(here.models())
    assert here.slept == [1.0, 2.0, 4.0, 8.0]
    assert len(here.services["one"].requests) == 5


async def test_what_the_service_asks_for_is_the_least_wait() -> None:
    here = desk(RateLimited("slow", retry_after=17.5), "Hello")
    await said(here.models())
    assert here.slept == [17.5]


async def test_a_wait_that_is_too_long_is_not_begun() -> None:
    here = desk(RateLimited("slow", retry_after=300.0), "never")
    with pytest.raises(RateLimited):
        await said(here.models())
    assert here.slept == []


def test_pauses_grow_with_chance_up_to_a_bound() -> None:
    error = Unavailable("x")
    assert [Patience(9, 600, lambda: 0.0).pause(error, n, 0) for n in (1, 2, 3, 6, 9)] == [0.75, 1.5, 3.0, 24.0, 30.0]
    assert [Patience(9, 600, lambda: 1.0).pause(error, n, 0) for n in (1, 2, 3, 6, 9)] == [1.25, 2.5, 5.0, 30.0, 30.0]
    assert Patience(9, 600).pause(error, 10, 0) is None
    assert Patience(9, 10, lambda: 0.5).pause(error, 1, 9.5) is None
    assert Patience(0).pause(error, 1, 0) is None


@given(st.floats(0, 1), st.integers(1, 20), st.floats(0, 500), st.none() | st.floats(0, 100))
def test_a_pause_never_leaves_its_window_nor_undercuts_the_service(
    chance: float, failures: int, passed: float, asked: float | None
) -> None:
    pause = Patience(10, 60.0, lambda: chance).pause(RateLimited("x", retry_after=asked), failures, passed)
    assert pause is None or (pause >= (asked or 0.0) and passed + pause <= 60.0)


async def test_a_stream_that_breaks_is_continued_and_nothing_is_said_twice() -> None:
    here = desk(Step("Once upon a", error="cut"), Step(" time.", reasoning="hm"))
    deltas = await said(here.models())
    assert texts(deltas) == "Once upon a time."
    assert reply_of(deltas).message.parts == (Reasoning("hm"), Text("Once upon a time."))
    first, second = here.services["one"].requests
    assert second.messages[:1] == first.messages
    assert [(m.role, m.text) for m in second.messages[1:]] == [
        (Role.ASSISTANT, "Once upon a"),
        (Role.USER, CONTINUE),
    ]
    cut, whole = (s.usage for s in here.book.spent)
    assert (cut.estimated, cut.input, cut.output, whole) == (True, estimated(first), 3, ONE)
    assert reply_of(deltas).usage == cut + whole


async def test_a_call_after_the_break_comes_too() -> None:
    here = desk(Step("Let me ", error="cut"), ("look.", call("look")))
    parts = reply_of(await said(here.models())).message.parts
    assert [type(p).__name__ for p in parts] == ["Text", "ToolCall"]
    assert parts[0] == Text("Let me look.")


async def test_after_the_first_words_nothing_is_asked_again_from_the_beginning() -> None:
    here = desk(*[Step(text, error="cut") for text in ("a", "b", "c", "d")])
    seen: list[Delta] = []
    with pytest.raises(StreamCut):
        await gathered(here.models(), seen)
    assert texts(seen) == "abc"
    assert [m.text for m in here.services["one"].requests[-1].messages] == ["hi", "ab", CONTINUE]


async def test_thoughts_alone_do_not_count_as_said() -> None:
    here = desk(Step(reasoning="hm", error="cut"), "Hello")
    deltas = await said(here.models())
    assert [d.text for d in deltas if isinstance(d, ReasoningDelta)] == ["hm"]
    assert reply_of(deltas).message.parts == (Text("Hello"),)
    assert here.services["one"].requests[1].messages == HI.messages


async def test_a_call_that_its_service_could_not_read_is_asked_for_again_smaller() -> None:
    here = desk(Step(error="bad_call"), call("look"))  # F017
    deltas = await said(here.models())
    assert reply_of(deltas).message.calls[0].name == "look"
    assert [m.text for m in here.services["one"].requests[1].messages] == ["hi", SMALLER]
    bounded = desk(*[Step(error="bad_call")] * 5)
    with pytest.raises(BadCall):
        await said(bounded.models())
    assert len(bounded.services["one"].requests) == 3


# the next in the list


async def test_a_dead_service_is_replaced_by_the_next_and_that_is_said() -> None:
    here = desk(Step(error="auth"), two=[Step(error="quota")], three=["Hello"])
    deltas = await said(here.models("two", "three/x"))
    assert texts(deltas) == "Hello"
    assert [(n.model, n.instead_of, n.fault.code) for n in notes(deltas) if isinstance(n, ModelChanged)] == [
        ("two/m", "one/m", "auth"),
        ("three/x", "two/m", "quota"),
    ]
    assert reply_of(deltas).message.model == "x"


async def test_the_next_is_asked_only_after_the_tries() -> None:
    here = desk(*[Step(error="unavailable")] * 3, two=["Hello"])
    deltas = await said(here.models("two", retries=2))
    assert [type(n).__name__ for n in notes(deltas)] == ["Retrying", "Retrying", "ModelChanged"]


@pytest.mark.parametrize("error", [BadRequest("x"), ContextOverflow("x"), ContentFiltered("x")], ids=lambda e: e.code)
async def test_a_refused_request_is_not_carried_to_others(error: ProviderError) -> None:
    here = desk(error, two=["never"])
    with pytest.raises(type(error)):
        await said(here.models("two"))
    assert here.services["two"].requests == []


async def test_a_broken_answer_goes_on_with_the_next_model() -> None:
    here = desk(Step("Once ", error="cut"), Step(error="auth"), two=["upon a time."])
    deltas = await said(here.models("two"))
    assert reply_of(deltas).message.parts == (Text("Once upon a time."),)


async def test_the_offline_assistant_begins_anew() -> None:
    here = desk(Step("The torch is", error="cut"), Step(error="auth"))
    here.services["offline"] = Scripted(["Done."], local=True)
    deltas = await said(here.models("offline"))
    assert texts(deltas) == "The torch is\n\nDone."
    assert reply_of(deltas).message.parts == (Text("The torch is\n\nDone."),)
    assert here.services["offline"].requests[0].messages == HI.messages


async def test_a_stand_in_is_not_told_of_anothers_bad_call() -> None:
    here = desk(*[Step(error="bad_call")] * 3, two=["fine"])
    await said(here.models("two"))
    assert here.services["two"].requests[0].messages == HI.messages


async def test_a_failing_service_rests_for_a_while() -> None:
    here = desk(Step(error="unavailable"), "back again", two=["first", "second"])
    models = here.models("two", retries=0)
    await said(models)
    deltas = await said(models, replace(HI, turn="t2"))
    assert texts(deltas) == "second"
    assert [n.instead_of for n in notes(deltas) if isinstance(n, ModelChanged)] == ["one/m"]
    assert len(here.services["one"].requests) == 1
    here.time += 61
    assert texts(await said(models)) == "back again"
    assert models.resting(Choice("one", "m")) is None


async def test_within_a_turn_it_is_said_once() -> None:
    here = desk(Step(error="auth"), two=["a", "b", "c"])
    models = here.models("two")
    counts = [len(notes(await said(models, replace(HI, turn=turn)))) for turn in ("t1", "t1", "t2")]
    assert counts == [1, 0, 1]


async def test_alone_a_failing_service_is_asked_each_time() -> None:
    here = desk(Step(error="unavailable"), "back again")
    models = here.models(retries=0)
    with pytest.raises(Unavailable):
        await said(models)
    assert texts(await said(models)) == "back again"


async def test_when_all_rest_the_first_is_asked() -> None:
    here = desk(Step(error="unavailable"), "back", two=[Step(error="unavailable")])
    models = here.models("two", retries=0)
    with pytest.raises(Unavailable):
        await said(models)
    models.failed(Choice("two", "m"), Unavailable("x"))
    assert texts(await said(models)) == "back"


def test_how_long_a_failing_service_rests() -> None:
    assert [rest(Unavailable("x"), n) for n in (1, 2, 3, 9)] == [60.0, 120.0, 240.0, 900.0]
    assert [rest(e, 1) for e in (AuthFailed("x"), QuotaExceeded("x"), ModelNotFound("x"))] == [600.0] * 3
    assert rest(RateLimited("x", retry_after=300.0), 1) == 300.0
    assert rest(ConfigError("provider.api_key", "needs a key"), 1) == 60.0


async def test_a_stand_in_that_is_not_set_up_is_passed_over() -> None:
    here = desk(Step(error="auth"), two=["Hello"])
    assert texts(await said(here.models("nowhere", "two"))) == "Hello"
    alone = desk(Step(error="auth"))
    with pytest.raises(AuthFailed):
        await said(alone.models("nowhere"))


async def test_a_service_that_is_not_there_at_all() -> None:
    with pytest.raises(ConfigError):
        await said(desk("x").models(), replace(HI, choice="nowhere"))


def test_the_chain_names_each_model_once() -> None:
    models = desk("x").models("two", "one", "two/m", "offline")
    assert [str(c) for c in models.chain("two")] == ["two/m", "one/m", "offline/m"]


@pytest.mark.parametrize(
    ("error", "others"),
    [(StreamCut("x"), True), (Overloaded("x"), True), (NoNetwork("x"), True), (Unreachable("x"), True),
     (BadReply("x"), True), (ModelNotFound("x"), True), (BudgetReached("x"), True), (BadRequest("x"), False),
     (ContextOverflow("x"), False), (ContentFiltered("x"), False), (BadCertificate("x"), True), (NoEndpoint("x"), True),
     (ProviderError("x"), True), (ConfigError("", "x"), True), (ValueError(), False)],
)  # fmt: skip
def test_for_others(error: Exception, others: bool) -> None:
    assert is_for_others(error) is others


async def test_each_turn_may_ask_another_model() -> None:
    here = desk("a", two=["b"])
    models = here.models()
    assert texts(await said(models, replace(HI, choice="two/big"))) == "b"
    assert texts(await said(models)) == "a"
    assert [(s.service, s.model) for s in here.book.spent] == [("two", "big"), ("one", "m")]


async def test_closing_closes_what_was_opened() -> None:
    here = desk("a", two=["b"])
    models = here.models()
    await said(models)
    await models.close()
    assert (here.services["one"].closed, here.services["two"].closed) == (1, 0)


async def test_what_a_request_cost_that_failed_after_it_had_begun() -> None:
    """Words or none: who had begun to work may be paid."""
    silent, counted = StreamCut("x"), ContentFiltered("x")
    silent.began = counted.began = True
    counted.usage = Usage(77, 3)
    here = desk(silent, counted)
    with pytest.raises(ContentFiltered) as caught:
        await said(here.models())
    first, second = (s.usage for s in here.book.spent)
    assert (first.estimated, first.input, first.output) == (True, estimated(HI), 0)
    assert second == Usage(77, 3, requests=1)
    assert caught.value.usage == first + second


async def test_an_answer_that_nobody_counted_is_weighed() -> None:
    def uncounted(request: Request) -> Step:
        return Step("Hello", calls=(call("look", at="the battery"),))

    here = desk(uncounted)
    here.services["one"].usage = Usage(requests=1, estimated=True)
    deltas = await said(here.models())
    assert reply_of(deltas).usage == here.book.spent[0].usage
    assert here.book.spent[0].usage.input == estimated(HI)
    assert 5 < here.book.spent[0].usage.output < 30


# attachments


PICTURE = replace(HI, media={"p": b"png"}, messages=(Message(Role.USER, (Media("p", "image/png", "p.png"),)),))


async def test_a_model_that_refuses_pictures_gets_a_note_and_is_remembered() -> None:
    here = desk(Step(error="bad_request"), "a cat", "still a cat")
    models = here.models()
    assert models.takes("") == IMAGES
    deltas = await said(models, PICTURE)
    assert [n.fault.code for n in notes(deltas) if isinstance(n, Retrying)] == ["no_attachments"]
    await said(models, PICTURE)
    assert [r.media for r in here.services["one"].requests] == [{"p": b"png"}, {}, {}]
    assert models.takes("") == frozenset()


async def test_a_model_that_refuses_for_another_reason_is_not_thought_blind() -> None:
    here = desk(Step(error="bad_request"), Step(error="bad_request"), "a cat")
    models = here.models()
    with pytest.raises(BadRequest):
        await said(models, PICTURE)
    await said(models, PICTURE)
    assert [bool(r.media) for r in here.services["one"].requests] == [True, False, True]


async def test_a_stand_in_gets_the_attachments_that_it_takes() -> None:
    paper = Media("d", "application/pdf", "a.pdf")
    message = Message(Role.USER, (Media("p", "image/png", "p.png"), paper))
    request = replace(HI, media={"p": b"png", "d": b"pdf"}, messages=(message,))
    here = desk(Step(error="auth"), two=["seen"])
    here.sees = {"one": DOCUMENTS, "two": IMAGES}
    models = here.models("two")
    assert models.takes("") == DOCUMENTS | IMAGES
    await said(models, request)
    assert [r.media for s in ("one", "two") for r in here.services[s].requests] == [{"d": b"pdf"}, {"p": b"png"}]


@pytest.mark.parametrize("error", ["bad_request", "model_not_found"])
async def test_other_refusals_are_not_blamed_on_pictures(error: str) -> None:
    here = desk(Step(error=error), Step(error=error), "never")  # type: ignore[arg-type]  # both are words of Step
    request = PICTURE if error == "model_not_found" else HI
    with pytest.raises(BadRequest):
        await said(here.models(), request)
    assert len(here.services["one"].requests) == 1


# what it costs


async def test_an_interrupted_request_is_counted_as_far_as_it_came() -> None:
    here = desk("Once upon a time there was a palm")
    stream = here.models().stream(HI)
    assert await anext(stream) == TextDelta("Once upon a ")
    await stream.aclose()
    (spent,) = here.book.spent
    assert spent.usage == Usage(estimated(HI), 3, requests=1, estimated=True)


async def test_a_model_of_ones_own_costs_nothing() -> None:
    here = Desk({"one": Scripted(["Hello"], local=True)}, priced={"one": Prices(1.0, 1.0)})
    models = here.models(budget=BudgetSettings(tokens=1))
    assert models.local
    assert reply_of(await said(models)).usage == ONE
    assert here.book.spent == []


async def test_the_price_is_written_down() -> None:
    here = desk("Hello")
    here.priced["one"] = Prices(2.0, 4.0)
    await said(here.models())
    assert here.book.spent[0].usd == pytest.approx((10 * 2 + 5 * 4) / 1e6)


async def test_a_budget_in_tokens_stops_before_it_is_exceeded() -> None:
    here = desk(*["Hello"] * 9)
    needed = estimated(HI)
    models = here.models(budget=BudgetSettings(tokens=needed + 300))
    await said(models)
    assert here.services["one"].requests[0].max_output == 300
    await said(models)
    await said(models)
    assert [r.max_output for r in here.services["one"].requests] == [300, 285, 270]
    with pytest.raises(BudgetReached, match="reached: 45 are used") as caught:
        await said(models)
    assert caught.value.fault.code == "budget"
    assert len(here.services["one"].requests) == 3


async def test_a_budget_in_dollars() -> None:
    here = desk(*["Hello"] * 2)
    here.priced["one"] = Prices(1.0, 10.0)
    needed = estimated(HI)
    models = here.models(budget=BudgetSettings(usd=(needed + 10 * 300) / 1e6))
    await said(models)
    assert here.services["one"].requests[0].max_output == pytest.approx(300, abs=1)
    here.book.before = (0, 0.001)
    with pytest.raises(BudgetReached, match="budget of"):
        await said(models)


async def test_an_answer_that_costs_nothing_is_bounded_by_the_price_of_the_question() -> None:
    here = desk("Hello", "never")
    here.priced["one"] = Prices(1.0, 0.0)
    models = here.models(budget=BudgetSettings(usd=0.001))
    await said(models)
    here.book.before = (0, 0.001)
    with pytest.raises(BudgetReached):
        await said(models)


async def test_a_price_of_next_to_nothing() -> None:
    here = desk("Hello")
    here.priced["one"] = Prices(1e-320, 1e-320)
    await said(here.models(budget=BudgetSettings(usd=1.0)))
    assert here.services["one"].requests[0].max_output == ROOM


async def test_a_budget_in_dollars_needs_a_price() -> None:
    with pytest.raises(ConfigError, match="no price is known for one/m") as caught:
        await said(desk("never").models(budget=BudgetSettings(usd=1.0)))
    assert "prices.input" in caught.value.hint


async def test_while_a_budget_is_set_no_answer_is_longer_than_what_is_reserved() -> None:
    here = desk("Hello", "Hello", "Hello")
    models = here.models(budget=BudgetSettings(tokens=100_000))
    await said(models)
    await said(models)
    await said(models, replace(HI, max_output=50))
    assert [r.max_output for r in here.services["one"].requests] == [ROOM, ROOM, 50]


async def test_two_turns_at_once_have_room_beside_each_other() -> None:
    here = desk("Hello there you", "Hello")
    models = here.models(budget=BudgetSettings(tokens=100_000))
    stream = models.stream(HI)
    await anext(stream)
    assert texts(await said(models)) == "Hello"
    await stream.aclose()


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("0f3a9c" * 500, 3_000),  # counted with o200k_base
        ("22.3813,114.188\n" * 200, 1_800),
        ("The torch is on, and Mei Lin's number is +852 6001 0001. " * 40, 801),
        ("请把会议改到明天下午三点，然后告诉美琳。" * 40, 600),
        ("👩‍👩‍👧‍👦" * 50, 550),
        ('{"battery":{"percent":62,"charging":false}}' * 40, 440),
    ],
)
def test_a_question_is_weighed_rather_too_heavy(text: str, real: int) -> None:
    assert real * 0.85 <= weighed(text) <= real * 2


def test_what_goes_back_unseen_is_weighed_too() -> None:
    thought = replace(HI, messages=(Message(Role.ASSISTANT, (Reasoning("hm", "x" * 6_000), Text("so"))),))
    assert estimated(thought) > 2_000
    pages = b"%PDF-1.7" + b"/Type /Page\n" * 30 + b"/Type /Pages"
    paper = replace(HI, messages=(Message(Role.USER, (Media("d", "application/pdf"),)),), media={"d": pages})
    assert estimated(paper) > 90_000
    assert estimated(replace(paper, media={})) < 1_000


async def test_both_budgets_hold_and_the_smaller_room_counts() -> None:
    here = desk("Hello")
    here.priced["one"] = Prices(1.0, 1.0)
    needed = estimated(HI)
    await said(here.models(budget=BudgetSettings(tokens=needed + 400, usd=1.0)), replace(HI, max_output=350))
    assert here.services["one"].requests[0].max_output == 350


async def test_requests_under_way_count_as_spent() -> None:
    here = desk("Hello there you", "never")
    needed = estimated(HI)
    models = here.models(budget=BudgetSettings(tokens=2 * needed + 400))
    stream = models.stream(HI)
    await anext(stream)
    with pytest.raises(BudgetReached):
        await said(models)
    await stream.aclose()


async def test_when_the_budget_is_spent_the_offline_assistant_can_take_over() -> None:
    here = desk("never")
    here.services["offline"] = Scripted(["Hello"], local=True)
    here.book.before = (10_000, 0.0)
    deltas = await said(here.models("offline", budget=BudgetSettings(tokens=10_000)))
    assert texts(deltas) == "Hello"
    assert [n.fault.code for n in notes(deltas) if isinstance(n, ModelChanged)] == ["budget"]


@given(st.text(max_size=400), st.integers(0, 3))
def test_the_estimate_grows_with_the_request(text: str, copies: int) -> None:
    small = replace(HI, messages=(user_message(text),))
    large = replace(small, messages=small.messages * (copies + 1))
    assert estimated(large) >= estimated(small)


async def test_an_interrupt_ends_a_wait_at_once() -> None:
    here = desk(RateLimited("slow", retry_after=30.0), "never")
    models = replace(here.models(), sleep=asyncio.sleep, now=time.monotonic)
    interrupt = Interrupt()
    asking = Asking(models, HI)
    began = time.monotonic()
    seen: list[object] = []
    with pytest.raises(Interrupted):
        await listened(asking, interrupt, seen)
    assert seen == [Retrying("one/m", 30.0, Fault("rate_limited", "slow", retryable=True))]
    assert time.monotonic() - began < 5
    assert here.book.spent == []


async def listened(asking: Asking, interrupt: Interrupt, seen: list[object]) -> None:
    async for delta in asking.deltas(interrupt):
        seen.append(delta)
        interrupt.set()
