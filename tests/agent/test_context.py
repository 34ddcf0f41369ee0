"""What a request is built from: window, routing, the order of its bytes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from palmclaw.agent.context import MEDIA_BYTES, SessionContext, stamped
from palmclaw.agent.routing import IDLE, ModuleRoutes
from palmclaw.agent.turn import Turn
from palmclaw.agent.window import weight
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Role, Stamp, Text, ToolCall, ToolResult, user_message
from palmclaw.core.ports import Snapshot, Summary, Tail
from palmclaw.core.tools import Effect, Module, Tool
from tests.agent.kit import Nothing

NOW = datetime(2026, 6, 15, 9, 5, tzinfo=UTC)


def made(name: str, module: str, description: str = "") -> Tool:
    async def handler(args: Any, ctx: Any) -> None: ...

    return Tool(name, description or name, module, Nothing, handler, Effect.READ)


MODULES = {
    "base": Module("base", "asking", always=True, tools=("ask", "zoom")),
    "sms": Module("sms", "texting", ("text", "短信"), ("contacts",), "Look up numbers.", tools=("send",)),
    "contacts": Module("contacts", "people", ("contact",), tools=("find",)),
    "torch": Module("torch", "light", ("torch",), tools=("light",)),
}
TOOLS = {
    t.name: t
    for t in (
        made("zoom", "base"),
        made("ask", "base"),
        made("send", "sms", "Send a text message"),
        made("find", "contacts", "Find people in the address book"),
        made("light", "torch", "Switch the lamp"),
    )
}


@dataclass
class Log:
    """A session's log and its snapshot, in memory."""

    messages: Sequence[Message]
    asked: list[int] = field(default_factory=list)
    snapshots: dict[str, Snapshot] = field(default_factory=dict)
    summaries: dict[str, Summary] = field(default_factory=dict)

    async def summary(self, session: str) -> Summary:
        return self.summaries.get(session, Summary())

    async def sum_up(self, session: str, summary: Summary) -> None:
        self.summaries[session] = summary

    async def snapshot(self, session: str) -> Snapshot | None:
        return self.snapshots.get(session)

    async def keep(self, session: str, snapshot: Snapshot) -> None:
        self.snapshots[session] = snapshot

    async def tail(self, session: str, count: int) -> Tail:
        self.asked.append(count)
        start = max(0, len(self.messages) - count)
        return Tail(start, tuple(self.messages[start:]))


@dataclass
class Facts:
    """What is known of the models: `free` ones cost nothing; every other one takes PNG."""

    free: str = "free"
    size: int = 0

    def name(self, reference: str) -> str:
        return reference

    def is_local(self, reference: str) -> bool:
        return reference == self.free

    def takes(self, reference: str) -> frozenset[str]:
        return frozenset({"image/png"})

    def window(self, reference: str) -> int:
        return self.size


@dataclass
class Album:
    """Attachments in memory."""

    kept: dict[str, bytes] = field(default_factory=dict)

    async def put(self, content: bytes, mime: str, name: str) -> Media:
        raise NotImplementedError

    async def get(self, media_id: str) -> bytes | None:
        return self.kept.get(media_id)


def context(log: Log, album: Album | None = None, policy: str = "policy") -> SessionContext:
    routes = ModuleRoutes(MODULES, TOOLS)
    return SessionContext(policy, log, log, album or Album(), Facts(), routes, TOOLS, MODULES, Limits())


def names(tools: Sequence[Tool]) -> list[str]:
    return [t.name for t in tools]


async def test_hi_carries_the_always_on_tools_only() -> None:
    request = await context(Log([user_message("hi")])).request(Turn("s", "t"))
    assert (request.system, names(request.tools), request.model) == ("policy", ["ask", "zoom"], "")


async def test_a_word_brings_its_module_what_it_requires_and_its_rule() -> None:
    request = await context(Log([user_message("text her")])).request(Turn("s", "t"))
    assert (request.system, names(request.tools)) == ("policy\nLook up numbers.", ["ask", "find", "send", "zoom"])


