"""How long to wait before a model service is asked again, and how long to leave a failing one alone. Pure."""

import random
from collections.abc import Callable

from palmclaw.core.errors import (
    AuthFailed,
    BadRequest,
    ConfigError,
    ContentFiltered,
    ContextOverflow,
    ModelNotFound,
    NobodyThere,
    NoEndpoint,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
    Unreachable,
)
from palmclaw.core.values import dataclass

FIRST, CAP = 1.0, 30.0
SHORT, LONG, LONGEST = 60.0, 600.0, 900.0
_AGAIN = (RateLimited, Unavailable, Unreachable, StreamCut)
_REFUSED = (BadRequest, ContextOverflow, ContentFiltered)


@dataclass(frozen=True, slots=True)
class Patience:
    """`retries` of one service, all within `seconds` of its first failure."""

    retries: int = 4
    seconds: float = 60.0
    chance: Callable[[], float] = random.random

    def pause(self, error: ProviderError, failures: int, passed: float) -> float | None:
        """Seconds until the next try after the `failures`-th failure, `passed` seconds after the first; None: give up.

        Doubles from one second, a quarter more or less by chance, at most 30; what the service asks for is the least.
        """
        if not isinstance(error, _AGAIN) or isinstance(error, NobodyThere) or failures > self.retries:
            return None
        wait = min(CAP, FIRST * 2.0 ** (failures - 1) * (0.75 + self.chance() / 2))
        wait = max(wait, error.retry_after or 0.0)
        return wait if passed + wait <= self.seconds else None


def is_for_others(error: Exception) -> bool:
    """Whether another service may succeed where this one failed; a refused request would be refused there too."""
    if isinstance(error, ModelNotFound | NoEndpoint | ConfigError):
        return True
    return isinstance(error, ProviderError) and not isinstance(error, _REFUSED)


def rest(error: Exception, times: int) -> float:
    """Seconds for which a service that failed `times` times in a row is passed over."""
    if isinstance(error, AuthFailed | QuotaExceeded | ModelNotFound):
        return LONG
    asked = error.retry_after if isinstance(error, ProviderError) and error.retry_after else 0.0
    return max(asked, min(LONGEST, SHORT * 2.0 ** (times - 1)))
