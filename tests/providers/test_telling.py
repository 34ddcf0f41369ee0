"""What all wire protocols share between request and Reply: errors, counts, lessons, bounds, ids, words."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palmclaw import plugins
from palmclaw.core.errors import (
    BadReply,
    BadRequest,
    ContentFiltered,
    NobodyThere,
    ProviderError,
    StreamCut,
    Unavailable,
)
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Reasoning, Role, Text, ToolCall, ToolResult, Usage
from palmclaw.core.plugin import Kind
from palmclaw.core.ports import Forgetful, Request
from palmclaw.core.wire import as_bytes
from tests.providers.conformance import RECORDINGS
from tests.providers.tide import HI, making, told
from tests.servers.chat_server import Answer, ChatServer

PROTOCOLS = ("anthropic", "openai_chat", "openai_responses")
SENT = {"anthropic": "max_tokens", "openai_chat": "max_tokens", "openai_responses": "max_output_tokens"}
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
Make = Callable[..., Any]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:
        makers = {
            name: await stack.enter_async_context(making(plugins.load(Kind.PROVIDER, name), tmp_path))
            for name in PROTOCOLS
        }
        yield lambda protocol, **settings: makers[protocol](**settings)


async def failing(provider: Any, request: Request = HI) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await told(provider, request)
    return caught.value


def recorded(protocol: str, name: str) -> Answer:
    return Answer(sse=(RECORDINGS / protocol / f"{name}.sse").read_text("utf-8"))


def refusal(words: str, status: int = 400) -> Answer:
    return Answer(status=status, body=json.dumps({"error": {"message": words, "type": "invalid_request_error"}}))


# Errors


@every_protocol
async def test_an_error_after_the_answer_has_begun_says_so_and_what_was_counted(make: Make, protocol: str) -> None:
    async with ChatServer([Answer(finish="content_filter"), recorded(protocol, "cut_at_once")]) as server:
        provider = make(protocol, base_url=server.url)
        withheld, cut = await failing(provider), await failing(provider)
    assert (type(withheld), withheld.began, withheld.usage) == (ContentFiltered, True, Usage(100, 10, requests=1))
    assert (type(cut), cut.began) == (StreamCut, True)


async def test_what_was_counted_before_the_break_is_kept(make: Make) -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 70, "output_tokens": 1}}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    usage = {"choices": [], "usage": {"prompt_tokens": 70, "completion_tokens": 1}}
    broken = {"anthropic": (start, error), "openai_chat": (usage, error)}
    for protocol, events in broken.items():
        async with ChatServer([Answer(sse="".join(f"data: {json.dumps(e)}\n\n" for e in events))]) as server:
            found = await failing(make(protocol, base_url=server.url))
        assert (found.began, found.usage) == (True, Usage(70, 1, requests=1))


@every_protocol
async def test_an_error_before_the_answer_has_cost_nothing(make: Make, protocol: str) -> None:
    async with ChatServer([refusal("no"), Answer(status=503)]) as server:
        provider = make(protocol, base_url=server.url)
        found = [await failing(provider), await failing(provider)]
    found.append(await failing(make(protocol, base_url="http://127.0.0.1:1/v1")))
    assert [(type(e), e.began, e.usage) for e in found[::2]] == [(BadRequest, False, None), (NobodyThere, False, None)]
    assert (found[1].began, found[1].usage) == (False, None)


@every_protocol
async def test_a_request_that_was_taken_without_an_answer_may_have_cost_something(make: Make, protocol: str) -> None:
    async with ChatServer([Answer(hang=True), Answer(drop=True)]) as server:
        provider = make(protocol, base_url=server.url, limits=Limits(model_seconds=0.2))
        found = [await failing(provider), await failing(provider)]
    assert [(type(e), e.began, e.usage) for e in found] == [(Unavailable, True, None)] * 2


@every_protocol
async def test_a_hint_names_the_table_also_when_the_end_shows_what_is_wrong(make: Make, protocol: str) -> None:
    async with ChatServer([recorded(protocol, "no_completion")]) as server:
        error = await failing(make(protocol, base_url=server.url, table="services.home"))
    assert type(error) is BadReply
    assert error.hint.endswith("palmclaw config get services.home.base_url")
    assert not error.retryable


# Lessons


class Written(Forgetful):
    """Findings that can be looked at."""

    @property
    def all(self) -> dict[str, str]:
        return {key.split(" http")[0]: value for key, value in self._found.items() if not key.startswith("/")}


BOUNDED = replace(HI, max_output=20_000)
TOO_LONG = refusal("max_tokens is too large: 20000. This model supports at most 8192 completion tokens.")
LATER = {
    "anthropic": {"anthropic max_tokens": "8192"},
    "openai_chat": {"openai_chat ceiling": "8192"},
    "openai_responses": {"openai_responses most": "8192"},
}


@every_protocol
async def test_a_lower_bound_is_learned_once(make: Make, protocol: str) -> None:
    findings = Written()
    async with ChatServer([TOO_LONG, Answer(text="hi", times=2)]) as server:
        for _ in range(2):
            provider = make(protocol, base_url=server.url, findings=findings)
            await told(provider, BOUNDED)
        sent = [asked.body[SENT[protocol]] for asked in server.requests]
    assert sent == [20_000, 8_192, 8_192]
    assert provider.wire(replace(BOUNDED, model="another"))[SENT[protocol]] == 20_000
    assert findings.all == LATER[protocol]


@every_protocol
@pytest.mark.parametrize("then", [refusal("no"), Answer(status=503)], ids=["400", "503"])
async def test_what_did_not_help_is_not_remembered(make: Make, protocol: str, then: Answer) -> None:
    findings = Written()
    async with ChatServer([TOO_LONG, then, TOO_LONG, Answer(text="hi")]) as server:
        provider = make(protocol, base_url=server.url, findings=findings)
        await failing(provider, BOUNDED)
        assert findings.all == {}
        await told(provider, BOUNDED)
        assert [asked.body[SENT[protocol]] for asked in server.requests] == [20_000, 8_192, 20_000, 8_192]


@every_protocol
async def test_an_answer_that_breaks_off_was_an_answer(make: Make, protocol: str) -> None:
    findings = Written()
    async with ChatServer([TOO_LONG, recorded(protocol, "cut_in_text")]) as server:
        assert (await failing(make(protocol, base_url=server.url, findings=findings), BOUNDED)).began
    assert findings.all == LATER[protocol]


@every_protocol
async def test_three_lessons_are_enough(make: Make, protocol: str) -> None:
    findings = Written()
    lower = [refusal(f"max_tokens must be at most {bound}") for bound in (9_000, 8_000, 7_000, 6_000)]
    async with ChatServer([*lower, Answer(text="hi")]) as server:
        error = await failing(make(protocol, base_url=server.url, findings=findings), BOUNDED)
        sent = [asked.body[SENT[protocol]] for asked in server.requests]
    assert (type(error), sent) == (BadRequest, [20_000, 9_000, 8_000, 7_000])
    assert findings.all == {}


@every_protocol
async def test_where_the_window_is_named_the_answer_gets_what_is_left(make: Make, protocol: str) -> None:
    findings = Written()
    words = "This model's maximum context length is 16384 tokens and your request has 12000 input tokens"
    full = refusal(f"'max_tokens' is too large: 20000. {words} (20000 > 16384 - 12000).")
    async with ChatServer([full, Answer(text="hi", times=2)]) as server:
        provider = make(protocol, base_url=server.url, findings=findings)
        for _ in range(2):
            await told(provider, BOUNDED)
        assert [asked.body[SENT[protocol]] for asked in server.requests] == [20_000, 4_384, 8_192]
    assert findings.all == LATER[protocol]


# The request


@every_protocol
async def test_no_answer_is_asked_for_that_is_longer_than_is_known(make: Make, protocol: str) -> None:
    field = SENT[protocol]
    provider = make(protocol, base_url="https://h/v1", model="m", ceiling=4_096)
    assert provider.wire(BOUNDED)[field] == provider.wire(replace(BOUNDED, model=""))[field] == 4_096
    assert provider.wire(replace(BOUNDED, model="another"))[field] == 20_000
    assert provider.wire(replace(BOUNDED, max_output=77))[field] == 77
    assert provider.wire(HI).get(field) == (4_096 if protocol == "anthropic" else None)


NINE = {"openai_chat": {"call_ids": "nine"}}


@every_protocol
@pytest.mark.parametrize("settings", [{}, NINE], ids=["usual", "nine"])
def test_half_characters_in_ids_are_taken(make: Make, protocol: str, settings: dict[str, dict[str, Any]]) -> None:
    ids = ("call_\ud83d", "call_\ud83e", "call_?")
    calls = Message(Role.ASSISTANT, tuple(ToolCall(i, "f") for i in ids), model="m")
    results = Message(Role.TOOL, tuple(ToolResult(i, "f", "done") for i in ids))
    provider = make(protocol, base_url="https://h/v1", **settings.get(protocol, {}))
    body = json.loads(as_bytes(provider.wire(replace(HI, messages=(*HI.messages, calls, results)))))
    asked, answered = id_pairs(body)
    assert asked == answered
    assert len(set(asked)) == 3


def id_pairs(body: Any) -> tuple[list[str], list[str]]:
    """The ids of calls and of results, wherever the protocol puts them."""
    asked: list[str] = []
    answered: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, dict):
            if value.get("type") in ("tool_use", "function", "function_call"):
                asked.append(value.get("call_id") or value["id"])
            if found := value.get("tool_use_id") or value.get("tool_call_id"):
                answered.append(found)
            if value.get("type") == "function_call_output":
                answered.append(value["call_id"])
            walk(list(value.values()))

    walk(body)
    return asked, answered


@every_protocol
def test_a_picture_without_a_word_is_sent_without_words(make: Make, protocol: str) -> None:
    picture = Message(Role.USER, (Media("p", "image/png"),))
    body = make(protocol, base_url="https://h/v1").wire(replace(HI, messages=(picture,), media={"p": b"png"}))
    (message,) = [m for m in body.get("messages", body.get("input")) if m["role"] == "user"]
    assert [part["type"] for part in message["content"]] in (["image"], ["image_url"], ["input_image"])


@every_protocol
async def test_words_of_the_persons_own_come_first_and_win(make: Make, protocol: str) -> None:
    provider = make(protocol, base_url="https://h/v1", body={"temperature": 0, "stream": False})
    wire = provider.wire(HI)
    assert (list(wire)[:2], wire["stream"]) == (["temperature", "stream"], False)
    assert not provider.local


@every_protocol
async def test_where_nobody_counts_the_usage_is_an_estimate_without_a_figure(make: Make, protocol: str) -> None:
    async with ChatServer([Answer(text="x" * 42, usage=False)]) as server:
        reply = (await told(make(protocol, base_url=server.url)))[-1]
    assert reply.usage == Usage(requests=1, estimated=True)  # type: ignore[union-attr]  # the last one is the Reply


@every_protocol
async def test_a_thought_goes_back_only_with_what_followed_it(make: Make, protocol: str) -> None:
    alone = Message(Role.ASSISTANT, (Reasoning("hm", f"{protocol}:{{}}"), Text(" ")), model="m")
    body = make(protocol, base_url="https://h/v1").wire(replace(HI, messages=(alone, *HI.messages)))
    assert "hm" not in json.dumps(body)
