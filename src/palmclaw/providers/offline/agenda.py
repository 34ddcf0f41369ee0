"""Scripts about the calendar: what is on, what comes next, putting something in and taking it out."""

from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any

from palmclaw.providers.offline.moments import moment
from palmclaw.providers.offline.people import free
from palmclaw.providers.offline.reading import Moment, local
from palmclaw.providers.offline.said import Ended, Said, ScriptOf, chosen, iso, moment_of, rows
from palmclaw.providers.offline.script import Call, Question, Script, Step
from palmclaw.providers.offline.values import Planned

Row = dict[str, Any]


def events_in(ahead: int) -> ScriptOf:
    """The events of the day so many days from today."""

    def script(said: Said) -> Script:
        return (yield from _events(said, said.now + timedelta(ahead), 1))

    return script


def events_on_day(said: Said) -> Script:
    day: Moment = said.slots["day"]
    return (yield from _events(said, day.at, day.days))


def _events(said: Said, first: datetime, days: int) -> Script:
    start, end = _bounds(first, days)
    found = rows((yield Call("calendar_list", {"start": iso(start), "end": iso(end)})), "events")
    day = said.say.day(start, said.now)
    if days > 1:
        last = end - timedelta(days=1)
        day = said.say("this_span", first=said.say.date(start), last=said.say.date(last))
    if not found:
        return said.say("events_none", day=day)
    head = said.say("events_one", day=day) if len(found) == 1 else said.say("events", count=len(found), day=day)
    return said.say.lines(head, [_line(said, e, with_day=days > 1) for e in found])


def _bounds(first: datetime, days: int) -> tuple[datetime, datetime]:
    zone = first.tzinfo
    return local(first.date(), 0, 0, zone), local(first.date() + timedelta(days), 0, 0, zone)


def _line(said: Said, event: Row, *, with_day: bool) -> str:
    start, end = moment_of(event.get("start"), said.now), moment_of(event.get("end"), said.now)
    hours = said.say("all_day")
    if start and not event.get("all_day"):
        hours = said.say.clock(start) + (f"–{said.say.clock(end)}" if end else "")
    day = f"{said.say.date(start)} " if with_day and start else ""
    place = f" ({event['location']})" if event.get("location") else ""
    return f"{day}{hours} {event.get('title')}{place}"


def next_event(said: Said) -> Script:
    span = {"start": iso(said.now), "end": iso(said.now + timedelta(30)), "limit": 10}
    found = rows((yield Call("calendar_list", span)), "events")
    ahead = [e for e in found if (start := moment_of(e.get("start"), said.now)) and start >= said.now]
    if not ahead:
        return said.say("next_none")
    first = min(ahead, key=lambda e: str(moment_of(e.get("start"), said.now)))
    return said.say("next_event", event=f"{first.get('title')}, {_when(said, first)}" + _place(first))


def _place(event: Row) -> str:
    return f" ({event['location']})" if event.get("location") else ""


def _when(said: Said, event: Row) -> str:
    start = moment_of(event.get("start"), said.now)
    if start is None:
        return str(event.get("start"))
    return said.say.day(start, said.now) if event.get("all_day") else said.say.moment(start, said.now)


def create_event(said: Said) -> Script:
    plan = _plan(said)
    title, when = plan.title, plan.moment
    if not title:
        title = yield Question(said.say("what_event"), lambda reply: free(reply, said))
    if when is None:
        when = yield Question(said.say("when_event", title=title), lambda reply: moment(reply, said.now))
    value = yield Call("event_add", {"title": title, **_times(when)})
    start = moment_of(value.get("start") if isinstance(value, dict) else None, said.now) or when.at
    told = said.say.moment(start, said.now) if when.timed else said.say.day(when.at, said.now)
    return said.say("event_added", title=title, when=told)


def _plan(said: Said) -> Planned:
    """The parts of the event, wherever in the sentence they stood."""
    found = [p for p in (said.slot("event"), said.slot("event_timed"), said.slot("event2")) if isinstance(p, Planned)]
    title = next((p.title for p in found if p.title), "") or (said.slot("title") or "")
    when = next((p.moment for p in found if p.moment), None) or said.slot("when")
    return Planned(title, when)


def _times(when: Moment) -> dict[str, Any]:
    if when.timed:
        return {"start": iso(when.at)} | ({"end": iso(when.end)} if when.end else {})
    start, end = _bounds(when.at, when.days)
    return {"start": iso(start), "end": iso(end), "all_day": True}


def delete_event(said: Said) -> Script:
    plan = said.slot("cancelled") or Planned(str(said.slot("title") or ""))
    found = yield from _candidates(said, plan)
    if not found:
        day = said.say.day(plan.moment.at, said.now) if plan.moment else ""
        generic = plan.moment is not None and not _query(plan.title)
        raise Ended(said.say("event_unknown_day", day=day) if generic else said.say("event_unknown", title=plan.title))
    event = found[0]
    if len(found) > 1:
        event = found[(yield from chosen(said, "which_event", [f"{e.get('title')}, {_when(said, e)}" for e in found]))]
    yield Call("event_delete", {"id": event.get("id")})
    return said.say("event_gone", title=event.get("title"), when=_when(said, event))


def _candidates(said: Said, plan: Planned) -> Generator[Step, Any, list[Row]]:
    """What may be meant: by title from today on, and on the day and at the hour that were named."""
    query = _query(plan.title)
    asked: dict[str, Any] = {"query": query} if query else {}
    if plan.moment:
        start, end = _bounds(plan.moment.at, plan.moment.days)
        asked |= {"start": iso(start), "end": iso(end)}
    found = rows((yield Call("calendar_list", asked)), "events")
    if plan.moment and plan.moment.timed:
        hour = [e for e in found if moment_of(e.get("start"), said.now) == plan.moment.at]
        return hour or found
    ahead = [e for e in found if (end_at := moment_of(e.get("end"), said.now)) and end_at > said.now]
    return found if plan.moment else ahead


def _query(title: str) -> str:
    """The title as a search; a word that any event may bear searches for nothing."""
    generic = (
        "meeting",
        "event",
        "appointment",
        "call",
        "日程",
        "会议",
        "会",
        "活动",
        "安排",
        "事件",
        "预约",
        "meetings",
    )
    return "" if title.casefold() in generic else title
