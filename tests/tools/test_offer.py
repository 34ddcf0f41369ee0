"""What a model is offered: small specifications, and only the families that were spoken of."""

import json
from importlib import import_module

import pytest

from palmclaw import plugins
from palmclaw.core.modules import matched
from palmclaw.core.tools import Module, Tool

FAMILIES = ("alarms", "apps", "bluetooth", "calendar", "contacts", "device", "media", "messages")
SIZES = {"calendar": 435, "device": 240, "contacts": 290, "media": 205, "alarms": 250, "messages": 230}


def family(name: str) -> tuple[Module, list[Tool]]:
    members = vars(import_module(f"palmclaw.tools.{name}"))
    return members["MODULE"], [v for v in members.values() if isinstance(v, Tool)]


MODULES = {name: module for name, module in plugins.tools()[1].items() if name in FAMILIES}


def size(tool: Tool) -> int:
    wire = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return len(json.dumps(wire, separators=(",", ":"), ensure_ascii=False))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_familys_specifications_stay_small(name: str) -> None:
    _, tools = family(name)
    assert sum(map(size, tools)) / len(tools) <= SIZES.get(name, 200)
    assert [t.name for t in tools if size(t) > 450 and t.name not in ("event_add", "event_update")] == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_hangs_together(name: str) -> None:
    module, tools = family(name)
    assert module.name == name
    assert {t.module for t in tools} == {name}
    assert len(module.about.split()) <= 12
    assert [k for k in module.keywords if k != k.lower() or k != k.strip()] == []
    assert len(set(module.keywords)) == len(module.keywords)
    assert [t.name for t in tools if t.description.endswith(".") or not 0 < len(t.description) <= 100] == []


def test_the_catalogue_is_complete() -> None:
    assert sorted(t.name for name in FAMILIES for t in family(name)[1]) == sorted(
        [
            *("device_status", "device_set", "location", "clipboard_get", "clipboard_set", "notify"),
            *("notifications_list", "apps_list", "app_open", "page_open", "contacts_search", "contact_add"),
            *("contact_update", "contact_delete", "calendar_list", "event_add", "event_update", "event_delete"),
            *("sms_list", "sms_send", "calls_list", "call", "media_list", "media_play", "media_pause", "media_resume"),
            *("record_start", "record_stop", "bluetooth_status", "bluetooth_set", "bluetooth_scan"),
            *("bluetooth_connect", "bluetooth_disconnect", "bluetooth_unpair", "alarm_set", "alarms_list"),
            *("alarm_delete", "timer_set"),
        ]
    )


@pytest.mark.parametrize(
    "text",
    [
        *("hi", "Hello there!", "thanks", "write a poem about rivers", "how does photosynthesis work?", "good night"),
        *("translate 'good morning' into French", "what is 17 times 23", "who wrote Hamlet", "I feel a bit sad"),
        *("你好", "谢谢你", "写一首关于春天的诗", "光合作用是什么", "讲个笑话", "法国的首都是哪里", "帮我翻译这句话"),
    ],
)
def test_small_talk_wakes_no_family(text: str) -> None:
    assert matched(MODULES, [text]) == frozenset()


@pytest.mark.parametrize(
    ("text", "woken"),
    [
        ("how much battery is left?", {"device"}),
        ("Turn the torch on", {"device"}),
        ("还剩多少电", {"device"}),
        ("把媒体音量关掉", {"device"}),
        ("where am i right now", {"device"}),
        ("switch off wi-fi", {"device"}),
        ("launch Songbox", {"apps"}),
        ("打开电车时刻表", {"apps"}),
        ("what's Arjun's number?", {"contacts"}),
        ("把他加到通讯录", {"contacts"}),
        ("text Mei Lin that I'm ten minutes late", {"messages", "contacts"}),
        ("any unread messages?", {"messages", "contacts"}),
        ("给 Mei Lin 发短信说我晚十分钟到", {"messages", "contacts"}),
        ("call mum", {"messages", "contacts"}),
        ("what meetings are on tomorrow?", {"calendar"}),
        ("am I free on Friday at noon?", {"calendar"}),
        ("明天有什么安排", {"calendar"}),
        ("play Morning Tide", {"media"}),
        ("how many photos did I take yesterday", {"media"}),
        ("开始录音", {"media"}),
        ("which headphones are connected?", {"bluetooth"}),
        ("连接厨房音箱", {"bluetooth"}),
        ("wake me at seven", {"alarms"}),
        ("set a timer for ten minutes", {"alarms"}),
        ("定一个明早七点的闹钟", {"alarms"}),
        ("remind me to water the plants at six", {"alarms", "calendar"}),
        ("play Morning Tide through the bluetooth speaker", {"media", "bluetooth"}),
    ],
)
def test_what_is_spoken_of_is_woken(text: str, woken: set[str]) -> None:
    assert woken - matched(MODULES, [text]) == set()
