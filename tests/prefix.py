"""How much of each request is the same as before: one long story, told once in each wire protocol.

As a program, from the root of the project: `python -m tests.prefix` prints the table, `--json` the sums.
"""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from typing import Any

from palmclaw import app, house
from palmclaw.agent.context import ModelFacts, SessionContext
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.routing import IDLE
from palmclaw.core import events
from palmclaw.core.traffic import Inbound
from palmclaw.kits import Kit
from palmclaw.runtime.turns import Turns, Work
from palmclaw.storage.sessions import Sessions
from tests.servers.chat_server import SUMMARY, Answer, Asked, ChatServer

PROTOCOLS = ("openai_chat", "openai_responses", "anthropic")
MARK = b',"cache_control":{"type":"ephemeral"}'
"""What says how far the service shall remember; it is no part of what is remembered."""
CHANGED = "Be brief."
SESSION = "main"


class Kind(StrEnum):
    """What lies between two requests to the same model. The last four are breaks on purpose."""

    ROUND = "the next round"
    TURN = "the next turn"
    RESTART = "a restart"
    POLICY = "a restart with other policy texts"
    INTERRUPTED = "an interrupted turn"
    MODEL = "turns with another model, and back"
    FAMILY = "a turn that needs another tool family"
    FOUND = "find_tools, between two rounds"
    IDLE = "30 minutes of silence"
    WINDOW = "a step of the window"

    @property
    def is_break(self) -> bool:
        return self in (Kind.FAMILY, Kind.FOUND, Kind.IDLE, Kind.WINDOW)

    @property
    def is_within_a_turn(self) -> bool:
        return self in (Kind.ROUND, Kind.FOUND)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests that follow each other: `kept` bytes of the `of` of the first one begin the second one too."""

    kind: Kind
    kept: int
    of: int


def compared(kind: Kind, before: bytes, after: bytes) -> Pair:
    """The earlier body counts without its closing brackets, and neither with marks of the cache."""
    earlier = before.replace(MARK, b"").rstrip(b"]}")
    pairs = zip(earlier, after.replace(MARK, b""), strict=False)
    return Pair(kind, sum(1 for _ in takewhile(lambda both: both[0] == both[1], pairs)), len(earlier))


def share(pairs: Iterable[Pair]) -> float:
    """The share that is kept of all of them together."""
    found = list(pairs)
    return sum(p.kept for p in found) / sum(p.of for p in found)


@dataclass(slots=True)
class Rewritten(app.App):
    """The app of a later version, or of a person who has edited the policy's texts."""

    def context(self, sessions: Sessions, facts: ModelFacts | None = None, kit: Kit | None = None) -> SessionContext:
        """As ever, with more in the policy."""
        return replace(app.App.context(self, sessions, facts, kit), policy=f"{app.prompt('AGENT')}\n{CHANGED}")


