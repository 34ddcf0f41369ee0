"""The whole runtime behind a chat platform: who may speak, what arrives, what is asked there."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from palmclaw.app import assembled
from palmclaw.core.channels import Abilities, Take
from palmclaw.core.events import Standing
from palmclaw.core.people import Role
from palmclaw.core.traffic import Address, Fate, Inbound, Origin, Outbound, Receipt
from palmclaw.house import gateway
from palmclaw.runtime.access import Access
from palmclaw.runtime.gateway import Gateway
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.people import KnownPeople
from tests.servers.platform import Platform, Refuses

OWNER = '[channels.chat]\nowners = ["7"]\nallow = ["8"]\n'


@dataclass
class Phone:
    """A gateway with one chat platform."""

    gateway: Gateway
    chat: Platform
    home: Path
    count: int = field(default=0)

    async def hears(self, text: str, sender: str = "7", chat: str = "c1", **more: object) -> Receipt:
        self.count += 1
        external = str(more.pop("external_id", self.count))
        inbound = Inbound("", text, sender=sender, address=Address("chat", chat), external_id=external, **more)  # type: ignore[arg-type]  # fields of Inbound
        return await self.chat.hears(inbound)

    async def until(self, met: Callable[[], bool]) -> None:
        for _ in range(400):
            if met():
                return
            await asyncio.sleep(0.02)
        pytest.fail(f"never: {self.chat.texts}")

    async def says(self, count: int) -> list[str]:
        """The texts that were sent, once there are so many."""
        await self.until(lambda: len(self.chat.log) >= count)
        return [o.text for o in self.chat.log]


def written(home: Path, name: str, text: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


@asynccontextmanager
async def phone(home: Path, config: str = OWNER) -> AsyncIterator[Phone]:
    written(home, "config.toml", config)
    chat = Platform(abilities=Abilities(typing=True))
    async with gateway(assembled({"PALMCLAW_HOME": str(home)}), {"chat": chat}) as runtime:
        yield Phone(runtime, chat, home)


async def test_the_owner_is_answered_where_they_wrote(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        receipt = await p.hears("how much battery is left?")
        assert await p.says(1) == ["The battery is at 78 %, not charging."]
        assert (receipt.session, receipt.fate) == ("chat:c1", Fate.WAITING)
        assert p.chat.log[0].address == Address("chat", "c1")
        assert p.chat.typed[0] == Address("chat", "c1")


async def test_the_same_message_is_taken_once(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        first = await p.hears("turn the torch on", external_id="77")
        await p.says(1)
        again = await p.hears("turn the torch on", external_id="77")
        assert (again.id, again.fate) == (first.id, Fate.STARTED)
        await p.hears("how much battery is left?")
        assert await p.says(2) == ["The torch is on.", "The battery is at 78 %, not charging."]


async def test_a_stranger_gets_a_code_and_nothing_else_until_the_owner_approves_it(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        refused = await p.hears("hello", sender="66", chat="c6")
        assert (refused.id, refused.fate) == (0, Fate.REJECTED)
        (text,) = await p.says(1)
        await p.hears("hello?", sender="66", chat="c6")
        code = next(w.strip(".,:") for w in text.split() if len(w.strip(".,:")) == 8 and w.strip(".,:").isupper())
        await Access({}, KnownPeople(p.gateway.stores.inbox.database)).approve(code, Role.OWNER)  # type: ignore[attr-defined]  # the store's own
        await p.hears("turn the torch on", sender="66", chat="c6")
        assert (await p.says(2))[1] == "The torch is on."


async def test_a_guests_commands_are_words_and_its_effects_are_denied(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        receipt = await p.hears("/stop", sender="8", chat="c8")
        assert receipt.fate is Fate.WAITING
        await p.says(1)
        await p.hears("turn the torch on", sender="8", chat="c8")
        await p.says(2)
        log = await p.gateway.stores.records.all("chat:c8")  # type: ignore[attr-defined]  # the store's own
        assert [m.sender for m in log if m.role == "user"] == ["8", "8"]
        assert {r.error.code for m in log for r in m.results if r.error} == {"denied"}


async def test_a_question_is_asked_in_the_chat_and_answered_there(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("text Mei Lin that I'm late")
        (question,) = await p.says(1)
        assert "I'm late" in question
        assert "+85260010001" in question
        answered = await p.hears("yes")
        assert answered.fate is Fate.ANSWERED
        await p.until(lambda: "Sent to Mei Lin: “I'm late”" in p.chat.texts)
        late = await p.hears(f"/approve {question.rsplit('/approve ')[1].split()[0]} no")
        assert "has answered 'once'" in late.text


async def test_a_no_in_the_chat_is_a_no(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("text Mei Lin that I'm late")
        await p.says(1)
        await p.hears("不行")
        texts = await p.says(3)
        assert not any(t.startswith("Sent") for t in texts)


async def test_what_the_agent_asks_is_delivered_and_the_next_message_answers_it(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("text Mei that I'm late")
        (asked,) = await p.says(1)
        assert "Mei Lin" in asked
        assert "Mei Ling Chow" in asked
    async with phone(home_dir) as p:
        await p.hears("Mei Lin", external_id="after the restart")
        (question,) = await p.says(1)
        assert "+85260010001" in question


async def test_what_was_sent_before_a_stop_and_arrives_after_it_starts_nothing(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("hello", sent=datetime(2026, 1, 1, 8, tzinfo=UTC))
        await p.says(1)
        await p.hears("/stop", sent=datetime(2026, 1, 1, 9, tzinfo=UTC))
        late = await p.hears("turn the torch on", sent=datetime(2026, 1, 1, 8, 30, tzinfo=UTC))
        assert late.fate is Fate.CANCELLED
        texts = await p.says(3)
        assert texts[1:] == ["Nothing is running.", "I did not take this message: it was sent before you said stop."]


async def test_with_several_agents_a_chat_without_one_is_an_error(home_dir: Path) -> None:
    agents = '[agents.work]\nbindings = ["chat:c1"]\n[agents.play]\nbindings = ["chat:c2"]\ndisabled = ["device_set"]\n'
    async with phone(home_dir, OWNER + agents) as p:
        one = await p.hears("turn the torch on", chat="c1")
        assert one.session == "work:chat:c1"
        assert await p.says(1) == ["The torch is on."]
        none = await p.hears("turn the torch on", chat="c3")
        assert none.fate is Fate.REJECTED
        assert "which agent talks in chat:c3?" in (await p.says(2))[1]
        two = await p.hears("turn the torch off", chat="c2")
        assert two.session == "play:chat:c2"
        await p.says(3)
        log = await p.gateway.stores.records.all("play:chat:c2")  # type: ignore[attr-defined]  # the store's own
        assert [m.role.value for m in log][:2] == ["user", "assistant"]
        assert not [m for m in log for c in m.calls if c.name == "device_set" and not m.results]


async def test_a_failure_is_told_once_and_a_stop_is_told_by_its_answer(home_dir: Path) -> None:
    broken = '[provider]\nname = "custom"\nbase_url = "http://127.0.0.1:9/v1"\n[limits]\nretries = 0\n'
    async with phone(home_dir, OWNER + broken) as p:
        await p.hears("hello")
        (text,) = await p.says(1)
        assert "127.0.0.1:9" in text


@pytest.mark.parametrize(("text", "sent"), [("two meetings today NO_REPLY", []), ("two meetings", ["two meetings"])])
async def test_s25_a_jobs_answer_that_ends_silently_is_not_sent(home_dir: Path, text: str, sent: list[str]) -> None:
    written(home_dir, "script.json", f'{{"steps": [{{"text": "{text}"}}, {{"text": "end"}}]}}')
    scripted = f'[provider]\nname = "scripted"\nscript = "{home_dir}/script.json"\n'
    async with phone(home_dir, OWNER + scripted) as p:
        job = Inbound("chat:c1", "look at my day", Origin.JOB, address=Address("chat", "c1"))
        await p.gateway.take(job)
        await p.until(lambda: p.gateway.lanes.get("chat:c1") is None)
        await p.hears("go on")
        assert await p.says(len(sent) + 1) == [*sent, "end"]


async def test_a_word_that_was_written_before_the_question_does_not_answer_it(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("text Mei Lin that I'm late")
        await p.says(1)
        early = await p.hears("ok", sent=datetime.now(UTC) - timedelta(minutes=1))
        assert early.fate is Fate.WAITING
        assert (await p.hears("ok", sent=datetime.now(UTC))).fate is Fate.ANSWERED


async def test_a_question_that_did_not_arrive_is_not_answered_by_a_bare_word(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        p.chat.will(Refuses(retryable=False))
        await p.hears("text Mei Lin that I'm late")
        await p.until(lambda: p.chat.tries == 1)
        assert (await p.hears("ok")).fate is Fate.WAITING
        assert not any(t.startswith("Sent") for t in p.chat.texts)


async def test_a_guest_neither_ends_the_owners_turn_nor_pushes_its_messages_out(home_dir: Path) -> None:
    steps = '{"steps": [{"text": "done", "pause": 0.5}, {"text": "more"}, {"text": "again"}, {"text": "end"}]}'
    written(home_dir, "script.json", steps)
    settings = f'[provider]\nname = "scripted"\nscript = "{home_dir}/script.json"\n'
    settings += '[queue]\nmode = "interrupt"\ncap = 1\ndrop = "old"\ndebounce = 0\n'
    async with phone(home_dir, OWNER + settings) as p:
        await p.hears("work")
        await p.until(lambda: (lane := p.gateway.lanes.get("chat:c1")) is not None and lane.running is not None)
        guest = await p.hears("me first", sender="8")
        assert guest.fate is Fate.WAITING
        texts = await p.says(2)
        assert texts[:1] == ["done"]


async def test_what_a_sub_agent_asks_stands_in_its_parents_conversation_until_it_is_stopped(home_dir: Path) -> None:
    spawn = {"name": "spawn", "arguments": {"task": "tell Mei"}}
    send = {"name": "sms_send", "arguments": {"to": "+85260010001", "text": "late"}}
    steps = [{"calls": [spawn]}, {"text": "begun"}, {"calls": [send]}]
    written(home_dir, "script.json", json.dumps({"steps": steps}))
    settings = f'[provider]\nname = "scripted"\nscript = "{home_dir}/script.json"\n[limits]\nturns = 1\n'
    async with phone(home_dir, OWNER + settings) as p:

        async def asked() -> list[str]:
            async with aclosing(p.gateway.events("chat:c1")) as signals:
                standing = (await anext(signals)).event
            assert isinstance(standing, Standing)
            return [question.call.name for question in standing.asked]

        await p.hears("give it to a sub-agent")
        assert (await p.says(2))[0] == "begun"
        await p.hears("/status")
        assert await asked() == ["sms_send"]
        await p.hears("/stop")
        await p.until(lambda: p.gateway.lanes.status() == ())
        await p.hears("/status")
        assert await asked() == []


async def test_the_same_number_in_another_chat_is_another_message(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        one = await p.hears("turn the torch on", chat="c1", external_id="17")
        two = await p.hears("how much battery is left?", chat="c2", external_id="17")
        assert one.id != two.id
        assert sorted(await p.says(2)) == ["The battery is at 78 %, not charging.", "The torch is on."]


async def test_half_a_character_blocks_nothing(home_dir: Path) -> None:
    async with phone(home_dir) as p:
        await p.hears("turn the torch on \ud83d")
        assert await p.says(1)


@pytest.mark.parametrize("trouble", [asyncio.CancelledError(), OverflowError("odd")])
async def test_a_channel_that_breaks_is_listened_to_again(home_dir: Path, trouble: BaseException) -> None:
    class Leaky(Platform):
        listens = 0

        async def listen(self, take: Take) -> None:
            self.listens += 1
            if self.listens == 1:
                raise trouble
            await Platform.listen(self, take)

    written(home_dir, "config.toml", OWNER)
    chat = Leaky(abilities=Abilities())
    async with gateway(assembled({"PALMCLAW_HOME": str(home_dir)}), {"chat": chat}) as runtime:
        assert (await Phone(runtime, chat, home_dir).hears("turn the torch on")).fate is Fate.WAITING
        assert chat.listens == 2


async def test_the_id_of_a_message_may_be_a_number(home_dir: Path) -> None:
    class Numbered(Platform):
        async def send(self, outbound: Outbound) -> str:
            await Platform.send(self, outbound)
            return 12345  # type: ignore[return-value]  # as strangers' plugins do

    written(home_dir, "config.toml", OWNER)
    chat = Numbered(abilities=Abilities())
    async with gateway(assembled({"PALMCLAW_HOME": str(home_dir)}), {"chat": chat}) as runtime:
        p = Phone(runtime, chat, home_dir)
        await p.hears("turn the torch on")
        await p.says(1)
        await p.hears("how much battery is left?")
        assert await p.says(2) == ["The torch is on.", "The battery is at 78 %, not charging."]
        counts = await Outbox(runtime.stores.inbox.database).counts()  # type: ignore[attr-defined]  # the store's own
        assert "sending" not in counts
