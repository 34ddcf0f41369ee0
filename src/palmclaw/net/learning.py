"""A refused request is asked again in other words where the refusal says which; what helped is remembered."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Generic, Protocol, TypeVar

from palmclaw.core.errors import BadRequest, ContextOverflow
from palmclaw.core.ports import Findings, Request
from palmclaw.core.values import dataclass
from palmclaw.core.wire import as_bytes
from palmclaw.net.ceilings import LEAST
from palmclaw.net.service import Connection
from palmclaw.net.stream import EventStream

LESSONS = 3
"""How often one request is asked again: no protocol has more to learn."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Lesson(Generic[T]):
    """How to ask `now`, and how to ask from the beginning `later`."""

    now: T
    later: T


class Memory(Protocol[T]):
    """How the models of one service want to be asked, as far as that is known."""

    def terms(self, model: str) -> T: ...

    def taught(self, words: str, asked: Lesson[T], request: Request) -> Lesson[T] | None:
        """What a refusal in these words says should be asked for instead of what was `asked`; None: nothing new."""
        ...

    def keep(self, model: str, later: T) -> None:
        """Remember what a service accepted after it had refused."""
        ...


@dataclass(frozen=True, slots=True)
class Notes:
    """What was found out about the models of one service, kept beyond this process."""

    findings: Findings
    protocol: str
    origin: str

    def read(self, what: str, model: str) -> str:
        """Empty where nothing is known."""
        return self.findings.get(self._key(what, model)) or ""

    def number(self, what: str, model: str) -> int:
        """0 where nothing is known, or nothing that can be true."""
        found = self.read(what, model)
        number = int(found) if found.isdecimal() and len(found) < 9 else 0
        return number if number >= LEAST else 0

    def write(self, what: str, model: str, value: str) -> None:
        """Put down what is true of the model from now on."""
        self.findings.put(self._key(what, model), value)

    def _key(self, what: str, model: str) -> str:
        return f"{self.protocol} {what} {self.origin} {model}"


@asynccontextmanager
async def answered(
    service: Connection, request: Request, memory: Memory[T], wire: Callable[[Request, T], dict[str, Any]]
) -> AsyncIterator[EventStream]:
    """The open answer, after as many refusals as taught how to ask; nothing is learned from what did not help."""
    async with AsyncExitStack() as stack:
        known = memory.terms(request.model)
        asked, lessons = Lesson(known, known), LESSONS
        while True:
            try:
                events = await stack.enter_async_context(service.events(as_bytes(wire(request, asked.now))))
                break
            except (BadRequest, ContextOverflow) as error:
                lesson = memory.taught(_words(error), asked, request) if lessons else None
                if lesson is None:
                    raise
                asked, lessons = lesson, lessons - 1
        if asked.later != known:
            memory.keep(request.model, asked.later)
        yield events


def _words(error: Exception) -> str:
    """The service's own words, without ours before them, in whose address and status there are numbers too."""
    return str(error).partition(": ")[2]
