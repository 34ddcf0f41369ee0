"""Status, settings, place, clipboard and notifications."""

from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.capabilities import ReadTorch
from palmclaw.core.device import Capability, Code, R
from palmclaw.core.errors import DeviceError, Fault
from palmclaw.core.tools import Effect, Preview
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.devices.virtual.store import Store
from palmclaw.tools import device as tools
from tests.devices.kit import Hands, fault, preview, run

WHOLE = {
    "battery": {"percent": 78, "charging": False, "saver": False, "temperature_c": 29},
    "storage": {"total_gb": 128, "free_gb": 41.6},
    "network": {"wifi": {"enabled": True, "ssid": "Maple-Attic"}, "cellular": True, "airplane": False},
    "volume": {"media": 7, "ring": 6, "alarm": 9},
    "ringer": "normal",
    "brightness": 60,
    "torch": False,
    "dnd": False,
    "model": "Virtual Phone V1",
    "os": "Android 13",
    "time": "2026-06-15T09:00+08:00",
    "zone": "Asia/Hong_Kong",
}


async def test_the_whole_status(phone: VirtualPhone) -> None:
    assert await run(tools.device_status, phone) == WHOLE


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        (["battery"], ["battery"]),
        (["model", "time"], ["model", "os", "time", "zone"]),
        (["torch", "dnd"], ["torch", "dnd"]),
    ],
)
async def test_only_what_was_asked(phone: VirtualPhone, fields: list[str], keys: list[str]) -> None:
    assert await run(tools.device_status, phone, fields=fields) == {key: WHOLE[key] for key in keys}


class Blind(VirtualPhone):
    """A phone that cannot tell whether its torch is on, nor its warmth."""

    async def do(self, request: Capability[R]) -> R:
        if isinstance(request, ReadTorch):
            raise DeviceError(Code.UNSUPPORTED, "no way to tell")
        return await super().do(request)


async def test_what_a_phone_cannot_tell_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    blind = Blind(Store(tmp_path / "phone.json"), Hands().now)
    assert await run(tools.device_status, blind) == {k: v for k, v in WHOLE.items() if k != "torch"}
    assert (await fault(tools.device_status, blind, fields=["torch"])).code == "unsupported"
    assert (await fault(tools.device_status, blind, fields=["battery", "torch"])).code == "unsupported"


@pytest.mark.parametrize(
    ("setting", "value", "stored", "was"),
    [
        ("torch", True, True, False),
        ("torch", "on", True, False),
        ("dnd", "Yes", True, False),
        ("battery_saver", 1, True, False),
        ("wifi", False, False, True),
        ("wifi", "off", False, True),
        ("brightness", 20, 20, 60),
        ("brightness", "20%", 20, 60),
        ("media_volume", 0, 0, 7),
        ("ring_volume", 15, 15, 6),
        ("alarm_volume", "3", 3, 9),
        ("ringer", " Vibrate ", "vibrate", "normal"),
    ],
)
async def test_a_setting(phone: VirtualPhone, setting: str, value: Any, stored: Any, was: Any) -> None:
    answer = await run(tools.device_set, phone, setting=setting, value=value)
    assert answer == {"setting": setting, "value": stored, "was": was}
    part = {"battery_saver": "battery", "wifi": "network"}.get(setting)
    if part is None and setting.endswith("volume"):
        assert (await run(tools.device_status, phone))["volume"][setting.removesuffix("_volume")] == stored
    elif part is None:
        assert (await run(tools.device_status, phone))[setting] == stored


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("torch", "maybe", "value: torch takes true or false, not 'maybe'"),
        ("torch", 2, "value: torch takes true or false, not '2'"),
        ("brightness", 101, "value: brightness takes a whole number from 0 to 100, not '101'"),
        ("brightness", True, "value: brightness takes a whole number from 0 to 100, not 'True'"),
        ("media_volume", -1, "value: media_volume takes a whole number from 0 to 15, not '-1'"),
        ("ring_volume", "9" * 5000, f"value: ring_volume takes a whole number from 0 to 15, not '{'9' * 40}'"),
        ("ringer", "loud", "value: ringer takes normal, vibrate or silent, not 'loud'"),
    ],
)
async def test_a_value_that_does_not_fit(phone: VirtualPhone, setting: str, value: Any, problem: str) -> None:
    refusal = await fault(tools.device_set, phone, setting=setting, value=value)
    assert refusal == Fault("invalid_arguments", problem, retryable=True)


