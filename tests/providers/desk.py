"""A conversation with the offline assistant where the test answers the tool calls."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from palmclaw.core.errors import Fault
from palmclaw.core.events import TextDelta
from palmclaw.core.messages import Message, Role, Stamp, Text, ToolResult
from palmclaw.core.plugin import Parts
from palmclaw.core.ports import Finish, Reply, Request
from palmclaw.core.tools import Tool, ToolContext
from palmclaw.guard.trust import wrapped
from palmclaw.providers.offline import OfflineConfig, create

HONG_KONG = ZoneInfo("Asia/Hong_Kong")
MONDAY = datetime(2026, 6, 15, 9, 0, tzinfo=HONG_KONG)
DECLINED = Fault("declined", "The owner said no.")
OUTSIDE = ("sms_list", "clipboard_get", "notifications_list")
TOOLS = (
    *("device_status", "device_set", "location", "clipboard_get", "clipboard_set", "notify", "notifications_list"),
    *("apps_list", "app_open", "page_open", "contacts_search", "contact_add", "calendar_list", "event_add"),
    *("event_delete", "sms_list", "sms_send", "calls_list", "call", "media_list", "media_play", "media_pause"),
    *("media_resume", "record_start", "record_stop", "bluetooth_status", "bluetooth_set", "bluetooth_connect"),
    *("bluetooth_disconnect", "alarm_set", "alarms_list", "timer_set", "file_list", "file_find", "file_search"),
    *("file_read", "file_write", "ask", "weather", "memory_read", "memory_write", "memory_forget"),
)


@dataclass(frozen=True, slots=True)
class NoArguments:
    """The assistant goes by the names of tools alone."""


async def never(args: NoArguments, ctx: ToolContext) -> None:
    raise AssertionError


def offered(names: Iterable[str]) -> tuple[Tool, ...]:
    return tuple(Tool(name, "", "any", NoArguments, never) for name in names)


@dataclass(frozen=True, slots=True)
class StoppedClock:
    moment: datetime = MONDAY

    def now(self) -> datetime:
        return self.moment


Call = tuple[str, dict[str, Any]]


@dataclass(slots=True)
class Desk:
    """`answers` gives each tool's value, its Fault, or a list of them to be used up in turn."""

    answers: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] = TOOLS
    now: datetime = MONDAY
    calls: list[Call] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    async def hears(self, sentence: str) -> str:
        """Say it, answer the calls that follow, and give the last words (empty when `ask` ended the turn)."""
        self.messages.append(Message(Role.USER, (Stamp("Monday"), Text(sentence))))
        while True:
            reply = await self.next()
            self.messages.append(reply.message)
            if reply.finish is Finish.STOP:
                return reply.message.text
            (call,) = reply.message.calls
            self.calls.append((call.name, call.arguments))
            self.messages.append(Message(Role.TOOL, (self._result(call.id, call.name),)))
            if call.name == "ask":
                return ""

    async def next(self) -> Reply:
        """One request; what streams must be what the reply holds."""
        # A new provider for each request: nothing may be kept between them.
        provider = create.create(OfflineConfig(), Parts(Path(), StoppedClock(self.now)))
        request = Request("offline", "", tuple(self.messages), offered(self.tools))
        items = [item async for item in provider.stream(request)]
        await provider.close()
        *deltas, reply = items
        assert isinstance(reply, Reply)
        assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == reply.message.text
        assert len(deltas) == len([d for d in deltas if isinstance(d, TextDelta)])
        return reply

    def _result(self, call_id: str, name: str) -> ToolResult:
        answer = self.answers.get(name, {})
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Fault):
            return ToolResult(call_id, name, json.dumps({"error": {"code": answer.code}}), answer)
        content = answer if isinstance(answer, str) else json.dumps(answer, separators=(",", ":"), ensure_ascii=False)
        return ToolResult(call_id, name, wrapped(content) if name in OUTSIDE else content, terminal=name == "ask")
