"""Notices a model that goes round in circles."""

from dataclasses import field

from palmclaw.core.messages import Message, ToolCall
from palmclaw.core.values import dataclass
from palmclaw.guard.trust import unwrapped


@dataclass(slots=True)
class Repeats:
    """Counts the same call with the same result; a result that changes starts the count again."""

    limit: int
    _last: dict[str, tuple[str, int]] = field(default_factory=dict)

    def seen(self, call: ToolCall, answer: Message, *, reads: bool) -> bool:
        """Note one answered call; True when it has come out the same `limit` times in this turn.

        A read is known by its arguments. An effect that succeeded is known by what it did, however the arguments were
        spelled (one number may be written in many ways).
        """
        result = "".join(unwrapped(r.content) for r in answer.results)
        done = not reads and all(r.error is None for r in answer.results)
        what = result if done else f"{sorted(call.arguments.items(), key=repr)!r}\n{call.raw}"
        key = f"{call.name}\n{what}"
        last, count = self._last.get(key, ("", 0))
        count = count + 1 if last == result else 1
        self._last[key] = (result, count)
        return count >= self.limit