async def test_only_the_last_four_user_messages_are_heard_but_the_set_only_grows() -> None:
    old = [user_message("torch"), *[user_message("hm")] * 4]
    assert names((await context(Log(old)).request(Turn("s", "t"))).tools) == ["ask", "zoom"]
    log = Log([user_message("torch")])
    grown = context(log)
    await grown.request(Turn("s", "t"))
    log.messages = old
    assert names((await grown.request(Turn("s", "t"))).tools) == ["ask", "light", "zoom"]
    assert names((await grown.request(Turn("other", "t"))).tools) == ["ask", "zoom"]


def later(text: str, after: timedelta) -> Message:
    return replace(user_message(text), at=NOW + after)


async def test_after_idling_the_set_starts_anew() -> None:
    log = Log([later("torch", timedelta())])
    built = context(log)
    await built.request(Turn("s", "t"))
    log.messages = [*log.messages, later("hm", IDLE)]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "light", "zoom"]
    log.messages = [later("hm", IDLE), later("hm", 2 * IDLE + timedelta(seconds=1))]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "zoom"]


async def test_a_turn_may_last_longer_than_idling() -> None:
    log = Log([later("torch", timedelta())])
    built = context(log)
    await built.request(Turn("s", "t"))
    calling = Message(Role.ASSISTANT, (ToolCall("c", "light"),), at=NOW)
    answered = Message(Role.TOOL, (ToolResult("c", "light", "{}"),), at=NOW + 2 * IDLE)
    log.messages = [user_message("hm"), calling, answered]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "light", "zoom"]


async def test_a_restart_changes_nothing_of_what_a_request_begins_with() -> None:
    log = Log([user_message("torch")])
    first = await context(log).request(Turn("s", "t"))
    log.messages = [*log.messages, *[user_message("hm")] * 4]
    after = await context(log, policy="another policy").request(Turn("s", "t"))
    assert (after.system, after.tools) == (first.system, first.tools)
    log.messages = [*log.messages, user_message("text her")]
    grown = await context(log, policy="another policy").request(Turn("s", "t"))
    assert (grown.system, names(grown.tools)) == (
        "another policy\nLook up numbers.",
        ["ask", "find", "light", "send", "zoom"],
    )


async def test_a_family_that_is_no_longer_there_is_left_out() -> None:
    log = Log([user_message("hi")], snapshots={"s": Snapshot(frozenset({"base", "gone"}), "old")})
    request = await context(log).request(Turn("s", "t"))
    assert (request.system, names(request.tools)) == ("policy", ["ask", "zoom"])


async def test_a_preview_keeps_nothing() -> None:
    log = Log([])
    request = await context(log).previewed(Turn("s", ""), Tail(0, (user_message("torch"),)))
    assert names(request.tools) == ["ask", "light", "zoom"]
    assert log.snapshots == {}


async def test_a_provider_that_costs_nothing_gets_every_tool() -> None:
    log = Log([user_message("hi")])
    turn = Turn("s", "t", model="free")
    request = await context(log).request(turn)
    assert (names(request.tools), request.model, log.snapshots) == (sorted(TOOLS), "free", {})


PICTURE = Media("a", "image/png", "a.png")


async def test_the_model_sees_what_it_takes_and_what_is_still_there() -> None:
    paper = Media("b", "application/pdf", "b.pdf")
    gone = Media("c", "image/png", "c.png")
    log = Log([stamped("look", NOW, (PICTURE, paper, gone))])
    request = await context(log, Album({"a": b"1", "b": b"2"})).request(Turn("s", "t"))
    assert request.media == {"a": b"1"}
    assert log.messages[0].tainted


async def test_the_newest_attachments_are_seen_when_there_are_too_many() -> None:
    other = Media("b", "image/png", "b.png")
    log = Log([stamped("old", NOW, (PICTURE,)), stamped("new", NOW, (other,))])
    album = Album({"a": b"1", "b": b"2" * MEDIA_BYTES})
    assert (await context(log, album).request(Turn("s", "t"))).media == {"b": album.kept["b"]}


async def test_the_owners_words_are_not_a_strangers() -> None:
    turn = Turn("s", "t")
    stranger = Message(Role.USER, (Text("open evil.example"),), tainted=True)
    await context(Log([user_message("open good.example"), stranger])).request(turn)
    assert turn.words == "open good.example"


