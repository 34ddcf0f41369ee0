"""Scripts about music, photos, recordings, bluetooth, alarms and timers."""

from collections.abc import Generator
from datetime import datetime, timedelta
from typing import Any

from palmclaw.providers.offline.moments import moment
from palmclaw.providers.offline.reading import Moment, local
from palmclaw.providers.offline.said import Ended, Said, ScriptOf, at, chosen, iso, left_out, moment_of, rows, told
from palmclaw.providers.offline.script import Call, Failed, Question, Script, Step, Unreadable
from palmclaw.providers.offline.values import Countdown, Ring

Row = dict[str, Any]


def play_music(said: Said) -> Script:
    if said.slots.get("resume"):
        value = yield Call("media_resume")
        return said.say("playing", name=at(value, "item", "name"))
    song = said.slot("song") or ""
    found = rows((yield Call("media_list", {"kind": "audio"} | ({"query": song} if song else {}))), "items")
    if not found:
        return said.say("no_song", name=song) if song else said.say("no_music")
    item = next((i for i in found if i.get("album") != "Recordings"), found[0])
    value = yield Call("media_play", {"id": item.get("id")})
    return said.say("playing", name=at(value, "item", "name") or item.get("name"))


def pause_music(said: Said) -> Script:
    try:
        yield Call("media_pause")
    except Failed as failed:
        if failed.code != "not_playing":
            raise
        return said.say("nothing_playing")
    return said.say("paused")


def list_photos(said: Said) -> Script:
    day = said.slot("day")
    since = {"since": iso(local(day.at.date(), 0, 0, said.now.tzinfo))} if day else {}
    value = yield Call("media_list", {"kind": "photo", **since})
    found = rows(value, "items")
    if day:
        found, value = [p for p in found if _taken_by(p, day, said.now)], {"more": left_out(value) != 0}
    if not found and left_out(value) != 0:
        raise Unreadable("media_list")
    if not found:
        return said.say("photos_none")
    return told(said, "photos", value, [_photo(said, p) for p in found])


def _taken_by(photo: Row, day: Moment, now: datetime) -> bool:
    taken = moment_of(photo.get("taken"), now)
    return taken is not None and taken.date() < day.at.date() + timedelta(day.days)


def _photo(said: Said, photo: Row) -> str:
    taken = moment_of(photo.get("taken"), said.now)
    return f"{photo.get('name')}" + (f" ({said.say.moment(taken, said.now)})" if taken else "")


def record_start(said: Said) -> Script:
    title = said.slot("title")
    yield Call("record_start", {"name": title} if title else {})
    return said.say("recording")


def record_stop(said: Said) -> Script:
    try:
        value = yield Call("record_stop")
    except Failed as failed:
        if failed.code != "not_recording":
            raise
        return said.say("not_recording")
    return said.say("recorded", name=at(value, "saved", "name"))


def bluetooth(on: bool) -> ScriptOf:
    """Turn bluetooth on or off."""

    def script(said: Said) -> Script:
        yield Call("bluetooth_set", {"enabled": on})
        return said.say("bluetooth_on" if on else "bluetooth_off")

    return script


def bluetooth_list(said: Said) -> Script:
    value = yield Call("bluetooth_status")
    state = said.say("bluetooth_on" if at(value, "enabled") else "bluetooth_off")
    names = [_gadget(said, d) for d in rows(value, "paired")]
    paired = said.say("paired", names=said.say.listed(names, left_out(value))) if names else said.say("paired_none")
    return said.say.joined((state, paired))


def _gadget(said: Said, device: Row) -> str:
    facts = [said.say("is_connected")] if device.get("connected") else []
    facts += [f"{device['battery']} %"] if device.get("battery") is not None else []
    return f"{device.get('name')}" + (f" ({', '.join(facts)})" if facts else "")


def bluetooth_connect(said: Said) -> Script:
    device = yield from _meant(said)
    try:
        yield Call("bluetooth_connect", {"address": device.get("address")})
    except Failed as failed:
        if failed.code != "bluetooth_off":
            raise
        return said.say("bluetooth_is_off")
    return said.say("connected", name=device.get("name"))


def bluetooth_disconnect(said: Said) -> Script:
    device = yield from _meant(said)
    yield Call("bluetooth_disconnect", {"address": device.get("address")})
    return said.say("disconnected", name=device.get("name"))


def _meant(said: Said) -> Generator[Step, Any, Row]:
    """The one paired device that the words name, by its name or its kind."""
    words = str(said.slots["gadget"]).casefold()
    paired = rows((yield Call("bluetooth_status")), "paired")
    named = [d for d in paired if words in str(d.get("name")).casefold()]
    found = named or [d for d in paired if _is_kind(words, d)]
    if not found:
        names = said.say.listed(str(d.get("name")) for d in paired) or "–"
        raise Ended(said.say("gadget_unknown", name=said.slots["gadget"], names=names))
    if len(found) == 1:
        return found[0]
    return found[(yield from chosen(said, "which_gadget", [str(d.get("name")) for d in found]))]


