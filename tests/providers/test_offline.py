"""Conversations with the offline assistant: which calls it makes, and what it says of their results."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.errors import Fault
from palmclaw.core.messages import Message, Reasoning, Role, Text
from palmclaw.core.plugin import Kind, Parts, Plugin
from palmclaw.core.ports import Finish
from palmclaw.providers.offline import MODEL, MachineClock, OfflineConfig, create
from tests.providers.desk import DECLINED, MONDAY, TOOLS, Call, Desk

MEI_LIN = {"id": "c3", "name": "Mei Lin", "phones": ["+852 9111 0003"], "emails": ["mei@example.org"]}
MEI_LING = {"id": "c4", "name": "Mei Ling Chow", "phones": ["+85291110004"], "emails": []}
ROSA = {"id": "c5", "name": "Aunt Rosa", "phones": ["+34600111222", "+34900111222"], "emails": []}
NOBODY: dict[str, Any] = {"contacts": [], "match": "none"}
ONE_MEI = {"contacts": [MEI_LIN, MEI_LING], "match": "exact"}
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
DESK_SPEAKER = {"name": "Desk Speaker", "address": "AA:9", "kind": "speaker", "connected": False}
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
VOLUME = {"volume": {"media": 8, "ring": 5, "alarm": 0}, "brightness": 55, "ringer": "vibrate", "dnd": True, "torch": False}
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
    ("How much battery is left?", {FIELD: BATTERY}, [(FIELD, {"fields": ["battery"]})], "The battery is at 62 %, not charging."),
    ("还剩多少电", {FIELD: CHARGING}, [(FIELD, {"fields": ["battery"]})], "电量 100%，正在充电。省电模式开着。"),
    ("how much storage is left", {FIELD: {"storage": {"total_gb": 128, "free_gb": 17.4}}}, [(FIELD, {"fields": ["storage"]})], "17.4 GB of 128 GB are free."),
    ("am I online", {FIELD: WIFI}, [(FIELD, {"fields": ["network"]})], "Connected to the wifi network HomeNest. Mobile data is available."),
    ("有网吗", {FIELD: {"network": {"wifi": {"enabled": True}, "cellular": False}}}, [(FIELD, {"fields": ["network"]})], "WiFi 开着。没有移动数据。"),
    ("is the wifi on", {FIELD: {"network": {"wifi": {"enabled": False}, "cellular": True}}}, [(FIELD, {"fields": ["network"]})], "Wifi is off. Mobile data is available."),
    ("is airplane mode on", {FIELD: {"network": {"airplane": True}}}, [(FIELD, {"fields": ["network"]})], "Airplane mode is on."),
    ("what time is it?", {FIELD: {"time": "2026-06-15T01:07+00:00"}}, [(FIELD, {"fields": ["time"]})], "It is 09:07."),
    ("今天几号", {FIELD: {"time": "nonsense"}}, [(FIELD, {"fields": ["time"]})], "今天是 2026年6月15日，星期一。"),
    ("turn the torch on", {"device_set": ON}, [("device_set", {"setting": "torch", "value": True})], "The torch is on."),
    ("打开手电筒", {}, [("device_set", {"setting": "torch", "value": True})], "手电筒开了。"),
    ("is the torch on?", {FIELD: VOLUME}, [(FIELD, {"fields": ["torch"]})], "The torch is off."),
    ("turn off wifi", {"device_set": OFF}, [("device_set", {"setting": "wifi", "value": False})], "Wifi is off."),
    ("is do not disturb on?", {FIELD: VOLUME}, [(FIELD, {"fields": ["dnd"]})], "Do not disturb is on."),
    ("is battery saver on", {FIELD: BATTERY}, [(FIELD, {"fields": ["battery"]})], "Battery saver is off."),
    ("关闭勿扰模式", {"device_set": OFF}, [("device_set", {"setting": "dnd", "value": False})], "勿扰模式关了。"),
    ("把媒体音量关掉", {"device_set": was_set("media_volume", 0, 7)}, [("device_set", {"setting": "media_volume", "value": 0})], "媒体音量是 0（最大 15）。原来是 7。"),
    ("set the brightness to forty percent", {}, [("device_set", {"setting": "brightness", "value": 40})], "The brightness is 40 %."),
    ("set the brightness to 7", {}, [("device_set", {"setting": "brightness", "value": 7})], "The brightness is 7 %."),
    ("set the volume to 7", {}, [("device_set", {"setting": "media_volume", "value": 7})], "The media volume is 7 of 15."),
    ("max out the volume", {}, [("device_set", {"setting": "media_volume", "value": 15})], "The media volume is 15 of 15."),
    ("turn the volume up", {FIELD: VOLUME}, [(FIELD, {"fields": ["volume"]}), ("device_set", {"setting": "media_volume", "value": 10})], "The media volume is 10 of 15."),
    ("turn down the brightness by 70 percent", {FIELD: VOLUME}, [(FIELD, {"fields": ["brightness"]}), ("device_set", {"setting": "brightness", "value": 0})], "The brightness is 0 %."),
    ("how loud is the alarm", {FIELD: VOLUME}, [(FIELD, {"fields": ["volume"]})], "The alarm volume is 0 of 15."),
    ("unmute the media", {FIELD: VOLUME}, [(FIELD, {"fields": ["volume"]})], "The media volume is 8 of 15."),
    ("unmute the media", {FIELD: {"volume": {"media": 0}}}, [(FIELD, {"fields": ["volume"]}), ("device_set", {"setting": "media_volume", "value": 7})], "The media volume is 7 of 15."),
    ("put my phone on silent", {"device_set": {"value": "silent"}}, [("device_set", {"setting": "ringer", "value": "silent"})], "The ringer is set to silent."),
    ("what ringer mode am I in", {FIELD: VOLUME}, [(FIELD, {"fields": ["ringer"]})], "The ringer is set to vibrate."),
    ("what's on my clipboard", {"clipboard_get": {"text": "Gate 2290"}}, [("clipboard_get", {})], "The clipboard holds: Gate 2290"),
    ("剪贴板里有什么", {"clipboard_get": {"text": ""}}, [("clipboard_get", {})], "剪贴板是空的。"),
    ("copy “see you at 9” to the clipboard", {}, [("clipboard_set", {"text": "see you at 9"})], "Copied: see you at 9"),
    ("where am I?", {"location": {"lat": 22.38, "lon": 114.19, "place": "Sha Tin"}}, [("location", {})], "You are in Sha Tin (22.38, 114.19)."),
    ("我在哪里", {"location": {"lat": 22.38, "lon": 114.19}}, [("location", {})], "你在 22.38, 114.19。"),
    ("notify me that the bread is ready", {"notify": {"id": "n_1"}}, [("notify", {"title": "the bread is ready"})], "The notification is up."),
    ("show a notification titled Bread saying take it out", {}, [("notify", {"title": "Bread", "text": "take it out"})], "The notification is up."),
    ("any new notifications?", {"notifications_list": {"notifications": [{"by": "Mail", "title": "Hi", "text": ""}]}}, [("notifications_list", {})], "1 notifications:\n- Mail: Hi"),
    ("有什么通知", {"notifications_list": {"notifications": []}}, [("notifications_list", {})], "没有通知。"),
    ("open Tide Watch", {"app_open": {"opened": "Tide Watch"}}, [("app_open", {"name": "Tide Watch"})], "Tide Watch is open."),
    ("which apps are installed", {"apps_list": {"apps": [{"label": "A"}, {"label": "B"}]}}, [("apps_list", {})], "Installed apps: A, B."),
    ("go to example.com/menu", {}, [("page_open", {"url": "https://example.com/menu"})], "https://example.com/menu is open."),
    ("weather in Bergen tomorrow", {"weather": {"place": "Bergen", "days": [SHOWERS]}}, [("weather", {"place": "Bergen", "days": 2})], "Bergen:\n- tomorrow: showers, 25–28 °C, 85 % chance of rain"),
    ("will it rain?", {"location": {"place": "Sha Tin, Hong Kong"}, "weather": {"days": [{"day": "soon", "sky": "dry"}]}}, [("location", {}), ("weather", {"place": "Sha Tin", "days": 1})], "Sha Tin:\n- soon: dry, None–None °C, None % chance of rain"),
    ("will it rain?", {"location": {"lat": 1}}, [("location", {})], "I don't know where you are. Name a place: “weather in Bergen”."),
    ("What's Mei's number?", {"contacts_search": TWO_MEIS}, [("contacts_search", {"query": "Mei"})], "2 contacts:\n- Mei Lin: +852 9111 0003, mei@example.org\n- Mei Ling Chow: +85291110004"),
    ("Mei Lin 的电话是多少", {"contacts_search": {"contacts": [MEI_LIN]}}, [("contacts_search", {"query": "Mei Lin"})], "Mei Lin: +852 9111 0003, mei@example.org"),
    ("what's Zoe's number", {"contacts_search": NOBODY}, [("contacts_search", {"query": "Zoe"})], "There is nobody called Zoe in your contacts."),
    ("list my contacts", {"contacts_search": NOBODY}, [("contacts_search", {})], "There are no contacts."),
    ("add Bob Lee to my contacts with number +852 9111 2222", {}, [("contact_add", {"name": "Bob Lee", "phones": ["+85291112222"]})], "Bob Lee is in your contacts."),
    ("new contact: Ann Poe, ann@poe.example", {}, [("contact_add", {"name": "Ann Poe", "emails": ["ann@poe.example"]})], "Ann Poe is in your contacts."),
    ("any unread messages?", {"sms_list": {"messages": [PARCEL]}}, [("sms_list", {"unread": True})], "You have one unread message:\n- 90210 (today at 07:58): Your parcel is here"),
    ("有新短信吗", {"sms_list": {"messages": [PARCEL, FROM_MEI]}}, [("sms_list", {"unread": True})], "有 2 条未读短信：\n- 90210 (今天 07:58): Your parcel is here\n- Mei Lin (昨天 07:58): Yes!"),
    ("any unread texts", {"sms_list": {"messages": []}}, [("sms_list", {"unread": True})], "You have no unread messages."),
    ("show my old messages", {"sms_list": {"messages": [FROM_MEI | {"from_me": True, "time": "?"}]}}, [("sms_list", {"limit": 10})], "The latest messages:\n- you (?): Yes!"),
    ("show all my messages", {"sms_list": {"messages": []}}, [("sms_list", {"limit": 10})], "There are no messages."),
    ("any missed calls?", {"calls_list": {"calls": [{"number": "+1", "direction": "missed", "time": "t"}]}}, [("calls_list", {"limit": 10})], "The latest calls:\n- +1 (missed, t)"),
    ("查看通话记录", {"calls_list": {"calls": []}}, [("calls_list", {"limit": 10})], "没有通话记录。"),
)  # fmt: skip


@pytest.mark.parametrize(("sentence", "answers", "calls", "words"), TABLE, ids=[row[0] for row in TABLE])
async def test_a_command_becomes_calls_and_then_words(
    sentence: str, answers: dict[str, Any], calls: list[Call], words: str
) -> None:
    assert await said(sentence, **answers) == (calls, words)
