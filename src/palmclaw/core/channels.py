"""The port of a chat platform: what it can do, and how it hears and speaks."""

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Annotated, Literal, Protocol

from palmclaw.core.errors import PalmclawError
from palmclaw.core.schema import Between, Doc, Length
from palmclaw.core.traffic import Address, Inbound, Outbound, Receipt
from palmclaw.core.values import dataclass


class Unit(StrEnum):
    """How a platform counts the length of a text."""

    CHARACTERS = "characters"
    UTF16 = "utf16"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a channel can do. `max_text` is in `unit`; `edits`: a sent message can be changed; `typing`: it can show
    that an answer is being written; `media`: it takes files.
    """

    max_text: int = 4_000
    unit: Unit = Unit.CHARACTERS
    edits: bool = False
    typing: bool = False
    media: bool = False


@dataclass(frozen=True, slots=True)
class DeliverySettings:
    """How answers reach a channel, in `[channels.NAME]`. Blocks and a preview exclude each other: blocks go first."""

    blocks: Annotated[bool | None, Doc("send long answers block by block while they are written")] = None
    block_min: Annotated[int, Between(1, 100_000), Doc("the least length of a block")] = 800
    block_max: Annotated[int, Between(1, 100_000), Doc("the greatest length of a block")] = 1_200
    coalesce: Annotated[float, Between(0, 60), Doc("seconds: a pause that ends a block, and between two edits")] = 1.0
    preview: Annotated[Literal["off", "partial"], Doc("show the answer while it is written, by editing it")] = "off"
    reasoning: Annotated[bool, Doc("show the model's thinking in the preview until the answer begins")] = False
    interim: Annotated[bool, Doc("send what the model says before it uses a tool")] = False
    human_delay: Annotated[tuple[float, ...], Length(2, 2), Doc("seconds between blocks, from and to")] = (0.0, 0.0)


class ChannelError(PalmclawError):
    """A platform refused. `retryable`: the same may work later, after `retry_after` seconds where it says so.

    Raised only when it is certain that nothing was delivered; any other exception leaves that unknown.
    """

    code = "channel"

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


Take = Callable[[Inbound], Awaitable[Receipt]]


class Channel(Protocol):
    """One chat platform. Its messages are acknowledged to it only after `take` has returned: then they are stored.

    What it hands to `take` has no session and no origin yet: who may speak is not a channel's to decide.
    """

    @property
    def name(self) -> str: ...

    @property
    def abilities(self) -> Abilities: ...

    async def listen(self, take: Take) -> None:
        """Receive until cancelled; raises ChannelError when the connection is lost."""
        ...

    async def send(self, outbound: Outbound) -> str:
        """Deliver, or replace the message `edits`; returns the platform's id of the message. Raises ChannelError.

        A replacement that changes nothing succeeds.
        """
        ...

    async def typing(self, address: Address) -> None:
        """Show for some seconds that an answer is being written. Raises ChannelError."""
        ...

    async def close(self) -> None: ...
