"""How much of what people say is understood: sentences written by someone who had not seen the templates.

First measured before anything was tuned to them: 73.8 % of the English, 74.4 % of the Chinese ones. After a round of
generalising on every second sentence, the half not looked at stood at 88.1 % and 82.1 %. Now both are counted whole.
The sentences of a second writer (`phrasings2_*`) stood at 73.9 % and 78.8 % when first measured; after a round on the
first half of each intent, the other half stood at 89.3 % and 75.0 %. After a round on its failures both are counted.
Those of a third (`phrasings3_*`) stood at 95.8 % and 95.5 % unseen; after a round on the first half of each intent the
other half stood at 94.0 % and 94.6 % (before it 94.0 % and 94.2 %). Then its failures were looked at too.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.messages import Message, Role, Text, ToolCall, ToolResult
from palmclaw.core.ports import Request
from palmclaw.providers.offline.assistant import next_step
from palmclaw.providers.offline.scripts import SCRIPTS
from tests.providers.desk import MONDAY, TOOLS, offered

HERE = Path(__file__).parent
SWITCHES = {
    "torch_on": ("torch", True),
    "torch_off": ("torch", False),
    "wifi_on": ("wifi", True),
    "wifi_off": ("wifi", False),
}
SETTINGS = ("brightness", "media_volume", "ring_volume", "alarm_volume", "ringer", "dnd", "battery_saver")
FIELDS = {"battery": "battery", "storage": "storage", "network": "network", "time": "time", "date": "time"}
FIRST = {
    "clipboard_get": ("clipboard_get",),
    "clipboard_set": ("clipboard_set",),
    "location": ("location",),
    "open_app": ("app_open",),
    "notify": ("notify",),
    "contact_find": ("contacts_search",),
    "contact_add": ("contact_add",),
    "text_someone": ("contacts_search", "sms_send"),
    "call_someone": ("contacts_search", "call"),
    "unread_messages": ("sms_list",),
    "events_today": ("calendar_list",),
    "events_tomorrow": ("calendar_list",),
    "events_on_day": ("calendar_list",),
    "next_event": ("calendar_list",),
    "create_event": ("event_add",),
    "delete_event": ("calendar_list",),
    "list_files": ("file_list",),
    "read_file": ("file_read",),
    "write_file": ("file_write",),
    "append_file": ("file_write",),
    "find_files": ("file_find", "file_search"),
    "remember": ("memory_write",),
    "forget": ("memory_forget",),
    "what_do_you_know": ("memory_read",),
    "play_music": ("media_list", "media_resume"),
    "pause_music": ("media_pause",),
    "list_photos": ("media_list",),
    "record_start": ("record_start",),
    "record_stop": ("record_stop",),
    "bluetooth_on": ("bluetooth_set",),
    "bluetooth_off": ("bluetooth_set",),
    "bluetooth_connect": ("bluetooth_status",),
    "bluetooth_list": ("bluetooth_status",),
    "weather": ("weather", "location"),
    "open_page": ("page_open",),
    "alarm_set": ("alarm_set",),
    "timer_set": ("timer_set",),
    "alarms_list": ("alarms_list",),
}
FIXED: dict[str, dict[str, Any]] = {
    "unread_messages": {"unread": True},
    "events_today": {"start": "2026-06-15T00:00+08:00", "end": "2026-06-16T00:00+08:00"},
    "events_tomorrow": {"start": "2026-06-16T00:00+08:00", "end": "2026-06-17T00:00+08:00"},
    "append_file": {"append": True},
    "list_photos": {"kind": "photo"},
    "bluetooth_on": {"enabled": True},
    "bluetooth_off": {"enabled": False},
}


LEVELS = {"volume": {"media": 8, "ring": 5, "alarm": 6}, "brightness": 55}


def step(sentence: str) -> ToolCall | str:
    """The first call; for a level to raise or lower, which is looked at first, the one behind that look."""
    said = Message(Role.USER, (Text(sentence),))
    found = next_step(Request("offline", "", (said,), offered(TOOLS)), MONDAY)
    if not isinstance(found, ToolCall) or found.arguments.get("fields") not in (["volume"], ["brightness"]):
        return found
    seen = ToolResult(found.id, found.name, json.dumps(LEVELS))
    history = (said, Message(Role.ASSISTANT, (found,)), Message(Role.TOOL, (seen,)))
    second = next_step(Request("offline", "", history, offered(TOOLS)), MONDAY)
    return second if isinstance(second, ToolCall) else found


def understood(intent: str, found: ToolCall | str) -> bool:
    if isinstance(found, str):
        beginning = {"help": ("I work without", "我不用模型"), "list_tools": ("I have", "我有")}.get(intent, ("\0",))
        return found.startswith(beginning)
    if intent in SWITCHES:
        setting, value = SWITCHES[intent]
        return (found.name, found.arguments) == ("device_set", {"setting": setting, "value": value})
    if intent in SETTINGS:
        return found.name == "device_set" and found.arguments["setting"] == intent
    if intent in FIELDS:
        return (found.name, found.arguments) == ("device_status", {"fields": [FIELDS[intent]]})
    return found.name in FIRST[intent] and FIXED.get(intent, {}).items() <= found.arguments.items()


def phrasings(name: str) -> Iterator[tuple[str, str]]:
    for intent, sentences in tomllib.loads((HERE / f"{name}.toml").read_text("utf-8")).items():
        for sentence in sentences:
            yield intent, sentence


SETS = [f"{name}_{language}" for name in ("phrasings", "phrasings2", "phrasings3") for language in ("en", "zh")]


@pytest.mark.parametrize("name", SETS)
def test_nine_of_ten_phrasings_are_understood_and_most_of_every_intent(name: str) -> None:
    asked = list(phrasings(name))
    missed = [(intent, sentence) for intent, sentence in asked if not understood(intent, step(sentence))]
    intents = Counter(intent for intent, _ in asked)
    assert min(intents.values()) >= 5
    assert len(asked) >= 5 * 40
    assert len(missed) / len(asked) <= 0.1, missed
    assert [i for i, count in Counter(intent for intent, _ in missed).items() if count * 2 >= intents[i]] == []


@pytest.mark.parametrize("name", ["phrasings", "phrasings2", "phrasings3"])
def test_there_are_more_than_forty_intents_in_both_languages(name: str) -> None:
    english, chinese = ({intent for intent, _ in phrasings(f"{name}_{language}")} for language in ("en", "zh"))
    assert english == chinese
    assert len(english) >= 40
    assert english <= set(SCRIPTS)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["other", "other2", "other3"])
def test_sentences_about_other_things_start_nothing(name: str, language: str) -> None:
    others = tomllib.loads((HERE / f"{name}_sentences.toml").read_text("utf-8"))[language]
    assert len(others) >= 50
    assert [(s, found) for s in others if isinstance(found := step(s), ToolCall)] == []


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ('Copy "meet at gate 14" to the clipboard.', "clipboard_set", {"text": "meet at gate 14"}),
        ("Please put the words 'see you at noon' on the clipboard.", "clipboard_set", {"text": "see you at noon"}),
        ("I'd like to use Paper Player, please open it.", "app_open", {"name": "Paper Player"}),
        ("Can you find Aunt Rosa's number in my contacts?", "contacts_search", {"query": "Aunt Rosa"}),
        (
            "put 07700 900456 in my phone book as Joe the plumber",
            "contact_add",
            {"name": "Joe the plumber", "phones": ["07700900456"]},
        ),
        (
            "Add dentist appointment to my calendar tomorrow at 3 pm.",
            "event_add",
            {"title": "dentist appointment", "start": "2026-06-16T15:00+08:00"},
        ),
        (
            "Can you make a new file ideas.txt that says build a treehouse?",
            "file_write",
            {"path": "ideas.txt", "text": "build a treehouse\n"},
        ),
        (
            "Add a line saying walked 8 km today to the end of journal.txt.",
            "file_write",
            {"path": "journal.txt", "text": "walked 8 km today\n", "append": True},
        ),
        ("Find files with budget in the name.", "file_find", {"pattern": "*budget*"}),
        ("erase from your memory that I live in Leeds", "memory_forget", {"entry": "I live in Leeds"}),
        ("Could you set an alarm for quarter past eight in the evening, please?", "alarm_set", {"time": "20:15"}),
        ("I'm boiling eggs, give me a seven-minute timer.", "timer_set", {"seconds": 420}),
        ("帮我发一条通知，写上给水管工打电话", "notify", {"title": "给水管工打电话"}),
        ("通讯录里有没有张伟的号码？", "contacts_search", {"query": "张伟"}),
        (
            "帮我添加一个联系人，名字叫陈医生，号码是010-55550123",
            "contact_add",
            {"name": "陈医生", "phones": ["01055550123"]},
        ),
        ("明天下午三点加个日程：看牙医", "event_add", {"title": "看牙医", "start": "2026-06-16T15:00+08:00"}),
        ("和Priya吃饭的日程不要了，删了吧", "calendar_list", {"query": "和Priya吃饭"}),
        ("帮我建一个叫点子.txt的文件，里面写盖一个树屋", "file_write", {"path": "点子.txt", "text": "盖一个树屋\n"}),
        (
            "往待办.txt里添一行：给银行打电话",
            "file_write",
            {"path": "待办.txt", "text": "给银行打电话\n", "append": True},
        ),
        ("我最喜欢的颜色是绿色，你记住", "memory_write", {"text": "我最喜欢的颜色是绿色"}),
        ("别再记着我吃素了，把这条忘掉", "memory_forget", {"entry": "我吃素"}),
        ("中午十二点给我定个闹钟", "alarm_set", {"time": "12:00"}),
        ("请帮我设一个一个半小时的倒计时", "timer_set", {"seconds": 5400}),
        ("Save Mike's number, it's 07700 900123", "contact_add", {"name": "Mike", "phones": ["07700900123"]}),
        (
            "I'm flying to Chicago, what's the weather there tomorrow?",
            "weather",
            {"place": "Chicago", "days": 2},
        ),
        ("我要去北京出差，那边明天天气怎么样", "weather", {"place": "北京", "days": 2}),
        (
            "下周三老师来家访，那天有什么安排",
            "calendar_list",
            {"start": "2026-06-24T00:00+08:00", "end": "2026-06-25T00:00+08:00"},
        ),
        ("下周一九点安排一个项目例会", "event_add", {"title": "项目例会", "start": "2026-06-22T09:00+08:00"}),
        ("安排明天三点的项目例会", "event_add", {"title": "项目例会", "start": "2026-06-16T15:00+08:00"}),
        ("明天早上有闹钟吗", "alarms_list", {}),
        ("手机调成震动", "device_set", {"setting": "ringer", "value": "vibrate"}),
        ("把亮度拉满", "device_set", {"setting": "brightness", "value": 100}),
        ("亮度调到三成", "device_set", {"setting": "brightness", "value": 30}),
        ("别放了，音乐停一下", "media_pause", {}),
        ("耳机不用了，帮我关蓝牙", "bluetooth_set", {"enabled": False}),
        ("I left the wifi on, turn it off", "device_set", {"setting": "wifi", "value": False}),
        ("打开百度网页 baidu.com", "page_open", {"url": "https://baidu.com"}),
        ("我现在喝茶了，把我爱喝咖啡这条忘掉", "memory_forget", {"entry": "我爱喝咖啡"}),
        (
            "刚认识个新同事叫吴静，电话18877776666，帮我存到通讯录",
            "contact_add",
            {"name": "吴静", "phones": ["18877776666"]},
        ),
    ],
)
def test_the_arguments_are_what_the_sentence_fixes(sentence: str, tool: str, arguments: dict[str, Any]) -> None:
    found = step(sentence)
    assert isinstance(found, ToolCall)
    assert (found.name, found.arguments) == (tool, arguments)
