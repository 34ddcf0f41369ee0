"""One command at a time: the calls that the offline assistant makes of it, and its words for their results."""

from typing import Any

import pytest

from palmclaw.core.errors import Fault
from tests.providers.desk import Call, Desk

MEI_LIN = {"id": "c3", "name": "Mei Lin", "phones": ["+852 9111 0003"], "emails": ["mei@example.org"]}
MEI_LING = {"id": "c4", "name": "Mei Ling Chow", "phones": ["+85291110004"], "emails": []}
NOBODY: dict[str, Any] = {"contacts": [], "match": "none"}
TWO_MEIS = {"contacts": [MEI_LIN, MEI_LING], "match": "several"}
DENTIST = {
    "id": "e2",
    "title": "Dentist",
    "start": "2026-06-16T15:30+08:00",
    "end": "2026-06-16T16:15+08:00",
    "location": "Lok Yuen",
}
SWIM = {"id": "e4", "title": "Swim", "start": "2026-06-18T18:00+08:00", "end": "2026-06-18T19:00+08:00"}
HOLIDAY = {"title": "Festival", "start": "2026-06-16T00:00+08:00", "end": "2026-06-17T00:00+08:00", "all_day": True}
BUDS = {"name": "Run Buds", "address": "AA:2", "kind": "headset", "connected": True, "battery": 35}
SPEAKER = {"name": "Loft Speaker", "address": "AA:1", "kind": "speaker", "connected": False, "battery": None}
PAIRED = {"enabled": True, "paired": [SPEAKER, BUDS]}
TIDE = {"id": "m6", "kind": "audio", "name": "Morning Tide.mp3", "album": "Music"}
MEMO = {"id": "m8", "kind": "audio", "name": "memo.m4a", "album": "Recordings"}


async def said(sentence: str, **answers: Any) -> tuple[list[Call], str]:
    desk = Desk(answers)
    text = await desk.hears(sentence)
    return desk.calls, text


def was_set(setting: str, value: object, was: object = None) -> dict[str, object]:
    return {"setting": setting, "value": value, "was": was}


BATTERY = {"battery": {"percent": 62, "charging": False, "saver": False}}
CHARGING = {"battery": {"percent": 100, "charging": True, "saver": True}}
VOLUME = {
    "volume": {"media": 8, "ring": 5, "alarm": 0},
    "brightness": 55,
    "ringer": "vibrate",
    "dnd": True,
    "torch": False,
}
WIFI = {"network": {"wifi": {"enabled": True, "ssid": "HomeNest"}, "cellular": True, "airplane": False}}
SNAP = {"name": "IMG_1.jpg", "taken": "2026-06-14T19:22+08:00"}
NEWER = {"name": "IMG_2.jpg", "taken": "2026-06-15T08:00+08:00"}
PARCEL = {"address": "90210", "body": "Your parcel is here", "time": "2026-06-15T07:58+08:00", "from_me": False}
FROM_MEI = {"name": "Mei Lin", "address": "+85291110003", "body": "Yes!", "time": "2026-06-14T07:58+08:00"}
SHOWERS = {"day": "2026-06-16", "sky": "showers", "rain_pct": 85, "high_c": 28, "low_c": 25}
ON, OFF = {"value": True}, {"value": False}
FIELD = "device_status"

