"""Scripts about the phone itself: its state and settings, clipboard, place, notifications and apps."""

from typing import Any

from palmclaw.providers.offline.said import Ended, Said, ScriptOf, at, left_out, moment_of, rows, told
from palmclaw.providers.offline.script import Call, NotOffered, Script
from palmclaw.providers.offline.values import Level

_STEPS = {"brightness": 10, "media_volume": 2, "ring_volume": 2, "alarm_volume": 2}


def battery(said: Said) -> Script:
    found = at((yield _status("battery")), "battery")
    charging = said.say("charging" if at(found, "charging") else "not_charging")
    text = said.say("battery", percent=at(found, "percent"), charging=charging)
    return said.say.joined((text, said.say("saver_on"))) if at(found, "saver") else text


def storage(said: Said) -> Script:
    found = at((yield _status("storage")), "storage")
    return said.say("storage", free=at(found, "free_gb"), total=at(found, "total_gb"))


def network(said: Said) -> Script:
    found = at((yield _status("network")), "network")
    if at(found, "airplane"):
        return said.say("network_airplane")
    ssid = at(found, "wifi", "ssid")
    wifi = said.say("network_wifi", ssid=ssid) if ssid else said.say("network_wifi_alone")
    parts = [wifi if at(found, "wifi", "enabled") else said.say("network_no_wifi")]
    parts.append(said.say("network_cellular" if at(found, "cellular") else "network_no_cellular"))
    return said.say.joined(parts)


def time(said: Said) -> Script:
    now = yield from _now(said)
    return said.say("time", time=said.say.clock(now))


def date(said: Said) -> Script:
    now = yield from _now(said)
    return said.say("date", date=said.say.date(now, full=True))


def _now(said: Said) -> Any:
    try:
        value = yield _status("time")
    except NotOffered:
        return said.now
    return moment_of(at(value, "time"), said.now) or said.now


def switch(setting: str, on: bool) -> ScriptOf:
    """Turn one of the phone's switches on or off."""

    def script(said: Said) -> Script:
        wished = said.slots.get("on", on)
        if wished == "ask":
            return (yield from _state(said, setting))
        value = yield Call("device_set", {"setting": setting, "value": bool(wished)})
        now_on = at(value, "value")
        return said.say(f"{setting}_{'on' if (wished if now_on is None else now_on is True) else 'off'}")

    return script


def _state(said: Said, setting: str) -> Script:
    field = "battery" if setting == "battery_saver" else setting
    value = at((yield _status(field)), field)
    on = at(value, "saver") if setting == "battery_saver" else value
    return said.say(f"{setting}_{'on' if on else 'off'}")


def torch_asked(said: Said) -> Script:
    return (yield from _state(said, "torch"))


def level(setting: str) -> ScriptOf:
    """Set, raise, lower, mute or tell a level; raising and lowering look at the present value first."""
    top = 100 if setting == "brightness" else 15

    def script(said: Said) -> Script:
        do, wished = said.slots.get("do", "set"), said.slot("level", "step")
        if do in ("ask", "up", "down", "unmute"):
            current = yield from _current(setting)
            if do == "ask" or (do == "unmute" and current):
                return said.say(setting, value=current)
            target = _stepped(do, current, wished, setting, top)
        else:
            target = {"mute": 0, "max": top}.get(do, _scaled(wished, top))
        value = yield Call("device_set", {"setting": setting, "value": target})
        return _told(said, setting, value, target)

    return script


def _told(said: Said, setting: str, value: Any, target: int) -> str:
    now, was = at(value, "value"), at(value, "was")
    text = said.say(setting, value=target if now is None else now)
    moved = was is not None and was != now
    return said.say.joined((text, said.say("was", was=was))) if moved else text


def _current(setting: str) -> Any:
    field = "brightness" if setting == "brightness" else "volume"
    value = at((yield _status(field)), field)
    return value if setting == "brightness" else at(value, setting.removesuffix("_volume"))


