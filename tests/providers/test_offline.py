"""Conversations with the offline assistant: which calls it makes, and what it says of their results."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.device import Code
from palmclaw.core.errors import Fault
from palmclaw.core.messages import Message, Reasoning, Role, Text
from palmclaw.core.plugin import Kind, Parts, Plugin
from palmclaw.core.ports import Finish, Reply, Request
from palmclaw.core.text import clipped
from palmclaw.providers.offline import MODEL, MachineClock, OfflineConfig, create
from palmclaw.providers.offline.salvage import value_in
from tests.providers.desk import DECLINED, MONDAY, TOOLS, Call, Desk

MEI_LIN = {"id": "c3", "name": "Mei Lin", "phones": ["+852 9111 0003"], "emails": ["mei@example.org"]}
MEI_LING = {"id": "c4", "name": "Mei Ling Chow", "phones": ["+85291110004"], "emails": []}
ROSA = {"id": "c5", "name": "Aunt Rosa", "phones": ["+34600111222", "+34900111222"], "emails": []}
NOBODY: dict[str, Any] = {"contacts": [], "match": "none"}
ONE_MEI = {"contacts": [MEI_LIN, MEI_LING], "match": "exact"}
TWO_MEIS = {"contacts": [MEI_LIN, MEI_LING], "match": "several"}
SWIM = {"id": "e4", "title": "Swim", "start": "2026-06-18T18:00+08:00", "end": "2026-06-18T19:00+08:00"}
SPEAKER = {"name": "Loft Speaker", "address": "AA:1", "kind": "speaker", "connected": False, "battery": None}
DESK_SPEAKER = {"name": "Desk Speaker", "address": "AA:9", "kind": "speaker", "connected": False}

# What turns a command into something else than a wish.
NOT_ASKED = (
    "don't {}", "please do not {}", "never {}", "you don't need to {}", "if it rains, {}", "she said: {}",
    "he told me to {}", "my friend wants to {}", "what happens when I {}", "why should I {}",
    "别{}", "先别{}", "不要{}", "你不用{}", "没必要{}", "如果下雨，{}", "他说：{}", "我朋友想{}", "为什么要{}",
)  # fmt: skip


async def said(sentence: str, **answers: Any) -> tuple[list[Call], str]:
    desk = Desk(answers)
    text = await desk.hears(sentence)
    return desk.calls, text


BATTERY = {"battery": {"percent": 62, "charging": False, "saver": False}}
FIELD = "device_status"


async def test_a_text_goes_to_the_one_contact_that_bears_the_name() -> None:
    assert await said("text Mei Lin that I'm ten minutes late", contacts_search=ONE_MEI) == (
        [
            ("contacts_search", {"query": "Mei Lin"}),
            ("sms_send", {"to": "+85291110003", "text": "I'm ten minutes late"}),
        ],
        "Sent to Mei Lin: “I'm ten minutes late”",
    )


async def test_the_same_in_chinese() -> None:
    assert await said("给 Mei Lin 发短信说我晚十分钟到", contacts_search=ONE_MEI) == (
        [("contacts_search", {"query": "Mei Lin"}), ("sms_send", {"to": "+85291110003", "text": "我晚十分钟到"})],
        "已发给 Mei Lin：“我晚十分钟到”",
    )


@pytest.mark.parametrize(
    ("sentence", "query", "text"),
    [
        ("text Mei Lin: are you coming?", "Mei Lin", "are you coming?"),
        ("Could you text Mei Lin: are you coming?", "Mei Lin", "are you coming?"),
        ("Could you text Mei Lin that I'm coming?", "Mei Lin", "I'm coming"),
        ("send Mei Lin a message saying “Happy birthday!”", "Mei Lin", "Happy birthday!"),
        ("let Mei Lin know that dinner is at 8:30", "Mei Lin", "dinner is at 8:30"),
        ("text Mei Lin, I'm late", "Mei Lin", "I'm late"),
        ("text Mei Lin I'm late", "Mei", "I'm late"),
        ("告诉 Mei Lin：我到了", "Mei Lin", "我到了"),
        ("告诉Mei Lin我到了", "Mei", "我到了"),
        ("发短信给 Mei Lin，说我 9 点 到", "Mei Lin", "我 9 点 到"),
    ],
)
async def test_the_message_is_what_was_said(sentence: str, query: str, text: str) -> None:
    calls, _ = await said(sentence, contacts_search=ONE_MEI)
    assert calls == [("contacts_search", {"query": query}), ("sms_send", {"to": "+85291110003", "text": text})]


async def test_a_number_needs_no_contact() -> None:
    calls, text = await said("text +852 9111 0003 saying hi there")
    assert (calls, text) == (
        [("sms_send", {"to": "+85291110003", "text": "hi there"})],
        "Sent to +85291110003: “hi there”",
    )
    assert await said("call 999") == ([("call", {"number": "999"})], "Calling 999.")


async def test_nobody_of_that_name_gets_nothing() -> None:
    for sentence in ("text Zoe that I'm late", "text Zoe I'm late"):
        assert await said(sentence, contacts_search=NOBODY) == (
            [("contacts_search", {"query": "Zoe"})],
            "There is nobody called Zoe in your contacts.",
        )
    bare = {"contacts": [{"name": "Zoe", "phones": []}], "match": "one"}
    assert (await said("call Zoe", contacts_search=bare))[1] == "Zoe has no phone number."


async def test_several_are_a_question_and_the_answer_completes_it() -> None:
    asking = {
        "question": "There are several: Mei Lin, Mei Ling Chow. Which one?",
        "choices": ["Mei Lin", "Mei Ling Chow"],
    }
    for answer in ("the second one", "2", "Mei Ling Chow", "ling", "the last one"):
        desk = Desk({"contacts_search": TWO_MEIS})
        assert await desk.hears("text Mei that I'm late") == ""
        assert await desk.hears(answer) == "Sent to Mei Ling Chow: “I'm late”"
        assert desk.calls == [
            ("contacts_search", {"query": "Mei"}),
            ("ask", asking),
            ("sms_send", {"to": "+85291110004", "text": "I'm late"}),
        ]


async def test_a_question_in_plain_text_where_there_is_no_ask() -> None:
    desk = Desk({"contacts_search": TWO_MEIS}, tools=("contacts_search", "call"))
    assert await desk.hears("给 Mei 打电话") == "有好几个：Mei Lin、Mei Ling Chow。是哪一个？"
    assert await desk.hears("第一个") == "正在呼叫 Mei Lin。"
    assert desk.calls[-1] == ("call", {"number": "+85291110003"})


async def test_two_questions_in_a_row() -> None:
    rosas = {"contacts": [ROSA, MEI_LIN], "match": "several"}
    desk = Desk({"contacts_search": rosas})
    assert await desk.hears("text Rosa") == ""
    assert await desk.hears("1") == ""
    assert await desk.hears("the first") == ""
    assert await desk.hears("see you on Sunday") == "Sent to Aunt Rosa: “see you on Sunday”"
    assert [name for name, _ in desk.calls] == ["contacts_search", "ask", "ask", "ask", "sms_send"]
    assert desk.calls[-1] == ("sms_send", {"to": "+34600111222", "text": "see you on Sunday"})


@pytest.mark.parametrize(("no", "words"), [("never mind", "All right, I left it."), ("No.", "All right, I left it.")])
async def test_a_question_can_be_left(no: str, words: str) -> None:
    desk = Desk({"contacts_search": TWO_MEIS})
    await desk.hears("text Mei that I'm late")
    assert await desk.hears(no) == words
    assert [name for name, _ in desk.calls] == ["contacts_search", "ask"]


async def test_another_command_leaves_the_question_behind() -> None:
    desk = Desk({"contacts_search": ONE_MEI, FIELD: BATTERY})
    assert await desk.hears("给 Mei Lin 发短信") == ""
    assert desk.calls[-1] == ("ask", {"question": "发给 Mei Lin 的短信写什么？"})
    assert await desk.hears("还剩多少电") == "电量 62%，没有在充电。"
    assert await desk.hears("我晚点到") == (await said("我晚点到"))[1]


async def test_an_event_without_a_time_or_a_name_is_asked_about() -> None:
    desk = Desk()
    await desk.hears("create an event")
    assert desk.calls == [("ask", {"question": "What is the event called?"})]
    await desk.hears("Choir")
    assert desk.calls[1:] == [("ask", {"question": "When is “Choir”?"})]
    assert await desk.hears("on Friday at 7 pm") == "“Choir” is in your calendar: Friday 19 June at 19:00."
    assert desk.calls[2:] == [("event_add", {"title": "Choir", "start": "2026-06-19T19:00+08:00"})]


async def test_which_of_several_events_and_devices_and_files() -> None:
    twice = {"events": [SWIM, SWIM | {"id": "e5", "start": "2026-06-25T18:00+08:00"}]}
    desk = Desk({"calendar_list": twice})
    await desk.hears("delete the swim event")
    assert desk.calls[-1][1]["choices"] == ["Swim, Thursday 18 June at 18:00", "Swim, Thursday 25 June at 18:00"]
    assert await desk.hears("the second") == "“Swim” (Thursday 25 June at 18:00) is deleted."
    desk = Desk({"bluetooth_status": {"enabled": True, "paired": [SPEAKER, DESK_SPEAKER]}})
    await desk.hears("connect to the speaker")
    assert await desk.hears("desk") == "Desk Speaker is connected."
    desk = Desk({"file_find": {"files": ["a/plan.md", "b/plan.md"]}, "file_read": {"text": "x"}})
    await desk.hears("read the plan file")
    assert await desk.hears("b/plan.md") == "b/plan.md:\nx"


async def test_a_contact_without_a_name_is_asked_for_it() -> None:
    desk = Desk()
    await desk.hears("save the number 555-0142")
    assert await desk.hears("Joe") == "Joe is in your contacts."
    assert desk.calls[-1] == ("contact_add", {"name": "Joe", "phones": ["5550142"]})


@pytest.mark.parametrize(
    ("fault", "english", "chinese"),
    [
        (DECLINED, "You declined, so nothing was sent.", "好的，没有发送。"),
        (Fault("denied", "x"), "That is not allowed here, so nothing was sent.", "这里不允许，没有发送。"),
        (
            Fault("permission_denied", "x"),
            "The phone did not give the permission for that, so nothing was sent.",
            "手机没有给权限，没有发送。",
        ),
        (
            Fault("outcome_unknown", "x"),
            "It is not certain whether that took effect; please look before you try again.",
            "不确定有没有生效，请先看看再重试。",
        ),
        (Fault("internal", "no signal"), "That did not work: no signal.", "没有成功：no signal。"),
        (
            Fault("storage_full", "The phone is full."),
            "That did not work: The phone is full.",
            "没有成功：手机存储空间满了。",
        ),
        (Fault("unsupported", "no SIM"), "That did not work: no SIM.", "没有成功：这部手机不支持。"),
    ],
)
async def test_a_failure_is_one_honest_sentence(fault: Fault, english: str, chinese: str) -> None:
    answers = {"contacts_search": ONE_MEI, "sms_send": fault}
    assert (await said("text Mei Lin that I'm late", **answers))[1] == english
    assert (await said("给 Mei Lin 发短信说我到了", **answers))[1] == chinese


@pytest.mark.parametrize("code", [str(code) for code in Code if code not in ("permission_denied", "timeout")])
async def test_every_failure_of_a_device_has_chinese_words(code: str) -> None:
    text = (await said("打开蓝牙", bluetooth_set=Fault(code, "in English")))[1]
    assert text.startswith("没有成功：")
    assert "in English" not in text


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("請幫我開啟手電筒", ("device_set", {"setting": "torch", "value": True})),
        ("還剩多少電", (FIELD, {"fields": ["battery"]})),
        ("把媒體音量關掉", ("device_set", {"setting": "media_volume", "value": 0})),
        ("關閉藍牙", ("bluetooth_set", {"enabled": False})),
        ("設一個十分鐘的計時器", ("timer_set", {"seconds": 600})),
        ("記住我對花生過敏", ("memory_write", {"text": "我對花生過敏"})),
        ("把「買牛奶」寫進 待辦.txt", ("file_write", {"path": "待辦.txt", "text": "買牛奶\n"})),
        ("給王小明打電話", ("contacts_search", {"query": "王小明"})),
    ],
)
async def test_traditional_characters_are_read_and_kept_in_names_and_texts(sentence: str, call: Call) -> None:
    assert (await said(sentence, contacts_search=NOBODY))[0][0] == call


async def test_a_text_in_traditional_characters_is_sent_as_written() -> None:
    calls, _ = await said("傳簡訊給 Mei Lin 說我晚十分鐘到", contacts_search=ONE_MEI)
    assert calls[-1] == ("sms_send", {"to": "+85291110003", "text": "我晚十分鐘到"})


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("I'm in a meeting, text Mei Lin that I'm late", ("sms_send", {"to": "+85291110003", "text": "I'm late"})),
        ("我在开车，给Mei Lin打电话", ("call", {"number": "+85291110003"})),
        ("We're out of milk, add a line milk to list.txt", None),
        ("我搬家了，你别再记着我住在海淀了，忘了吧", ("memory_forget", {"entry": "我住在海淀"})),
    ],
)
async def test_a_circumstance_of_a_set_form_may_open_any_command(sentence: str, call: Call | None) -> None:
    appended = ("file_write", {"path": "list.txt", "text": "milk\n", "append": True})
    assert (await said(sentence, contacts_search=ONE_MEI))[0][-1] == (call or appended)


@pytest.mark.parametrize("opening", NOT_ASKED)
async def test_what_is_denied_supposed_or_repeated_starts_nothing(opening: str) -> None:
    english = ("turn on the torch", "text Mei Lin that I'm late", "delete the dentist appointment", "play some music")
    chinese = ("打开手电筒", "给Mei Lin发短信说我到了", "删除明天的会议", "放点音乐", "关掉wifi")
    for command in english if opening.isascii() else chinese:
        assert (await said(opening.format(command)))[0] == [], command


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("could you tell me if my phone is nearly full", (FIELD, {"fields": ["storage"]})),
        (
            "The little light on the back is shining, switch it off",
            ("device_set", {"setting": "torch", "value": False}),
        ),
        ("put my phone on vibrate I'm in class", ("device_set", {"setting": "ringer", "value": "vibrate"})),
        ("would you mind turning off the wi-fi on my telephone", ("device_set", {"setting": "wifi", "value": False})),
        ("go to the website bbc dot co dot uk", ("page_open", {"url": "https://bbc.co.uk"})),
        ("Write “a, b” to server.conf", ("file_write", {"path": "server.conf", "text": "a, b\n"})),
        ("充满了，省电模式关掉吧", ("device_set", {"setting": "battery_saver", "value": False})),
        ("闹铃音量帮我调到10吧", ("device_set", {"setting": "alarm_volume", "value": 10})),
        ("晚上用不着蓝牙了，给我关上", ("bluetooth_set", {"enabled": False})),
    ],
)
async def test_how_people_put_it(sentence: str, call: Call) -> None:
    assert (await said(sentence))[0][0] == call


async def test_a_refused_look_says_what_was_not_done() -> None:
    assert (await said("where am I", location=DECLINED))[1] == "You declined, so nothing was looked up."


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("what's the weather", "I have no tool here to look up the weather."),
        ("今天天气怎么样", "这里没有查天气的工具。"),
        ("remember that I like tea", "I have no tool here to remember things."),
        ("text Mei Lin that I'm late", "I have no tool here to look up contacts."),
    ],
)
async def test_what_is_not_there_is_said(sentence: str, words: str) -> None:
    assert await Desk(tools=()).hears(sentence) == words


async def test_the_time_needs_no_tool() -> None:
    assert await Desk(tools=()).hears("what time is it") == "It is 09:00."


async def test_what_it_does_not_understand_it_says_in_one_sentence() -> None:
    for sentence, word in (("tell me a joke", "understand"), ("讲个笑话", "没听懂")):
        calls, text = await said(sentence)
        assert calls == []
        assert word in text
        assert "palmclaw models" in text
        assert "palmclaw models" in text


async def test_small_talk_and_help_need_no_tools() -> None:
    for sentence in ("hi", "thanks", "bye", "help", "what can you do", "你好", "谢谢", "再见", "帮助"):
        calls, text = await said(sentence)
        assert calls == []
        assert "understand" not in text
        assert "没听懂" not in text


async def test_it_lists_its_tools() -> None:
    assert await Desk(tools=("call", "ask")).hears("what tools do you have?") == "I have 2 tools: call, ask."
    assert await Desk(tools=()).hears("你有哪些工具") == "这里没有工具。"


async def test_two_harmless_commands_in_one_sentence() -> None:
    calls, text = await said("turn on the torch and set the brightness to 30%")
    assert calls == [
        ("device_set", {"setting": "torch", "value": True}),
        ("device_set", {"setting": "brightness", "value": 30}),
    ]
    assert text == "The torch is on.\nThe brightness is 30 %."
    calls, text = await said("关掉手电筒，然后打开蓝牙", device_set=DECLINED)
    assert calls == [("device_set", {"setting": "torch", "value": False}), ("bluetooth_set", {"enabled": True})]
    assert text == "好的，没有改动。\n蓝牙开了。"


@pytest.mark.parametrize(
    "sentence",
    [
        "text Mei Lin that I'm late and turn off the wifi",
        "turn on the torch and call Mei Lin",
        "delete the dentist appointment and turn off the torch",
        "打开手电筒，然后给Mei Lin打电话",
        "给 Mei Lin 发短信说我到了，然后关掉手电筒",
    ],
)
async def test_sending_and_deleting_stand_alone(sentence: str) -> None:
    calls, text = await said(sentence)
    assert calls == []
    assert text in (
        "One thing at a time, please: nothing was done. Say that again as separate requests.",
        "请一次说一件事：什么都还没做，请分开再说。",
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "don't text Mei Lin",
        "should I text Mei Lin that I'm late?",
        "I told you to call Mei Lin",
        "if it rains, call Mei Lin",
        "I'm sad, call Mei Lin",
        "she said: delete the dentist appointment",
        "别给 Mei Lin 发短信",
        "要不要给小王打电话",
    ],
)
async def test_it_never_guesses_at_sending_or_deleting(sentence: str) -> None:
    assert (await said(sentence))[0] == []


async def test_a_reason_beside_a_command_does_no_harm() -> None:
    assert (await said("it's so dark, turn the torch on"))[0] == [("device_set", {"setting": "torch", "value": True})]
    assert (await said("I'm plugged in now, so turn off battery saver"))[0] == [
        ("device_set", {"setting": "battery_saver", "value": False})
    ]
    assert (await said("when it's dark, turn the torch on"))[0] == []


async def test_the_language_of_the_answer_is_that_of_the_sentence() -> None:
    answers = {"contacts_search": {"contacts": [{"name": "王小明", "phones": ["1380"]}], "match": "one"}}
    assert (await said("text 王小明 that dinner is ready", **answers))[1] == "Sent to 王小明: “dinner is ready”"


async def test_a_steering_message_begins_anew() -> None:
    desk = Desk({FIELD: BATTERY, "device_set": {}})
    desk.messages.append(Message(Role.USER, (Text("turn the torch on"),)))
    desk.messages.append((await desk.next()).message)
    assert await desk.hears("how much battery is left") == "The battery is at 62 %, not charging."


async def test_every_call_of_a_conversation_has_its_own_id() -> None:
    desk = Desk({"contacts_search": ONE_MEI})
    for _ in range(2):
        await desk.hears("text Mei Lin that I'm late")
    ids = [call.id for message in desk.messages for call in message.calls]
    assert len(set(ids)) == len(ids) == 4


async def test_the_reply_is_a_plain_one() -> None:
    desk = Desk()
    desk.messages.append(Message(Role.ASSISTANT, (Reasoning("…"),)))
    reply = await desk.next()
    assert (reply.message.model, reply.finish, reply.usage.requests) == (MODEL, Finish.STOP, 1)
    assert reply.message.text.startswith("Hello!")


async def test_a_cut_result_is_still_put_into_words() -> None:
    long = {"path": "notes.txt", "text": "milk and " * 20}
    desk = Desk({"file_read": clipped(json.dumps(long, separators=(",", ":")), 50, "the next part")})
    words = "notes.txt:\nmilk and milk and milk…\n(That was too long to read whole.)"
    assert await desk.hears("read notes.txt") == words


async def test_of_a_cut_list_the_whole_items_are_told() -> None:
    sms = [{"address": str(n), "body": "x", "time": "2026-06-15T07:58+08:00"} for n in range(9)]
    desk = Desk({"sms_list": clipped(json.dumps({"messages": sms}), 150)})
    assert await desk.hears("有新短信吗") == (
        "有 至少 2 条未读短信：\n- 0 (今天 07:58): x\n- 1 (今天 07:58): x\n……还有更多\n（内容太长，没有读全。）"
    )


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)),
    st.data(),
)
def test_a_cut_value_is_read_as_far_as_it_goes(value: Any, data: st.DataObject) -> None:
    whole = json.dumps(value)
    assert value_in(whole) == value
    cut = clipped(whole, data.draw(st.integers(0, len(whole))))
    found = value_in(cut)
    assert found == cut or type(found) is type(value)


def test_the_plugin_makes_it_on_the_devices_clock() -> None:
    assert isinstance(create, Plugin)
    assert (create.kind, create.name, create.config) == (Kind.PROVIDER, "offline", OfflineConfig)
    provider = create.create(OfflineConfig(), Parts(Path()))
    assert provider.local is True
    assert MachineClock().now().tzinfo is not None


async def test_it_can_be_used_by_several_sessions_at_once() -> None:
    desks = [Desk({FIELD: BATTERY}) for _ in range(4)]
    sentences = ("how much battery is left", "还剩多少电", "turn the torch on", "现在几点")
    texts = await asyncio.gather(*(d.hears(s) for d, s in zip(desks, sentences, strict=True)))
    assert texts == [(await said(s, **{FIELD: BATTERY}))[1] for s in sentences]


@given(st.text(max_size=60))
def test_no_sentence_does_harm(sentence: str) -> None:
    """Whatever is typed: no exception, and nothing is sent or deleted at once."""
    if sentence.strip():
        desk = Desk(tools=tuple(t for t in TOOLS if t not in ("sms_send", "call", "event_delete")))
        assert isinstance(asyncio.run(desk.hears(sentence)), str)


@pytest.mark.parametrize("zone_hours", [0, 25])
async def test_relative_days_follow_the_devices_clock(zone_hours: int) -> None:
    now = MONDAY + timedelta(hours=zone_hours)
    desk = Desk({"calendar_list": {"events": []}}, now=now)
    await desk.hears("what's on today")
    assert desk.calls == [
        (
            "calendar_list",
            {
                "start": now.replace(hour=0).isoformat(timespec="minutes"),
                "end": (now.replace(hour=0) + timedelta(1)).isoformat(timespec="minutes"),
            },
        )
    ]


async def test_the_answer_streams_in_a_few_pieces() -> None:
    desk = Desk()
    desk.messages.append(Message(Role.USER, (Text("help"),)))
    provider = create.create(OfflineConfig(), Parts(Path()))
    items = [i async for i in provider.stream(Request("offline", "", tuple(desk.messages)))]
    assert 3 < len(items) < 40
    reply = items[-1]
    assert isinstance(reply, Reply)
    assert reply.message.text.startswith("I work without a model.")
