"""The families of a session: they stay, and change with the matter after a long silence."""

from datetime import timedelta

import pytest

from palmclaw.agent.routing import IDLE, ModuleRoutes
from palmclaw.agent.turn import Turn
from palmclaw.core.tools import Module
from tests.agent.test_context import MODULES, TOOLS, Log, context, later, names

LATE = IDLE + timedelta(seconds=1)


def routes() -> ModuleRoutes:
    return ModuleRoutes(MODULES, TOOLS)


def test_what_is_awake_stays_awake_in_its_session_alone() -> None:
    found = routes()
    found.wake("s", ["torch"])
    assert found.wake("s", ["hm"]) == {"base", "torch"}
    assert found.wake("s", ["text her"], frozenset({"other"})) == {"base", "torch", "sms", "contacts", "other"}
    assert found.wake("t", ["hm"]) == {"base"}


@pytest.mark.parametrize(
    ("texts", "awake"),
    [
        (["torch", "text her"], {"base", "sms", "contacts"}),
        (["torch", "yes, go on"], {"base", "torch"}),
        (["torch"], {"base", "torch"}),
        (["hm"], {"base"}),
        ([], {"base"}),
    ],
)
def test_a_session_that_begins_anew_follows_its_newest_matter(texts: list[str], awake: set[str]) -> None:
    found = routes()
    found.wake("s", ["contact"])
    assert found.wake("s", texts, anew=True) == awake
    assert found.wake("s", []) == awake


async def test_after_a_long_silence_another_matter_puts_the_old_families_to_sleep() -> None:
    log = Log([later("torch on", timedelta())])
    built = context(log)
    await built.request(Turn("s", "t"))
    log.messages = [*log.messages, later("text her", LATE)]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "find", "send", "zoom"]


async def test_after_a_long_silence_the_same_matter_goes_on() -> None:
    log = Log([later("torch on", timedelta())])
    built = context(log)
    await built.request(Turn("s", "t"))
    log.messages = [*log.messages, later("yes, please", LATE)]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "light", "zoom"]


async def test_within_half_an_hour_the_families_only_grow() -> None:
    log = Log([later("torch on", timedelta())])
    built = context(log)
    await built.request(Turn("s", "t"))
    log.messages = [*log.messages, later("text her", IDLE)]
    assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "find", "light", "send", "zoom"]


def test_a_tool_of_two_families_is_found_once() -> None:
    shared = {**MODULES, "lamps": Module("lamps", "", ("torch",), tools=("light", "zoom"))}
    found = ModuleRoutes(shared, TOOLS)
    assert names(found.find("s", "torch")) == ["light", "zoom"]


async def test_a_tool_of_two_families_is_offered_once() -> None:
    log = Log([later("torch on", timedelta())])
    built = context(log)
    built.modules["lamps"] = Module("lamps", "", ("torch",), tools=("light",))  # type: ignore[index]
    try:
        assert names((await built.request(Turn("s", "t"))).tools) == ["ask", "light", "zoom"]
    finally:
        del built.modules["lamps"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("need", "found"),
    [("SMS", ["find", "send"]), ("send", ["find", "send"]), ("torch, please", ["light"]), ("smsish", [])],
)
def test_a_need_may_name_a_family_or_a_tool(need: str, found: list[str]) -> None:
    assert names(routes().find("s", need)) == found
