"""Bluetooth and the devices paired with the phone."""

from typing import Any

from palmclaw.core.capabilities import (
    ConnectBluetooth,
    DisconnectBluetooth,
    ReadBluetooth,
    ScanBluetooth,
    SetBluetooth,
    UnpairBluetooth,
)
from palmclaw.core.device import DEVICE, Code, Device
from palmclaw.core.errors import DeviceError
from palmclaw.core.phone import PairedDevice, revision
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("bluetooth", "")


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@tool(module="bluetooth", effect=Effect.READ, permissions=("bluetooth",))
async def bluetooth_status(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """State and paired devices"""
    state = await ctx.need(DEVICE).do(ReadBluetooth())
    return {"enabled": state.enabled, "paired": [_shown(d) for d in state.paired]}


def _shown(device: PairedDevice) -> dict[str, Any]:
    return {
        "name": device.name,
        "address": device.address,
        "kind": device.kind,
        "connected": device.connected,
        "battery": device.battery,
    }


@dataclass(frozen=True, slots=True)
class SetArgs:
    """Of bluetooth_set."""

    enabled: bool


async def _set_preview(args: SetArgs, ctx: ToolContext) -> Preview:
    state = await ctx.need(DEVICE).do(ReadBluetooth())
    cut = ", ".join(d.name for d in state.paired if d.connected)
    lines = (("Disconnects", cut),) if cut and not args.enabled else ()
    return Preview(f"Turn Bluetooth {'on' if args.enabled else 'off'}", "bluetooth", lines, revision(lines))


@tool(module="bluetooth", effect=Effect.DEVICE, permissions=("bluetooth",), preview=_set_preview)
async def bluetooth_set(args: SetArgs, ctx: ToolContext) -> dict[str, Any]:
    """Switch Bluetooth"""
    change = await ctx.need(DEVICE).do(SetBluetooth(args.enabled))
    was = {} if change.was is None else {"was": change.was}
    return {"enabled": change.value, **was}


@tool(module="bluetooth", effect=Effect.CAPTURE, permissions=("bluetooth",), fenced=True)
async def bluetooth_scan(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Find unpaired devices"""
    nearby = await ctx.need(DEVICE).do(ScanBluetooth())
    return {"nearby": [{"name": d.name, "address": d.address} for d in nearby]}


@dataclass(frozen=True, slots=True)
class AddressArgs:
    """Of the tools for one device."""

    address: str


async def _connect_preview(args: AddressArgs, ctx: ToolContext) -> Preview:
    return _preview("Connect", await _meant(ctx.need(DEVICE), args.address))


@tool(module="bluetooth", effect=Effect.DEVICE, permissions=("bluetooth",), preview=_connect_preview)
async def bluetooth_connect(args: AddressArgs, ctx: ToolContext) -> dict[str, Any]:
    """Connect by address or name"""
    device = ctx.need(DEVICE)
    return _shown(await device.do(ConnectBluetooth((await _meant(device, args.address)).address)))


async def _disconnect_preview(args: AddressArgs, ctx: ToolContext) -> Preview:
    return _preview("Disconnect", await _meant(ctx.need(DEVICE), args.address))


@tool(module="bluetooth", effect=Effect.DEVICE, permissions=("bluetooth",), preview=_disconnect_preview)
async def bluetooth_disconnect(args: AddressArgs, ctx: ToolContext) -> dict[str, Any]:
    """Disconnect device"""
    device = ctx.need(DEVICE)
    return _shown(await device.do(DisconnectBluetooth((await _meant(device, args.address)).address)))


async def _unpair_preview(args: AddressArgs, ctx: ToolContext) -> Preview:
    return _preview("Forget the Bluetooth device", await _meant(ctx.need(DEVICE), args.address))


@tool(module="bluetooth", effect=Effect.DELETE, permissions=("bluetooth",), preview=_unpair_preview)
async def bluetooth_unpair(args: AddressArgs, ctx: ToolContext) -> dict[str, Any]:
    """Forget device"""
    device = ctx.need(DEVICE)
    return {"unpaired": _shown(await device.do(UnpairBluetooth((await _meant(device, args.address)).address)))}


def _preview(verb: str, device: PairedDevice) -> Preview:
    lines = (("Address", device.address), ("Kind", device.kind or "unknown"))
    return Preview(f"{verb} {device.name}", device.address, lines, revision(device.name, device.address))


async def _meant(device: Device, address: str) -> PairedDevice:
    """The paired device of that address, or the only one of exactly that name."""
    state = await device.do(ReadBluetooth())
    if not state.enabled:
        raise DeviceError(Code.BLUETOOTH_OFF, "Bluetooth is off", hint="Switch it on with bluetooth_set.")
    wanted = address.strip().casefold()
    found = [d for d in state.paired if d.address.casefold() == wanted]
    found = found or [d for d in state.paired if d.name.casefold() == wanted]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{d.name} ({d.address})" for d in state.paired) or "none"
    what = "several devices are called" if found else "no paired device is"
    raise DeviceError(Code.NOT_FOUND, f"{what} {address[:40]!r}", hint=f"Paired: {names}.")
