"""One request to one model service, and what it counts for however it ends."""

from collections.abc import AsyncGenerator
from dataclasses import field, replace

from palmclaw.agent.window import weight
from palmclaw.core.errors import ConfigError, ProviderError
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Usage
from palmclaw.core.ports import Delta, Provider, Reply, Request
from palmclaw.core.values import dataclass
from palmclaw.runtime.budget import estimated, weighed


@dataclass(slots=True)
class Heard:
    """One request to one service, and what came of it."""

    provider: Provider
    request: Request
    words: list[str] = field(default_factory=list)
    reply: Reply | None = None
    error: ProviderError | ConfigError | None = None

    async def deltas(self) -> AsyncGenerator[Delta, None]:
        stream = self.provider.stream(self.request)
        try:
            async for delta in stream:
                if isinstance(delta, TextDelta | ReasoningDelta):
                    self.words.append(delta.text)
                elif isinstance(delta, Reply):
                    self.reply = delta
                yield delta
        except (ProviderError, ConfigError) as error:
            self.error = error
            raise
        finally:
            if close := getattr(stream, "aclose", None):
                await close()

    def usage(self) -> Usage | None:
        """What the request counts for, estimated where the service did not say; None where nothing was done."""
        error = self.error
        counted = self.reply.usage if self.reply else error.usage if isinstance(error, ProviderError) else None
        if counted is not None and (self.provider.local or (not counted.estimated and counted.input)):
            return replace(counted, requests=1)
        if error is not None and not self.words and not (isinstance(error, ProviderError) and error.began):
            return None
        said = weight(self.reply.message) if self.reply else weighed("".join(self.words))
        return Usage(estimated(self.request), said, requests=1, estimated=True)
