"""The model services as one: asks, waits and asks again, goes on where a stream broke, moves to the next, counts."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import field, replace
from typing import Protocol

from palmclaw.core.errors import BadCall, BadRequest, ConfigError, Fault, ModelNotFound, PalmclawError, ProviderError
from palmclaw.core.events import ModelChanged, Retrying, TextDelta
from palmclaw.core.messages import Cut, Media, Message, Reasoning, Role, Text, Usage, user_message
from palmclaw.core.ports import Delta, Ledger, Provider, Reply, Request, Spent
from palmclaw.core.values import dataclass
from palmclaw.runtime.budget import Budget, Prices
from palmclaw.runtime.hearing import Heard
from palmclaw.runtime.patience import Patience, is_for_others, rest

CONTINUE = "(The connection broke. Go on exactly where you stopped; repeat nothing.)"
SMALLER = "(Your last tool call could not be read. Call again with less in it, as valid JSON.)"
TRIES = 2
"""How often an answer is continued, and how often a smaller call is asked for."""
REMEMBERED = 64
"""Sessions of which it is known what was told in their turn."""
_BLIND = Fault("no_attachments", "The model takes no attachments; it gets a note instead.")


@dataclass(frozen=True, slots=True)
class Choice:
    """One model of one service."""

    service: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.service}/{self.model}" if self.model else self.service


class Offers(Protocol):
    """Where models come from. Raises ConfigError for what is not there."""

    def chosen(self, reference: str) -> Choice:
        """What a person means by `service/model`, `service` or `model`; empty: the configured one."""
        ...

    def provider(self, service: str) -> Provider: ...

    def takes(self, choice: Choice) -> frozenset[str]: ...

    def prices(self, choice: Choice) -> Prices | None: ...

    def usd(self, choice: Choice, usage: Usage) -> float | None:
        """What a request has cost, or None where no price is known."""
        ...

    def window(self, choice: Choice) -> int:
        """Tokens of a request and its answer together; 0: nobody knows."""
        ...


@dataclass(slots=True)
class Models:
    """Implements the Provider port over many services; `Request.choice` says which one, as people write it."""

    services: Offers
    ledger: Ledger
    budget: Budget
    fallbacks: tuple[str, ...] = ()
    patience: Patience = Patience()
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic
    blind: set[Choice] = field(default_factory=set)
    _providers: dict[str, Provider] = field(default_factory=dict)
    _resting: dict[Choice, "_Rest"] = field(default_factory=dict)
    _told: dict[str, tuple[str, frozenset[Choice]]] = field(default_factory=dict)

    @property
    def local(self) -> bool:
        """Whether asking the configured model costs nothing."""
        return self.is_local("")

    def is_local(self, reference: str) -> bool:
        """Whether asking this model costs nothing, so that every tool can be offered to it."""
        return self.provider(self.services.chosen(reference)).local

    def name(self, reference: str) -> str:
        """The model's name on the wire."""
        return self.services.chosen(reference).model

    def takes(self, reference: str) -> frozenset[str]:
        """The media types that the model, or one that may take its place, may be sent."""
        return frozenset().union(*(self.seen_by(choice) for choice in self.chain(reference)))

    def window(self, reference: str) -> int:
        """The smallest window of the model and those that may take its place; 0: nobody knows any."""
        known = [w for choice in self.chain(reference) if (w := self.services.window(choice))]
        return min(known, default=0)

    def seen_by(self, choice: Choice) -> frozenset[str]:
        """The media types that one model may be sent."""
        return frozenset() if choice in self.blind else self.services.takes(choice)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Deltas, with word of each wait and change, then one Reply. Raises ProviderError, ConfigError."""
        async with aclosing(_Answer(self, request).deltas()) as deltas:
            async for delta in deltas:
                yield delta

    async def close(self) -> None:
        """Give back the connections of every service."""
        for provider in self._providers.values():
            await provider.close()

    def provider(self, choice: Choice) -> Provider:
        """The service, connected when it is first asked."""
        if choice.service not in self._providers:
            self._providers[choice.service] = self.services.provider(choice.service)
        return self._providers[choice.service]

    def chain(self, reference: str) -> list[Choice]:
        """The model asked for, and the ones that may take its place."""
        first, others = self.services.chosen(reference), list[Choice]()
        for fallback in self.fallbacks:
            with suppress(ConfigError):  # the doctor tells of it; who is well needs no stand-in
                others.append(self.services.chosen(fallback))
        return list(dict.fromkeys((first, *others)))

    def resting(self, choice: Choice) -> Fault | None:
        """Why a model is being passed over; None when it is not."""
        found = self._resting.get(choice)
        return found.fault if found and self.now() < found.until else None

    def failed(self, choice: Choice, error: PalmclawError) -> None:
        """Pass the model over for a while, longer each time."""
        times = self._resting[choice].times + 1 if choice in self._resting else 1
        self._resting[choice] = _Rest(self.now() + rest(error, times), times, error.fault)

    def told(self, request: Request, choice: Choice) -> bool:
        """Whether the person has heard in this turn that the model is passed over; from now on they have."""
        before = self._told.get(request.session)
        turn, choices = before if before and before[0] == request.turn else (request.turn, frozenset())
        self._told.pop(request.session, None)
        self._told[request.session] = (turn, choices | {choice})
        if len(self._told) > REMEMBERED:
            del self._told[next(iter(self._told))]
        return choice in choices

    def answered(self, choice: Choice) -> None:
        """The model is well again."""
        self._resting.pop(choice, None)


@dataclass(frozen=True, slots=True)
class _Rest:
    until: float
    times: int
    fault: Fault


@dataclass(slots=True)
class _Answer:
    """One answer being obtained, perhaps in several requests and from several models.

    `said` is all that was seen of it, `before` what of that earlier requests had said.
    """

    models: Models
    request: Request
    said: str = ""
    before: str = ""
    usage: Usage = Usage()
    nudges: int = 0
    continued: int = 0
    blinded: set[Choice] = field(default_factory=set)

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        chain = self.models.chain(self.request.choice)
        failure: PalmclawError | None = None
        for at, choice in enumerate(chain):
            following = chain[at + 1 :]
            if (fault := self.models.resting(choice)) and any(not self.models.resting(c) for c in following):
                if not self.models.told(self.request, choice):
                    yield ModelChanged(str(following[0]), str(choice), fault)
                continue
            try:
                async with aclosing(self._patiently(choice)) as deltas:
                    async for delta in deltas:
                        yield delta
                self.models.answered(choice)
                self.models.blind |= self.blinded & {choice}  # without attachments it could
                return
            except (ProviderError, ConfigError) as error:
                if not isinstance(error, ConfigError) or failure is None:
                    failure = error  # that a stand-in is not set up is not what the person must hear
                if not following or not is_for_others(error):
                    break
                self.models.failed(choice, error)
                self.models.told(self.request, choice)
                yield ModelChanged(str(following[0]), str(choice), error.fault)
        assert failure is not None
        if isinstance(failure, ProviderError):
            failure.usage = self.usage
        raise failure

    async def _patiently(self, choice: Choice) -> AsyncGenerator[Delta, None]:
        """One model, as often as it is worth asking."""
        began, failures, self.nudges = self.models.now(), 0, 0
        while True:
            before = self.said
            try:
                async with aclosing(self._once(choice)) as deltas:
                    async for delta in deltas:
                        yield delta
                return
            except ProviderError as error:
                if self.said != before:  # it had recovered: this is a new trouble
                    began, failures = self.models.now(), 0
                failures += 1
                pause = self._pause(choice, error, failures, self.models.now() - began)
                if pause is None:
                    raise
                fault = _BLIND if isinstance(error, BadRequest) else replace(error.fault, hint="")
                yield Retrying(str(choice), pause, fault)
            await self.models.sleep(pause)

    def _pause(self, choice: Choice, error: ProviderError, failures: int, passed: float) -> float | None:
        """Seconds until the model is asked again; None: it is not worth asking."""
        if isinstance(error, BadCall):
            self.nudges += 1
            return 0.0 if self.nudges <= TRIES else None
        if isinstance(error, BadRequest):
            return self._without_attachments(choice, error)
        if self.said:
            self.continued += 1
            if self.continued > TRIES:
                return None
        return self.models.patience.pause(error, failures, passed)

    def _without_attachments(self, choice: Choice, error: BadRequest) -> float | None:
        """What was refused with attachments is asked once more without them; if that helps, so from now on."""
        if not self._media(choice) or isinstance(error, ModelNotFound):
            return None
        self.blinded.add(choice)
        return 0.0

    async def _once(self, choice: Choice) -> AsyncGenerator[Delta, None]:
        """One request. What it cost is counted however it ends."""
        provider = self.models.provider(choice)
        if provider.local:
            async with aclosing(self._locally(provider, choice)) as deltas:
                async for delta in deltas:
                    yield delta
            return
        request, self.before = self._asked(choice), self.said
        async with self.models.budget.room(request, str(choice), lambda: self.models.services.prices(choice)) as room:
            heard = Heard(provider, replace(request, max_output=room))
            try:
                async with aclosing(heard.deltas()) as deltas:
                    async for delta in deltas:
                        yield self._taken(delta, heard)
            finally:
                await self._write_down(choice, heard)

    async def _locally(self, provider: Provider, choice: Choice) -> AsyncGenerator[Delta, None]:
        """A model that costs nothing begins anew, in a paragraph of its own: it may not know how to go on."""
        if self.said:
            self.said += "\n\n"
            yield TextDelta("\n\n")
        self.before = self.said
        heard = Heard(provider, replace(self.request, model=choice.model, media=self._media(choice)))
        async with aclosing(heard.deltas()) as deltas:
            async for delta in deltas:
                yield self._taken(delta, heard)

    def _asked(self, choice: Choice) -> Request:
        """The request for this model; what was already said goes with it, so that it only continues."""
        added: tuple[Message, ...] = ()
        if self.said:
            added = (Message(Role.ASSISTANT, (Text(self.said),), cut=Cut.STREAM), user_message(CONTINUE))
        if self.nudges:
            added = (*added, user_message(SMALLER))
        messages = (*self.request.messages, *added)
        return replace(self.request, model=choice.model, messages=messages, media=self._media(choice))

    def _media(self, choice: Choice) -> dict[str, bytes]:
        """The attachments that this model may be sent."""
        if not self.request.media or choice in self.blinded:
            return {}
        types = self.models.seen_by(choice)
        parts = [p for m in self.request.messages for p in m.parts if isinstance(p, Media) and p.mime in types]
        return {p.id: self.request.media[p.id] for p in parts if p.id in self.request.media}

    def _taken(self, delta: Delta, heard: "Heard") -> Delta:
        if isinstance(delta, TextDelta):
            self.said += delta.text
        if not isinstance(delta, Reply):
            return delta
        self.usage += heard.usage() or Usage()
        message = delta.message
        if self.before:
            thoughts = [p for p in message.parts if isinstance(p, Reasoning)]
            calls = [p for p in message.parts if not isinstance(p, Reasoning | Text)]
            message = replace(message, parts=(*thoughts, Text(self.before + message.text), *calls))
        return replace(delta, message=message, usage=self.usage)

    async def _write_down(self, choice: Choice, heard: "Heard") -> None:
        usage = heard.usage()
        if usage is None:
            return
        if heard.reply is None:
            self.usage += usage
        usd = self.models.services.usd(choice, usage)
        request = self.request
        await self.models.ledger.add(
            Spent(choice.service, choice.model, usage, usd, request.session, request.turn, request.purpose)
        )
