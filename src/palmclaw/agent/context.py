"""Builds each request from what is stored; bytes that do not change come first, so that a provider's cache holds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from palmclaw.agent.briefing import Briefing, Lasting, unremembered
from palmclaw.agent.routing import IDLE, ModuleRoutes
from palmclaw.agent.turn import Turn
from palmclaw.agent.window import Space, cold, cut, earlier, heavy, is_crowded, shown, since, space, trimmed
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Media, Message, Role, Stamp, Text
from palmclaw.core.ports import Log, MediaStore, Request, Snapshot, Snapshots, Summary, Tail
from palmclaw.core.text import tokens
from palmclaw.core.tools import Module, Tool
from palmclaw.core.traffic import SUBAGENT
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact

ROUTED_MESSAGES = 4
SLACK = 250
"""Messages read beyond the window, so that a long tool chain can be shown from its beginning."""
CACHED = timedelta(minutes=5)
"""How long a provider's cache remembers a request."""
TOOL_TOKENS = 60
"""About what the specification of a tool costs."""
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

    def window(self, reference: str) -> int:
        """The tokens that a request and its answer may have together; 0: nobody knows."""
        ...


@dataclass(frozen=True, slots=True)
class Crowd:
    """More history than a request may show: `older` is what leaves the window, `upto` where the rest begins.

    `before` and `after` are the tokens of history with and without it; `free`: the model costs nothing, and sums
    nothing up; `window` as in ModelFacts.
    """

    older: tuple[Message, ...]
    upto: int
    before: int
    after: int
    summary: Summary
    free: bool = False
    window: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """What a session's next request holds: estimated tokens of each part, and the `room` there is for history.

    `messages` and `tools` are counts; `results` is the part of `history` that tools have said.
    """

    policy: int
    tools: int
    tool_tokens: int
    summary: int
    messages: int
    history: int
    results: int
    room: int


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The request is: policy → rules of the awake families → tool specifications → history → the newest message.

    What comes before the history is a snapshot: it changes only when the session has idled or needs another family, or
    when the history has lost its beginning.
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
    briefing: Briefing | None = None

    async def request(self, turn: Turn) -> Request:
        """The next request of a turn; what it begins with is kept for the ones after it."""
        tail, summary = await self._read(turn.session)
        summary = await self._trimmed(turn, tail, summary)
        request, snapshot = await self._built(turn, tail, summary)
        if snapshot is not None:
            await self.snapshots.keep(turn.session, snapshot)
        turn.words = "\n".join(owners_words(request.messages))
        turn.weight = heavy(request.messages)
        return replace(request, turn=turn.id)

    async def previewed(self, turn: Turn, tail: Tail) -> Request:
        """The request that a log would lead to; nothing is kept."""
        return (await self._built(turn, tail, await self.snapshots.summary(turn.session)))[0]

    async def crowd(self, turn: Turn, *, all_of_it: bool = False) -> Crowd | None:
        """What must leave the window before the next request; `all_of_it`: everything but the newest turn."""
        tail, summary = await self._read(turn.session)
        messages, room = since(tail, summary), await self._room(turn, summary)
        start = tail.start + len(tail.messages) - len(messages)
        sent = trimmed(messages, summary, start)
        if not all_of_it and (not is_crowded(sent, room) or await self._thinned(turn, messages, summary, start)):
            return None
        at = cut(sent, Space(0, 0) if all_of_it else room)
        if at == 0:
            return None
        is_free, window = self.models.is_local(turn.model), self.models.window(turn.model)
        return Crowd(messages[:at], start + at, heavy(sent), heavy(sent[at:]), summary, is_free, window)

    async def kept(self, turn: Turn) -> tuple[Message, ...]:
        """What the next request will still show of the log: where that is nearly full, a part leaves before."""
        tail, summary = await self._read(turn.session)
        messages, room = since(tail, summary), await self._room(turn, summary)
        sent = trimmed(messages, summary, tail.start + len(tail.messages) - len(messages))
        is_full = is_crowded(sent, Space(room.messages * 9 // 10, room.tokens * 9 // 10))
        return messages[cut(sent, room) :] if is_full else messages

    async def _thinned(self, turn: Turn, messages: Sequence[Message], summary: Summary, start: int) -> bool:
        """Whether cutting long old results in the middle made room enough for a while."""
        room = await self._room(turn, summary)
        thinner = replace(summary, trimmed=cold(messages, start, summary, room))
        enough = Space(room.messages, room.tokens * 3 // 4)
        if thinner == summary or is_crowded(trimmed(messages, thinner, start), enough):
            return False
        await self.snapshots.sum_up(turn.session, thinner)
        return True

    async def contents(self, turn: Turn) -> Contents:
        """What the next request of a session would hold, but for the message that asks for it."""
        tail, summary = await self._read(turn.session)
        request, _ = await self._built(turn, tail, summary)
        told, history = heavy(earlier(summary)), request.messages[len(earlier(summary)) :]
        specified = sum(tokens(t.name + t.description + compact(t.schema)) for t in request.tools)
        results = heavy([m for m in history if m.results])
        room = (await self._room(turn, summary)).tokens + told
        policy = tokens(request.system)
        return Contents(policy, len(request.tools), specified, told, len(history), heavy(history), results, room)

    async def _read(self, session: str) -> tuple[Tail, Summary]:
        tail = await self.log.tail(session, self.limits.context_messages + SLACK)
        return tail, await self.snapshots.summary(session)

    async def _room(self, turn: Turn, summary: Summary) -> Space:
        """The space for what the summary does not stand for; smaller where the service has said it was too much."""
        snapshot = await self.snapshots.snapshot(turn.session)
        fixed = tokens(snapshot.system) + TOOL_TOKENS * len(self._offered(snapshot.families)) if snapshot else 0
        room = space(self.limits, self.models.window(turn.model), fixed)
        most = min(room.tokens, turn.room or room.tokens)
        return replace(room, tokens=max(most - heavy(earlier(summary)), most // 4))

    async def _trimmed(self, turn: Turn, tail: Tail, summary: Summary) -> Summary:
        """When no cache holds the old bytes any more, long old results are cut in the middle, and stay so."""
        messages = since(tail, summary)
        if not _is_cold(messages):
            return summary
        start = tail.start + len(tail.messages) - len(messages)
        upto = cold(messages, start, summary, await self._room(turn, summary))
        if upto == summary.trimmed:
            return summary
        summary = replace(summary, trimmed=upto)
        await self.snapshots.sum_up(turn.session, summary)
        return summary

    async def _built(self, turn: Turn, tail: Tail, summary: Summary) -> tuple[Request, Snapshot | None]:
        """The request, and a new snapshot where it begins otherwise than the one before."""
        session, model, recent = turn.session, turn.model, since(tail, summary)
        recent = recent if turn.alone else unremembered(recent)
        start = tail.start + len(tail.messages) - len(recent)
        messages = shown(recent, summary, await self._room(turn, summary), start)
        media = await self._seen(messages, self.models.takes(model))
        if self.models.is_local(model):
            families = frozenset(self.modules)
            return self._request(session, model, Snapshot(families, self._system(families)), messages, media), None
        last = None if _has_idled(messages) else await self.snapshots.snapshot(session)
        before = last.families & self.modules.keys() if last else frozenset()
        said = [m.text for m in messages if m.role is Role.USER and m.text][-ROUTED_MESSAGES:]
        families = self.routes.wake(session, said, before, anew=last is None)
        is_fit = last is not None and last.system and (turn.alone or not last.known)  # others may read along since
        if last is not None and is_fit and families == last.families:
            return self._request(session, model, last, messages, media), None
        lasting = await self._lasting(turn, families)
        snapshot = Snapshot(families, self._system(families, lasting.text), lasting.known)
        return self._request(session, model, snapshot, messages, media), snapshot

    async def _lasting(self, turn: Turn, families: frozenset[str]) -> Lasting:
        """Memory and the catalogue of skills; a sub-agent has neither, and others read no memory."""
        if self.briefing is None or turn.session.startswith(SUBAGENT):
            return Lasting()
        uses_skills = "skill" in self._offered(families)
        return await self.briefing.lasting(turn.session, knows=turn.alone, uses_skills=uses_skills)

    def _request(
        self, session: str, model: str, begun: Snapshot, messages: tuple[Message, ...], media: Mapping[str, bytes]
    ) -> Request:
        tools = tuple(self.tools[name] for name in self._offered(begun.families))
        return Request(self.models.name(model), begun.system, messages, tools, session, media, choice=model)

    def _offered(self, families: frozenset[str]) -> list[str]:
        return sorted({name for family in families & self.modules.keys() for name in self.modules[family].tools})

    def _system(self, families: frozenset[str], lasting: str = "") -> str:
        rules = [self.modules[name].prompt for name in sorted(families) if self.modules[name].prompt]
        return "\n".join((self.policy, *rules, *([lasting] if lasting else [])))

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


def _is_cold(messages: Sequence[Message]) -> bool:
    """Whether so long has passed since the last request that a provider's cache has forgotten it."""
    if len(messages) < 2 or messages[-1].role is not Role.USER:
        return False
    return messages[-1].at - messages[-2].at >= CACHED


def _has_idled(messages: tuple[Message, ...]) -> bool:
    """Whether the newest message begins a turn long after what was said before."""
    if len(messages) < 2 or messages[-1].role is not Role.USER:
        return False
    return messages[-1].at - messages[-2].at > IDLE
