"""An intent is a script: a generator that asks for tool calls, is sent their results, and returns the answer.

The provider keeps nothing between requests: it plays the script from its beginning with the results that stand in
the history, up to the first step that has no result yet.
"""

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import field
from typing import Any

from palmclaw.core.errors import Fault, PalmclawError
from palmclaw.core.messages import ToolResult
from palmclaw.core.values import dataclass
from palmclaw.guard.trust import unwrapped
from palmclaw.providers.offline.salvage import value_in

ASK = "ask"
# Their results are nothing but what the answer needs.
READS = frozenset(
    {
        *("device_status", "location", "clipboard_get", "notifications_list", "apps_list", "contacts_search"),
        *("calendar_list", "sms_list", "calls_list", "media_list", "bluetooth_status", "alarms_list", "weather"),
        *("file_list", "file_find", "file_search"),
    }
)


@dataclass(frozen=True, slots=True)
class Call:
    """The next thing to do; the script is sent the result's value."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Question:
    """Something only the person can say; the script is sent what `understood` made of the next user message.

    `understood` gives None for a message that does not answer the question.
    """

    text: str
    understood: Callable[[str], Any]
    choices: tuple[str, ...] = ()


Step = Call | Question
Script = Generator[Step, Any, str]


class Failed(PalmclawError):
    """The call did not succeed; thrown into the script, which may know another way."""

    def __init__(self, tool: str, fault: Fault) -> None:
        super().__init__(fault.message)
        self.tool = tool
        self.code = fault.code


class NotOffered(PalmclawError):
    """The tool does not exist here."""

    def __init__(self, tool: str) -> None:
        super().__init__(tool)
        self.tool = tool


class Unreadable(PalmclawError):
    """The call succeeded, but its result cannot be read."""


@dataclass(frozen=True, slots=True)
class Halt:
    """Where a played script stands: at a step without a result, or at its end."""

    script: Script
    step: Step | None
    text: str = ""
    asked: bool = False

    @property
    def question(self) -> Question | None:
        return self.step if isinstance(self.step, Question) else None


def played(script: Script, results: Sequence[ToolResult], offered: Collection[str], sent: Any = None) -> Halt:
    """Run the script on these results; `sent` is what it gets first (an error is thrown), None if it has not begun."""
    waiting = list(results)
    error = sent if isinstance(sent, PalmclawError) else None
    while True:
        try:
            step = script.throw(error) if error else script.send(sent)
        except StopIteration as end:
            return Halt(script, None, str(end.value))
        error = None
        if isinstance(step, Question):
            return Halt(script, step, asked=_taken(waiting, ASK) is not None)
        result = _taken(waiting, step.tool)
        if result is None and step.tool in offered:
            return Halt(script, step)
        if result is None:
            error = NotOffered(step.tool)
        elif result.error is not None:
            error = Failed(step.tool, result.error)
        else:
            sent = value_in(unwrapped(result.content))
            unread = step.tool in READS and not isinstance(sent, dict)
            error = Unreadable(step.tool) if unread else None


def _taken(waiting: list[ToolResult], tool: str) -> ToolResult | None:
    return waiting.pop(0) if waiting and waiting[0].name == tool else None
