"""What a script is given, and the few steps that several of them share."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from typing import Any

from palmclaw.core.errors import PalmclawError
from palmclaw.core.values import dataclass
from palmclaw.providers.offline.numerals import number
from palmclaw.providers.offline.phrases import Phrases
from palmclaw.providers.offline.script import Failed, NotOffered, Question, Script, Step, Unreadable


class Ended(PalmclawError):
    """The script has its answer already; the text is the message."""


class Cancelled(PalmclawError):
    """The person answered the question with a no; thrown into the script."""


@dataclass(frozen=True, slots=True)
class Said:
    """One understood command: its slots, the device's time, the words to answer with and the tools on offer."""

    slots: Mapping[str, Any]
    now: datetime
    say: Phrases
    tools: tuple[str, ...] = ()

    def slot(self, *names: str) -> Any:
        """The first of these slots that is filled."""
        return next((self.slots[n] for n in names if self.slots.get(n) not in (None, "")), None)


ScriptOf = Callable[[Said], Script]


def guarded(script: Script, say: Phrases) -> Script:
    """The script, with whatever goes wrong put into one sentence."""
    try:
        return (yield from script)
    except Ended as end:
        return str(end)
    except Failed as failed:
        return say.failure(failed)
    except NotOffered as missing:
        return say.missing(missing.tool)
    except Unreadable:
        return say("unreadable")
    except Cancelled:
        return say("left")


def at(value: Any, *path: str) -> Any:
    """A field of a result, or None where the result has another shape."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def rows(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects under the key; a result that leaves out all it has is no empty one."""
    items = at(value, key)
    found = [r for r in items if isinstance(r, dict)] if isinstance(items, list) else []
    if not found and left_out(value) != 0:
        raise Unreadable(key)
    return found


def left_out(value: Any) -> int | None:
    """How many rows the result leaves out; None when it only says that there are more."""
    more = at(value, "more")
    if isinstance(more, bool) or not isinstance(more, int):
        return None if more else 0
    return max(more, 0)


def told(said: Said, key: str, value: Any, lines: Sequence[str], **values: object) -> str:
    """A heading with the count of what there is, and the lines; `key`_one is the heading of a single one."""
    more = left_out(value)
    if len(lines) == 1 and more == 0:
        return said.say.lines(said.say(f"{key}_one", **values), lines)
    count = said.say("at_least", count=len(lines)) if more is None else len(lines) + more
    return said.say.lines(said.say(key, count=count, **values), lines, more)


def chosen(
    said: Said, question: str, choices: Sequence[str], more: int | None = 0, **values: object
) -> Generator[Step, Any, int]:
    """Ask which of the choices is meant; gives its position."""
    text = said.say(question, names=said.say.listed(choices, more), **values)
    position: int = yield Question(text, lambda reply: picked(reply, choices, said.say), tuple(choices))
    return position


def picked(reply: str, choices: Sequence[str], say: Phrases) -> int | None:
    """Which choice the reply means: by position ("2", "the first one", "第二个") or by a name that fits only one."""
    words = reply.strip().strip('.。!！?？"“”').casefold()
    place = _place(words, say, len(choices))
    if place is not None:
        return place
    names = [c.casefold() for c in choices]
    if words in names:
        return names.index(words)
    fitting = [n for n, name in enumerate(names) if words and words in name]
    return fitting[0] if len(fitting) == 1 else None


def _place(words: str, say: Phrases, count: int) -> int | None:
    short = re.sub(r"^(?:the|no\.?|number|选|要|用|就)\s*|\s*(?:one|个|位|项|号|条|那个|吧)+$", "", words).strip()
    if words in say.replies("last") or short in say.replies("last"):
        return count - 1
    ordinals, pair = say.replies("first"), 1 if say.language == "zh" else 2
    said = next((w for w in (words, short) if w in ordinals), "")
    digits = re.sub(r"(?:st|nd|rd|th)$", "", short)
    place = ordinals.index(said) // pair + 1 if said else number(digits)
    return place - 1 if place is not None and 1 <= place <= count else None


def cancels(reply: str, say: Phrases) -> bool:
    return reply.strip().strip(".。!！").casefold() in say.replies("cancel")


def iso(moment: datetime) -> str:
    """How the tools write a moment: ISO 8601 with offset, minutes precision."""
    return moment.isoformat(timespec="minutes")


def moment_of(value: Any, now: datetime) -> datetime | None:
    """A moment from a result in the device's zone, or None."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=now.tzinfo)).astimezone(now.tzinfo)
