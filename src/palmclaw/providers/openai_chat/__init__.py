"""OpenAI's chat completions: the protocol that most model services and local servers speak."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from palmclaw.core.answers import counted
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Request
from palmclaw.core.schema import Doc
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path
from palmclaw.net.service import Connection, ServiceConfig, as_bytes, event_json
from palmclaw.net.sse import ServerEvent
from palmclaw.providers.openai_chat.decoder import Decoder
from palmclaw.providers.openai_chat.wire import Dialect, to_wire

__all__ = ["Decoder", "Dialect", "OpenAIChat", "OpenAIChatConfig", "openai_chat", "to_wire"]

PATH = Path("/chat/completions")


@dataclass(frozen=True, slots=True)
class OpenAIChatConfig(ServiceConfig):
    """[provider] with name = "openai_chat", or with a service of the catalogue that speaks it."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = "https://api.openai.com/v1"
    usage: Annotated[bool, Doc("ask for token counts; false where the service refuses stream_options")] = True
    system_role: Annotated[Literal["system", "developer", "user"], Doc("who gives the rules")] = "system"
    token_field: Annotated[Literal["max_tokens", "max_completion_tokens"], Doc("bounds the answer")] = "max_tokens"
    reasoning_field: Annotated[str, Doc("under which name thoughts go back; empty: never")] = ""
    schema_without: Annotated[tuple[str, ...], Doc("JSON Schema words the service refuses")] = ()
    call_ids: Annotated[Literal["any", "nine"], Doc("nine: exactly nine letters or digits")] = "any"
    call_signature: Annotated[Literal["", "google"], Doc("what a call of another model's making must carry")] = ""


@plugin(Kind.PROVIDER, "openai_chat", OpenAIChatConfig)
def openai_chat(config: OpenAIChatConfig, parts: Parts) -> "OpenAIChat":
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    return OpenAIChat(config, parts)


class OpenAIChat:
    """A model service behind `POST …/chat/completions`."""

    def __init__(self, config: OpenAIChatConfig, parts: Parts) -> None:
        self._config = config
        self._limit = parts.limits.argument_chars
        self._service = Connection(config, PATH, parts, redacted)

    @property
    def local(self) -> bool:
        """False: requests may cost, so tools are routed."""
        return False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """Deltas as they come, then the Reply; what was shown before an error stays shown."""
        body = as_bytes(self.wire(request))
        taken = frozenset(call.id for message in request.messages for call in message.calls)
        where = self._service.origin
        decoder = Decoder(request.model or self._config.model, where, self._service.redact, taken, self._limit)
        async with self._service.events(body) as events:
            async for event in events:
                if event.data.strip() == "[DONE]":
                    decoder.done()
                    break
                before = decoder.substance
                for delta in decoder.feed(_chunk(event, where)):
                    yield delta
                if decoder.substance > before:
                    events.heard()
                if decoder.complete:
                    events.finished()
        yield counted(decoder.finish(), len(body))

    def wire(self, request: Request) -> dict[str, Any]:
        """The body with what the configuration adds to it."""
        config = self._config
        dialect = Dialect(**{f.name: getattr(config, f.name) for f in fields(Dialect)})
        wire = to_wire(replace(request, model=request.model or config.model), dialect)
        if not config.usage:
            del wire["stream_options"]
        return {**config.body, **wire, **config.body}

    async def close(self) -> None:
        """Give back the connections."""
        await self._service.close()


def _chunk(event: ServerEvent, where: str) -> Any:
    chunk = event_json(event, where)
    return {"error": chunk} if event.event == "error" and not (isinstance(chunk, dict) and "error" in chunk) else chunk
