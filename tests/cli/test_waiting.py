"""/withdraw: the newest message of one's own, its words quoted; never another's without saying whose."""

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from palmclaw.app import assembled
from palmclaw.cli.chat import Style, Talk
from palmclaw.cli.listening import Listening
from palmclaw.cli.slash import Slash
from palmclaw.cli.texts import texts
from palmclaw.core.traffic import Address, Fate, Inbound, Origin, Receipt
from palmclaw.storage.database import Database
from palmclaw.storage.inbox import Inbox
from tests.servers.desk_runtime import DeskRuntime

MEI = Inbound("main", "from Mei", Origin.OTHER, "555", address=Address("telegram", "5"), name="Mei\x1b Lin")


class Withdrawing(DeskRuntime):
    """Notes what is taken back, and does it in the store."""

    def __init__(self, inbox: Inbox) -> None:
        super().__init__()
        self.inbox = inbox

    async def withdraw(self, inbox: int) -> Receipt:
        await self.inbox.mark([inbox], Fate.CANCELLED, "taken back")
        found = await self.inbox.get(inbox)
        assert found is not None
        return found.receipt


@dataclass(slots=True)
class Chat:
    """A conversation in which messages wait."""

    slash: Slash
    inbox: Inbox
    listening: Listening

    async def waits(self, inbound: Inbound, *, mine: bool = False) -> None:
        receipt = (await self.inbox.put(inbound)).receipt
        self.listening.waiting[receipt.id] = receipt
        if mine:
            self.listening.mine[receipt.id] = inbound.text

    async def says(self, command: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
        await self.slash.run(command)
        return capsys.readouterr().err.splitlines()


@pytest.fixture
async def chat(home_dir: Path) -> AsyncIterator[Chat]:
    app = assembled(os.environ)
    app.database = Database(home_dir / "palmclaw.db")
    inbox = Inbox(app.database)
    runtime = Withdrawing(inbox)
    talk = Talk(app, texts({}), "main", Style(one_shot=True))

    async def change(session: str) -> None:
        raise AssertionError(session)

    listening = Listening(talk, runtime, lambda: None, lambda asked, event: None)
    yield Chat(Slash(talk, runtime, listening, change), inbox, listening)
    await app.database.close()


async def test_none_waits(chat: Chat, capsys: pytest.CaptureFixture[str]) -> None:
    assert await chat.says("/withdraw", capsys) == ["Nothing waits."]


async def test_the_newest_of_ones_own_is_taken_and_quoted(chat: Chat, capsys: pytest.CaptureFixture[str]) -> None:
    await chat.waits(Inbound("main", "first"), mine=True)
    await chat.waits(Inbound("main", f"second {'x' * 80}\n"), mine=True)
    await chat.waits(Inbound("main", "typed elsewhere"))
    await chat.waits(MEI)
    assert await chat.says("/withdraw", capsys) == [f"Taken back: “second {'x' * 52}…”"]
    assert await chat.says("/withdraw", capsys) == ["Taken back: “first”"]
    assert await chat.says("/withdraw", capsys) == ["Taken back, of you, elsewhere: “typed elsewhere”"]
    assert await chat.says("/withdraw", capsys) == [
        "Nothing of yours waits here. What waits, in line:",
        "1  Mei⟨U+001B⟩ Lin (telegram): “from Mei”",
        "/withdraw NUMBER, from 1 to 1",
    ]
    assert [stored.inbound.text for stored in await chat.inbox.waiting()] == ["from Mei"]


async def test_anothers_is_taken_by_its_number_alone_and_it_is_said_whose(
    chat: Chat, capsys: pytest.CaptureFixture[str]
) -> None:
    await chat.waits(MEI)
    await chat.waits(Inbound("main", "mine"), mine=True)
    assert await chat.says("/withdraw 3", capsys) == ["/withdraw NUMBER, from 1 to 2"]
    assert await chat.says("/withdraw 1", capsys) == ["Taken back, of Mei⟨U+001B⟩ Lin (telegram): “from Mei”"]
    assert await chat.says("/withdraw x", capsys) == ["/withdraw NUMBER, from 1 to 1"]
    assert list(chat.listening.mine.values()) == ["mine"]


async def test_a_sub_agents_report_is_not_ones_own(chat: Chat, capsys: pytest.CaptureFixture[str]) -> None:
    await chat.waits(Inbound("main", "found it", sender="subagent:1"))
    said = await chat.says("/withdraw", capsys)
    assert said[1] == "1  subagent:1: “found it”"
    assert len(await chat.inbox.waiting()) == 1
