"""The phone's state, its switches and levels, place, clipboard and notifications."""

from collections.abc import Awaitable, Callable
from types import MappingProxyType
from typing import Any, Literal, get_args

from palmclaw.core.capabilities import (
    ListNotifications,
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
    RingerMode,
    SetBatterySaver,
    SetBrightness,
    SetDnd,
    SetRinger,
    SetTorch,
    SetVolume,
    SetWifi,
    WriteClipboard,
)
from palmclaw.core.device import DEVICE, Capability, Device
from palmclaw.core.errors import DeviceError, ToolError
from palmclaw.core.phone import Change, Network, revision
from palmclaw.core.times import minutes
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("device", "status, settings, clipboard, location, notifications", common=True)
Field = Literal["battery", "storage", "network", "volume", "ringer", "brightness", "torch", "dnd", "model", "time"]
Setting = Literal[
    "torch",
    "brightness",
    "media_volume",
    "ring_volume",
    "alarm_volume",
    "ringer",
    "dnd",
    "battery_saver",
    "wifi",
]
SWITCHES = MappingProxyType({"torch": SetTorch, "dnd": SetDnd, "battery_saver": SetBatterySaver, "wifi": SetWifi})
WORDS = MappingProxyType(
    {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
)


@dataclass(frozen=True, slots=True)
class StatusArgs:
    """Of device_status."""

    fields: tuple[Field, ...] = ()


@tool(module="device", effect=Effect.READ)
async def device_status(args: StatusArgs, ctx: ToolContext) -> dict[str, Any]:
    """Read phone state"""
    device = ctx.need(DEVICE)
    answer: dict[str, Any] = {}
    for field in args.fields or get_args(Field):
        try:
            answer |= await _PARTS[field](device)
        except DeviceError as error:
            if args.fields or error.code != "unsupported":
                raise
    return answer


async def _battery(device: Device) -> dict[str, Any]:
    b = await device.do(ReadBattery())
    warmth = {} if b.temperature_c is None else {"temperature_c": b.temperature_c}
    return {"battery": {"percent": b.percent, "charging": b.charging, "saver": b.saver, **warmth}}


async def _storage(device: Device) -> dict[str, Any]:
    s = await device.do(ReadStorage())
    return {"storage": {"total_gb": s.total_gb, "free_gb": s.free_gb}}


async def _network(device: Device) -> dict[str, Any]:
    n = await device.do(ReadNetwork())
    wifi = {"enabled": n.wifi, "ssid": n.ssid}
    return {"network": {"wifi": wifi, "cellular": n.cellular, "airplane": n.airplane}}


async def _volume(device: Device) -> dict[str, Any]:
    v = await device.do(ReadVolume())
    return {"volume": {"media": v.media, "ring": v.ring, "alarm": v.alarm}}


async def _model(device: Device) -> dict[str, Any]:
    m = await device.do(ReadModel())
    return {"model": m.model, "os": m.os}


async def _time(device: Device) -> dict[str, Any]:
    now = device.now()
    return {"time": minutes(now), "zone": str(now.tzinfo)}


def _plain(name: str, request: Capability[Any]) -> Callable[[Device], Awaitable[dict[str, Any]]]:
    async def read(device: Device) -> dict[str, Any]:
        return {name: await device.do(request)}

    return read


_PARTS = MappingProxyType(
    {
        "battery": _battery,
        "storage": _storage,
        "network": _network,
        "volume": _volume,
        "ringer": _plain("ringer", ReadRinger()),
        "brightness": _plain("brightness", ReadBrightness()),
        "torch": _plain("torch", ReadTorch()),
        "dnd": _plain("dnd", ReadDnd()),
        "model": _model,
        "time": _time,
    }
)


@dataclass(frozen=True, slots=True)
class SetArgs:
    """Of device_set."""

    setting: Setting
    value: int | bool | str


def _set_effect(args: SetArgs) -> Effect:
    return Effect.LINK if args.setting == "wifi" else Effect.DEVICE


def _wanted(args: SetArgs) -> Capability[Change]:
    """The request that these arguments stand for, or an error that says what the setting takes."""
    if args.setting in SWITCHES:
        return SWITCHES[args.setting](_switch(args))
    if args.setting == "ringer":
        return SetRinger(_mode(args))
    if args.setting == "brightness":
        return SetBrightness(_level(args, 100))
    if args.setting == "media_volume":
        return SetVolume("media", _level(args, 15))
    return SetVolume("ring" if args.setting == "ring_volume" else "alarm", _level(args, 15))


def _switch(args: SetArgs) -> bool:
    on = args.value if isinstance(args.value, bool) else WORDS.get(str(args.value).strip().lower())
    if on is None:
        raise _wrong(args, "true or false")
    return on


def _mode(args: SetArgs) -> RingerMode:
    for mode in get_args(RingerMode):
        if str(args.value).strip().lower() == mode:
            chosen: RingerMode = mode
            return chosen
    raise _wrong(args, "normal, vibrate or silent")


def _level(args: SetArgs, highest: int) -> int:
    text = "" if isinstance(args.value, bool) else str(args.value).strip().removesuffix("%")
    if text.isdecimal() and int(text[:9]) <= highest:
        return int(text)
    raise _wrong(args, f"a whole number from 0 to {highest}")


def _wrong(args: SetArgs, takes: str) -> ToolError:
    shown = str(args.value)[:40]
    return ToolError("invalid_arguments", f"value: {args.setting} takes {takes}, not {shown!r}", retryable=True)


async def _set_preview(args: SetArgs, ctx: ToolContext) -> Preview:
    value = getattr(_wanted(args), "on", args.value)
    shown = {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
    title = args.setting.replace("_", " ")
    if args.setting != "wifi":
        return Preview(f"Set {title} to {shown}", args.setting)
    network = await ctx.need(DEVICE).do(ReadNetwork())
    return Preview(f"Turn Wi-Fi {shown}", "wifi", _links(network, on=value is True), revision(network))


def _links(network: Network, *, on: bool) -> tuple[tuple[str, str], ...]:
    if on:
        return ()
    cut = (("Cuts", f"the connection to {network.ssid}"),) if network.wifi and network.ssid else ()
    left = network.cellular and not network.airplane
    return (*cut, ("Still connected", "mobile data" if left else "nothing: the phone will be offline"))


@tool(module="device", effect=_set_effect, preview=_set_preview)
async def device_set(args: SetArgs, ctx: ToolContext) -> dict[str, Any]:
    """Change setting. Brightness ≤100, volumes ≤15, ringer normal/vibrate/silent, others true/false"""
    change = await ctx.need(DEVICE).do(_wanted(args))
    was = {} if change.was is None else {"was": change.was}
    return {"setting": args.setting, "value": change.value, **was}


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@tool(module="device", effect=Effect.CAPTURE, permissions=("location",), private=True)
async def location(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Read location"""
    position = await ctx.need(DEVICE).do(ReadPosition())
    place = {"place": position.place} if position.place else {}
    return {"lat": position.lat, "lon": position.lon, **place}


@tool(module="device", effect=Effect.CAPTURE, outside=True)
async def clipboard_get(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Read clipboard"""
    return {"text": await ctx.need(DEVICE).do(ReadClipboard())}


@dataclass(frozen=True, slots=True)
class CopyArgs:
    """Of clipboard_set."""

    text: str


@tool(module="device", effect=Effect.DEVICE)
async def clipboard_set(args: CopyArgs, ctx: ToolContext) -> dict[str, Any]:
    """Copy to clipboard"""
    await ctx.need(DEVICE).do(WriteClipboard(args.text))
    return {"text": args.text}


@dataclass(frozen=True, slots=True)
class NotifyArgs:
    """Of notify."""

    title: str
    text: str = ""


@tool(module="device", effect=Effect.DEVICE, permissions=("notifications",))
async def notify(args: NotifyArgs, ctx: ToolContext) -> dict[str, Any]:
    """Show notification now"""
    note = await ctx.need(DEVICE).do(PostNotification(args.title, args.text))
    return {"id": note.id}


@tool(module="device", effect=Effect.READ, permissions=("notifications",), private=True, outside=True)
async def notifications_list(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """List notifications"""
    notes = await ctx.need(DEVICE).do(ListNotifications())
    return {"notifications": [{"id": n.id, "title": n.title, "text": n.text, "by": n.by} for n in notes]}