@dataclass(slots=True)
class Story:
    """One home, whose model speaks `protocol`, and a second service that speaks another one."""

    protocol: str
    home: Path
    server: ChatServer
    session: str = SESSION
    pairs: list[Pair] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)
    _last: dict[tuple[str, str], bytes] = field(default_factory=dict)

    @asynccontextmanager
    async def running(self, *, rewritten: bool = False, messages: int = 200) -> AsyncIterator[Turns]:
        """A start of the whole program on the same home, and its end."""
        self.configure(messages)
        made = app.assembled({"PALMCLAW_HOME": str(self.home)})
        if rewritten:
            made = Rewritten(**{f.name: getattr(made, f.name) for f in fields(made) if f.init})
        async with house.opened(made) as gateway:
            yield gateway.turns

    def configure(self, messages: int = 200) -> None:
        """Write the home's configuration, with a window of so many messages."""
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(self._settings(messages))

    async def say(
        self,
        turns: Turns,
        text: str,
        kind: Kind,
        *answers: Answer | str,
        model: str = "",
        stop: type[events.Event] | None = None,
    ) -> None:
        """One turn, stopped at the first event of the kind `stop`; its requests are compared with those before."""
        played = [Answer(text=a) if isinstance(a, str) else a for a in answers]
        self.server.answers[:] = played
        begun, interrupt, ended = len(self.server.requests), Interrupt(), None
        async for event in turns.run(Work((Inbound(self.session, text, model=model),)), interrupt):
            if stop is not None and isinstance(event, stop):
                interrupt.set()
            ended = event
        assert isinstance(ended, events.TurnEnded)
        assert ended.stop is (events.Stop.CANCELLED if stop else events.Stop.DONE), ended.error
        self._compare(self.server.requests[begun:], kind, played)

    def grow_old(self) -> None:
        """Nothing is said for a while: everything in the log was said that much earlier."""
        with closing(sqlite3.connect(self.home / "palmclaw.db")) as db, db:
            rows = db.execute("SELECT position, body FROM message WHERE session=?", (self.session,)).fetchall()
            older = [(_older(body), self.session, position) for position, body in rows]
            db.executemany("UPDATE message SET body=? WHERE session=? AND position=?", older)

    def _compare(self, asked: Sequence[Asked], kind: Kind, played: Sequence[Answer]) -> None:
        for number, request in enumerate(asked):
            key = request.path, str(request.body["model"])
            found = number > 0 and any(c["name"] == "find_tools" for c in played[number - 1].calls)
            here = kind if number == 0 else Kind.FOUND if found else Kind.ROUND
            if (before := self._last.get(key)) is not None:
                self.pairs.append(compared(here, before, request.raw))
            self._last[key] = request.raw
            self.bodies.append(request.raw.decode())

    def _settings(self, messages: int) -> str:
        other = next(p for p in PROTOCOLS if p != self.protocol)
        return (
            f'[provider]\nbase_url = "{self.server.url}"\nprotocol = "{self.protocol}"\nmodel = "m"\n'
            f'[services.other]\nbase_url = "{self.server.url}"\nprotocol = "{other}"\n'
            f"[limits]\ncontext_messages = {messages}\n"
        )


def calls(*some: tuple[str, dict[str, Any]], text: str = "") -> Answer:
    """An answer with a thought and calls."""
    told = tuple({"name": name, "arguments": arguments} for name, arguments in some)
    return Answer(text=text, reasoning="Let me see …", calls=told, fragments=2)


BATTERY = calls(("device_status", {"fields": ["battery"]}), text="我来看看。")
STORAGE = calls(("device_status", {"fields": ["storage"]}), ("device_status", {"fields": ["network"]}))
VOLUME = calls(("device_status", {"fields": ["volume"]}))
MORE = calls(("find_tools", {"need": "calendar"}))
SLOW = Answer(text="It goes on and on. " * 100, fragments=100, drip=0.01)


async def told(protocol: str, home: Path) -> Story:
    """The whole story, without a step of the window."""
    async with ChatServer() as server:
        story = Story(protocol, home, server)
        async with story.running() as turns:
            await story.say(turns, "How much battery is left?", Kind.TURN, BATTERY, STORAGE, VOLUME, "Eighty percent.")
            await story.say(turns, "And the storage?", Kind.TURN, STORAGE, Answer(text="Plenty.", reasoning="Hm."))
            await story.say(turns, "Thanks, 谢谢 🌊", Kind.TURN, "You are welcome.")
        async with story.running() as turns:
            await story.say(turns, "And the volume?", Kind.RESTART, VOLUME, BATTERY, "Half of it.")
        async with story.running(rewritten=True) as turns:
            await story.say(turns, "Is that loud?", Kind.POLICY, VOLUME, "Not at all.")
            await _interrupted(story, turns)
            await _another_model(story, turns)
            await _breaks(story, turns)
        story.grow_old()
        async with story.running() as turns:
            await story.say(turns, "Good evening", Kind.IDLE, "Good evening.")
            await story.say(turns, "Still there?", Kind.TURN, "Still here.")
    return story


