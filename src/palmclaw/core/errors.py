"""Every error PalmClaw raises on purpose; the class says who must act.

PalmclawError
├── ConfigError               the person must edit the configuration
├── StorageError              the disk or the database refused; the turn ends, nothing half-written stays
│   └── HomeBusy                  another process owns the home directory
├── SessionNotFound           no session of that name
├── ProviderError             the model service failed; speaks to the retry logic and then to the person
│   ├── AuthFailed                key missing or refused: never retried
│   ├── QuotaExceeded             the account has no credit left: never retried
│   ├── RateLimited               carries retry_after
│   ├── Unreachable               nobody answers at that address
│   ├── Unavailable               the service answered 5xx or timed out
│   ├── ContextOverflow           the request does not fit the model's window
│   ├── BadRequest                the service refuses the request as it is
│   ├── BadReply                  what came back is not what the protocol says
│   └── StreamCut                 the answer stopped in the middle
└── ToolError                 shown to the model as a structured error; the turn goes on
    ├── BadArguments              schema problems, each with its path
    ├── Denied                    the policy or the owner said no
    ├── OutOfBounds               a path or an address left its allowed area
    └── DeviceError               the phone refused or lacks the capability
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure as data: what went wrong, whether trying again may help, and what to do."""

    code: str
    message: str
    retryable: bool = False
    hint: str = ""


class PalmclawError(Exception):
    """Base of all deliberate errors."""

    code = "error"
    retryable = False
    hint = ""

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
    """The model service failed."""

    code = "provider"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.hint


class AuthFailed(ProviderError):
    code = "auth"
    hint = "Check the key: palmclaw config set provider.api_key KEY"


class QuotaExceeded(ProviderError):
    code = "quota"
    hint = "The account has no credit left: top it up or choose another service."


class RateLimited(ProviderError):
    code = "rate_limited"
    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message, "The service asks to slow down: try again in a moment.")
        self.retry_after = retry_after


class Unreachable(ProviderError):
    code = "unreachable"
    retryable = True
    hint = "Check the address (palmclaw config get provider.base_url) and the network."


class Unavailable(ProviderError):
    code = "unavailable"
    retryable = True
    hint = "The service has trouble: try again in a moment."


class ContextOverflow(ProviderError):
    code = "context_too_long"
    hint = "Start a new conversation with /new, or choose a model with a larger window."


class BadRequest(ProviderError):
    code = "bad_request"


class BadReply(ProviderError):
    code = "bad_reply"
    retryable = True
    hint = "Is this the address of a model service? See: palmclaw config get provider.base_url"


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
