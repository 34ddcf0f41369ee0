"""Every error PalmClaw raises on purpose; the class says who must act.

PalmclawError
├── ConfigError               the person must edit the configuration
├── StorageError              the disk or the database refused; the turn ends, nothing half-written stays
│   └── HomeBusy                  another process owns the home directory
├── SessionNotFound           no session of that name
├── ProviderError             the model service failed; speaks to the retry logic and then to the person
│   ├── AuthFailed                key missing or refused: never retried
│   ├── QuotaExceeded             the account has no credit left: never retried
│   │   └── OverRate                  one request alone is more than the account may send in a minute
│   ├── BudgetReached             the owner's own limit for a day: nothing was sent
│   ├── RateLimited               too many requests
│   ├── Unreachable               no connection to the service
│   │   ├── NobodyThere               nobody listens, or no such name: never retried
│   │   └── NoNetwork                 the phone itself is offline
│   ├── BadCertificate            the connection would not be secure: nothing was sent
│   ├── Unavailable               the service answered 5xx or timed out
│   │   └── Overloaded                it has too much to do
│   ├── ContextOverflow           the request does not fit the model's window
│   ├── ContentFiltered           the service will not answer this
│   ├── BadRequest                the service refuses the request as it is
│   │   ├── ModelNotFound             the service has no model of that name
│   │   └── NoEndpoint                nothing of this protocol at that path
│   ├── BadReply                  what came back is not what the protocol says
│   │   └── BadCall                   the service could not read its own model's tool call
│   └── StreamCut                 the answer stopped in the middle
└── ToolError                 shown to the model as a structured error; the turn goes on
    ├── BadArguments              schema problems, each with its path
    ├── Denied                    the policy or the owner said no
    ├── OutOfBounds               a path or an address left its allowed area
    └── DeviceError               the phone refused or lacks the capability
"""

from typing import TYPE_CHECKING

from palmclaw.core.values import dataclass

if TYPE_CHECKING:
    from palmclaw.core.messages import Usage


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure as data: what went wrong, and what to do.

    `retryable`: the same thing, tried again as it is, may succeed; where something must be changed first, the hint says
    what. It promises nobody's trying: who asks again by itself decides by the kind of error.
    """

    code: str
    message: str
    retryable: bool = False
    hint: str = ""


class PalmclawError(Exception):
    """Base of all deliberate errors."""

    code = "error"
    retryable = False
    hint: str = ""

    @property
    def fault(self) -> Fault:
        return Fault(self.code, str(self), self.retryable, self.hint)


class ConfigError(PalmclawError):
    """The configuration is wrong at `key`."""

    code = "config"

    def __init__(self, key: str, problem: str, hint: str = "") -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.hint = hint


class StorageError(PalmclawError):
    """The disk or the database refused."""

    code = "storage"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class HomeBusy(StorageError):
    """Another process owns the home directory."""

    code = "home_busy"


class SessionNotFound(PalmclawError):
    """No session of that name."""

    code = "session_not_found"


class ProviderError(PalmclawError):
    """The model service failed.

    `retry_after` is how many seconds it asks to wait, where it says so; `began` that it had begun to work on the
    request, so that it may cost something; `usage` what was counted by then. An answer that is none (BadReply) is not
    `retryable`: the same address answers the same again.
    """

    code = "provider"

    def __init__(self, message: str, hint: str = "", retry_after: float | None = None, *, began: bool = False) -> None:
        super().__init__(message)
        self.hint = hint or self.hint
        self.retry_after = retry_after
        self.began = began
        self.usage: Usage | None = None


class AuthFailed(ProviderError):
    code = "auth"
    hint = "Check the key: palmclaw config set provider.api_key KEY"


class QuotaExceeded(ProviderError):
    code = "quota"
    hint = "The account has no credit left: top it up or choose another service."


class OverRate(QuotaExceeded):
    """One request alone is more than the account may send in a minute; a pause or a summary would not help."""

    hint = "Start a new conversation with /new, choose another service, or raise the limit of the account."


class BudgetReached(ProviderError):
    code = "budget"
    hint = "It starts anew at midnight. To spend more today: palmclaw config set budget.tokens N (or budget.usd)"


class RateLimited(ProviderError):
    code = "rate_limited"
    retryable = True
    hint = "The service asks to slow down: try again in a moment."


class Unreachable(ProviderError):
    code = "unreachable"
    retryable = True
    hint = "Check the address (palmclaw config get provider.base_url) and the network."


class NobodyThere(Unreachable):
    """A refused connection has been tried again where connections are made."""


class NoNetwork(Unreachable):
    code = "no_network"
    hint = "Is the phone online? Without a network the offline assistant still answers: /model offline"


class BadCertificate(ProviderError):
    code = "bad_certificate"
    hint = "Check the address, the clock and the network. A server of your own: provider.ca_file names its certificate."


class Unavailable(ProviderError):
    code = "unavailable"
    retryable = True
    hint = "The service has trouble: try again in a moment."


class Overloaded(Unavailable):
    code = "overloaded"
    hint = "The service has too much to do: try again in a moment, or choose another model."


class ContextOverflow(ProviderError):
    code = "context_too_long"
    hint = "Sum it up with /compact, begin anew with /new, or choose a model with a larger window."


class ContentFiltered(ProviderError):
    code = "content_filter"
    hint = "Say it in other words, or choose another model."


class BadRequest(ProviderError):
    code = "bad_request"


class ModelNotFound(BadRequest):
    code = "model_not_found"
    hint = "Check the model's name: palmclaw config set provider.model NAME"


class NoEndpoint(BadRequest):
    code = "no_endpoint"
    hint = "Is the address right? It mostly ends in /v1: palmclaw config get provider.base_url"


class BadReply(ProviderError):
    code = "bad_reply"
    hint = "Is this the address of a model service? See: palmclaw config get provider.base_url"


class BadCall(BadReply):
    code = "bad_call"
    retryable = True
    hint = "The model wrote a tool call that its service could not read: ask for something smaller."


class StreamCut(ProviderError):
    code = "stream_cut"
    retryable = True
    hint = "Try again. What had arrived, if anything, has been kept: say “go on” to continue."


class ToolError(PalmclawError):
    """A tool call failed in a way the model should hear about.

    `code` is a stable word such as `not_found`; `hint` says what to do next.
    """

    def __init__(self, code: str, message: str, *, retryable: bool = False, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.hint = hint


class BadArguments(ToolError):
    """The arguments do not fit the tool's schema; `problems` has one line each."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("invalid_arguments", "; ".join(problems), retryable=True, hint="Correct these and call again.")
        self.problems = problems


class Denied(ToolError):
    """The policy or the owner refused the call."""


class OutOfBounds(ToolError):
    """A path or an address left its allowed area."""


class DeviceError(ToolError):
    """The device refused, or lacks the capability."""
