"""The virtual phone: its seed, its file, its clock, its faults, and what each request does to the state."""

import asyncio
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from palmclaw.core import capabilities as c
from palmclaw.core import personal as p
from palmclaw.core.device import Capability, Code
from palmclaw.core.errors import ConfigError, DeviceError, StorageError
from palmclaw.core.phone import Calendar, Call, Change, Contact, Event, MediaItem, PairedDevice, Player, Sms, Timer
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import Grant
from palmclaw.devices.virtual import VirtualConfig, create
from palmclaw.devices.virtual.faults import Fault, name_of
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.devices.virtual.state import checked, machine_zone
from palmclaw.devices.virtual.store import Store
from tests.contracts.test_devices import KINDS, SAMPLES
from tests.devices.kit import NOW, ZONE, Hands, gained, phone_in


@pytest.fixture
def phone(tmp_path: Path) -> VirtualPhone:
    return phone_in(tmp_path)


async def refused(phone: VirtualPhone, request: Capability[Any]) -> str:
    """The code of the refusal; the state must be untouched by it."""
    before = phone.dump()
    with pytest.raises(DeviceError) as caught:
        await phone.do(request)
    assert phone.dump() == before
    assert caught.value.code in set(Code)
    return caught.value.code


# ------------------------------------------------------------------ seed and shape
def test_the_plugin(tmp_path: Path) -> None:
    assert (create.kind, create.name, create.config) == (Kind.DEVICE, "virtual", VirtualConfig)
    assert isinstance(create.create(VirtualConfig(), Parts(tmp_path)), VirtualPhone)
    assert list(tmp_path.iterdir()) == []


async def test_a_new_phone_has_people_and_plans_around_now(phone: VirtualPhone) -> None:
    names = {contact.name for contact in await phone.do(p.ListContacts())}
    assert {"Mei Lin", "Mei Ling Chow", "王小明"} <= names
    assert any(contact.emails for contact in await phone.do(p.ListContacts()))
    assert [cal.writable for cal in await phone.do(p.ListCalendars())] == [True, True, False]
    events = await phone.do(p.ListEvents(NOW.replace(hour=0), NOW + timedelta(days=14)))
    days = {(event.start.date() - NOW.date()).days for event in events}
    assert {0, 1} <= days
    assert any(7 <= day < 14 for day in days)
    unread = [m for m in await phone.do(p.ListSms()) if not m.read]
    assert [m.time <= NOW for m in unread] == [True, True]
    mei = next(x for x in await phone.do(p.ListContacts()) if x.name == "Mei Lin")
    assert mei.phones[0] in {m.address for m in unread}
    assert "Morning Tide.mp3" in {item.name for item in await phone.do(c.ListMedia())}


def test_the_whole_state_is_shown_with_the_time(phone: VirtualPhone) -> None:
    shown = phone.show()
    assert shown["clock"] == {"now": "2026-06-15T09:00+08:00", "zone": "Asia/Hong_Kong", "weekday": "Monday"}
    assert set(shown) == {
        *("clock", "device", "permissions", "bluetooth", "media", "calendar", "contacts", "sms", "calls"),
        *("notifications", "alarms", "timers", "faults", "files"),
    }
    assert "@" not in json.dumps(shown["calendar"]).replace("ingrid@", "")


def test_what_is_loaded_is_shown_again_and_only_completed(phone: VirtualPhone) -> None:
    state = {
        "clock": {"now": "2026-01-02T03:04+00:00", "zone": "UTC", "weekday": "Friday"},
        "contacts": [{"id": "c1", "name": "Ann", "birthday": "07-02"}],
        "memory": "- likes tea\n",
        "device": {"battery": {"percent": 12}, "network": {"wifi": {"ssid": None}}},
    }
    phone.load(state)
    shown = phone.show()
    assert {key: shown[key] for key in ("clock", "contacts", "memory")} == {
        key: state[key] for key in ("clock", "contacts", "memory")
    }
    assert shown["device"]["battery"] == {"percent": 12, "charging": False, "saver": False, "temperature_c": 25}
    assert shown["device"]["network"]["wifi"] == {"enabled": False, "ssid": ""}
    assert shown["alarms"] == shown["timers"] == []


