"""The items of an answer while they are being said: messages, thoughts, calls."""

import json
from dataclasses import field
from typing import Any

from palmclaw.core.answers import Pieces, Voice, text_in
from palmclaw.core.messages import Reasoning, Text
from palmclaw.core.text import whole
from palmclaw.core.values import dataclass
from palmclaw.core.wire import sealed
from palmclaw.providers.openai_responses.wire import PROTOCOL

BETWEEN = "\n\n"
"""Stands between two messages, and between two paragraphs of a thought."""


@dataclass(slots=True, eq=False)
class Words:
    """A message; `lead` sets it off from one before it, `phase` is the service's own name for what it is."""

    id: str
    index: int
    voice: Voice = field(default_factory=Voice)
    lead: str = ""
    phase: str = ""
    refused: bool = False

    def unsaid(self, item: dict[str, Any]) -> str:
        """What of the whole item has not been said yet."""
        self.phase = text_in(item, "phase") or self.phase
        self.refused = self.refused or any(text_in(c, "refusal") for c in objects(item, "content"))
        return rest(self.voice, _text(item))

    def is_same(self, item: dict[str, Any]) -> bool:
        """Whether the item can only be this one."""
        return bool(self.voice.all) and self.voice.all == whole(_text(item))

    def may_be(self, item: dict[str, Any]) -> bool:
        """Whether the item, found in the place of this one, is this one."""
        return not objects(item, "content") or whole(_text(item)).startswith(self.voice.all)

    def parts(self) -> tuple[Text | Reasoning, ...]:
        """The text, unless it is blank; before it what the service wants to hear again about it."""
        if not self.voice.all.strip():
            return ()
        kept = (Reasoning("", sealed(json.dumps({"phase": self.phase}), PROTOCOL)),) if self.phase else ()
        return (*kept, Text(self.lead + self.voice.all))


@dataclass(slots=True, eq=False)
class Thought:
    """A reasoning item; it is told in a summary or in full (`form`), whichever comes first, in paragraphs."""

    id: str
    index: int
    voice: Voice = field(default_factory=Voice)
    form: str = ""
    paragraph: int = 0
    kept: dict[str, Any] = field(default_factory=dict)

    def paragraphed(self, form: str, paragraph: int, piece: str) -> str:
        """The piece as it is to be added; nothing of the form in which the thought is not told."""
        self.form = self.form or form
        if form != self.form or not piece:
            return ""
        is_new, self.paragraph = paragraph != self.paragraph and bool(self.voice.all), paragraph
        return BETWEEN + piece if is_new else piece

    def unsaid(self, item: dict[str, Any]) -> str:
        """What of the whole item has not been said yet. The service's own form of it is complete only here."""
        summary = [text_in(s, "text") for s in objects(item, "summary")]
        if encrypted := text_in(item, "encrypted_content"):
            own = text_in(item, "id") or self.id
            told = [{"type": "summary_text", "text": text} for text in summary]
            self.kept = {**({"id": own} if own else {}), "summary": told, "encrypted_content": encrypted}
        full = [text_in(c, "text") for c in objects(item, "content")]
        return rest(self.voice, BETWEEN.join(summary if any(summary) and self.form != "full" else full))

    def is_same(self, item: dict[str, Any]) -> bool:
        """Thoughts are told again in their order, or not at all."""
        return True

    def may_be(self, item: dict[str, Any]) -> bool:
        """Whether the item, found in the place of this one, is this one: one that is over is not told anew."""
        return not self.kept or self.id == text_in(item, "id")

    def parts(self) -> tuple[Reasoning, ...]:
        """The thought, kept also where only the service can read it."""
        seal = sealed(json.dumps(self.kept), PROTOCOL) if self.kept else ""
        return (Reasoning(self.voice.all, seal),) if seal or self.voice.all.strip() else ()


@dataclass(slots=True, eq=False)
class Call:
    """A function call; its arguments come in pieces, and `given` whole at its end, or only so."""

    id: str
    index: int
    call_id: str = ""
    name: str = ""
    given: str = ""
    pieces: Pieces = field(default_factory=Pieces)

    @property
    def text(self) -> str:
        """The arguments as far as they are known."""
        return self.given if self.given.strip() not in ("", "{}") else self.pieces.text or self.given

    def unsaid(self, item: dict[str, Any]) -> str:
        """Nothing: a call is never shown as text."""
        self.call_id = text_in(item, "call_id").strip() or self.call_id
        self.name = text_in(item, "name").strip() or self.name
        self.given = arguments(item) or self.given
        return ""

    def is_same(self, item: dict[str, Any]) -> bool:
        """Whether the item can only be this one."""
        return bool(self.call_id) and self.call_id == text_in(item, "call_id").strip()

    def may_be(self, item: dict[str, Any]) -> bool:
        """Whether the item, found in the place of this one, is this one."""
        return not self.call_id or text_in(item, "call_id").strip() in ("", self.call_id)


Item = Words | Thought | Call


def begun(item: dict[str, Any], index: int) -> Item | None:
    """An item at its beginning, or None for a kind that we do not ask for."""
    item_id = text_in(item, "id").strip()
    match item.get("type"):
        case "message":
            return Words(item_id, index)
        case "reasoning":
            return Thought(item_id, index)
        case "function_call":
            call = Call(item_id, index)
            call.unsaid(item)
            return call
    return None


def rest(voice: Voice, text: str) -> str:
    """What of the whole text has not been said yet; nothing where something else was said."""
    said, text = voice.all, whole(text)
    return text[len(said) :] if text.startswith(said) else ""


def arguments(box: dict[str, Any]) -> str:
    """A call's arguments as text, also where they are sent as an object."""
    value = box.get("arguments")
    return value if isinstance(value, str) else json.dumps(value) if value else ""


def objects(box: Any, key: str) -> list[dict[str, Any]]:
    """The objects of a list on the wire."""
    value = box.get(key) if isinstance(box, dict) else None
    return [o for o in value if isinstance(o, dict)] if isinstance(value, list) else []


def _text(item: dict[str, Any]) -> str:
    """The words of a message, also those with which it refuses."""
    return "".join(text_in(c, "text") or text_in(c, "refusal") for c in objects(item, "content"))
