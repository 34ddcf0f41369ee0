"""The owner's own limit for a day: a request that could exceed it is not sent."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from palmclaw.agent.window import weight
from palmclaw.core.errors import BudgetReached, ConfigError
from palmclaw.core.ports import Ledger, Request
from palmclaw.core.schema import Between, Doc
from palmclaw.core.text import tokens

LEAST_OUTPUT = 256
"""An answer shorter than this many tokens is not worth asking for."""
_FREE = 10**6


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
    async def room(self, request: Request, model: str, prices: Prices | None) -> AsyncIterator[int]:
        """How many tokens the answer may have (0: no bound), reserved until the request is over.

        Raises BudgetReached; ConfigError where a budget in dollars is set and no price is known.
        """
        output = request.max_output
        if not (self.settings.tokens or self.settings.usd):
            yield output
            return
        needed = estimated(request)
        output = await self._output(needed, output, model, prices)
        usd = (needed * prices.input + output * prices.output) / 1e6 if prices else 0.0
        self._tokens, self._usd = self._tokens + needed + output, self._usd + usd
        try:
            yield output
        finally:
            self._tokens, self._usd = self._tokens - needed - output, self._usd - usd

    async def _output(self, needed: int, wanted: int, model: str, prices: Prices | None) -> int:
        used_tokens, used_usd = await self.ledger.today()
        bounds = [wanted] if wanted else []
        if limit := self.settings.tokens:
            left = limit - used_tokens - self._tokens - needed
            bounds.append(_enough(left, needed, f"{limit:,} tokens", f"{used_tokens:,} are used"))
        if dollars := self.settings.usd:
            if prices is None:
                hint = "Set its price: palmclaw config set provider.prices.input 0.5 (and .output); or budget.tokens"
                raise ConfigError("budget.usd", f"no price is known for {model}, so it cannot be kept", hint)
            money = dollars - used_usd - self._usd - needed * prices.input / 1e6
            left = int(money * 1e6 / prices.output) if prices.output else int(money >= 0) * _FREE
            bounds.append(_enough(left, needed, f"${dollars:g}", f"${used_usd:.2f} are used"))
        return min(bounds)


def estimated(request: Request) -> int:
    """About how many tokens a request's input counts, a tenth more than likely."""
    tools = sum(tokens(json.dumps((t.name, t.description, t.schema), ensure_ascii=False)) for t in request.tools)
    count = tokens(request.system) + tools + sum(weight(m) for m in request.messages)
    return count + count // 10


def _enough(left: int, needed: int, budget: str, used: str) -> int:
    if left < LEAST_OUTPUT:
        raise BudgetReached(f"Today's budget of {budget} is reached: {used}, and this needs about {needed:,} tokens.")
    return left
