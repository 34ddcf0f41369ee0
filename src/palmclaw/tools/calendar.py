"""The calendar."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any, TypeVar

from palmclaw.core.device import DEVICE, Device
from palmclaw.core.errors import ToolError
from palmclaw.core.personal import AddEvent, DeleteEvent, ListCalendars, ListEvents, ReadEvent, UpdateEvent
from palmclaw.core.phone import Calendar, Event, listed, revision
from palmclaw.core.schema import Doc
from palmclaw.core.times import ending, midnight, minutes, moment, recurrence, series_days, spoken
from palmclaw.core.tools import Effect, Guest, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("calendar", "", requires=("alarms",), common=True)
Lines = tuple[tuple[str, str], ...]
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class ListArgs:
    """Of calendar_list."""

    start: str = ""
    end: str = ""
    query: str = ""
    limit: int = 50


@tool(module="calendar", effect=Effect.READ, permissions=("calendar",), private=True, fenced=True)
async def calendar_list(args: ListArgs, ctx: ToolContext) -> dict[str, Any]:
    """List events. ISO times; default next 7 days, query alone: a year"""
    device = ctx.need(DEVICE)
    start, end = _range(args, device.now())
    wanted = args.query.strip().casefold()
    events = [e for e in await device.do(ListEvents(start, end)) if wanted in _searched(e)]
    return listed("events", [_shown(e) for e in events], args.limit)


def _range(args: ListArgs, now: datetime) -> tuple[datetime, datetime]:
    """The range asked for: a week from now, or from a month back to a year ahead when only words are given."""
    wide = bool(args.query.strip()) and not args.end
    start = moment(args.start, "start", now) if args.start else now
    if wide and not args.start:
        start = now - timedelta(days=30)
    end = ending(args.end, "end", now) if args.end else max(start, now) + timedelta(days=365 if wide else 7)
    if end <= start:
        raise _wrong("end: must be after start")
    return start, end


def _searched(event: Event) -> str:
    return " ".join((event.title, event.location, *event.attendees)).casefold()


def _shown(event: Event) -> dict[str, Any]:
    row = {
        "id": event.id,
        "title": event.title,
        "start": minutes(event.start),
        "end": minutes(event.end),
        "calendar": event.calendar.name,
    }
    more = {
        "all_day": event.all_day,
        "location": event.location,
        "attendees": list(event.attendees),
        "recurrence": event.recurrence,
        "reminders": list(event.reminders),
    }
    return row | {key: value for key, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class AddArgs:
    """Of event_add."""

    title: str
    start: str
    end: str = ""
    calendar: str = ""
    location: str = ""
    attendees: Annotated[tuple[Guest, ...], Doc("names; e-mails get invited")] = ()
    reminders: Annotated[tuple[int, ...], Doc("minutes")] = ()
    recurrence: Annotated[str, Doc("daily, weekly:MO,WE, monthly, yearly")] = ""
    all_day: bool = False


def _add_effect(args: AddArgs) -> Effect:
    return Effect.SEND if _invited(args.attendees) else Effect.PERSONAL


def _invited(attendees: tuple[str, ...] | None) -> str:
    """The attendees that get a message, in the order given."""
    return ", ".join(a for a in attendees or () if "@" in a)


async def _new(args: AddArgs, device: Device) -> tuple[AddEvent, Calendar]:
    start, end = _hours(args, device.now())
    calendar = _chosen(await device.do(ListCalendars()), args.calendar)
    request = AddEvent(
        _title(args.title),
        start,
        end,
        calendar.id,
        args.location,
        args.attendees,
        _reminders(args.reminders),
        recurrence(args.recurrence, start),
        args.all_day,
    )
    return request, calendar


def _hours(args: AddArgs, now: datetime) -> tuple[datetime, datetime]:
    start = moment(args.start, "start", now)
    end = ending(args.end, "end", now) if args.end else start + timedelta(hours=1)
    if args.all_day:
        start, end = midnight(start), midnight(end)
        end = start + timedelta(days=1) if end == start else end
    if end <= start:
        raise _wrong("end: must be after start")
    return start, end


def _title(title: str) -> str:
    if not title.strip():
        raise _wrong("title: must not be empty")
    return title.strip()


def _reminders(reminders: tuple[int, ...]) -> tuple[int, ...]:
    if any(not 0 <= r <= 40_320 for r in reminders):
        raise _wrong("reminders: minutes before the start, 0 to 40320")
    return reminders


def _chosen(calendars: tuple[Calendar, ...], name: str) -> Calendar:
    """The calendar of that name or id, or the first that can be written."""
    writable = [c for c in calendars if c.writable]
    names = ", ".join(c.name for c in writable) or "none"
    if name:
        writable = [c for c in calendars if name.casefold() in (c.id.casefold(), c.name.casefold())]
    if not writable:
        raise ToolError("not_found", f"no calendar {name!r} can be used", hint=f"Calendars: {names}.")
    _check_writable(writable[0])
    return writable[0]


def _check_writable(calendar: Calendar) -> None:
    if not calendar.writable:
        raise ToolError("read_only", f"the calendar {calendar.name!r} can only be read", hint="Tell the user.")


async def _add_preview(args: AddArgs, ctx: ToolContext) -> Preview:
    new, calendar = await _new(args, ctx.need(DEVICE))
    event = Event("", new.title, new.start, new.end, calendar, new.location, new.attendees, new.reminders)
    lines = _lines(event, new.recurrence)
    return Preview("Add an event", _invited(args.attendees), (*lines, *_warned(args.attendees)))


def _lines(event: Event, series: str) -> Lines:
    parts = (
        ("Title", event.title),
        ("When", f"{spoken(event.start)} to {spoken(event.end)}"),
        ("Calendar", event.calendar.name),
        ("Where", event.location),
        ("With", ", ".join(event.attendees)),
        ("Repeats", series),
        ("Reminders", ", ".join(f"{r} min before" for r in event.reminders)),
    )
    return tuple((title, text) for title, text in parts if text)


def _warned(attendees: tuple[str, ...] | None) -> Lines:
    return (("Invites", invited),) if (invited := _invited(attendees)) else ()


@tool(module="calendar", effect=_add_effect, permissions=("calendar",), private=True, preview=_add_preview)
async def event_add(args: AddArgs, ctx: ToolContext) -> dict[str, Any]:
    """Add event. ISO times, default 1 hour"""
    device = ctx.need(DEVICE)
    new, _ = await _new(args, device)
    return _shown(await device.do(new))


@dataclass(frozen=True, slots=True)
class UpdateArgs:
    """Of event_update."""

    id: str
    title: str | None = None
    start: str | None = None
    end: str | None = None
    location: str | None = None
    attendees: tuple[Guest, ...] | None = None
    reminders: tuple[int, ...] | None = None
    recurrence: str | None = None


def _update_effect(args: UpdateArgs) -> Effect:
    return Effect.SEND if _invited(args.attendees) else Effect.PERSONAL


async def _changed(args: UpdateArgs, device: Device) -> tuple[Event, UpdateEvent]:
    """The event as it is, and the change asked for, checked against it."""
    event = await _writable(device, args.id)
    start = _given(args.start, lambda text: moment(text, "start", device.now()))
    end = _given(args.end, lambda text: ending(text, "end", device.now()))
    if event.all_day:
        start, end = _given(start, midnight), _given(end, midnight)
    if start is not None and end is None:
        end = start + (event.end - event.start)
    if (end or event.end) <= (start or event.start):
        raise _wrong("end: must be after start")
    change = UpdateEvent(
        args.id,
        _given(args.title, _title),
        start,
        end,
        args.location,
        args.attendees,
        _given(args.reminders, _reminders),
        _series(args.recurrence, event, start),
    )
    if change == UpdateEvent(args.id):
        raise _wrong("give at least one field to change")
    return event, change


async def _writable(device: Device, id: str) -> Event:
    event = await device.do(ReadEvent(id))
    _check_writable(event.calendar)
    return event


def _given(value: A | None, read: Callable[[A], B]) -> B | None:
    return None if value is None else read(value)


def _series(asked: str | None, event: Event, start: datetime | None) -> str | None:
    """The recurrence after a change: a series on one weekday follows its start to another."""
    if asked is not None:
        return recurrence(asked, start or event.start)
    if start is None or not event.recurrence:
        return None
    one_day = len(series_days(event.recurrence)) <= 1
    kind = event.recurrence.partition(":")[0]
    after = recurrence(kind if one_day else event.recurrence, start)
    return None if after == event.recurrence else after


async def _update_preview(args: UpdateArgs, ctx: ToolContext) -> Preview:
    event, change = await _changed(args, ctx.need(DEVICE))
    after = Event(
        event.id,
        change.title or event.title,
        change.start or event.start,
        change.end or event.end,
        event.calendar,
        event.location if change.location is None else change.location,
        event.attendees if change.attendees is None else change.attendees,
        event.reminders if change.reminders is None else change.reminders,
    )
    old = dict(_lines(event, event.recurrence))
    new = dict(_lines(after, event.recurrence if change.recurrence is None else change.recurrence))
    lines = tuple(
        (title, f"{old.get(title, '(none)')} → {new.get(title, '(none)')}")
        for title in dict.fromkeys((*old, *new))
        if old.get(title) != new.get(title)
    )
    guests = tuple(dict.fromkeys((*after.attendees, *event.attendees)))
    lines = (*lines, *_warned(guests))
    tells = Effect.SEND if _invited(guests) else None  # a synced calendar writes to its guests
    return Preview(f"Change the event {event.title}", _invited(guests), lines, revision(event), tells)


@tool(module="calendar", effect=_update_effect, permissions=("calendar",), private=True, preview=_update_preview)
async def event_update(args: UpdateArgs, ctx: ToolContext) -> dict[str, Any]:
    """Change given fields of event or series"""
    device = ctx.need(DEVICE)
    _, change = await _changed(args, device)
    return _shown(await device.do(change))


@dataclass(frozen=True, slots=True)
class DeleteArgs:
    """Of event_delete."""

    id: str


async def _delete_preview(args: DeleteArgs, ctx: ToolContext) -> Preview:
    event = await _writable(ctx.need(DEVICE), args.id)
    what = "all of the series" if event.recurrence else "the event"
    return Preview(f"Delete {what} {event.title}", args.id, _lines(event, event.recurrence)[1:], revision(event))


@tool(module="calendar", effect=Effect.DELETE, permissions=("calendar",), private=True, preview=_delete_preview)
async def event_delete(args: DeleteArgs, ctx: ToolContext) -> dict[str, Any]:
    """Delete event or whole series"""
    return {"deleted": _shown(await ctx.need(DEVICE).do(DeleteEvent(args.id)))}


def _wrong(problem: str) -> ToolError:
    return ToolError("invalid_arguments", problem, retryable=True)
