"""Media: the collection, the player and the recorder."""

from datetime import datetime

from palmclaw.core.capabilities import ListMedia, PauseMedia, PlayMedia, ResumeMedia, StartRecording, StopRecording
from palmclaw.core.device import Code
from palmclaw.core.errors import DeviceError
from palmclaw.core.phone import MediaItem, Player
from palmclaw.core.times import minutes
from palmclaw.devices.virtual.state import Acts, Row, Scene

_MB_A_SECOND = 0.016


def _item(scene: Scene, row: Row) -> MediaItem:
    return MediaItem(
        row["id"],
        row["kind"],
        row["name"],
        row.get("album") or "",
        scene.moment(row["taken"]) if row.get("taken") else None,
        row.get("artist") or "",
        row.get("duration_s"),
        row.get("size_mb"),
    )


def _listed(scene: Scene, _: ListMedia) -> tuple[MediaItem, ...]:
    """What bears no date keeps its order at the end."""
    items = [_item(scene, row) for row in scene.rows("media.items")]
    dated = [(i.taken, i) for i in items if i.taken is not None]
    newest = sorted(dated, key=lambda pair: pair[0], reverse=True)
    return (*(i for _, i in newest), *(i for i in items if i.taken is None))


def _playing(scene: Scene) -> Player:
    player = scene.state["media"]["player"]
    item = next((r for r in scene.rows("media.items") if r["id"] == player["item"]), None)
    return Player(player["state"], _item(scene, item) if item is not None else None)


def _play(scene: Scene, request: PlayMedia) -> Player:
    row = scene.row("media.items", "id", request.id, "media item")
    if row["kind"] not in ("audio", "video"):
        raise DeviceError(Code.INVALID, f"{row['name']} is a {row['kind']} and cannot be played")
    scene.state["media"]["player"] = {"state": "playing", "item": row["id"]}
    return _playing(scene)


def _pause(scene: Scene, _: PauseMedia) -> Player:
    player = scene.state["media"]["player"]
    if player["state"] != "playing":
        raise DeviceError(Code.NOT_PLAYING, "nothing is playing")
    player["state"] = "paused"
    return _playing(scene)


def _resume(scene: Scene, _: ResumeMedia) -> Player:
    player = scene.state["media"]["player"]
    if player["state"] not in ("paused", "playing"):
        raise DeviceError(Code.NOT_PLAYING, "nothing was paused", hint="Play something by its id.")
    player["state"] = "playing"
    return _playing(scene)


def _start(scene: Scene, request: StartRecording) -> str:
    recorder = scene.state["media"]["recorder"]
    if recorder["state"] == "recording":
        raise DeviceError(Code.ALREADY_RECORDING, f"{recorder['name']!r} is being recorded", hint="Stop it first.")
    since = scene.now.isoformat()
    scene.state["media"]["recorder"] = {"state": "recording", "name": request.name, "since": since}
    return request.name


def _stop(scene: Scene, _: StopRecording) -> MediaItem:
    recorder = scene.state["media"]["recorder"]
    if recorder["state"] != "recording":
        raise DeviceError(Code.NOT_RECORDING, "nothing is being recorded")
    since = datetime.fromisoformat(recorder.get("since") or scene.now.isoformat())
    seconds = max(1, round((scene.now - since).total_seconds()))
    row: Row = {
        "id": scene.new_id("media.items", "m"),
        "kind": "audio",
        "album": "Recordings",
        "name": f"{recorder['name'] or 'memo'}.m4a",
        "taken": minutes(scene.now),
        "duration_s": seconds,
        "size_mb": round(max(0.1, seconds * _MB_A_SECOND), 1),
    }
    scene.rows("media.items").append(row)
    scene.state["media"]["recorder"] = {"state": "idle", "name": None}
    return _item(scene, row)


READS: Acts = {ListMedia: _listed}
WRITES: Acts = {
    PlayMedia: _play,
    PauseMedia: _pause,
    ResumeMedia: _resume,
    StartRecording: _start,
    StopRecording: _stop,
}