def test_times_may_be_loaded_as_datetimes(phone: VirtualPhone) -> None:
    start = datetime(2026, 6, 15, 10, tzinfo=UTC)
    event = {"id": "e1", "calendar": "x", "title": "T", "start": start, "end": start + timedelta(hours=1)}
    phone.load({"calendar": {"events": [event], "calendars": []}})
    assert phone.dump()["calendar"]["events"][0]["start"] == "2026-06-15T10:00:00+00:00"
    with pytest.raises(TypeError):
        phone.load({"memory": b"bytes"})


@pytest.mark.parametrize(
    ("state", "problem"),
    [
        ([], "phone: expected dict, got list"),
        ({"contacts": {}}, "contacts: expected list, got dict"),
        ({"device": {"dnd": 1}}, "device.dnd: expected bool, got float"),
        ({"contacts": ["Ann"]}, "contacts[0]: expected an object"),
        ({"contacts": [{"id": "c1"}]}, "contacts[0].name: expected a text"),
        (
            {"sms": [{"id": "s1", "address": "1", "body": "x", "time": "noon"}]},
            "sms[0].time: expected a time such as 2026-06-15T09:00+08:00",
        ),
        ({"timers": [{"id": "t1"}]}, "timers[0].ends: expected a time such as 2026-06-15T09:00+08:00"),
        ({"clock": {"zone": "Mars/Olympus"}}, "clock.zone: no such time zone: 'Mars/Olympus'"),
        ({"clock": {"zone": "../../etc/passwd"}}, "clock.zone: no such time zone: '../../etc/passwd'"),
        ({"clock": {"now": 5}}, "clock.now: expected a time such as 2026-06-15T09:00+08:00"),
    ],
)
def test_a_state_that_makes_no_sense_is_refused_with_its_place(phone: VirtualPhone, state: Any, problem: str) -> None:
    before = phone.dump()
    with pytest.raises(ConfigError) as caught:
        phone.load(state)
    assert str(caught.value) == problem
    assert phone.dump() == before


def test_parts_without_a_fixed_type_are_left_alone() -> None:
    odd = checked({"media": {"player": {"state": "stopped", "item": {"id": "m1"}}, "items": [], "recorder": None}})
    assert odd["media"]["player"]["item"] == {"id": "m1"}
    assert odd["media"]["recorder"] == {"state": "idle", "name": None}


def test_a_zone_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        create.create(VirtualConfig("Nowhere"), Parts(tmp_path))
    assert (caught.value.key, caught.value.hint) == ("device.zone", "Write it like Asia/Hong_Kong.")


def test_the_machines_zone(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    assert str(machine_zone({}, link)) == "UTC"
    assert str(machine_zone({"TZ": ":Europe/Oslo"}, link)) == "Europe/Oslo"
    link.symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    assert str(machine_zone({"TZ": "nonsense"}, link)) == "Asia/Tokyo"
    link.unlink()
    link.symlink_to("/elsewhere/Asia/Tokyo")
    assert str(machine_zone({}, link)) == "UTC"


def test_without_a_zone_or_clock_the_machines_are_used(tmp_path: Path) -> None:
    phone = create.create(VirtualConfig(), Parts(tmp_path, environ={"TZ": "Europe/Oslo"}))
    before = datetime.now(UTC)
    now = phone.now()
    assert before <= now <= datetime.now(UTC)
    assert str(now.tzinfo) == "Europe/Oslo"
    assert phone.show()["clock"]["zone"] == "Europe/Oslo"


# ------------------------------------------------------------------ the clock
def test_the_clock_runs_from_where_it_was_set(tmp_path: Path) -> None:
    hands = Hands()
    phone = phone_in(tmp_path, hands)
    phone.set_clock(datetime(2030, 1, 1, 12, 0))
    hands.at += timedelta(minutes=5, seconds=7)
    assert phone.now() == datetime(2030, 1, 1, 12, 5, 7, tzinfo=ZONE)
    assert phone.show()["clock"]["now"] == "2030-01-01T12:05:07+08:00"
    phone.set_clock(datetime(2030, 1, 1, 12, 0, tzinfo=UTC), frozen=True)
    hands.at += timedelta(days=1)
    assert phone_in(tmp_path, hands).now() == datetime(2030, 1, 1, 20, 0, tzinfo=ZONE)
    phone.set_clock(zone="Europe/Oslo")
    assert phone.now() == hands.at
    assert str(phone.now().tzinfo) == "Europe/Oslo"
    with pytest.raises(ConfigError):
        phone.set_clock(zone="Nowhere")


# ------------------------------------------------------------------ the file
async def test_it_survives_a_restart(tmp_path: Path) -> None:
    await phone_in(tmp_path).do(c.SetTorch(True))
    state = phone_in(tmp_path).dump()
    assert await phone_in(tmp_path).do(c.ReadTorch()) is True
    again = phone_in(tmp_path)
    again.load(state)
    assert again.dump() == state


async def test_two_phones_on_one_file_see_each_other(tmp_path: Path) -> None:
    one, two = phone_in(tmp_path), phone_in(tmp_path)
    assert await two.do(c.ReadTorch()) is False
    await one.do(c.SetTorch(True))
    assert await two.do(c.ReadTorch()) is True
    await two.do(c.SetBrightness(3))
    assert (await one.do(c.ReadBrightness()), await one.do(c.ReadTorch())) == (3, True)


async def test_a_reset_brings_back_the_seed(phone: VirtualPhone) -> None:
    new = phone.dump()
    await phone.do(p.SendSms("+85260010001", "hi"))
    phone.set_fault("slow", "*", 3)
    phone.reset()
    assert phone.dump() == new


async def test_the_file_is_private_and_stays_so(tmp_path: Path) -> None:
    phone = phone_in(tmp_path / "new" / "home")
    await phone.do(c.SetTorch(True))
    path = tmp_path / "new" / "home" / "phone.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o666)
    await phone.do(c.SetTorch(False))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "damage",
    [b"", b"\x00" * 107, b'{"device": {', b"[]", b'"x"', b"\xff\xfe", b'{"contacts": 5}', b"[" * 200_000],
)
async def test_a_damaged_file_is_kept_aside_and_the_next_start_works(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "phone.json").write_bytes(damage)
    with pytest.raises(StorageError, match=r"phone.json is damaged .* kept as phone\.damaged-1\.json") as caught:
        phone_in(tmp_path).now()
    assert caught.value.hint.startswith("The next start begins with a new virtual phone.")
    assert (tmp_path / "phone.damaged-1.json").read_bytes() == damage
    assert await phone_in(tmp_path).do(c.ReadTorch()) is False


