"""Every bound of a turn in one place, with its default and its range."""

from typing import Annotated

from palmclaw.core.schema import Between, Doc
from palmclaw.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """When a turn must stop by itself. Times are in seconds, sizes in characters."""

    turns: Annotated[int, Between(1, 16), Doc("turns at once, each in its own session")] = 2
    rounds: Annotated[int, Between(1, 100), Doc("model requests in one turn")] = 20
    result_chars: Annotated[int, Between(100, 20_000), Doc("characters of one tool result")] = 5_000
    context_messages: Annotated[int, Between(10, 200), Doc("messages of history in a request")] = 50
    context_tokens: Annotated[int, Between(2_000, 2_000_000), Doc("tokens of history in a request")] = 24_000
    memory_messages: Annotated[int, Between(10, 100), Doc("new messages after which memory is brought up to date")] = 50
    tool_seconds: Annotated[float, Between(5, 600), Doc("a tool call")] = 60.0
    permission_seconds: Annotated[float, Between(5, 600), Doc("a permission dialog")] = 60.0
    approval_seconds: Annotated[float, Between(1, 3_600), Doc("silence that counts as no")] = 600.0
    model_seconds: Annotated[float, Between(30, 600), Doc("a model request")] = 120.0
    connect_seconds: Annotated[float, Between(5, 120), Doc("reaching the model service")] = 20.0
    read_seconds: Annotated[float, Between(30, 600), Doc("silence of the model service")] = 120.0
    retries: Annotated[int, Between(0, 10), Doc("further tries of a model service that is busy or away")] = 4
    retry_seconds: Annotated[float, Between(0, 600), Doc("all those tries together")] = 60.0
    repeats: Annotated[int, Between(2, 20), Doc("same call, same result, before a turn ends")] = 3
    argument_chars: Annotated[int, Between(1_000, 10_000_000), Doc("characters of one call's arguments")] = 600_000
