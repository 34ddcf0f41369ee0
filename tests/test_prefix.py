"""Each request begins with the bytes of the one before, but for the deliberate breaks; `-s` shows the shares."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.children import bare
from tests.prefix import (
    CHANGED,
    PROTOCOLS,
    SLOW,
    STEPS,
    Kind,
    Pair,
    Story,
    compared,
    share,
    sums,
    table,
    told,
    windowed,
)
from tests.servers.chat_server import ChatServer

EXPECTED = {
    Kind.ROUND: 14,
    Kind.TURN: 10,
    Kind.RESTART: 1,
    Kind.POLICY: 1,
    Kind.INTERRUPTED: 2,
    Kind.MODEL: 3,
    Kind.FAMILY: 1,
    Kind.FOUND: 1,
    Kind.IDLE: 1,
}
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def moved(pairs: list[Pair]) -> list[Kind]:
    return [p.kind for p in pairs if p.kept < p.of]


@every_protocol
async def test_only_deliberate_breaks_change_how_a_request_begins(protocol: str, tmp_path: Path) -> None:
    story = await told(protocol, tmp_path / "home")
    print(f"\n{protocol}\n{table(story.pairs)}")
    assert {kind: sum(p.kind is kind for p in story.pairs) for kind in EXPECTED} == EXPECTED
    assert (
        moved(story.pairs) == [p.kind for p in story.pairs if p.kind.is_break] == [Kind.FAMILY, Kind.FOUND, Kind.IDLE]
    )
    kept = sums(story.pairs)
    assert share(kept["rounds"]) >= 0.99
    assert share(kept["turns"]) >= 0.95


@every_protocol
async def test_a_text_that_changed_waits_for_the_next_break(protocol: str, tmp_path: Path) -> None:
    """As it is with the policy here, so it will be with memory and skills: the session's snapshot keeps its bytes."""
    story = await told(protocol, tmp_path / "home")
    new = [CHANGED in body for body in story.bodies]
    first = new.index(True)
    assert "Pair the bluetooth speaker" in story.bodies[first]
    assert "Pair the bluetooth speaker" not in story.bodies[first - 1]
    idle = next(n for n, body in enumerate(story.bodies) if "Good evening" in body)
    assert new == [first <= n < idle for n in range(len(new))]


@every_protocol
async def test_what_was_cut_short_goes_back_as_far_as_it_came(protocol: str, tmp_path: Path) -> None:
    story = await told(protocol, tmp_path / "home")
    after = next(body for body in story.bodies if "Shorter, please" in body)
    said = "It goes on and on."
    assert said in after
    assert SLOW.text.strip() not in after
    assert all(said in body for body in story.bodies[story.bodies.index(after) :])


@every_protocol
async def test_the_window_moves_in_steps(protocol: str, tmp_path: Path) -> None:
    story = await windowed(protocol, tmp_path / "home")
    print(f"\n{protocol}, a small window\n{table(story.pairs)}")
    assert [p.kind for p in story.pairs] == [Kind.WINDOW if turn in STEPS else Kind.TURN for turn in range(2, 16)]
    assert moved(story.pairs) == [Kind.WINDOW] * len(STEPS)
    assert share(sums(story.pairs)["turns"]) >= 0.95
    assert [n for n in range(1, 16) if f"Line {n:02}" in story.bodies[-1]] == [13, 14, 15]


@every_protocol
async def test_another_process_begins_with_the_same_bytes(protocol: str, tmp_path: Path) -> None:
    """Not even the order of sets, which Python shuffles anew in every process, shows in a request."""
    async with ChatServer(["Hello."], repeat=True) as server:
        Story(protocol, tmp_path, server).configure()
        for seed in "12":
            words = ("chat", "--approve", "never", "Text Mei Lin how much battery and storage is left, please")
            environ = bare(PALMCLAW_HOME=str(tmp_path), PYTHONHASHSEED=seed)
            argv = (sys.executable, "-m", "palmclaw", *words)
            process = await asyncio.create_subprocess_exec(*argv, env=environ, stdout=asyncio.subprocess.DEVNULL)
            assert await process.wait() == 0
        first, second = (asked.raw for asked in server.requests)
    assert len(server.requests[0].body["tools"]) > 15
    pair = compared(Kind.RESTART, first, second)
    assert pair.kept == pair.of


def test_how_two_requests_are_compared() -> None:
    mark = b',"cache_control":{"type":"ephemeral"}'
    before = b'{"messages":[{"content":[{"text":"hi"' + mark + b"}]}]}"
    after = b'{"messages":[{"content":[{"text":"hi"}]},{"content":[{"text":"ho"' + mark + b"}]}]}"
    assert compared(Kind.ROUND, before, after) == Pair(Kind.ROUND, 37, 37)
    assert compared(Kind.ROUND, before, after.replace(b"hi", b"ha")) == Pair(Kind.ROUND, 35, 37)
    assert compared(Kind.ROUND, before, before[:20]) == Pair(Kind.ROUND, 20, 37)
    assert share([Pair(Kind.ROUND, 35, 37), Pair(Kind.TURN, 3, 3)]) == 38 / 40