def test_a_reset_never_overwrites_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "phone.damaged-1.json").write_text("older")
    (tmp_path / "phone.json").write_text("broken")
    phone_in(tmp_path).reset()
    assert (tmp_path / "phone.damaged-1.json").read_text() == "older"
    assert (tmp_path / "phone.damaged-2.json").read_text() == "broken"
    phone_in(tmp_path).reset()
    assert sorted(f.name for f in tmp_path.glob("phone.*json")) == [
        "phone.damaged-1.json",
        "phone.damaged-2.json",
        "phone.json",
    ]


def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    phone_in(tmp_path).set_fault("airplane")
    before = (tmp_path / "phone.json").read_bytes()
    script = (
        "import asyncio, resource, signal, sys\n"
        "from tests.devices.kit import phone_in\n"
        "from palmclaw.core.capabilities import WriteClipboard\n"
        "from palmclaw.core.errors import StorageError\n"
        "from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "try:\n"
        "    asyncio.run(phone_in(Path(sys.argv[1])).do(WriteClipboard('x' * 30_000)))\n"
        "except StorageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {tmp_path}/phone.json: File too large\n"
    assert (tmp_path / "phone.json").read_bytes() == before
    assert sorted(f.name for f in tmp_path.iterdir()) == ["phone.json", "phone.lock"]


def test_a_place_that_cannot_hold_a_phone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match=r"cannot read phone.json: Not a directory"):
        phone_in(tmp_path / "file").now()
    with pytest.raises(StorageError, match=r"cannot write phone.json: File exists"):
        phone_in(tmp_path / "file").reset()
    (tmp_path / "home" / "phone.json").mkdir(parents=True)
    with pytest.raises(StorageError, match=r"cannot read phone.json: Is a directory"):
        phone_in(tmp_path / "home").now()


def test_a_damaged_file_that_cannot_be_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "phone.json").write_text("broken")

    def refuse(self: Path, target: Path) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(StorageError, match=r"cannot set aside the damaged phone.json: Permission denied"):
        phone_in(tmp_path).now()
    assert (tmp_path / "phone.json").read_text() == "broken"


def test_a_file_that_vanishes_between_two_looks_is_made_anew(tmp_path: Path) -> None:
    class Vanishing(Store):
        def _signature(self) -> tuple[int, int, int]:
            return (1, 2, 3)

    made = VirtualPhone(Vanishing(tmp_path / "phone.json"), Hands().now)
    assert made.now() == NOW
    assert (tmp_path / "phone.json").exists()


