"""What is said: the only conversation types in PalmClaw. Providers translate them, the store keeps them."""

from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

from palmclaw.core.errors import Fault
from palmclaw.core.values import dataclass


class Role(StrEnum):
    """Who speaks. A `note` is for the person only and never reaches a model."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    NOTE = "note"


class Cut(StrEnum):
    """Why an assistant message stops early."""

    NO = ""
    STREAM = "stream"
    INTERRUPTED = "interrupted"
    LENGTH = "length"


@dataclass(frozen=True, slots=True)
class Text:
    """Plain or Markdown text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Stamp:
    """Facts of the moment (time, place, news) put beside a user message when it is stored, never rewritten."""

    text: str
    type: Literal["stamp"] = "stamp"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's thinking.

    `signature` is opaque, and valid only for the model that made it and the protocol whose name it begins with.
    """

    text: str
    signature: str = ""
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class Media:
    """An image, audio clip or file kept in the media store, never inline."""

    id: str
    mime: str
    name: str = ""
    type: Literal["media"] = "media"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for one tool.

    `flaw` says that the arguments could not be read as sent (`raw` keeps their beginning);
    `as_text` that the model wrote the call into its answer instead of using the protocol; `signature` is opaque,
    as in `Reasoning`.
    """

    id: str
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    flaw: Literal["", "invalid", "truncated", "too_large"] = ""
    raw: str = ""
    as_text: bool = False
    signature: str = ""
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to one `ToolCall`.

    `content` is what the model reads; `error` is the only sign of failure; `said` are words the tool has
    already put before the person; `terminal` ends the turn after its round; `mended` records the slips in the
    arguments that were forgiven.
    """

    call_id: str
    name: str
    content: str
    error: Fault | None = None
    said: str = ""
    terminal: bool = False
    mended: tuple[str, ...] = ()
    type: Literal["tool_result"] = "tool_result"


Part = Text | Stamp | Reasoning | Media | ToolCall | ToolResult


def utc_now() -> datetime:
    return datetime.now(UTC)


def iso(at: datetime) -> str:
    """A moment as it is stored: ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Message:
    """One entry of a conversation.

    `tainted`: it holds content that did not come from the owner; `private`: it holds the owner's personal data.
    `sender`: who says it where that is not the owner (a sub-agent, a guest). `exposed`: a model said it that had read
    outside content; it may be put in other words.
    """

    role: Role
    parts: tuple[Part, ...]
    at: datetime = field(default_factory=utc_now)
    model: str = ""
    tainted: bool = False
    private: bool = False
    cut: Cut = Cut.NO
    sender: str = ""
    exposed: bool = False

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(p for p in self.parts if isinstance(p, ToolResult))


def user_message(text: str) -> Message:
    """What the owner says, without a stamp."""
    return Message(Role.USER, (Text(text),))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests; `cached` and `cache_write` are parts of `input`, `reasoning` of `output`."""

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    requests: int = 0
    estimated: bool = False
    cache_write: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.requests + other.requests,
            self.estimated or other.estimated,
            self.cache_write + other.cache_write,
        )