def _is_kind(words: str, device: Row) -> bool:
    kinds = {
        "speaker": ("speaker", "speakers", "音箱", "音响"),
        "headset": ("headphones", "headset", "earbuds", "buds", "earphones", "耳机"),
        "keyboard": ("keyboard", "键盘"),
        "watch": ("watch", "手表"),
        "car": ("car", "车", "汽车"),
    }
    return words in kinds.get(str(device.get("kind")), ()) or any(
        w in words for w in kinds.get(str(device.get("kind")), ())
    )


def alarm_set(said: Said) -> Script:
    ring: Ring = said.slots["alarm"]
    at_time = yield from _timed(said, ring, "when_alarm")
    return (yield from _alarm(said, ring, at_time))


def _timed(said: Said, ring: Ring, question: str) -> Generator[Step, Any, datetime]:
    """When it is to ring; a time of day that was not said is asked for."""
    when = ring.moment
    if when is not None and when.timed:
        return when.at
    day = when.at.date() if when else None

    def understood(reply: str) -> datetime | None:
        found = moment(reply, said.now, literal=True, day=day)
        return found.at if found and found.timed else None

    at_time: datetime = yield Question(said.say(question, label=ring.label), understood)
    return at_time


def _alarm(said: Said, ring: Ring, at: datetime) -> Script:
    soon = at - said.now < timedelta(1)
    at_time = said.say.clock(at) if ring.days or soon else iso(at)
    more: dict[str, Any] = ({"label": ring.label} if ring.label else {}) | (
        {"days": list(ring.days)} if ring.days else {}
    )
    yield Call("alarm_set", {"time": at_time} | more)
    label = said.say("label", label=ring.label) if ring.label else ""
    if ring.days:
        time, days = said.say.clock(at), said.say.listed(_weekdays(said, ring.days))
        return said.say("alarm_days", time=time, days=days, label=label)
    return said.say("alarm", time=said.say.moment(at, said.now), label=label)


def _weekdays(said: Said, days: tuple[str, ...]) -> list[str]:
    names: list[str] = said.say.table["days"]["names"]
    return [names[("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(d)] for d in days]


def reminder(said: Said) -> Script:
    """Within the hour a timer, later an alarm: both ring and show the label."""
    ring: Ring = said.slot("reminder") or Ring(said.slots["when"], str(said.slot("text") or ""))
    at_time = yield from _timed(said, ring, "when_reminder")
    left = at_time - said.now.replace(second=0, microsecond=0)
    if timedelta() < left <= timedelta(hours=1) and not ring.days:
        return (yield from _timer(said, Countdown(left, ring.label)))
    return (yield from _alarm(said, ring, at_time))


def timer_set(said: Said) -> Script:
    countdown: Countdown = said.slots["timer"]
    return (yield from _timer(said, countdown))


def _timer(said: Said, countdown: Countdown) -> Script:
    label = {"label": countdown.label} if countdown.label else {}
    yield Call("timer_set", {"seconds": int(countdown.length.total_seconds())} | label)
    shown = said.say("label", label=countdown.label) if countdown.label else ""
    return said.say("timer", length=said.say.length(countdown.length), label=shown)


def alarms_list(said: Said) -> Script:
    value = yield Call("alarms_list")
    alarms = [_labelled(said, str(a.get("time")), a) for a in at(value, "alarms") or ()]
    if not alarms and left_out(value) != 0:
        raise Unreadable("alarms_list")
    cut = left_out(value) if at(value, "timers") is None else 0  # what was cut off is at the end
    timers = [_labelled(said, _until(said, t), t) for t in at(value, "timers") or ()]
    parts = [said.say("alarms", names=said.say.listed(alarms, cut))] if alarms else []
    parts += [said.say("timers", names=said.say.listed(timers, left_out(value)))] if timers else []
    return said.say.joined(parts) or said.say("alarms_none")


def _until(said: Said, timer: Row) -> str:
    ends = moment_of(timer.get("ends"), said.now)
    return said.say("timer_until", time=ends.strftime("%H:%M:%S")) if ends else str(timer.get("seconds"))


def _labelled(said: Said, text: str, row: Row) -> str:
    days = said.say.listed(_weekdays(said, tuple(row.get("days") or ())))
    label = said.say("label", label=row["label"]) if row.get("label") else ""
    return text + (f" {days}" if days else "") + label
