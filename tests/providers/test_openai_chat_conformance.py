"""OpenAI's chat completions against the shared cases: recorded bytes through a real connection."""

from pathlib import Path

import pytest

from palmclaw.core.errors import ProviderError
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Message, Reasoning, Role, Text, ToolCall
from palmclaw.core.plugin import Parts
from palmclaw.core.ports import Reply, Request
from palmclaw.providers.openai_chat import OpenAIChat, OpenAIChatConfig
from tests.providers.conformance import Case, cases_of, recording
from tests.servers.chat_server import Answer, ChatServer


def asking(case: Case) -> Request:
    used = tuple(ToolCall(call_id, "f") for call_id in case.used)
    return Request("m", "", (Message(Role.ASSISTANT, (*used, Text("hm"))), Message(Role.USER, (Text("hi"),))))


@pytest.mark.parametrize("case", cases_of("openai_chat"), ids=lambda case: case.name)
async def test_case(case: Case, tmp_path: Path) -> None:
    shown = {"text": "", "reasoning": ""}
    replies: list[Reply] = []
    caught: ProviderError | None = None
    async with ChatServer([Answer(sse=recording("openai_chat", case).read_text("utf-8"))]) as server:
        provider = OpenAIChat(OpenAIChatConfig(server.url), Parts(home=tmp_path))
        try:
            async for delta in provider.stream(asking(case)):
                match delta:
                    case TextDelta(text):
                        shown["text"] += text
                    case ReasoningDelta(text):
                        shown["reasoning"] += text
                    case Reply():
                        replies.append(delta)
        except ProviderError as error:
            caught = error
        await provider.close()
    assert type(caught) is (case.error or type(None)), caught
    assert "abcdefgh12345678" not in str(caught)
    assert [seen(reply) for reply in replies] == ([] if case.error else [expected(case, replies[0])])
    assert shown["text"].strip() == case.text.removesuffix("\ufffd")
    assert shown["reasoning"] == case.reasoning


def seen(reply: Reply) -> tuple[object, ...]:
    message = reply.message
    return (message.role, message.parts, message.model, message.cut, reply.finish, reply.usage)


def expected(case: Case, reply: Reply) -> tuple[object, ...]:
    """What the case says; where the service counted nothing, any estimate that says it is one."""
    thoughts = (Reasoning(case.reasoning),) if case.reasoning else ()
    words = (Text(case.text),) if case.text else ()
    usage = case.usage or reply.usage
    assert usage.estimated is (case.usage is None)
    return (Role.ASSISTANT, (*thoughts, *words, *case.calls), "m", case.cut, case.finish, usage)
