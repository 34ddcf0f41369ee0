"""What the model service of tests and benchmarks answers, whatever the protocol."""

import json
from dataclasses import dataclass, field
from typing import Any

MODEL = "scripted"
INPUT, OUTPUT = 100, 10
"""Tokens that every answer counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with one request.

    `calls` are objects with name and arguments; `fragments` is into how many pieces text and arguments are cut.
    `finish` is "length" or "content_filter" in every protocol, anything else the protocol's own word. `whole` answers
    with one JSON body. `body` is sent as it is, as `content_type` with `status`; `sse` is a recorded event stream,
    written in `pieces` of so many bytes in turn. `pause` is waited before the first byte, `drip` between two events or
    pieces; `keepalives` of the form `keepalive` come before the content. `cut_after` so many events the connection
    breaks; `hang` never answers; `drop` closes at once. `times` answers the same so often.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    fragments: int = 1
    finish: str = ""
    usage: bool = True
    whole: bool = False
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    content_type: str = "application/json"
    sse: str = ""
    pieces: tuple[int, ...] = ()
    pause: float = 0.0
    drip: float = 0.0
    keepalives: int = 0
    keepalive: str = ": ping"
    cut_after: int | None = None
    hang: bool = False
    drop: bool = False
    times: int = 1


def arguments(call: dict[str, Any]) -> str:
    """A call's arguments as text; what is written as text is sent as it is, broken or not."""
    value = call.get("arguments", {})
    return value if isinstance(value, str) else json.dumps(value)


def fragments(text: str, count: int) -> list[str]:
    """The text in about so many pieces; none for an empty one."""
    size = max(1, -(-len(text) // count))
    return [text[i : i + size] for i in range(0, len(text), size)]


def event(value: dict[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    return f"{f'event: {name}' + chr(10) if name else ''}data: {json.dumps(value)}\n\n".encode()
