"""Builds each request from what is stored; bytes that do not change come first, so that a provider's cache holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from palmclaw.agent.turn import Turn
from palmclaw.agent.window import shown
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, Role, Stamp, Text
from palmclaw.core.ports import Log, Request, Routes
from palmclaw.core.tools import Module, Tool

ROUTED_MESSAGES = 4
SLACK = 250
"""Messages read beyond the window, so that a long tool chain can be shown from its beginning."""


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The request is: policy → rules of the awake families → tool specifications → history → the newest message."""

    policy: str
    model: str
    log: Log
    routes: Routes
    tools: Mapping[str, Tool]
    modules: Mapping[str, Module]
    limits: Limits
    route: bool = True

    async def request(self, turn: Turn) -> Request:
        tail = await self.log.tail(turn.session, self.limits.context_messages + SLACK)
        messages = shown(tail, self.limits)
        turn.words = "\n".join(owners_words(messages))
        return self.built(turn.session, messages)

    def built(self, session: str, messages: tuple[Message, ...]) -> Request:
        """The request for a history, with the tools that its newest user messages call for."""
        recent = [m.text for m in messages if m.role is Role.USER][-ROUTED_MESSAGES:]
        awake = self.routes.wake(session, recent) if self.route else frozenset(self.modules)
        offered = sorted(name for family in awake for name in self.modules[family].tools)
        tools = tuple(self.tools[name] for name in offered)
        rules = [self.modules[name].prompt for name in sorted(awake) if self.modules[name].prompt]
        return Request(self.model, "\n".join((self.policy, *rules)), messages, tools, session)


def owners_words(messages: tuple[Message, ...]) -> list[str]:
    """What the owner said; a stranger's message is not among it."""
    return [m.text for m in messages if m.role is Role.USER and not m.tainted]


def stamped(text: str, now: datetime, *, tainted: bool = False) -> Message:
    """A user message with the moment on it: stored once, and never rewritten."""
    stamp = Stamp(f"[{now:%Y-%m-%d %H:%M %a} UTC{now:%z}]")
    return Message(Role.USER, (Text(text), stamp), tainted=tainted)
