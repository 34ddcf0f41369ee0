"""A registry of skills on loopback, as ClawHub's behaves: a record for a slug, and a zip to download."""

import io
import json
import zipfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SKILL = "---\nname: trip-packing\ndescription: Packs bags.\n---\nPack."


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """A zip with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return buffer.getvalue()


@dataclass
class Registry:
    """What it says of its one skill; `asked` are the paths that were asked for."""

    record: Any = field(
        default_factory=lambda: {"skill": {"slug": "trip-packing"}, "latestVersion": {"version": "1.2"}}
    )
    content: bytes = field(default_factory=lambda: zipped({"trip-packing/SKILL.md": SKILL}))
    status: int = 200
    redirect: str = ""
    raw: bytes | None = None
    asked: list[str] = field(default_factory=list)
    address: str = ""

    async def told(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        if request.match_info["slug"] != "trip-packing":
            raise web.HTTPNotFound
        body = self.raw if self.raw is not None else json.dumps(self.record).encode()
        return web.Response(body=body, status=self.status, content_type="application/json")

    async def given(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        if self.redirect and request.path != "/files/it.zip":
            return web.Response(status=302, headers={"Location": self.redirect})
        return web.Response(body=self.content, content_type="application/zip")


@asynccontextmanager
async def registry(known: Registry | None = None) -> AsyncIterator[Registry]:
    """It, for as long as the `async with` lasts."""
    known = known or Registry()
    app = web.Application()
    app.router.add_get("/api/v1/skills/{slug:.*}", known.told)
    app.router.add_get("/api/v1/download", known.given)
    app.router.add_get("/files/{name}", known.given)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    known.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield known
    finally:
        await runner.cleanup()
