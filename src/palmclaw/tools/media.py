"""Photos, music, and the voice recorder."""

import re
from typing import Any, Literal

from palmclaw.core.capabilities import ListMedia, PauseMedia, PlayMedia, ResumeMedia, StartRecording, StopRecording
from palmclaw.core.device import DEVICE
from palmclaw.core.errors import ToolError
from palmclaw.core.phone import MediaItem, Player, listed
from palmclaw.core.times import minutes, moment
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("media", "photos, music, voice recording", common=True)


@dataclass(frozen=True, slots=True)
class ListArgs:
    """Of media_list."""

    kind: Literal["photo", "video", "audio", "screenshot", "any"] = "any"
    album: str = ""
    query: str = ""
    since: str = ""
    limit: int = 20


@tool(module="media", effect=Effect.READ, permissions=("media",), private=True, fenced=True)
async def media_list(args: ListArgs, ctx: ToolContext) -> dict[str, Any]:
    """List media since ISO time, newest first"""
    device = ctx.need(DEVICE)
    since = moment(args.since, "since", device.now()) if args.since else None
    album, query = args.album.strip().casefold(), args.query.strip().casefold()
    rows = [
        _shown(i)
        for i in await device.do(ListMedia())
        if args.kind in ("any", i.kind)
        and (not album or album == i.album.casefold())
        and query in f"{i.name} {i.artist}".casefold()
        and (since is None or (i.taken is not None and i.taken >= since))
    ]
    return listed("items", rows, args.limit)


def _shown(item: MediaItem) -> dict[str, Any]:
    row = {
        "id": item.id,
        "kind": item.kind,
        "name": item.name,
        "album": item.album,
        "taken": minutes(item.taken) if item.taken else None,
        "artist": item.artist or None,
        "duration_s": item.duration_s,
        "size_mb": item.size_mb,
    }
    return {key: value for key, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True)
class PlayArgs:
    """Of media_play."""

    id: str


async def _play_preview(args: PlayArgs, ctx: ToolContext) -> Preview:
    for item in await ctx.need(DEVICE).do(ListMedia()):
        if item.id == args.id:
            return Preview(f"Play {item.name}", item.id)
    raise ToolError("not_found", f"there is no media item {args.id[:40]!r}", hint="Find it with media_list.")


@tool(module="media", effect=Effect.DEVICE, permissions=("media",), preview=_play_preview)
async def media_play(args: PlayArgs, ctx: ToolContext) -> dict[str, Any]:
    """Play music or video"""
    return _state(await ctx.need(DEVICE).do(PlayMedia(args.id)))


@dataclass(frozen=True, slots=True)
class NoArgs:
    """No arguments."""


@tool(module="media", effect=Effect.DEVICE)
async def media_pause(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Pause playback"""
    return _state(await ctx.need(DEVICE).do(PauseMedia()))


@tool(module="media", effect=Effect.DEVICE)
async def media_resume(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Resume playback"""
    return _state(await ctx.need(DEVICE).do(ResumeMedia()))


def _state(player: Player) -> dict[str, Any]:
    item = {"item": {"id": player.item.id, "name": player.item.name}} if player.item else {}
    return {"state": player.state, **item}


@dataclass(frozen=True, slots=True)
class RecordArgs:
    """Of record_start."""

    name: str = ""


@tool(module="media", effect=Effect.CAPTURE, permissions=("microphone",))
async def record_start(args: RecordArgs, ctx: ToolContext) -> dict[str, Any]:
    """Start voice recording"""
    name = await ctx.need(DEVICE).do(StartRecording(_file_name(args.name)))
    return {"state": "recording", "name": name}


def _file_name(name: str) -> str:
    """A name without an ending and without what a file name cannot hold."""
    clean = re.sub(r"[\x00-\x1f\\/:*?\"<>|]+", " ", name.removesuffix(".m4a"))
    return " ".join(clean.split()).strip(". ")[:80] or "memo"


@tool(module="media", effect=Effect.DEVICE)
async def record_stop(args: NoArgs, ctx: ToolContext) -> dict[str, Any]:
    """Stop recording"""
    saved = await ctx.need(DEVICE).do(StopRecording())
    return {"saved": {"id": saved.id, "name": saved.name}}
