"""The events of an answer, turned into deltas and one Reply. Pure."""

from collections.abc import Iterator
from typing import Any

from palmclaw.core.answers import count_in, free_id, index_in, read_call, text_in
from palmclaw.core.errors import BadReply, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Part, ToolCall, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.net.hearing import Hearing, Shown
from palmclaw.providers.openai_responses.assembly import Assembly
from palmclaw.providers.openai_responses.items import BETWEEN, Call, Item, Thought, Words, arguments, objects

_CUTS = {
    "": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "length": Finish.LENGTH,
    "content_filter": Finish.FILTER,
}
_KEEP_ALIVES = ("keepalive", "ping")


class Decoder:
    """Implements the Decoder of net/hearing for the events of a response.

    Items and events of a kind that is not known are passed over.
    """

    def __init__(self, hearing: Hearing) -> None:
        self.substance = 0
        self.complete = False
        self.usage: Usage | None = None
        self._hearing = hearing
        self._items = Assembly()
        self._finish: Finish | None = None
        self._answered = False
        self._strange = False

    def feed(self, event: Any, name: str = "") -> list[Shown]:
        """The deltas in one event."""
        if event is None:
            return []
        if not isinstance(event, dict):
            raise BadReply(f"{self._hearing.where} sent something that is no part of a response.")
        kind = str(event.get("type") or name or ("response" if "output" in event else ""))
        if "error" in (kind, name) or event.get("error"):
            raise self._hearing.reported(event.get("error") or _without_type(event))
        self._answered = self._answered or kind.startswith("response")
        self._strange = self._strange or (bool(event) and kind not in _KEEP_ALIVES)
        return [] if self.complete else list(self._heard(kind.removeprefix("response."), event))

    def done(self) -> None:
        """The service has said that nothing follows."""
        self.complete = True

    def finish(self) -> Reply:
        """The whole answer."""
        self._hearing.ended("response", strange=self._strange and not self._answered, complete=self.complete)
        parts = self._parts(cut=self._finish is Finish.LENGTH)
        refused = any(i.refused for i in self._items.of(Words))
        return self._hearing.reply(parts, self._finish, self.usage, refused=refused)

    def _heard(self, what: str, event: dict[str, Any]) -> Iterator[Shown]:
        match what:
            case "output_item.added":
                self.substance += self._items.opened(event.get("item"), _index(event)) is not None
            case "output_item.done":
                yield from self._told(event.get("item"), self._items.settled(event.get("item"), _index(event)))
            case "output_text.delta" | "refusal.delta" | "output_text.done" | "refusal.done":
                yield from self._words(what, event)
            case "reasoning_summary_text.delta" | "reasoning_text.delta":
                yield from self._thought(what, event)
            case "function_call_arguments.delta" | "function_call_arguments.done":
                self._call(event)
            case "completed" | "incomplete" | "failed":
                yield from self._over(what, event.get("response"))
            case "response":
                yield from self._over("", event)

    def _words(self, what: str, event: dict[str, Any]) -> Iterator[Shown]:
        """A piece of a message, or the whole of one that did not come in pieces."""
        words = self._items.spoken_of(Words, text_in(event, "item_id"), _index(event))
        words.refused = words.refused or what.startswith("refusal")
        if what.endswith("delta"):
            yield from self._shown(words, text_in(event, "delta"))
        elif not words.voice.all:
            yield from self._shown(words, text_in(event, "text") or text_in(event, "refusal"))

    def _thought(self, what: str, event: dict[str, Any]) -> Iterator[Shown]:
        form = "summary" if "summary" in what else "full"
        thought = self._items.spoken_of(Thought, text_in(event, "item_id"), _index(event))
        paragraph = index_in(event, "summary_index" if form == "summary" else "content_index") or 0
        yield from self._shown(thought, thought.paragraphed(form, paragraph, text_in(event, "delta")))

    def _call(self, event: dict[str, Any]) -> None:
        """Arguments, in pieces or whole."""
        call = self._items.spoken_of(Call, text_in(event, "item_id"), _index(event))
        call.pieces.add(piece := text_in(event, "delta"), self._hearing.limit)
        call.given = arguments(event) or call.given
        self.substance += bool(piece or call.given)

    def _told(self, wire: Any, item: Item | None) -> Iterator[Shown]:
        """An item is told once more as a whole: what of it was not streamed is shown now."""
        if item is None:
            return
        self.substance += 1
        unsaid = item.unsaid(wire)
        if not isinstance(item, Call):
            yield from self._shown(item, unsaid)

    def _shown(self, item: Words | Thought, piece: str) -> Iterator[Shown]:
        first = not item.voice.all
        shown = item.voice.add(piece)
        if not shown:
            return
        self.substance += 1
        if isinstance(item, Thought):
            yield ReasoningDelta(shown)
            return
        if first and any(w.voice.all.strip() for w in self._items.of(Words) if w is not item):
            item.lead = BETWEEN
        yield TextDelta(item.lead + shown if first else shown)

    def _over(self, what: str, response: Any) -> Iterator[Shown]:
        """The service's last word: how it ended, what it cost, and all items once more."""
        response = response if isinstance(response, dict) else {}
        status = text_in(response, "status") or what or "completed"
        if "failed" in (what, status):
            raise self._hearing.reported(response.get("error"))
        if status in ("cancelled", "canceled"):
            raise StreamCut(f"{self._hearing.where} broke off its answer.")
        if not what and status not in ("completed", "incomplete"):
            return
        for wire, item in self._items.recognised(objects(response, "output")):
            yield from self._told(wire, item)
        self._count(response.get("usage"))
        if "incomplete" in (what, status):
            self._finish = _CUTS.get(text_in(response.get("incomplete_details"), "reason"), Finish.OTHER)
        self.substance += 1
        self.complete = True

    def _count(self, usage: Any) -> None:
        """Some services count under the names of the chat protocol."""
        if not isinstance(usage, dict) or not usage:
            return
        details = usage.get("input_tokens_details") or usage.get("prompt_tokens_details")
        said = usage.get("output_tokens_details") or usage.get("completion_tokens_details")
        self.usage = Usage(
            input=count_in(usage, "input_tokens") or count_in(usage, "prompt_tokens"),
            output=count_in(usage, "output_tokens") or count_in(usage, "completion_tokens"),
            cached=count_in(details, "cached_tokens"),
            reasoning=count_in(said, "reasoning_tokens"),
            requests=1,
            cache_write=count_in(details, "cache_write_tokens"),
        )

    def _parts(self, *, cut: bool) -> tuple[Part, ...]:
        """The items in their order, with ids that nobody else has; the last call may have been cut."""
        used, parts, items = set(self._hearing.taken), list[Part](), self._items.ordered()
        for item in items:
            if isinstance(item, Call):
                call = ToolCall(free_id(item.call_id, used), item.name)
                cut_in_it = cut and item is items[-1]
                parts.append(read_call(call, item.text, self._hearing.limit, cut=cut_in_it))
                used.add(call.id)
            else:
                parts += item.parts()
        return tuple(parts)


def _index(event: dict[str, Any]) -> int | None:
    return index_in(event, "output_index")


def _without_type(event: dict[str, Any]) -> dict[str, Any]:
    """An error that is told in the event itself, whose type says only that it is one."""
    return {key: value for key, value in event.items() if key != "type" or value != "error"}
