"""Where the gateway keeps what it must not lose."""

from typing import Protocol

from palmclaw.core.ports import MediaStore
from palmclaw.core.records import InboxStore, TurnStore
from palmclaw.core.values import dataclass


class Grants(Protocol):
    """The lasting approvals."""

    async def revoke(self, number: int) -> None: ...


@dataclass(frozen=True, slots=True)
class Stores:
    """Where the gateway keeps what it must not lose."""

    records: TurnStore
    inbox: InboxStore
    media: MediaStore
    grants: Grants
