"""Who may speak: the ids of the configuration, pairing by code, and silence towards everybody else."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from palmclaw.core.errors import ConfigError
from palmclaw.core.people import Pairing, Person, Role
from palmclaw.core.runtime import NotOpen
from palmclaw.core.traffic import Address, Inbound, Origin
from palmclaw.runtime.access import ALPHABET, MOST, Access, AccessSettings, Verdict, Who, ids, new_code
from palmclaw.runtime.words import Words
from palmclaw.storage.database import Database
from palmclaw.storage.people import KnownPeople

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
AT = "2026-06-15T12:00:00.000+00:00"
OWNER, GUEST, STRANGER = Verdict(Who.OWNER), Verdict(Who.GUEST), Verdict(Who.STRANGER)


def says(sender: str, channel: str = "telegram", *, name: str = "", group: bool = False) -> Inbound:
    return Inbound("", "hi", sender=sender, address=Address(channel, "77"), name=name, group=group)


def told(code: str) -> Verdict:
    return Verdict(Who.STRANGER, Words()("pair", code=code))


@dataclass
class Door:
    database: Database
    at: datetime = NOON
    codes: list[str] = field(default_factory=lambda: [f"CODE{n}AAA" for n in "23456789"])

    def access(self, owners: tuple[str | int, ...] = (), allow: tuple[str | int, ...] = (), **more: bool) -> Access:
        settings = {"telegram": AccessSettings(owners, allow, **more)}
        return Access(settings, KnownPeople(self.database), now=lambda: self.at, code=lambda: self.codes.pop(0))


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    made = Door(Database(tmp_path / "db"))
    yield made
    await made.database.close()


def test_what_each_may_do() -> None:
    assert [(v.may_speak, v.may_command, v.origin) for v in (OWNER, GUEST, STRANGER)] == [
        (True, True, Origin.OWNER),
        (True, False, Origin.OTHER),
        (False, False, Origin.OTHER),
    ]


@pytest.mark.parametrize("written", ["555000111", 555000111, "555000111|somebody", " 555000111 "])
@pytest.mark.parametrize("sender", ["555000111", "555000111|somebody", "555000111|other", "555000111|@x|y"])
async def test_f117_an_id_matches_in_each_form_and_type(door: Door, written: str | int, sender: str) -> None:
    assert await door.access(owners=(written,)).judge(says(sender)) == OWNER
    assert await door.access(allow=(written,)).judge(says(sender)) == GUEST


async def test_an_owner_who_is_also_allowed_is_an_owner(door: Door) -> None:
    assert await door.access(owners=("5",), allow=("5",)).judge(says("5")) == OWNER


@pytest.mark.parametrize("sender", ["", "@Somebody", "@somebody|5", " ", "|5", "6|5", "5 5", "05", "somebody"])
async def test_nobody_gets_in_by_another_name(door: Door, sender: str) -> None:
    access = door.access(owners=(5,), allow=("somebody|5",), pairing=False)
    assert await access.judge(says(sender)) == (GUEST if sender == "somebody" else STRANGER)


@pytest.mark.parametrize(
    ("written", "why"),
    [("@some_name", "a name can change hands"), ("", "is empty"), ("|x", "is empty"), ("*", "every")],
)
def test_f118_what_is_no_id_is_refused_by_the_configuration(written: str, why: str) -> None:
    with pytest.raises(ConfigError, match=f"^channels.x.allow: .*{why}") as error:
        ids("channels.x.allow", (written,))
    assert error.value.hint.startswith("Write the id")


async def test_f118_an_empty_list_is_nobody_and_the_start_says_so(door: Door) -> None:
    access = door.access()
    assert await access.judge(says("5")) == told("CODE2AAA")
    assert await access.findings() == (
        "nobody may speak in telegram: write to it there, and approve the code it answers with: "
        "palmclaw pair approve CODE",
    )
    assert await door.access(pairing=False).findings() == (
        "nobody may speak in telegram: put your id into channels.telegram.owners",
    )
    assert await door.access(allow=("5",)).findings() == ()
    await access.approve("CODE2AAA", Role.GUEST)
    assert await access.findings() == ()


async def test_a_channel_that_is_not_configured_lets_nobody_in_and_tells_nobody(door: Door) -> None:
    access = door.access(owners=("5",))
    assert await access.judge(says("5", "discord")) == STRANGER
    assert await access.judge(replace(says("5"), address=None)) == STRANGER
    assert await access.listed() == ((), ())


async def test_a_code_lets_a_stranger_in_as_what_the_owner_says(door: Door) -> None:
    access = door.access(allow=("9",))
    assert await access.judge(says("5|mei", name="Mei")) == told("CODE2AAA")
    waiting = Pairing("CODE2AAA", "telegram", "5", "Mei", AT, "2026-06-15T13:00:00.000+00:00")
    assert await access.listed() == ((), (waiting,))
    mei = Person("telegram", "5", "Mei", Role.OWNER, AT)
    assert await access.approve("code-2aaa ") == mei
    assert await access.listed() == ((mei,), ())
    assert await access.judge(says("5")) == OWNER
    assert await access.judge(says("5", "discord")) == STRANGER
    with pytest.raises(NotOpen, match="there is no open pairing code CODE2AAA"):
        await access.approve("CODE2AAA")

    assert await access.judge(says("6")) == told("CODE3AAA")
    assert (await access.approve("CODE3AAA", Role.GUEST)).role is Role.GUEST
    assert await access.judge(says("6")) == GUEST
    assert await access.forget("telegram", "5|mei")
    assert not await access.forget("telegram", "5")
    assert await access.judge(says("5")) == told("CODE4AAA")
    assert await access.forget("telegram", "5")  # the open code goes too
    with pytest.raises(NotOpen):
        await access.approve("CODE4AAA")


async def test_one_who_was_let_in_can_rise(door: Door) -> None:
    access = door.access(allow=("5",))
    await KnownPeople(door.database).knock(Pairing("X", "telegram", "5", "", AT, "2026-06-15T13"), MOST)
    await access.approve("X")
    assert await access.judge(says("5")) == OWNER


async def test_a_stranger_who_writes_on_is_answered_once_an_hour(door: Door) -> None:
    access = door.access()
    assert [await access.judge(says("5")) for _ in range(4)] == [told("CODE2AAA"), *[STRANGER] * 3]
    door.at += timedelta(minutes=59)
    assert await access.judge(says("5")) == STRANGER
    door.at += timedelta(minutes=1)
    with pytest.raises(NotOpen):
        await access.approve("CODE2AAA")
    assert (await access.listed())[1] == ()
    answer = await access.judge(says("5"))
    assert answer.reply.startswith("I do not know you yet")
    assert len((await access.listed())[1]) == 1


async def test_few_codes_are_open_in_a_channel_however_many_knock_at_once(door: Door) -> None:
    access = Access(
        {"telegram": AccessSettings(), "discord": AccessSettings()}, KnownPeople(door.database), now=lambda: door.at
    )
    verdicts = await asyncio.gather(*(access.judge(says(str(n % 10))) for n in range(40)))
    assert sum(bool(v.reply) for v in verdicts) == MOST
    assert (await access.judge(says("5", "discord"))).reply
    _, waiting = await access.listed()
    assert [w.channel for w in waiting] == ["discord", *["telegram"] * MOST]


async def test_no_code_is_said_in_a_group_or_where_pairing_is_off(door: Door) -> None:
    assert await door.access().judge(says("5", group=True)) == STRANGER
    assert await door.access(pairing=False).judge(says("5")) == STRANGER
    assert await door.access(owners=("5",)).judge(says("5", group=True)) == OWNER
    assert await door.access().listed() == ((), ())


async def test_the_words_are_the_owners_language(door: Door) -> None:
    access = door.access()
    access.words = Words("zh")
    assert (await access.judge(says("5"))).reply == Words("zh")("pair", code="CODE2AAA")


class Notes(logging.Handler):
    """What is logged, whatever else listens."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@pytest.fixture
