"""The owner's own limit for a day: a request that could exceed it is not sent."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from palmclaw.agent.window import MEDIA
from palmclaw.core.errors import BudgetReached, ConfigError
from palmclaw.core.messages import Media, Part, Reasoning, ToolCall, ToolResult
from palmclaw.core.ports import Ledger, Request
from palmclaw.core.schema import Between, Doc
from palmclaw.core.text import tokens
from palmclaw.core.values import dataclass
from palmclaw.core.wire import IMAGES

LEAST_OUTPUT = 256
"""An answer shorter than this many tokens is not worth asking for."""
ROOM = 8_192
"""The most tokens of an answer while a budget is set: every answer is bounded, so that none can exceed it."""
PAGE = 3_000
"""Tokens of a page of a document."""
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{40,}")
_PAGES = re.compile(rb"/Type\s*/Page\b")


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """[budget]: what may be spent from midnight to midnight; 0: as much as it takes."""

    tokens: Annotated[int, Between(0, 10**12), Doc("input and output tokens a day")] = 0
    usd: Annotated[float, Between(0, 10**6), Doc("US dollars a day")] = 0.0


@dataclass(slots=True)
class Budget:
    """Grants each request room for its answer; what is under way counts as spent."""

    settings: BudgetSettings
    ledger: Ledger
    _tokens: int = 0
    _usd: float = 0.0

    @asynccontextmanager
    async def room(self, request: Request, model: str, priced: Callable[[], Prices | None]) -> AsyncIterator[int]:
        """How many tokens the answer may have (0: no bound), reserved with the question until the request is over.

        Raises BudgetReached; ConfigError where a budget in dollars is set and no price is known.
        """
        output = request.max_output
        if not (self.settings.tokens or self.settings.usd):
            yield output
            return
        needed, prices = estimated(request), priced() if self.settings.usd else None
        output = await self._output(needed, output, model, prices)
        usd = (needed * prices.input + output * prices.output) / 1e6 if prices else 0.0
        self._tokens, self._usd = self._tokens + needed + output, self._usd + usd
        try:
            yield output
        finally:
            self._tokens, self._usd = self._tokens - needed - output, self._usd - usd

    async def _output(self, needed: int, wanted: int, model: str, prices: Prices | None) -> int:
        used_tokens, used_usd = await self.ledger.today()
        bounds = [wanted or ROOM, ROOM]
        if limit := self.settings.tokens:
            left = limit - used_tokens - self._tokens - needed
            bounds.append(_enough(left, needed, f"{limit:,} tokens", f"{used_tokens:,} are used"))
        if dollars := self.settings.usd:
            if prices is None:
                hint = "Set its price (prices.input and prices.output, in dollars per million tokens) or budget.tokens"
                raise ConfigError("budget.usd", f"no price is known for {model}, so it cannot be kept", hint)
            money = dollars - used_usd - self._usd - needed * prices.input / 1e6
            left = int(max(-1, min(money * 1e6 / prices.output, ROOM))) if prices.output else int(money >= 0) * ROOM
            bounds.append(_enough(left, needed, _money(dollars), f"{_money(used_usd)} are used"))
        return min(bounds)


def estimated(request: Request) -> int:
    """About how many tokens a request's input counts, rather too many than too few; never meant for a bill."""
    tools = sum(weighed(json.dumps((t.name, t.description, t.schema), ensure_ascii=False)) for t in request.tools)
    said = sum(4 + sum(_weight(part, request) for part in m.parts) for m in request.messages)
    count = weighed(request.system) + tools + said
    return count + count // 10


def weighed(text: str) -> int:
    """Tokens of a text in which figures and long codes count as dearly as they are."""
    dense = sum(map(len, _DENSE.findall(text)))
    digits = sum(map(text.count, "0123456789"))
    wide = sum(c > "\uffff" or c in "\u200d\ufe0f" for c in text) if not text.isascii() else 0
    return tokens(text) + dense * 3 // 5 + digits // 2 + 2 * wide


def _weight(part: Part, request: Request) -> int:
    if isinstance(part, Media):
        return _seen(part, request.media[part.id]) if part.id in request.media else weighed(part.name)
    if isinstance(part, ToolCall):
        return weighed(json.dumps(part.arguments, ensure_ascii=False)) + weighed(part.signature)
    if isinstance(part, ToolResult):
        return weighed(part.content)
    return weighed(part.text) + (weighed(part.signature) if isinstance(part, Reasoning) else 0)


def _seen(media: Media, content: bytes) -> int:
    if media.mime in IMAGES:
        return MEDIA
    return PAGE * max(1, len(_PAGES.findall(content)), len(content) // 100_000)


def _money(usd: float) -> str:
    return f"${usd:,.2f}" if usd == 0 or usd >= 0.01 else f"${usd:.6f}"


def _enough(left: int, needed: int, budget: str, used: str) -> int:
    if left < LEAST_OUTPUT:
        raise BudgetReached(f"Today's budget of {budget} is reached: {used}, and this needs about {needed:,} tokens.")
    return left
