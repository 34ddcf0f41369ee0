"""`palmclaw status` and `palmclaw stop`: the gateway as others see it. Both work when there is none."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import click

from palmclaw.cli.pages import Page
from palmclaw.cli.plain import moment, wrapped
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.runtime import Lane, Status
from palmclaw.core.text import visible
from palmclaw.core.values import dataclass
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.process import Gateway, read
from palmclaw.web.client import GatewayGone, RemoteRuntime, attach

NOT_RUNNING = 3


@click.command(cls=Page)
@click.option("--json", "as_json", is_flag=True, help="For machines.")
def status(as_json: bool) -> None:
    """Show whether the gateway runs, and what it does.

    The exit code is 0 when it runs, 3 when it does not, 1 when it does not answer.
    """
    home, words = home_of(os.environ), texts(os.environ)
    found = asyncio.run(_status(home))
    holder = HomeLock(home.lock).holder()
    if as_json:
        owner = f"process {holder.pid} ({holder.purpose})" if holder else ""
        told = encode(found) if found else {"home": str(home.root), "in_use_by": owner}
        click.echo(json.dumps({"running": found is not None, **told}, ensure_ascii=False, indent=1))
    elif found is not None:
        for line in status_lines(found, words):
            click.echo(line)
    elif holder is None:
        click.echo(words("not_running"))
    else:
        key = "silent" if holder.purpose == SERVING else "in_use"
        click.echo(words(key, home=home.root, pid=holder.pid, purpose=words.label(holder.purpose)))
    silent = found is None and holder is not None and holder.purpose == SERVING
    sys.exit(0 if found else 1 if silent else NOT_RUNNING)


@click.command(cls=Page)
def stop() -> None:
    """End the gateway: running turns have a few seconds, what waits is kept for the next start.

    A gateway that does not answer is told to end, and then killed; the next start closes what it was doing.
    When none runs, that is well too.
    """
    home = home_of(os.environ)
    sys.exit(asyncio.run(Ending(home, texts(os.environ)).run()))


async def _status(home: Home) -> Status | None:
    remote = await attach(home, 1.0)
    if remote is None:
        return None
    try:
        return await remote.status()
    except GatewayGone:
        return None
    finally:
        await remote.close()


def status_lines(found: Status, words: Texts) -> Iterator[str]:
    """How the runtime is, in lines that fit a narrow screen."""
    yield words("who", version=found.version, pid=found.pid)
    yield words("since", started=moment(found.started), memory=found.memory // 1_000_000)
    yield words("slots", busy=found.busy, slots=found.slots)
    for lane in found.lanes:
        yield wrapped(_lane(lane, words), "  ")
    for name, problem in (found.channels or {}).items():
        state = words.told(visible(problem)) or words("channel_well")
        yield wrapped(words("channel", name=visible(name), state=state))
    if counts := {state: count for state, count in (found.outbox or {}).items() if count}:
        yield wrapped(words("outbox", counts=words.label(", ".join(f"{n} {state}" for state, n in counts.items()))))
    if found.questions:
        yield words.count(found.questions, "approval waits for you", "approvals wait for you")
    if found.holders:
        yield wrapped(words("holders", holders=words.label(", ".join(found.holders))))
    for finding in found.findings:
        yield wrapped(words("finding", finding=words.told(visible(finding))))


def _lane(lane: Lane, words: Texts) -> str:
    key = "working_waiting" if lane.turn and lane.waiting else "working" if lane.turn else "lane_waiting"
    return words(key, session=visible(lane.session), since=moment(lane.since), waiting=lane.waiting)


@dataclass(frozen=True, slots=True)
class Ending:
    """Asks, then tells, then kills: each is given its seconds, and each is for exactly the process that serves."""

    home: Home
    words: Texts
    asked: float = 30.0
    told: float = 10.0
    killed: float = 5.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], float] = time.monotonic

    async def run(self) -> int:
        """Returns the exit code: 0 when no gateway runs any more."""
        remote = await attach(self.home, 1.0)
        gateway = read(self.home.gateway)
        if remote is not None and await self._asked(remote, gateway):
            return self._say("stopped")
        holder = HomeLock(self.home.lock).holder()
        if holder is None:
            return self._say("not_running")
        if holder.purpose != SERVING:
            return self._say("in_use", home=self.home.root, pid=holder.pid, purpose=self.words.label(holder.purpose))
        if gateway is None or gateway.pid != holder.pid or not gateway.is_alive:
            return self._say("uncertain", home=self.home.root, pid=holder.pid) or 1
        return await self._forced(gateway)

    async def _asked(self, remote: RemoteRuntime, gateway: Gateway | None) -> bool:
        with suppress(GatewayGone):
            await remote.shutdown()
        await remote.close()
        return await self._gone(gateway, self.asked)

    async def _forced(self, gateway: Gateway) -> int:
        self._say("urged", pid=gateway.pid)
        gateway.kill(signal.SIGTERM)
        if await self._gone(gateway, self.told):
            return self._say("stopped")
        gateway.kill(signal.SIGKILL)
        if await self._gone(gateway, self.killed):
            return self._say("killed", pid=gateway.pid)
        return self._say("unkillable", pid=gateway.pid) or 1

    async def _gone(self, gateway: Gateway | None, seconds: float) -> bool:
        """Whether it ends within the time: the process, and its hold on the home."""
        until = self.now() + seconds
        while self._is_there(gateway):
            if self.now() >= until:
                return False
            await self.sleep(0.05)
        return True

    def _is_there(self, gateway: Gateway | None) -> bool:
        if gateway is not None:
            return gateway.is_alive
        holder = HomeLock(self.home.lock).holder()
        return holder is not None and holder.purpose == SERVING

    def _say(self, key: str, **values: object) -> int:
        click.echo(self.words(key, **values), err=True)
        return 0
