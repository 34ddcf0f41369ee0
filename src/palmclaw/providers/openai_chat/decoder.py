"""The chunks of a chat completion, turned into deltas and one Reply. Pure."""

from collections.abc import Collection, Iterator
from typing import Any

from palmclaw.core.answers import Voice, count_in
from palmclaw.core.arguments import MAX_CHARS
from palmclaw.core.errors import BadReply, StreamCut
from palmclaw.core.events import ReasoningDelta, TextDelta
from palmclaw.core.messages import Cut, Message, Reasoning, Role, Text, Usage
from palmclaw.core.ports import Finish, Reply
from palmclaw.core.text import tokens
from palmclaw.net.failures import Redact, reported
from palmclaw.providers.openai_chat.calls import CallAssembly, fragment

Shown = TextDelta | ReasoningDelta

_FINISHES = {
    "stop": Finish.STOP,
    "end_turn": Finish.STOP,
    "eos": Finish.STOP,
    "eos_token": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_calls": Finish.TOOLS,
    "tool_use": Finish.TOOLS,
    "function_call": Finish.TOOLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.FILTER,
}


class Decoder:
    """Feed it decoded chunks; `finish` gives the Reply, or raises when the answer stopped in the middle.

    `substance` grows with each chunk that says something, so keep-alives can be told from content.
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
        self._text = Voice()
        self._reasoning = Voice()
        self._calls = CallAssembly(limit)
        self._finish: Finish | None = None
        self._refused = False
        self._usage: Usage | None = None
        self._answered = False
        self._strange = False

    def feed(self, chunk: Any) -> list[Shown]:
        """The deltas in one chunk of the stream, or in the one body of an answer that was not streamed."""
        if chunk is None:
            return []
        if not isinstance(chunk, dict):
            raise BadReply(f"{self._where} sent something that is no part of a chat completion.")
        choice = _choice(chunk)
        if error := chunk.get("error") or choice.get("error"):
            raise reported(self._where, error, self._redact)
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
        """The whole answer. Raises StreamCut when it stopped early, BadReply when it never was one."""
        if self._strange and not self._answered:
            raise BadReply(f"{self._where} answered with something that is no chat completion.")
        if not self.complete:
            raise StreamCut(f"{self._where} stopped in the middle of its answer.")
        cut = self._finish is Finish.LENGTH
        calls = self._calls.calls(self._taken, cut=cut)
        parts = (*self._reasoning.part(Reasoning), *self._text.part(Text), *calls)
        message = Message(Role.ASSISTANT, parts, model=self._model, cut=Cut.LENGTH if cut else Cut.NO)
        finish = Finish.TOOLS if calls and self._finish in (None, Finish.STOP) else self._finish or Finish.STOP
        return Reply(message, self._usage or self._estimate(), Finish.FILTER if self._refused else finish)

    def _said(self, choice: dict[str, Any]) -> Iterator[Shown]:
        delta, is_whole = choice.get("delta"), False
        if not delta and not self.substance and isinstance(choice.get("message"), dict):
            delta, is_whole = choice["message"], True
            self.complete = True  # an answer that was not streamed
        if not isinstance(delta, dict):
            return
        text, thoughts = _contents(delta.get("content"))
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
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
        if reason == "error":
            raise StreamCut(f"{self._where} broke off with an error in the middle of its answer.")
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
        self._usage = Usage(
            input=count_in(usage, "prompt_tokens"),
            output=count_in(usage, "completion_tokens"),
            cached=cached,
            reasoning=count_in(usage.get("completion_tokens_details"), "reasoning_tokens"),
            requests=1,
        )

    def _estimate(self) -> Usage:
        said = tokens(self._text.all) + tokens(self._reasoning.all)
        return Usage(output=said, requests=1, estimated=True)


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
    text = "".join(_string(p.get("text")) for p in parts)
    return text, "".join(_contents(p.get("thinking"))[0] for p in parts)


def _reasoning(delta: dict[str, Any]) -> str:
    """The thoughts under whichever name a service gives them; never twice."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(found := delta.get(key), str) and found:
            return found
    return _contents(delta.get("reasoning_details"))[0]


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
