"""The calendar."""

from datetime import timedelta
from typing import Any

import pytest

from palmclaw.core.errors import Fault
from palmclaw.core.tools import Effect
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import calendar as tools
from tests.devices.kit import NOW, fault, gained, preview, run

REVIEW = {
    "id": "e2",
    "title": "Design review",
    "start": "2026-06-15T14:00+08:00",
    "end": "2026-06-15T15:00+08:00",
    "calendar": "Work",
    "location": "Room Cedar",
    "attendees": ["Arjun Nair", "Mei Lin"],
    "reminders": [10],
}


async def ids(phone: VirtualPhone, **arguments: Any) -> list[tuple[str, str]]:
    """Id and day of what a listing holds, the daily stand-up left out."""
    found = await run(tools.calendar_list, phone, **arguments)
    return [(e["id"], e["start"][:10]) for e in found["events"] if e["id"] != "e1"]


async def test_a_week_from_now_is_the_default(phone: VirtualPhone) -> None:
    assert await ids(phone) == [
        ("e2", "2026-06-15"),
        ("e3", "2026-06-15"),
        ("e4", "2026-06-16"),
        ("e5", "2026-06-16"),
        ("e6", "2026-06-18"),
    ]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"start": "2026-06-16", "end": "2026-06-16"}, ["e4", "e5"]),
        ({"start": "2026-06-16T00:00", "end": "2026-06-17T00:00"}, ["e4", "e5"]),
        ({"start": "2026-06-16T10:30", "end": "2026-06-16T11:00"}, ["e4"]),
        ({"start": "2026-06-22"}, ["e7", "e8", "e9", "e6"]),
        ({"end": "2026-06-15T15:00+08:00"}, ["e2"]),
        ({"start": "2026-06-15", "end": "2026-06-15", "query": "mei"}, ["e2", "e3"]),
        ({"query": "cedar"}, ["e2"]),
        ({"query": "INGRID"}, ["e5"]),
        ({"query": "blue", "start": "2026-06-16"}, []),
    ],
)
async def test_ranges_and_words(phone: VirtualPhone, arguments: dict[str, Any], found: list[str]) -> None:
    assert [event for event, _ in await ids(phone, **arguments)] == found


async def test_words_alone_look_a_month_back_and_a_year_ahead(phone: VirtualPhone) -> None:
    for day in ("2026-05-20", "2026-05-10", "2027-06-10", "2027-06-20"):
        await run(tools.event_add, phone, title="Sauna", start=f"{day}T10:00")
    assert [day for _, day in await ids(phone, query="sauna")] == ["2026-05-20", "2027-06-10"]
    assert [day for _, day in await ids(phone, query="sauna", end="2027-06-10")] == ["2027-06-10"]


async def test_an_event_is_shown_whole_and_a_list_is_limited(phone: VirtualPhone) -> None:
    found = await run(tools.calendar_list, phone, query="design")
    assert found == {"events": [REVIEW]}
    short = await run(tools.calendar_list, phone, limit=1)
    assert [e["id"] for e in short["events"]] == ["e1"]
    assert short["more"] == 11
    lantern = (await run(tools.calendar_list, phone, query="lantern"))["events"][0]
    assert (lantern["all_day"], lantern["calendar"]) == (True, "Public holidays")


async def test_a_range_that_is_none(phone: VirtualPhone) -> None:
    backwards = await fault(tools.calendar_list, phone, start="2026-06-16", end="2026-06-14")
    assert backwards == Fault("invalid_arguments", "end: must be after start", True)
    unreadable = await fault(tools.calendar_list, phone, start="tomorrow")
    assert unreadable == Fault(
        "invalid_arguments", "start: cannot read 'tomorrow' as a time", True, "Example: 2026-06-15T15:00"
    )
    assert (await fault(tools.calendar_list, phone, end="2099-01-01")).message == "that is more than five years at once"