# sentence → answers of the tools → calls → words
TABLE: tuple[tuple[str, dict[str, Any], list[Call], str], ...] = (
    (
        "How much battery is left?",
        {FIELD: BATTERY},
        [(FIELD, {"fields": ["battery"]})],
        "The battery is at 62 %, not charging.",
    ),
    ("还剩多少电", {FIELD: CHARGING}, [(FIELD, {"fields": ["battery"]})], "电量 100%，正在充电。省电模式开着。"),
    (
        "how much storage is left",
        {FIELD: {"storage": {"total_gb": 128, "free_gb": 17.4}}},
        [(FIELD, {"fields": ["storage"]})],
        "17.4 GB of 128 GB are free.",
    ),
    (
        "am I online",
        {FIELD: WIFI},
        [(FIELD, {"fields": ["network"]})],
        "Connected to the wifi network HomeNest. Mobile data is available.",
    ),
    (
        "有网吗",
        {FIELD: {"network": {"wifi": {"enabled": True}, "cellular": False}}},
        [(FIELD, {"fields": ["network"]})],
        "WiFi 开着。没有移动数据。",
    ),
    (
        "is the wifi on",
        {FIELD: {"network": {"wifi": {"enabled": False}, "cellular": True}}},
        [(FIELD, {"fields": ["network"]})],
        "Wifi is off. Mobile data is available.",
    ),
    (
        "is airplane mode on",
        {FIELD: {"network": {"airplane": True}}},
        [(FIELD, {"fields": ["network"]})],
        "Airplane mode is on.",
    ),
    ("what time is it?", {FIELD: {"time": "2026-06-15T01:07+00:00"}}, [(FIELD, {"fields": ["time"]})], "It is 09:07."),
    ("今天几号", {FIELD: {"time": "nonsense"}}, [(FIELD, {"fields": ["time"]})], "今天是 2026年6月15日，星期一。"),
    (
        "turn the torch on",
        {"device_set": ON},
        [("device_set", {"setting": "torch", "value": True})],
        "The torch is on.",
    ),
    ("打开手电筒", {}, [("device_set", {"setting": "torch", "value": True})], "手电筒开了。"),
    ("is the torch on?", {FIELD: VOLUME}, [(FIELD, {"fields": ["torch"]})], "The torch is off."),
    ("turn off wifi", {"device_set": OFF}, [("device_set", {"setting": "wifi", "value": False})], "Wifi is off."),
    ("is do not disturb on?", {FIELD: VOLUME}, [(FIELD, {"fields": ["dnd"]})], "Do not disturb is on."),
    ("is battery saver on", {FIELD: BATTERY}, [(FIELD, {"fields": ["battery"]})], "Battery saver is off."),
    ("关闭勿扰模式", {"device_set": OFF}, [("device_set", {"setting": "dnd", "value": False})], "勿扰模式关了。"),
    (
        "把媒体音量关掉",
        {"device_set": was_set("media_volume", 0, 7)},
        [("device_set", {"setting": "media_volume", "value": 0})],
        "媒体音量是 0（最大 15）。原来是 7。",
    ),
    (
        "set the brightness to forty percent",
        {},
        [("device_set", {"setting": "brightness", "value": 40})],
        "The brightness is 40 %.",
    ),
    ("set the brightness to 7", {}, [("device_set", {"setting": "brightness", "value": 7})], "The brightness is 7 %."),
    (
        "set the volume to 7",
        {},
        [("device_set", {"setting": "media_volume", "value": 7})],
        "The media volume is 7 of 15.",
    ),
    (
        "max out the volume",
        {},
        [("device_set", {"setting": "media_volume", "value": 15})],
        "The media volume is 15 of 15.",
    ),
    (
        "turn the volume up",
        {FIELD: VOLUME},
        [(FIELD, {"fields": ["volume"]}), ("device_set", {"setting": "media_volume", "value": 10})],
        "The media volume is 10 of 15.",
    ),
    (
        "turn down the brightness by 70 percent",
        {FIELD: VOLUME},
        [(FIELD, {"fields": ["brightness"]}), ("device_set", {"setting": "brightness", "value": 0})],
        "The brightness is 0 %.",
    ),
    ("how loud is the alarm", {FIELD: VOLUME}, [(FIELD, {"fields": ["volume"]})], "The alarm volume is 0 of 15."),
    ("unmute the media", {FIELD: VOLUME}, [(FIELD, {"fields": ["volume"]})], "The media volume is 8 of 15."),
    (
        "unmute the media",
        {FIELD: {"volume": {"media": 0}}},
        [(FIELD, {"fields": ["volume"]}), ("device_set", {"setting": "media_volume", "value": 7})],
        "The media volume is 7 of 15.",
    ),
    (
        "put my phone on silent",
        {"device_set": {"value": "silent"}},
        [("device_set", {"setting": "ringer", "value": "silent"})],
        "The ringer is set to silent.",
    ),
    ("what ringer mode am I in", {FIELD: VOLUME}, [(FIELD, {"fields": ["ringer"]})], "The ringer is set to vibrate."),
    (
        "what's on my clipboard",
        {"clipboard_get": {"text": "Gate 2290"}},
        [("clipboard_get", {})],
        "The clipboard holds: Gate 2290",
    ),
    ("剪贴板里有什么", {"clipboard_get": {"text": ""}}, [("clipboard_get", {})], "剪贴板是空的。"),
    ("copy “see you at 9” to the clipboard", {}, [("clipboard_set", {"text": "see you at 9"})], "Copied: see you at 9"),
    (
        "where am I?",
        {"location": {"lat": 22.38, "lon": 114.19, "place": "Sha Tin"}},
        [("location", {})],
        "You are in Sha Tin (22.38, 114.19).",
    ),
    ("我在哪里", {"location": {"lat": 22.38, "lon": 114.19}}, [("location", {})], "你在 22.38, 114.19。"),
    (
        "notify me that the bread is ready",
        {"notify": {"id": "n_1"}},
        [("notify", {"title": "the bread is ready"})],
        "The notification is up.",
    ),
    (
        "show a notification titled Bread saying take it out",
        {},
        [("notify", {"title": "Bread", "text": "take it out"})],
        "The notification is up.",
    ),
    (
        "any new notifications?",
        {"notifications_list": {"notifications": [{"by": "Mail", "title": "Hi", "text": ""}]}},
        [("notifications_list", {})],
        "One notification:\n- Mail: Hi",
    ),
    ("有什么通知", {"notifications_list": {"notifications": []}}, [("notifications_list", {})], "没有通知。"),
    (
        "open Tide Watch",
        {"app_open": {"opened": "Tide Watch"}},
        [("app_open", {"name": "Tide Watch"})],
        "Tide Watch is open.",
    ),
    (
        "which apps are installed",
        {"apps_list": {"apps": [{"label": "A"}, {"label": "B"}]}},
        [("apps_list", {})],
        "Installed apps: A, B.",
    ),
    (
        "go to example.com/menu",
        {},
        [("page_open", {"url": "https://example.com/menu"})],
        "https://example.com/menu is open.",
    ),
    (
        "weather in Bergen tomorrow",
        {"weather": {"place": "Bergen", "days": [SHOWERS]}},
        [("weather", {"place": "Bergen", "days": 2})],
        "Bergen:\n- tomorrow: showers, 25–28 °C, 85 % chance of rain",
    ),
    (
        "will it rain?",
        {"location": {"place": "Sha Tin, Hong Kong"}, "weather": {"days": [{"day": "soon", "sky": "dry"}]}},
        [("location", {}), ("weather", {"place": "Sha Tin", "days": 1})],
        "Sha Tin:\n- soon: dry, None–None °C, None % chance of rain",
    ),
    (
        "will it rain?",
        {"location": {"lat": 1}},
        [("location", {})],
        "I don't know where you are. Name a place: “weather in Bergen”.",
    ),
    (
        "What's Mei's number?",
        {"contacts_search": TWO_MEIS},
        [("contacts_search", {"query": "Mei"})],
        "2 contacts:\n- Mei Lin: +852 9111 0003, mei@example.org\n- Mei Ling Chow: +85291110004",
    ),
    (
        "Mei Lin 的电话是多少",
        {"contacts_search": {"contacts": [MEI_LIN]}},
        [("contacts_search", {"query": "Mei Lin"})],
        "Mei Lin: +852 9111 0003, mei@example.org",
    ),
    (
        "what's Zoe's number",
        {"contacts_search": NOBODY},
        [("contacts_search", {"query": "Zoe"})],
        "There is nobody called Zoe in your contacts.",
    ),
    ("list my contacts", {"contacts_search": NOBODY}, [("contacts_search", {})], "There are no contacts."),
    (
        "add Bob Lee to my contacts with number +852 9111 2222",
        {},
        [("contact_add", {"name": "Bob Lee", "phones": ["+85291112222"]})],
        "Bob Lee is in your contacts.",
    ),
    (
        "new contact: Ann Poe, ann@poe.example",
        {},
        [("contact_add", {"name": "Ann Poe", "emails": ["ann@poe.example"]})],
        "Ann Poe is in your contacts.",
    ),
    (
        "any unread messages?",
        {"sms_list": {"messages": [PARCEL]}},
        [("sms_list", {"unread": True})],
        "You have one unread message:\n- 90210 (today at 07:58): Your parcel is here",
    ),
    (
        "有新短信吗",
        {"sms_list": {"messages": [PARCEL, FROM_MEI]}},
        [("sms_list", {"unread": True})],
        "有 2 条未读短信：\n- 90210 (今天 07:58): Your parcel is here\n- Mei Lin (昨天 07:58): Yes!",
    ),
    (
        "any unread texts",
        {"sms_list": {"messages": []}},
        [("sms_list", {"unread": True})],
        "You have no unread messages.",
    ),
    (
        "show my old messages",
        {"sms_list": {"messages": [FROM_MEI | {"from_me": True, "time": "?"}]}},
        [("sms_list", {"limit": 10})],
        "The latest messages:\n- you (?): Yes!",
    ),
    ("show all my messages", {"sms_list": {"messages": []}}, [("sms_list", {"limit": 10})], "There are no messages."),
    (
        "any missed calls?",
        {"calls_list": {"calls": [{"number": "+1", "direction": "missed", "time": "t"}]}},
        [("calls_list", {"limit": 10})],
        "The latest calls:\n- +1 (missed, t)",
    ),
    ("查看通话记录", {"calls_list": {"calls": []}}, [("calls_list", {"limit": 10})], "没有通话记录。"),
)


