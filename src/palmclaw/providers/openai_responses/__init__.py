"""OpenAI's Responses: the protocol of newer models of OpenAI, Azure and xAI, and of some local servers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from palmclaw.core.answers import counted
from palmclaw.core.errors import BadRequest
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Request
from palmclaw.core.schema import Doc
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path
from palmclaw.net.service import Connection, ServiceConfig, as_bytes, event_json
from palmclaw.net.stream import EventStream
from palmclaw.providers.openai_responses.decoder import Decoder
from palmclaw.providers.openai_responses.lessons import Memory, taught
from palmclaw.providers.openai_responses.wire import Terms, signatures, to_wire

__all__ = ["Decoder", "OpenAIResponses", "OpenAIResponsesConfig", "Terms", "openai_responses", "to_wire"]

PATH = Path("/responses")
Effort = Literal["", "minimal", "low", "medium", "high"]


@dataclass(frozen=True, slots=True)
class OpenAIResponsesConfig(ServiceConfig):
    """[provider] with name = "openai_responses", or with a service of the catalogue that speaks it."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = "https://api.openai.com/v1"
    effort: Annotated[Effort, Doc("how much the model thinks; empty: as much as it likes")] = ""


@plugin(Kind.PROVIDER, "openai_responses", OpenAIResponsesConfig)
def openai_responses(config: OpenAIResponsesConfig, parts: Parts) -> "OpenAIResponses":
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    return OpenAIResponses(config, parts)


class OpenAIResponses:
    """A model service behind `POST …/responses`, which is asked to keep nothing."""

    def __init__(self, config: OpenAIResponsesConfig, parts: Parts) -> None:
        self._config = config
        self._limit = parts.limits.argument_chars
        self._service = Connection(config, PATH, parts, redacted)
        self._memory = Memory(parts.findings, self._service.origin, Terms(config.effort))

    @property
    def local(self) -> bool:
        """False: requests may cost, so tools are routed."""
        return False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas as they come, then the Reply; what was shown before an error stays shown."""
        request = replace(request, model=request.model or self._config.model)
        taken = frozenset(call.id for message in request.messages for call in message.calls)
        where = self._service.origin
        decoder = Decoder(request.model, where, self._service.redact, taken, self._limit)
        async with self._answer(request) as (events, sent):
            async for event in events:
                if event.data.strip() == "[DONE]":
                    decoder.done()
                    break
                before = decoder.substance
                for delta in decoder.feed(event_json(event, where), event.event):
                    yield delta
                if decoder.substance > before:
                    events.heard()
                if decoder.complete:
                    events.finished()
        yield counted(decoder.finish(), sent)

    def wire(self, request: Request) -> dict[str, Any]:
        """The body with what the configuration adds to it."""
        request = replace(request, model=request.model or self._config.model)
        return self._wire(request, self._memory.terms(request.model))

    async def close(self) -> None:
        """Give back the connections."""
        await self._service.close()

    def _wire(self, request: Request, terms: Terms) -> dict[str, Any]:
        return {**self._config.body, **to_wire(request, terms), **self._config.body}

    @asynccontextmanager
    async def _answer(self, request: Request) -> AsyncIterator[tuple[EventStream, int]]:
        """The open answer and the size of what was asked, after as many refusals as taught how to ask."""
        async with AsyncExitStack() as stack:
            known = terms = self._memory.terms(request.model)
            while True:
                body = as_bytes(self._wire(request, terms))
                try:
                    events = await stack.enter_async_context(self._service.events(body))
                    break
                except BadRequest as error:
                    lesson = taught(str(error), terms, signatures(request))
                    if lesson is None:
                        raise
                    terms = lesson
            if terms != known:
                self._memory.keep(request.model, terms)
            yield events, len(body)