async def test_half_characters_do_not_reach_the_file(phone: VirtualPhone, tmp_path: Path) -> None:
    await phone.do(c.WriteClipboard("a\ud83d\ude00b\ud800"))
    assert await phone_in(tmp_path).do(c.ReadClipboard()) == "a😀b\ufffd"


def test_a_kill_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tests.devices.kit import phone_in\n"
        "from palmclaw.core.personal import SendSms\n"
        "async def main():\n"
        "    phone = phone_in(Path(sys.argv[1]))\n"
        "    for n in range(100_000):\n"
        "        await phone.do(SendSms('123456', str(n)))\n"
        "        print(n, flush=True)\n"
        "asyncio.run(main())\n"
    )
    told = 0
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for _ in range(7):
                process.stdout.readline()
                told += 1
            os.kill(process.pid, signal.SIGKILL)
            told += len(process.stdout.readlines())
        sent = [row for row in phone_in(tmp_path).dump()["sms"] if row["address"] == "123456"]
        assert told <= len(sent) <= told + 1
        told = len(sent)


def test_two_writers_take_turns(tmp_path: Path) -> None:
    phone_in(tmp_path).reset()

    def write(name: str) -> None:
        phone = phone_in(tmp_path)
        for number in range(15):
            asyncio.run(phone.do(p.AddContact(f"{name}{number}")))

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = phone_in(tmp_path).dump()["contacts"]
    assert len(rows) == 8 + 30
    assert len({row["id"] for row in rows}) == len(rows)


# ------------------------------------------------------------------ permissions and faults
async def test_permissions_hold_unless_the_state_says_otherwise(phone: VirtualPhone) -> None:
    assert await phone.state("sms") is Grant.GRANTED
    assert await phone.request("sms") is Grant.GRANTED
    phone.set_fault("denied", "sms")
    phone.set_fault("ask", "location")
    assert [await phone.state(x) for x in ("sms", "location", "phone")] == [Grant.DENIED, Grant.ASK, Grant.GRANTED]
    phone.set_fault("denied", "*")
    assert await phone.state("phone") is Grant.DENIED
    phone.set_fault("denied", "*", False)
    phone.set_fault("denied", "sms", False)
    assert await phone.state("sms") is Grant.GRANTED
    phone.load({"permissions": {"sms": "perhaps"}})
    assert await phone.state("sms") is Grant.DENIED


async def test_everything_that_needs_a_permission_is_refused_without_it(phone: VirtualPhone) -> None:
    for state in ("denied", "ask"):
        phone.set_fault("denied", "*", False)
        phone.set_fault("denied" if state == "denied" else "ask", "*")
        for sample, _ in SAMPLES:
            if type(sample).permission:
                assert await refused(phone, sample) == Code.PERMISSION_DENIED


@pytest.mark.parametrize(("answer", "grant"), [("allow", Grant.GRANTED), ("deny", Grant.DENIED), (None, Grant.DENIED)])
async def test_an_asked_permission_is_answered_once(phone: VirtualPhone, answer: str | None, grant: Grant) -> None:
    phone.set_fault("ask", "sms")
    if answer:
        phone.set_fault("dialog", "*", answer)
    assert await phone.request("sms") is grant
    assert await phone.state("sms") is grant
    assert await phone.request("sms") is grant


async def test_each_permission_can_have_its_own_answer_and_none(phone: VirtualPhone) -> None:
    phone.set_fault("ask", "*")
    phone.set_fault("dialog", "*", "allow")
    phone.set_fault("dialog", "sms", "deny")
    phone.set_fault("dialog", "phone", "hang")
    assert await phone.request("sms") is Grant.DENIED
    assert await phone.request("contacts") is Grant.GRANTED
    waiting = asyncio.ensure_future(phone.request("phone"))
    await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    assert await phone.state("phone") is Grant.ASK


