"""A model that does what the newest messages ask for, step by step, and says so in the end.

A message reads `m17: ring a b; look c`; the answer, when every key has its outcome, begins with `m17 done`. All this
is a function of the request alone, so that a turn which is gone on with after a crash goes on where it was.
"""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from random import uniform

from tests.crash.windows import Windows

from palmclaw.core.events import TextDelta
from palmclaw.core.messages import Message, Role, Text, ToolCall, Usage
from palmclaw.core.plugin import Kind, Parts, plugin
from palmclaw.core.ports import Delta, Reply, Request
from palmclaw.core.session import INTERRUPTED, SKIPPED, is_further

AT_ONCE = 8
"""Calls in one reply."""
_ASKED = re.compile(r"(\w+): (.*)")
_REPORT = re.compile(r"\[Sub-agent \S+ \((subagent:\w+)\)")
_NOT_RUN = (INTERRUPTED.code, SKIPPED.code)


@dataclass(frozen=True, slots=True)
class CrashModelConfig:
    """[provider] with name = "crashmodel". `pause` is how long an answer takes at most, in seconds, from `least` on."""

    pause: float = 0.05
    least: float = 0.0
    model: str = "crash"


@plugin(Kind.PROVIDER, "crashmodel", CrashModelConfig)
def crashmodel(config: CrashModelConfig, parts: Parts) -> "CrashModel":
    """A model that thinks for a random while."""
    return CrashModel(config, Windows.of(os.environ))


@dataclass(frozen=True, slots=True)
class CrashModel:
    """Implements the Provider port."""

    config: CrashModelConfig
    windows: Windows
    local: bool = False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.windows.mark("before asking")
        said = answer(request.messages)
        await asyncio.sleep(uniform(self.config.least, self.config.pause))
        if isinstance(said, str):
            for piece in re.findall(r"\S+\s*", said):
                yield TextDelta(piece)
                await asyncio.sleep(0.002)
        self.windows.mark("after asking")
        parts = (Text(said),) if isinstance(said, str) else said
        yield Reply(Message(Role.ASSISTANT, parts, model=request.model), Usage(10, 5, requests=1))

    async def close(self) -> None:
        """Nothing is open but the page, which others write too."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one message asks for: calls as (tool, key), and the words that say that it is done."""

    id: str
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def done(self) -> str:
        return f"{self.id} done"


def answer(messages: Sequence[Message]) -> str | tuple[ToolCall, ...]:
    """The next calls of the first task that lacks some, or the word that all is done."""
    group = messages[_beginning(messages) :]
    said = " ".join(m.text for m in group if m.role is Role.ASSISTANT)
    tasks = [task for m in group if m.role is Role.USER for task in _tasks(m.text) if task.done not in said]
    settled = set(_settled(messages))
    for task in tasks:
        missing = [c for c in task.calls if c not in settled]
        if missing:
            return tuple(_call(tool, key) for tool, key in missing[:AT_ONCE])
    return "\n".join(f"{task.done}, and nothing else" for task in tasks) or "nothing to do"


def _beginning(messages: Sequence[Message]) -> int:
    """Where the messages of the newest turn begin."""
    found = [at for at, m in enumerate(messages) if m.role is Role.USER and not is_further(m)]
    return found[-1] if found else 0


def _tasks(text: str) -> Iterator[Task]:
    report, asked = _REPORT.match(text), _ASKED.match(text)
    if report:
        yield Task(report[1])
    elif asked:
        words = [part.split() for part in asked[2].split(";")]
        yield Task(asked[1], tuple((w[0], key) for w in words if w for key in w[1:]))


def _settled(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """The calls that were run, or may have been: those are never made again."""
    calls = {c.id: c for m in messages for c in m.calls}
    for result in (r for m in messages for r in m.results):
        if result.call_id in calls and (result.error is None or result.error.code not in _NOT_RUN):
            call = calls[result.call_id]
            yield call.name, str(call.arguments["task" if call.name == "delegate" else "key"]).partition(":")[0]


def _call(tool: str, key: str) -> ToolCall:
    if tool == "delegate":
        return ToolCall("", tool, {"task": f"{key}: ring {key}"})
    return ToolCall("", tool, {"key": key})
