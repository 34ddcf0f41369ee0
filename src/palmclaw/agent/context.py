"""Builds each request from what is stored; bytes that do not change come first, so that a provider's cache holds."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from palmclaw.agent.routing import IDLE, ModuleRoutes
from palmclaw.agent.turn import Turn
from palmclaw.agent.window import shown
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Role, Stamp, Text
from palmclaw.core.ports import Log, MediaStore, Request, Snapshot, Snapshots, Tail
from palmclaw.core.tools import Module, Tool

ROUTED_MESSAGES = 4
SLACK = 250
"""Messages read beyond the window, so that a long tool chain can be shown from its beginning."""
MEDIA_BYTES = 20_000_000
"""Attachments of one request, all together; older ones give way."""


class ModelFacts(Protocol):
    """What must be known of a model before it is asked; `reference` as in Request.choice."""

    def name(self, reference: str) -> str:
        """Its name on the wire."""
        ...

    def is_local(self, reference: str) -> bool:
        """Whether asking it costs nothing, so that every tool is offered to it."""
        ...

    def takes(self, reference: str) -> frozenset[str]:
        """The media types that it may be sent."""
        ...


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The request is: policy → rules of the awake families → tool specifications → history → the newest message.

    What comes before the history is a snapshot: it changes only when the session has idled or needs another family.
    """

    policy: str
    log: Log
    snapshots: Snapshots
    media: MediaStore
    models: ModelFacts
    routes: ModuleRoutes
    tools: Mapping[str, Tool]
    modules: Mapping[str, Module]
    limits: Limits

    async def request(self, turn: Turn) -> Request:
        """The next request of a turn; what it begins with is kept for the ones after it."""
        tail = await self.log.tail(turn.session, self.limits.context_messages + SLACK)
        request, snapshot = await self._built(turn.session, turn.model, tail)
        if snapshot is not None:
            await self.snapshots.keep(turn.session, snapshot)
        turn.words = "\n".join(owners_words(request.messages))
        return replace(request, turn=turn.id)

    async def previewed(self, session: str, model: str, tail: Tail) -> Request:
        """The request that a log would lead to; nothing is kept."""
        return (await self._built(session, model, tail))[0]

    async def _built(self, session: str, model: str, tail: Tail) -> tuple[Request, Snapshot | None]:
        """The request, and a new snapshot where it begins otherwise than the one before."""
        messages = shown(tail, self.limits)
        media = await self._seen(messages, self.models.takes(model))
        if self.models.is_local(model):
            families = frozenset(self.modules)
            return self._request(session, model, Snapshot(families, self._system(families)), messages, media), None
        last = None if _has_idled(messages) else await self.snapshots.snapshot(session)
        before = last.families & self.modules.keys() if last else frozenset()
        recent = [m.text for m in messages if m.role is Role.USER][-ROUTED_MESSAGES:]
        families = self.routes.wake(session, recent, before, anew=last is None)
        if last is not None and families == last.families:
            return self._request(session, model, last, messages, media), None
        snapshot = Snapshot(families, self._system(families))
        return self._request(session, model, snapshot, messages, media), snapshot

    def _request(
        self, session: str, model: str, begun: Snapshot, messages: tuple[Message, ...], media: Mapping[str, bytes]
    ) -> Request:
        offered = sorted(name for family in begun.families for name in self.modules[family].tools)
        tools = tuple(self.tools[name] for name in offered)
        return Request(self.models.name(model), begun.system, messages, tools, session, media, choice=model)

    def _system(self, families: frozenset[str]) -> str:
        rules = [self.modules[name].prompt for name in sorted(families) if self.modules[name].prompt]
        return "\n".join((self.policy, *rules))

    async def _seen(self, messages: tuple[Message, ...], types: frozenset[str]) -> dict[str, bytes]:
        """The bytes of the attachments that the model takes, the newest first."""
        found: dict[str, bytes] = {}
        parts = [p for m in reversed(messages) for p in m.parts if isinstance(p, Media) and p.mime in types]
        for part in parts:
            content = await self.media.get(part.id)
            if content is None or sum(map(len, found.values())) + len(content) > MEDIA_BYTES:
                continue
            found[part.id] = content
        return found


def owners_words(messages: tuple[Message, ...]) -> list[str]:
    """What the owner said; neither a stranger's message nor a sub-agent's report is among it."""
    return [m.text for m in messages if m.role is Role.USER and not m.tainted and not m.sender]


def stamped(text: str, now: datetime, media: tuple[Media, ...] = (), news: tuple[str, ...] = ()) -> Message:
    """A user message with the moment and the news on it: stored once, and never rewritten.

    What is attached is a stranger's word.
    """
    stamp = Stamp(f"[{' · '.join((f'{now:%Y-%m-%d %H:%M %a} UTC{now:%z}', *news))}]")
    return Message(Role.USER, (Text(text), *media, stamp), tainted=bool(media))


def _has_idled(messages: tuple[Message, ...]) -> bool:
    """Whether the newest message begins a turn long after what was said before."""
    if len(messages) < 2 or messages[-1].role is not Role.USER:
        return False
    return messages[-1].at - messages[-2].at > IDLE
