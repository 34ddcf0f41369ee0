"""The events of an answer, turned into deltas and one Reply. Pure."""

from collections.abc import Collection, Iterator
from typing import Any

from palmclaw.core.answers import count_in
from palmclaw.core.arguments import MAX_CHARS
from palmclaw.core.errors import BadReply, ContentFiltered, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Cut, Message, Part, Role, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.core.text import tokens
from palmclaw.net.failures import Redact, reported
from palmclaw.providers.openai_responses.assembly import Assembly
from palmclaw.providers.openai_responses.items import BETWEEN, Call, Item, Thought, Words, arguments, objects, string

Shown = TextDelta | ReasoningDelta

_CUTS = {
    "": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "length": Finish.LENGTH,
    "content_filter": Finish.FILTER,
}
_KEEP_ALIVES = ("keepalive", "ping")


class Decoder:
    """Feed it decoded events; `finish` gives the Reply, or raises when the answer stopped in the middle.

    `substance` grows with each event that says something, so that keep-alives can be told from content. Items and
    events of a kind that is not known are passed over.
    """

    def __init__(
        self,
        model: str,
        where: str = "the service",
        redact: Redact = str,
        taken: Collection[str] = (),
        limit: int = MAX_CHARS,
    ) -> None:
        self.substance = 0
        self.complete = False
        self._model = model
        self._where = where
        self._redact = redact
        self._taken = taken
        self._limit = limit
        self._items = Assembly()
        self._finish: Finish | None = None
        self._usage: Usage | None = None
        self._answered = False
        self._strange = False

    def feed(self, event: Any, name: str = "") -> list[Shown]:
        """The deltas in one event of the stream, or in the one body of an answer that was not streamed.

        `name` is that of the server-sent event, for a service that says it nowhere else.
        """
        if event is None:
            return []
        if not isinstance(event, dict):
            raise BadReply(f"{self._where} sent something that is no part of a response.")
        kind = str(event.get("type") or name or ("response" if "output" in event else ""))
        if "error" in (kind, name) or event.get("error"):
            raise reported(self._where, event.get("error") or _without_type(event), self._redact)
        self._answered = self._answered or kind.startswith("response")
        self._strange = self._strange or (bool(event) and kind not in _KEEP_ALIVES)
        return [] if self.complete else list(self._heard(kind.removeprefix("response."), event))

    def done(self) -> None:
        """The service has said that nothing follows."""
        self.complete = True

    def finish(self) -> Reply:
        """The whole answer. Raises StreamCut, ContentFiltered, or BadReply when it never was one."""
        if self._strange and not self._answered:
            raise BadReply(f"{self._where} answered with something that is no response.")
        if not self.complete:
            raise StreamCut(f"{self._where} stopped in the middle of its answer.")
        cut = self._finish is Finish.LENGTH
        message = Message(Role.ASSISTANT, self._parts(cut=cut), model=self._model, cut=Cut.LENGTH if cut else Cut.NO)
        if self._finish is Finish.FILTER and not message.text and not message.calls:
            raise ContentFiltered(f"{self._where} will not answer this.")
        finish = self._finish or (Finish.TOOLS if message.calls else Finish.STOP)
        refused = any(i.refused for i in self._items.of(Words))
        return Reply(message, self._usage or self._estimate(), Finish.FILTER if refused else finish)

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
        words = self._items.spoken_of(Words, string(event, "item_id"), _index(event))
        words.refused = words.refused or what.startswith("refusal")
        if what.endswith("delta"):
            yield from self._shown(words, string(event, "delta"))
        elif not words.voice.all:
            yield from self._shown(words, string(event, "text") or string(event, "refusal"))

    def _thought(self, what: str, event: dict[str, Any]) -> Iterator[Shown]:
        form = "summary" if "summary" in what else "full"
        thought = self._items.spoken_of(Thought, string(event, "item_id"), _index(event))
        paragraph = _index(event, "summary_index" if form == "summary" else "content_index") or 0
        yield from self._shown(thought, thought.paragraphed(form, paragraph, string(event, "delta")))

    def _call(self, event: dict[str, Any]) -> None:
        """Arguments, in pieces or whole."""
        call = self._items.spoken_of(Call, string(event, "item_id"), _index(event))
        call.add(piece := string(event, "delta"), self._limit)
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
        status = string(response, "status") or what or "completed"
        if "failed" in (what, status):
            raise reported(self._where, response.get("error"), self._redact)
        if not what and status not in ("completed", "incomplete"):
            return
        for wire, item in self._items.recognised(objects(response, "output")):
            yield from self._told(wire, item)
        self._count(response.get("usage"))
        if "incomplete" in (what, status):
            self._finish = _CUTS.get(string(response.get("incomplete_details"), "reason"), Finish.OTHER)
        self.substance += 1
        self.complete = True

    def _count(self, usage: Any) -> None:
        """Some services count under the names of the chat protocol."""
        if not isinstance(usage, dict) or not usage:
            return
        details = usage.get("input_tokens_details") or usage.get("prompt_tokens_details")
        said = usage.get("output_tokens_details") or usage.get("completion_tokens_details")
        self._usage = Usage(
            input=count_in(usage, "input_tokens") or count_in(usage, "prompt_tokens"),
            output=count_in(usage, "output_tokens") or count_in(usage, "completion_tokens"),
            cached=count_in(details, "cached_tokens"),
            reasoning=count_in(said, "reasoning_tokens"),
            requests=1,
            cache_write=count_in(details, "cache_write_tokens"),
        )

    def _estimate(self) -> Usage:
        voices = [*(w.voice for w in self._items.of(Words)), *(t.voice for t in self._items.of(Thought))]
        said = sum(tokens(voice.all) for voice in voices)
        return Usage(output=said, requests=1, estimated=True)

    def _parts(self, *, cut: bool) -> tuple[Part, ...]:
        """The items in their order, with ids that nobody else has; the last call may have been cut."""
        used, parts, items = set(self._taken), list[Part](), self._items.ordered()
        for item in items:
            if isinstance(item, Call):
                call = item.part(used, self._limit, cut=cut and item is items[-1])
                used.add(call.id)
                parts.append(call)
            else:
                parts += item.parts()
        return tuple(parts)


def _index(event: dict[str, Any], key: str = "output_index") -> int | None:
    index = event.get(key)
    return index if isinstance(index, int) and not isinstance(index, bool) else None


def _without_type(event: dict[str, Any]) -> dict[str, Any]:
    """An error that is told in the event itself, whose type says only that it is one."""
    return {key: value for key, value in event.items() if key != "type" or value != "error"}
