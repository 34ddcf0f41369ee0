"""People who talk to the agent from several places at once, whatever becomes of it, and remember what they said."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from random import Random

from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import Answer
from palmclaw.core.runtime import NotOpen
from palmclaw.core.traffic import Inbound, Mode, QueueChange
from palmclaw.paths import Home
from palmclaw.web.client import GatewayGone, RemoteRuntime
from tests.crash.home import LIVE, PLAIN
from tests.crash.platform import ChatPlatform

CHATS = (
    (PLAIN, "a", "steer"),
    (PLAIN, "b", "collect"),
    (PLAIN, "c", "followup"),
    (PLAIN, "d", "steer cap:2 drop:old"),
    (LIVE, "e", "interrupt"),
    (LIVE, "f", "steer cap:3 drop:summarize"),
)
API = ("terminal", "script")
UNREAD, BACKLOG = 3, 20
"""How many updates a channel may be behind, and how many messages may wait, until people grow silent."""
_CROWD = 6.0


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a person's: `id` begins its text, `external_id` is the channel's."""

    id: str
    session: str
    channel: str
    external_id: str


@dataclass(slots=True)
class Talk:
    """Everybody who talks. `said` are the messages that were accepted for certain, through the local API."""

    platform: ChatPlatform
    home: Home
    chance: Random
    spawns: bool = True
    said: list[Said] = field(default_factory=list)
    backlog: int = 0
    count: int = 0
    _is_over: bool = False
    _tasks: "list[asyncio.Task[None]]" = field(default_factory=list)

    async def begin(self) -> None:
        for channel, chat, queue in CHATS:
            await self.platform.writes(channel, chat, f"/queue {queue}")
        self._tasks = [asyncio.create_task(self._chat())]
        self._tasks += [asyncio.create_task(self._api(session)) for session in API]
        self._tasks += [asyncio.create_task(self._answer()), asyncio.create_task(self._listen())]

    async def end(self) -> None:
        """Nobody says anything new; returns when what was being said has been accepted. Questions are answered on."""
        self._is_over = True
        await asyncio.gather(*self._tasks[: 1 + len(API)])

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        for task in self._tasks:
            if not task.cancelled():
                task.result()

    async def _chat(self) -> None:
        while not self._is_over:
            channel, chat, _ = self.chance.choice(CHATS)
            if self.backlog < BACKLOG and len(self.platform.unread(channel)) < UNREAD:
                for _ in range(self.chance.choice((1, 1, 2))):
                    await self.platform.writes(channel, chat, self._text())
            await asyncio.sleep(self.chance.uniform(0.01, 0.12))

    async def _api(self, session: str) -> None:
        """One message after the other, each until it is answered: it counts once, since it keeps its id."""
        runtime = RemoteRuntime(self.home.socket, seconds=5)
        try:
            while not self._is_over:
                text, number = self._text(), f"{session}-{self.count}"
                mode = self.chance.choice((None, *Mode))
                inbound = Inbound(session, text, external_id=number, queue=QueueChange(mode=mode))
                await self._insist(runtime, inbound)
                self.said.append(Said(text.partition(":")[0].split()[-1], session, "", number))
                await asyncio.sleep(self.chance.uniform(0.05, 0.3) if self.backlog < BACKLOG else 0.5)
        finally:
            await runtime.close()

    async def _insist(self, runtime: RemoteRuntime, inbound: Inbound) -> None:
        while True:
            try:
                await runtime.take(inbound)
                return
            except PalmclawError:  # it is dead, or dying: who was not answered asks again
                await asyncio.sleep(0.02)

    async def _answer(self) -> None:
        """Yes or no to every question."""
        runtime = RemoteRuntime(self.home.socket, seconds=5)
        try:
            while True:
                await asyncio.sleep(0.1)
                with suppress(GatewayGone):
                    for question in await runtime.questions():
                        with suppress(NotOpen):
                            yes = self.chance.random() < 0.7
                            await runtime.answer(question.asked.id, Answer.ONCE if yes else Answer.NO, "driver")
        finally:
            await runtime.close()

    async def _listen(self) -> None:
        """Somebody always looks on, as a web page would, and comes back to whatever gateway there is."""
        runtime = RemoteRuntime(self.home.socket, seconds=5)
        try:
            while True:
                with suppress(GatewayGone):
                    async with aclosing(runtime.events()) as signals:
                        async for _ in signals:
                            pass
                await asyncio.sleep(0.02)
        finally:
            await runtime.close()

    def _text(self) -> str:
        self.count += 1
        n, luck = self.count, self.chance.random()
        if luck < 0.04:
            return "/stop"
        text = f"m{n}: {_pick(self.chance, self._tasks_of(n))}"
        return f"/queue {self.chance.choice(list(Mode)).value} {text}" if luck < 0.1 else text

    def _tasks_of(self, n: int) -> Sequence[tuple[str, float]]:
        """What a message may ask for, and how often."""
        return (
            (f"ring k{n}a k{n}b", 30),
            (f"ring k{n}a", 20),
            (f"ring k{n}a; look l{n}a l{n}b; ring k{n}b", 15),
            (f"look l{n}a l{n}b l{n}c", 10),
            (f"shout k{n}a", 6),
            (f"delegate k{n}a", 6.0 if self.spawns else 0.0),
            ("say", 10),
        )


def _pick(chance: Random, weighted: Sequence[tuple[str, float]]) -> str:
    return chance.choices([w[0] for w in weighted], [w[1] for w in weighted])[0]
