"""A delivery with one platform, a real database, and time that passes when a test says so; and a turn that speaks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from palmclaw.core.channels import Channel, DeliverySettings
from palmclaw.core.errors import StorageError
from palmclaw.core.events import MessageAdded, ReasoningDelta, Sent, Stop, TextDelta, TurnEnded
from palmclaw.core.messages import Media, Message, Role, Text, ToolCall
from palmclaw.core.traffic import Address, Outbound
from palmclaw.runtime.delivery import Delivery
from palmclaw.runtime.voice import Voice
from palmclaw.storage.database import Database, Work
from palmclaw.storage.outbox import Outbox, add
from tests.servers.manual_time import ManualTime, until
from tests.servers.platform import Platform

HERE = Address("chat", "1")


@dataclass
class FailingDatabase(Database):
    """A real one that refuses the next transactions of a kind, as a full disk does."""

    refuses: int = 0

    async def run(self, work: Work[Any]) -> Any:
        if self.refuses > 0:
            self.refuses -= 1
            raise StorageError("no space left")
        return await Database.run(self, work)


@dataclass
class Office:
    """A delivery with one platform, a real database, and time that stands still."""

    folder: Path
    platform: Platform = field(default_factory=Platform)
    time: ManualTime = field(default_factory=ManualTime)
    told: list[tuple[str, str, Sent]] = field(default_factory=list)
    settings: dict[str, DeliverySettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.database = FailingDatabase(self.folder / "db")
        self.outbox = Outbox(self.database)
        self.channels: dict[str, Channel] = {"chat": self.platform}
        self.delivery = Delivery(
            self.outbox,
            self.channels,
            self.settings,
            lambda session, turn, sent: self.told.append((session, turn, sent)),
            self.time.sleep,
            self.time.now,
            lambda: 0.5,
        )

    async def post(self, *outbounds: Outbound) -> None:
        await self.delivery.post("s", "t", outbounds)

    @property
    def fates(self) -> list[tuple[int, str]]:
        return [(sent.outbox, sent.state) for _, _, sent in self.told]

    def voice(self, turn: str = "t", **more: bool) -> "Turn":
        """A turn whose answers go to the first chat."""
        return Turn(self, turn, self.delivery.voice(HERE, "s", turn, **more))

    async def told_of(self, count: int) -> None:
        """Until it is known how so many messages came out."""
        await until(lambda: len(self.told) == count)

    async def close(self) -> None:
        await self.delivery.close(0.01)
        await self.database.close()


@dataclass
class Turn:
    """Does with the events of a turn what the runtime does: a message and its posts are stored in one transaction."""

    office: Office
    id: str
    voice: Voice

    async def streams(self, *deltas: str) -> None:
        """The model speaks."""
        for delta in deltas:
            await self.voice.hear(TextDelta(delta))

    async def thinks(self, *deltas: str) -> None:
        for delta in deltas:
            await self.voice.hear(ReasoningDelta(delta))

    async def stores(self, message: Message) -> tuple[Outbound, ...]:
        """The message is whole; returns what is sent of it now."""
        posts = self.voice.posts(message)
        assert posts == self.voice.posts(message)
        await self.office.database.run(lambda db: add(db, "s", self.id, posts, "2026-01-01T00:00:00.000+00:00"))
        await self.voice.hear(MessageAdded(message))
        return posts

    async def says(self, text: str, *media: Media, calls: Sequence[ToolCall] = ()) -> tuple[Outbound, ...]:
        """The model has spoken, perhaps to use tools."""
        return await self.stores(Message(Role.ASSISTANT, (Text(text), *media, *calls)))

    async def ends(self, stop: Stop = Stop.DONE) -> None:
        await self.voice.hear(TurnEnded(stop))
