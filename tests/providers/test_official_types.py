"""The vendors' own packages as judges: our requests have their types, and so do the answers that our tests play."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from anthropic.types import RawMessageStreamEvent
from anthropic.types.message_create_params import MessageCreateParamsStreaming
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import Field, TypeAdapter, ValidationError

from palmclaw import plugins
from palmclaw.core.messages import Cut, Media, Message, Reasoning, Role, Stamp, Text, ToolCall, ToolResult, user_message
from palmclaw.core.ports import Request
from palmclaw.core.tools import Tool
from palmclaw.net.sse import SseDecoder
from tests.providers.conformance import RECORDINGS
from tests.servers.chat_server import Answer
from tests.servers.chat_server import events as chat_events

PEERS = Path(__file__).parents[1] / "peers/recordings"


@dataclass(frozen=True, slots=True)
class Official:
    """A protocol's official types. `deviating` are our recordings that are to be none of its events.

    Events of the types `beside` are none that the package parses; fields in `lacking` may be left out by our
    recordings, for services that do not count.
    """

    protocol: str
    request: Any
    event: Any
    deviating: frozenset[str] = field(default_factory=frozenset)
    beside: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()

    def takes(self, stream: bytes, lacking: tuple[str, ...] = ()) -> bool:
        """Whether each event of the stream is official."""
        judge = TypeAdapter[Any](_told_apart(self.event))
        return not any(_complaints(judge, data, lacking) for data in datas(stream, self.beside))


CHAT_DEVIATES = """
    broken_off_by_the_service error_after_the_end filtered_in_other_words length_in_other_words refused_call
    arguments_as_object content_in_parts entries_that_are_none error_event error_in_a_choice error_in_the_middle
    finish_says_error finish_unknown half_characters id_alone_leads_back index_comes_late index_missing
    index_missing_everywhere index_missing_in_pieces index_mixed keep_alives no_completion no_json no_object
    usage_of_nonsense
"""
ANTHROPIC_DEVIATES = """
    entries_that_are_none finish_unknown half_characters index_collision_new_name index_collision_without_ids
    index_missing index_missing_everywhere index_missing_in_pieces index_mixed keep_alives nameless_call no_completion
    no_ids no_json no_object unknown_blocks usage_of_nonsense
"""
RESPONSES_DEVIATES = """
    arguments_as_object entries_that_are_none error_event finish_says_error finish_unknown half_characters
    index_collision_new_name index_collision_without_ids index_missing index_missing_everywhere
    index_missing_in_pieces index_mixed internal_error keep_alives no_arguments no_completion no_ids no_json no_object
    unknown_blocks usage_elsewhere usage_of_nonsense
