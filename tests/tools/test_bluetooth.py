"""Bluetooth."""

import pytest

from palmclaw.core.errors import Fault
from palmclaw.core.phone import Change
from palmclaw.core.tools import Effect
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import bluetooth as tools
from tests.devices.kit import fault, preview, run

SPEAKER = {
    "name": "Kitchen Speaker",
    "address": "C4:21:7E:00:10:01",
    "kind": "speaker",
    "connected": False,
    "battery": 91,
}
OFF = Fault("bluetooth_off", "Bluetooth is off", hint="Switch it on with bluetooth_set.")
ONE_DEVICE = [tools.bluetooth_connect, tools.bluetooth_disconnect, tools.bluetooth_unpair]


async def test_status_and_scan(phone: VirtualPhone) -> None:
    status = await run(tools.bluetooth_status, phone)
    assert (status["enabled"], status["paired"][0], len(status["paired"])) == (True, SPEAKER, 3)
    assert status["paired"][2]["battery"] is None
    assert (await run(tools.bluetooth_scan, phone))["nearby"][0] == {
        "name": "Hallway TV",
        "address": "D0:5A:33:00:20:01",
    }


async def test_the_radio(phone: VirtualPhone) -> None:
    shown = await preview(tools.bluetooth_set, phone, enabled=False)
    assert (shown.action, shown.lines) == ("Turn Bluetooth off", (("Disconnects", "Wren Earbuds"),))
    assert await run(tools.bluetooth_set, phone, enabled=False) == {"enabled": False, "was": True}
    assert (await preview(tools.bluetooth_set, phone, enabled=False)).lines == ()
    assert (await preview(tools.bluetooth_set, phone, enabled=True)).action == "Turn Bluetooth on"
    for tool in ONE_DEVICE:
        assert await fault(tool, phone, address="C4:21:7E:00:10:01") == OFF
    assert (await fault(tools.bluetooth_scan, phone)).code == "bluetooth_off"
    assert await run(tools.bluetooth_set, phone, enabled=True) == {"enabled": True, "was": False}


@pytest.mark.parametrize("address", ["C4:21:7E:00:10:01", "c4:21:7e:00:10:01 ", "kitchen speaker"])
async def test_connecting_by_address_or_name(phone: VirtualPhone, address: str) -> None:
    shown = await preview(tools.bluetooth_connect, phone, address=address)
    assert (shown.action, shown.target) == ("Connect Kitchen Speaker", "C4:21:7E:00:10:01")
    assert shown.lines == (("Address", "C4:21:7E:00:10:01"), ("Kind", "speaker"))
    assert await run(tools.bluetooth_connect, phone, address=address) == SPEAKER | {"connected": True}
    assert (await preview(tools.bluetooth_disconnect, phone, address=address)).action == "Disconnect Kitchen Speaker"
    assert await run(tools.bluetooth_disconnect, phone, address=address) == SPEAKER


async def test_forgetting(phone: VirtualPhone) -> None:
    shown = await preview(tools.bluetooth_unpair, phone, address="C4:21:7E:00:10:01")
    assert shown.action == "Forget the Bluetooth device Kitchen Speaker"
    assert await run(tools.bluetooth_unpair, phone, address="C4:21:7E:00:10:01") == {"unpaired": SPEAKER}
    assert len(phone.dump()["bluetooth"]["paired"]) == 2
    refusal = await fault(tools.bluetooth_unpair, phone, address="C4:21:7E:00:10:01")
    assert refusal.code == "not_found"
    assert refusal.hint == "Paired: Wren Earbuds (C4:21:7E:00:10:02), Study Keyboard (C4:21:7E:00:10:03)."


async def test_a_name_that_two_devices_have(phone: VirtualPhone) -> None:
    pair = [{"name": "Buds", "address": x} for x in ("A1", "A2")]
    phone.load({"bluetooth": {"enabled": True, "paired": pair}})
    assert (await fault(tools.bluetooth_connect, phone, address="buds")).message == "several devices are called 'buds'"
    assert (await preview(tools.bluetooth_connect, phone, address="a2")).lines == (
        ("Address", "A2"),
        ("Kind", "unknown"),
    )
    phone.load({"bluetooth": {"enabled": True}})
    assert (await fault(tools.bluetooth_connect, phone, address="buds")).hint == "Paired: none."


def test_what_the_gate_must_know() -> None:
    assert [t.effect for t in ONE_DEVICE] == [Effect.DEVICE, Effect.DEVICE, Effect.DELETE]
    every = [*ONE_DEVICE, tools.bluetooth_status, tools.bluetooth_set, tools.bluetooth_scan]
    assert {t.permissions for t in every} == {("bluetooth",)}
    assert tools.bluetooth_scan.effect is Effect.CAPTURE
    assert Change(True).was is None
