"""`[modules.NAME]` in config.toml, from the file to what a model is offered and a call is answered."""

import os
from pathlib import Path

import pytest

from palmclaw import plugins
from palmclaw.agent.turn import Turn
from palmclaw.app import App, assembled
from palmclaw.core.errors import ConfigError
from palmclaw.core.messages import user_message
from palmclaw.core.ports import Request, Tail
from tests.test_tool_cost import Asked

ROOT = Path(__file__).parents[2]


def app(home: Path, text: str) -> App:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return assembled(os.environ)


async def asked(made: App, text: str) -> Request:
    context = made.context(made.sessions, Asked())
    try:
        return await context.previewed(Turn("main", ""), Tail(0, (user_message(text),)))
    finally:
        await made.database.close()


async def offered(made: App, text: str) -> set[str]:
    return {tool.name for tool in (await asked(made, text)).tools} - {"ask", "find_tools", "skill"}


async def test_a_family_of_ones_own_wakes_with_its_words_and_its_rule(home_dir: Path) -> None:
    text = """
    [modules.commute]
    about = "going to work"
    keywords = ["commute", "上班"]
    tools = ["location", "page_open"]
    prompt = "The bus is the 87K."
    """
    made = app(home_dir, text)
    assert "commute (going to work)" in made.tools["find_tools"].description
    request = await asked(made, "commute")
    assert {"location", "page_open"} <= {tool.name for tool in request.tools}
    assert "The bus is the 87K." in request.system
    assert await offered(app(home_dir, text), "上班") >= {"location", "page_open"}
    assert "The bus is the 87K." not in (await asked(app(home_dir, text), "hi")).system


async def test_more_keywords_for_a_family_that_is_there(home_dir: Path) -> None:
    assert await offered(app(home_dir, ""), "zzyzx") == set()
    assert "alarm_set" in await offered(app(home_dir, '[modules.alarms]\nkeywords = ["zzyzx"]'), "zzyzx")


async def test_a_pinned_family_is_always_there(home_dir: Path) -> None:
    made = app(home_dir, "[modules.alarms]\npinned = true")
    assert await offered(made, "hi") == {"alarm_delete", "alarm_set", "alarms_list", "timer_set"}
    assert "alarms" not in made.tools["find_tools"].description


async def test_a_barred_family_is_never_there(home_dir: Path) -> None:
    made = app(home_dir, "[modules.messages]\nbarred = true")
    assert await offered(made, "text mum and call dad") & {"sms_send", "sms_list", "call", "calls_list"} == set()
    assert "messages" not in made.tools["find_tools"].description
    kit = made.kits.of("")
    for need in ("messages", "sms_send", "send a text message", "发短信"):
        assert {tool.module for tool in kit.routes.find("s", need)} & {"messages"} == set()
    assert set(kit.disabled) == {"sms_send", "sms_list", "call", "calls_list"}


async def test_what_a_barred_family_shares_is_not_switched_off(home_dir: Path) -> None:
    text = '[modules.messages]\nbarred = true\n[modules.calls]\nkeywords = ["zzyzx"]\ntools = ["call"]'
    made = app(home_dir, text)
    assert "call" not in made.kits.of("").disabled
    assert await offered(made, "zzyzx") >= {"call"}


async def test_a_family_comes_along_with_the_one_that_requires_it(home_dir: Path) -> None:
    text = '[modules.trip]\nkeywords = ["zzyzx"]\nrequires = ["calendar", "media"]'
    assert await offered(app(home_dir, text), "zzyzx") >= {"calendar_list", "alarm_set", "media_list"}


async def test_without_what_it_requires_a_family_is_still_there(home_dir: Path) -> None:
    made = app(home_dir, "[modules.alarms]\nbarred = true")
    found = await offered(made, "what meetings are on tomorrow?")
    assert ("calendar_list" in found, "alarm_set" in found) == (True, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[modules.alarms]\nkeywrods = ["x"]',
            "config.toml, line 2: modules.alarms.keywrods: no such field",
        ),
        ("[modules.alarms]\npinned = 3", "config.toml, line 2: modules.alarms.pinned: expected boolean, got 3"),
        ('[modules.x]\ntools = ["alarm_get"]', "modules.x.tools: there is no tool named 'alarm_get'"),
        ('[modules.calender]\nkeywords = ["x"]', "modules.calender: there is no such family, and it has no tools"),
        (
            '[modules.alarms]\nrequires = ["calendar"]',
            "modules.alarms.requires: a circle: alarms → calendar → alarms",
        ),
        ('[modules.alarms]\nrequires = ["calender"]', "modules.alarms.requires: there is no family 'calender'"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(home_dir: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        app(home_dir, text)
    assert str(caught.value).replace(f"{home_dir}/", "").startswith(message)


async def test_the_example_of_the_manual_is_accepted(home_dir: Path) -> None:
    text = (ROOT / "docs/routing.md").read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    made = app(home_dir, text)
    assert await offered(made, "schlaf jetzt ein") >= {"alarm_set", "device_status"}
    assert set(made.kits.of("").disabled) == set(plugins.tools()[1]["bluetooth"].tools)
