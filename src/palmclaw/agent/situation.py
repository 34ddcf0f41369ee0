"""The facts of a call that the policy's conditions ask for."""

import re

from palmclaw.agent.checks import Reach
from palmclaw.agent.turn import Turn
from palmclaw.core.tools import Tool
from palmclaw.guard.policy import Condition

_WORD = re.compile(r"[a-z]{3,}")
_COMMON = frozenset({"get", "list", "read", "scan", "search", "set", "start", "stop", "take"})
_URL = re.compile(r"(?:https?://)?[^\s<>\"'，。！？、（）“”]+", re.IGNORECASE)


def conditions(tool: Tool, reach: Reach, turn: Turn) -> frozenset[Condition]:
    """Which of the table's conditions hold for this call in this turn."""
    facts = {
        Condition.NAMED_BY_JOB: _named(tool, turn.task),
        Condition.JOBS_OWN_ADDRESS: bool(reach.recipients) and turn.addresses.issuperset(reach.recipients),
        Condition.URL_FROM_OWNER: not turn.private or _from_owner(reach.urls, turn.words),
        Condition.OWN_SESSION: tool.here or _own_session(tool, reach),
        Condition.NOT_PERSONAL: not (turn.private or tool.private),
    }
    return frozenset(condition for condition, holds in facts.items() if holds)


def _named(tool: Tool, task: str) -> bool:
    """The job speaks of what the tool does: every word of its name that means something stands in the job's text."""
    heard = set(_WORD.findall(task.lower()))
    words = set(_WORD.findall(tool.name.replace("_", " "))) - _COMMON
    return bool(words) and words <= heard


def _from_owner(urls: list[str], words: str) -> bool:
    """Every address stands in the owner's words exactly, with or without its scheme."""
    said = {_bare(u) for u in _URL.findall(words)}
    return bool(urls) and all(_bare(url) in said for url in urls)


def _bare(url: str) -> str:
    return re.sub(r"^https?://", "", url, flags=re.IGNORECASE).rstrip("/.,;:!?)")


def _own_session(tool: Tool, reach: Reach) -> bool:
    return bool(reach.paths) and not tool.private and all(p.root == "session" for p in reach.paths)