def _stepped(do: str, current: Any, wished: Level | None, setting: str, top: int) -> int:
    base = current if isinstance(current, int) else top // 2
    if do == "unmute":
        return top // 2
    step = _scaled(wished, top) if wished else _STEPS[setting]
    return max(0, min(top, base + step if do == "up" else base - step))


def _scaled(wished: Level | None, top: int) -> int:
    if wished is None:
        return top // 2
    share = wished.percent or wished.value > top
    return round(top * wished.value / 100) if share else wished.value


def ringer(said: Said) -> Script:
    wished = said.slots["ringer"]
    if wished == "ask" or (said.say.language == "zh" and said.slots.get("asks")):
        found = at((yield _status("ringer")), "ringer")
    else:
        value = yield Call("device_set", {"setting": "ringer", "value": wished})
        found = at(value, "value")
    known = found if found in ("normal", "vibrate", "silent") else None
    return said.say("ringer", value=said.say(f"ringer_{known}") if known else found)


def clipboard_get(said: Said) -> Script:
    text = at((yield Call("clipboard_get")), "text")
    return said.say("clipboard", text=text) if text else said.say("clipboard_empty")


def clipboard_set(said: Said) -> Script:
    text = said.slots["text"]
    yield Call("clipboard_set", {"text": text})
    return said.say("copied", text=text)


def location(said: Said) -> Script:
    found = yield Call("location")
    place = at(found, "place")
    key = "location" if place else "location_bare"
    return said.say(key, place=place, lat=at(found, "lat"), lon=at(found, "lon"))


def notify(said: Said) -> Script:
    title, text = said.slots.get("title"), said.slots["text"]
    yield Call("notify", {"title": title, "text": text} if title else {"title": text})
    return said.say("notified")


def notifications(said: Said) -> Script:
    value = yield Call("notifications_list")
    lines = [_notification(n) for n in rows(value, "notifications")]
    return told(said, "notifications", value, lines) if lines else said.say("no_notifications")


def _notification(row: dict[str, Any]) -> str:
    return ": ".join(str(row[key]) for key in ("by", "title", "text") if row.get(key))


def open_app(said: Said) -> Script:
    value = yield Call("app_open", {"name": said.slots["app"]})
    return said.say("opened", name=at(value, "opened") or said.slots["app"])


def mute_all(said: Said) -> Script:
    """Media and ringing; alarms still ring, and the answer says so."""
    texts = []
    for setting in ("media_volume", "ring_volume"):
        value = yield Call("device_set", {"setting": setting, "value": 0})
        texts.append(_told(said, setting, value, 0))
    return said.say.joined((*texts, said.say("alarms_still_ring")))


def list_apps(said: Said) -> Script:
    value = yield Call("apps_list")
    names = [str(a.get("label")) for a in rows(value, "apps")]
    return said.say("apps", names=said.say.listed(names, left_out(value)))


def open_page(said: Said) -> Script:
    value = yield Call("page_open", {"url": said.slots["url"]})
    return said.say("page", url=at(value, "opened") or said.slots["url"])


def weather(said: Said) -> Script:
    if "weather" not in said.tools:
        raise NotOffered("weather")
    place = said.slot("place")
    if place is None:
        found = yield Call("location")
        place = str(at(found, "place") or "").split(",")[0]
        if not place:
            raise Ended(said.say("no_place"))
    days = said.slots.get("days", 1)
    value = yield Call("weather", {"place": place, "days": days})
    return said.say.lines(
        said.say("weather", place=at(value, "place") or place), [_day(said, d) for d in rows(value, "days")]
    )


def _day(said: Said, row: dict[str, Any]) -> str:
    when = moment_of(row.get("day"), said.now)
    day = said.say.day(when, said.now) if when else row.get("day")
    values = {"sky": row.get("sky"), "rain": row.get("rain_pct"), "high": row.get("high_c"), "low": row.get("low_c")}
    return said.say("weather_day", day=day, **values)


def _status(field: str) -> Call:
    return Call("device_status", {"fields": [field]})
