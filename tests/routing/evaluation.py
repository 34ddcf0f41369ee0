"""What routing offers for sentences that others wrote, and what that costs; `bench/routing.py` prints the table.

`sentences.jsonl` is by a writer who had not seen the keywords; every third sentence (by its number) was never looked at
while they were chosen. `mobiletask.jsonl` holds the instructions of the MobileTask suite with the operations of their
shortest solution; those that no tool of ours does yet are left out, and listed.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from palmclaw.core.modules import expanded, matched
from palmclaw.core.tools import Module, Tool
from palmclaw.core.wire import compact

HERE = Path(__file__).parent
OPERATIONS = {
    "device.status": "device_status",
    "device.set": "device_set",
    "device.location": "location",
    "device.clipboard_set": "clipboard_set",
    "calendar.list": "calendar_list",
    "calendar.create": "event_add",
    "calendar.update": "event_update",
    "calendar.delete": "event_delete",
    "contacts.search": "contacts_search",
    "contacts.create": "contact_add",
    "contacts.update": "contact_update",
    "contacts.delete": "contact_delete",
    "sms.list": "sms_list",
    "sms.send": "sms_send",
    "media.list": "media_list",
    "media.play": "media_play",
    "media.record_start": "record_start",
    "media.record_stop": "record_stop",
    "bluetooth.status": "bluetooth_status",
    "bluetooth.set": "bluetooth_set",
    "bluetooth.connect": "bluetooth_connect",
    "bluetooth.scan": "bluetooth_scan",
    "bluetooth.unpair": "bluetooth_unpair",
    "file.read": "file_read",
    "file.write": "file_write",
    "file.list": "file_list",
    "file.find": "file_find",
    "file.move": "file_move",
    "file.copy": "file_copy",
    "file.delete": "file_delete",
    "memory.read": "memory_read",
    "memory.append": "memory_write",
    "memory.replace": "memory_write",
    "session.search": "sessions",
    "session.list": "sessions",
    "session.send": "message",
}
Way = Callable[[Sequence[str]], frozenset[str]]
"""Which families are offered for what was said."""


@dataclass(frozen=True, slots=True)
class Case:
    """What was said, and the tools without which it cannot be done."""

    id: str
    language: str
    texts: tuple[str, ...]
    tools: frozenset[str]

    @property
    def is_held_out(self) -> bool:
        """Whether nobody looked at it while the keywords were chosen."""
        return self.id.isdecimal() and int(self.id) % 3 == 0


@dataclass(frozen=True, slots=True)
class Figures:
    """Of some sentences: how many, the share that had all its tools, and the mean tokens of what was offered.

    `quiet` is the share of those that need no tool and woke no family.
    """

    cases: int
    recall: float
    tokens: float
    quiet: float


def sentences() -> list[Case]:
    """Those of the writer."""
    return [Case(str(r["id"]), r["lang"], tuple(r["texts"]), frozenset(r["tools"])) for r in _rows("sentences")]


def tasks() -> list[Case]:
    """The instructions of MobileTask, in both languages."""
    rows = [(row, {OPERATIONS[op] for op in row["ops"] if op in OPERATIONS}) for row in _rows("mobiletask")]
    return [Case(r["id"], r["lang"], tuple(r["texts"]), frozenset(tools)) for r, tools in rows]


def left_out() -> list[str]:
    """The operations of MobileTask that no tool of ours does."""
    return sorted({op for row in _rows("mobiletask") for op in row["ops"]} - OPERATIONS.keys())


def ways(modules: Mapping[str, Module]) -> dict[str, Way]:
    """The three ways that are compared."""
    bare = {n: replace(m, requires=(), hints=(), common=False) for n, m in modules.items()}
    return {
        "all tools": lambda texts: frozenset(modules),
        "keywords alone": lambda texts: matched(bare, texts),
        "routing": lambda texts: matched(modules, texts),
    }


def measured(cases: Iterable[Case], way: Way, modules: Mapping[str, Module], cost: Mapping[str, int]) -> Figures:
    """What a way offers for the sentences."""
    cases = list(cases)
    resting = expanded(modules, [name for name, module in modules.items() if module.always])
    complete, tokens, quiet, idle = 0, 0, 0, 0
    for case in cases:
        families = way(case.texts)
        tools = {tool for family in families for tool in modules[family].tools}
        complete += case.tools <= tools
        tokens += sum(cost[tool] for tool in tools)
        idle += not case.tools
        quiet += not case.tools and families == resting
    return Figures(len(cases), complete / len(cases), tokens / len(cases), quiet / idle if idle else 1.0)


def missed(cases: Iterable[Case], way: Way, modules: Mapping[str, Module]) -> list[str]:
    """The sentences that lack a tool, with what they lack; of those not looked at only the number."""
    found = []
    for case in cases:
        offered = {tool for family in way(case.texts) for tool in modules[family].tools}
        if lacking := sorted(case.tools - offered):
            said = "(held out)" if case.is_held_out else " · ".join(case.texts)
            found.append(f"{case.id}: {said}: {', '.join(lacking)}")
    return found


def costs(tools: Mapping[str, Tool], count: Callable[[str], int]) -> dict[str, int]:
    """The tokens of each tool's specification."""
    return {
        name: count(compact({"name": name, "description": tool.description, "parameters": tool.schema}))
        for name, tool in tools.items()
    }


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
