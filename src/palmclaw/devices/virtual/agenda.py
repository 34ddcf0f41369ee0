"""The calendars and their events; a series is stored once and unfolded when a range is read."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from palmclaw.core.device import Code
from palmclaw.core.errors import DeviceError
from palmclaw.core.personal import AddEvent, DeleteEvent, ListCalendars, ListEvents, ReadEvent, UpdateEvent
from palmclaw.core.phone import Calendar, Event
from palmclaw.core.times import minutes, occurrences
from palmclaw.devices.virtual.state import Acts, Row, Scene

_LONGEST = timedelta(days=5 * 366)


def _calendar(row: Row) -> Calendar:
    return Calendar(row["id"], row["name"], bool(row.get("writable", True)))


def _calendars(scene: Scene, _: ListCalendars) -> tuple[Calendar, ...]:
    return tuple(_calendar(row) for row in scene.rows("calendar.calendars"))


def _event(scene: Scene, row: Row) -> Event:
    known = {c.id: c for c in _calendars(scene, ListCalendars())}
    return Event(
        row["id"],
        row["title"],
        scene.moment(row["start"]),
        scene.moment(row["end"]),
        known.get(row["calendar"], Calendar(row["calendar"], row["calendar"], writable=False)),
        row.get("location") or "",
        tuple(row.get("attendees") or ()),
        tuple(row.get("reminders") or ()),
        row.get("recurrence") or "",
        bool(row.get("all_day")),
    )


def _events(scene: Scene, request: ListEvents) -> tuple[Event, ...]:
    if request.end - request.start > _LONGEST:
        raise DeviceError(Code.INVALID, "that is more than five years at once", hint="Ask for a shorter range.")
    found = [e for row in scene.rows("calendar.events") for e in _unfolded(_event(scene, row), request)]
    return tuple(sorted(found, key=lambda e: (e.start, e.end)))


def _unfolded(event: Event, request: ListEvents) -> list[Event]:
    length = event.end - event.start
    starts = occurrences(event.start, length, event.recurrence, request.start, request.end)
    return [replace(event, start=at, end=at + length) for at in starts]


def _read(scene: Scene, request: ReadEvent) -> Event:
    return _event(scene, scene.row("calendar.events", "id", request.id, "event"))


def _add(scene: Scene, request: AddEvent) -> Event:
    _check_writable(_calendar(scene.row("calendar.calendars", "id", request.calendar, "calendar")))
    _check_order(request.start, request.end)
    row: Row = {"id": scene.new_id("calendar.events", "e"), "calendar": request.calendar, "title": request.title}
    row |= {"start": minutes(request.start), "end": minutes(request.end)}
    _put(row, "location", request.location)
    _put(row, "attendees", list(request.attendees))
    _put(row, "reminders", list(request.reminders))
    _put(row, "recurrence", request.recurrence)
    _put(row, "all_day", request.all_day)
    scene.rows("calendar.events").append(row)
    return _event(scene, row)


def _update(scene: Scene, request: UpdateEvent) -> Event:
    row = scene.row("calendar.events", "id", request.id, "event")
    event = _event(scene, row)
    _check_writable(event.calendar)
    _check_order(request.start or event.start, request.end or event.end)
    for key in ("title", "location", "attendees", "reminders", "recurrence"):
        value = getattr(request, key)
        if value is not None:
            _put(row, key, list(value) if isinstance(value, tuple) else value)
    for key in ("start", "end"):
        at = getattr(request, key)
        if at is not None:
            row[key] = minutes(at)
    return _event(scene, row)


def _delete(scene: Scene, request: DeleteEvent) -> Event:
    row = scene.row("calendar.events", "id", request.id, "event")
    event = _event(scene, row)
    _check_writable(event.calendar)
    scene.rows("calendar.events").remove(row)
    return event


def _put(row: Row, key: str, value: Any) -> None:
    """Set what says something, clear what does not."""
    if value:
        row[key] = value
    else:
        row.pop(key, None)


def _check_writable(calendar: Calendar) -> None:
    if not calendar.writable:
        raise DeviceError(Code.READ_ONLY, f"the calendar {calendar.name!r} can only be read")


def _check_order(start: datetime, end: datetime) -> None:
    if end <= start:
        raise DeviceError(Code.INVALID, "the event would end before it begins")


READS: Acts = {ListCalendars: _calendars, ListEvents: _events, ReadEvent: _read}
WRITES: Acts = {AddEvent: _add, UpdateEvent: _update, DeleteEvent: _delete}
