"""The doctor's look at the runtime: what is wrong, what is only news, and what to do."""

import asyncio
import os
from pathlib import Path

import pytest

from palmclaw.app import App, assembled
from palmclaw.cli import checkup
from palmclaw.cli.checkup import Finding
from palmclaw.core.errors import ConfigError, Fault, HomeBusy
from palmclaw.core.events import Stop, TurnEnded
from palmclaw.core.messages import user_message
from palmclaw.core.records import Beginning, Resume
from palmclaw.core.traffic import Address, Inbound, Outbound
from palmclaw.storage.brokenoff import BrokenOff, BrokenOffTurns
from palmclaw.storage.database import Database
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.memory import KeptMemory
from palmclaw.storage.memory_file import MemoryFile
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.sessions import Sessions

WELL = {
    "gateway": Finding("gateway", True, "none runs: each command works by itself", "palmclaw serve --background"),
    "unfinished": Finding("unfinished", True, "no turn waits for you"),
    "outbox": Finding("outbox", True, "every message has arrived or is on its way"),
    "channels": Finding("channels", True, "none is set up"),
    "log": Finding("log", True, "0 kB"),
    "memory": Finding("memory", True, "0 of 8,000 characters"),
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
    text = "1 turn was broken off; the next start closes it and goes on"
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


EXTENSION = Path(__file__).parents[1] / "crash" / "extension"
"""A package that brings the channel `post`."""


def configured(home_dir: Path, text: str) -> App:
    home_dir.mkdir(parents=True, exist_ok=True)
    (home_dir / "config.toml").write_text(text)
    return assembled(os.environ)


def test_a_channel_that_nothing_installed_provides(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = checkup.channels(configured(home_dir, '[channels.poost]\nowners = ["7"]\n'))
    said = "poost: this version has no channel 'poost'; there are: none yet"
    assert found == Finding("channels", False, said, "palmclaw config unset channels.poost")
    monkeypatch.syspath_prepend(EXTENSION)
    text = '[channels.poost]\nowners = ["7"]\n[channels.mine]\nkind = "irc"\n'
    found = checkup.channels(configured(home_dir, text))
    said = "poost: this version has no channel 'poost'; did you mean post?; "
    said += "mine: this version has no channel 'irc'; there are: post"
    assert (found.ok, found.text) == (False, said)


def test_a_channel_in_which_nobody_may_speak(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXTENSION)
    found = checkup.channels(configured(home_dir, "[channels.post]\nurl = 'x'\n"))
    assert (found.ok, found.text) == (False, "nobody may speak in post")
    assert "palmclaw pair approve" in found.mend
    found = checkup.channels(configured(home_dir, '[channels.post]\nurl = "x"\nowners = ["7"]\n'))
    assert found == Finding("channels", True, "post")


def test_a_channel_that_is_set_up_wrongly(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXTENSION)
    app = configured(home_dir, '[channels.post]\nurl = "x"\nowners = ["7"]\nnonsense = 1\n')
    with pytest.raises(ConfigError, match="nonsense: no such field"):
        checkup.channels(app)


def test_a_log_that_has_grown_too_large(home_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = assembled(os.environ)
    home_dir.mkdir(parents=True, exist_ok=True)
    (home_dir / "palmclaw.log").write_bytes(b"x" * 9_000)
    monkeypatch.setattr(checkup, "LIMIT", 1_000)
    assert checkup.log(app) == Finding("log", False, "9 kB", f"Look into it: {home_dir / 'palmclaw.log'}")


def test_memory_that_is_not_well_is_told(home_dir: Path) -> None:
    app = assembled(os.environ)

    async def failed() -> None:
        database = Database(app.home.database)
        await begun(Sessions(database), "t1", "chat:1")
        for _ in range(3):
            await KeptMemory(MemoryFile(app.home.memory), database, app.device).failed("chat:1", "no call\x07")
        await database.close()

    asyncio.run(failed())
    assert checkup.memory(app) == Finding(
        "memory",
        True,
        "could not be brought up to date from what was said in chat:1: no call⟨U+0007⟩",
        "It is tried again when more is said there. See: palmclaw logs",
        is_news=True,
    )
    app.home.memory.parent.mkdir()
    app.home.memory.write_bytes(b"\xff")
    damaged = "MEMORY.md is no valid UTF-8; what could not be read shows as \ufffd"
    assert checkup.memory(app) == Finding("memory", True, damaged, "palmclaw memory edit", is_news=True)
    app.home.memory.write_text("x" * 8_001)
    long = "MEMORY.md has 8,001 characters: the agent sees the first 8,000 and adds nothing"
    assert checkup.memory(app) == Finding("memory", True, long, "Shorten it: palmclaw memory edit", is_news=True)
    app.home.memory.unlink()
    app.home.memory.mkdir()
    folder = f"{app.home.memory} is no file"
    assert checkup.memory(app) == Finding("memory", False, folder, "Move it away; then: palmclaw memory edit")


def test_a_broken_skill_is_named(home_dir: Path) -> None:
    app = assembled(os.environ)
    assert checkup.skills(app) == Finding("skills", True, "skills that are used: 12")
    folder = home_dir / "skills" / "lamp-code"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("name: lamp-code\n-----------\n# Lamp\n")
    app.home.skill_state.write_text("{")
    hint = "It says which skills are on. Mend it, or delete it."
    assert checkup.skills(app) == Finding("skills", False, f"{app.home.skill_state} is damaged", hint)
    app.home.skill_state.unlink()
    found = checkup.skills(app)
    assert (found.ok, found.is_news, found.mend) == (True, True, "palmclaw skills list")
    assert found.text.startswith(f"{folder}: SKILL.md")


def test_your_own_templates_are_compared(home_dir: Path) -> None:
    app = assembled(os.environ)
    assert checkup.templates(app) == Finding("templates", True, "as they come with this version")
    folder = home_dir / "templates"
    folder.mkdir(parents=True)
    (folder / "SOUL.md").write_text("Be brief.")
    text = "your own (lines that differ): SOUL.md (2)"
    assert checkup.templates(app) == Finding("templates", True, text, is_news=True)
    (folder / "AGENT.md").write_text("")
    found = checkup.templates(app)
    assert (found.is_news, found.text) == (True, "your AGENT.md is empty: the agent is not told whom to believe")
    (folder / "USER.md").write_text("{{owner}}")
    assert checkup.templates(app).ok is False
