"""The messages that wait in a conversation, with whose they are."""

from typing import TYPE_CHECKING

from palmclaw.cli.texts import Texts
from palmclaw.core.text import visible
from palmclaw.core.traffic import Inbound, Origin
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import Inbox

if TYPE_CHECKING:
    from palmclaw.cli.listening import Listening


@dataclass(frozen=True, slots=True)
class InLine:
    """A message that waits; `is_mine`: it was said in this very terminal."""

    row: int
    inbound: Inbound
    is_mine: bool = False

    @property
    def text(self) -> str:
        return self.inbound.text

    @property
    def is_typed(self) -> bool:
        """Whether the owner said it in a terminal, or through the local API: in no chat app."""
        return self.inbound.address is None and self.inbound.origin is Origin.OWNER and not self.inbound.is_report

    def who(self, texts: Texts) -> str:
        """Whose words these are."""
        inbound = self.inbound
        if self.is_mine:
            return texts("you")
        if self.is_typed:
            return texts("you_elsewhere")
        name = visible(inbound.name or inbound.sender)
        return texts("somebody", name=name, channel=inbound.address.channel) if inbound.address else name


async def in_line(listening: "Listening", database: Database) -> tuple[InLine, ...]:
    """What waits in the conversation that is heard, in order."""
    stored = {row: await Inbox(database).get(row) for row in listening.waiting}
    return tuple(
        InLine(row, found.inbound, is_mine=row in listening.mine) for row, found in stored.items() if found is not None
    )


def short(text: str) -> str:
    """The beginning of a message, on one line."""
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= 60 else f"{flat[:59]}…"
