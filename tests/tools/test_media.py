"""Photos, music and the recorder."""

from typing import Any

import pytest

from palmclaw.core.errors import Fault
from palmclaw.core.tools import Effect, Preview
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import media as tools
from tests.devices.kit import fault, preview, run


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({"kind": "photo"}, ["m2", "m1", "m3", "m4"]),
        ({"kind": "photo", "album": "camera"}, ["m2", "m1", "m3"]),
        ({"kind": "audio"}, ["m10", "m7", "m8", "m9"]),
        ({"kind": "video"}, ["m6"]),
        ({"query": "TIDE"}, ["m7"]),
        ({"query": "lower decks"}, ["m7"]),
        ({"query": "北岸"}, ["m9"]),
        ({"since": "2026-06-13"}, ["m2", "m1", "m5"]),
        ({"since": "2026-06-14T12:00+08:00"}, ["m2"]),
        ({"kind": "screenshot", "since": "2026-06-14"}, []),
    ],
)
async def test_media_are_found(phone: VirtualPhone, given: dict[str, Any], ids: list[str]) -> None:
    assert [i["id"] for i in (await run(tools.media_list, phone, **given))["items"]] == ids


async def test_an_item_shows_what_is_known(phone: VirtualPhone) -> None:
    assert await run(tools.media_list, phone, kind="audio", limit=2) == {
        "items": [
            {
                "id": "m10",
                "kind": "audio",
                "name": "memo_shopping.m4a",
                "album": "Recordings",
                "taken": "2026-06-10T19:40+08:00",
                "duration_s": 21,
                "size_mb": 0.3,
            },
            {
                "id": "m7",
                "kind": "audio",
                "name": "Morning Tide.mp3",
                "album": "Music",
                "artist": "The Lower Decks",
                "duration_s": 214,
                "size_mb": 5,
            },
        ],
        "more": 2,
    }
    assert (
        await fault(tools.media_list, phone, since="last week")
    ).message == "since: cannot read 'last week' as a time"


async def test_playback(phone: VirtualPhone) -> None:
    tide = {"id": "m7", "name": "Morning Tide.mp3"}
    assert await preview(tools.media_play, phone, id="m7") == Preview("Play Morning Tide.mp3", "m7")
    assert await run(tools.media_play, phone, id="m7") == {"state": "playing", "item": tide}
    assert await run(tools.media_pause, phone) == {"state": "paused", "item": tide}
    assert (await fault(tools.media_pause, phone)).code == "not_playing"
    assert await run(tools.media_resume, phone) == {"state": "playing", "item": tide}
    assert await fault(tools.media_play, phone, id="m99") == Fault(
        "not_found", "there is no media item 'm99'", hint="Find it with media_list."
    )
    assert (await fault(tools.media_play, phone, id="m1")).code == "invalid_arguments"
    phone.load({"media": {"player": {"state": "playing", "item": "gone"}}})
    assert await run(tools.media_pause, phone) == {"state": "paused"}


@pytest.mark.parametrize(
    ("name", "kept"),
    [("", "memo"), ("rent-call", "rent-call"), ("../a/b.m4a", "a b"), ("x" * 200, "x" * 80), ("会议", "会议")],
)
async def test_recording(phone: VirtualPhone, name: str, kept: str) -> None:
    assert await run(tools.record_start, phone, name=name) == {"state": "recording", "name": kept}
    assert (await fault(tools.record_start, phone)).code == "already_recording"
    saved = await run(tools.record_stop, phone)
    assert saved["saved"]["name"] == f"{kept}.m4a"
    assert saved["saved"]["id"] == phone.dump()["media"]["items"][-1]["id"]
    assert (await fault(tools.record_stop, phone)).code == "not_recording"


def test_what_the_gate_must_know() -> None:
    assert (tools.record_start.effect, tools.record_start.permissions) == (Effect.CAPTURE, ("microphone",))
    assert (tools.record_stop.effect, tools.record_stop.permissions) == (Effect.DEVICE, ())
    assert (tools.media_list.permissions, tools.media_list.private) == (("media",), True)
    assert tools.media_play.permissions == ("media",)
