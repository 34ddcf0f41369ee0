"""OpenAI's chat completions: the protocol that most model services and local servers speak."""

from dataclasses import fields
from typing import Annotated, Literal

from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.schema import Doc
from palmclaw.core.values import dataclass
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path
from palmclaw.net.learning import Notes
from palmclaw.net.service import Connection, ServiceConfig
from palmclaw.net.telling import Speech
from palmclaw.providers.openai_chat.decoder import Decoder
from palmclaw.providers.openai_chat.lessons import Memory
from palmclaw.providers.openai_chat.wire import PROTOCOL, Dialect, TokenField, to_wire

__all__ = ["Decoder", "Dialect", "OpenAIChatConfig", "openai_chat", "to_wire"]

PATH = Path("/chat/completions")


@dataclass(frozen=True, slots=True)
class OpenAIChatConfig(ServiceConfig):
    """[provider] with name = "openai_chat", or with a service of the catalogue that speaks it."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = "https://api.openai.com/v1"
    usage: Annotated[bool, Doc("ask for token counts; false where the service refuses stream_options")] = True
    system_role: Annotated[Literal["system", "developer", "user"], Doc("who gives the rules")] = "system"
    token_field: Annotated[TokenField, Doc("bounds the answer")] = "max_tokens"
    reasoning_field: Annotated[str, Doc("under which name thoughts go back; empty: never")] = ""
    schema_without: Annotated[tuple[str, ...], Doc("JSON Schema words the service refuses")] = ()
    call_ids: Annotated[Literal["any", "nine"], Doc("nine: exactly nine letters or digits")] = "any"
    call_signature: Annotated[Literal["", "google"], Doc("what a call of another model's making must carry")] = ""

    def dialect(self, model: str) -> Dialect:
        """How a model is asked, as far as the configuration knows."""
        set_here = {f.name: getattr(self, f.name) for f in fields(Dialect)}
        return Dialect(**{**set_here, "ceiling": self.ceiling_of(model)})


@plugin(Kind.PROVIDER, "openai_chat", OpenAIChatConfig)
def openai_chat(config: OpenAIChatConfig, parts: Parts) -> Speech[Dialect]:
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    service = Connection(config, PATH, parts, redacted)
    memory = Memory(Notes(parts.findings, PROTOCOL, service.origin), config.dialect)
    return Speech(service, memory, to_wire, Decoder)
