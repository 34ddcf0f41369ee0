"""Memory and skills as a model is sent them by the whole program: in whose conversations, when, and how often."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.errors import StorageError
from palmclaw.core.records import Beginning
from palmclaw.core.traffic import Inbound
from palmclaw.runtime.background import Background
from palmclaw.storage.sessions import Sessions
from tests.acceptance.test_channels import OWNER, Phone, phone, written
from tests.acceptance.test_context import LONG
from tests.servers.chat_server import SUMMARY, ChatServer

SMALL = "[limits]\ncontext_messages = 10\n"


@asynccontextmanager
async def told(home: Path, memory: str, limits: str = "") -> AsyncIterator[tuple[Phone, ChatServer]]:
    """A gateway with a chat platform, a model service and something in memory."""
    written(home / "memory", "MEMORY.md", memory)
    async with ChatServer(["Fine."], repeat=True, summary=SUMMARY) as server:
        service = f'[provider]\nbase_url = "{server.url}"\nprotocol = "openai_chat"\nmodel = "m"\n'
        async with phone(home, f"{service}{OWNER}{limits}") as p:
            yield p, server


async def talked(p: Phone, count: int) -> None:
    """So many more turns, long enough to be worth a summary."""
    for number in range(count):
        before = len(p.chat.log)
        await p.hears(f"{number} {LONG}")
        await p.says(before + 1)


def system(server: ChatServer) -> str:
    return str(server.requests[-1].body["messages"][0]["content"])


def newest(server: ChatServer) -> str:
    message: dict[str, Any] = server.requests[-1].body["messages"][-1]
    return str(message["content"])


async def test_the_owner_is_remembered_in_every_conversation_and_what_is_new_is_told_once(home_dir: Path) -> None:
    async with told(home_dir, "## Preferences\n- likes tea <!-- 2026-05-01 agent main -->\n") as (p, server):
        await p.hears("hello")
        await p.says(1)
        assert "What you remember:\n## Preferences\n- likes tea\n" in system(server)
        written(home_dir / "memory", "MEMORY.md", "## Preferences\n- likes tea\n- lives in Macau\n")
        begins = system(server)
        await p.hears("and now?")
        await p.says(2)
        assert newest(server).endswith("[Memory has changed:\nlives in Macau]")
        await p.hears("well?")
        await p.says(3)
        assert "Memory has changed" not in newest(server)
        assert system(server) == begins
        await p.hears("hello", chat="c2")
        await p.says(4)
        assert "- lives in Macau" in system(server)


async def test_a_guest_and_a_group_read_no_memory(home_dir: Path) -> None:
    async with told(home_dir, "- likes tea\n") as (p, server):
        await p.hears("hello", sender="8", chat="c8")
        await p.says(1)
        await p.hears("hello all", chat="g1", group=True)
        await p.says(2)
        assert [r for r in server.requests if b"likes tea" in r.raw] == []
        assert len(server.requests) == 2


async def test_what_memory_has_gained_outlives_the_message_that_told_it(home_dir: Path) -> None:
    async with told(home_dir, "- likes tea\n", SMALL) as (p, server):
        await talked(p, 1)
        written(home_dir / "memory", "MEMORY.md", "- allergic to nuts, never tea\n")
        await talked(p, 1)
        assert "allergic" in newest(server)
        await talked(p, 8)
        assert len(server.summed) >= 1
        assert ("allergic" in system(server), "likes tea" in system(server)) == (True, False)
        before = system(server)
        await talked(p, 1)
        assert system(server) == before


async def test_what_was_not_stored_was_not_told(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with told(home_dir, "- likes tea\n") as (p, server):
        await talked(p, 1)
        written(home_dir / "memory", "MEMORY.md", "- likes tea\n- allergic to nuts\n")
        stored = Sessions.begin

        async def full(sessions: Sessions, beginning: Beginning) -> None:
            monkeypatch.setattr(Sessions, "begin", stored)
            raise StorageError("no space left")

        monkeypatch.setattr(Sessions, "begin", full)
        await talked(p, 1)  # the lane begins it once more
        assert newest(server).endswith("[Memory has changed:\nallergic to nuts]")


async def test_where_others_have_read_along_the_owner_has_no_memory_either(home_dir: Path) -> None:
    async with told(home_dir, "- my PIN is on the fridge\n") as (p, server):
        await p.gateway.take(Inbound("chat:g1", "what was said here?"))  # from the terminal, before anybody spoke
        await p.until(lambda: len(server.requests) == 1)
        await p.until(lambda: p.gateway.lanes.get("chat:g1") is None)
        assert "PIN" in system(server)
        await p.hears("hello all", sender="8", chat="g1", group=True)
        await p.says(1)
        assert b"PIN" not in server.requests[-1].raw
        await p.gateway.take(Inbound("chat:g1", "and now?"))
        await p.until(lambda: len(server.requests) == 3)
        assert b"PIN" not in server.requests[-1].raw


async def test_what_was_told_before_others_came_is_not_sent_to_them(home_dir: Path) -> None:
    async with told(home_dir, "- likes tea\n") as (p, server):
        for number, memory in enumerate(("- likes tea\n", "- likes tea\n- my PIN is on the fridge\n"), 1):
            written(home_dir / "memory", "MEMORY.md", memory)
            await p.gateway.take(Inbound("chat:g1", f"question {number}"))
            await p.until(lambda count=number: len(server.requests) == count)  # type: ignore[misc]  # a default
            await p.until(lambda: p.gateway.lanes.get("chat:g1") is None)
        assert newest(server).endswith("[Memory has changed:\nmy PIN is on the fridge]")
        await p.hears("hello all", sender="8", chat="g1", group=True)
        await p.says(1)
        raw = server.requests[-1].raw
        assert (b"question 2" in raw, b"PIN" in raw, b"tea" in raw) == (True, False, False)


async def test_what_is_counted_for_a_group_is_what_it_is_sent(home_dir: Path) -> None:
    async with told(home_dir, "".join(f"- wish number {n}\n" for n in range(300))) as (p, _):
        for number in range(3):
            await p.hears(f"{number} {LONG}", chat="g1", group=True)
            await p.says(number + 1)
        await p.hears("/context", chat="g1", group=True)
        await p.hears("/compact", chat="g1", group=True)  # after that the next request begins anew
        await p.says(6)
        await p.hears("/context", chat="g1", group=True)
        before, after = (text.rpartition("besides ")[2] for text in (await p.says(7))[3::3])
        assert before == after


async def test_what_others_have_said_is_looked_through_for_nobody(
    home_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after the owner's own turn there either; though it can be found."""
    monkeypatch.setattr("palmclaw.house.Background", partial(Background, pause=0.0))
    async with told(home_dir, "", "[limits]\nmemory_messages = 10\n") as (p, server):
        for number in range(6):
            await p.hears(f"secret plan {number}", chat="g1", group=True)
            await p.says(number + 1)
        await p.gateway.take(Inbound("chat:g1", "what was said here?"))
        await p.until(lambda: len(server.requests) == 7)
        for number in range(5):
            await p.hears(f"hello {number}")
            await p.says(number + 7)
        await p.until(lambda: len(server.summed) == 1)
        assert (b"hello 0" in server.summed[0].raw, b"secret" in server.summed[0].raw) == (True, False)
        records = p.gateway.stores.inbox.database  # type: ignore[attr-defined]  # the store's own
        asked = "SELECT count(*) FROM spoken WHERE session='chat:g1'"
        assert (await records.run(lambda db: db.execute(asked).fetchone()))[0] >= 12


