"""Scripts about the calendar: what is on, what comes next, putting something in and taking it out."""

import re
from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any

from palmclaw.providers.offline.moments import moment, split
from palmclaw.providers.offline.people import free
from palmclaw.providers.offline.plain import bare
from palmclaw.providers.offline.reading import Moment, local
from palmclaw.providers.offline.refusals import refused
from palmclaw.providers.offline.said import Ended, Said, ScriptOf, at, chosen, iso, left_out, moment_of, rows, told
from palmclaw.providers.offline.script import Call, Question, Script, Step
from palmclaw.providers.offline.series import series_day
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
    value = yield Call("calendar_list", {"start": iso(start), "end": iso(end)})
    found = rows(value, "events")
    day = said.say.day(start, said.now)
    if days > 1:
        last = end - timedelta(days=1)
        day = said.say("this_span", first=said.say.date(start), last=said.say.date(last))
    if not found:
        return said.say("events_none", day=day)
    return told(said, "events", value, [_line(said, e, with_day=days > 1) for e in found], day=day)


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
    again = {"recurrence": plan.recurrence} if plan.recurrence else {}
    value = yield Call("event_add", {"title": title, **_times(when), **again})
    start = moment_of(value.get("start") if isinstance(value, dict) else None, said.now) or when.at
    told_when = said.say.moment(start, said.now) if when.timed else said.say.day(when.at, said.now)
    if plan.recurrence:
        return said.say("series_added", title=title, when=told_when, again=_again(said, plan.recurrence))
    return said.say("event_added", title=title, when=told_when)


def _again(said: Said, recurrence: str) -> str:
    """ "every Monday, Wednesday" from weekly:MO,WE."""
    kind, _, days = recurrence.partition(":")
    if not days:
        return said.say(f"again_{kind}")
    names: list[str] = said.say.table["days"]["names"]
    return said.say("again_on", days=said.say.listed(names[series_day(d)] for d in days.split(",")))


def _plan(said: Said) -> Planned:
    """The parts of the event, wherever in the sentence they stood."""
    found = [p for p in (said.slot("event"), said.slot("event_timed"), said.slot("event2")) if isinstance(p, Planned)]
    title = next((p.title for p in found if p.title), "") or (said.slot("title") or "")
    when = next((p.moment for p in found if p.moment), None) or said.slot("when")
    return Planned(title, when, next((p.recurrence for p in found if p.recurrence), ""))


def _times(when: Moment) -> dict[str, Any]:
    if when.timed:
        return {"start": iso(when.at)} | ({"end": iso(when.end)} if when.end else {})
    start, end = _bounds(when.at, when.days)
    return {"start": iso(start), "end": iso(end), "all_day": True}


def delete_event(said: Said) -> Script:
    whole = "series" in said.slots
    plan = yield from _doomed(said)
    found, more = yield from _candidates(said, plan)
    day = split(plan.title, said.now)
    if not found and not whole and day[1] and day[0]:
        plan = Planned(_bare(day[0]), day[1])
        found, more = yield from _candidates(said, plan)
    if whole:
        found = [e for e in found if e.get("recurrence")]
    if not found:
        raise Ended(_not_there(said, plan, whole=whole))
    event = yield from _one_event(said, plan, found, more)
    if event.get("recurrence") and not whole and (plan.recurrence or _names_a_day(said, plan, event)):
        raise Ended(said.say("series_only", title=event.get("title")))
    return (yield from _deleted(said, event))


def _one_event(said: Said, plan: Planned, found: list[Row], more: int | None) -> Generator[Step, Any, Row]:
    if len(found) == 1 and (more == 0 or _folded(found[0]) == plan.title.casefold()):
        return found[0]
    return found[(yield from chosen(said, "which_event", [_named(said, e, plan) for e in found], more))]


def _names_a_day(said: Said, plan: Planned, event: Row) -> bool:
    return plan.moment is not None or (
        _folded(event) != plan.title.casefold() and split(plan.title, said.now)[1] is not None
    )


def _deleted(said: Said, event: Row) -> Script:
    value = yield Call("event_delete", {"id": event.get("id")})
    gone = at(value, "deleted")
    gone = gone if isinstance(gone, dict) and gone.get("title") else event
    if gone.get("recurrence"):
        return said.say("series_gone", title=gone.get("title"), again=_again(said, str(gone["recurrence"])))
    return said.say("event_gone", title=gone.get("title"), when=_when(said, gone))


def _doomed(said: Said) -> Generator[Step, Any, Planned]:
    """What is to be deleted; where the sentence names nothing, or everything, it is asked for."""
    plan, title = said.slot("cancelled"), str(said.slot("title", "series") or "")
    if said.slots.get("every") or refused("every", title):
        raise Ended(said.say("one_event"))
    if not isinstance(plan, Planned) and (not title or refused("unnamed", title)):
        plan = yield Question(said.say("which_to_delete"), lambda reply: _reply(reply, said))
    return plan if isinstance(plan, Planned) else Planned(title)


def _reply(reply: str, said: Said) -> Planned | None:
    words = free(reply, said)
    title, when = split(words or "", said.now)
    return Planned(_bare(title), when) if words else None


def _bare(title: str) -> str:
    return re.sub(r"^(?:(?:the|my|an?)\s+)+|的$", "", bare(title), flags=re.IGNORECASE)


def _not_there(said: Said, plan: Planned, *, whole: bool) -> str:
    if whole:
        return said.say("series_unknown", title=plan.title)
    if plan.moment is not None and not _query(plan.title):
        return said.say("event_unknown_day", day=said.say.day(plan.moment.at, said.now))
    return said.say("event_unknown", title=plan.title)


def _named(said: Said, event: Row, plan: Planned) -> str:
    repeats = event.get("recurrence") and not plan.moment
    return f"{event.get('title')}, {_again(said, str(event['recurrence'])) if repeats else _when(said, event)}"


def _folded(event: Row) -> str:
    return str(event.get("title")).casefold()


Found = tuple[list[Row], int | None]


def _candidates(said: Said, plan: Planned) -> Generator[Step, Any, Found]:
    """What may be meant: by title from today on, and on the day and at the hour that were named; each series once."""
    query = _query(plan.title)
    asked: dict[str, Any] = {"query": query} if query else {}
    if plan.moment:
        start, end = _bounds(plan.moment.at, plan.moment.days)
        asked |= {"start": iso(start), "end": iso(end)}
    value = yield Call("calendar_list", asked)
    found = rows(value, "events")
    if plan.moment and plan.moment.timed:
        hour = [e for e in found if moment_of(e.get("start"), said.now) == plan.moment.at]
        found = hour or found
    elif not plan.moment:
        found = [e for e in found if (end_at := moment_of(e.get("end"), said.now)) and end_at > said.now]
    return list({str(e.get("id")): e for e in reversed(found)}.values())[::-1], left_out(value)


def _query(title: str) -> str:
    """The title as a search; a word that any event may bear searches for nothing."""
    return "" if refused("unnamed", title) else title