async def _interrupted(story: Story, turns: Turns) -> None:
    """In the middle of a sentence, and while tools run."""
    await story.say(turns, "A poem about rivers", Kind.TURN, SLOW, stop=events.TextDelta)
    await story.say(turns, "Shorter, please", Kind.INTERRUPTED, "It is fine.")
    await story.say(turns, "Look at the battery", Kind.TURN, STORAGE, stop=events.ToolStarted)
    await story.say(turns, "Well?", Kind.INTERRUPTED, VOLUME, "As before.")


async def _another_model(story: Story, turns: Turns) -> None:
    """There is nothing before the first request to it; afterwards each model goes on from where it was."""
    await story.say(turns, "What do you say?", Kind.MODEL, BATTERY, "The same.", model="other/o")
    await story.say(turns, "And you?", Kind.MODEL, VOLUME, "Me too.")
    await story.say(turns, "And the others?", Kind.MODEL, STORAGE, "As I said.", model="other/o")
    await story.say(turns, "And now?", Kind.MODEL, "Nothing new.")


async def _breaks(story: Story, turns: Turns) -> None:
    await story.say(turns, "Pair the bluetooth speaker", Kind.FAMILY, VOLUME, "Shall I?")
    await story.say(turns, "No, never mind", Kind.TURN, MORE, VOLUME, "As you like.")
    await story.say(turns, "One", Kind.TURN, BATTERY, "One.")
    for text in ("Two", "Three", "Four"):
        await story.say(turns, text, Kind.TURN, f"{text}.")


WINDOW = 10
STEPS = (6, 9, 12, 15)
"""The turns at which the beginning of ten messages moves: by five, back to where a turn begins."""


async def windowed(protocol: str, home: Path) -> Story:
    """Fifteen short turns under a small window; a turn of one round adds two messages."""
    async with ChatServer(summary=SUMMARY) as server:
        story = Story(protocol, home, server, "window")
        async with story.running(messages=WINDOW) as turns:
            for turn in range(1, 16):
                kind = Kind.WINDOW if turn in STEPS else Kind.TURN
                await story.say(turns, f"Line {turn:02}", kind, f"Heard {turn:02}.")
    return story


def table(pairs: Sequence[Pair]) -> str:
    """Each kind of pair, and rounds and turns with and without the deliberate breaks."""
    lines = [f"{'between the requests':<42} {'pairs':>5} {'kept':>8} {'least':>8}"]
    for kind in Kind:
        if found := [p for p in pairs if p.kind is kind]:
            least = min(p.kept / p.of for p in found)
            name = f"{kind.value}{' (break)' if kind.is_break else ''}"
            lines.append(f"{name:<42} {len(found):>5} {share(found):>8.2%} {least:>8.2%}")
    for name, some in sums(pairs).items():
        lines.append(f"{name:<42} {len(some):>5} {share(some):>8.2%}")
    return "\n".join(lines)


def sums(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """Rounds and turns, as far as there are any, without the deliberate breaks and with them."""
    rounds = [p for p in pairs if p.kind.is_within_a_turn]
    turns = [p for p in pairs if not p.kind.is_within_a_turn]
    found = {
        "rounds": [p for p in rounds if not p.kind.is_break],
        "rounds, breaks included": rounds,
        "turns": [p for p in turns if not p.kind.is_break],
        "turns, breaks included": turns,
    }
    return {name: some for name, some in found.items() if some}


def _older(body: str) -> str:
    message = json.loads(body)
    at = datetime.fromisoformat(message["at"]) - 2 * IDLE
    return json.dumps({**message, "at": at.isoformat()}, ensure_ascii=False)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    for protocol in PROTOCOLS:
        with tempfile.TemporaryDirectory() as folder:
            pairs = (await told(protocol, Path(folder, "a"))).pairs + (
                await windowed(protocol, Path(folder, "b"))
            ).pairs
        found[protocol] = {name: share(some) for name, some in sums(pairs).items()}
        if not options.json:
            print(f"{protocol}\n{table(pairs)}\n")
    if options.json:
        json.dump(found, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
