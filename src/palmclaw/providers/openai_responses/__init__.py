"""OpenAI's Responses: the protocol of newer models of OpenAI, Azure and xAI, and of some local servers."""

from typing import Annotated, Literal

from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.schema import Doc
from palmclaw.core.values import dataclass
from palmclaw.guard.secrets import redacted
from palmclaw.net.endpoints import Path
from palmclaw.net.learning import Notes
from palmclaw.net.service import Connection, ServiceConfig
from palmclaw.net.telling import Speech
from palmclaw.providers.openai_responses.decoder import Decoder
from palmclaw.providers.openai_responses.lessons import Memory
from palmclaw.providers.openai_responses.wire import PROTOCOL, Terms, to_wire

__all__ = ["Decoder", "OpenAIResponsesConfig", "Terms", "openai_responses", "to_wire"]

PATH = Path("/responses")
Effort = Literal["", "none", "minimal", "low", "medium", "high", "xhigh", "max"]


@dataclass(frozen=True, slots=True)
class OpenAIResponsesConfig(ServiceConfig):
    """[provider] with name = "openai_responses", or with a service of the catalogue that speaks it."""

    base_url: Annotated[str, Doc("address of the service, mostly ending in /v1")] = "https://api.openai.com/v1"
    effort: Annotated[Effort, Doc("how much the model thinks; empty: as much as it likes")] = ""

    def terms(self, model: str) -> Terms:
        """How a model is asked, as far as the configuration knows."""
        return Terms(self.effort, most=self.ceiling_of(model))


@plugin(Kind.PROVIDER, "openai_responses", OpenAIResponsesConfig)
def openai_responses(config: OpenAIResponsesConfig, parts: Parts) -> Speech[Terms]:
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    service = Connection(config, PATH, parts, redacted)
    memory = Memory(Notes(parts.findings, PROTOCOL, service.origin), config.terms)
    return Speech(service, memory, to_wire, Decoder)
