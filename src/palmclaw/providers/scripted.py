"""A provider that follows a script: for tests, demos and documentation. A product, not a mock."""

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from palmclaw.core.codec import decode
from palmclaw.core.errors import (
    AuthFailed,
    BadArguments,
    BadCall,
    BadReply,
    BadRequest,
    ConfigError,
    ContextOverflow,
    ModelNotFound,
    NoNetwork,
    Overloaded,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    StreamCut,
    Unavailable,
    Unreachable,
)
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Message, Reasoning, Role, Text, ToolCall, Usage
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Finish, Reply, Request
from palmclaw.core.schema import Between, Doc
from palmclaw.core.values import dataclass

Failure = Literal[
    "",
    "empty",
    "rate_limited",
    "unavailable",
    "unreachable",
    "auth",
    "quota",
    "overflow",
    "bad_request",
    "bad_reply",
    "bad_call",
    "model_not_found",
    "no_network",
    "overloaded",
    "cut",
]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a script; the id is given when it is said."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One answer: thoughts, text and calls after a pause, before which it may begin to speak.

    With `error`, the text comes first (only `after` characters of it, where that is given) and then the failure.
    """

    text: Annotated[str, Doc("streamed in pieces")] = ""
    calls: Annotated[tuple[Call, ...], Doc("tool calls")] = ()
    reasoning: Annotated[str, Doc("thoughts")] = ""
    error: Annotated[Failure, Doc("how it fails; empty: an answer with nothing in it")] = ""
    after: Annotated[int | None, Doc("characters said before the error")] = None
    pause: Annotated[float, Between(0, 3600), Doc("seconds before it answers")] = 0.0
    begins: Annotated[str, Doc("text that comes before the pause")] = ""


@dataclass(frozen=True, slots=True)
class Script:
    """A file of steps; with `repeat` it starts over at its end."""

    steps: tuple[Step, ...]
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class ScriptedConfig:
    """[provider] with name = "scripted"."""

    script: Annotated[str, Doc("a TOML or JSON file with a list named steps")]


Answer = Step | str | ToolCall | Call | tuple[str | ToolCall | Call, ...] | list[str | ToolCall | Call] | ProviderError
Scene = Answer | Callable[[Request], Answer]


@plugin(Kind.PROVIDER, "scripted", ScriptedConfig)
def scripted(config: ScriptedConfig, parts: Parts) -> "Scripted":
    """Follow the script in a file; a relative path is meant from the home directory. Raises ConfigError."""
    path = Path(config.script).expanduser()
    script = read_script(path if path.is_absolute() else parts.home / path)
    return Scripted(script.steps, repeat=script.repeat)


def call(name: str, **arguments: Any) -> Call:
    """One tool call for a script: `call("device_status", fields=["battery"])`."""
    return Call(name, arguments)


def read_script(path: Path) -> Script:
    """The script in a file, or what is wrong with it."""
    try:
        text = path.read_text("utf-8")
        value = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return decode(Script, {"steps": value} if isinstance(value, list) else value)
    except OSError as error:
        raise ConfigError("provider.script", f"cannot read {path.name}: {error.strerror}") from error
    except (ValueError, BadArguments) as error:
        raise ConfigError("provider.script", f"{path.name}: {error}") from error


class Scripted:
    """Answers each request with the next scene and remembers what it was asked.

    A scene is a text, a call, several of both, a `Step`, an error, or a function of the request that makes one.
    """

    def __init__(
        self,
        steps: Iterable[Scene] = (),
        *,
        repeat: bool = False,
        piece: int = 12,
        local: bool = False,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.steps = list(steps)
        self.requests: list[Request] = []
        self.closed = 0
        self.usage = Usage(input=10, output=5, requests=1)
        self._again = tuple(self.steps) if repeat else ()
        self._piece = piece
        self._local = local
        self._sleep = sleep
        self._calls = 0

    @property
    def local(self) -> bool:
        """As it was made: a script costs nothing, but plays a service that does."""
        return self._local

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        """The next scene."""
        self.requests.append(request)
        step = self._next(request)
        for piece in self._pieces(step.begins):
            yield TextDelta(piece)
        if step.pause:
            await self._sleep(step.pause)
        for piece in self._pieces(step.reasoning):
            yield ReasoningDelta(piece)
        for piece in self._pieces(step.text):
            yield TextDelta(piece)
        if step.error:
            raise self._failed(step)
        yield self._reply(step, request)

    async def close(self) -> None:
        """Only counted."""
        self.closed += 1

    def _failed(self, step: "_Spoken") -> ProviderError:
        error = _ERRORS[step.error]()
        error.began = bool(step.begins or step.text or step.reasoning) or step.error == "cut"
        return error

    def _next(self, request: Request) -> "_Spoken":
        self.steps = self.steps or list(self._again)
        if not self.steps:
            raise ProviderError("The script has no more steps.")
        scene = self.steps.pop(0)
        answer = scene(request) if callable(scene) else scene
        if isinstance(answer, ProviderError):
            raise answer
        return self._spoken(answer)

    def _spoken(self, answer: Answer) -> "_Spoken":
        if isinstance(answer, Step):
            if answer.error == "empty":
                return _Spoken(pause=answer.pause)
            calls = tuple(self._named(c) for c in answer.calls)
            text = answer.text[: answer.after] if answer.error else answer.text
            return _Spoken(text, calls, answer.reasoning, answer.error, answer.pause, answer.begins)
        parts = answer if isinstance(answer, tuple | list) else (answer,)
        text = "".join(p for p in parts if isinstance(p, str))
        return _Spoken(text, tuple(self._named(p) for p in parts if isinstance(p, Call | ToolCall)))

    def _named(self, said: Call | ToolCall) -> ToolCall:
        found = said if isinstance(said, ToolCall) else ToolCall("", said.name, said.arguments)
        if found.id:
            return found
        self._calls += 1
        return replace(found, id=f"call_{self._calls}")

    def _pieces(self, text: str) -> list[str]:
        return [text[i : i + self._piece] for i in range(0, len(text), self._piece)]

    def _reply(self, step: "_Spoken", request: Request) -> Reply:
        thoughts = (Reasoning(step.reasoning),) if step.reasoning else ()
        words = (Text(step.begins + step.text),) if step.begins + step.text else ()
        message = Message(Role.ASSISTANT, (*thoughts, *words, *step.calls), model=request.model)
        finish = Finish.TOOLS if step.calls else Finish.STOP
        return Reply(message, self.usage, finish)


@dataclass(frozen=True, slots=True)
class _Spoken:
    """A step whose calls have their ids."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    error: Failure = ""
    pause: float = 0.0
    begins: str = ""


_ERRORS: Mapping[str, Callable[[], ProviderError]] = {
    "rate_limited": lambda: RateLimited("The script says: too many requests.", retry_after=1.0),
    "unavailable": lambda: Unavailable("The script says: the service has trouble."),
    "unreachable": lambda: Unreachable("The script says: nobody answers."),
    "auth": lambda: AuthFailed("The script says: the key is refused."),
    "quota": lambda: QuotaExceeded("The script says: no credit left."),
    "overflow": lambda: ContextOverflow("The script says: the request is too long."),
    "bad_request": lambda: BadRequest("The script says: the request is refused."),
    "bad_reply": lambda: BadReply("The script says: the answer makes no sense."),
    "bad_call": lambda: BadCall("The script says: the tool call cannot be read."),
    "model_not_found": lambda: ModelNotFound("The script says: there is no such model."),
    "no_network": lambda: NoNetwork("The script says: there is no network."),
    "overloaded": lambda: Overloaded("The script says: the service has too much to do."),
    "cut": lambda: StreamCut("The script says: the answer stops in the middle."),
}
