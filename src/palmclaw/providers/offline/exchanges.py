"""The conversation as the assistant sees it: what the person said, and what came of it."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from palmclaw.core.messages import Message, Role, ToolResult
from palmclaw.core.session import is_further
from palmclaw.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """One user message, the results behind it and the last words said to it.

    `earlier` are messages of the same turn that had no answer of their own when this one came.
    """

    text: str
    at: datetime
    results: tuple[ToolResult, ...] = ()
    said: str = ""
    earlier: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it ended with a question, so that the next message may be the answer."""
        return any(r.name == "ask" for r in self.results) or self.said.rstrip().endswith(("?", "？"))


def exchanges(messages: Iterable[Message]) -> tuple[Exchange, ...]:
    """The conversation cut at its user messages; what stands before the first is left out."""
    found: list[Exchange] = []
    for message in messages:
        if message.role is Role.USER and message.text.strip():
            new = Exchange(message.text.strip(), message.at)
            if found and not found[-1].said and is_further(message):
                before = found.pop()
                new = replace(new, results=before.results, earlier=(*before.earlier, before.text))
            found.append(new)
        elif found:
            last = found[-1]
            said = message.text if message.role is Role.ASSISTANT and message.text.strip() else last.said
            found[-1] = replace(last, results=last.results + message.results, said=said)
    return tuple(found)
