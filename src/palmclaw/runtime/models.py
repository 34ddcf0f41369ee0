"""The model services as one: asks, waits and asks again, goes on where a stream broke, moves to the next, counts."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Protocol

from palmclaw.core.errors import BadCall, BadRequest, ConfigError, Fault, ModelNotFound, PalmclawError, ProviderError
from palmclaw.core.events import ModelChanged, ReasoningDelta, Retrying, TextDelta
from palmclaw.core.messages import Cut, Message, Role, Text, Usage, user_message
from palmclaw.core.ports import Delta, Ledger, Provider, Reply, Request, Spent
from palmclaw.core.text import tokens
from palmclaw.runtime.budget import Budget, Prices, estimated
from palmclaw.runtime.patience import Patience, is_for_others, rest

CONTINUE = "(The connection broke. Go on exactly where you stopped; repeat nothing.)"
SMALLER = "(Your last tool call could not be read. Call again with less in it, as valid JSON.)"
TRIES = 2
"""How often an answer is continued, and how often a smaller call is asked for."""
_BLIND = Fault("no_attachments", "The model takes no attachments; it gets a note instead.")


@dataclass(frozen=True, slots=True)
class Choice:
    """One model of one service."""

    service: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.service}/{self.model}" if self.model else self.service


class Services(Protocol):
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


@dataclass(slots=True)
class Models:
    """Implements the Provider port over many services; `Request.model` is a reference as people write it."""

    services: Services
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

    def takes(self, reference: str) -> frozenset[str]:
        """The media types that the model may be sent."""
        choice = self.services.chosen(reference)
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
        first = self.services.chosen(reference)
        others = dict.fromkeys(self.services.chosen(f) for f in self.fallbacks)
        return [first, *(choice for choice in others if choice != first)]

    def resting(self, choice: Choice) -> Fault | None:
        """Why a model is being passed over; None when it is not."""
        found = self._resting.get(choice)
        return found.fault if found and self.now() < found.until else None

    def failed(self, choice: Choice, error: PalmclawError) -> None:
        """Pass the model over for a while, longer each time."""
        times = self._resting[choice].times + 1 if choice in self._resting else 1
        self._resting[choice] = _Rest(self.now() + rest(error, times), times, error.fault)

    def is_news(self, request: Request, choice: Choice) -> bool:
        """Whether the person has not yet heard in this turn that the model is passed over."""
        told = self._told.get(request.session)
        turn, choices = told if told and told[0] == request.turn else (request.turn, frozenset())
        self._told[request.session] = (turn, choices | {choice})
        return choice not in choices

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

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        chain = self.models.chain(self.request.model)
        failure: PalmclawError | None = None
        for at, choice in enumerate(chain):
            following = chain[at + 1 :]
            if (fault := self.models.resting(choice)) and any(not self.models.resting(c) for c in following):
                if self.models.is_news(self.request, choice):
                    yield ModelChanged(str(following[0]), str(choice), fault)
                continue
            try:
                async with aclosing(self._patiently(choice)) as deltas:
                    async for delta in deltas:
                        yield delta
                self.models.answered(choice)
                return
            except (ProviderError, ConfigError) as error:
                if not isinstance(error, ConfigError) or failure is None:
                    failure = error  # that a stand-in is not set up is not what the person must hear
                if not following or not (is_for_others(error) or at):
                    break
                self.models.failed(choice, error)
                self.models.is_news(self.request, choice)
                yield ModelChanged(str(following[0]), str(choice), error.fault)
        assert failure is not None
        raise failure

    async def _patiently(self, choice: Choice) -> AsyncGenerator[Delta, None]:
        """One model, as often as it is worth asking."""
        began, failures = self.models.now(), 0
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
                yield Retrying(str(choice), pause, _BLIND if isinstance(error, BadRequest) else error.fault)
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
        """What was refused with attachments is asked once more without them, and so from now on."""
        if not self.request.media or choice in self.models.blind or isinstance(error, ModelNotFound):
            return None
        self.models.blind.add(choice)
        return 0.0

    async def _once(self, choice: Choice) -> AsyncGenerator[Delta, None]:
        """One request. What it cost is counted however it ends."""
        provider = self.models.provider(choice)
        request, self.before = self._asked(choice), self.said
        if provider.local:
            async with aclosing(_Heard(provider, request).deltas()) as deltas:
                async for delta in deltas:
                    yield self._taken(delta)
            return
        heard = _Heard(provider, request)
        async with self.models.budget.room(request, str(choice), self.models.services.prices(choice)) as room:
            heard.request = replace(request, max_output=room)
            try:
                async with aclosing(heard.deltas()) as deltas:
                    async for delta in deltas:
                        yield self._taken(delta)
            finally:
                await self._write_down(choice, heard)

    def _asked(self, choice: Choice) -> Request:
        """The request for this model; what was already said goes with it, so that it only continues."""
        added: tuple[Message, ...] = ()
        if self.said:
            added = (Message(Role.ASSISTANT, (Text(self.said),), cut=Cut.STREAM), user_message(CONTINUE))
        if self.nudges:
            added = (*added, user_message(SMALLER))
        media = {} if choice in self.models.blind else self.request.media
        return replace(self.request, model=choice.model, messages=(*self.request.messages, *added), media=media)

    def _taken(self, delta: Delta) -> Delta:
        if isinstance(delta, TextDelta):
            self.said += delta.text
        if not isinstance(delta, Reply):
            return delta
        self.usage += replace(delta.usage, requests=1)
        message = delta.message
        if self.before:
            others = [p for p in message.parts if not isinstance(p, Text)]
            thoughts = [p for p in others if p.type == "reasoning"]
            calls = [p for p in others if p.type != "reasoning"]
            message = replace(message, parts=(*thoughts, Text(self.before + message.text), *calls))
        return replace(delta, message=message, usage=self.usage)

    async def _write_down(self, choice: Choice, heard: "_Heard") -> None:
        usage = heard.usage()
        if usage is None:
            return
        if not heard.replied:
            self.usage += usage
        usd = self.models.services.usd(choice, usage)
        request = self.request
        await self.models.ledger.add(
            Spent(choice.service, choice.model, usage, usd, request.session, request.turn, request.purpose)
        )


@dataclass(slots=True)
class _Heard:
    """One request to one service, and what came of it."""

    provider: Provider
    request: Request
    words: list[str] = field(default_factory=list)
    replied: Usage | None = None
    refused: bool = False

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        stream = self.provider.stream(self.request)
        try:
            async for delta in stream:
                if isinstance(delta, TextDelta | ReasoningDelta):
                    self.words.append(delta.text)
                elif isinstance(delta, Reply):
                    self.replied = delta.usage
                yield delta
        except (ProviderError, ConfigError):
            self.refused = not self.words
            raise
        finally:
            if close := getattr(stream, "aclose", None):
                await close()

    def usage(self) -> Usage | None:
        """What the request counts for; an estimate where it was broken off; None where nothing was done."""
        if self.replied is not None:
            return replace(self.replied, requests=1)
        if self.refused:
            return None
        said = tokens("".join(self.words))
        return Usage(estimated(self.request), said, requests=1, estimated=True)
