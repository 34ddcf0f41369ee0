"""What every way to reach a phone must do, whatever phone it is. Another backend joins by one line in BACKENDS."""

import inspect
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core import capabilities as c
from palmclaw.core import personal as p
from palmclaw.core import phone as replies
from palmclaw.core.device import Capability, Code, Device, Support
from palmclaw.core.errors import DeviceError
from palmclaw.core.ports import Grant
from palmclaw.devices.virtual.faults import name_of
from tests.devices.kit import NOW, phone_in

BACKENDS: dict[str, Callable[[Path], Device]] = {"virtual": phone_in}
KINDS = sorted(
    (
        kind
        for module in (c, p)
        for kind in vars(module).values()
        if inspect.isclass(kind) and issubclass(kind, Capability) and kind is not Capability
    ),
    key=lambda kind: kind.__name__,
)
LATER = NOW + timedelta(hours=1)
SAMPLES: list[tuple[Capability[Any], type]] = [
    (c.ReadBattery(), replies.Battery),
    (c.ReadStorage(), replies.Storage),
    (c.ReadNetwork(), replies.Network),
    (c.ReadVolume(), replies.Volume),
    (c.ReadRinger(), str),
    (c.ReadBrightness(), int),
    (c.ReadTorch(), bool),
    (c.ReadDnd(), bool),
    (c.ReadModel(), replies.Model),
    (c.SetTorch(True), replies.Change),
    (c.SetBrightness(20), replies.Change),
    (c.SetVolume("ring", 3), replies.Change),
    (c.SetRinger("vibrate"), replies.Change),
    (c.SetDnd(True), replies.Change),
    (c.SetBatterySaver(True), replies.Change),
    (c.SetWifi(False), replies.Change),
    (c.ReadPosition(), replies.Position),
    (c.ReadClipboard(), str),
    (c.WriteClipboard("x"), type(None)),
    (c.PostNotification("Tea"), replies.Notification),
    (c.ListNotifications(), tuple),
    (c.ListApps(), tuple),
    (c.OpenApp("app.tramtimes"), replies.App),
    (c.OpenPage("https://example.org/"), type(None)),
    (p.ListContacts(), tuple),
    (p.AddContact("Ann"), replies.Contact),
    (p.UpdateContact("c1", org="Quay"), replies.Contact),
    (p.DeleteContact("c2"), replies.Contact),
    (p.ListCalendars(), tuple),
    (p.ListEvents(NOW, LATER), tuple),
    (p.ReadEvent("e2"), replies.Event),
    (p.AddEvent("Tea", NOW, LATER, "cal1"), replies.Event),
    (p.UpdateEvent("e2", title="Tea"), replies.Event),
    (p.DeleteEvent("e3"), replies.Event),
    (p.ListSms(), tuple),
    (p.SendSms("+85260010001", "hi"), replies.Sms),
    (p.ListCalls(), tuple),
    (p.Dial("+85260010001"), replies.Call),
    (c.ListMedia(), tuple),
    (c.PlayMedia("m7"), replies.Player),
    (c.PauseMedia(), replies.Player),
    (c.ResumeMedia(), replies.Player),
    (c.StartRecording("memo"), str),
    (c.StopRecording(), replies.MediaItem),
    (c.ReadBluetooth(), replies.Bluetooth),
    (c.ScanBluetooth(), tuple),
    (c.ConnectBluetooth("C4:21:7E:00:10:01"), replies.PairedDevice),
    (c.DisconnectBluetooth("C4:21:7E:00:10:02"), replies.PairedDevice),
    (c.UnpairBluetooth("C4:21:7E:00:10:03"), replies.PairedDevice),
    (c.SetBluetooth(False), replies.Change),
    (c.ListAlarms(), tuple),
    (c.SetAlarm("07:00"), replies.Alarm),
    (c.DeleteAlarm("a1"), replies.Alarm),
    (c.ListTimers(), tuple),
    (c.SetTimer(60), replies.Timer),
    (c.DeleteTimer("t_1"), replies.Timer),
]


@pytest.fixture(params=sorted(BACKENDS))
def device(request: pytest.FixtureRequest, tmp_path: Path) -> Device:
    return BACKENDS[request.param](tmp_path)


def test_every_capability_has_a_sample() -> None:
    assert sorted((type(s).__name__ for s, _ in SAMPLES)) == [k.__name__ for k in KINDS]


def test_the_table_in_the_docs_is_the_truth(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text("utf-8")
    rows = {
        name: (permission, support)
        for name, _, permission, support, _ in re.findall(
            r"^\| `(\w+)` \| (.+) \| (.+) \| (.+) \| (.+) \|$", page, re.M
        )
    }
    virtual = BACKENDS["virtual"](tmp_path)
    assert rows == {name_of(kind): (kind.permission or "–", str(virtual.supports(kind))) for kind in KINDS}
    assert re.findall(r"`(\w+)`", page.partition("## Errors")[2].partition("## The")[0])[1:] == [str(c) for c in Code]


def test_it_has_a_name_and_an_aware_clock(device: Device) -> None:
    assert device.name in BACKENDS
    assert device.now().utcoffset() is not None


def test_it_says_of_everything_whether_it_can(device: Device) -> None:
    assert {device.supports(kind) for kind in KINDS} <= set(Support)


async def test_what_it_can_is_answered_with_the_right_type(device: Device) -> None:
    for sample, reply in SAMPLES:
        if device.supports(type(sample)) is Support.NO:
            continue
        if isinstance(sample, c.DeleteTimer):
            sample = c.DeleteTimer((await device.do(c.SetTimer(60))).id)
        assert isinstance(await device.do(sample), reply), sample


async def test_what_it_cannot_is_refused_with_a_code(device: Device) -> None:
    class Teleport(Capability[None]):
        """Nothing can do this."""

        __slots__ = ()

    unknown: list[Capability[Any]] = [Teleport(), *(s for s, _ in SAMPLES if device.supports(type(s)) is Support.NO)]
    for sample in unknown:
        assert device.supports(type(sample)) is Support.NO
        with pytest.raises(DeviceError) as caught:
            await device.do(sample)
        assert caught.value.code == Code.UNSUPPORTED


@pytest.mark.parametrize(
    "request_",
    [
        p.DeleteContact("nobody"),
        p.UpdateContact("nobody", org="x"),
        p.ReadEvent("never"),
        p.DeleteEvent("never"),
        p.UpdateEvent("never", title="x"),
        p.AddEvent("x", NOW, LATER, "no calendar"),
        c.PlayMedia("none"),
        c.OpenApp("none"),
        c.DeleteAlarm("none"),
        c.DeleteTimer("none"),
        c.ConnectBluetooth("none"),
    ],
)
async def test_what_is_not_there_is_not_found(device: Device, request_: Capability[Any]) -> None:
    with pytest.raises(DeviceError) as caught:
        await device.do(request_)
    assert caught.value.code == Code.NOT_FOUND


async def test_a_change_is_seen_by_the_next_read(device: Device) -> None:
    added = await device.do(p.AddContact("Ann", ("+85211112222",), ("ann@example.org",), "Quay"))
    assert added in await device.do(p.ListContacts())
    assert await device.do(p.DeleteContact(added.id)) == added
    assert added not in await device.do(p.ListContacts())


async def test_permissions_are_one_of_three_states(device: Device) -> None:
    for permission in {k.permission for k in KINDS} - {""}:
        assert await device.state(permission) in Grant
