"""What was said is found again: words of one or two characters, questions in pieces, and only by who may see it."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from palmclaw.core.codec import encode
from palmclaw.core.desks import Charge
from palmclaw.core.errors import BadArguments
from palmclaw.core.memory import Sight
from palmclaw.core.messages import Message, Role, Text, user_message
from palmclaw.core.records import Beginning
from palmclaw.core.traffic import Address, Inbound, Origin
from palmclaw.core.wire import compact
from palmclaw.storage.conversations import BATCH, ConversationRecords
from palmclaw.storage.crew import CrewRecords
from palmclaw.storage.database import Database, Work
from palmclaw.storage.sessions import Sessions

SAID = (
    *("明天下午开会", "去图书馆还书", "潮汐表检查已完成", "会後に会議があります", "도서관에 갔다", "こんにちは世界"),
    *("the Wi-Fi password is on the fridge", "Harbour lights at nine", "water the plants on Friday"),
)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    made = Database(tmp_path / "palmclaw.db")
    yield made
    await made.close()


async def begun(database: Database, turn: str, *inbounds: Inbound, say: tuple[str, ...] = ()) -> None:
    messages = tuple(user_message(text) for text in say) or (user_message(inbounds[-1].text),)
    await Sessions(database).begin(Beginning(turn, inbounds, messages))


async def texts(database: Database, words: str, sessions: tuple[str, ...] | None = None) -> list[str]:
    return [f.text for f in await ConversationRecords(database).recall(words, sessions)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("开会", ["明天下午开会"]),
        ("会", ["会後に会議があります", "明天下午开会"]),
        ("图书馆", ["去图书馆还书"]),
        ("馆图", []),
        ("도서관", ["도서관에 갔다"]),
        ("갔", ["도서관에 갔다"]),
        ("世界", ["こんにちは世界"]),
        ("会議", ["会後に会議があります"]),
        ("潮汐表检查结果", ["潮汐表检查已完成"]),  # F081
        ("图书馆 开会", ["去图书馆还书", "明天下午开会"]),
        ("我们什么时候开会", ["明天下午开会"]),
        ("开会之前先去医院检查身体", []),  # two pairs of many are chance
        ("what is the wifi password", ["the Wi-Fi password is on the fridge"]),
        ("FRIDAY plants", ["water the plants on Friday"]),
        ("did we water the roses on Friday", ["water the plants on Friday"]),
        ("zebra", []),
        ("🦓", []),
    ],
)
async def test_what_was_said_is_found(database: Database, words: str, found: list[str]) -> None:
    await begun(database, "t", Inbound("main", "x"), say=SAID)
    assert sorted(await texts(database, words)) == sorted(found)


async def test_a_sign_among_words_says_nothing_and_one_alone_is_looked_for(database: Database) -> None:
    await begun(database, "t", Inbound("main", "x"), say=("tea & cake", "cake & coffee", "tea, cake"))
    await begun(database, "u", Inbound("other", "x"), say=("salt & pepper",))
    assert sorted(await texts(database, "tea & cake")) == ["tea & cake", "tea, cake"]
    assert await texts(database, "&") == ["salt & pepper", "cake & coffee", "tea & cake"]
    assert await texts(database, "&", ("main",)) == ["cake & coffee", "tea & cake"]
    first = await ConversationRecords(database).recall("&", None, 2)
    assert [f.text for f in first] == ["salt & pepper", "cake & coffee"]


@dataclass(slots=True)
class Counting(Database):
    """Counts its transactions; between two of them others get their turn."""

    count: int = 0

    async def run(self, work: Work[Any]) -> Any:
        self.count += 1
        return await Database.run(self, work)


async def test_nobody_waits_while_a_sign_is_looked_for(database: Database) -> None:
    await begun(database, "t", Inbound("main", "x"), say=tuple(f"message {n}" for n in range(BATCH * 3)))
    counting = Counting(database.path)
    records = ConversationRecords(counting)
    while await records.index_some():
        pass
    counting.count = 0
    assert await records.search("🦓") == ()
    assert counting.count >= 3
    await counting.close()


async def test_near_hits_say_so_and_the_nearest_come_first(database: Database) -> None:
    said = ("潮汐的检查", "潮汐表检查已完成", "表检查")
    await begun(database, "t", Inbound("main", "x"), say=said)
    found = await ConversationRecords(database).recall("潮汐表检查结果")
    assert found[0].text == "潮汐表检查已完成"
    assert {(f.text, f.near) for f in found} == {(text, True) for text in said}
    assert [f.near for f in await ConversationRecords(database).recall("表检查")] == [False, False]


async def test_only_these_sessions_are_searched(database: Database) -> None:
    for session in ("main", "telegram:5", "telegram:6"):
        await begun(database, session, Inbound(session, f"开会 in {session}"))
    assert len(await texts(database, "开会")) == 3
    assert await texts(database, "开会", ("telegram:5",)) == ["开会 in telegram:5"]
    assert await texts(database, "开会结果", ("telegram:5", "none")) == ["开会 in telegram:5"]
    assert await texts(database, "开会", ()) == []
    assert await texts(database, "🦓 开会", ()) == []
    assert len(await ConversationRecords(database).search("开会", "main")) == 1


async def test_what_strangers_said_stays_theirs(database: Database) -> None:
    await begun(database, "t", Inbound("main", "x"))
    await Sessions(database).append("main", "t", Message(Role.USER, (Text("pay the invoice"),), tainted=True))
    (found,) = await ConversationRecords(database).recall("invoice")
    assert found.tainted


async def test_nothing_is_no_question(database: Database) -> None:
    with pytest.raises(BadArguments, match="say what to look for"):
        await ConversationRecords(database).recall(" \n")


async def test_without_an_index_only_whole_words_are_found(database: Database, monkeypatch: Any) -> None:
    monkeypatch.setattr("palmclaw.storage.conversations._made", lambda db: False)
    await begun(database, "t", Inbound("main", "x"), say=SAID)
    assert await texts(database, "图书馆") == ["去图书馆还书"]
    assert await texts(database, "潮汐表检查结果") == []


CHAT = Address("telegram", "5")


@pytest.mark.parametrize(
    ("inbounds", "sight"),
    [
        ((Inbound("s", "x"),), Sight(True, None)),
        ((Inbound("s", "x", Origin.JOB),), Sight(True, None)),
        ((Inbound("s", "x", address=CHAT),), Sight(True, ("s",))),
        ((Inbound("s", "x", address=CHAT, group=True),), Sight(False, ("s",))),
        ((Inbound("s", "x", Origin.OTHER, address=CHAT),), Sight(False, ("s",))),
        ((Inbound("s", "x", Origin.OTHER),), Sight(False, ("s",))),
        ((Inbound("s", "x", Origin.OTHER), Inbound("s", "y")), Sight(False, ("s",))),
        ((Inbound("s", "x", address=CHAT), Inbound("s", "y")), Sight(True, ("s",))),
    ],
)
async def test_who_may_see_what(database: Database, inbounds: tuple[Inbound, ...], sight: Sight) -> None:
    await begun(database, "t", *inbounds)
    assert await ConversationRecords(database).sight("s", "t") == sight


async def test_a_turn_that_nobody_knows_sees_its_own_session(database: Database) -> None:
    records = ConversationRecords(database)
    assert await records.sight("s", "t") == Sight(False, ("s",))
    await begun(database, "t", Inbound("s", "x"))
    await database.run(lambda db: db.execute("UPDATE turn SET begun='['"))
    assert await records.sight("s", "t") == Sight(False, ("s",))


async def sub_agent(database: Database, session: str, parent: str, turn: str, name: str) -> None:
    charge = compact(encode(Charge("look", "look", parent, turn=turn)))
    task = Inbound(session, "look", sender=f"subagent:{parent}")
    await CrewRecords(database).begin(task, parent, charge)
    await begun(database, name, task)


async def test_a_sub_agent_sees_what_its_parent_sees(database: Database) -> None:
    records = ConversationRecords(database)
    await begun(database, "t1", Inbound("telegram:5", "x", address=CHAT))
    await sub_agent(database, "subagent:a", "telegram:5", "t1", "t2")
    await sub_agent(database, "subagent:b", "subagent:a", "t2", "t3")
    assert await records.sight("subagent:b", "t3") == Sight(True, ("subagent:b", "subagent:a", "telegram:5"))
    await begun(database, "t4", Inbound("main", "x"))
    await sub_agent(database, "subagent:c", "main", "t4", "t5")
    assert await records.sight("subagent:c", "t5") == Sight(True, None)
    await sub_agent(database, "subagent:d", "subagent:d", "t6", "t6")
    assert await records.sight("subagent:d", "t6") == Sight(False, ("subagent:d",) * 9)
