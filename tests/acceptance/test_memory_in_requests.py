"""Memory and skills as a model is sent them by the whole program: in whose conversations, when, and how often."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.test_channels import OWNER, Phone, phone, written
from tests.servers.chat_server import ChatServer


@asynccontextmanager
async def told(home: Path, memory: str) -> AsyncIterator[tuple[Phone, ChatServer]]:
    """A gateway with a chat platform, a model service and something in memory."""
    written(home / "memory", "MEMORY.md", memory)
    async with ChatServer(["Fine."], repeat=True) as server:
        service = f'[provider]\nbase_url = "{server.url}"\nprotocol = "openai_chat"\nmodel = "m"\n'
        async with phone(home, service + OWNER) as p:
            yield p, server


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


async def test_a_skill_that_fits_comes_with_the_message_and_once(home_dir: Path) -> None:
    async with told(home_dir, "") as (p, server):
        await p.hears("pair my headphones over bluetooth")
        await p.says(1)
        assert "<skill name=bluetooth>" in newest(server)
        await p.hears("the bluetooth headphones are on now")
        await p.says(2)
        assert "<skill name=" not in newest(server)
        assert server.requests[-1].raw.count(b"<skill name=bluetooth>") == 1