def notes() -> Iterator[Notes]:
    log, handler = logging.getLogger("palmclaw.runtime.access"), Notes()
    log.addHandler(handler)
    yield handler
    log.removeHandler(handler)


async def test_f117_a_stranger_is_logged_once_with_what_to_add(door: Door, notes: Notes) -> None:
    access = door.access(pairing=False)
    for sender in ("555000111|some\nbody", "555000111", "@x", "evil\n555"):
        await access.judge(says(sender, name="Mei\nLin"))
    await access.judge(says("5", "discord"))
    no_id = "the channel gives no id by which they could be let in"
    assert notes.lines == [
        "telegram: message of '555000111' ('Mei\\nLin') refused; "
        'to let them in, add "555000111" to channels.telegram.allow, or to .owners',
        f"telegram: message of '@x' ('Mei\\nLin') refused; {no_id}",
        f"telegram: message of 'evil\\n555' ('Mei\\nLin') refused; {no_id}",
        f"discord: message of '5' ('') refused; {no_id}",
    ]


async def test_a_flood_of_strangers_does_not_grow_the_memory(door: Door) -> None:
    access = door.access(pairing=False)
    for n in range(300):
        await access.judge(says(f"{n}" * 50))
    assert len(access._noted) == 200
    assert max(len(sender) for _, sender in access._noted) == 100


async def test_half_a_character_in_a_name_is_no_obstacle(door: Door) -> None:
    access = door.access()
    assert (await access.judge(says("5\ud83d", name="\ud83d" + "x" * 100))).reply
    ((waiting,)) = (await access.listed())[1]
    assert (waiting.sender, waiting.name) == ("5\ufffd", "\ufffd" + "x" * 63)


def test_codes_have_no_lookalikes() -> None:
    codes = [new_code() for _ in range(100)]
    assert len(set(codes)) == 100
    assert {len(code) for code in codes} == {8}
    assert set("".join(codes)) <= set(ALPHABET)
    assert not set("01ILO") & set(ALPHABET)
