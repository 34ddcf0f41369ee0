"""The owner's own families, and whether all of them fit together."""

import pytest

from palmclaw.core.errors import ConfigError
from palmclaw.core.families import ModuleSettings, check, configured, gone, unbarred, without
from palmclaw.core.tools import Module

MODULES = {
    m.name: m
    for m in (
        Module("base", "", always=True, tools=("ask",)),
        Module("calendar", "dates", ("meeting",), requires=("alarms",), tools=("event_add", "event_list")),
        Module("alarms", "", ("alarm",), tools=("alarm_set",)),
    )
}
TOOLS = ("ask", "event_add", "event_list", "alarm_set")


def test_without_settings_nothing_changes() -> None:
    assert configured(MODULES, {}, TOOLS) == MODULES


def test_a_family_of_ones_own_and_more_for_one_that_is_there() -> None:
    commute = ModuleSettings("going to work", ("commute", "上班"), ("event_list",), ("alarms",), "Be quick.")
    more = ModuleSettings("", ("rendezvous", "meeting"), ("ask", "event_add"), ("alarms",), pinned=True)
    assert configured(MODULES, {"commute": commute, "calendar": more}, TOOLS) == {
        **MODULES,
        "calendar": Module(
            "calendar",
            "dates",
            ("meeting", "rendezvous"),
            ("alarms",),
            always=True,
            tools=("event_add", "event_list", "ask"),
        ),
        "commute": Module(
            "commute", "going to work", ("commute", "上班"), ("alarms",), "Be quick.", tools=("event_list",)
        ),
    }


@pytest.mark.parametrize(
    ("name", "wanted", "message", "hint"),
    [
        (
            "calender",
            ModuleSettings(keywords=("x",)),
            "modules.calender: there is no such family, and it has no tools",
            "Did you mean calendar?",
        ),
        (
            "zzz",
            ModuleSettings(),
            "modules.zzz: there is no such family, and it has no tools",
            "Name the tools of a family of your own: tools = […]",
        ),
        (
            "zzz",
            ModuleSettings(tools=("alarm_get",)),
            "modules.zzz.tools: there is no tool named 'alarm_get'",
            "Did you mean alarm_set?",
        ),
        (
            "zzz",
            ModuleSettings(tools=("qqqq",)),
            "modules.zzz.tools: there is no tool named 'qqqq'",
            "palmclaw tools",
        ),
        (
            "alarms",
            ModuleSettings(requires=("calender",)),
            "modules.alarms.requires: there is no family 'calender'",
            "Did you mean calendar?",
        ),
        ("alarms", ModuleSettings(requires=("q",)), "modules.alarms.requires: there is no family 'q'", ""),
        (
            "alarms",
            ModuleSettings(requires=("calendar",)),
            "modules.calendar.requires: a circle: calendar → alarms → calendar",
            "Take one of them out.",
        ),
        (
            "alarms",
            ModuleSettings(pinned=True, barred=True),
            "modules.alarms.pinned: a family cannot be pinned and barred",
            "Take one of them out.",
        ),
        (
            "alarms",
            ModuleSettings(keywords=("play {tune}",)),
            "modules.alarms.keywords: {tune} in 'play {tune}' is no kind of word",
            "Kinds of words: {clock} {day} {file} {num} {phone} {unit} {url} {who}",
        ),
        (
            "alarms",
            ModuleSettings(keywords=("… up",)),
            "modules.alarms.keywords: '… up' does not begin with a word",
            "",
        ),
        (
            "a b",
            ModuleSettings(tools=("ask",)),
            "modules.a b: a name has letters, digits, _ and - only, at most 32",
            "",
        ),
    ],
)
def test_what_cannot_be(name: str, wanted: ModuleSettings, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        configured(MODULES, {name: wanted}, TOOLS)
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_a_circle_that_others_lead_to_is_found_and_shared_requirements_are_none() -> None:
    shared = {
        "a": Module("a", "", requires=("b", "c")),
        "b": Module("b", "", requires=("d",)),
        "c": Module("c", "", requires=("d",)),
        "d": Module("d", ""),
    }
    check(shared)
    with pytest.raises(ConfigError, match=r"modules\.b\.requires: a circle: b → d → c → b"):
        check(
            {
                **shared,
                "d": Module("d", "", requires=("c",)),
                "c": Module("c", "", requires=("c2", "b")),
                "c2": shared["d"],
            }
        )
    with pytest.raises(ConfigError, match=r"modules\.e\.requires: a circle: e → e"):
        check({"e": Module("e", "", requires=("e",))})


def test_a_barred_family_is_gone_with_the_tools_that_only_it_has() -> None:
    settings = {
        "alarms": ModuleSettings(barred=True),
        "calendar": ModuleSettings(barred=True),
        "mine": ModuleSettings(tools=("event_list",)),
        "never": ModuleSettings(barred=True),
    }
    found = configured(MODULES, {n: s for n, s in settings.items() if n != "never"}, TOOLS)
    assert gone(found, settings) == {"alarm_set", "event_add"}
    mine = Module("mine", "", tools=("event_list",))
    assert unbarred(found, settings) == {"base": MODULES["base"], "mine": mine}


def test_a_family_without_its_tools_is_not_there_but_one_that_never_had_any_is() -> None:
    only = Module("only", "", requires=("alarms",))
    assert without({**MODULES, "only": only}, ("ask", "event_add")) == {
        "calendar": Module("calendar", "dates", ("meeting",), ("alarms",), tools=("event_list",)),
        "alarms": MODULES["alarms"],
        "only": only,
    }
