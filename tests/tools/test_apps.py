"""Apps and pages."""

import pytest

from palmclaw.core.errors import Fault
from palmclaw.core.tools import Effect, Preview
from palmclaw.devices.virtual.phone import VirtualPhone
from palmclaw.tools import apps as tools
from tests.devices.kit import fault, preview, run


async def test_apps_are_listed(phone: VirtualPhone) -> None:
    found = await run(tools.apps_list, phone)
    assert found["apps"][1] == {"label": "Tram Times", "package": "app.tramtimes"}
    assert len(found["apps"]) == 7


@pytest.mark.parametrize("name", ["Tram Times", " tram times", "app.tramtimes", "tram"])
async def test_an_app_is_opened_by_label_package_or_part(phone: VirtualPhone, name: str) -> None:
    assert await preview(tools.app_open, phone, name=name) == Preview("Open the app Tram Times", "app.tramtimes")
    assert await run(tools.app_open, phone, name=name) == {"opened": "Tram Times", "package": "app.tramtimes"}
    assert phone.dump()["device"]["foreground"] == "app.tramtimes"


async def test_an_app_that_is_not_there(phone: VirtualPhone) -> None:
    assert await fault(tools.app_open, phone, name="Tramm Time") == Fault(
        "not_found", "no app is called 'Tramm Time'", hint="Near: Tram Times."
    )
    assert (await fault(tools.app_open, phone, name="Zzz")).hint == "See apps_list."
    assert (await fault(tools.app_open, phone, name=" ")).code == "not_found"


async def test_an_ambiguous_app_names_its_candidates(phone: VirtualPhone) -> None:
    apps = [{"label": f"Songs {x}", "package": f"app.songs.{x}"} for x in "ab"]
    phone.load({"device": {"apps": apps}})
    refusal = await fault(tools.app_open, phone, name="songs")
    assert refusal == Fault(
        "ambiguous",
        "several apps are called like 'songs': Songs a (app.songs.a), Songs b (app.songs.b)",
        hint="Ask which one.",
    )


async def test_a_page_is_opened_and_its_host_is_the_target(phone: VirtualPhone) -> None:
    url = "https://tide.example/today?x=1"
    assert await preview(tools.page_open, phone, url=url) == Preview(
        "Open a page in the browser", "tide.example", (("Page", url),)
    )
    assert await run(tools.page_open, phone, url=url) == {"opened": url}
    assert phone.dump()["device"]["page"] == url
    assert (await preview(tools.page_open, phone, url="https:///x")).target == ""
    assert tools.page_open.effect is Effect.READ_EGRESS
