"""Where the offline assistant must not do what a sentence seems to ask, or must not say more than it knows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.text import clipped
from palmclaw.providers.offline.doubts import objectless, others_wish, refuses, taken_back
from palmclaw.providers.offline.salvage import value_in
from palmclaw.providers.offline.series import Repeated, repeated
from tests.providers.desk import TOOLS, Call, Desk

CROWDED = "One thing at a time, please: nothing was done. Say that again as separate requests."
CROWDED_ZH = "请一次说一件事：什么都还没做，请分开再说。"
LEFT, LEFT_ZH = "All right, I left it.", "好的，不做了。"
NO_SUCH = "There is no such date or time: please say it again."
UNREADABLE = "The answer of the phone could not be read."
MEI_LIN = {"id": "c3", "name": "Mei Lin", "phones": ["+85291110003"], "emails": []}
MEI_LING = {"id": "c4", "name": "Mei Ling Chow", "phones": ["+85291110004"], "emails": []}
ARJUN = {"id": "c5", "name": "Arjun Nair", "phones": ["+85291110005"], "emails": []}
STAND_UP = {
    "id": "e1",
    "title": "Team stand-up",
    "start": "2026-06-16T09:30+08:00",
    "end": "2026-06-16T09:45+08:00",
    "recurrence": "weekly:MO,TU",
}
LATER = STAND_UP | {"start": "2026-06-22T09:30+08:00", "end": "2026-06-22T09:45+08:00"}
DENTIST = {"id": "e2", "title": "Dentist", "start": "2026-06-16T15:30+08:00", "end": "2026-06-16T16:15+08:00"}
SERIES = {"calendar_list": {"events": [STAND_UP, LATER]}, "event_delete": {"deleted": STAND_UP}}
DAY = ("2026-06-16T00:00+08:00", "2026-06-17T00:00+08:00")
PLAIN_TOOLS = tuple(t for t in TOOLS if t != "ask")


async def said(*sentences: str, **answers: Any) -> tuple[list[Call], str]:
    """The calls of the whole conversation, and the last words of it."""
    desk = Desk(answers, tools=PLAIN_TOOLS)
    text = ""
    for sentence in sentences:
        text = await desk.hears(sentence)
    return desk.calls, text


@pytest.mark.parametrize(
    "sentence",
    [
        "delete stand-up tomorrow",
        "cancel tomorrow's stand-up meeting",
        "the stand-up tomorrow is cancelled, delete it",
        "delete stand-up tomorrow at 9:30",
        "delete stand-up every Tuesday",
    ],
)
async def test_one_day_of_a_series_is_not_deleted(sentence: str) -> None:
    calls, text = await said(sentence, **SERIES)
    assert [name for name, _ in calls] == ["calendar_list"]
    assert text == (
        "“Team stand-up” repeats and only the whole series can be deleted; nothing was deleted: "
        "to do that say “delete the whole series Team stand-up”."
    )


async def test_one_day_of_a_series_is_not_deleted_in_chinese() -> None:
    assert await said("删除今天的 Team stand-up", **SERIES) == (
        [
            (
                "calendar_list",
                {"query": "Team stand-up", "start": "2026-06-15T00:00+08:00", "end": "2026-06-16T00:00+08:00"},
            )
        ],
        "“Team stand-up”是重复的日程，只能整个系列一起删，现在没有删；要删请说“删除整个系列Team stand-up”。",
    )


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        (
            "delete the whole series Team stand-up",
            "The whole series “Team stand-up” (every Monday, Tuesday) is deleted.",
        ),
        ("删除整个系列Team stand-up", "已删除整个系列“Team stand-up”（每星期一、星期二）。"),
        ("delete the Team stand-up event", "The whole series “Team stand-up” (every Monday, Tuesday) is deleted."),
    ],
)
async def test_the_whole_series_is_deleted_and_called_so(sentence: str, text: str) -> None:
    expected = [("calendar_list", {"query": "Team stand-up"}), ("event_delete", {"id": "e1"})]
    assert await said(sentence, **SERIES) == (expected, text)


async def test_the_whole_series_of_what_does_not_repeat_is_left() -> None:
    assert await said("delete the whole series Dentist", calendar_list={"events": [DENTIST]}) == (
        [("calendar_list", {"query": "Dentist"})],
        "There is no series “Dentist” in your calendar; nothing was deleted.",
    )


async def test_a_single_event_on_a_day_is_still_deleted() -> None:
    answers = {"calendar_list": {"events": [DENTIST]}, "event_delete": {"deleted": DENTIST}}
    assert await said("delete dentist tomorrow", **answers) == (
        [
            ("calendar_list", {"query": "dentist", "start": DAY[0], "end": DAY[1]}),
            ("event_delete", {"id": "e2"}),
        ],
        "“Dentist” (tomorrow at 15:30) is deleted.",
    )


async def test_of_more_events_than_shown_none_is_deleted_on_a_guess() -> None:
    calls, text = await said("delete the dent appointment", calendar_list={"events": [DENTIST], "more": 3})
    assert calls == [("calendar_list", {"query": "dent"})]
    assert text == "There are several: Dentist, tomorrow at 15:30, … and 3 more. Which one?"


@pytest.mark.parametrize("sentence", ["delete the meeting", "cancel my appointment", "delete an event"])
async def test_a_nameless_event_is_asked_for(sentence: str) -> None:
    assert await said(sentence) == ([], "Which event should I delete?")
    answers = {"calendar_list": {"events": [DENTIST]}, "event_delete": {"deleted": DENTIST}}
    calls, _ = await said(sentence, "the dentist", **answers)
    assert calls == [("calendar_list", {"query": "dentist"}), ("event_delete", {"id": "e2"})]


@pytest.mark.parametrize("sentence", ["删掉会议", "把日程删了"])
async def test_a_nameless_event_is_asked_for_in_chinese(sentence: str) -> None:
    assert await said(sentence) == ([], "要删哪个日程？")
    assert await said(sentence, "算了") == ([], LEFT_ZH)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("delete all events", "I delete one event at a time; nothing was deleted: say which one."),
        ("clear my calendar", "I delete one event at a time; nothing was deleted: say which one."),
        ("删掉所有日程", "一次只能删一个日程，现在没有删：请说是哪一个。"),
        ("把所有会议都删了", "一次只能删一个日程，现在没有删：请说是哪一个。"),
    ],
)
async def test_not_all_events_at_once(sentence: str, text: str) -> None:
    assert await said(sentence) == ([], text)


FULL = {"events": [DENTIST | {"id": f"e{n}"} for n in range(30)]}


@given(st.integers(1, len(json.dumps(FULL)) - 1))
def test_of_a_cut_list_only_whole_items_are_read(limit: int) -> None:
    found = value_in(clipped(json.dumps(FULL), limit))
    if isinstance(found, dict):
        items = found.get("events", [])
        assert found == {"more": True} | ({"events": items} if "events" in found else {})
        assert items == FULL["events"][: len(items)]


async def test_a_cut_month_is_told_as_far_as_it_was_read() -> None:
    cut = clipped(json.dumps(FULL), 400)
    _, text = await said("what's on this month", calendar_list=cut)
    assert text == (
        "at least 3 events from Monday 15 June to Tuesday 30 June:\n"
        + "- Tuesday 16 June 15:30–16:15 Dentist\n" * 3
        + "… and more\n"
        "(That was too long to read whole.)"
    )


@pytest.mark.parametrize(
    ("sentence", "tool"),
    [
        ("what's on this month", "calendar_list"),
        ("any unread messages", "sms_list"),
        ("list my contacts", "contacts_search"),
        ("show my photos", "media_list"),
        ("show my photos from today", "media_list"),
        ("what alarms are set", "alarms_list"),
        ("list my files", "file_list"),
        ("find files named budget", "file_find"),
        ("how much battery is left", "device_status"),
        ("what's on my clipboard", "clipboard_get"),
    ],
)
async def test_a_result_that_cannot_be_read_is_said_to_be(sentence: str, tool: str) -> None:
    assert (await said(sentence, **{tool: "neither JSON"}))[1] == UNREADABLE
    cut = clipped('{"' + "k" * 50, 10)
    assert (await said(sentence, **{tool: cut}))[1] == f"{UNREADABLE}\n(That was too long to read whole.)"


SMS = {"address": "90210", "body": "x", "time": "2026-06-15T07:58+08:00"}


@pytest.mark.parametrize(("more", "count", "rest"), [(42, "44", "… and 42 more"), (True, "at least 2", "… and more")])
async def test_the_answer_says_that_there_are_more(more: object, count: str, rest: str) -> None:
    _, text = await said("any unread messages", sms_list={"messages": [SMS, SMS], "more": more})
    line = "- 90210 (today at 07:58): x"
    assert text == f"You have {count} unread messages:\n{line}\n{line}\n{rest}"


@pytest.mark.parametrize(
    ("sentence", "tool", "value", "text"),
    [
        ("list my files", "file_list", {"entries": [{"path": "a"}], "more": True}, "workspace holds: a, … and more."),
        ("find files named a", "file_find", {"files": ["a.md"], "more": 7}, "Found: a.md, … and 7 more."),
        ("list my apps", "apps_list", {"apps": [{"label": "A"}], "more": 2}, "Installed apps: A, … and 2 more."),
        (
            "what alarms are set",
            "alarms_list",
            {"alarms": [{"time": "07:00"}], "more": True},
            "Alarms: 07:00, … and more.",
        ),
    ],
)
async def test_lists_in_one_line_say_it_too(sentence: str, tool: str, value: object, text: str) -> None:
    assert (await said(sentence, **{tool: value}))[1] == text


async def test_the_exact_name_is_answered_alone() -> None:
    answer = {"contacts": [MEI_LIN, MEI_LING], "match": "exact"}
    assert (await said("what's Mei Lin's number", contacts_search=answer))[1] == "Mei Lin: +85291110003"


@pytest.mark.parametrize(
    "answer",
    [{"contacts": [MEI_LING], "match": "several"}, {"contacts": [MEI_LING], "more": True}],
)
async def test_one_contact_that_may_not_be_meant_is_asked_about(answer: dict[str, Any]) -> None:
    calls, text = await said("text Ling that I'm late", contacts_search=answer)
    assert calls == [("contacts_search", {"query": "Ling"})]
    assert text.startswith("There are several: Mei Ling Chow")


@pytest.mark.parametrize(
    ("sentence", "tool", "arguments"),
    [
        ("wake me up in 20 minutes", "alarm_set", {"time": "09:20"}),
        ("wake me up in an hour and a half", "alarm_set", {"time": "10:30"}),
        ("set an alarm for 20 minutes from now", "alarm_set", {"time": "09:20"}),
        ("20分钟后叫我起床", "alarm_set", {"time": "09:20"}),
        ("设一个20分钟的闹钟", "alarm_set", {"time": "09:20"}),
        ("set an alarm every Tuesday and Thursday at 6:30", "alarm_set", {"time": "06:30", "days": ["tue", "thu"]}),
        (
            "add event gym every day at 7",
            "event_add",
            {"title": "gym", "start": "2026-06-16T07:00+08:00", "recurrence": "daily"},
        ),
        (
            "add gym on weekdays at 10 to my calendar",
            "event_add",
            {"title": "gym", "start": "2026-06-15T10:00+08:00", "recurrence": "weekly:MO,TU,WE,TH,FR"},
        ),
        (
            "add gym every month on the 5th at 7 to my calendar",
            "event_add",
            {"title": "gym", "start": "2026-07-05T07:00+08:00", "recurrence": "monthly"},
        ),
        (
            "把每周一和周三晚上八点上课加到日历",
            "event_add",
            {"title": "上课", "start": "2026-06-15T20:00+08:00", "recurrence": "weekly:MO,WE"},
        ),
        (
            "add event swim every Saturday",
            "event_add",
            {
                "title": "swim",
                "start": "2026-06-20T00:00+08:00",
                "end": "2026-06-21T00:00+08:00",
                "all_day": True,
                "recurrence": "weekly:SA",
            },
        ),
        (
            "schedule party friday 10pm to 2am",
            "event_add",
            {"title": "party", "start": "2026-06-19T22:00+08:00", "end": "2026-06-20T02:00+08:00"},
        ),
    ],
)
async def test_lengths_and_series_are_what_was_said(sentence: str, tool: str, arguments: dict[str, Any]) -> None:
    calls, _ = await said(sentence)
    assert calls == [(tool, arguments)]


async def test_a_series_is_told_as_one() -> None:
    assert (await said("add event gym every day at 7"))[1] == "“gym” is in your calendar: tomorrow at 07:00, every day."
    assert (await said("把每周三下午三点开会加到日历"))[1] == "已加到日历：“开会”，6月17日星期三 15:00起，每星期三。"


ODD = (
    "I can repeat an event every day, on weekdays, every week, every month or every year, nothing else: "
    "nothing was done."
)


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("set an alarm for 7 and for 8", CROWDED),
        ("set alarms for 7 and 8", CROWDED),
        ("设七点和八点的闹钟", CROWDED_ZH),
        ("设明早七点的闹钟，然后八点再设一个", CROWDED_ZH),
        ("set an alarm every two weeks at 7", "An alarm can repeat on days of the week only: nothing was set."),
        ("add an event dentist on Feb 30 at 10", NO_SUCH),
        ("add dentist on 31 November at 10 to my calendar", NO_SUCH),
        ("put dentist on my calendar for Feb 30 at 10", NO_SUCH),
        ("add dentist on 2027-02-29 at 10 to my calendar", NO_SUCH),
        ("add dinner tomorrow at 25:00 to my calendar", NO_SUCH),
        ("what's on November 31", NO_SUCH),
        ("把11月31日上午十点看牙医加到日历", "没有这个日期或时间，请再说一遍。"),
        ("schedule a meeting tomorrow from 3pm to 2pm", "That ends before it begins: please say the times again."),
        ("明天下午三点到两点开会，加到日历", "结束时间比开始还早，请再说一遍时间。"),
        ("add event gym every two weeks at 7", ODD),
        ("turn the torch on and then turn it off", CROWDED),
        ("turn on the torch, turn it off", CROWDED),
        ("start recording and then stop it", CROWDED),
        ("play some music and turn it up", CROWDED),
        ("把手电筒打开然后关掉", CROWDED_ZH),
        ("打开手电筒，关掉", CROWDED_ZH),
        ("text Mei Lin that I'm late. Actually don't", LEFT),
        ("text Mei Lin that I'm late, never mind", LEFT),
        ("call Mei Lin. Oh wait, forget it.", LEFT),
        ("add lunch tomorrow at 12, actually don't", LEFT),
        ("给 Mei Lin 发短信说我晚点到，算了", LEFT_ZH),
        ("给 Mei Lin 发短信说我晚点到，不用了", LEFT_ZH),
        ("给 Mei Lin 发短信说我晚点到。还是别发了吧", LEFT_ZH),
        ("text 112 20 people here", "Where does the number end? Say it like this: “text 112: your message”."),
    ],
)
async def test_what_cannot_be_meant_so_starts_nothing(sentence: str, text: str) -> None:
    assert await said(sentence) == ([], text)


@pytest.mark.parametrize(
    "sentence",
    [
        "My friend wants to read out what's on my clipboard",
        "my sister would like to know what's on my calendar today",
        "Tom wants to call Mei Lin",
        "我朋友想读一下我的剪贴板",
        "我同事想知道今天有什么安排",
        "关掉",
        "turn it off",
        "wake me up in 20",
    ],
)
async def test_other_peoples_wishes_and_bare_verbs_start_nothing(sentence: str) -> None:
    calls, _ = await said(sentence)
    assert calls == []


@pytest.mark.parametrize(
    ("sentences", "question", "call"),
    [
        (
            ("明天提醒我给妈妈打电话", "十点"),
            "几点提醒你“给妈妈打电话”？",
            ("alarm_set", {"time": "2026-06-16T10:00+08:00", "label": "给妈妈打电话"}),
        ),
        (
            ("remind me to call mum", "at 9:30"),
            "At what time should I remind you of “call mum”?",
            ("timer_set", {"seconds": 1800, "label": "call mum"}),
        ),
        (("wake me up tomorrow", "8"), "At what time should the alarm ring?", ("alarm_set", {"time": "08:00"})),
    ],
)
async def test_a_time_of_day_that_was_not_said_is_asked_for(
    sentences: tuple[str, str], question: str, call: Call
) -> None:
    assert await said(sentences[0]) == ([], question)
    assert (await said(*sentences))[0] == [call]


@pytest.mark.parametrize(
    ("sentence", "to", "text"),
    [
        ("text +85260010001 hi", "+85260010001", "hi"),
        ("text +852 6001 0001 hi there", "+85260010001", "hi there"),
        ("text 6001 0001 hi", "60010001", "hi"),
        ("text 112 help", "112", "help"),
        ("text 112: 20 people", "112", "20 people"),
        ("发短信给112救命", "112", "救命"),
    ],
)
async def test_a_number_is_a_recipient(sentence: str, to: str, text: str) -> None:
    assert (await said(sentence))[0] == [("sms_send", {"to": to, "text": text})]


async def test_two_digits_are_no_number() -> None:
    calls, _ = await said("text 12 hi", contacts_search={"contacts": [], "match": "none"})
    assert [name for name, _ in calls if name == "sms_send"] == []


@pytest.mark.parametrize(
    ("sentence", "person", "text"),
    [
        ("text Mei Ling hi there", MEI_LING, "hi there"),
        ("text Mei Lin I'm late", MEI_LIN, "I'm late"),
        ("text Mei Ling Chow hi", MEI_LING, "hi"),
    ],
)
async def test_the_name_goes_as_far_as_the_contacts_say(sentence: str, person: dict[str, Any], text: str) -> None:
    calls, _ = await said(sentence, contacts_search={"contacts": [MEI_LIN, MEI_LING], "match": "several"})
    assert calls[1:] == [("sms_send", {"to": person["phones"][0], "text": text})]


async def test_a_word_that_nearly_is_the_rest_of_a_name_is_asked_about() -> None:
    one = {"contacts": [ARJUN], "match": "one"}
    calls, text = await said("text Arjun Nai hi", contacts_search=one)
    assert calls == [("contacts_search", {"query": "Arjun"})]
    assert text == "What should the message to Arjun Nair say: hi, Nai hi?"
    calls, _ = await said("text Arjun Nai hi", "the first one", contacts_search=one)
    assert calls[1:] == [("sms_send", {"to": "+85291110005", "text": "hi"})]
    assert (await said("text Arjun Nai", contacts_search=one))[1] == "What should the message to Arjun Nair say?"
    calls, _ = await said("text Arjun hello", contacts_search=one)
    assert calls[1:] == [("sms_send", {"to": "+85291110005", "text": "hello"})]


async def test_a_question_can_be_answered_with_a_retraction() -> None:
    one = {"contacts": [ARJUN], "match": "one"}
    assert (await said("text Arjun", "I'm late. Actually don't", contacts_search=one))[1] == LEFT


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("mute everything", "The media volume is 0 of 15. The ring volume is 0 of 15. Alarms still ring."),
        ("全部静音", "媒体音量是 0（最大 15）。铃声音量是 0（最大 15）。闹钟还会响。"),
    ],
)
async def test_muting_everything_says_what_is_muted(sentence: str, text: str) -> None:
    calls = [("device_set", {"setting": s, "value": 0}) for s in ("media_volume", "ring_volume")]
    assert await said(sentence) == (calls, text)


@pytest.mark.parametrize(
    ("sentence", "before"),
    [
        ("text Bob hi, never mind", "text Bob hi"),
        ("never mind", None),
        ("tell Bob never mind", None),
        ("告诉妈妈：不用了", None),
        ("告诉妈妈不用了", None),
        ("发短信给妈妈说，不用了", None),
        ("打给妈妈，算了吧", "打给妈妈"),
    ],
)
def test_only_an_end_of_its_own_takes_back(sentence: str, before: str | None) -> None:
    assert taken_back(sentence) == before
    assert refuses(sentence) is (before is not None or sentence == "never mind")


def test_whose_wish_and_what_half() -> None:
    assert [others_wish(s) for s in ("my friend wants to sing", "I want to sing", "my phone needs to be silent")] == [
        True,
        False,
        False,
    ]
    assert [objectless(s) for s in ("then turn it off", "再关掉", "turn the torch off", "把灯关掉")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("gym daily", Repeated("gym  ", tuple(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]), "daily")),
        ("gym on Mondays and Fridays", Repeated("gym  ", ("mon", "fri"), "weekly:MO,FR")),
        ("gym every week", Repeated("gym  ", (), "weekly")),
        ("每年体检", Repeated(" 体检", (), "yearly")),
        ("每周末跑步", Repeated(" 跑步", ("sat", "sun"), "weekly:SA,SU")),
        ("每两周开会", Repeated("每两周开会", odd=True)),
        ("gym", Repeated("gym")),
    ],
)
def test_what_repeats_is_read_in_both_languages(words: str, found: Repeated) -> None:
    assert repeated(words) == found


@pytest.mark.parametrize("sentence", ["You need to call Bob", "Hello I want to call Bob", "Now I need to call Bob"])
def test_the_persons_own_wish_is_nobody_elses(sentence: str) -> None:
    assert not others_wish(sentence)
