"""Changes to MEMORY.md as operations: applied to the file as it is, again and again if need be, they do the same.

What a person wrote stays: their words are reworded by nobody else, and the looking through of conversations neither
touches their entries nor takes away more than a quarter of all at once. Where the file is full it lets its own oldest
entries go; whoever else adds to a full file is told.
"""

import re
from collections.abc import Sequence

from palmclaw.core.errors import BadArguments
from palmclaw.core.memory import (
    CAP,
    Add,
    By,
    Change,
    Done,
    Drop,
    Entry,
    How,
    MemoryFull,
    Replace,
    Source,
)
from palmclaw.core.notes import Page, gist, page
from palmclaw.core.text import printable, whole
from palmclaw.core.values import dataclass

ENTRY = 500
"""Characters of one entry."""
SECTION = 60
NOTES = "Notes"
"""The section of what was given none."""
TITLE = "Memory"
_LEADING = re.compile(r"\A(?:[-*+#]+(?:\s+|\Z))+")
_LOOKALIKE = re.compile(r"<(?=/?\s*(?:outside|system|assistant|user|tool)\b)", re.IGNORECASE)


def applied(text: str, changes: Sequence[Change], source: Source, limit: int = CAP) -> tuple[str, tuple[Done, ...]]:
    """The text after the changes, and what became of each. Raises MemoryFull, BadArguments; then none was made."""
    read = page(text)
    writer = _Writer(read, source, limit, allowed(len({gist(e.text) for e in read.entries})))
    done = tuple(writer.do(change) for change in changes)
    return writer.page.text, done


def allowed(count: int) -> int:
    """How many of so many entries may be taken away at once by itself: a quarter, but never all."""
    return max(0, min(max(1, count // 4), count - 1))


def worded(text: str, most: int = ENTRY, name: str = "text") -> str:
    """The words of an entry: one line in which nothing hides or is taken for a mark. Raises BadArguments."""
    plain = _LEADING.sub("", " ".join(printable(whole(text)).split()))
    plain = _LOOKALIKE.sub("‹", plain.replace("<!--", "<! --").replace("-->", "-- >"))
    if not 0 < len(plain) <= most:
        raise BadArguments((f"{name}: must be 1 to {most} characters, got {len(plain)}",))
    return plain


@dataclass(slots=True)
class _Writer:
    """Makes one change after the other. `spare` is how many entries may still be taken away by itself."""

    page: Page
    source: Source
    limit: int
    spare: int

    def do(self, change: Change) -> Done:
        before, spare = self.page, self.spare
        done = self._done(change)
        if self._size <= max(self.limit, len(before.text)):
            return done
        if self.source.by is not By.CONSOLIDATED:
            raise MemoryFull(self._size, self.limit)
        if not self._made_room(done.text):
            self.page, self.spare = before, spare
            return Done(change, How.NO_ROOM)
        return done

    def _done(self, change: Change) -> Done:
        if isinstance(change, Add):
            return self._add(change)
        entry = self._found(change.old)
        if isinstance(change, Replace):
            return self._replace(change, entry)
        if entry is None:
            return Done(change, How.GONE)
        return self._drop(change, entry)

    def _add(self, change: Add) -> Done:
        text = worded(change.text)
        there = self._found(text)
        if there is None:
            self._insert(text, change.section)
            return Done(change, How.ADDED, text)
        if text == there.text or not self._may_touch(there, reword=True):
            return Done(change, How.KEPT, there.text)
        self._put(there, text)
        return Done(change, How.REPLACED, text, there.text)

    def _replace(self, change: Replace, entry: Entry | None) -> Done:
        text = worded(change.text)
        there = self._found(text)
        if entry is None:
            return Done(change, How.KEPT, there.text) if there else Done(change, How.GONE)
        if text == entry.text:
            return Done(change, How.KEPT, text)
        if not self._may_touch(entry):
            return Done(change, How.REFUSED, entry.text)
        if there is None or gist(there.text) == gist(entry.text):
            self._put(entry, text)
        self._cut_like(entry.text, but=text)
        return Done(change, How.REPLACED, there.text if there else text, entry.text)

    def _drop(self, change: Drop, entry: Entry) -> Done:
        if not self._may_touch(entry) or (self.source.by is By.CONSOLIDATED and self.spare == 0):
            return Done(change, How.REFUSED, entry.text)
        self.spare -= 1
        self._cut_like(entry.text)
        return Done(change, How.DROPPED, before=entry.text)

    def _cut_like(self, text: str, but: str = "") -> None:
        """Take away all entries that say this, as far as they may be touched."""
        alike = [e for e in self.page.entries if gist(e.text) == gist(text) and e.text != but and self._may_touch(e)]
        for entry in reversed(alike):
            self._cut(entry)

    def _may_touch(self, entry: Entry, *, reword: bool = False) -> bool:
        """A person's words are theirs: others drop them only when told to, and never put near-equal ones there."""
        if self.source.by is By.OWNER or entry.source.by is not By.OWNER:
            return True
        return self.source.by is By.AGENT and not reword

    def _made_room(self, text: str) -> bool:
        """Let the oldest entries go that came from conversations, but for this one."""
        while self._size > self.limit and self.spare > 0:
            own = [e for e in self.page.entries if e.source.by is By.CONSOLIDATED and e.text != text]
            if not own:
                break
            self._cut(min(own, key=lambda e: (e.source.day, e.number)))
            self.spare -= 1
        return self._size <= self.limit

    @property
    def _size(self) -> int:
        return len(self.page.text)

    def _found(self, text: str) -> Entry | None:
        """The entry of these words, else a near-equal one."""
        entries = self.page.entries
        exact = next((e for e in entries if e.text == text), None)
        return exact or next((e for e in entries if gist(e.text) == gist(text)), None)

    def _put(self, entry: Entry, text: str) -> None:
        """As the line that stood there: with its indent and its bullet."""
        line = self.page.lines[entry.start]
        bare = line.lstrip(" \t")
        self._write(entry.start, entry.end, [self._line(text, line[: len(line) - len(bare) + 1])])

    def _cut(self, entry: Entry) -> None:
        self._write(entry.start, entry.end, [])

    def _insert(self, text: str, section: str) -> None:
        """At the end of the section's entries; a section that is not there comes last."""
        name = worded(section, SECTION, "section") if section.strip() else NOTES
        place = self.page.section(name)
        if place is None:
            title = [] if self.page.text.strip() else [self._ended(f"# {TITLE}")]
            gap = [self._ended("")] if title or self.page.lines[-1].strip() else []
            end = len(self.page.lines)
            self._write(end, end, [*title, *gap, self._ended(f"## {name}"), self._line(text)])
            return
        start, end = place
        last = [e.end for e in self.page.entries if start < e.start < end]
        at = last[-1] if last else max(n for n in range(start, end) if self.page.lines[n].strip()) + 1
        while at < end and self.page.lines[at][:1] in (" ", "\t") and self.page.lines[at].strip():
            at += 1  # else these lines would belong to the new entry
        self._write(at, at, [self._line(text)])

    def _write(self, start: int, end: int, lines: Sequence[str]) -> None:
        """Put these lines in the place of others."""
        before = list(self.page.lines[:start])
        if lines and before and not before[-1].endswith(("\n", "\r")):
            before[-1] = self._ended(before[-1])
        self.page = page("".join((*before, *lines, *self.page.lines[end:])))

    def _line(self, text: str, bullet: str = "-") -> str:
        return self._ended(f"{bullet} {text} {self.source.comment}")

    def _ended(self, line: str) -> str:
        return line + ("\r\n" if "\r\n" in self.page.text else "\n")
