"""Where the channels meet the gateway: who writes, to which agent, and what they are told besides the answer."""

import asyncio
import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace

from palmclaw.core.channels import Channel, ChannelError
from palmclaw.core.errors import ConfigError, StorageError
from palmclaw.core.events import ApprovalAnswered, ApprovalAsked, Happening, Taken
from palmclaw.core.ports import OutboxState
from palmclaw.core.traffic import Address, Fate, Inbound, Outbound, Receipt
from palmclaw.core.values import dataclass
from palmclaw.runtime.access import Access, Verdict
from palmclaw.runtime.bindings import AgentSettings, agent_for, session_for
from palmclaw.runtime.delivery import Delivery
from palmclaw.runtime.gateway import Gateway
from palmclaw.runtime.orders import question
from palmclaw.runtime.words import Words

log = logging.getLogger(__name__)
QUESTION = "question:"
"""How the key of a question on its way begins."""
FIRST, LONGEST = 1.0, 300.0
"""Seconds until a channel that broke is started again, doubled each time."""


@dataclass(slots=True, repr=False)
class Reception:
    """Hears every channel, and starts one again that broke. `wrong` says of each what it suffers from, or nothing."""

    gateway: Gateway
    access: Access
    delivery: Delivery
    channels: Mapping[str, Channel]
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    words: Words = Words()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    home: Address | None = None
    wrong: dict[str, str] = field(default_factory=dict)
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)
    _posting: "set[asyncio.Task[None]]" = field(default_factory=set)
    _asked: dict[str, tuple[int, Address]] = field(default_factory=dict)
    _typing: dict[int, Address] = field(default_factory=dict)

    async def prepare(self) -> None:
        """Find out where the owner was heard last, for questions that have no other place."""
        self.home = await self.gateway.stores.inbox.home()
        self.gateway.findings += await self.access.findings()

    def listen(self) -> None:
        """Listen to every channel from now on."""
        for name, channel in self.channels.items():
            self._tasks.append(asyncio.create_task(self._keep_listening(name, channel), name=f"channel {name}"))

    async def close(self) -> None:
        """Listen no more; what was not acknowledged will come again."""
        for task in (*self._tasks, *self._posting):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._posting, return_exceptions=True)

    async def take(self, name: str, inbound: Inbound) -> Receipt:
        """A channel's message: stored when this returns, or refused. Raises Draining, StorageError."""
        assert inbound.address is not None, "a channel says where its messages come from"
        address = replace(inbound.address, channel=name)
        inbound = replace(inbound, address=address, session=address.session)
        verdict = await self.access.judge(inbound)
        if not verdict.may_speak:
            return await self._refused(inbound, verdict.reply, "unknown sender")
        try:
            agent = agent_for(address, self.agents)
        except ConfigError as error:
            log.error("%s", error)
            return await self._refused(inbound, str(error) if verdict.may_command else "", "no agent is bound here")
        return await self._accepted(replace(inbound, session=session_for(agent, address)), verdict)

    def heard(self, session: str, event: Happening) -> None:
        """What all are told: a question goes to where the owner is, and what waits no longer is not waited for."""
        if isinstance(event, ApprovalAsked) and (place := self.place(session)) is not None:
            self._post(session, Outbound(place, question(event, self.words), f"{QUESTION}{event.id}"))
        elif isinstance(event, ApprovalAnswered):
            self._asked.pop(event.id, None)
        elif isinstance(event, Taken) and event.receipt.fate is not Fate.WAITING and event.receipt.id in self._typing:
            self._no_longer_waits(session, event.receipt, self._typing.pop(event.receipt.id))

    def place(self, session: str) -> Address | None:
        """Where the owner can be asked: in the conversation itself if it is theirs, else where they spoke last."""
        lane = self.gateway.lanes.get(session)
        work = lane.running.work if lane and lane.running else None
        own = work.last.address if work and not work.last.group and work.is_owners else None
        found = own or self.home
        return found if found is not None and self.delivery.running(found.channel) else None

    async def asked_at(self, address: Address) -> frozenset[str]:
        """The questions that have arrived in a chat, or may have: only those can be answered by a bare word."""
        found = [(question, row) for question, (row, place) in self._asked.items() if place == address]
        states = {question: await self.delivery.store.state(row) for question, row in found}
        return frozenset(q for q, state in states.items() if state in (OutboxState.SENDING, OutboxState.SENT))

    def _no_longer_waits(self, session: str, receipt: Receipt, address: Address) -> None:
        self.delivery.typing.rest(address)
        if receipt.fate is Fate.DROPPED:  # whoever wrote it is told, not only whoever made it give way
            said = self.words("not_taken", reason=receipt.reason)
            self._post(session, Outbound(address, said, f"inbox:{receipt.id}"))

    async def _accepted(self, inbound: Inbound, verdict: Verdict) -> Receipt:
        address = inbound.address
        assert address is not None
        inbound = replace(inbound, origin=verdict.origin)
        if verdict.may_command and not inbound.group:
            self.home = address
        receipt = await self.gateway.accept(inbound, may_command=verdict.may_command)
        if receipt.fate is Fate.WAITING and receipt.id not in self._typing:
            self._typing[receipt.id] = address
            self.delivery.typing.expect(address)
        if receipt.fate is Fate.ANSWERED:
            self.delivery.wake(address)  # the answer is stored
        if receipt.fate in (Fate.DROPPED, Fate.CANCELLED) and receipt.reason:
            said = self.words("not_taken", reason=receipt.reason)
            await self.delivery.post(inbound.session, "", self._pieces(address, said, f"inbox:{receipt.id}"))
        return receipt

    async def _refused(self, inbound: Inbound, reply: str, reason: str) -> Receipt:
        assert inbound.address is not None
        if reply:
            key = f"refused:{inbound.session}:{inbound.external_id}:{zlib.crc32(reply.encode()):08x}"
            await self.delivery.post(inbound.session, "", self._pieces(inbound.address, reply, key))
        return Receipt(0, inbound.session, Fate.REJECTED, reason=reason)

    def _pieces(self, address: Address, text: str, key: str) -> tuple[Outbound, ...]:
        return self.delivery.pieces(address, text, key)

    def _post(self, session: str, outbound: Outbound) -> None:
        task = asyncio.create_task(self._posted(session, self._pieces(outbound.address, outbound.text, outbound.key)))
        self._posting.add(task)
        task.add_done_callback(self._posting.discard)

    async def _posted(self, session: str, outbounds: tuple[Outbound, ...]) -> None:
        try:
            rows = await self.delivery.post(session, "", outbounds)
            last = outbounds[-1]
            if last.key.startswith(QUESTION):
                asked = last.key.removeprefix(QUESTION).partition(":")[0]
                self._asked[asked] = (rows[-1], last.address)
        except StorageError as error:  # other surfaces still show the question
            log.error("a question could not be sent: %s", error)

    async def _keep_listening(self, name: str, channel: Channel) -> None:
        async def take(inbound: Inbound) -> Receipt:
            return await self.take(name, inbound)

        failures = 0
        while True:
            self.wrong[name] = ""
            try:
                await channel.listen(take)
                failures = 0
            except ChannelError as error:
                self.wrong[name] = str(error)
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise  # it is we who end
                self.wrong[name] = "it broke off by itself"
            except Exception:  # a bug in one channel must not end the others
                log.exception("channel %s broke", name)
                self.wrong[name] = "it broke; see palmclaw.log"
            failures += 1
            log.warning("channel %s has stopped listening: %s", name, self.wrong[name] or "it came to its end")
            await self.sleep(min(LONGEST, FIRST * 2.0 ** min(failures - 1, 10)))
