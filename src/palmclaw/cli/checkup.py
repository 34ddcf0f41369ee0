"""What `palmclaw doctor` looks at in the runtime: who serves, what a crash left, what did not arrive."""

import asyncio
import difflib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from palmclaw import plugins
from palmclaw.app import App
from palmclaw.cli.reaching import GONE, attached
from palmclaw.core.errors import StorageError
from palmclaw.core.memory import CAP, MemoryBroken
from palmclaw.core.plugin import Kind
from palmclaw.core.ports import OutboxRow, OutboxState
from palmclaw.core.runtime import Status
from palmclaw.core.text import visible
from palmclaw.core.values import dataclass
from palmclaw.runtime.access import Access
from palmclaw.storage.brokenoff import BrokenOffTurns
from palmclaw.storage.database import Database
from palmclaw.storage.lock import SERVING, HomeLock
from palmclaw.storage.logfile import LIMIT
from palmclaw.storage.memory import MemoryRecord
from palmclaw.storage.memory_file import MemoryFile
from palmclaw.storage.outbox import Outbox
from palmclaw.storage.people import KnownPeople
from palmclaw.storage.skill_state import StateFile
from palmclaw.storage.skills import broken

T = TypeVar("T")
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, whether it is well, and what to do when it is not.

    `is_news`: nothing is broken, but the person should know.
    """

    name: str
    ok: bool
    text: str
    mend: str = ""
    is_news: bool = False


def home(app: App) -> Finding:
    """A gateway may have it; any other process is in the way of one."""
    lock = HomeLock(app.home.lock)
    holder = lock.holder()
    if holder is not None and holder.purpose == SERVING:
        return Finding("home", True, f"{app.home.root} is served by process {holder.pid}")
    lock.acquire("doctor")
    lock.release()
    return Finding("home", True, f"{app.home.root} is writable and not in use")


def gateway(app: App) -> Finding:
    """Whether one runs, and what it found when it started."""
    found = asyncio.run(_status(app))
    holder = HomeLock(app.home.lock).holder()
    if found is None and holder is not None and holder.purpose == SERVING:
        return Finding("gateway", False, f"process {holder.pid} does not answer", "palmclaw logs, then palmclaw stop")
    if found is None:
        return Finding("gateway", True, "none runs: each command works by itself", "palmclaw serve --background")
    silent = [f"{name}: {visible(problem)}" for name, problem in (found.channels or {}).items() if problem]
    if silent:
        return Finding("gateway", False, f"process {found.pid}; {'; '.join(silent)}", "See: palmclaw logs")
    text, findings = f"process {found.pid}, {found.memory // 1_000_000} MB", "; ".join(map(visible, found.findings))
    return Finding(
        "gateway", True, f"{text}; its start found: {findings}" if findings else text, is_news=bool(findings)
    )


def unfinished(app: App) -> Finding:
    """Turns that a crash broke off: those that wait for the person, and those that the next start will see to."""
    waiting = [t for t in _read(app, lambda db: BrokenOffTurns(db).unfinished()) if t.resume == "person"]
    if waiting:
        names = ", ".join(dict.fromkeys(visible(t.session) for t in waiting))
        mend = f'Say so, or something else, there: palmclaw chat --session {waiting[0].session} "go on"'
        return Finding("unfinished", True, f"broken off, and not gone on with by itself: {names}", mend, is_news=True)
    nobody_runs = HomeLock(app.home.lock).holder() is None
    if nobody_runs and (left := _read(app, lambda db: BrokenOffTurns(db).open())):
        one = "1 turn was broken off; the next start closes it and goes on"
        many = f"{len(left)} turns were broken off; the next start closes them and goes on"
        mend = "palmclaw serve --background, or palmclaw chat"
        return Finding("unfinished", True, one if len(left) == 1 else many, mend, is_news=True)
    return Finding("unfinished", True, "no turn waits for you")


def outbox(app: App) -> Finding:
    """Messages to chat apps that failed, or of which nobody knows."""
    troubles = _read(app, lambda db: Outbox(db).troubles())
    if not troubles:
        return Finding("outbox", True, "every message has arrived or is on its way")
    lines = "; ".join(_trouble(row) for row in troubles[-SHOWN:])
    counts = [sum(r.state is state for r in troubles) for state in (OutboxState.FAILED, OutboxState.UNKNOWN)]
    text = f"{counts[0]} failed, {counts[1]} may have arrived or not: {lines}"
    return Finding("outbox", True, text, "Look in the chat; what is missing must be said again.", is_news=True)


def channels(app: App) -> Finding:
    """Chat apps that nothing installed provides, that are set up wrongly, or in which nobody may speak."""
    known = plugins.names(Kind.CHANNEL.value)
    unknown = {name: c.kind for name, c in app.settings.channels.items() if c.kind not in known}
    if unknown:
        text = "; ".join(f"{name}: {_no_channel(kind, known)}" for name, kind in unknown.items())
        return Finding("channels", False, text, f"palmclaw config unset channels.{next(iter(unknown))}")
    for channel in app.settings.channels.values():
        plugins.checked(Kind.CHANNEL, channel.kind, channel.options)
    settings = {name: channel.access for name, channel in app.settings.channels.items()}
    silent = _read(app, lambda db: Access(settings, KnownPeople(db)).findings())
    if not silent:
        return Finding("channels", True, ", ".join(settings) or "none is set up")
    name, _, way_in = silent[0].partition(": ")
    return Finding("channels", False, name, way_in)


def memory(app: App) -> Finding:
    """The file of what is remembered, and the conversations that could not be looked through for it."""
    try:
        found = MemoryFile(app.home.memory).read()
    except MemoryBroken as error:
        return Finding("memory", False, str(error), error.hint)
    if len(found.text) > CAP:
        long = f"MEMORY.md has {len(found.text):,} characters: the agent sees the first {CAP:,} and adds nothing"
        text = "; ".join(filter(None, (found.warning, long)))
        return Finding("memory", True, text, "Shorten it: palmclaw memory edit", is_news=True)
    if found.warning:
        return Finding("memory", True, found.warning, "palmclaw memory edit", is_news=True)
    if troubles := _read(app, lambda db: MemoryRecord(db).troubles()):
        names = ", ".join(visible(session) for session, _, _ in troubles[:SHOWN])
        text = f"could not be brought up to date from what was said in {names}: {visible(troubles[0][2])}"
        return Finding(
            "memory", True, text, "It is tried again when more is said there. See: palmclaw logs", is_news=True
        )
    return Finding("memory", True, f"{len(found.text):,} of {CAP:,} characters")


def skills(app: App) -> Finding:
    """Skills that cannot be read, or whose text was forgiven something."""
    decided = StateFile(app.home.skill_state)
    if decided.read().damaged:
        return Finding(
            "skills", False, f"{decided.path} is damaged", "It says which skills are on. Mend it, or delete it."
        )
    known = asyncio.run(app.skills.standing())
    if lines := broken(known):
        return Finding("skills", True, "; ".join(map(visible, lines[:SHOWN])), "palmclaw skills list", is_news=True)
    return Finding("skills", True, f"skills that are used: {sum(each.is_ready for each in known)}")


def templates(app: App) -> Finding:
    """A person's own copies of the texts that every request begins with, and how they differ from today's."""
    own = app.templates.own()
    broken = next((copy for copy in own if copy.problem), None)
    if broken is not None:
        return Finding("templates", False, broken.problem, f"Mend or move away: {broken.path}")
    if agent := next((copy for copy in own if copy.is_empty and copy.name == "AGENT"), None):
        text = "your AGENT.md is empty: the agent is not told whom to believe"
        return Finding("templates", True, text, f"Mend or move away: {agent.path}", is_news=True)
    if refused := app.templates.refused():
        name = refused[0].name.partition("-")[0]
        text = f"what you wrote was refused, and waits for you in {refused[0]}"
        return Finding("templates", True, text, f"palmclaw templates edit {name}", is_news=True)
    if not own:
        return Finding("templates", True, "as they come with this version")
    names = ", ".join(f"{copy.name}.md ({_changed(copy.difference)})" for copy in own)
    return Finding("templates", True, f"your own (lines that differ): {names}", is_news=any(c.difference for c in own))


def _changed(difference: tuple[str, ...]) -> int:
    return sum(line[:1] in ("+", "-") and line[:3] not in ("+++", "---") for line in difference)


def _no_channel(kind: str, known: list[str]) -> str:
    near = difflib.get_close_matches(kind, known, n=1, cutoff=0.6)
    said = f"this version has no channel {kind!r}"
    return f"{said}; did you mean {near[0]}?" if near else f"{said}; there are: {', '.join(known) or 'none yet'}"


def log(app: App) -> Finding:
    """The log is put aside when it has grown; one that was not must be looked at."""
    files = (app.home.log, app.home.log.with_name(f"{app.home.log.name}.1"))
    size = sum(path.stat().st_size for path in files if path.exists())
    is_large = size > 3 * LIMIT
    return Finding("log", not is_large, f"{size // 1_000:,} kB", f"Look into it: {app.home.log}" if is_large else "")


def _trouble(row: OutboxRow) -> str:
    to = row.outbound.address
    beginning = visible(" ".join(row.outbound.text.split())[:30])
    return f"{row.state.value} {row.created[:16].replace('T', ' ')} to {visible(to.session)} “{beginning}”"


def _read(app: App, look: Callable[[Database], Awaitable[T]]) -> T:
    async def reading() -> T:
        database = Database(app.home.database, readonly=True)
        try:
            return await look(database)
        finally:
            await database.close()

    return asyncio.run(reading())


async def _status(app: App) -> Status | None:
    async with attached(app.home) as remote:
        if remote is None:
            return None
        try:
            return await remote.status()
        except StorageError as error:
            if error.code != GONE:
                raise
            return None