def test_only_wifi_is_a_link() -> None:
    assert tools.device_set.effect_of(tools.SetArgs("wifi", False)) is Effect.LINK
    assert tools.device_set.effect_of(tools.SetArgs("torch", False)) is Effect.DEVICE


async def test_the_preview_says_what_is_set(phone: VirtualPhone) -> None:
    assert await preview(tools.device_set, phone, setting="torch", value="on") == Preview("Set torch to on", "torch")
    assert (await preview(tools.device_set, phone, setting="media_volume", value=3)).action == "Set media volume to 3"


async def test_the_preview_of_wifi_says_what_is_cut(phone: VirtualPhone) -> None:
    with_data = await preview(tools.device_set, phone, setting="wifi", value=False)
    assert (with_data.action, with_data.target) == ("Turn Wi-Fi off", "wifi")
    assert with_data.lines == (("Cuts", "the connection to Maple-Attic"), ("Still connected", "mobile data"))
    phone.load(phone.dump() | {"device": {"network": {"wifi": {"enabled": True, "ssid": "Attic"}, "cellular": False}}})
    without = await preview(tools.device_set, phone, setting="wifi", value=False)
    assert without.lines == (
        ("Cuts", "the connection to Attic"),
        ("Still connected", "nothing: the phone will be offline"),
    )
    assert with_data.revision != without.revision
    await run(tools.device_set, phone, setting="wifi", value=False)
    off = await preview(tools.device_set, phone, setting="wifi", value=False)
    assert off.lines == (("Still connected", "nothing: the phone will be offline"),)
    assert (await preview(tools.device_set, phone, setting="wifi", value=True)).lines == ()


async def test_a_phone_that_does_not_know_what_was_before(phone: VirtualPhone) -> None:
    phone.load({"device": {"battery": {"temperature_c": None}}})
    assert (await run(tools.device_status, phone, fields=["battery"]))["battery"]["temperature_c"] == 25


async def test_place_clipboard_and_notifications(phone: VirtualPhone) -> None:
    assert await run(tools.location, phone) == {"lat": 22.2819, "lon": 114.1289, "place": "Kennedy Town, Hong Kong"}
    assert await run(tools.clipboard_get, phone) == {"text": "Gate code 2290"}
    assert await run(tools.clipboard_set, phone, text="茶") == {"text": "茶"}
    assert await run(tools.clipboard_get, phone) == {"text": "茶"}
    posted = await run(tools.notify, phone, title="Tea")
    assert (await run(tools.notifications_list, phone))["notifications"] == [
        {"id": "n1", "title": "Tram Times", "text": "Line 2 runs every 12 minutes today", "by": "app.tramtimes"},
        {"id": posted["id"], "title": "Tea", "text": "", "by": "agent"},
    ]
    phone.load({"device": {"location": {"lat": 1.5, "lon": 2.5}}})
    assert await run(tools.location, phone) == {"lat": 1.5, "lon": 2.5}


def test_what_the_gate_must_know() -> None:
    assert tools.location.permissions == ("location",)
    assert (tools.location.effect, tools.location.private) == (Effect.CAPTURE, True)
    assert (tools.clipboard_get.effect, tools.clipboard_get.outside) == (Effect.CAPTURE, True)
    assert tools.notify.permissions == tools.notifications_list.permissions == ("notifications",)
    assert (tools.notifications_list.private, tools.notifications_list.outside) == (True, True)
