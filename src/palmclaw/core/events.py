"""What happens during a turn. The store, the terminal and the tests all read this one stream."""

from enum import StrEnum
from typing import Literal

from palmclaw.core.errors import Fault
from palmclaw.core.messages import Message, ToolCall, ToolResult, Usage
from palmclaw.core.tools import Effect, Preview
from palmclaw.core.traffic import Receipt
from palmclaw.core.values import dataclass


class Stop(StrEnum):
    """Why a turn ended."""

    DONE = "done"
    TERMINAL_TOOL = "terminal_tool"
    ROUND_LIMIT = "round_limit"
    CANCELLED = "cancelled"
    ERROR = "error"
    EMPTY = "empty"


class Answer(StrEnum):
    """What the owner says to an approval; `unasked`: there was nobody to ask."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    NO = "no"
    UNASKED = "unasked"


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str
    type: Literal["text_delta"] = "text_delta"


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str
    type: Literal["reasoning_delta"] = "reasoning_delta"


@dataclass(frozen=True, slots=True)
class Retrying:
    """The model service failed; in `seconds` it is asked once more, to go on where it had begun to speak."""

    model: str
    seconds: float
    fault: Fault
    type: Literal["retrying"] = "retrying"


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Another model answers in place of the one that failed."""

    model: str
    instead_of: str
    fault: Fault
    type: Literal["model_changed"] = "model_changed"


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A complete message joined the conversation; the store appends exactly these."""

    message: Message
    type: Literal["message_added"] = "message_added"


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall
    type: Literal["tool_started"] = "tool_started"


@dataclass(frozen=True, slots=True)
class ToolProgress:
    call_id: str
    text: str
    type: Literal["tool_progress"] = "tool_progress"


@dataclass(frozen=True, slots=True)
class ToolEnded:
    call: ToolCall
    result: ToolResult
    type: Literal["tool_ended"] = "tool_ended"


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A person is being asked; `scopes` are the answers that may be given besides no."""

    id: str
    call: ToolCall
    effect: Effect
    preview: Preview
    reason: str
    scopes: tuple[Answer, ...] = (Answer.ONCE,)
    type: Literal["approval_asked"] = "approval_asked"


@dataclass(frozen=True, slots=True)
class ApprovalAnswered:
    id: str
    call_id: str
    answer: Answer
    type: Literal["approval_answered"] = "approval_answered"


@dataclass(frozen=True, slots=True)
class Compacted:
    """The older part of the conversation has been summed up; tokens of history `before` and `after`, estimated.

    `messages` is how many a request no longer shows; not `summed`: they are left out without a summary, for `reason`.
    """

    messages: int
    before: int
    after: int
    summed: bool = True
    reason: str = ""
    type: Literal["compacted"] = "compacted"


@dataclass(frozen=True, slots=True)
class Steered:
    """A message that came while the turn was running joined the conversation; `inbox` is its row."""

    inbox: int
    message: Message
    type: Literal["steered"] = "steered"


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The last event of every turn."""

    stop: Stop
    usage: Usage = Usage()
    error: Fault | None = None
    rounds: int = 0
    type: Literal["turn_ended"] = "turn_ended"


Event = (
    TextDelta
    | ReasoningDelta
    | Retrying
    | ModelChanged
    | MessageAdded
    | ToolStarted
    | ToolProgress
    | ToolEnded
    | ApprovalAsked
    | ApprovalAnswered
    | Compacted
    | Steered
    | TurnEnded
)
"""What the loop tells of a turn."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A message has been stored, or its fate has changed."""

    receipt: Receipt
    type: Literal["taken"] = "taken"


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The first event of every turn: the inbox rows it answers; `continues` names the turn that a crash broke off."""

    inbox: tuple[int, ...] = ()
    continues: str = ""
    type: Literal["turn_started"] = "turn_started"


@dataclass(frozen=True, slots=True)
class SlotAwaited:
    """A turn has been waiting `seconds` for other sessions' turns; told once."""

    seconds: float
    type: Literal["slot_awaited"] = "slot_awaited"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person must hear of and that belongs to no turn."""

    fault: Fault
    type: Literal["notice"] = "notice"


@dataclass(frozen=True, slots=True)
class Sent:
    """How a message on its way to a channel came out: `sent`, `failed` or `unknown`."""

    outbox: int
    state: str
    reason: str = ""
    type: Literal["sent"] = "sent"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a session stands, for someone who has just begun to listen.

    `text` is what the running turn has said since its last whole message; `waiting` are the messages in the queue.
    """

    turn: str = ""
    text: str = ""
    asked: tuple[ApprovalAsked, ...] = ()
    waiting: tuple[Receipt, ...] = ()
    type: Literal["standing"] = "standing"


@dataclass(frozen=True, slots=True)
class Missed:
    """`count` signals are no longer remembered or came too fast for this subscriber; what follows is complete again."""

    count: int
    type: Literal["missed"] = "missed"


Happening = Event | Taken | TurnStarted | SlotAwaited | Notice | Sent | Standing | Missed
"""What a subscriber hears: the events of turns, and what happens around them."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One happening with its place in the stream: `id` is where a subscriber may go on later."""

    id: str
    session: str
    turn: str
    event: Happening
