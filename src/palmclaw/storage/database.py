"""One SQLite file, one thread that writes to it, migrations by number.

Every operation is one function run inside one transaction on the writer's thread, so a kill at any instant leaves
either all of it or none. `synchronous=FULL`, because a phone's battery dies too.
"""

import asyncio
import os
import sqlite3
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import TypeVar

from palmclaw.core.errors import StorageError
from palmclaw.core.values import dataclass

CACHE = 512
"""Kilobytes of pages that a gateway holds for good; what is read again comes from the system's own cache."""
AGAIN = 0.02
"""Seconds until a file that another process is just opening is tried again."""
T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


@dataclass(slots=True)
class Database:
    """Opened lazily on its own thread; `readonly` opens an existing file beside the process that writes.

    `patience` is how many seconds it waits for another program that has the file locked.
    """

    path: Path
    readonly: bool = False
    patience: float = 10.0
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(max_workers=1, thread_name_prefix="palmclaw-database")
    )
    _connection: sqlite3.Connection | None = None

    async def run(self, work: Work[T]) -> T:
        """Run `work` in one transaction. Raises StorageError, and then nothing of it is kept."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transaction, work)

    async def note(self, work: Work[T]) -> T:
        """As `run`, for what need not be safe from a battery that dies until something else is stored by `run`."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transaction, work, "NORMAL")

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=True)

    def _transaction(self, work: Work[T], synchronous: str = "FULL") -> T:
        try:
            connection = self._opened()
            connection.execute(f"PRAGMA synchronous={synchronous}")
            with connection:
                if not self.readonly:
                    connection.execute("BEGIN IMMEDIATE")
                return work(connection)
        except sqlite3.Error as error:
            raise _explained(error, self.path) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = (
                _connect_readonly(self.path, self.patience) if self.readonly else _connect(self.path, self.patience)
            )
        return self._connection

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connect_readonly(path: Path, patience: float) -> sqlite3.Connection:
    if not path.exists():
        return _migrated(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False))
    connection, version = _looked_at(path, patience)
    if version > len(_scripts()):
        connection.close()
        raise _too_new(path)
    return connection if version == len(_scripts()) else _brought_up(connection)


def _brought_up(old: sqlite3.Connection) -> sqlite3.Connection:
    """A copy in memory with today's schema: a reader may not touch the file that an older version wrote."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(old):
        old.backup(copy)
    return _migrated(copy)


def _looked_at(path: Path, patience: float) -> tuple[sqlite3.Connection, int]:
    """A reader and the schema's version; where not even a reader's lock can be made, the file is read as it lies."""
    resting = "&immutable=1" if not os.access(path.parent, os.W_OK) and not Path(f"{path}-wal").exists() else ""
    uri = f"{path.as_uri()}?mode=ro{resting}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=patience)
    try:
        return connection, int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error:
        connection.close()
        raise


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    _private_file(path)
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=patience)
    try:
        _in_wal(connection, patience)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA cache_size=-{CACHE}")
        return _migrated(connection, path)
    except BaseException:
        connection.close()
        raise


def _in_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Where several begin on a new file together, SQLite refuses this instead of waiting: so it is waited here."""
    until = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or time.monotonic() > until:
                raise
        time.sleep(AGAIN)


def _private_file(path: Path) -> None:
    """Create the file readable by its owner alone, whatever the umask says."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageError(
            f"cannot write {path}: {error.strerror}", "Make the folder writable, or choose another with PALMCLAW_HOME."
        ) from error
    if stat.S_IMODE(os.fstat(descriptor).st_mode) & 0o077:
        os.fchmod(descriptor, 0o600)
    os.close(descriptor)


def _migrated(connection: sqlite3.Connection, path: Path | None = None) -> sqlite3.Connection:
    """Bring the schema up to date in one transaction; its lock lets many processes start on one file at once."""
    scripts = _scripts()
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(scripts):
            raise _too_new(path)
        for script in scripts[version:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={len(scripts)}")
    return connection


def _statements(script: str) -> list[str]:
    """The statements of a script, since `executescript` would commit between them."""
    found, current = [], ""
    for line in script.splitlines(keepends=True):
        current += line
        if sqlite3.complete_statement(current):
            found.append(current)
            current = ""
    return found


def _scripts() -> list[str]:
    folder = Path(__file__).parent / "migrations"
    return [f.read_text("utf-8") for f in sorted(folder.iterdir(), key=lambda f: f.name) if f.name.endswith(".sql")]


def _too_new(path: Path | None) -> StorageError:
    return StorageError(f"{path} was written by a newer PalmClaw", "Update PalmClaw: pip install -U palmclaw")


def _explained(error: sqlite3.Error, path: Path) -> StorageError:
    """SQLite's result code as a sentence and what to do."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
        return StorageError(f"no space left to write {path}; nothing half-written was kept", "Free some space.")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        hint = "Close the program that has it open (an editor of databases, a backup); then try again."
        return StorageError(f"another program keeps {path} locked; nothing was stored", hint)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return StorageError(f"cannot write {path}: {error}", "Make the folder writable, or set PALMCLAW_HOME.")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return StorageError(
            f"{path} is damaged: {error}", "Keep a copy of the file, then move it away and start again."
        )
    return StorageError(f"{path}: {error}")
