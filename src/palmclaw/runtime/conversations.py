"""What tools may do with conversations: list them, search them, and speak in another one."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from palmclaw.core.desks import Found, SessionLine
from palmclaw.core.errors import ConfigError, ToolError
from palmclaw.core.events import MessageAdded
from palmclaw.core.messages import Message, Role, Text
from palmclaw.core.records import TurnStore
from palmclaw.core.traffic import Address
from palmclaw.core.values import dataclass
from palmclaw.runtime.lane import Publish
from palmclaw.runtime.lanes import Lanes

if TYPE_CHECKING:
    from palmclaw.runtime.delivery import Delivery


class ConversationStore(Protocol):
    """All sessions together. Raises StorageError."""

    async def lines(self) -> tuple[SessionLine, ...]: ...

    async def place(self, session: str) -> Address | None:
        """Where the session's answers went last."""
        ...

    async def make(self, session: str) -> None: ...

    async def search(self, words: str, session: str = "", limit: int = 10) -> tuple[Found, ...]: ...


@dataclass(frozen=True, slots=True)
class SpokenHere:
    """Implements Conversations. `session_of` gives the session of an address, `sender` what delivers there."""

    store: ConversationStore
    records: TurnStore
    lanes: Lanes
    sender: Callable[[], "Delivery"]
    publish: Publish
    session_of: Callable[[Address], str]

    @property
    def delivery(self) -> "Delivery":
        """Made when it is first needed: most conversations are in a terminal."""
        return self.sender()

    async def listed(self) -> tuple[SessionLine, ...]:
        """Every session with how it stands, the last used first."""
        return tuple(replace(line, state=self._state(line.id)) for line in await self.store.lines())

    async def found(self, name: str) -> SessionLine:
        """The session that an id or a title means: an exact match, else the only one that holds it."""
        lines, wanted = await self.listed(), name.strip().casefold()
        exact = [x for x in lines if wanted in (x.id.casefold(), x.title.casefold(), x.label.casefold())]
        near = exact or [x for x in lines if wanted and (wanted in x.id.casefold() or wanted in x.title.casefold())]
        if len(near) == 1:
            return near[0]
        if not near:
            raise ToolError("not_found", f"there is no conversation {name[:60]!r}", hint="See sessions list.")
        which = "; ".join(f"{x.id} ({x.title[:40]})" for x in near[:8])
        raise ToolError("ambiguous", f"{len(near)} conversations fit: {which}", retryable=True, hint="Use the id.")

    async def search(self, words: str, session: str = "", limit: int = 10) -> tuple[Found, ...]:
        """Messages that hold all the words, the newest first."""
        return await self.store.search(words, (await self.found(session)).id if session else "", limit)

    async def target(self, name: str) -> tuple[str, Address | None]:
        """The session that is meant, and where it can be reached: by its name, or by `channel:chat[:thread]`."""
        channel, _, rest = name.strip().partition(":")
        if rest and channel in self.delivery.channels:
            chat = Address(channel, *rest.split(":", 1))
            return self._session_of(chat), chat
        try:
            session = (await self.found(name)).id
        except ToolError as error:
            if rest and error.code == "not_found":
                raise ToolError(
                    "not_running", f"the channel {channel[:40]!r} is not running; nothing was sent"
                ) from error
            raise
        address = await self.store.place(session)
        if address is not None and not self.delivery.running(address.channel):
            raise ToolError("not_running", f"the channel {address.channel!r} is not running; nothing was sent")
        return session, address

    async def deliver(self, name: str, text: str, key: str, *, tainted: bool = False) -> str:
        """Say something in a session, and where its answers go; once for a key."""
        session, address = await self.target(name)
        message = Message(Role.ASSISTANT, (Text(text),), tainted=tainted)
        posts = self.delivery.pieces(address, text, key) if address is not None else ()
        await self.store.make(session)
        await self.records.append(session, "", message, posts=posts)
        self.publish(session, "", MessageAdded(message))
        if address is None:
            return f"it stands in the conversation {session}"
        self.delivery.wake(address)
        return f"on its way to {address.session}"

    def _session_of(self, chat: Address) -> str:
        try:
            return self.session_of(chat)
        except ConfigError as error:
            raise ToolError("not_bound", str(error), hint=error.hint) from error

    def _state(self, session: str) -> str:
        lane = self.lanes.get(session)
        if lane is None:
            return "at rest"
        return "running" if lane.running else "waiting"
