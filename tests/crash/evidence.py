"""What is left when all has come to rest: the database, the bells that rang, what the platform has."""

import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from palmclaw.core.codec import decode
from palmclaw.core.messages import Message
from palmclaw.core.traffic import Inbound, Outbound
from tests.crash.platform import ChatPlatform
from tests.crash.talk import Said

_ID = re.compile(r"\b(m\d+): ")


@dataclass(frozen=True, slots=True)
class Taken:
    """A row of the inbox. `id` is the person's own name of the message; empty for a command or a report."""

    row: int
    channel: str
    external_id: str
    session: str
    state: str
    reason: str
    turn: str
    inbound: Inbound
    id: str

    @property
    def is_read(self) -> bool:
        """Whether its own words are in the log."""
        return self.state in ("started", "steered", "merged") and "waited" not in self.reason


@dataclass(frozen=True, slots=True)
class Posted:
    """A row of the outbox."""

    row: int
    key: str
    session: str
    turn: str
    state: str
    outbound: Outbound

    @property
    def is_preview(self) -> bool:
        return self.key.startswith("preview:")


@dataclass(frozen=True, slots=True)
class Turned:
    """A row of the table of turns."""

    id: str
    session: str
    state: str
    stop: str
    resume: str
    continues: str
    error: str


@dataclass(frozen=True)
class Evidence:
    """Everything that the checks look at."""

    database: Path
    rung: tuple[str, ...]
    platform: ChatPlatform
    said: tuple[Said, ...]

    @cached_property
    def inbox(self) -> tuple[Taken, ...]:
        query = "SELECT id, channel, session, state, reason, turn, body FROM inbox ORDER BY id"
        return tuple(_taken(row) for row in self._rows(query))

    @cached_property
    def outbox(self) -> tuple[Posted, ...]:
        query = "SELECT id, key, session, turn, state, body FROM outbox ORDER BY id"
        return tuple(_posted(row) for row in self._rows(query))

    @cached_property
    def turns(self) -> dict[str, Turned]:
        query = "SELECT id, session, state, stop, resume, continues, error FROM turn ORDER BY started"
        return {row[0]: Turned(*row) for row in self._rows(query)}

    @cached_property
    def logs(self) -> Mapping[str, list[tuple[str, Message]]]:
        """Each session's log as (turn, message)."""
        found: dict[str, list[tuple[str, Message]]] = defaultdict(list)
        for session, turn, body in self._rows("SELECT session, turn, body FROM message ORDER BY session, position"):
            found[session].append((turn, decode(Message, json.loads(body))))
        return found

    @cached_property
    def open_questions(self) -> int:
        return int(self._rows("SELECT count(*) FROM question WHERE answer=''")[0][0])

    @cached_property
    def children(self) -> tuple[str, ...]:
        """The sessions of sub-agents that nobody stopped."""
        return tuple(row[0] for row in self._rows("SELECT id FROM session WHERE parent<>'' AND stopped=''"))

    @cached_property
    def rings(self) -> Counter[str]:
        return Counter(self.rung)

    def last(self, turn: str) -> Turned:
        """The turn that went on with this one, or itself."""
        return next((t for t in self.turns.values() if t.continues == turn), self.turns[turn])

    def _rows(self, query: str) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(query).fetchall()


def _posted(row: Any) -> Posted:
    number, key, session, turn, state, body = row
    return Posted(number, key, session, turn, state, decode(Outbound, json.loads(body)))


def _taken(row: Any) -> Taken:
    number, channel, session, state, reason, turn, body = row
    inbound = decode(Inbound, json.loads(body))
    found = _ID.search(inbound.text)
    is_persons = found is not None and not inbound.is_report and not inbound.session.startswith("subagent:")
    name = found[1] if found and is_persons else ""
    return Taken(number, channel, inbound.external_id, session, state, reason, turn, inbound, name)