"""
TYPES = (
    Official(
        "openai_chat", CompletionCreateParamsStreaming, ChatCompletionChunk, deviating=frozenset(CHAT_DEVIATES.split())
    ),
    Official(
        "anthropic",
        MessageCreateParamsStreaming,
        RawMessageStreamEvent,
        deviating=frozenset(ANTHROPIC_DEVIATES.split()),
        beside=("ping", "error"),
        lacking=("usage",),
    ),
    Official(
        "openai_responses",
        ResponseCreateParamsStreaming,
        ResponseStreamEvent,
        deviating=frozenset(RESPONSES_DEVIATES.split()),
    ),
)
OF = {official.protocol: official for official in TYPES}
every_protocol = pytest.mark.parametrize(
    "official", [t for t in TYPES if t.protocol in plugins.names("providers")], ids=lambda t: t.protocol
)


def all_tools() -> tuple[Tool, ...]:
    return tuple(plugins.tools()[0].values())


TALK = (
    Message(Role.USER, (Text("你好"), Media("a1", "image/png", "cat.png"), Media("a2", "x/y", "b"), Stamp("10:00"))),
    Message(
        Role.ASSISTANT,
        (
            Reasoning("hm"),
            Text("Looking."),
            ToolCall("c1", "device_status", {"fields": ["time"]}),
            ToolCall("c2", "x y"),
        ),
    ),
    Message(Role.TOOL, (ToolResult("c1", "device_status", '{"time":1}'), ToolResult("c2", "x y", " "))),
    Message(Role.ASSISTANT, (ToolCall("c3", "f", {"x": 1}, "truncated", '{"x":1'),)),
    Message(Role.TOOL, (ToolResult("c3", "f", '{"error":{}}'),)),
    Message(Role.ASSISTANT, (Text("It is ten."),), cut=Cut.INTERRUPTED),
    Message(Role.USER, (Text("thanks"),)),
)
REQUESTS = {
    "short": Request("m", "", (user_message("hi"),)),
    "tools": Request("m", "Be brief.", (user_message("hi"),), all_tools()),
    "talk": Request("m", "Be brief.", TALK, all_tools()[:2], media={"a1": b"\x89PNG\r\n\x1a\n"}, max_output=50),
}


def taken(value: Any) -> Any:
    """What validation keeps of a request: it reads lists only when they are walked, and drops unknown fields."""
    if isinstance(value, Mapping):
        return {key: taken(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [taken(item) for item in value]
    return value


@every_protocol
@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_request_is_one_to_the_last_field(official: Official, request_: Request) -> None:
    body = plugins.to_wire(official.protocol)(request_)
    assert taken(TypeAdapter(official.request).validate_python(body)) == body


def test_the_judge_sees_a_field_too_many_and_a_wrong_word() -> None:
    body = plugins.to_wire("openai_chat")(REQUESTS["talk"])
    judge = TypeAdapter[Any](CompletionCreateParamsStreaming)
    system, *rest = body["messages"]
    assert taken(judge.validate_python(body | {"messages": [system | {"colour": 1}, *rest]})) == body
    with pytest.raises(ValidationError):
        taken(judge.validate_python(body | {"messages": [system | {"role": "boss"}, *rest]}))


def datas(stream: bytes, beside: tuple[str, ...] = ()) -> Iterator[str]:
    """The data of each event but the last word, and those `beside`."""
    decoder = SseDecoder()
    for event in (*decoder.feed(stream), *decoder.end()):
        if event.data.strip() not in ("", "[DONE]") and event.event not in beside:
            yield event.data


def _told_apart(event: Any) -> Any:
    """The packages tell their events apart by `type`, in a way that is theirs; the same for pydantic."""
    union = get_args(event)[0] if get_origin(event) is Annotated else event
    return Annotated[union, Field(discriminator="type")] if get_origin(union) is Union else event


def _complaints(judge: TypeAdapter[Any], data: str, lacking: tuple[str, ...]) -> list[str]:
    try:
        judge.validate_json(data)
    except ValidationError as error:
        found = [(".".join(str(step) for step in e["loc"]), e) for e in error.errors()]
        return [where for where, e in found if e["type"] != "missing" or e["loc"][-1] not in lacking]
    return []


@every_protocol
def test_only_these_recordings_deviate(official: Official) -> None:
    paths = sorted((RECORDINGS / official.protocol).glob("*.sse"))
    assert paths
    deviating = {path.stem for path in paths if not official.takes(path.read_bytes(), official.lacking)}
    assert deviating == official.deviating


@pytest.mark.parametrize(
    "answer",
    [
        Answer(text="Hello there", fragments=3),
        Answer(text="Looking.", calls=({"name": "f", "arguments": {"a": 1}}, {"name": "g"}), fragments=2),
        Answer(reasoning="hm", text="cut", finish="length", usage=False),
    ],
)
def test_the_chat_server_speaks_officially(answer: Answer) -> None:
    ids = (f"call_{n}" for n in range(9))
    assert OF["openai_chat"].takes(b"".join(chat_events(answer, ids)))


@pytest.mark.parametrize(
    ("name", "protocol", "official"),
    [
        ("litellm_messages", "anthropic", True),
        ("litellm_responses", "openai_responses", False),  # fields left out, such as `logprobs`
        ("llama_chat", "openai_chat", True),
        ("llama_messages", "anthropic", True),
        ("llama_responses", "openai_responses", False),  # its events are not numbered
    ],
)
def test_what_foreign_services_send(name: str, protocol: str, official: bool) -> None:
    """Where it is not official, our decoder must not rely on what the types promise."""
    stream = (PEERS / f"{name}.sse").read_bytes()
    assert list(datas(stream))
    assert OF[protocol].takes(stream) is official