async def test_an_event_is_added_with_what_was_given(phone: VirtualPhone) -> None:
    before = phone.dump()
    given: dict[str, Any] = {
        "title": " Passport ",
        "start": "2026-06-16T11:00",
        "end": "2026-06-16T11:45",
        "location": "Sha Tin",
        "reminders": [30],
        "recurrence": "weekly",
    }
    shown = await preview(tools.event_add, phone, **given)
    assert (shown.action, shown.target) == ("Add an event", "")
    assert shown.lines == (
        ("Title", "Passport"),
        ("When", "Tue 2026-06-16 11:00 to Tue 2026-06-16 11:45"),
        ("Calendar", "Personal"),
        ("Where", "Sha Tin"),
        ("Repeats", "weekly:TU"),
        ("Reminders", "30 min before"),
    )
    added = await run(tools.event_add, phone, **given)
    assert added == {
        "id": added["id"],
        "title": "Passport",
        "start": "2026-06-16T11:00+08:00",
        "end": "2026-06-16T11:45+08:00",
        "calendar": "Personal",
        "location": "Sha Tin",
        "recurrence": "weekly:TU",
        "reminders": [30],
    }
    assert gained(before, phone.dump(), ["calendar", "events"]) == [{**added, "calendar": "cal1"}]


@pytest.mark.parametrize(
    ("given", "start", "end"),
    [
        ({"start": "2026-06-16T11:00"}, "2026-06-16T11:00+08:00", "2026-06-16T12:00+08:00"),
        ({"start": "2026-06-16T03:00Z"}, "2026-06-16T11:00+08:00", "2026-06-16T12:00+08:00"),
        ({"start": "2026-06-16T23:00", "end": "2026-06-16"}, "2026-06-16T23:00+08:00", "2026-06-17T00:00+08:00"),
        ({"start": "2026-06-16", "all_day": True}, "2026-06-16T00:00+08:00", "2026-06-17T00:00+08:00"),
        ({"start": "2026-06-16T15:00", "all_day": True}, "2026-06-16T00:00+08:00", "2026-06-17T00:00+08:00"),
        (
            {"start": "2026-06-16", "end": "2026-06-18", "all_day": True},
            "2026-06-16T00:00+08:00",
            "2026-06-19T00:00+08:00",
        ),
    ],
)
async def test_when_an_event_is(phone: VirtualPhone, given: dict[str, Any], start: str, end: str) -> None:
    added = await run(tools.event_add, phone, title="Tea", **given)
    assert (added["start"], added["end"]) == (start, end)


@pytest.mark.parametrize(("name", "chosen"), [("", "Personal"), ("work", "Work"), ("cal2", "Work")])
async def test_the_calendar_is_chosen_by_name_or_id(phone: VirtualPhone, name: str, chosen: str) -> None:
    assert (await run(tools.event_add, phone, title="T", start="2026-06-16", calendar=name))["calendar"] == chosen


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"title": " "}, Fault("invalid_arguments", "title: must not be empty", True)),
        ({"end": "2026-06-16T09:00"}, Fault("invalid_arguments", "end: must be after start", True)),
        ({"end": "2026-06-14", "all_day": True}, Fault("invalid_arguments", "end: must be after start", True)),
        (
            {"reminders": [-1]},
            Fault("invalid_arguments", "reminders: minutes before the start, 0 to 40320", True),
        ),
        (
            {"calendar": "Public holidays"},
            Fault("read_only", "the calendar 'Public holidays' can only be read", hint="Tell the user."),
        ),
        (
            {"calendar": "Sport"},
            Fault("not_found", "no calendar 'Sport' can be used", hint="Calendars: Personal, Work."),
        ),
    ],
)
async def test_what_cannot_be_added(phone: VirtualPhone, given: dict[str, Any], refusal: Fault) -> None:
    assert await fault(tools.event_add, phone, **({"title": "T", "start": "2026-06-16T10:00"} | given)) == refusal