async def test_slow_is_waited_for_and_ends(tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    phone = VirtualPhone(Store(tmp_path / "phone.json"), Hands().now, sleep)
    phone.set_fault("slow", "*", 2)
    phone.set_fault("slow", "set_torch", 0.5)
    phone.set_fault("slow", "read_dnd", 0)
    await phone.do(c.SetTorch(True))
    await phone.do(c.ReadTorch())
    await phone.do(c.ReadDnd())
    assert waits == [0.5, 2.0]
    phone.set_fault("slow", "*", False)
    phone.set_fault("slow", "*", False)
    await phone.do(c.ReadTorch())
    assert waits == [0.5, 2.0]


async def test_a_hanging_request_changes_nothing(phone: VirtualPhone) -> None:
    phone.set_fault("hang", "set_torch")
    waiting = asyncio.ensure_future(phone.do(c.SetTorch(True)))
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()
    waiting.cancel()
    assert await phone.do(c.ReadTorch()) is False


async def test_a_full_phone_takes_nothing_new(phone: VirtualPhone) -> None:
    phone.set_fault("storage_full")
    assert await refused(phone, p.AddContact("Ann")) == Code.STORAGE_FULL
    assert (await phone.do(p.DeleteContact("c2"))).name == "Mei Ling Chow"
    phone.set_fault("storage_full", "*", False)
    phone.set_fault("storage_full", "delete_contact")
    assert await refused(phone, p.DeleteContact("c1")) == Code.STORAGE_FULL
    assert (await phone.do(p.AddContact("Ann"))).name == "Ann"


async def test_airplane_mode_stops_messages_and_calls(phone: VirtualPhone) -> None:
    phone.set_fault("airplane")
    assert await refused(phone, p.SendSms("+85260010001", "x")) == Code.RADIO_OFF
    assert await refused(phone, p.Dial("+85260010001")) == Code.RADIO_OFF
    assert (await phone.do(c.ReadNetwork())).airplane is True
    phone.set_fault("airplane", value=False)
    assert (await phone.do(p.Dial("+85260010001"))).direction == "out"


@pytest.mark.parametrize(
    ("fault", "on", "value", "problem"),
    [
        ("slow", "fly", 1, "there is no capability 'fly'"),
        ("slow", "*", True, "slow takes a number of seconds"),
        ("slow", "*", -1, "slow takes a number of seconds"),
        ("slow", "*", "long", "slow takes a number of seconds"),
        ("dialog", "*", True, "a dialog is answered by allow, deny or hang"),
        ("flood", "*", True, "there is no fault 'flood'"),
    ],
)
def test_a_fault_that_does_not_exist(phone: VirtualPhone, fault: Fault, on: str, value: Any, problem: str) -> None:
    before = phone.dump()
    with pytest.raises(ConfigError, match=problem):
        phone.set_fault(fault, on, value)
    assert phone.dump() == before


def test_capabilities_are_named_after_their_class() -> None:
    assert (name_of(p.SendSms), name_of(c.ReadBluetooth)) == ("send_sms", "read_bluetooth")
    assert len({name_of(kind) for kind in KINDS}) == len(KINDS)


# ------------------------------------------------------------------ what requests do
async def test_reads_change_nothing(phone: VirtualPhone, tmp_path: Path) -> None:
    before = phone.dump()
    raw = (tmp_path / "phone.json").read_bytes()
    for sample, _ in SAMPLES:
        if type(sample).__name__.startswith(("Read", "List", "Scan")):
            await phone.do(sample)
    assert phone.dump() == before
    assert (tmp_path / "phone.json").read_bytes() == raw


@pytest.mark.parametrize(
    ("request_", "path", "change"),
    [
        (c.SetTorch(True), "device.flashlight", Change(True, False)),
        (c.SetBrightness(0), "device.brightness", Change(0, 60)),
        (c.SetVolume("media", 15), "device.volume.media", Change(15, 7)),
        (c.SetVolume("alarm", 0), "device.volume.alarm", Change(0, 9)),
        (c.SetRinger("silent"), "device.ringer", Change("silent", "normal")),
        (c.SetDnd(True), "device.dnd", Change(True, False)),
        (c.SetBatterySaver(True), "device.battery.saver", Change(True, False)),
        (c.SetWifi(False), "device.network.wifi.enabled", Change(False, True)),
    ],
)
async def test_a_setting_changes_exactly_itself(
    phone: VirtualPhone, request_: Capability[Change], path: str, change: Change
) -> None:
    expected = phone.dump()
    part = expected
    for key in path.split(".")[:-1]:
        part = part[key]
    part[path.split(".")[-1]] = change.value
    assert await phone.do(request_) == change
    assert phone.dump() == expected


async def test_levels_out_of_range(phone: VirtualPhone) -> None:
    for request in (c.SetBrightness(101), c.SetBrightness(-1), c.SetVolume("ring", 16)):
        assert await refused(phone, request) == Code.INVALID


async def test_apps_pages_clipboard_and_notifications(phone: VirtualPhone) -> None:
    assert (await phone.do(c.OpenApp("app.songbox"))).label == "Songbox"
    assert phone.dump()["device"]["foreground"] == "app.songbox"
    await phone.do(c.OpenPage("https://example.org/a"))
    assert (phone.dump()["device"]["foreground"], phone.dump()["device"]["page"]) == (
        "browser",
        "https://example.org/a",
    )
    await phone.do(c.WriteClipboard("盐"))
    assert await phone.do(c.ReadClipboard()) == "盐"
    before = phone.dump()
    note = await phone.do(c.PostNotification("Tea", "is ready"))
    assert gained(before, phone.dump(), ["notifications"]) == [
        {"id": note.id, "title": "Tea", "text": "is ready", "by": "agent"}
    ]


async def test_contacts_are_added_changed_and_removed(phone: VirtualPhone) -> None:
    before = phone.dump()
    ann = await phone.do(p.AddContact("Ann", ("+85211112222",), ("ann@example.org",), "Quay"))
    bob = await phone.do(p.AddContact("Bob"))
    assert gained(before, phone.dump(), ["contacts"]) == [
        {"id": ann.id, "name": "Ann", "phones": ["+85211112222"], "emails": ["ann@example.org"], "org": "Quay"},
        {"id": bob.id, "name": "Bob", "phones": [], "emails": []},
    ]
    changed = await phone.do(p.UpdateContact(ann.id, "Anne", ("1234567",), (), ""))
    assert changed == Contact(ann.id, "Anne", ("1234567",))
    assert "org" not in phone.dump()["contacts"][-2]
    assert await phone.do(p.UpdateContact(ann.id, org="Mill")) == Contact(ann.id, "Anne", ("1234567",), (), "Mill")
    assert await phone.do(p.UpdateContact("c4", phones=())) == Contact(
        "c4", "Arjun Nair", (), ("arjun@papermill.example",), "Papermill"
    )
    assert phone.dump()["contacts"][3]["birthday"] == "11-19"
    await phone.do(p.DeleteContact(ann.id))
    await phone.do(p.DeleteContact(bob.id))
    assert gained(before, phone.dump() | {"contacts": before["contacts"]}, ["contacts"]) == []


async def test_an_id_is_never_used_twice(phone: VirtualPhone) -> None:
    phone.load({"contacts": [{"id": "c_1", "name": "Ann"}, {"id": "c_2", "name": "Bob"}]})
    first = await phone.do(p.AddContact("Cem"))
    await phone.do(p.DeleteContact(first.id))
    second = await phone.do(p.AddContact("Dan"))
    assert (first.id, second.id) == ("c_3", "c_4")


async def test_a_message_is_sent_and_comes_first(phone: VirtualPhone) -> None:
    before = phone.dump()
    sent = await phone.do(p.SendSms("+85260010001", "On my way"))
    assert sent == Sms(sent.id, True, "+85260010001", "On my way", NOW)
    assert gained(before, phone.dump(), ["sms"]) == [
        {
            "id": sent.id,
            "dir": "out",
            "address": "+85260010001",
            "body": "On my way",
            "time": "2026-06-15T09:00+08:00",
            "read": True,
        }
    ]
    again = await phone.do(p.SendSms("+85260010001", "Nearly there"))
    assert (await phone.do(p.ListSms()))[:2] == (again, sent)
    for number in ("", "12", "+", "12 34 56", "1234567890123456", "phone"):
        assert await refused(phone, p.SendSms(number, "x")) == Code.INVALID


async def test_a_call_joins_the_log(phone: VirtualPhone) -> None:
    before = phone.dump()
    made = await phone.do(p.Dial("+85260010006"))
    assert made == Call(made.id, "+85260010006", "out", NOW)
    assert gained(before, phone.dump(), ["calls"]) == [
        {"id": made.id, "number": "+85260010006", "dir": "out", "time": "2026-06-15T09:00+08:00"}
    ]
    assert (await phone.do(p.ListCalls()))[0] == made


async def test_a_series_is_unfolded_in_a_range(phone: VirtualPhone) -> None:
    start = NOW.replace(hour=0)
    found = await phone.do(p.ListEvents(start + timedelta(days=3), start + timedelta(days=4)))
    assert [(e.id, e.start, e.end) for e in found] == [
        ("e1", datetime(2026, 6, 18, 9, 30, tzinfo=ZONE), datetime(2026, 6, 18, 9, 45, tzinfo=ZONE)),
        ("e6", datetime(2026, 6, 18, 18, 30, tzinfo=ZONE), datetime(2026, 6, 18, 20, 30, tzinfo=ZONE)),
    ]
    with pytest.raises(DeviceError, match="more than five years"):
        await phone.do(p.ListEvents(start, start + timedelta(days=4000)))


async def test_an_event_keeps_what_it_was_given_and_nothing_else(phone: VirtualPhone) -> None:
    before = phone.dump()
    end = NOW + timedelta(hours=1)
    bare = await phone.do(p.AddEvent("Tea", NOW, end, "cal1"))
    full = await phone.do(p.AddEvent("Tea", NOW, end, "cal2", "Attic", ("Ann",), (5,), "daily", all_day=True))
    times = {"start": "2026-06-15T09:00+08:00", "end": "2026-06-15T10:00+08:00"}
    assert gained(before, phone.dump(), ["calendar", "events"]) == [
        {"id": bare.id, "calendar": "cal1", "title": "Tea", **times},
        {"id": full.id, "calendar": "cal2", "title": "Tea", **times, "location": "Attic", "attendees": ["Ann"]}
        | {"reminders": [5], "recurrence": "daily", "all_day": True},
    ]
    work = Calendar("cal2", "Work")
    assert full == Event(full.id, "Tea", NOW, end, work, "Attic", ("Ann",), (5,), "daily", True)
    moved = await phone.do(p.UpdateEvent(full.id, start=NOW - timedelta(hours=1), location="", attendees=()))
    assert moved == Event(full.id, "Tea", NOW - timedelta(hours=1), end, work, "", (), (5,), "daily", True)
    assert await phone.do(p.DeleteEvent(full.id)) == moved


async def test_what_the_calendar_refuses(phone: VirtualPhone) -> None:
    end = NOW + timedelta(hours=1)
    assert await refused(phone, p.AddEvent("x", NOW, end, "cal3")) == Code.READ_ONLY
    assert await refused(phone, p.UpdateEvent("e9", title="x")) == Code.READ_ONLY
    assert await refused(phone, p.DeleteEvent("e9")) == Code.READ_ONLY
    assert await refused(phone, p.AddEvent("x", NOW, NOW, "cal1")) == Code.INVALID
    assert await refused(phone, p.UpdateEvent("e2", end=NOW)) == Code.INVALID


async def test_an_event_of_a_calendar_that_is_gone_can_only_be_read(phone: VirtualPhone) -> None:
    times = {"start": "2026-06-15T09:00", "end": "2026-06-15T10:00"}
    phone.load({"calendar": {"calendars": [], "events": [{"id": "e1", "calendar": "old", "title": "T", **times}]}})
    assert (await phone.do(p.ReadEvent("e1"))).calendar == Calendar("old", "old", writable=False)


async def test_the_player(phone: VirtualPhone) -> None:
    tide = MediaItem("m7", "audio", "Morning Tide.mp3", "Music", None, "The Lower Decks", 214, 5)
    assert await refused(phone, c.PauseMedia()) == Code.NOT_PLAYING
    assert await refused(phone, c.ResumeMedia()) == Code.NOT_PLAYING
    assert await refused(phone, c.PlayMedia("m1")) == Code.INVALID
    assert await phone.do(c.PlayMedia("m7")) == Player("playing", tide)
    assert phone.dump()["media"]["player"] == {"state": "playing", "item": "m7"}
    assert await phone.do(c.PauseMedia()) == Player("paused", tide)
    assert await refused(phone, c.PauseMedia()) == Code.NOT_PLAYING
    assert await phone.do(c.ResumeMedia()) == Player("playing", tide)
    phone.load({"media": {"player": {"state": "playing", "item": "gone"}}})
    assert await phone.do(c.PauseMedia()) == Player("paused", None)


async def test_media_come_newest_first_and_undated_last(phone: VirtualPhone) -> None:
    items = await phone.do(c.ListMedia())
    assert [i.id for i in items] == ["m2", "m1", "m5", "m6", "m3", "m10", "m4", "m7", "m8", "m9"]


async def test_the_recorder(tmp_path: Path) -> None:
    hands = Hands()
    phone = phone_in(tmp_path, hands)
    before = phone.dump()
    assert await refused(phone, c.StopRecording()) == Code.NOT_RECORDING
    assert await phone.do(c.StartRecording("rent call")) == "rent call"
    assert await refused(phone, c.StartRecording("other")) == Code.ALREADY_RECORDING
    hands.at += timedelta(seconds=75)
    saved = await phone.do(c.StopRecording())
    assert gained(before, phone.dump(), ["media", "items"]) == [
        {
            "id": saved.id,
            "kind": "audio",
            "album": "Recordings",
            "name": "rent call.m4a",
            "taken": "2026-06-15T09:01+08:00",
            "duration_s": 75,
            "size_mb": 1.2,
        }
    ]
    phone.load({"media": {"recorder": {"state": "recording"}}})
    assert (await phone.do(c.StopRecording())).name == "memo.m4a"


async def test_bluetooth(phone: VirtualPhone) -> None:
    buds = PairedDevice("Wren Earbuds", "C4:21:7E:00:10:02", "headset", True, 54)
    status = await phone.do(c.ReadBluetooth())
    assert (status.enabled, status.paired[1]) == (True, buds)
    assert (await phone.do(c.ConnectBluetooth("C4:21:7E:00:10:01"))).connected is True
    assert [d.name for d in await phone.do(c.ScanBluetooth())] == ["Hallway TV", "Bike Computer"]
    assert await phone.do(c.SetBluetooth(False)) == Change(False, True)
    assert [d.connected for d in (await phone.do(c.ReadBluetooth())).paired] == [False, False, False]
    for request in (c.ScanBluetooth(), c.ConnectBluetooth("C4:21:7E:00:10:01"), c.UnpairBluetooth("x")):
        assert await refused(phone, request) == Code.BLUETOOTH_OFF
    assert await phone.do(c.SetBluetooth(True)) == Change(True, False)
    assert (await phone.do(c.UnpairBluetooth("C4:21:7E:00:10:02"))).name == "Wren Earbuds"
    assert await refused(phone, c.DisconnectBluetooth("C4:21:7E:00:10:02")) == Code.NOT_FOUND


async def test_alarms_and_timers(tmp_path: Path) -> None:
    hands = Hands()
    phone = phone_in(tmp_path, hands)
    before = phone.dump()
    alarm = await phone.do(c.SetAlarm("07:30", "Bread", ("sat", "sun")))
    assert gained(before, phone.dump(), ["alarms"]) == [
        {"id": alarm.id, "time": "07:30", "label": "Bread", "days": ["sat", "sun"]}
    ]
    assert (await phone.do(c.ListAlarms()))[-1] == alarm
    assert await phone.do(c.DeleteAlarm(alarm.id)) == alarm
    timer = await phone.do(c.SetTimer(90, "Tea"))
    assert timer == Timer(timer.id, 90, "Tea", NOW + timedelta(seconds=90))
    assert phone.dump()["timers"] == [
        {"id": timer.id, "seconds": 90, "label": "Tea", "ends": "2026-06-15T09:01:30+08:00"}
    ]
    assert await phone.do(c.ListTimers()) == (timer,)
    hands.at += timedelta(seconds=90)
    assert await phone.do(c.ListTimers()) == ()
    assert await phone.do(c.DeleteTimer(timer.id)) == timer


WRITES = st.one_of(
    st.builds(c.SetTorch, st.booleans()),
    st.builds(c.SetVolume, st.sampled_from(["media", "ring", "alarm"]), st.integers(-2, 17)),
    st.builds(p.AddContact, st.text(max_size=5), st.tuples(st.text(max_size=5)), st.just(()), st.text(max_size=3)),
    st.builds(p.DeleteContact, st.sampled_from(["c1", "c2", "c_1", "c_2"])),
    st.builds(p.SendSms, st.sampled_from(["1234", "x"]), st.text(max_size=5)),
    st.builds(c.SetBluetooth, st.booleans()),
    st.builds(c.ConnectBluetooth, st.sampled_from(["C4:21:7E:00:10:01", "?"])),
    st.builds(c.WriteClipboard, st.text(max_size=5)),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=st.lists(WRITES, max_size=8))
async def test_after_any_requests_the_file_says_what_the_phone_says(
    requests: list[Capability[Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("home")
    phone = phone_in(home)
    for request in requests:
        before = phone.dump()
        try:
            await phone.do(request)
        except DeviceError:
            assert phone.dump() == before
        assert phone_in(home).dump() == phone.dump()
    ids = [row["id"] for row in phone.dump()["contacts"]]
    assert len(ids) == len(set(ids))
    stored = phone.dump()
    phone.load(stored)
    assert phone.dump() == stored
