"""One model request: deltas as they come, then the reply made fit for the log."""

import re
import secrets
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import field, replace

from palmclaw.agent.colour import coloured
from palmclaw.agent.interrupt import Interrupt, until
from palmclaw.core.events import ModelChanged, ReasoningDelta, Retrying, TextDelta
from palmclaw.core.messages import Message, Part, Reasoning, Role, Text, ToolCall, utc_now
from palmclaw.core.ports import Provider, Reply, Request
from palmclaw.core.session import projected
from palmclaw.core.textcalls import calls_in_text
from palmclaw.core.values import dataclass

_MAY_BE_CALL = re.compile(r"\s*(?:$|[\[{<`])")
Seen = TextDelta | ReasoningDelta | Retrying | ModelChanged
_NOISE = re.compile(r"[\s\\\"']+")


@dataclass(slots=True)
class Asking:
    """Streams one request. A text that may turn out to be a call is held back until that is known.

    Afterwards `reply` is the provider's reply with its calls named and found, or None when it failed on the way;
    `shown` is the text that has already been seen.
    """

    provider: Provider
    request: Request
    shown: str = ""
    reply: Reply | None = None
    _held: str = ""
    _thought: list[str] = field(default_factory=list)

    async def deltas(self, interrupt: Interrupt) -> AsyncGenerator[Seen, None]:
        """What is seen while the model speaks. Raises ProviderError and Interrupted."""
        async with aclosing(until(self.provider.stream(self.request), interrupt)) as items:
            async for item in items:
                if isinstance(item, Reply):
                    self.reply = item
                elif (seen := self._seen(item)) is not None:
                    yield seen
        if self.reply is not None:
            self.reply = finished(self.reply, self.request)
        if self._held and not (self.reply and self.reply.message.calls):
            yield self._release("")

    def partial(self) -> tuple[Part, ...]:
        """What had arrived when the stream failed."""
        thought = (Reasoning("".join(self._thought)),) if self._thought else ()
        text = self.shown + self._held
        return (*thought, Text(text)) if text.strip() else ()

    def _seen(self, item: Seen) -> Seen | None:
        if isinstance(item, ReasoningDelta):
            self._thought.append(item.text)
        if not isinstance(item, TextDelta):
            return item
        if not self.shown and _MAY_BE_CALL.match(self._held + item.text):
            self._held += item.text
            return None
        return self._release(item.text)

    def _release(self, text: str) -> TextDelta:
        released = TextDelta(self._held + text)
        self.shown, self._held = self.shown + released.text, ""
        return released


def finished(reply: Reply, request: Request) -> Reply:
    """The reply with text-form calls read and every call given an id of its own."""
    message = reply.message
    if not message.calls and (calls := text_calls(message.text, request)):
        parts = tuple(p for p in message.parts if not isinstance(p, Text))
        message = replace(message, parts=(*parts, *calls))
    return replace(reply, message=coloured(_named(message, _ids(request.messages)), request))


def text_calls(text: str, request: Request) -> tuple[ToolCall, ...]:
    """Calls that the whole text spells out, unless the text only quotes what a tool or a stranger said."""
    calls = calls_in_text(text, {t.name for t in request.tools})
    if not calls:
        return ()
    spoken = _NOISE.sub("", text.strip().strip("`"))
    quoted = (_NOISE.sub("", t) for m in request.messages for t in _foreign(m))
    return () if any(spoken in q for q in quoted) else calls


def _foreign(message: Message) -> tuple[str, ...]:
    own = (message.text,) if message.tainted else ()
    return (*own, *(r.content for r in message.results))


def _ids(messages: tuple[Message, ...]) -> set[str]:
    return {c.id for m in messages for c in m.calls}


def _named(message: Message, taken: Collection[str]) -> Message:
    """Blank, doubled and already used ids are replaced, so that each result finds its one call."""
    used = set(taken)
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            if not part.id.strip() or part.id in used:
                part = replace(part, id=f"call_{secrets.token_hex(6)}")
            used.add(part.id)
        parts.append(part)
    return replace(message, parts=tuple(parts))


def says_nothing(message: Message) -> bool:
    """True for a reply with neither words nor calls."""
    return not message.calls and not projected((replace(message, role=Role.ASSISTANT, at=utc_now()),))
