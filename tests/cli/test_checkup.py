"""The doctor's look at the runtime: what is wrong, what is only news, and what to do."""

import asyncio
import os
from pathlib import Path

import pytest

from palmclaw.app import assembled
from palmclaw.cli import checkup
from palmclaw.cli.checkup import Finding
from palmclaw.core.errors import Fault, HomeBusy
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import user_message
from palmclaw.core.records import Beginning, Resume
from palmclaw.core.traffic import Address, Inbound, Outbound
from palmclaw.storage.brokenoff import BrokenOff, BrokenOffTurns
from palmclaw.storage.database import Database
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.sessions import Sessions

WELL = {
    "gateway": Finding("gateway", True, "none runs: each command works by itself", "palmclaw serve --background"),
    "unfinished": Finding("unfinished", True, "no turn waits for you"),
    "outbox": Finding("outbox", True, "every message has arrived or is on its way"),
    "channels": Finding("channels", True, "none is set up"),
    "log": Finding("log", True, "0 kB"),
}


async def begun(sessions: Sessions, turn: str, session: str = "main", continues: str = "") -> None:
    inbound = Inbound(session, "hi")
    messages = () if continues else (user_message("hi"),)
    await sessions.begin(Beginning(turn, (inbound,), messages, continues=continues))


def test_a_new_home_is_well(home_dir: Path) -> None:
    app = assembled(os.environ)
    assert {name: getattr(checkup, name)(app) for name in WELL} == WELL
    assert checkup.home(app) == Finding("home", True, f"{home_dir} is writable and not in use")


def test_who_has_the_home(home_dir: Path) -> None:
    app, lock = assembled(os.environ), HomeLock(home_dir / "lock")
    lock.acquire("chat")
    with pytest.raises(HomeBusy):
        checkup.home(app)
    lock.release()
    lock.acquire(SERVING)
    served = Finding("home", True, f"{home_dir} is served by process {os.getpid()}")
    assert checkup.home(app) == served
    lock.release()


def test_a_gateway_that_does_not_answer(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nobody(app: object) -> None:
        return None

    monkeypatch.setattr(checkup, "_status", nobody)
    lock = HomeLock(home_dir / "lock")
    lock.acquire(SERVING)
    found = checkup.gateway(assembled(os.environ))
    lock.release()
    assert found == Finding(
        "gateway", False, f"process {os.getpid()} does not answer", "palmclaw logs, then palmclaw stop"
    )


async def test_turns_that_a_crash_broke_off(home_dir: Path) -> None:
    database = Database(home_dir / "palmclaw.db")
    sessions, turns = Sessions(database), BrokenOffTurns(database)
    twice = Fault("crashed_twice", "PalmClaw stopped twice")
    await begun(sessions, "t1")
    assert [t.id for t in await turns.open()] == ["t1"]
    await sessions.end("t1", TurnEnded(Stop.ERROR, error=twice), "interrupted", Resume.PERSON)
    (found,) = await turns.unfinished()
    assert found == BrokenOff("t1", "main", found.started, "person", twice)
    assert await turns.unfinished("other") == ()
    await begun(sessions, "t2")
    assert [t.id for t in await turns.unfinished("main")] == ["t1"]
    await sessions.end("t2", TurnEnded(Stop.DONE))
    assert (await turns.unfinished(), await turns.open()) == ((), ())
    await begun(sessions, "t3", "work")
    await sessions.end("t3", TurnEnded(Stop.ERROR), "interrupted", Resume.DUE)
    (due,) = await turns.unfinished("work")
    assert (due.resume, due.fault) == ("due", None)
    await database.run(lambda db: db.execute("UPDATE turn SET error='{' WHERE id='t3'"))
    assert [t.fault for t in await turns.unfinished("work")] == [None]
    await database.close()


def test_they_are_told_with_what_to_do(home_dir: Path) -> None:
    app = assembled(os.environ)

    async def broken(resume: str) -> None:
        database = Database(home_dir / "palmclaw.db")
        sessions = Sessions(database)
        await begun(sessions, f"t-{resume}", "work")
        if resume:
            await sessions.end(f"t-{resume}", TurnEnded(Stop.ERROR), "interrupted", resume)
        await database.close()

    asyncio.run(broken(""))
    text = "1 turns were broken off; the next start closes them and goes on"
    mend = "palmclaw serve --background, or palmclaw chat"
    assert checkup.unfinished(app) == Finding("unfinished", True, text, mend, is_news=True)
    asyncio.run(broken(Resume.PERSON))
    text, mend = "broken off, and not gone on with by itself: work", 'palmclaw chat --session work "go on"'
    found = checkup.unfinished(app)
    assert (found.ok, found.is_news, found.text) == (True, True, text)
    assert found.mend.endswith(mend)


def test_messages_that_may_not_have_arrived(home_dir: Path) -> None:
    async def sent() -> None:
        database = Database(home_dir / "palmclaw.db")
        outbox, to = Outbox(database), Address("telegram", "7")
        rows = await outbox.add("telegram:7", "t1", [Outbound(to, f"text {n}\n\x1b", f"k{n}") for n in range(3)])
        await outbox.failed(rows[0], "blocked")
        await outbox.unknown(rows[1], "died")
        await database.close()

    asyncio.run(sent())
    found = checkup.outbox(assembled(os.environ))
    assert (found.ok, found.is_news) == (True, True)
    assert found.text.startswith("1 failed, 1 may have arrived or not: failed 20")
    assert "to telegram:7 “text 0 ⟨U+001B⟩”; unknown 20" in found.text


def test_a_channel_in_which_nobody_may_speak(home_dir: Path) -> None:
    home_dir.mkdir(parents=True, exist_ok=True)
    (home_dir / "config.toml").write_text("[channels.telegram]\n")
    found = checkup.channels(assembled(os.environ))
    assert (found.ok, found.text) == (False, "nobody may speak in telegram")
    assert "palmclaw pair approve" in found.mend
    (home_dir / "config.toml").write_text('[channels.telegram]\nowners = ["7"]\n')
    assert checkup.channels(assembled(os.environ)) == Finding("channels", True, "telegram")


def test_a_log_that_has_grown_too_large(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = assembled(os.environ)
    home_dir.mkdir(parents=True, exist_ok=True)
    (home_dir / "palmclaw.log").write_bytes(b"x" * 9_000)
    monkeypatch.setattr(checkup, "LIMIT", 1_000)
    assert checkup.log(app) == Finding("log", False, "9 kB", f"Look into it: {home_dir / 'palmclaw.log'}")
