"""The machine itself: status, switches, levels, place, clipboard, notifications, apps."""

from collections.abc import Callable
from typing import Any

from palmclaw.core.capabilities import (
    ListApps,
    ListNotifications,
    OpenApp,
    OpenPage,
    PostNotification,
    ReadBattery,
    ReadBrightness,
    ReadClipboard,
    ReadDnd,
    ReadModel,
    ReadNetwork,
    ReadPosition,
    ReadRinger,
    ReadStorage,
    ReadTorch,
    ReadVolume,
    SetBatterySaver,
    SetBrightness,
    SetDnd,
    SetRinger,
    SetTorch,
    SetVolume,
    SetWifi,
    WriteClipboard,
)
from palmclaw.core.device import Code
from palmclaw.core.errors import DeviceError
from palmclaw.core.phone import (
    App,
    Battery,
    Change,
    Model,
    Network,
    Notification,
    Position,
    Setting,
    Storage,
    Volume,
)
from palmclaw.devices.virtual.state import Acts, Scene


def _battery(scene: Scene, _: ReadBattery) -> Battery:
    battery = scene.state["device"]["battery"]
    return Battery(battery["percent"], battery["charging"], battery["saver"], battery["temperature_c"])


def _storage(scene: Scene, _: ReadStorage) -> Storage:
    storage = scene.state["device"]["storage"]
    return Storage(storage["total_gb"], storage["free_gb"])


def _network(scene: Scene, _: ReadNetwork) -> Network:
    network = scene.state["device"]["network"]
    wifi = network["wifi"]
    return Network(wifi["enabled"], wifi["ssid"], network["cellular"], network["airplane"])


def _volume(scene: Scene, _: ReadVolume) -> Volume:
    volume = scene.state["device"]["volume"]
    return Volume(volume["media"], volume["ring"], volume["alarm"])


def _model(scene: Scene, _: ReadModel) -> Model:
    return Model(scene.state["device"]["model"], scene.state["device"]["os"])


def _position(scene: Scene, _: ReadPosition) -> Position:
    place = scene.state["device"]["location"]
    return Position(place["lat"], place["lon"], place["place"])


def _reading(key: str) -> Callable[[Scene, Any], Any]:
    return lambda scene, _: scene.state["device"][key]


def _set(part: dict[str, Any], key: str, value: Setting) -> Change:
    was, part[key] = part[key], value
    return Change(value, was)


def _set_level(scene: Scene, key: str, value: int, highest: int) -> Change:
    part = scene.state["device"]
    if not 0 <= value <= highest:
        raise DeviceError(Code.INVALID, f"{value} is not between 0 and {highest}")
    return _set(part if key in part else part["volume"], key, value)


def _brightness(scene: Scene, request: SetBrightness) -> Change:
    return _set_level(scene, "brightness", request.percent, 100)


def _set_volume(scene: Scene, request: SetVolume) -> Change:
    return _set_level(scene, request.stream, request.level, 15)


def _torch(scene: Scene, request: SetTorch) -> Change:
    return _set(scene.state["device"], "flashlight", request.on)


def _ringer(scene: Scene, request: SetRinger) -> Change:
    return _set(scene.state["device"], "ringer", request.mode)


def _dnd(scene: Scene, request: SetDnd) -> Change:
    return _set(scene.state["device"], "dnd", request.on)


def _saver(scene: Scene, request: SetBatterySaver) -> Change:
    return _set(scene.state["device"]["battery"], "saver", request.on)


def _wifi(scene: Scene, request: SetWifi) -> Change:
    return _set(scene.state["device"]["network"]["wifi"], "enabled", request.on)


def _copy(scene: Scene, request: WriteClipboard) -> None:
    scene.state["device"]["clipboard"] = request.text


def _notify(scene: Scene, request: PostNotification) -> Notification:
    note = Notification(scene.new_id("notifications", "n"), request.title, request.text, "agent")
    scene.rows("notifications").append({"id": note.id, "title": note.title, "text": note.text, "by": note.by})
    return note


def _notifications(scene: Scene, _: ListNotifications) -> tuple[Notification, ...]:
    rows = scene.rows("notifications")
    return tuple(Notification(r["id"], r["title"], r.get("text") or "", r.get("by") or "") for r in rows)


def _apps(scene: Scene, _: ListApps) -> tuple[App, ...]:
    return tuple(App(row["label"], row["package"]) for row in scene.rows("device.apps"))


def _open_app(scene: Scene, request: OpenApp) -> App:
    row = scene.row("device.apps", "package", request.package, "app")
    scene.state["device"]["foreground"] = row["package"]
    return App(row["label"], row["package"])


def _open_page(scene: Scene, request: OpenPage) -> None:
    scene.state["device"] |= {"foreground": "browser", "page": request.url}


READS: Acts = {
    ReadBattery: _battery,
    ReadStorage: _storage,
    ReadNetwork: _network,
    ReadVolume: _volume,
    ReadRinger: _reading("ringer"),
    ReadBrightness: _reading("brightness"),
    ReadTorch: _reading("flashlight"),
    ReadDnd: _reading("dnd"),
    ReadModel: _model,
    ReadPosition: _position,
    ReadClipboard: _reading("clipboard"),
    ListNotifications: _notifications,
    ListApps: _apps,
}
WRITES: Acts = {
    SetTorch: _torch,
    SetBrightness: _brightness,
    SetVolume: _set_volume,
    SetRinger: _ringer,
    SetDnd: _dnd,
    SetBatterySaver: _saver,
    SetWifi: _wifi,
    WriteClipboard: _copy,
    PostNotification: _notify,
    OpenApp: _open_app,
    OpenPage: _open_page,
}