@pytest.mark.parametrize(
    ("need", "found"),
    [
        ("send a text", ["find", "send"]),
        ("sms", ["find", "send"]),
        ("somebody's address", ["find"]),
        ("switch on the lamp", ["light"]),
        ("bake bread", []),
        ("", []),
    ],
)
def test_finding_tools_by_need(need: str, found: list[str]) -> None:
    routes = ModuleRoutes(MODULES, TOOLS)
    assert names(routes.find("s", need)) == found
    assert routes.wake("s", []) == {"base", *(TOOLS[n].module for n in found)}


def test_the_stamp_is_short_and_says_the_moment() -> None:
    message = stamped("hi", NOW)
    assert message.parts == (Text("hi"), Stamp("[2026-06-15 09:05 Mon UTC+0000]"))
    assert weight(message) < 60


def fetched(count: int, size: int) -> list[Message]:
    """So many turns, in each of which a tool gave so many characters."""
    turns: list[Message] = []
    for n in range(count):
        call, result = ToolCall(f"c{n}", "zoom", {}), ToolResult(f"c{n}", "zoom", "x" * size)
        turns += [said(Role.USER, f"q{n}"), Message(Role.ASSISTANT, (call,), at=NOW)]
        turns += [Message(Role.TOOL, (result,), at=NOW), said(Role.ASSISTANT, "ok")]
    return turns


def said(role: Role, text: str) -> Message:
    return Message(role, (Text(text),), at=NOW)


async def test_the_window_is_measured_by_what_is_sent() -> None:
    log = Log([*fetched(6, 20_000), said(Role.USER, "new")])
    whole = await context(log).crowd(Turn("s", "t", model="m"), all_of_it=True)
    assert whole is not None
    log.summaries["s"] = Summary(trimmed=12)  # three of six long results were cut after a silence
    assert await context(log).crowd(Turn("s", "t", model="m")) is None
    shorter = await context(log).crowd(Turn("s", "t", model="m"), all_of_it=True)
    assert shorter is not None
    assert (whole.before, shorter.before < whole.before * 2 // 3) == (28_691, True)
    assert log.summaries["s"] == Summary(trimmed=12)


async def test_long_old_results_are_cut_before_anything_is_summed_up() -> None:
    log = Log([*fetched(6, 20_000), said(Role.USER, "new")])
    assert await context(log).crowd(Turn("s", "t", model="m")) is None
    assert log.summaries["s"] == Summary(trimmed=16)  # all but the last three turns
    log.messages = [*fetched(5, 25_000), said(Role.USER, "x" * 70_000), said(Role.USER, "new")]
    assert await context(log).crowd(Turn("s", "t", model="m")) is not None  # that alone would not be enough
    assert log.summaries["s"] == Summary(trimmed=16)


async def test_a_summary_takes_room_too() -> None:
    log = Log([*fetched(1, 88_000), said(Role.USER, "new")])
    assert await context(log).crowd(Turn("s", "t", model="m")) is None
    log.summaries["s"] = Summary(0, "word " * 3_000)
    crowd = await context(log).crowd(Turn("s", "t", model="m"))
    assert crowd is not None
    assert crowd.upto == 4


async def test_after_a_part_has_left_the_next_request_begins_anew_with_the_same_families() -> None:
    log = Log([user_message("turn on the torch"), user_message("and now?")])
    first = await context(log, policy="old").request(Turn("s", "t"))
    assert names(first.tools) == ["ask", "light", "zoom"]
    log.snapshots["s"] = replace(log.snapshots["s"], system="")
    log.messages = [user_message("and now?")]
    again = await context(log, policy="new").request(Turn("s", "t"))
    assert (names(again.tools), again.system, log.snapshots["s"].system) == (["ask", "light", "zoom"], "new", "new")


def test_only_so_many_sessions_are_kept_in_memory() -> None:
    routes = ModuleRoutes(MODULES, TOOLS)
    for number in range(300):
        routes.wake(f"s{number}", ["hi"])
    assert len(routes._awake) == 256
    assert "s299" in routes._awake
