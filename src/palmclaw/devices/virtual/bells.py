"""Alarms and timers."""

from datetime import UTC, timedelta

from palmclaw.core.capabilities import DeleteAlarm, DeleteTimer, ListAlarms, ListTimers, SetAlarm, SetTimer
from palmclaw.core.phone import Alarm, Timer
from palmclaw.devices.virtual.state import Acts, Row, Scene


def _alarm(row: Row) -> Alarm:
    return Alarm(row["id"], row["time"], row.get("label") or "", tuple(row.get("days") or ()))


def _alarms(scene: Scene, _: ListAlarms) -> tuple[Alarm, ...]:
    return tuple(_alarm(row) for row in scene.rows("alarms"))


def _set_alarm(scene: Scene, request: SetAlarm) -> Alarm:
    row: Row = {"id": scene.new_id("alarms", "a"), "time": request.time, "label": request.label}
    row["days"] = list(request.days)
    scene.rows("alarms").append(row)
    return _alarm(row)


def _delete_alarm(scene: Scene, request: DeleteAlarm) -> Alarm:
    row = scene.row("alarms", "id", request.id, "alarm")
    scene.rows("alarms").remove(row)
    return _alarm(row)


def _timer(scene: Scene, row: Row) -> Timer:
    return Timer(row["id"], row.get("seconds") or 0, row.get("label") or "", scene.moment(row["ends"]))


def _timers(scene: Scene, _: ListTimers) -> tuple[Timer, ...]:
    """A timer that has rung is gone."""
    return tuple(t for t in (_timer(scene, row) for row in scene.rows("timers")) if t.ends > scene.now)


def _set_timer(scene: Scene, request: SetTimer) -> Timer:
    at = (scene.now.astimezone(UTC) + timedelta(seconds=request.seconds)).astimezone(scene.now.tzinfo)
    ends = at.isoformat(timespec="seconds")
    row: Row = {"id": scene.new_id("timers", "t"), "seconds": request.seconds, "label": request.label, "ends": ends}
    scene.rows("timers").append(row)
    return _timer(scene, row)


def _delete_timer(scene: Scene, request: DeleteTimer) -> Timer:
    row = scene.row("timers", "id", request.id, "timer")
    scene.rows("timers").remove(row)
    return _timer(scene, row)


READS: Acts = {ListAlarms: _alarms, ListTimers: _timers}
WRITES: Acts = {SetAlarm: _set_alarm, DeleteAlarm: _delete_alarm, SetTimer: _set_timer, DeleteTimer: _delete_timer}