async def test_what_a_group_has_said_is_not_looked_through_for_memory(home_dir: Path) -> None:
    async with told(home_dir, "") as (p, server):
        for number in range(3):
            await p.hears(f"secret plan {number} {LONG}", chat="g1", group=True)
            await p.says(number + 1)
        await p.hears("/compact", chat="g1", group=True)
        assert (await p.says(5))[4].startswith("4 older messages summed up")
        assert len(server.summed) == 1


async def test_a_skill_is_there_also_in_the_turn_whose_request_loses_its_body(home_dir: Path) -> None:
    async with told(home_dir, "", SMALL) as (p, server):
        await p.hears(f"pair my headphones over bluetooth {LONG}")
        await p.says(1)
        await talked(p, 4)
        assert server.summed == []
        await p.hears("pair my other bluetooth headphones")
        await p.says(6)
        assert len(server.summed) == 2  # with the look through for memory
        assert server.requests[-1].raw.count(b"<skill name=bluetooth>") == 1


async def test_a_skill_that_fits_comes_with_the_message_and_once(home_dir: Path) -> None:
    async with told(home_dir, "") as (p, server):
        await p.hears("pair my headphones over bluetooth")
        await p.says(1)
        assert "<skill name=bluetooth>" in newest(server)
        await p.hears("the bluetooth headphones are on now")
        await p.says(2)
        assert "<skill name=" not in newest(server)
        assert server.requests[-1].raw.count(b"<skill name=bluetooth>") == 1
