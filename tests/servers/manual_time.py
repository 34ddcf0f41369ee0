"""Time that passes when a test says so."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

LIMIT = 10.0
"""Real seconds after which a test that waits for something fails."""


async def until(condition: Callable[[], bool]) -> None:
    """Let everything run until the condition holds; real threads may have a part in it."""
    async with asyncio.timeout(LIMIT):
        while not condition():
            await asyncio.sleep(0.001)


@dataclass
class ManualTime:
    """`sleep` and `now` for what takes them as fields; `asked` is every wait that anybody wanted."""

    at: float = 1_000.0
    asked: list[float] = field(default_factory=list)
    _sleepers: "list[tuple[float, float, asyncio.Future[None]]]" = field(default_factory=list)

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        done = asyncio.get_running_loop().create_future()
        sleeper = (self.at + seconds, seconds, done)
        self._sleepers.append(sleeper)
        try:
            await done
        finally:
            self._sleepers.remove(sleeper)

    def waits(self, seconds: float) -> bool:
        """Whether somebody is waiting for just so long."""
        return any(asked == seconds for _, asked, _ in self._sleepers)

    async def let_pass(self, seconds: float) -> None:
        """Once somebody waits for just so long: let it pass, for all who wait."""
        await until(lambda: self.waits(seconds))
        self.at = min(until_ for until_, asked, _ in self._sleepers if asked == seconds)
        for due, _, done in self._sleepers:
            if due <= self.at and not done.done():
                done.set_result(None)
        await asyncio.sleep(0)
