"""Installed apps, and pages in the phone's browser."""

import difflib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from palmclaw.core.capabilities import ListApps, OpenApp, OpenPage
from palmclaw.core.device import DEVICE, Device
from palmclaw.core.errors import ToolError
from palmclaw.core.phone import App
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, Url, tool
from palmclaw.core.values import dataclass

MODULE = Module("apps", "web pages", common=True)


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@tool(module="apps", effect=Effect.READ)
async def apps_list(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """List installed apps"""
    apps = await ctx.need(DEVICE).do(ListApps())
    return {"apps": [{"label": a.label, "package": a.package} for a in apps]}


@dataclass(frozen=True, slots=True)
class OpenArgs:
    """Of app_open."""

    name: str


async def _open_preview(args: OpenArgs, ctx: ToolContext) -> Preview:
    app = await _meant(ctx.need(DEVICE), args.name)
    return Preview(f"Open the app {app.label}", app.package)


@tool(module="apps", effect=Effect.DEVICE, preview=_open_preview)
async def app_open(args: OpenArgs, ctx: ToolContext) -> dict[str, Any]:
    """Open app"""
    device = ctx.need(DEVICE)
    app = await device.do(OpenApp((await _meant(device, args.name)).package))
    return {"opened": app.label, "package": app.package}


async def _meant(device: Device, name: str) -> App:
    """The app of that label or package, else the only one whose label holds the name."""
    apps = await device.do(ListApps())
    wanted = name.strip().casefold()
    exact = [a for a in apps if wanted in (a.label.casefold(), a.package.casefold())]
    close = exact or [a for a in apps if wanted and wanted in a.label.casefold()]
    if len(close) == 1:
        return close[0]
    if close:
        names = ", ".join(f"{a.label} ({a.package})" for a in close)
        raise ToolError("ambiguous", f"several apps are called like {name!r}: {names}", hint="Ask which one.")
    raise ToolError("not_found", f"no app is called {name[:40]!r}", hint=_near(apps, wanted))


def _near(apps: Sequence[App], wanted: str) -> str:
    labels = {a.label.casefold(): a.label for a in apps}
    near = difflib.get_close_matches(wanted, labels, n=3, cutoff=0.5)
    return f"Near: {', '.join(labels[n] for n in near)}." if near else "See apps_list."


@dataclass(frozen=True, slots=True)
class PageArgs:
    """Of page_open."""

    url: Url


async def _page_preview(args: PageArgs, ctx: ToolContext) -> Preview:
    return Preview("Open a page in the browser", urlsplit(args.url).hostname or "", (("Page", args.url),))


@tool(module="apps", effect=Effect.READ_EGRESS, preview=_page_preview)
async def page_open(args: PageArgs, ctx: ToolContext) -> dict[str, Any]:
    """Show user a web page"""
    await ctx.need(DEVICE).do(OpenPage(args.url))
    return {"opened": args.url}
