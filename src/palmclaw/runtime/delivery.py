"""Sends what is stored to be sent: in order at each address, again where that is safe, never twice."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from palmclaw.core.channels import Abilities, Channel, DeliverySettings, Unit
from palmclaw.core.chunks import chunks
from palmclaw.core.errors import StorageError
from palmclaw.core.events import Sent
from palmclaw.core.ports import PREVIEW, OutboxRow, OutboxState, OutboxStore
from palmclaw.core.traffic import Address, Outbound
from palmclaw.core.values import dataclass
from palmclaw.runtime.preview import Preview
from palmclaw.runtime.sending import Lines, Outcome, Sleep
from palmclaw.runtime.speech import Speech
from palmclaw.runtime.typing import Typing
from palmclaw.runtime.voice import Voice

FIRST, LONGEST = 1.0, 60.0
"""Seconds until a message is tried again, doubled each time."""
ATTEMPTS = 30
"""Together about twenty-five minutes."""
EDITS = 5
"""How often an edit is made whose outcome nobody knows: the same edit again changes nothing."""
ANYWHERE = Abilities(max_text=2_000, unit=Unit.BYTES)
"""Of a channel that does not run nothing is known but this: what it takes at least."""
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Lane:
    """The sender of one address. `is_stirred`: something may have come that it has not seen."""

    is_stirred: bool = True
    is_resting: bool = False
    task: "asyncio.Task[None] | None" = None


@dataclass(slots=True)
class Delivery:
    """One sender for each address where something waits; it ends when nothing does.

    `channels` are those that run; `tell` hears how each message came out.
    """

    store: OutboxStore
    channels: Mapping[str, Channel]
    settings: Mapping[str, DeliverySettings]
    tell: Callable[[str, str, Sent], None]
    sleep: Sleep = asyncio.sleep
    now: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    typing: Typing = field(init=False)
    _lines: Lines = field(init=False)
    _lanes: dict[Address, _Lane] = field(default_factory=dict)
    _pauses: dict[str, float] = field(default_factory=dict)
    _search: "asyncio.Task[None] | None" = None
    _is_stirred: bool = False
    _is_closing: bool = False

    def __post_init__(self) -> None:
        self.typing = Typing(self.channels, self.sleep, self.now)
        self._lines = Lines(self.channels, self.sleep)

    async def start(self) -> None:
        """Tell what an earlier process left unknown, and begin to send what waits."""
        for row in await self.store.recover():
            self.tell(row.session, row.turn, Sent(row.id, OutboxState.UNKNOWN, row.error))
        self.wake()

    def running(self, channel: str) -> bool:
        """Whether what is sent there goes out now; otherwise it waits until the channel runs."""
        return channel in self.channels

    async def post(
        self, session: str, turn: str, outbounds: Sequence[Outbound], pauses: Mapping[str, float] | None = None
    ) -> tuple[int, ...]:
        """Store messages and send them; `pauses` are seconds to wait before some of them, by key."""
        self._pauses.update(pauses or {})
        rows = await self.store.add(session, turn, outbounds)
        for outbound in outbounds:
            self.wake(outbound.address)
        return rows

    def wake(self, address: Address | None = None) -> None:
        """Something may have been stored (for this address), or a channel has begun to run."""
        if self._is_closing:
            return
        if address is not None:
            self._stir(address)
        elif self._search is None or self._search.done():
            self._search = asyncio.create_task(self._stir_all())
        else:
            self._is_stirred = True

    def pieces(self, address: Address, text: str, key: str) -> tuple[Outbound, ...]:
        """A text that belongs to no turn, in messages that the channel takes; the first has just this key."""
        abilities = self._abilities(address)
        cut = chunks(text, abilities.max_text, abilities.unit)
        return tuple(Outbound(address, piece, f"{key}:{n}" if n else key) for n, piece in enumerate(cut))

    def voice(
        self,
        address: Address,
        session: str,
        turn: str,
        *,
        may_be_silent: bool = False,
        may_be_dropped: bool = False,
    ) -> Voice:
        """For one turn whose answers go to this address; to be closed when it is over.

        `may_be_dropped`: an answer that ends with the silent token is not sent at all, so nothing goes out before it
        is whole.
        """
        settings = self.settings.get(address.channel, DeliverySettings())
        if may_be_dropped:
            settings = DeliverySettings(interim=settings.interim)
        speech = Speech(address, turn, settings, self._abilities(address))
        speech.may_be_dropped = may_be_dropped

        async def post(outbounds: Sequence[Outbound], pauses: Mapping[str, float]) -> None:
            await self.post(session, turn, outbounds, pauses)

        def preview(number: int, draft: Callable[[], str]) -> Preview:
            key = f"{PREVIEW}{turn}:{number}"
            return Preview(key, session, turn, address, draft, self._lines, self.store, settings.coalesce)

        voice = Voice(
            speech, post, lambda: self.wake(address), self.typing, preview, may_be_silent, self.sleep, self.chance
        )
        voice.begin()
        return voice

    async def close(self, grace: float = 5.0) -> None:
        """Let what is being sent come to its end for `grace` seconds; what still waits is sent at the next start."""
        self._is_closing = True
        await self.typing.close()
        tasks = [lane.task for lane in self._lanes.values() if lane.task is not None]
        for lane in self._lanes.values():
            if lane.is_resting and lane.task is not None:
                lane.task.cancel()
        tasks += [self._search] if self._search is not None else []
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _abilities(self, address: Address) -> Abilities:
        channel = self.channels.get(address.channel)
        return channel.abilities if channel else ANYWHERE

    async def _stir_all(self) -> None:
        self._is_stirred = True
        while self._is_stirred:
            self._is_stirred = False
            try:
                for address in await self.store.waiting():
                    self._stir(address)
            except StorageError as error:
                log.error("what waits to be sent cannot be read: %s", error)

    def _stir(self, address: Address) -> None:
        lane = self._lanes.get(address)
        if lane is not None:
            lane.is_stirred = True
        elif self.running(address.channel) and not self._is_closing:
            lane = self._lanes[address] = _Lane()
            lane.task = asyncio.create_task(self._run(address, lane))

    async def _run(self, address: Address, lane: _Lane) -> None:
        """Send what waits at one address, until nothing does."""
        troubles = 0
        try:
            while lane.is_stirred and troubles < ATTEMPTS:
                lane.is_stirred = False
                try:
                    await self._empty(address, lane)
                    troubles = 0
                except StorageError as error:
                    log.error("what waits for %s cannot be sent now: %s", address.session, error)
                    troubles += 1
                    lane.is_stirred = not self._is_closing
                    await self._rest(lane, _pause(troubles))
        finally:
            del self._lanes[address]

    async def _empty(self, address: Address, lane: _Lane) -> None:
        while self.running(address.channel) and (row := await self.store.next(address)) is not None:
            await self._rest(lane, self._pauses.pop(row.outbound.key, 0.0))
            wait = await self._send(row)
            if wait and self._is_closing:
                return
            await self._rest(lane, wait)

    async def _rest(self, lane: _Lane, seconds: float) -> None:
        """Wait before the next message, but not when all is coming to its end."""
        if seconds > 0 and not self._is_closing:
            lane.is_resting = True
            await self.sleep(seconds)
            lane.is_resting = False

    async def _send(self, row: OutboxRow) -> float:
        """Send one message and record how it came out; returns the seconds until the next may go."""
        async with self._lines.lock(row.outbound.address):
            claimed = await self.store.claim(row.id)
            if claimed is None:
                return 0.0
            outcome = await self._lines.attempt(claimed.outbound)
            if _may_stand_alone(claimed, outcome):
                await self.store.alone(claimed.id)
                return 0.0
            outcome = await self._recorded(claimed, _judged(claimed, outcome))
        if outcome.state is OutboxState.WAITING:
            return max(_pause(claimed.attempts), outcome.wait)
        self.tell(row.session, row.turn, Sent(row.id, outcome.state, outcome.reason))
        return 0.0

    async def _recorded(self, row: OutboxRow, outcome: Outcome) -> Outcome:
        """What stands in the store afterwards; what could not be recorded stays as being sent, and is never resent."""
        try:
            if outcome.state is OutboxState.SENT:
                await self.store.sent(row.id, outcome.remote)
            elif outcome.state is OutboxState.UNKNOWN:
                await self.store.unknown(row.id, outcome.reason)
            elif outcome.state is OutboxState.FAILED:
                await self.store.failed(row.id, outcome.reason)
            else:
                await self.store.again(row.id, outcome.reason)
        except StorageError as error:
            log.error("how message %d to %s came out is not stored: %s", row.id, row.outbound.address.session, error)
            return Outcome(OutboxState.UNKNOWN, reason="it may have arrived, which could not be stored")
        return outcome


def _may_stand_alone(row: OutboxRow, outcome: Outcome) -> bool:
    """A message that cannot take another's place is sent for itself, but not the end of a preview."""
    is_end = row.outbound.key.startswith(PREVIEW)
    return outcome.state is OutboxState.FAILED and bool(row.outbound.edits) and not is_end


def _judged(row: OutboxRow, outcome: Outcome) -> Outcome:
    """What follows from how an attempt came out: again, or never again."""
    if outcome.state is OutboxState.WAITING and row.attempts >= ATTEMPTS:
        return replace(outcome, state=OutboxState.FAILED, reason=f"given up: {outcome.reason}")
    if outcome.state is OutboxState.UNKNOWN and row.outbound.edits and row.attempts < EDITS:
        return replace(outcome, state=OutboxState.WAITING)
    return outcome


def _pause(failures: int) -> float:
    return min(LONGEST, FIRST * 2.0 ** min(failures - 1, 10))
