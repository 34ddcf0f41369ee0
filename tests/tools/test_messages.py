"""Text messages and calls."""

from typing import Any

import pytest

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments
from palmclaw.core.tools import Effect, Preview
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import messages as tools
from tests.devices.kit import fault, gained, preview, run

DINNER = {
    "id": "s5",
    "from_me": False,
    "address": "+85260010001",
    "name": "Mei Lin",
    "body": "Yes! Blue Ladle at half past seven, table is under my name",
    "time": "2026-06-15T08:20+08:00",
    "read": False,
}


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, ["s6", "s5", "s4", "s3", "s2", "s1"]),
        ({"unread": True}, ["s6", "s5"]),
        ({"unread": False}, ["s4", "s3", "s2", "s1"]),
        ({"address": "+852 6001 0001"}, ["s5", "s3"]),
        ({"address": "60010001"}, ["s5", "s3"]),
        ({"address": "mei lin "}, ["s5", "s3"]),
        ({"address": "mei"}, []),
        ({"address": "66801"}, ["s6"]),
        ({"query": "TRAM"}, ["s6"]),
        ({"query": "dinner", "address": "Mei Lin"}, ["s3"]),
    ],
)
async def test_messages_are_found(phone: VirtualPhone, given: dict[str, Any], ids: list[str]) -> None:
    assert [m["id"] for m in (await run(tools.sms_list, phone, **given))["messages"]] == ids


async def test_a_message_is_shown_whole_and_a_list_is_limited(phone: VirtualPhone) -> None:
    found = await run(tools.sms_list, phone, address="Mei Lin", limit=1)
    assert found == {"messages": [DINNER], "more": 1}
    stranger = (await run(tools.sms_list, phone, address="66801"))["messages"][0]
    assert "name" not in stranger


async def test_without_the_address_book_numbers_have_no_names(phone: VirtualPhone) -> None:
    phone.set_fault("denied", "contacts")
    assert (await run(tools.sms_list, phone, query="ladle"))["messages"] == [
        {k: v for k, v in DINNER.items() if k != "name"}
    ]
    shown = await preview(tools.sms_send, phone, to="+85260010001", text="x")
    assert shown.lines == (("To", "+85260010001"), ("Text", "x"))


async def test_sending_shows_the_person_and_the_whole_text(phone: VirtualPhone) -> None:
    text = "I'm ten minutes late.\n" + "x" * 900
    assert await preview(tools.sms_send, phone, to="+85260010001", text=text) == Preview(
        "Send a text message", "+85260010001", (("To", "Mei Lin (+85260010001)"), ("Text", text))
    )
    before = phone.dump()
    sent = await run(tools.sms_send, phone, to="+85260010001", text=text)
    assert sent == {"sent": True, "to": "+85260010001", "name": "Mei Lin", "text": text}
    rows = gained(before, phone.dump(), ["sms"])
    assert [(r["address"], r["body"], r["dir"]) for r in rows] == [("+85260010001", text, "out")]
    assert await run(tools.sms_send, phone, to="12345", text="x") == {"sent": True, "to": "12345", "text": "x"}


async def test_a_number_that_several_share_names_them_all(phone: VirtualPhone) -> None:
    people = [{"id": x, "name": x, "phones": ["+85260010001"]} for x in ("Ann", "Bob")]
    phone.load({"contacts": people})
    assert (await preview(tools.sms_send, phone, to="+85260010001", text="x")).lines[0] == (
        "To",
        "Ann / Bob (+85260010001)",
    )


async def test_what_cannot_be_sent(phone: VirtualPhone) -> None:
    with pytest.raises(BadArguments, match="text: must be 1 to"):
        decode(tools.SendArgs, {"to": "12345", "text": ""})
    assert (await fault(tools.sms_send, phone, to="mum", text="x")).code == "invalid_arguments"
    phone.set_fault("airplane")
    assert (await fault(tools.sms_send, phone, to="12345", text="x")).code == "radio_off"
    assert (await fault(tools.call, phone, number="12345")).code == "radio_off"


async def test_calls(phone: VirtualPhone) -> None:
    assert await run(tools.calls_list, phone, limit=1) == {
        "calls": [
            {
                "id": "k3",
                "number": "+4790000055",
                "name": "Ingrid Solberg",
                "direction": "missed",
                "time": "2026-06-15T07:50+08:00",
            }
        ],
        "more": 2,
    }
    assert await preview(tools.call, phone, number="+85221110006") == Preview(
        "Call", "+85221110006", (("To", "Mum (+85221110006)"),)
    )
    before = phone.dump()
    assert await run(tools.call, phone, number="+85221110006") == {"calling": "+85221110006", "name": "Mum"}
    assert [r["number"] for r in gained(before, phone.dump(), ["calls"])] == ["+85221110006"]
    assert await run(tools.call, phone, number="5551234") == {"calling": "5551234"}


def test_what_the_gate_must_know() -> None:
    every = [tools.sms_list, tools.sms_send, tools.calls_list, tools.call]
    assert [t.effect for t in every] == [Effect.READ, Effect.SEND, Effect.READ, Effect.SEND]
    assert [t.permissions for t in every] == [("sms",), ("sms",), ("phone",), ("phone",)]
    assert [t.outside for t in every] == [True, False, False, False]
    assert [t.bindable for t in every] == [True, True, True, False]
    assert all(t.private for t in every)
    assert tools.MODULE.requires == ("contacts",)
