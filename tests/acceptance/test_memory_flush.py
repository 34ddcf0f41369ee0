"""What is about to leave the window is looked through for memory first: the acceptance cases C-09, C-10, C-11, C-23."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from palmclaw.agent.consolidation import Consolidation
from palmclaw.core.errors import StorageError, Unavailable
from palmclaw.core.memory import Progress
from palmclaw.core.messages import ToolCall
from palmclaw.core.notes import page
from palmclaw.core.ports import Delta, Request
from palmclaw.storage.memory import KeptMemory
from palmclaw.storage.memory_file import MemoryFile
from tests.acceptance.rig import HERE, Model, Rig, Say, rigged
from tests.storage.test_memory import Calendar

LEARNS = Say(calls=(ToolCall("m", "save_memory", {"add": [{"text": "Likes tea"}]}),))
NOTHING = Say(calls=(ToolCall("m", "save_memory"),))


class Facts:
    """What is known of the model."""

    def name(self, reference: str) -> str:
        return "m"

    def is_local(self, reference: str) -> bool:
        return False


class Failing(KeptMemory):
    """A disk that fails."""

    async def progress(self, session: str) -> Progress:
        raise StorageError("no space left")


@dataclass
class Crowded:
    """A service before each of whose answers the conversation is compacted: the flush, once in each of its cycles.

    What it remembers is asked of `mind`.
    """

    model: Model
    mind: Model = field(default_factory=Model)
    cycle: int = 0
    upto: int = 0
    flushed: int = 0
    consolidation: Consolidation | None = None
    local: bool = False

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        is_turn = request.purpose == "turn"
        if is_turn and self.upto and self.consolidation is not None:
            self.flushed += await self.consolidation.flush(HERE, self.upto, cycle=self.cycle)
        async for delta in (self.model if is_turn else self.mind).stream(request):
            yield delta

    async def close(self) -> None:
        """Nothing to give back."""


@dataclass
class Place:
    """A runtime whose conversation is crowded."""

    rig: Rig
    crowd: Crowded
    path: Path

    @property
    def remembered(self) -> list[str]:
        return [e.text for e in page(self.path.read_text()).entries] if self.path.exists() else []

    async def turn(self, text: str, *, upto: int = 0, cycle: int = 0) -> None:
        """A turn in which what lies before `upto` leaves the window."""
        self.crowd.upto, self.crowd.cycle = upto, cycle
        ended = len(self.rig.stops())
        await self.rig.say(text)
        await self.rig.ends(ended + 1)


@asynccontextmanager
async def crowded(folder: Path) -> AsyncIterator[Place]:
    model = Model()
    crowd = Crowded(model)
    async with rigged(folder, model=model, provider=crowd) as rig:
        memory = KeptMemory(MemoryFile(folder / "memory" / "MEMORY.md"), rig.database, Calendar())
        crowd.consolidation = Consolidation(crowd, Facts(), memory, memory)
        yield Place(rig, crowd, folder / "memory" / "MEMORY.md")
        await rig.check_whole()


async def test_c09_once_in_a_cycle(tmp_path: Path) -> None:
    async with crowded(tmp_path) as place:
        place.crowd.mind.will(LEARNS, NOTHING)
        await place.turn("I like tea", upto=1)
        assert (len(place.crowd.mind.requests), place.remembered) == (1, ["Likes tea"])
        for text in ("and", "so", "on"):
            await place.turn(text, upto=3)
        assert len(place.crowd.mind.requests) == 1
        await place.turn("after the compaction", upto=5, cycle=1)
        assert len(place.crowd.mind.requests) == 2


async def test_a_new_beginning_is_a_new_cycle(tmp_path: Path) -> None:
    async with crowded(tmp_path) as place:
        place.crowd.mind.will(NOTHING, LEARNS)
        await place.turn("hello", upto=1)
        await place.rig.say("/new")
        await place.turn("I like tea", upto=3)
        assert (len(place.crowd.mind.requests), place.remembered) == (2, ["Likes tea"])


@pytest.mark.parametrize("failure", [Say(error=Unavailable("the service is away")), Say("no call"), Say()])
async def test_c10_a_flush_that_fails_keeps_no_reply(tmp_path: Path, failure: Say) -> None:
    async with crowded(tmp_path) as place:
        place.crowd.mind.will(failure)
        await place.turn("I like tea", upto=1)
        assert await place.rig.said() == [("user", "I like tea"), ("assistant", "ok")]
        assert (place.rig.stops(), place.remembered) == (["done"], [])
        await place.turn("again", upto=3)
        assert len(place.crowd.mind.requests) == 1  # not in this cycle


async def test_c10_a_disk_that_fails_keeps_no_reply(tmp_path: Path) -> None:
    async with crowded(tmp_path) as place:
        assert place.crowd.consolidation is not None
        place.crowd.consolidation.store = Failing(MemoryFile(place.path), place.rig.database, Calendar())
        await place.turn("I like tea", upto=1)
        assert await place.rig.said() == [("user", "I like tea"), ("assistant", "ok")]


async def test_c11_its_prompt_is_in_no_transcript_and_it_can_only_change_the_memory(tmp_path: Path) -> None:
    async with crowded(tmp_path) as place:
        place.crowd.mind.will(Say(calls=(ToolCall("s", "send", {"name": "x"}), *LEARNS.calls)))
        await place.turn("I like tea", upto=1)
        assert await place.rig.said() == [("user", "I like tea"), ("assistant", "ok")]
        (flush,) = place.crowd.mind.requests
        assert ([t.name for t in flush.tools], flush.turn, flush.session) == (["save_memory"], "", HERE)
        assert (place.rig.ran, place.remembered) == ([], ["Likes tea"])
        await place.turn("next")
        last = place.crowd.model.requests[-1]
        assert [m.text for m in last.messages] == ["I like tea", "ok", "next"]
        assert [t.name for t in last.tools] == ["look", "send", "spawn", "write"]


async def test_c23_the_first_flush_of_a_session_runs_and_then_one_in_each_cycle(tmp_path: Path) -> None:
    async with crowded(tmp_path) as place:
        place.crowd.mind.will(*[NOTHING] * 4)
        for cycle in range(4):
            for turn in range(2):
                await place.turn(f"turn {turn} of cycle {cycle}", upto=1 + 4 * cycle, cycle=cycle)
        assert (len(place.crowd.mind.requests), place.crowd.flushed) == (4, 4)
