"""Server-sent events, decoded without I/O: feed bytes, get events."""

import codecs
import json

from palmclaw.core.errors import BadReply
from palmclaw.core.values import dataclass

MAX_EVENT_CHARS = 16_000_000


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name (mostly empty) and its data lines."""

    event: str
    data: str


class SseDecoder:
    """Collects the lines of one event at a time, wherever the chunks are cut."""

    def __init__(self, limit: int = MAX_EVENT_CHARS) -> None:
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line: list[str] = []
        self._after_return = False
        self._event = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that this chunk completes."""
        return self._lines(self._decoder.decode(chunk))

    def end(self) -> list[ServerEvent]:
        """What was still open when the stream ended: an event counts without its blank line if its data is whole."""
        events = self._lines(self._decoder.decode(b"", final=True))
        if self._line:
            events += self._take("".join(self._line))
        last = self._take("")
        return events + [event for event in last if _is_whole(event.data)]

    def _lines(self, text: str) -> list[ServerEvent]:
        if not text:
            return []
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        self._grown(len(text))
        *complete, rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        events: list[ServerEvent] = []
        for line in complete:
            events += self._take("".join((*self._line, line)))
            self._line = []
        if rest:
            self._line.append(rest)
        return events

    def _take(self, line: str) -> list[ServerEvent]:
        """Add a line to the open event; a blank one closes it."""
        if not line:
            return self._closed()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        return []

    def _closed(self) -> list[ServerEvent]:
        events = [ServerEvent(self._event, "\n".join(self._data))] if self._data else []
        self._event, self._data, self._size = "", [], 0
        return events

    def _grown(self, count: int) -> None:
        self._size += count
        if self._size > self._limit:
            raise BadReply(f"The service sent an event of more than {self._limit} characters.")


def _is_whole(data: str) -> bool:
    if data.strip() == "[DONE]":
        return True
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True
