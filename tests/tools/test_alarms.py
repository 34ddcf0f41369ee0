"""Alarms and timers."""

import pytest

from palmclaw.core.codec import decode
from palmclaw.core.errors import BadArguments, Fault
from palmclaw.core.tools import Effect
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import alarms as tools
from tests.devices.kit import fault, preview, run

WEEKDAYS = {"id": "a1", "time": "06:50", "label": "Weekdays", "days": ["mon", "tue", "wed", "thu", "fri"]}


@pytest.mark.parametrize(
    ("time", "kept"),
    [
        ("07:30", "07:30"),
        ("7:30", "07:30"),
        ("2026-06-15T21:15", "21:15"),
        ("2026-06-16T09:00+08:00", "09:00"),
        ("2026-06-15T23:00Z", "07:00"),
    ],
)
async def test_an_alarm_is_set(phone: VirtualPhone, time: str, kept: str) -> None:
    made = await run(tools.alarm_set, phone, time=time, label="Bread", days=["sat", "sun", "sat"])
    assert made == {"id": made["id"], "time": kept, "label": "Bread", "days": ["sat", "sun"]}
    assert await run(tools.alarms_list, phone) == {"alarms": [WEEKDAYS, made], "timers": []}


@pytest.mark.parametrize("time", ["2026-06-16T09:01", "2026-06-15T09:00", "2026-06-14T10:00"])
async def test_an_alarm_further_than_a_day_is_refused(phone: VirtualPhone, time: str) -> None:
    refusal = await fault(tools.alarm_set, phone, time=time)
    assert refusal == Fault(
        "invalid_arguments",
        f"time: {time!r} is not within the next 24 hours, which is as far as an alarm reaches",
        True,
        "Give HH:MM and days, or make a calendar event with a reminder.",
    )


async def test_what_is_no_time(phone: VirtualPhone) -> None:
    for time in ("half past seven", "730", ""):
        assert await fault(tools.alarm_set, phone, time=time) == Fault(
            "invalid_arguments", f"time: cannot read {time!r} as a time", True, "Example: 07:30"
        )


async def test_a_timer_runs_to_the_second(phone: VirtualPhone) -> None:
    made = await run(tools.timer_set, phone, seconds=90, label="Tea")
    assert made == {"id": made["id"], "seconds": 90, "label": "Tea", "ends": "2026-06-15T09:01:30+08:00"}
    assert (await run(tools.alarms_list, phone))["timers"] == [made]
    for seconds in (0, 86_401):
        with pytest.raises(BadArguments, match="seconds: must be 1 to 86400"):
            decode(tools.TimerArgs, {"seconds": seconds})


async def test_alarms_and_timers_are_deleted_by_id(phone: VirtualPhone) -> None:
    timer = await run(tools.timer_set, phone, seconds=90, label="Tea")
    plain = await run(tools.timer_set, phone, seconds=60)
    once = await run(tools.alarm_set, phone, time="08:00")
    shown = [await preview(tools.alarm_delete, phone, id=x["id"]) for x in (WEEKDAYS, once, timer, plain)]
    assert [(s.action, s.target, s.lines) for s in shown] == [
        (
            "Delete the alarm at 06:50",
            "a1",
            (("Label", "Weekdays"), ("Days", "mon, tue, wed, thu, fri")),
        ),
        ("Delete the alarm at 08:00", once["id"], ()),
        ("Stop the timer of 90 s", timer["id"], (("Label", "Tea"),)),
        ("Stop the timer of 60 s", plain["id"], ()),
    ]
    assert len({s.revision for s in shown}) == 4
    for gone in (WEEKDAYS, once, timer, plain):
        assert await run(tools.alarm_delete, phone, id=gone["id"]) == {"deleted": gone}
    assert await run(tools.alarms_list, phone) == {"alarms": [], "timers": []}
    assert await fault(tools.alarm_delete, phone, id="a1") == Fault(
        "not_found", "there is no alarm or timer 'a1'", hint="See alarms_list."
    )


def test_what_the_gate_must_know() -> None:
    assert [t.effect for t in (tools.alarm_set, tools.alarms_list, tools.alarm_delete, tools.timer_set)] == [
        Effect.DEVICE,
        Effect.READ,
        Effect.DELETE,
        Effect.DEVICE,
    ]
