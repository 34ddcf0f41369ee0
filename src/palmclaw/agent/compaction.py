"""Sums up the older part of a conversation when there is no room for it; the log itself is never touched."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import field
from typing import Protocol

from palmclaw.agent.context import Crowd
from palmclaw.agent.interrupt import ended, until, waited
from palmclaw.agent.turn import Turn
from palmclaw.agent.window import earlier, heavy
from palmclaw.core.errors import AuthFailed, BudgetReached, PalmclawError, ProviderError, QuotaExceeded
from palmclaw.core.events import Compacted, ModelChanged
from palmclaw.core.messages import Media, Message, Role, Text, ToolCall, ToolResult, user_message
from palmclaw.core.ports import Finish, Provider, Reply, Request, Snapshots, Summary
from palmclaw.core.text import clipped, tokens
from palmclaw.core.traffic import SUBAGENT
from palmclaw.core.values import dataclass

HEADINGS = ("Decisions", "Open tasks", "Rules", "Pending requests", "Identifiers")
ANSWER = 1_500
"""Tokens of a summary, at most."""
TRIES = 2
"""A summary that is refused is asked for once more, with the reason."""
PATIENCE = 3
"""After so many turns in a row without a usable summary a part leaves without one; the next part is tried anew."""
REMEMBERED = 256
"""Conversations whose failures are counted."""
CHUNK = 12_000
"""Tokens that are summed up at a time where the model's window is not known; else two fifths of that."""
RESULT, WORDS = 600, 4_000
"""Characters of a result, and of what somebody said, that are read for a summary."""
NAMED = 12
"""Identifiers of the person's own words that are added where the summary has lost them."""
NAME = 200
"""Characters of an identifier; a longer one, such as a signed address, is not worth its room."""
_IDENTIFIER = re.compile(  # bounded in front of what decides, so that a long text costs by its length alone
    r"https?://\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}\.\w+|\+?\d[\d -]{6,}\d|(?:(?<!\w)\w{1,20}://|~?/)[\w./-]{3,}"
)
_OUR_MARKS = re.compile(
    r"</?(?:earlier|outside|history)\b[^>]*>|^\[(?:memory|summary|earlier)\]$", re.IGNORECASE | re.M
)
_LOG = logging.getLogger(__name__)


class Flush(Protocol):
    """Looks through a session's messages before `upto` once in a `cycle`; never fails."""

    def __call__(self, session: str, upto: int, *, cycle: int, model: str = "") -> Awaitable[bool]: ...


class Refused(PalmclawError):
    """There is no summary that could be used, and why."""

    code = "not_summed_up"


@dataclass(slots=True)
class Compaction:
    """Makes room in a conversation. `prompt` tells the model how to sum up; `failures` counts them by session.

    `flush` looks through what leaves the window for what is worth remembering, at the same time; `is_local` knows the
    models that cost nothing, whose words are no summary.
    """

    provider: Provider
    snapshots: Snapshots
    prompt: str
    flush: "Flush | None" = None
    is_local: Callable[[str], bool] = lambda model: False
    failures: dict[str, int] = field(default_factory=dict)

    async def make_room(self, turn: Turn, crowd: Crowd) -> AsyncGenerator[Compacted, None]:
        """Put a summary in place of what leaves the window; where there can be none, only let it leave.

        Without a summary nothing leaves while the model may still take it all, or while no model can be asked at all.
        Raises Interrupted, and ProviderError where the next request would come to nothing too.
        """
        turn.summed = True
        if crowd.free:
            await self.snapshots.sum_up(turn.session, _moved(crowd))
            return
        try:
            yield await self.sum_up(turn, crowd)
        except (Refused, ProviderError) as error:
            _LOG.warning("%s could not be summed up: %s", turn.session, error)
            if _no_model_can(error):
                if turn.overflows:
                    raise
            elif self._gives_up(turn):
                await self.snapshots.sum_up(turn.session, _moved(crowd))
                after = crowd.after + heavy(earlier(crowd.summary))
                yield Compacted(len(crowd.older), crowd.before, after, summed=False, reason=str(error))

    async def sum_up(self, turn: Turn, crowd: Crowd, focus: str = "") -> Compacted:
        """Put a summary in place of what leaves the window. Raises Refused, ProviderError, Interrupted."""
        flushing = asyncio.ensure_future(self._flushed(turn, crowd))
        try:
            summary = await self._summed_up(turn, crowd, focus)
            await waited(flushing, turn.interrupt)
        finally:
            await ended((flushing,))
        await self.snapshots.sum_up(turn.session, summary)
        self.failures.pop(turn.session, None)
        return Compacted(len(crowd.older), crowd.before, crowd.after + heavy(earlier(summary)))

    def _gives_up(self, turn: Turn) -> bool:
        """Whether a part leaves without a summary; counts the failure, and begins to count anew afterwards."""
        failures = self.failures.pop(turn.session, 0) + 1
        if turn.overflows or failures >= PATIENCE:
            return True
        while len(self.failures) >= REMEMBERED:
            self.failures.pop(next(iter(self.failures)))
        self.failures[turn.session] = failures
        return False

    async def _flushed(self, turn: Turn, crowd: Crowd) -> None:
        """What others read along, or a sub-agent's, is not remembered."""
        if self.flush is not None and turn.alone and not crowd.free and not turn.session.startswith(SUBAGENT):
            await self.flush(turn.session, crowd.upto, cycle=crowd.summary.upto, model=turn.model)

    async def _summed_up(self, turn: Turn, crowd: Crowd, focus: str) -> Summary:
        if crowd.free:
            raise Refused("the offline assistant sums nothing up")
        if not any(m.text.strip() for m in crowd.older):
            raise Refused("nothing to compact: nobody has said anything")
        told = crowd.summary.text
        limit = crowd.window * 2 // 5 if crowd.window else CHUNK
        for chunk in _chunks(crowd.older, max(limit - tokens(self.prompt) - ANSWER, 1_000)):
            told = await self._distilled(turn, told, chunk, focus)
        text = _with_identifiers(told, crowd.older)
        if tokens(text) >= heavy(crowd.older) + tokens(crowd.summary.text):
            raise Refused("the summary is not smaller than what it sums up")
        tainted = crowd.summary.tainted or any(m.tainted for m in crowd.older)
        private = crowd.summary.private or any(m.private for m in crowd.older)
        return Summary(crowd.upto, text, tainted, private, crowd.summary.trimmed)

    async def _distilled(self, turn: Turn, before: str, chunk: str, focus: str) -> str:
        """One summary of an earlier one and what came after it; never one inside another."""
        wish = f"\n\nGive the most room to: {focus}" if focus else ""
        earlier_on = f"The summary so far:\n{before}\n\n" if before else ""
        asked = [user_message(f"{earlier_on}What was said after that:\n{chunk}{wish}\n\nThe summary of all of it:")]
        for _ in range(TRIES):
            reply = await self._answer(turn, asked)
            text = _OUR_MARKS.sub("", reply.message.text).strip()
            flaw = _CUT.get(reply.finish) or _flaw(text)
            if not flaw:
                return text
            asked += [Message(Role.ASSISTANT, (Text(text or "(nothing)"),)), user_message(f"Not usable: {flaw}.")]
        raise Refused(flaw)

    async def _answer(self, turn: Turn, asked: Sequence[Message]) -> Reply:
        request = Request(
            "", self.prompt, tuple(asked), (), turn.session, {}, ANSWER, "compaction", turn.id, turn.model
        )
        async with aclosing(until(self.provider.stream(request), turn.interrupt)) as items:
            async for item in items:
                if isinstance(item, ModelChanged) and self.is_local(item.model):
                    raise Refused("only a model that costs nothing can be reached")
                if isinstance(item, Reply):
                    return item
        raise Refused("the model answered with nothing")


