"""Every wire protocol against the shared cases: recorded bytes through a real connection."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from palmclaw import plugins
from palmclaw.core.errors import ProviderError
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Message, Part, Reasoning, Role, Text, ToolCall
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Provider, Reply, Request
from tests.providers.conformance import RECORDINGS, Case, cases_of, recording
from tests.servers.chat_server import Answer, ChatServer

PROTOCOLS = sorted(folder.name for folder in RECORDINGS.iterdir())
SIZES = (1, 7, 64, 3, 29, 2)


RECORDED = [
    pytest.param(protocol, case, id=f"{protocol}-{case.name}") for protocol in PROTOCOLS for case in cases_of(protocol)
]


@dataclass(slots=True)
class Outcome:
    """What came of one request."""

    text: str = ""
    reasoning: str = ""
    replies: list[Reply] = field(default_factory=list)
    error: ProviderError | None = None


async def outcome(protocol: str, case: Case, answer: Answer, home: Path) -> Outcome:
    found = Outcome()
    async with ChatServer([answer]) as server:
        provider: Provider = plugins.build(Kind.PROVIDER, protocol, {"base_url": server.url}, Parts(home=home))
        try:
            async for delta in provider.stream(asking(case)):
                match delta:
                    case TextDelta(text):
                        found.text += text
                    case ReasoningDelta(text):
                        found.reasoning += text
                    case Reply():
                        found.replies.append(delta)
        except ProviderError as error:
            found.error = error
        await provider.close()
    return found


def asking(case: Case) -> Request:
    used = tuple(ToolCall(call_id, "f") for call_id in case.used)
    return Request("m", "", (Message(Role.ASSISTANT, (*used, Text("hm"))), Message(Role.USER, (Text("hi"),))))


@pytest.mark.parametrize(("protocol", "case"), RECORDED)
async def test_case(protocol: str, case: Case, tmp_path: Path) -> None:
    sent = recording(protocol, case).read_text("utf-8")
    check(case, await outcome(protocol, case, Answer(sse=sent), tmp_path))


@pytest.mark.parametrize(("protocol", "case"), RECORDED)
async def test_case_in_pieces_with_other_line_ends(protocol: str, case: Case, tmp_path: Path) -> None:
    sent = recording(protocol, case).read_text("utf-8").replace("\n", "\r\n")
    check(case, await outcome(protocol, case, Answer(sse=sent, pieces=SIZES), tmp_path))


def check(case: Case, found: Outcome) -> None:
    assert type(found.error) is (case.error or type(None)), found.error
    assert "abcdefgh12345678" not in str(found.error)
    assert [seen(reply) for reply in found.replies] == ([] if case.error else [expected(case, found.replies[0])])
    assert found.text.strip() == case.text.removesuffix("\ufffd")
    assert found.reasoning == case.reasoning


def seen(reply: Reply) -> tuple[object, ...]:
    message = reply.message
    parts = tuple(unsealed(part) for part in message.parts)
    return (message.role, parts, message.model, message.cut, reply.finish, reply.usage)


def unsealed(part: Part) -> Part:
    """A thought without its signature, which each protocol has in a form of its own."""
    return replace(part, signature="") if isinstance(part, Reasoning) else part


def expected(case: Case, reply: Reply) -> tuple[object, ...]:
    """What the case says; where the service counted nothing, any estimate that says it is one."""
    thoughts = (Reasoning(case.reasoning),) if case.reasoning else ()
    words = (Text(case.text),) if case.text else ()
    usage = case.usage or reply.usage
    assert usage.estimated is (case.usage is None)
    return (Role.ASSISTANT, (*thoughts, *words, *case.calls), "m", case.cut, case.finish, usage)
