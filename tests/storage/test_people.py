"""Who was let in and who asks to be: each operation whole, also where two processes write at once."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from palmclaw.core.people import Pairing, Person, Role
from palmclaw.core.runtime import NotOpen
from palmclaw.storage.database import Database
from palmclaw.storage.people import KnownPeople

AT, LATER = "2026-06-15T12:00:00.000+00:00", "2026-06-15T13:00:00.000+00:00"
KNOCK = Pairing("CODE", "telegram", "5", "Mei", AT, LATER)


async def test_a_request_is_kept_once_until_it_expires(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    people = KnownPeople(database)
    others = [replace(KNOCK, code=c, sender=c) for c in "ABC"]
    assert [await people.knock(p, 3) for p in (KNOCK, KNOCK, *others)] == [True, False, True, True, False]
    assert (await people.listed(AT))[1] == tuple(sorted((KNOCK, *others[:2]), key=lambda p: p.code))
    assert (await people.listed(LATER))[1] == ()
    assert await people.knock(replace(others[2], asked=LATER), 1)
    await database.close()


async def test_a_code_is_good_once_for_whichever_process_comes_first(tmp_path: Path) -> None:
    gateway, terminal = Database(tmp_path / "db"), Database(tmp_path / "db")
    assert await KnownPeople(gateway).knock(KNOCK, 3)
    both = [KnownPeople(d).admit("CODE", r, AT) for d, r in ((terminal, Role.GUEST), (gateway, Role.OWNER))]
    done = await asyncio.gather(*both, return_exceptions=True)
    people = [d for d in done if isinstance(d, Person)]
    assert [isinstance(d, NotOpen) for d in done].count(True) == 1
    assert await KnownPeople(gateway).listed(AT) == (tuple(people), ())
    assert await KnownPeople(gateway).role("telegram", "5") is people[0].role
    assert await KnownPeople(gateway).role("discord", "5") is None
    with pytest.raises(NotOpen, match="there is no open pairing code CODE"):
        await KnownPeople(terminal).admit("CODE", Role.OWNER, AT)
    await gateway.close()
    await terminal.close()


async def test_people_are_forgotten_in_one_channel_alone(tmp_path: Path) -> None:
    database = Database(tmp_path / "db")
    people = KnownPeople(database)
    for channel in ("telegram", "discord"):
        await people.knock(replace(KNOCK, code=channel, channel=channel), 3)
        await people.admit(channel, Role.OWNER, AT)
    await people.knock(KNOCK, 3)
    assert [await people.forget("telegram", "5") for _ in range(2)] == [True, False]
    assert await people.listed(AT) == ((Person("discord", "5", "Mei", Role.OWNER, AT),), ())
    await database.close()
