"""A model service as a provider: a request in, deltas and one Reply out, whatever the wire protocol."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, TypeVar

from palmclaw.core.errors import ProviderError
from palmclaw.core.ports import Delta, Request
from palmclaw.core.values import dataclass
from palmclaw.net.hearing import Decoder, Hearing
from palmclaw.net.learning import Memory, answered
from palmclaw.net.service import Connection, event_json
from palmclaw.net.stream import EventStream

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Speech(Generic[T]):
    """A provider: one protocol is spoken with one service.

    `to_wire` writes a request as a model wants it by what is in `memory`, a `decoder` hears one answer.
    """

    service: Connection
    memory: Memory[T]
    to_wire: Callable[[Request, T], dict[str, Any]]
    decoder: Callable[[Hearing], Decoder]

    @property
    def local(self) -> bool:
        """False: requests may cost, so tools are routed."""
        return False

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Deltas as they come, then the Reply; what was shown before an error stays shown."""
        request = self.service.addressed(request)
        answer = answered(self.service, request, self.memory, self._written)
        return told(self.service, self.decoder(_hearing(self.service, request)), answer)

    def wire(self, request: Request) -> dict[str, Any]:
        """The body with what the configuration adds to it."""
        request = self.service.addressed(request)
        return self._written(request, self.memory.terms(request.model))

    async def close(self) -> None:
        """Give back the connections; the next request opens new ones."""
        await self.service.close()

    def _written(self, request: Request, terms: T) -> dict[str, Any]:
        return self.service.with_own_fields(self.to_wire(request, terms))


async def told(
    service: Connection, decoder: Decoder, answer: AbstractAsyncContextManager[EventStream]
) -> AsyncGenerator[Delta, None]:
    """What the decoder makes of the answer: deltas, then the Reply once the connection is given back."""
    async with _counted(decoder, answer) as events:
        async for event in events:
            if event.data.strip() == "[DONE]":
                decoder.done()
                break
            before = decoder.substance
            try:
                shown = decoder.feed(event_json(event, service.origin), event.event)
            except ProviderError:
                if decoder.complete:
                    break  # what goes wrong after the end is no trouble of ours
                raise
            for delta in shown:
                yield delta
            if decoder.substance > before:
                events.heard()
            if decoder.complete:
                events.finished()
        reply = decoder.finish()
    yield reply


@asynccontextmanager
async def _counted(decoder: Decoder, answer: AbstractAsyncContextManager[EventStream]) -> AsyncIterator[EventStream]:
    """An error that ends the answer brings along what the service had counted by then."""
    try:
        async with answer as events:
            yield events
    except ProviderError as error:
        error.usage = decoder.usage
        raise


def _hearing(service: Connection, request: Request) -> Hearing:
    taken = frozenset(call.id for message in request.messages for call in message.calls)
    return Hearing(request.model, service.origin, service.redact, taken, service.argument_chars)