@pytest.mark.parametrize(("sentence", "answers", "calls", "words"), TABLE, ids=[row[0] for row in TABLE])
async def test_a_command_becomes_calls_and_then_words(
    sentence: str, answers: dict[str, Any], calls: list[Call], words: str
) -> None:
    assert await said(sentence, **answers) == (calls, words)


DAY = {"start": "2026-06-16T00:00+08:00", "end": "2026-06-17T00:00+08:00"}
MONTH = {"start": "2026-06-15T09:00+08:00", "end": "2026-07-15T09:00+08:00", "limit": 10}
NOON = {"title": "lunch with Bo", "start": "2026-06-19T12:00+08:00"}
RUNNING = {"title": "Now", "start": "2026-06-15T08:30+08:00", "end": "2026-06-15T10:00+08:00"}
FILES = {"entries": [{"path": "a.md", "type": "file"}, {"path": "notes", "type": "folder"}]}
ALARM = {"id": "a1", "time": "07:00", "label": "Gym", "days": ["mon", "wed"]}
TIMER = {"id": "t1", "seconds": 600, "label": "", "ends": "2026-06-15T09:10:30+08:00"}

PLANS: tuple[tuple[str, dict[str, Any], list[Call], str], ...] = (
    (
        "what's on tomorrow?",
        {"calendar_list": {"events": [HOLIDAY, DENTIST]}},
        [("calendar_list", DAY)],
        "2 events tomorrow:\n- all day Festival\n- 15:30–16:15 Dentist (Lok Yuen)",
    ),
    (
        "明天有什么安排",
        {"calendar_list": {"events": [DENTIST]}},
        [("calendar_list", DAY)],
        "明天有 1 项安排：\n- 15:30–16:15 Dentist (Lok Yuen)",
    ),
    (
        "am I free on Saturday?",
        {"calendar_list": {"events": []}},
        [("calendar_list", {"start": "2026-06-20T00:00+08:00", "end": "2026-06-21T00:00+08:00"})],
        "Nothing is planned on Saturday 20 June.",
    ),
    (
        "what's on my calendar next week",
        {"calendar_list": {"events": [SWIM, {"title": "?"}]}},
        [("calendar_list", {"start": "2026-06-22T00:00+08:00", "end": "2026-06-29T00:00+08:00"})],
        "2 events from Monday 22 June to Sunday 28 June:\n- Thursday 18 June 18:00–19:00 Swim\n- all day ?",
    ),
    (
        "what's my next meeting",
        {"calendar_list": {"events": [SWIM, RUNNING, DENTIST]}},
        [("calendar_list", MONTH)],
        "Next: Dentist, tomorrow at 15:30 (Lok Yuen).",
    ),
    (
        "下一个会议是什么时候",
        {"calendar_list": {"events": [RUNNING]}},
        [("calendar_list", MONTH)],
        "未来 30 天没有安排。",
    ),
    (
        "schedule lunch with Bo on Friday at noon",
        {"event_add": NOON},
        [("event_add", NOON)],
        "“lunch with Bo” is in your calendar: Friday 19 June at 12:00.",
    ),
    (
        "put holiday on my calendar for next Friday",
        {},
        [
            (
                "event_add",
                {
                    "title": "holiday",
                    "start": "2026-06-26T00:00+08:00",
                    "end": "2026-06-27T00:00+08:00",
                    "all_day": True,
                },
            )
        ],
        "“holiday” is in your calendar: on Friday 26 June.",
    ),
    (
        "把明天下午三点到四点开会加到日历",
        {},
        [("event_add", {"title": "开会", "start": "2026-06-16T15:00+08:00", "end": "2026-06-16T16:00+08:00"})],
        "已加到日历：“开会”，明天 15:00。",
    ),
    (
        "delete the dentist appointment",
        {"calendar_list": {"events": [DENTIST]}},
        [("calendar_list", {"query": "dentist"}), ("event_delete", {"id": "e2"})],
        "“Dentist” (tomorrow at 15:30) is deleted.",
    ),
    (
        "cancel my dentist appointment tomorrow",
        {"calendar_list": {"events": [DENTIST]}},
        [("calendar_list", {"query": "dentist"} | DAY), ("event_delete", {"id": "e2"})],
        "“Dentist” (tomorrow at 15:30) is deleted.",
    ),
    (
        "cancel my meeting tomorrow at 15:30",
        {"calendar_list": {"events": [HOLIDAY, DENTIST]}},
        [("calendar_list", DAY), ("event_delete", {"id": "e2"})],
        "“Dentist” (tomorrow at 15:30) is deleted.",
    ),
    (
        "cancel my meeting tomorrow",
        {"calendar_list": {"events": []}},
        [("calendar_list", DAY)],
        "There is nothing to delete tomorrow.",
    ),
    (
        "delete the yoga event",
        {"calendar_list": {"events": [RUNNING | {"end": "2026-06-01T10:00+08:00"}]}},
        [("calendar_list", {"query": "yoga"})],
        "There is no event “yoga” in your calendar.",
    ),
    ("what files do I have", {"file_list": FILES}, [("file_list", {"path": "."})], "workspace holds: a.md, notes/."),
    (
        "列出 docs 文件夹里的文件",
        {"file_list": {"entries": []}},
        [("file_list", {"path": "docs"})],
        "docs 里没有文件。",
    ),
    ("有哪些文件", {"file_list": FILES}, [("file_list", {"path": "."})], "工作区 里有：a.md、notes/。"),
    ("read notes.txt", {"file_read": {"text": "milk\n"}}, [("file_read", {"path": "notes.txt"})], "notes.txt:\nmilk\n"),
    ("read notes.txt", {"file_read": {"text": ""}}, [("file_read", {"path": "notes.txt"})], "notes.txt is empty."),
    (
        "read the shopping note",
        {"file_find": {"files": ["a/shopping.md"]}, "file_read": {"text": "x"}},
        [("file_find", {"pattern": "*shopping*"}), ("file_read", {"path": "a/shopping.md"})],
        "a/shopping.md:\nx",
    ),
    (
        "read the shopping note",
        {"file_find": {"files": []}},
        [("file_find", {"pattern": "*shopping*"})],
        "There is no file called shopping.",
    ),
    (
        "write milk and eggs to list.md",
        {},
        [("file_write", {"path": "list.md", "text": "milk and eggs\n"})],
        "list.md is written.",
    ),
    ("create an empty file called a.txt", {}, [("file_write", {"path": "a.txt", "text": ""})], "a.txt is written."),
    (
        "把面包加到 list.md",
        {},
        [("file_write", {"path": "list.md", "text": "面包\n", "append": True})],
        "已加到 list.md。",
    ),
    (
        "find files named budget",
        {"file_find": {"files": [{"path": "budget.csv"}]}},
        [("file_find", {"pattern": "*budget*"})],
        "Found: budget.csv.",
    ),
    ("find all pdf files", {"file_find": {"files": []}}, [("file_find", {"pattern": "*.pdf"})], "No file matches pdf."),
    (
        "search my files for rent",
        {"file_search": {"matches": [{"path": "b.csv", "line": 2, "text": "rent,900"}]}},
        [("file_search", {"query": "rent"})],
        "Found: rent.\n- b.csv:2: rent,900",
    ),
    (
        "search my files for rent",
        {"file_search": {"matches": []}},
        [("file_search", {"query": "rent"})],
        "No file mentions “rent”.",
    ),
    ("remember that I like tea", {}, [("memory_write", {"text": "I like tea"})], "I'll remember: I like tea"),
    (
        "忘掉我喜欢喝茶",
        {"memory_forget": {"how": "dropped", "before": "喜欢喝茶"}},
        [("memory_forget", {"entry": "我喜欢喝茶"})],
        "忘掉了：喜欢喝茶",
    ),
    (
        "what do you know about me",
        {"memory_read": "## Preferences\n1. tea (2026-11-30)"},
        [("memory_read", {})],
        "This is what I know:\n## Preferences\n1. tea (2026-11-30)",
    ),
    ("你知道我什么", {"memory_read": "## About you\n## Plans"}, [("memory_read", {})], "你还没有告诉过我什么。"),
    (
        "play Morning Tide",
        {"media_list": {"items": [TIDE]}, "media_play": {"item": TIDE}},
        [("media_list", {"kind": "audio", "query": "Morning Tide"}), ("media_play", {"id": "m6"})],
        "Playing Morning Tide.mp3.",
    ),
    (
        "play some music",
        {"media_list": {"items": [MEMO, TIDE]}},
        [("media_list", {"kind": "audio"}), ("media_play", {"id": "m6"})],
        "Playing Morning Tide.mp3.",
    ),
    (
        "play Blue River",
        {"media_list": {"items": []}},
        [("media_list", {"kind": "audio", "query": "Blue River"})],
        "There is no song called Blue River.",
    ),
    ("放点音乐", {"media_list": {"items": []}}, [("media_list", {"kind": "audio"})], "这部手机上没有音乐。"),
    ("resume the music", {"media_resume": {"item": TIDE}}, [("media_resume", {})], "Playing Morning Tide.mp3."),
    ("pause the music", {}, [("media_pause", {})], "Paused."),
    (
        "pause the music",
        {"media_pause": Fault("not_playing", "nothing is playing")},
        [("media_pause", {})],
        "Nothing is playing.",
    ),
    (
        "pause the music",
        {"media_pause": Fault("internal", "it broke.")},
        [("media_pause", {})],
        "That did not work: it broke.",
    ),
    (
        "show my photos",
        {"media_list": {"items": [SNAP, {"name": "x"}]}},
        [("media_list", {"kind": "photo"})],
        "2 photos:\n- IMG_1.jpg (yesterday at 19:22)\n- x",
    ),
    (
        "show my photos from yesterday",
        {"media_list": {"items": [NEWER, SNAP]}},
        [("media_list", {"kind": "photo", "since": "2026-06-14T00:00+08:00"})],
        "One photo:\n- IMG_1.jpg (yesterday at 19:22)",
    ),
    ("看看我的照片", {"media_list": {"items": []}}, [("media_list", {"kind": "photo"})], "没有照片。"),
    ("record a memo called standup", {}, [("record_start", {"name": "standup"})], "Recording."),
    (
        "stop recording",
        {"record_stop": {"saved": {"id": "m9", "name": "memo.m4a"}}},
        [("record_stop", {})],
        "The recording is saved as memo.m4a.",
    ),
    (
        "stop recording",
        {"record_stop": Fault("not_recording", "no")},
        [("record_stop", {})],
        "Nothing is being recorded.",
    ),
    ("停止录音", {"record_stop": Fault("internal", "坏了。")}, [("record_stop", {})], "没有成功：坏了。"),
    ("turn bluetooth off", {}, [("bluetooth_set", {"enabled": False})], "Bluetooth is off."),
    (
        "which bluetooth devices are paired",
        {"bluetooth_status": PAIRED},
        [("bluetooth_status", {})],
        "Bluetooth is on. Paired devices: Loft Speaker, Run Buds (connected, 35 %).",
    ),
    (
        "蓝牙设备列表",
        {"bluetooth_status": {"enabled": False, "paired": []}},
        [("bluetooth_status", {})],
        "蓝牙关了。没有已配对的设备。",
    ),
    (
        "connect to my Loft Speaker",
        {"bluetooth_status": PAIRED},
        [("bluetooth_status", {}), ("bluetooth_connect", {"address": "AA:1"})],
        "Loft Speaker is connected.",
    ),
    (
        "连接音箱",
        {"bluetooth_status": PAIRED},
        [("bluetooth_status", {}), ("bluetooth_connect", {"address": "AA:1"})],
        "已连接 Loft Speaker。",
    ),
    (
        "connect to the headphones",
        {"bluetooth_status": PAIRED, "bluetooth_connect": Fault("bluetooth_off", "off")},
        [("bluetooth_status", {}), ("bluetooth_connect", {"address": "AA:2"})],
        "Bluetooth is off: say “turn bluetooth on” first.",
    ),
    (
        "connect to the headphones",
        {"bluetooth_status": PAIRED, "bluetooth_connect": Fault("timeout", "slow")},
        [("bluetooth_status", {}), ("bluetooth_connect", {"address": "AA:2"})],
        "It is not certain whether that took effect; please look before you try again.",
    ),
    (
        "connect to the toaster",
        {"bluetooth_status": PAIRED},
        [("bluetooth_status", {})],
        "No paired device is called toaster. Paired: Loft Speaker, Run Buds.",
    ),
    (
        "disconnect the run buds",
        {"bluetooth_status": PAIRED},
        [("bluetooth_status", {}), ("bluetooth_disconnect", {"address": "AA:2"})],
        "Run Buds is disconnected.",
    ),
    ("wake me up at 7", {}, [("alarm_set", {"time": "07:00"})], "The alarm is set for tomorrow at 07:00."),
    (
        "set an alarm for 6:30 every weekday called Gym",
        {},
        [("alarm_set", {"time": "06:30", "label": "Gym", "days": ["mon", "tue", "wed", "thu", "fri"]})],
        "The alarm is set for 06:30 on Monday, Tuesday, Wednesday, Thursday, Friday (Gym).",
    ),
    (
        "set an alarm for next Monday at 8",
        {},
        [("alarm_set", {"time": "2026-06-22T08:00+08:00"})],
        "The alarm is set for Monday 22 June at 08:00.",
    ),
    ("设一个每周三早上七点的闹钟", {}, [("alarm_set", {"time": "07:00", "days": ["wed"]})], "闹钟设在 星期三 07:00。"),
    ("set a timer for an hour and a half", {}, [("timer_set", {"seconds": 5400})], "The timer is set for 1 h 30 min."),
    (
        "set a timer for ten minutes for the pasta",
        {},
        [("timer_set", {"seconds": 600, "label": "pasta"})],
        "The timer is set for 10 min (pasta).",
    ),
    (
        "remind me in 20 minutes to check the oven",
        {},
        [("timer_set", {"seconds": 1200, "label": "check the oven"})],
        "The timer is set for 20 min (check the oven).",
    ),
    (
        "提醒我明天早上九点交作业",
        {},
        [("alarm_set", {"time": "2026-06-16T09:00+08:00", "label": "交作业"})],
        "闹钟设在 明天 09:00（交作业）。",
    ),
    (
        "list my alarms",
        {"alarms_list": {"alarms": [ALARM], "timers": [TIMER, {"seconds": 5, "label": "egg"}]}},
        [("alarms_list", {})],
        "Alarms: 07:00 Monday, Wednesday (Gym). Timers: until 09:10:30, 5 (egg).",
    ),
    ("我有哪些闹钟", {"alarms_list": {"alarms": [], "timers": []}}, [("alarms_list", {})], "没有闹钟或计时器。"),
)


@pytest.mark.parametrize(("sentence", "answers", "calls", "words"), PLANS, ids=[row[0] for row in PLANS])
async def test_a_plan_becomes_calls_and_then_words(
    sentence: str, answers: dict[str, Any], calls: list[Call], words: str
) -> None:
    assert await said(sentence, **answers) == (calls, words)
