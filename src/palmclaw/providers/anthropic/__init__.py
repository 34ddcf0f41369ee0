"""Anthropic's Messages: the protocol of Claude, and of services and gateways that took it over."""

import re
from typing import Annotated

from palmclaw.core.errors import ConfigError
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.schema import Between, Doc
from palmclaw.core.values import dataclass
from palmclaw.guard.secrets import redacted
from palmclaw.net.ceilings import least
from palmclaw.net.endpoints import Path
from palmclaw.net.learning import Notes
from palmclaw.net.service import Connection, KeyHeader, ServiceConfig
from palmclaw.net.telling import Speech
from palmclaw.providers.anthropic.decoder import Decoder
from palmclaw.providers.anthropic.lessons import Memory
from palmclaw.providers.anthropic.wire import LEAST_THINKING, PROTOCOL, UNKNOWN_CEILING, Terms, to_wire

__all__ = ["AnthropicConfig", "Decoder", "Terms", "anthropic", "to_wire"]

PATH = Path("/messages", versioned=True)
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

    def terms(self, model: str) -> Terms:
        """How a model is asked, as far as the configuration knows."""
        most = least(self.max_tokens, self.ceiling_of(model)) or UNKNOWN_CEILING
        return Terms(most, self.thinking, cache=self.cache)


@plugin(Kind.PROVIDER, "anthropic", AnthropicConfig)
def anthropic(config: AnthropicConfig, parts: Parts) -> Speech[Terms]:
    """Connect to any service that speaks the protocol. Raises ConfigError."""
    _check(config, parts.table)
    service = Connection(config, PATH, parts, redacted, {"anthropic-version": config.version})
    memory = Memory(Notes(parts.findings, PROTOCOL, service.origin), config.terms)
    return Speech(service, memory, to_wire, Decoder)


def _check(config: AnthropicConfig, table: str) -> None:
    if 0 < config.thinking < LEAST_THINKING:
        raise ConfigError(f"{table}.thinking", f"must be 0 or at least {LEAST_THINKING}")
    if 0 < config.max_tokens <= config.thinking:
        hint = f"palmclaw config set {table}.max_tokens 0"
        raise ConfigError(f"{table}.thinking", f"must be less than max_tokens, which is {config.max_tokens}", hint)
    if not _VERSION.fullmatch(config.version):
        raise ConfigError(f"{table}.version", "must be a date such as 2023-06-01")
