"""What every model request cost, and sums of it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from palmclaw.core.messages import Usage, iso, utc_now
from palmclaw.core.ports import Clock, Spent
from palmclaw.core.values import dataclass
from palmclaw.storage.database import Database

By = Literal["day", "model", "session", "turn", "purpose", "request"]

_KEYS: Mapping[By, str] = {
    "day": "day",
    "model": "service || ' ' || model",
    "session": "session",
    "turn": "turn",
    "purpose": "purpose",
    "request": "at || ' ' || id",
}
_SUMS = """
    SELECT {key}, sum(input), sum(output), sum(cached), sum(reasoning), count(*), max(estimated), sum(cache_write),
           sum(usd), sum(usd IS NULL), max(at)
    FROM request WHERE day >= ? GROUP BY {key} ORDER BY max(id) DESC
"""
_ADD = """
    INSERT INTO request (at, day, session, turn, purpose, service, model, input, output, cached, cache_write, reasoning,
                         estimated, usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


@dataclass(frozen=True, slots=True)
class Sum:
    """Requests that share a day, a model, a session …; of `unpriced` ones no price is known, so `usd` is too low."""

    key: str
    usage: Usage
    usd: float
    unpriced: int
    last: str


@dataclass(frozen=True, slots=True)
class RequestLedger:
    """Implements the Ledger port on the `request` table."""

    database: Database
    clock: Clock

    async def add(self, spent: Spent) -> None:
        """Write one request down; the reply that it brought, stored at once, makes it last."""
        use = spent.usage
        row = (
            iso(utc_now()),
            self._today(),
            spent.session,
            spent.turn,
            spent.purpose,
            spent.service,
            spent.model,
            *(use.input, use.output, use.cached, use.cache_write, use.reasoning, int(use.estimated)),
            spent.usd,
        )
        await self.database.note(lambda db: db.execute(_ADD, row))

    async def today(self) -> tuple[int, float]:
        """Tokens and US dollars since midnight."""
        query = "SELECT coalesce(sum(input + output), 0), coalesce(sum(usd), 0.0) FROM request WHERE day = ?"
        row = await self.database.run(lambda db: db.execute(query, (self._today(),)).fetchone())
        return int(row[0]), float(row[1])

    async def sums(self, by: By, days: int) -> tuple[Sum, ...]:
        """Sums over the last `days` days, today included; the newest first."""
        since = (self.clock.now() - timedelta(days=days - 1)).date().isoformat()
        query = _SUMS.format(key=_KEYS[by])
        rows = await self.database.run(lambda db: db.execute(query, (since,)).fetchall())
        return tuple(_sum(*row) for row in rows)

    def _today(self) -> str:
        return self.clock.now().date().isoformat()


def _sum(key: str, *row: Any) -> Sum:
    *counts, estimated, cache_write, usd, unpriced, last = row
    input_, output, cached, reasoning, requests = (int(n or 0) for n in counts)
    usage = Usage(input_, output, cached, reasoning, requests)
    usage = replace(usage, estimated=bool(estimated), cache_write=int(cache_write or 0))
    return Sum(str(key), usage, float(usd or 0.0), int(unpriced or 0), str(last))
