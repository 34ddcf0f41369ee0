"""An answer in the words of OpenAI's Responses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.servers.answers import INPUT, MODEL, OUTPUT, Answer, arguments, event, fragments

ENCRYPTED = "ZW5jcnlwdGVk"
_CUTS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_HEAD = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": MODEL,
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
_USAGE = {
    "input_tokens": INPUT,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": OUTPUT,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": INPUT + OUTPUT,
}

Told = dict[str, Any]


def events(answer: Answer, ids: Iterator[str]) -> Iterator[bytes]:
    """The answer as the service streams it, its events numbered; at the end everything once more."""
    stream = _Stream(answer, ids)
    for number, told in enumerate(stream.told()):
        yield event({**told, "sequence_number": number}, told["type"])


def whole(answer: Answer, ids: Iterator[str]) -> Told:
    """The answer as one body."""
    stream = _Stream(answer, ids)
    response: Told = list(stream.told())[-1]["response"]
    return response


@dataclass(slots=True)
class _Stream:
    answer: Answer
    ids: Iterator[str]
    output: list[Told] = field(default_factory=list)

    def told(self) -> Iterator[Told]:
        begun = {**_HEAD, "status": "in_progress", "output": []}
        yield {"type": "response.created", "response": begun}
        yield {"type": "response.in_progress", "response": begun}
        if self.answer.reasoning:
            yield from self._thought(self.answer.reasoning)
        if self.answer.text:
            yield from self._message(self.answer.text)
        for call in self.answer.calls:
            yield from self._call(call)
        cut = _CUTS.get(self.answer.finish)
        status = "incomplete" if cut else "completed"
        ended = {**_HEAD, "status": status, "output": self.output}
        why = {"incomplete_details": {"reason": cut}} if cut else {}
        usage = {"usage": _USAGE} if self.answer.usage else {}
        yield {"type": f"response.{status}", "response": {**ended, **why, **usage}}

    def _thought(self, text: str) -> Iterator[Told]:
        """A thought in a summary; its encrypted form comes at its end."""
        at, item = self._opened({"type": "reasoning", "id": f"rs_{len(self.output)}", "summary": []})
        part = {**at, "summary_index": 0}
        yield {"type": "response.output_item.added", "output_index": at["output_index"], "item": item}
        yield {"type": "response.reasoning_summary_part.added", **part, "part": {"type": "summary_text", "text": ""}}
        for piece in fragments(text, self.answer.fragments):
            yield {"type": "response.reasoning_summary_text.delta", **part, "delta": piece}
        yield {"type": "response.reasoning_summary_text.done", **part, "text": text}
        said = {"type": "summary_text", "text": text}
        yield {"type": "response.reasoning_summary_part.done", **part, "part": said}
        yield self._done(at, {**item, "summary": [said], "encrypted_content": ENCRYPTED})

    def _message(self, text: str) -> Iterator[Told]:
        about = {"type": "message", "id": f"msg_{len(self.output)}", "role": "assistant"}
        at, item = self._opened({**about, "status": "in_progress", "content": []})
        part = {**at, "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield {"type": "response.output_item.added", "output_index": at["output_index"], "item": item}
        yield {"type": "response.content_part.added", **part, "part": empty}
        for piece in fragments(text, self.answer.fragments):
            yield {"type": "response.output_text.delta", **part, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **part, "text": text, "logprobs": []}
        yield {"type": "response.content_part.done", **part, "part": {**empty, "text": text}}
        yield self._done(at, {**item, "status": "completed", "content": [{**empty, "text": text}]})

    def _call(self, call: dict[str, Any]) -> Iterator[Told]:
        told, name = arguments(call), call["name"]
        about = {"type": "function_call", "id": f"fc_{len(self.output)}", "call_id": call.get("id") or next(self.ids)}
        at, item = self._opened({**about, "name": name, "status": "in_progress", "arguments": ""})
        yield {"type": "response.output_item.added", "output_index": at["output_index"], "item": item}
        for piece in fragments(told, self.answer.fragments):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "name": name, "arguments": told}
        yield self._done(at, {**item, "status": "completed", "arguments": told})

    def _opened(self, item: Told) -> tuple[Told, Told]:
        """How later events name the item, and the item."""
        return {"item_id": item["id"], "output_index": len(self.output)}, item

    def _done(self, at: Told, item: Told) -> Told:
        self.output.append(item)
        return {"type": "response.output_item.done", "output_index": at["output_index"], "item": item}
