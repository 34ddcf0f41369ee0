"""What the owner tells the runtime itself, in English and in Chinese, right and wrong."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.messages import ToolCall
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Address, Drop, Fate, Mode, QueueSettings
from palmclaw.runtime.orders import QUEUE_HOW, question
from palmclaw.runtime.words import CHINESE, ENGLISH, Words, language
from tests.acceptance.rig import HERE, Gate, Rig, Say, call, rigged


def chat(session: str) -> Address:
    """Every session has a chat of its own."""
    return Address("chat", session)


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(tmp_path / "en") as made:
        yield made


@pytest.fixture
async def chinese(tmp_path: Path) -> AsyncIterator[Rig]:
    async with rigged(tmp_path / "zh", language="zh") as made:
        yield made


async def told(rig: Rig, text: str, session: str = HERE) -> str:
    """What a command is answered; it never reaches the model."""
    receipt = await rig.say(text, session, address=chat(session))
    assert receipt.fate is Fate.ANSWERED
    assert await rig.fate(receipt) == ("answered", 0)
    return receipt.text


async def working(rig: Rig, session: str = HERE) -> Gate:
    rig.model.will(Say("done", gate=(gate := Gate())), session=session)
    await rig.say("A", session)
    await gate.reached.wait()
    return gate


async def asking(rig: Rig, session: str = HERE) -> str:
    """A turn that asks its owner; returns the question's id."""
    rig.model.will(Say(calls=(call("send", f"t-{session}"),)), "said", session=session)
    before = {q.asked.id for q in await rig.gateway.questions()}
    await rig.say("A", session, address=chat(session))
    while not (new := {q.asked.id for q in await rig.gateway.questions()} - before):
        await asyncio.sleep(0.001)
    return new.pop()


async def test_stop(rig: Rig, chinese: Rig) -> None:
    assert await told(rig, "/stop") == "Nothing is running."
    assert await told(chinese, "/stop") == "没有正在运行的任务。"
    english, other = "Stopped. 1 waiting message taken away.", "已停止。已取消 1 条等待中的消息。"
    for each, text in ((rig, english), (chinese, other)):
        await working(each)
        await each.say("B", mode=Mode.FOLLOWUP)
        assert await told(each, "停") == text


async def test_queue(rig: Rig, chinese: Rig) -> None:
    shown = "Messages that come while I work: steer (silence 0 s, at most 20, full: summarize)."
    assert await told(rig, "/queue") == shown
    assert await told(rig, "/queue nonsense") == f"{shown} {QUEUE_HOW}"
    changed = "Messages that come while I work: followup (silence 1.5 s, at most 3, full: new)."
    assert await told(rig, "/queue followup debounce:1.5s cap:3 drop:new") == changed
    assert await told(rig, "/queue reset now") == f"{changed} {QUEUE_HOW}"
    assert await told(rig, "/queue drop=old") == changed.replace("new", "old")
    assert await rig.gateway.queue(HERE) == QueueSettings(Mode.FOLLOWUP, 1.5, 3, Drop.OLD)
    assert await told(rig, "/queue: clear") == shown
    text = "我工作时收到的消息：collect（静默 0 秒，最多 20 条，满了：summarize）。"
    assert await told(chinese, "/queue collect") == text


async def test_steer(rig: Rig) -> None:
    assert await told(rig, "/steer") == await told(rig, "/tell") == "/steer TEXT"
    gate = await working(rig)
    await rig.gateway.queue(HERE, None, reset=True)
    receipt = await rig.say("/steer  go left")
    gate.open()
    await rig.ends()
    assert await rig.fate(receipt) == ("steered", 0)
    assert await rig.heard_by_model() == ["A", "go left"]


async def test_new(rig: Rig, chinese: Rig) -> None:
    await rig.say("an old story")
    await rig.ends()
    await working(rig)
    await rig.say("B", mode=Mode.FOLLOWUP)
    assert await told(rig, "/new") == "We begin anew. What was said before is kept."
    await rig.say("a new one")
    await rig.ends(3)
    assert [m.text for m in rig.model.requests[-1].messages] == ["a new one"]
    assert await rig.heard_by_model() == ["an old story", "A", "a new one"]
    assert await told(chinese, "/reset") == "重新开始。之前的内容会保留。"


async def test_model(rig: Rig, chinese: Rig) -> None:
    assert await told(rig, "/model") == "The model here is m."
    assert await told(rig, "/model qwen/max") == "From now on here: qwen/max."
    assert await rig.sessions.model(HERE) == "qwen/max"
    assert await told(rig, "/model nonesuch") == "model: there is no model nonesuch\npalmclaw models"
    assert await told(rig, "/model") == "The model here is qwen/max."
    assert await told(rig, "/model", "another") == "The model here is m."
    assert await told(rig, "/model default") == "From now on here: m."
    assert await told(chinese, "/model") == "这里的模型是 m。"


async def test_status(rig: Rig, chinese: Rig) -> None:
    assert await told(rig, "/status") == "Nothing is running here."
    gate = await working(rig)
    assert await told(rig, "/status") == "Working on your message."
    await rig.say("B", mode=Mode.FOLLOWUP)
    assert await told(rig, "/status") == "Working on your message. 1 message waiting."
    gate.open()
    await rig.ends(2)
    assert await told(chinese, "/status") == "这里没有正在运行的任务。"


