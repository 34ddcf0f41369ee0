"""The channel to the chat platform of the crash driver: a long poll, and one request for each message."""

import json
import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import aiohttp
from tests.crash.windows import Windows

from palmclaw.core.channels import Abilities, ChannelError, Take
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.traffic import Address, Inbound, Outbound


@dataclass(frozen=True, slots=True)
class PostConfig:
    """[channels.NAME] with kind = "post"."""

    url: str
    edits: bool = False


@plugin(Kind.CHANNEL, "post", PostConfig)
def post(config: PostConfig, parts: Parts) -> "Post":
    """The platform at `url`, under the channel's own name."""
    return Post(parts.table.rpartition(".")[2], config, Windows.of(os.environ))


class Post:
    """Implements the Channel port."""

    def __init__(self, name: str, config: PostConfig, windows: Windows) -> None:
        self.name = name
        self.abilities = Abilities(max_text=500, edits=config.edits, typing=True)
        self._base = f"{config.url}/{name}"
        self._windows = windows
        self._session: aiohttp.ClientSession | None = None

    async def listen(self, take: Take) -> None:
        after = 0
        while True:
            for update in await self._asked("GET", f"updates?after={after}"):
                await take(self._inbound(update))
                after = update["id"]

    def _inbound(self, update: dict[str, Any]) -> Inbound:
        address, sent = Address(self.name, update["chat"]), datetime.fromisoformat(update["at"])
        sender, number = update["sender"], str(update["id"])
        return Inbound("", update["text"], sender=sender, address=address, external_id=number, sent=sent)

    async def send(self, outbound: Outbound) -> str:
        body = {"chat": outbound.address.chat, "text": outbound.text, "edits": outbound.edits}
        self._windows.mark("before send")
        found = await self._asked("POST", "send", body)
        self._windows.mark("after send")
        return str(found["id"])

    async def typing(self, address: Address) -> None:
        await self._asked("POST", "typing", {"chat": address.chat})

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
        self._windows.close()

    async def _asked(self, method: str, route: str, body: Any = None) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True))
        content = None if body is None else json.dumps(body).encode()
        async with self._session.request(method, f"{self._base}/{route}", data=content) as response:
            found = json.loads(await response.read())
            if response.status == 429:
                raise ChannelError("too many requests", retryable=True, retry_after=found["retry_after"])
            return found
