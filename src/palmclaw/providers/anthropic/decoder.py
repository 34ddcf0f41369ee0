"""The events of an answer, turned into deltas and one Reply. Pure."""

from collections.abc import Iterator
from typing import Any, TypeVar

from palmclaw.core.answers import count_in, free_id, index_in, read_call, text_in
from palmclaw.core.errors import BadReply
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Part, ToolCall, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.net.failures import shown
from palmclaw.net.hearing import Hearing, Shown
from palmclaw.providers.anthropic.blocks import Block, Call, Thought, Words

T = TypeVar("T", Words, Thought, Call)

_FINISHES = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_use": Finish.TOOLS,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.FILTER,
}
_COUNTS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class Decoder:
    """Implements the Decoder of net/hearing for the events of a message.

    Blocks and events of a kind that is not known are passed over.
    """

    def __init__(self, hearing: Hearing) -> None:
        self.substance = 0
        self.complete = False
        self._hearing = hearing
        self._blocks: list[Block] = []
        self._at: dict[int | None, Block | None] = {}
        self._finish: Finish | None = None
        self._why = ""
        self._counts: dict[str, int] | None = None
        self._answered = False
        self._strange = False

    def feed(self, event: Any, name: str = "") -> list[Shown]:
        """The deltas in one event."""
        if event is None:
            return []
        if not isinstance(event, dict):
            raise BadReply(f"{self._hearing.where} sent something that is no part of a message.")
        kind = str(event.get("type") or name or ("message" if isinstance(event.get("content"), list) else ""))
        if kind == "error" or event.get("error"):
            raise self._hearing.reported(event.get("error") or event)
        return list(self._heard(kind, event))

    def done(self) -> None:
        """The service has said that nothing follows."""
        self.complete = True

    def finish(self) -> Reply:
        """The whole answer."""
        self._hearing.ended("message", strange=self._strange and not self._answered, complete=self.complete)
        parts = self._parts(cut=self._finish is Finish.LENGTH)
        return self._hearing.reply(parts, self._finish, self.usage, why=self._why)

    @property
    def usage(self) -> Usage | None:
        """Cached tokens are counted apart by the service; with us they are parts of the input."""
        if self._counts is None:
            return None
        plain, output, written, read = (self._counts[name] for name in _COUNTS)
        reasoning = self._counts["thinking"]
        return Usage(plain + written + read, output, cached=read, reasoning=reasoning, requests=1, cache_write=written)

    def _heard(self, kind: str, event: dict[str, Any]) -> Iterator[Shown]:
        known = True
        match kind:
            case "content_block_start":
                yield from self._opened(index_in(event), event.get("content_block"))
            case "content_block_delta":
                yield from self._said(index_in(event), event.get("delta"))
            case "message_start":
                self._count(event.get("message"))
            case "message_delta":
                self._count(event)
                self._end(event.get("delta"))
            case "message_stop":
                self.done()
            case "message":
                yield from self._whole(event)
            case _:
                known = False
        self._answered = self._answered or known
        self._strange = self._strange or (bool(event) and kind != "ping")

    def _whole(self, message: dict[str, Any]) -> Iterator[Shown]:
        """An answer that was not streamed."""
        content = message.get("content")
        for at, block in enumerate(content if isinstance(content, list) else []):
            yield from self._opened(at, block)
        self._count(message)
        self._end(message)
        self.complete = True

    def _opened(self, index: int | None, content: Any) -> Iterator[Shown]:
        """A block begins; most say everything later."""
        found = _begun(content) if isinstance(content, dict) else None
        self._at[index] = found
        if found is None:
            return
        self._blocks.append(found)
        if isinstance(found, Call):
            self.substance += 1
        elif isinstance(found, Thought):
            self.substance += bool(found.data)
            yield from self._shown(found, text_in(content, "thinking"))
        else:
            yield from self._shown(found, text_in(content, "text"))

    def _said(self, index: int | None, delta: Any) -> Iterator[Shown]:
        if not isinstance(delta, dict) or (index in self._at and self._at[index] is None):
            return  # of a block whose kind is not known
        match delta.get("type"):
            case "text_delta":
                yield from self._shown(self._block(index, Words), text_in(delta, "text"))
            case "thinking_delta":
                yield from self._shown(self._block(index, Thought), text_in(delta, "thinking"))
            case "signature_delta":
                self.substance += 1
                self._block(index, Thought).signature = text_in(delta, "signature")
            case "input_json_delta":
                piece = text_in(delta, "partial_json")
                self.substance += bool(piece)
                self._block(index, Call).pieces.add(piece, self._hearing.limit)

    def _shown(self, block: Words | Thought, piece: str) -> Iterator[Shown]:
        if said := block.voice.add(piece):
            self.substance += 1
            yield TextDelta(said) if isinstance(block, Words) else ReasoningDelta(said)

    def _block(self, index: int | None, kind: type[T]) -> T:
        """The open block that is spoken of; begun now where its beginning was not told."""
        found = self._at.get(index)
        if isinstance(found, kind):
            return found
        made = kind()
        self._blocks.append(made)
        self._at[index] = made
        return made

    def _end(self, delta: Any) -> None:
        reason = text_in(delta, "stop_reason")
        if reason:
            self.substance += 1
            self.complete = True
            self._finish = _FINISHES.get(reason, Finish.OTHER)
            self._why = shown(text_in(delta.get("stop_details"), "explanation"), self._hearing.redact).rstrip(".")

    def _count(self, box: Any) -> None:
        """Counts grow while the answer does; what one event leaves out, another has said."""
        usage = box.get("usage") if isinstance(box, dict) else None
        if not isinstance(usage, dict) or not usage:
            return
        before = self._counts or {}
        said = {name: count_in(usage, name) for name in _COUNTS}
        said["thinking"] = count_in(usage.get("output_tokens_details"), "thinking_tokens")
        self._counts = {name: max(count, before.get(name, 0)) for name, count in said.items()}

    def _parts(self, *, cut: bool) -> tuple[Part, ...]:
        """The blocks in their order, with ids that nobody else has; the last call may have been cut."""
        used, parts = set(self._hearing.taken), list[Part]()
        for block in self._blocks:
            if isinstance(block, Call):
                call = ToolCall(free_id(block.id, used), block.name)
                cut_in_it = cut and block is self._blocks[-1]
                parts.append(read_call(call, block.text, self._hearing.limit, cut=cut_in_it))
                used.add(call.id)
            elif (part := block.part()) is not None:
                parts.append(part)
        return tuple(parts)


def _begun(content: dict[str, Any]) -> Block | None:
    match content.get("type"):
        case "text":
            return Words()
        case "thinking":
            return Thought(signature=text_in(content, "signature"))
        case "redacted_thinking":
            return Thought(data=text_in(content, "data"))
        case "tool_use":
            return Call(text_in(content, "id").strip(), text_in(content, "name").strip(), content.get("input"))
    return None
