"""A chat platform in this process: remembers what was delivered, and fails as it is told."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from palmclaw.core.channels import Abilities, ChannelError, Take
from palmclaw.core.traffic import Address, Inbound, Outbound, Receipt


@dataclass(frozen=True)
class Refuses:
    """Nothing is delivered, and the platform says so."""

    retryable: bool = True
    retry_after: float | None = None


@dataclass(frozen=True)
class Hangs:
    """No answer ever comes; the message may be there all the same."""

    delivers: bool = False


@dataclass(frozen=True)
class Breaks:
    """The message is there, and then the connection breaks: an exception that says nothing."""

    error: BaseException = field(default_factory=lambda: ConnectionResetError("token=SECRET"))


Trouble = Refuses | Hangs | Breaks | None


@dataclass
class Platform:
    """Implements the Channel port. `log` is every delivery in order, `shown` what stands in the chats now by id."""

    name: str = "chat"
    abilities: Abilities = Abilities(typing=True, media=True)
    log: list[Outbound] = field(default_factory=list)
    shown: dict[str, Outbound] = field(default_factory=dict)
    typed: list[Address] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    before: Callable[[Outbound], None] = lambda outbound: None
    after: Callable[[Outbound], None] = lambda outbound: None
    tries: int = 0
    _take: Take | None = None
    _listens: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def texts(self) -> list[str]:
        """What a person reads now, in all chats, in order."""
        return [o.text for o in self.shown.values()]

    def will(self, *troubles: Trouble) -> None:
        """What happens at the next messages, one after the other; None: all is well."""
        self.troubles += troubles

    async def hears(self, inbound: Inbound) -> Receipt:
        """A person writes; the receipt is the acknowledgement."""
        await self._listens.wait()
        assert self._take is not None
        return await self._take(inbound)

    async def listen(self, take: Take) -> None:
        self._take = take
        self._listens.set()
        try:
            await asyncio.Event().wait()
        finally:
            self._listens.clear()

    async def send(self, outbound: Outbound) -> str:
        self.tries += 1
        trouble = self.troubles.pop(0) if self.troubles else None
        if isinstance(trouble, Refuses):
            words = "too many requests" if trouble.retryable else "no such chat"
            raise ChannelError(words, retryable=trouble.retryable, retry_after=trouble.retry_after)
        if isinstance(trouble, Hangs) and not trouble.delivers:
            await asyncio.Event().wait()
        remote = self._deliver(outbound)
        if isinstance(trouble, Hangs):
            await asyncio.Event().wait()
        if isinstance(trouble, Breaks):
            raise trouble.error
        return remote

    def _deliver(self, outbound: Outbound) -> str:
        if outbound.edits and outbound.edits not in self.shown:
            raise ChannelError("there is no such message")
        self.before(outbound)
        self.log.append(outbound)
        remote = outbound.edits or f"m{len(self.shown) + 1}"
        self.shown[remote] = outbound
        self.after(outbound)
        return remote

    async def typing(self, address: Address) -> None:
        if not self.abilities.typing:
            raise ChannelError("it cannot show that")
        self.typed.append(address)

    async def close(self) -> None:
        """Nothing is open."""