_CUT = {
    Finish.LENGTH: f"it did not come to its end; {ANSWER // 2} words are enough",
    Finish.FILTER: "the service's content filter cut it",
}


def _no_model_can(error: Refused | ProviderError) -> bool:
    """Whether it says nothing about the summary: no request would be answered just now."""
    return error.retryable or isinstance(error, AuthFailed | BudgetReached | QuotaExceeded)


def _flaw(text: str) -> str:
    """What is wrong with a summary; empty for one that can be used."""
    found = [line.removeprefix("## ").strip() for line in text.splitlines() if line.startswith("## ")]
    missing = [h for h in HEADINGS if h not in found]
    if missing:
        return f"it lacks the heading {', '.join(missing)}"
    if [h for h in found if h in HEADINGS] != list(HEADINGS):
        return f"the headings must be, in this order: {', '.join(HEADINGS)}"
    if tokens(text) > ANSWER * 2:
        return "it is too long"
    return ""


def _with_identifiers(text: str, older: Sequence[Message]) -> str:
    """The summary, with what the person named exactly and it has lost; the newest first."""
    own = [m.text for m in reversed(older) if m.role is Role.USER and not m.tainted and not m.sender]
    named = dict.fromkeys(found.strip(".,;:!?)") for t in own for found in _IDENTIFIER.findall(t))
    lost = [each for each in named if len(each) <= NAME and each not in text][:NAMED]
    return f"{text}\n{'; '.join(lost)}" if lost else text


def _moved(crowd: Crowd) -> Summary:
    """As before, but for what leaves the window."""
    old = crowd.summary
    return Summary(crowd.upto, old.text, old.tainted, old.private, old.trimmed)


def _chunks(messages: Iterable[Message], limit: int) -> list[str]:
    """What was said, in parts of at most so many tokens each."""
    chunks: list[str] = []
    part: list[str] = []
    for line in (line for m in messages for line in _lines(m)):
        if part and sum(map(tokens, part)) + tokens(line) > limit:
            chunks.append("\n".join(part))
            part = []
        part.append(line)
    return [*chunks, "\n".join(part)] if part else chunks


def _lines(message: Message) -> list[str]:
    return [line for part in message.parts if (line := _line(message, part))]


def _line(message: Message, part: object) -> str:
    """One part of the log as it is read for a summary; thoughts and stamps say nothing that lasts."""
    who = {Role.USER: message.sender or "Person", Role.ASSISTANT: "Agent"}.get(message.role, "")
    if isinstance(part, Text) and who and part.text.strip():
        return f"{who} ({message.at:%Y-%m-%d %H:%M}): {clipped(_OUR_MARKS.sub('', part.text), WORDS)}"
    if isinstance(part, ToolCall):
        return f"Agent called {part.name} {clipped(repr(part.arguments), RESULT)}"
    if isinstance(part, ToolResult):
        how = f"failed ({part.error.code})" if part.error else "said"
        return f"{part.name} {how}: {clipped(part.content, RESULT)}"
    if isinstance(part, Media):
        return f"{who} attached {part.name or part.id} ({part.mime})"
    return ""