async def test_a_phone_without_a_calendar(phone: VirtualPhone) -> None:
    phone.load({})
    refusal = await fault(tools.event_add, phone, title="T", start="2026-06-16")
    assert refusal == Fault("not_found", "no calendar '' can be used", hint="Calendars: none.")


async def test_an_address_among_the_attendees_makes_it_a_sending(phone: VirtualPhone) -> None:
    assert tools.event_add.effect_of(tools.AddArgs("T", "x", attendees=("Mei Lin",))) is Effect.PERSONAL
    assert tools.event_add.effect_of(tools.AddArgs("T", "x", attendees=("Mei", "a@b.example"))) is Effect.SEND
    assert tools.event_update.effect_of(tools.UpdateArgs("e2", title="T")) is Effect.PERSONAL
    assert tools.event_update.effect_of(tools.UpdateArgs("e2", attendees=("a@b.example",))) is Effect.SEND
    shown = await preview(
        tools.event_add, phone, title="T", start="2026-06-16T10:00", attendees=["Mei", "a@b.example", "c@d.example"]
    )
    assert shown.target == "a@b.example, c@d.example"
    assert shown.lines[-2:] == (
        ("With", "Mei, a@b.example, c@d.example"),
        ("Invites", "a@b.example, c@d.example"),
    )


async def test_moving_the_start_keeps_the_length(phone: VirtualPhone) -> None:
    before = phone.dump()
    shown = await preview(tools.event_update, phone, id="e2", start="2026-06-15T16:00")
    assert (shown.action, shown.target) == ("Change the event Design review", "")
    assert shown.lines == (
        ("When", "Mon 2026-06-15 14:00 to Mon 2026-06-15 15:00 → Mon 2026-06-15 16:00 to Mon 2026-06-15 17:00"),
    )
    moved = {"start": "2026-06-15T16:00+08:00", "end": "2026-06-15T17:00+08:00"}
    assert await run(tools.event_update, phone, id="e2", start="2026-06-15T16:00") == REVIEW | moved
    before["calendar"]["events"][1] |= moved
    assert phone.dump() == before
    assert (await preview(tools.event_update, phone, id="e2", title="x")).revision != shown.revision


async def test_every_field_can_be_changed_and_cleared(phone: VirtualPhone) -> None:
    change: dict[str, Any] = {
        "title": "Review",
        "end": "2026-06-15T16:00",
        "location": "",
        "attendees": ["w@x.example"],
        "reminders": [],
        "recurrence": "monthly",
    }
    shown = await preview(tools.event_update, phone, id="e2", **change)
    assert shown.target == "w@x.example"
    assert dict(shown.lines) == {
        "Title": "Design review → Review",
        "When": "Mon 2026-06-15 14:00 to Mon 2026-06-15 15:00 → Mon 2026-06-15 14:00 to Mon 2026-06-15 16:00",
        "Where": "Room Cedar → (none)",
        "With": "Arjun Nair, Mei Lin → w@x.example",
        "Repeats": "(none) → monthly",
        "Reminders": "10 min before → (none)",
        "Invites": "w@x.example",
    }
    assert await run(tools.event_update, phone, id="e2", **change) == {
        "id": "e2",
        "title": "Review",
        "start": "2026-06-15T14:00+08:00",
        "end": "2026-06-15T16:00+08:00",
        "calendar": "Work",
        "attendees": ["w@x.example"],
        "recurrence": "monthly",
    }


async def test_a_weekly_series_follows_its_start_to_another_day(phone: VirtualPhone) -> None:
    await run(tools.event_update, phone, id="e6", recurrence="weekly")
    moved = await run(tools.event_update, phone, id="e6", start="2026-06-19T18:30")
    assert (moved["recurrence"], moved["end"]) == ("weekly:FR", "2026-06-19T20:30+08:00")
    same = await run(tools.event_update, phone, id="e6", start="2026-06-26T18:30")
    assert same["recurrence"] == "weekly:FR"
    await run(tools.event_update, phone, id="e6", recurrence="weekly:FR,SA")
    refusal = await fault(tools.event_update, phone, id="e6", start="2026-06-28T18:30")
    assert "leaves out the day of start, which is Sunday" in refusal.message
    assert (await run(tools.event_update, phone, id="e6", start="2026-06-27T10:00"))["recurrence"] == "weekly:FR,SA"


