"""A chat platform as a server on loopback: it remembers what was delivered, whatever became of who delivered it."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from aiohttp import web

PATIENCE = 5.0
"""Seconds that a poll waits for something new."""
OWNER = "777"


@dataclass(frozen=True, slots=True)
class Update:
    """A person has written."""

    id: int
    channel: str
    chat: str
    text: str
    at: datetime
    sender: str = OWNER


@dataclass(frozen=True, slots=True)
class Delivery:
    """Something was delivered, as a new message or in the place of an older one."""

    channel: str
    chat: str
    text: str
    remote: str
    edited: bool = False


@dataclass(slots=True)
class ChatPlatform:
    """Serves while the `async with` lasts. `troubles` is the share of sends that go wrong in one way or another.

    An update counts as acknowledged when its channel asks for later ones.
    """

    chance: Random
    troubles: float = 0.2
    delay: float = 0.03
    updates: list[Update] = field(default_factory=list)
    acknowledged: dict[str, int] = field(default_factory=dict)
    log: list[Delivery] = field(default_factory=list)
    shown: dict[str, Delivery] = field(default_factory=dict)
    typed: int = 0
    url: str = ""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> "ChatPlatform":
        app = web.Application()
        app.add_routes(
            [
                web.get("/{channel}/updates", self._poll),
                web.post("/{channel}/send", self._send),
                web.post("/{channel}/typing", self._typing),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def writes(self, channel: str, chat: str, text: str) -> Update:
        """A person writes in a chat."""
        update = Update(len(self.updates) + 1, channel, chat, text, datetime.now(UTC))
        async with self._news:
            self.updates.append(update)
            self._news.notify_all()
        return update

    def unread(self, channel: str) -> list[Update]:
        """What a channel has not acknowledged, the oldest first."""
        done = self.acknowledged.get(channel, 0)
        return [u for u in self.updates[done:] if u.channel == channel and u.id > done]

    @property
    def taken(self) -> list[Update]:
        """Every update that was acknowledged."""
        return [u for u in self.updates if u.id <= self.acknowledged.get(u.channel, 0)]

    async def _poll(self, request: web.Request) -> web.Response:
        channel, after = request.match_info["channel"], int(request.query["after"])
        self.acknowledged[channel] = max(after, self.acknowledged.get(channel, 0))
        async with self._news:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._news.wait_for(lambda: self.unread(channel))
            except TimeoutError:
                pass
        found = [
            {"id": u.id, "chat": u.chat, "text": u.text, "sender": u.sender, "at": u.at.isoformat()}
            for u in self.unread(channel)
        ]
        return web.json_response(found)

    async def _send(self, request: web.Request) -> web.StreamResponse:
        """Deliver; or refuse, or be slow, or deliver and leave without a word."""
        body: dict[str, Any] = json.loads(await request.read())
        trouble = self.chance.random() < self.troubles
        kind = self.chance.choice(("refuse", "slow", "leave", "leave late")) if trouble else ""
        if kind == "refuse":
            return web.json_response({"retry_after": 0.02}, status=429)
        if kind in ("slow", "leave late"):
            await asyncio.sleep(self.chance.uniform(0, self.delay))
        remote = self._deliver(request.match_info["channel"], body)
        if kind.startswith("leave"):
            if kind == "leave late":
                await asyncio.sleep(self.chance.uniform(0, self.delay))
            if request.transport is not None:
                request.transport.abort()
            return web.Response()
        return web.json_response({"id": remote})

    def _deliver(self, channel: str, body: dict[str, Any]) -> str:
        edits = str(body["edits"])
        remote = edits or f"r{len(self.shown) + 1}"
        delivery = Delivery(channel, body["chat"], body["text"], remote, edited=bool(edits))
        self.log.append(delivery)
        self.shown[remote] = delivery
        return remote

    async def _typing(self, request: web.Request) -> web.Response:
        self.typed += 1
        return web.json_response({})
