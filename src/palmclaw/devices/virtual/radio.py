"""Bluetooth."""

from palmclaw.core.capabilities import (
    ConnectBluetooth,
    DisconnectBluetooth,
    ReadBluetooth,
    ScanBluetooth,
    SetBluetooth,
    UnpairBluetooth,
)
from palmclaw.core.device import Code
from palmclaw.core.errors import DeviceError
from palmclaw.core.phone import Bluetooth, Change, NearbyDevice, PairedDevice
from palmclaw.devices.virtual.state import Acts, Row, Scene


def _device(row: Row) -> PairedDevice:
    kind, connected = row.get("kind") or "", bool(row.get("connected"))
    return PairedDevice(row["name"], row["address"], kind, connected, row.get("battery"))


def _status(scene: Scene, _: ReadBluetooth) -> Bluetooth:
    paired = tuple(_device(row) for row in scene.rows("bluetooth.paired"))
    return Bluetooth(scene.state["bluetooth"]["enabled"], paired)


def _set(scene: Scene, request: SetBluetooth) -> Change:
    radio = scene.state["bluetooth"]
    was, radio["enabled"] = radio["enabled"], request.on
    if not request.on:
        for row in radio["paired"]:
            row["connected"] = False
    return Change(request.on, was)


def _scan(scene: Scene, _: ScanBluetooth) -> tuple[NearbyDevice, ...]:
    _check_on(scene)
    return tuple(NearbyDevice(row["name"], row["address"]) for row in scene.rows("bluetooth.nearby"))


def _connect(scene: Scene, request: ConnectBluetooth) -> PairedDevice:
    return _linked(scene, request.address, on=True)


def _disconnect(scene: Scene, request: DisconnectBluetooth) -> PairedDevice:
    return _linked(scene, request.address, on=False)


def _linked(scene: Scene, address: str, *, on: bool) -> PairedDevice:
    row = _paired(scene, address)
    row["connected"] = on
    return _device(row)


def _unpair(scene: Scene, request: UnpairBluetooth) -> PairedDevice:
    row = _paired(scene, request.address)
    scene.rows("bluetooth.paired").remove(row)
    return _device(row)


def _paired(scene: Scene, address: str) -> Row:
    _check_on(scene)
    return scene.row("bluetooth.paired", "address", address, "paired device")


def _check_on(scene: Scene) -> None:
    if not scene.state["bluetooth"]["enabled"]:
        raise DeviceError(Code.BLUETOOTH_OFF, "Bluetooth is off", hint="Switch it on first.")


READS: Acts = {ReadBluetooth: _status, ScanBluetooth: _scan}
WRITES: Acts = {
    SetBluetooth: _set,
    ConnectBluetooth: _connect,
    DisconnectBluetooth: _disconnect,
    UnpairBluetooth: _unpair,
}
