"""Anthropic's Messages: the protocol of Claude, and of services and gateways that took it over."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

from palmclaw.core.answers import counted
from palmclaw.core.errors import BadRequest, ConfigError, ContextOverflow
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Request
from palmclaw.core.schema import Between, Doc
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path
from palmclaw.net.service import Connection, KeyHeader, ServiceConfig, as_bytes, event_json
from palmclaw.net.stream import EventStream
from palmclaw.providers.anthropic.decoder import Decoder
from palmclaw.providers.anthropic.lessons import Memory, taught
from palmclaw.providers.anthropic.wire import LEAST_THINKING, Terms, signatures, to_wire

__all__ = ["Anthropic", "AnthropicConfig", "Decoder", "Terms", "anthropic", "to_wire"]

PATH = Path("/messages", versioned=True)
LESSONS = 3
"""How often a refused request is asked once more in other words: there are no more things to learn."""
_VERSION = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class AnthropicConfig(ServiceConfig):
    """[provider] with name = "anthropic", or with a service of the catalogue that speaks it."""

    base_url: Annotated[str, Doc("address of the service")] = "https://api.anthropic.com"
    key_header: Annotated[KeyHeader, Doc("how the key is sent; both: bearer and x-api-key")] = "x-api-key"
    cache: Annotated[bool, Doc("let the service remember how requests begin")] = True
    max_tokens: Annotated[int, Between(0, 10_000_000), Doc("bounds each answer; 0: what the model can")] = 0
    thinking: Annotated[int, Between(0, 10_000_000), Doc("tokens to think with; 0: not asked for")] = 0
    version: Annotated[str, Doc("of the protocol")] = "2023-06-01"


@plugin(Kind.PROVIDER, "anthropic", AnthropicConfig)
def anthropic(config: AnthropicConfig, parts: Parts) -> "Anthropic":
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    _check(config, parts.table)
    return Anthropic(config, parts)


class Anthropic:
    """A model service behind `POST …/v1/messages`."""

    def __init__(self, config: AnthropicConfig, parts: Parts) -> None:
        self._config = config
        self._limit = parts.limits.argument_chars
        self._service = Connection(config, PATH, parts, redacted, {"anthropic-version": config.version})
        base = Terms(config.max_tokens, config.thinking, cache=config.cache)
        self._memory = Memory(parts.findings, self._service.origin, base)

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
            terms, tries = self._memory.terms(request.model), LESSONS
            while True:
                body = as_bytes(self._wire(request, terms))
                try:
                    events = await stack.enter_async_context(self._service.events(body))
                    break
                except (BadRequest, ContextOverflow) as error:
                    lesson = taught(str(error), terms, signatures(request)) if tries else None
                    if lesson is None:
                        raise
                    self._memory.keep(request.model, lesson.later)
                    terms, tries = lesson.now, tries - 1
            yield events, len(body)


def _check(config: AnthropicConfig, table: str) -> None:
    if 0 < config.thinking < LEAST_THINKING:
        raise ConfigError(f"{table}.thinking", f"must be 0 or at least {LEAST_THINKING}")
    if 0 < config.max_tokens <= config.thinking:
        hint = f"palmclaw config set {table}.max_tokens 0"
        raise ConfigError(f"{table}.thinking", f"must be less than max_tokens, which is {config.max_tokens}", hint)
    if not _VERSION.fullmatch(config.version):
        raise ConfigError(f"{table}.version", "must be a date such as 2023-06-01")