async def test_status_in_a_silence(tmp_path: Path) -> None:
    async with rigged(tmp_path, queue=QueueSettings(Mode.FOLLOWUP, debounce=60.0)) as rig:
        gate = await working(rig)
        await rig.say("B")
        gate.open()
        await rig.ends()
        assert await told(rig, "/status") == "Nothing is running here. 1 message waiting."


async def test_help(rig: Rig, chinese: Rig) -> None:
    assert await told(rig, "/help") == ENGLISH["help"]
    assert await told(chinese, "/HELP") == CHINESE["help"]


@pytest.mark.parametrize(
    ("said", "reply", "result"),
    [
        ("yes", "Answered: yes.", "t-s done"),
        ("好", "Answered: yes.", "t-s done"),
        ("/approve yes", "Answered: yes.", "t-s done"),
        ("/approve {id} yes", "Answered: yes.", "t-s done"),
        ("/approve {id} 是", "Answered: yes.", "t-s done"),
        ("no", "Answered: no.", "declined"),
        ("/approve {id} 否", "Answered: no.", "declined"),
    ],
)
async def test_an_answer(rig: Rig, said: str, reply: str, result: str) -> None:
    number = await asking(rig)
    assert await told(rig, said.format(id=number)) == reply
    await rig.ends()
    assert (await rig.said())[2] == ("send", result)
    assert await rig.gateway.questions() == ()


async def test_an_answer_in_chinese(chinese: Rig) -> None:
    number = await asking(chinese)
    assert await told(chinese, "/approvals") == f"{number}：Do send."
    assert await told(chinese, "/approve maybe") == CHINESE["no_answer"]
    assert await told(chinese, "否") == "已回答：否。"
    assert await told(chinese, "/approve 是") == CHINESE["no_question"]


async def test_answers_that_are_none(rig: Rig) -> None:
    assert await told(rig, "/approvals") == "Nothing is waiting for an answer."
    assert await told(rig, "/approve yes") == "Nothing is waiting for an answer."
    assert await told(rig, "/approve abc yes") == "there is no question abc"
    number = await asking(rig)
    assert await told(rig, "/approvals") == f"{number}: Do send."
    for wrong in ("/approve", "/approve maybe", f"/approve {number}", f"/approve {number} perhaps"):
        assert await told(rig, wrong) == "Answer with yes, session, always or no: /approve ID yes"
    refused = await told(rig, f"/approve {number} always")
    assert refused.splitlines()[0] == "answer: expected 'once' or 'no', got 'always'"
    assert [q.asked.id for q in await rig.gateway.questions()] == [number]
    assert await told(rig, f"/approve {number} no") == "Answered: no."
    assert await told(rig, f"/approve {number} yes") == f"question {number} is closed: chat has answered 'no'"


async def test_of_several_questions_the_one_asked_here_is_meant(rig: Rig) -> None:
    here, there = await asking(rig), await asking(rig, "t")
    assert await told(rig, "/approve yes", "elsewhere") == "Several questions wait; name one: /approve ID yes"
    assert await told(rig, "/approvals") == f"{here}: Do send.\n{there}: Do send."
    assert await told(rig, "yes") == "Answered: yes."
    assert [q.asked.id for q in await rig.gateway.questions()] == [there]
    assert await told(rig, "/approve yes", "elsewhere") == "Answered: yes."
    await rig.ends(1, "t")
    assert rig.ran == ["t-s", "t-t"]


async def test_in_a_terminal_too_the_conversations_own_question_is_meant(rig: Rig) -> None:
    await asking(rig)
    there = await asking(rig, "t")
    assert (await rig.say("/approve no")).text == "Answered: no."
    assert [q.asked.id for q in await rig.gateway.questions()] == [there]
    await rig.gateway.answer(there, Answer.NO, "test")


async def test_who_answered_is_known(rig: Rig) -> None:
    number = await asking(rig)
    await rig.say(f"/approve {number} no")
    query = "SELECT answer, by FROM question WHERE id=?"
    assert await rig.database.run(lambda db: db.execute(query, (number,)).fetchone()) == ("no", "terminal")


def test_a_question_in_words_hides_nothing() -> None:
    preview = Preview("Send an SMS", "+1555", (("to", "+1555"), ("text", "pay \u202ereversed\u200b")))
    scopes = (Answer.ONCE, Answer.SESSION, Answer.ALWAYS)
    asked = ApprovalAsked("q1", ToolCall("c1", "send"), Effect.SEND, preview, "speaks for you", scopes)
    text = question(asked, Words())
    assert text.splitlines()[0] == "May I do this? Send an SMS"
    assert ("\u202e" in text, "\u200b" in text) == (False, False)
    assert text.splitlines()[-1] == "Answer yes / session / always / no, or: /approve q1 yes"
    assert question(asked, Words("zh")).splitlines()[-1] == "请回答 是 / 本次 / 总是 / 否，或：/approve q1 是"


def test_both_languages_say_the_same_things() -> None:
    assert ENGLISH.keys() == CHINESE.keys()
    said: tuple[dict[str, str], ...] = (
        {},
        {"LANG": "zh_CN.UTF-8"},
        {"LC_ALL": "C", "LANG": "zh"},
        {"PALMCLAW_LANG": "ZH"},
    )
    assert [language(environ) for environ in said] == ["en", "zh", "en", "zh"]
