"""Puts results into words, from the templates of one language."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from palmclaw.core.values import dataclass
from palmclaw.providers.offline.script import Failed

_DATA = Path(__file__).parent / "data"
_MOST = 20

_REFUSALS = {
    "declined": "declined",
    "denied": "denied",
    "not_asked": "not_asked",
    "permission_denied": "permission",
}


@dataclass(frozen=True, slots=True)
class Phrases:
    """The answer templates of one language."""

    language: str
    table: Mapping[str, Any]

    def __call__(self, key: str, **values: object) -> str:
        text: str = self.table["say"][key]
        return text.format(**values)

    def listed(self, items: Iterable[str], more: int | None = 0) -> str:
        """The items side by side; `more` (None: an unknown number) are left out."""
        return self("separator").join((*items, *self._more(more)))

    def _more(self, count: int | None) -> list[str]:
        if count is None:
            return [self("and_others")]
        return [self("and_more", count=count)] if count else []

    def joined(self, sentences: Iterable[str]) -> str:
        """Whole sentences one after the other."""
        return (" " if self.language == "en" else "").join(sentences)

    def lines(self, head: str, items: Sequence[str], more: int | None = 0) -> str:
        """A heading with one line for each item; it says how much is left out, here or already in the result."""
        shown = [f"- {item}" for item in items[:_MOST]]
        hidden = None if more is None else len(items) - len(shown) + more
        return "\n".join((head, *shown, *self._more(hidden)))

    def failure(self, failed: Failed) -> str:
        """One honest sentence for a call that did not succeed."""
        key = _REFUSALS.get(failed.code, "")
        if key:
            undone = self.table["undone"]
            return self(key, undone=undone.get(failed.tool, undone["other"]))
        if failed.code in ("outcome_unknown", "timeout"):
            return self("unknown")
        reason = self.table["reasons"].get(failed.code, str(failed))
        return self("failed", message=reason.rstrip(".。"))

    def missing(self, tool: str) -> str:
        can = self.table["can"]
        return self("missing", what=can.get(tool, can["other"]))

    def clock(self, at: datetime) -> str:
        return at.strftime("%H:%M")

    def date(self, at: datetime, *, full: bool = False) -> str:
        days = self.table["days"]
        pattern: str = days["full" if full else "date"]
        named = {"weekday": days["names"][at.weekday()], "month": days["months"][at.month - 1]}
        return pattern.format(day=at.day, year=at.year, **named)

    def day(self, at: datetime, now: datetime) -> str:
        """ "today", "tomorrow" or "on Friday 19 June"."""
        near = {-1: "yesterday", 0: "today", 1: "tomorrow"}.get((at.date() - now.date()).days)
        return self(near) if near else self("at_day", day=self.date(at))

    def moment(self, at: datetime, now: datetime) -> str:
        near = abs((at.date() - now.date()).days) <= 1
        return self("moment", day=self.day(at, now) if near else self.date(at), time=self.clock(at))

    def length(self, length: timedelta) -> str:
        minutes, seconds = divmod(int(length.total_seconds()), 60)
        hours, minutes = divmod(minutes, 60)
        parts = (("hours", hours), ("minutes", minutes), ("seconds", seconds))
        return " ".join(self(key, n=n) for key, n in parts if n)

    def replies(self, kind: str) -> tuple[str, ...]:
        """The words by which a person cancels, or picks by position."""
        return tuple(self.table["replies"][kind].split("|"))


@lru_cache(maxsize=2)
def phrases(language: str) -> Phrases:
    """The templates of "en" or "zh"; loaded once per process."""
    with (_DATA / f"answers.{language}.toml").open("rb") as file:
        return Phrases(language, tomllib.load(file))
