"""Alarms and timers."""

from datetime import timedelta
from typing import Annotated, Any, Literal

from palmclaw.core.capabilities import DeleteAlarm, DeleteTimer, ListAlarms, ListTimers, SetAlarm, SetTimer
from palmclaw.core.device import DEVICE, Device
from palmclaw.core.errors import ToolError
from palmclaw.core.phone import Alarm, Timer, revision
from palmclaw.core.schema import Between
from palmclaw.core.times import clock_time, moment
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("alarms", "timers", common=True)
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@dataclass(frozen=True, slots=True)
class SetArgs:
    """Of alarm_set."""

    time: str
    label: str = ""
    days: tuple[Day, ...] = ()


@tool(module="alarms", effect=Effect.DEVICE)
async def alarm_set(args: SetArgs, ctx: ToolContext) -> dict[str, Any]:
    """Set alarm. HH:MM, days repeat"""
    device = ctx.need(DEVICE)
    days = tuple(dict.fromkeys(args.days))
    return _alarm(await device.do(SetAlarm(_time(args.time, device), args.label, days)))


def _time(text: str, device: Device) -> str:
    """`HH:MM`; a date may stand before it as long as the alarm rings within a day."""
    if "-" not in text:
        return clock_time(text, "time")
    now = device.now()
    at = moment(text, "time", now)
    if not now < at <= now + timedelta(days=1):
        raise ToolError(
            "invalid_arguments",
            f"time: {text!r} is not within the next 24 hours, which is as far as an alarm reaches",
            retryable=True,
            hint="Give HH:MM and days, or make a calendar event with a reminder.",
        )
    return f"{at:%H:%M}"


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@tool(module="alarms", effect=Effect.READ)
async def alarms_list(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """List alarms and timers"""
    device = ctx.need(DEVICE)
    alarms, timers = await device.do(ListAlarms()), await device.do(ListTimers())
    return {"alarms": [_alarm(a) for a in alarms], "timers": [_timer(t) for t in timers]}


def _alarm(alarm: Alarm) -> dict[str, Any]:
    return {"id": alarm.id, "time": alarm.time, "label": alarm.label, "days": list(alarm.days)}


def _timer(timer: Timer) -> dict[str, Any]:
    ends = timer.ends.isoformat(timespec="seconds")
    return {"id": timer.id, "seconds": timer.seconds, "label": timer.label, "ends": ends}


@dataclass(frozen=True, slots=True)
class DeleteArgs:
    """Of alarm_delete."""

    id: str


async def _delete_preview(args: DeleteArgs, ctx: ToolContext) -> Preview:
    found = await _existing(ctx.need(DEVICE), args.id)
    label = (("Label", found.label),) if found.label else ()
    if isinstance(found, Timer):
        return Preview(f"Stop the timer of {found.seconds} s", found.id, label, revision(found))
    days = (("Days", ", ".join(found.days)),) if found.days else ()
    return Preview(f"Delete the alarm at {found.time}", found.id, (*label, *days), revision(found))


@tool(module="alarms", effect=Effect.DELETE, preview=_delete_preview)
async def alarm_delete(args: DeleteArgs, ctx: ToolContext) -> dict[str, Any]:
    """Delete alarm or timer"""
    device = ctx.need(DEVICE)
    if isinstance(await _existing(device, args.id), Timer):
        return {"deleted": _timer(await device.do(DeleteTimer(args.id)))}
    return {"deleted": _alarm(await device.do(DeleteAlarm(args.id)))}


async def _existing(device: Device, id: str) -> Alarm | Timer:
    for alarm in await device.do(ListAlarms()):
        if alarm.id == id:
            return alarm
    for timer in await device.do(ListTimers()):
        if timer.id == id:
            return timer
    raise ToolError("not_found", f"there is no alarm or timer {id[:40]!r}", hint="See alarms_list.")


@dataclass(frozen=True, slots=True)
class TimerArgs:
    """Of timer_set."""

    seconds: Annotated[int, Between(1, 86_400)]
    label: str = ""


@tool(module="alarms", effect=Effect.DEVICE)
async def timer_set(args: TimerArgs, ctx: ToolContext) -> dict[str, Any]:
    """Start timer"""
    return _timer(await ctx.need(DEVICE).do(SetTimer(args.seconds, args.label)))
