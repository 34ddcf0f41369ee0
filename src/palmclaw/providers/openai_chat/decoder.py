"""The chunks of a chat completion, turned into deltas and one Reply. Pure."""

from collections.abc import Iterator
from typing import Any

from palmclaw.core.answers import Voice, count_in, text_in
from palmclaw.core.errors import BadCall, BadReply, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Reasoning, Text, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.net.hearing import Hearing, Shown
from palmclaw.providers.openai_chat.calls import CallAssembly, fragment

_FINISHES = {
    "stop": Finish.STOP,
    "end_turn": Finish.STOP,
    "eos": Finish.STOP,
    "eos_token": Finish.STOP,
    "complete": Finish.STOP,
    "completed": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_calls": Finish.TOOLS,
    "tool_use": Finish.TOOLS,
    "function_call": Finish.TOOLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "content_filter": Finish.FILTER,
    "sensitive": Finish.FILTER,
    "safety": Finish.FILTER,
    "recitation": Finish.FILTER,
    "prohibited_content": Finish.FILTER,
    "blocklist": Finish.FILTER,
    "spii": Finish.FILTER,
    "refusal": Finish.FILTER,
    "guardrail_intervened": Finish.FILTER,
}
_BROKEN = (
    "error",
    "insufficient_system_resource",
    "network_error",
    "abort",
    "aborted",
    "cancelled",
    "engine_overloaded",
)


class Decoder:
    """Implements the Decoder of net/hearing for the chunks of a chat completion."""

    def __init__(self, hearing: Hearing) -> None:
        self.substance = 0
        self.complete = False
        self.usage: Usage | None = None
        self._hearing = hearing
        self._text = Voice()
        self._reasoning = Voice()
        self._calls = CallAssembly(hearing.limit)
        self._finish: Finish | None = None
        self._refused = False
        self._answered = False
        self._strange = False

    def feed(self, chunk: Any, name: str = "") -> list[Shown]:
        """The deltas in one chunk."""
        if chunk is None:
            return []
        if name == "error" and not (isinstance(chunk, dict) and "error" in chunk):
            chunk = {"error": chunk}
        if not isinstance(chunk, dict):
            raise BadReply(f"{self._hearing.where} sent something that is no part of a chat completion.")
        choice = _choice(chunk)
        if error := chunk.get("error") or choice.get("error"):
            raise self._hearing.reported(error)
        self._count(chunk, choice)
        self._answered = self._answered or "choices" in chunk
        self._strange = self._strange or bool(chunk)
        shown = list(self._said(choice))
        self._end(choice.get("finish_reason"))
        return shown

    def done(self) -> None:
        """The service has said that nothing follows."""
        self.complete = True

    def finish(self) -> Reply:
        """The whole answer."""
        strange = self._strange and not self._answered
        self._hearing.ended("chat completion", strange=strange, complete=self.complete)
        calls = self._calls.calls(self._hearing.taken, cut=self._finish is Finish.LENGTH)
        parts = (*self._reasoning.part(Reasoning), *self._text.part(Text), *calls)
        return self._hearing.reply(parts, self._finish, self.usage, refused=self._refused)

    def _said(self, choice: dict[str, Any]) -> Iterator[Shown]:
        delta, is_whole = choice.get("delta"), False
        if not delta and not self.substance and isinstance(choice.get("message"), dict):
            delta, is_whole = choice["message"], True
            self.complete = True  # an answer that was not streamed
        if not isinstance(delta, dict):
            return
        text, thoughts = _contents(delta.get("content"))
        if refusal := text_in(delta, "refusal"):
            text, self._refused = text + refusal, True
        self._call(delta, is_whole=is_whole)
        if reasoning := self._reasoning.add(_reasoning(delta) or thoughts):
            self.substance += 1
            yield ReasoningDelta(reasoning)
        if shown := self._text.add(text):
            self.substance += 1
            yield TextDelta(shown)

    def _call(self, delta: dict[str, Any], *, is_whole: bool) -> None:
        entries = delta.get("tool_calls")
        if not isinstance(entries, list) or not entries:
            entries = [delta.get("function_call")]  # the older protocol
        for entry in entries:
            part = fragment(entry)
            if part is not None and part.says_something:
                self.substance += 1
                self._calls.add(part, whole=is_whole)

    def _end(self, reason: Any) -> None:
        if not isinstance(reason, str) or not reason:
            return
        if reason.lower() == "malformed_function_call":
            raise BadCall(f"{self._hearing.where} could not read its model's tool call.")
        if reason.lower() in _BROKEN:
            raise StreamCut(f"{self._hearing.where} broke off with an error in the middle of its answer.")
        self.substance += 1
        self.complete = True
        self._finish = _FINISHES.get(reason.lower(), Finish.OTHER)

    def _count(self, chunk: dict[str, Any], choice: dict[str, Any]) -> None:
        """Usage comes first, last or with every chunk; the newest counts."""
        boxes = (b for b in (chunk, choice, chunk.get("x_groq")) if isinstance(b, dict))
        usage = next((found for b in boxes if isinstance(found := b.get("usage"), dict) and found), None)
        if usage is None:
            return
        cached = count_in(usage.get("prompt_tokens_details"), "cached_tokens") or count_in(
            usage, "prompt_cache_hit_tokens"
        )
        self.usage = Usage(
            input=count_in(usage, "prompt_tokens"),
            output=count_in(usage, "completion_tokens"),
            cached=cached,
            reasoning=count_in(usage.get("completion_tokens_details"), "reasoning_tokens"),
            requests=1,
        )


def _choice(chunk: dict[str, Any]) -> dict[str, Any]:
    """The first alternative; others are never asked for."""
    choices = chunk.get("choices")
    found = (
        [c for c in choices if isinstance(c, dict) and c.get("index") in (None, 0, "0")]
        if isinstance(choices, list)
        else []
    )
    return found[0] if found else {}


def _contents(content: Any) -> tuple[str, str]:
    """Text and thoughts of a content that is a string or a list of typed parts."""
    if isinstance(content, str):
        return content, ""
    parts = [p for p in content if isinstance(p, dict)] if isinstance(content, list) else []
    text = "".join(text_in(p, "text") for p in parts)
    return text, "".join(_contents(p.get("thinking"))[0] for p in parts)


def _reasoning(delta: dict[str, Any]) -> str:
    """The thoughts under whichever name a service gives them; never twice."""
    told = text_in(delta, "reasoning_content") or text_in(delta, "reasoning")
    return told or _contents(delta.get("reasoning_details"))[0]
