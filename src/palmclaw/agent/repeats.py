"""Notices a model that goes round in circles."""

from dataclasses import dataclass, field

from palmclaw.core.messages import Message, ToolCall
from palmclaw.guard.trust import unwrapped


@dataclass(slots=True)
class Repeats:
    """Counts the same call with the same result; a result that changes starts the count again."""

    limit: int
    _last: dict[str, tuple[str, int]] = field(default_factory=dict)

    def seen(self, call: ToolCall, answer: Message) -> bool:
        """Note one answered call; True when it has come out the same `limit` times in this turn."""
        key = f"{call.name}\n{sorted(call.arguments.items(), key=repr)!r}\n{call.raw}"
        result = "".join(unwrapped(r.content) for r in answer.results)
        last, count = self._last.get(key, ("", 0))
        count = count + 1 if last == result else 1
        self._last[key] = (result, count)
        return count >= self.limit