async def test_a_whole_day_stays_a_whole_day(phone: VirtualPhone) -> None:
    moved = await run(tools.event_update, phone, id="e8", start="2026-06-24T15:00")
    assert (moved["start"], moved["end"]) == ("2026-06-24T00:00+08:00", "2026-06-25T00:00+08:00")
    longer = await run(tools.event_update, phone, id="e8", end="2026-06-26")
    assert (longer["start"], longer["end"]) == ("2026-06-24T00:00+08:00", "2026-06-27T00:00+08:00")


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"id": "e2"}, Fault("invalid_arguments", "give at least one field to change", True)),
        ({"id": "e2", "title": ""}, Fault("invalid_arguments", "title: must not be empty", True)),
        ({"id": "e2", "end": "2026-06-15T13:00"}, Fault("invalid_arguments", "end: must be after start", True)),
        ({"id": "zz", "title": "x"}, Fault("not_found", "there is no event 'zz'")),
        (
            {"id": "e9", "title": "x"},
            Fault("read_only", "the calendar 'Public holidays' can only be read", hint="Tell the user."),
        ),
    ],
)
async def test_what_cannot_be_changed(phone: VirtualPhone, given: dict[str, Any], refusal: Fault) -> None:
    assert await fault(tools.event_update, phone, **given) == refusal


async def test_a_deletion_says_what_and_when(phone: VirtualPhone) -> None:
    shown = await preview(tools.event_delete, phone, id="e4")
    assert (shown.action, shown.target) == ("Delete the event Eye test", "e4")
    assert shown.lines[:2] == (("When", "Tue 2026-06-16 10:15 to Tue 2026-06-16 10:45"), ("Calendar", "Personal"))
    series = await preview(tools.event_delete, phone, id="e1")
    assert series.action == "Delete all of the series Team stand-up"
    before = phone.dump()
    deleted = await run(tools.event_delete, phone, id="e4")
    assert (deleted["deleted"]["id"], deleted["deleted"]["title"]) == ("e4", "Eye test")
    assert [e["id"] for e in phone.dump()["calendar"]["events"]] == [
        e["id"] for e in before["calendar"]["events"] if e["id"] != "e4"
    ]
    assert (await fault(tools.event_delete, phone, id="e9")).code == "read_only"
    assert (await fault(tools.event_delete, phone, id="e4")).code == "not_found"


async def test_a_preview_does_not_change_as_time_goes_by(phone: VirtualPhone) -> None:
    calls: list[tuple[Any, dict[str, Any]]] = [
        (tools.event_add, {"title": "T", "start": "2026-06-16T10:00"}),
        (tools.event_update, {"id": "e2", "start": "2026-06-16T10:00"}),
        (tools.event_delete, {"id": "e2"}),
    ]
    before = [await preview(tool, phone, **given) for tool, given in calls]
    phone.set_clock(NOW + timedelta(minutes=9))
    assert [await preview(tool, phone, **given) for tool, given in calls] == before


async def test_moving_an_event_with_guests_is_a_send(phone: VirtualPhone) -> None:
    lunch = {"title": "Lunch", "start": "2026-06-16T12:00", "attendees": ["mei@example.org", "Ann"]}
    made = await run(tools.event_add, phone, **lunch)
    found = await preview(tools.event_update, phone, id=made["id"], start="2026-06-16T13:00")
    assert (found.effect, found.target, ("Invites", "mei@example.org") in found.lines) == (
        Effect.SEND, "mei@example.org", True,
    )  # fmt: skip
    assert (await preview(tools.event_update, phone, id="e2", title="x")).effect is None
