"""The line that a person types in: it stays open while other things happen, and what is told appears above it."""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app, get_app_or_none
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from palmclaw.core.values import dataclass

SIGN = "› "
AROUND = 7
"""Lines of the screen that are kept free of an answer that is still being written."""
CALM = 0.1
"""Seconds between two drawings."""


class GaveWay(Exception):
    """Something else needs the terminal."""


class Above(io.TextIOBase):
    """Writes to the terminal above whatever prompt is open.

    Unlike prompt_toolkit's own ways it leaves the terminal raw meanwhile, so that no key is lost or echoed.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._parts: list[str] = []

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a text file has one, its base says that it has not
        """As the terminal's."""
        return self._stream.encoding

    def write(self, text: str) -> int:
        """Kept until it is flushed."""
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Make room, write, and draw the prompt anew below."""
        text = "".join(self._parts)
        self._parts.clear()
        if not text:
            return
        app = get_app_or_none()
        if app is None or not app.is_running or app.renderer.last_rendered_screen is None:
            self._put(text)  # no prompt, or one that is drawn in a moment: keys typed before are heard before that
            return
        app.renderer.erase()
        self._put(text)
        app.renderer.reset()
        app._request_absolute_cursor_position()
        app._redraw()

    def isatty(self) -> bool:
        """As the terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The terminal's."""
        return self._stream.fileno()

    def _put(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


@dataclass(slots=True)
class InputLine:
    """`tail` gives at most so many lines that stand above it; `interrupted` is what Ctrl-C does.

    `offered` is called when the next Ctrl-C would leave.
    """

    prompt: "PromptSession[str]"
    tail: Callable[[int], str] = lambda most: ""
    interrupted: Callable[[], None] = lambda: None
    offered: Callable[[], None] = lambda: None
    draft: Document = field(default_factory=Document)
    _wanted: bool = False
    _is_leaving: bool = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Between two readings too, keys are kept for the next one, and not shown."""
        with self.prompt.app.input.raw_mode():
            yield

    async def read(self) -> str | None:
        """The next line that is sent; None when the terminal is wanted, and what was typed is kept. Raises EOFError."""
        draft, self.draft = self.draft, Document()
        try:
            text = await self.prompt.prompt_async(
                self._message, default=draft, handle_sigint=False, pre_run=self._make_way
            )
            self._is_leaving = False
            return text.strip()
        except GaveWay:
            return None
        finally:
            self._wanted = False
            self.prompt.app.erase_when_done = False

    def give_way(self) -> None:
        """Let go of the terminal at once, or when it would next be taken."""
        self._wanted = True
        if self.prompt.app.is_running:
            self._make_way()

    def add(self, text: str) -> None:
        """Text as if it had been typed at the end of what is kept."""
        self.draft = Document(self.draft.text + text)

    def clear(self) -> bool:
        """Throw away what has been typed; False when there is nothing."""
        there = bool(self.prompt.default_buffer.text)
        self.prompt.default_buffer.reset()
        return there

    def cancel(self) -> None:
        """Throw away what has been typed; else leave, when that is wanted twice."""
        if self._is_leaving:
            self.leave()
        elif not self.clear():
            self.offer()

    def offer(self) -> None:
        """From now on until something is sent, cancelling means leaving."""
        self._is_leaving = True
        self.offered()

    def leave(self) -> None:
        """As if Ctrl-D had been pressed."""
        app = self.prompt.app
        if app.is_running and not app.is_done:
            app.exit(exception=EOFError)

    def redraw(self) -> None:
        """What stands above it has changed."""
        if self.prompt.app.is_running:
            self.prompt.app.invalidate()

    def _make_way(self) -> None:
        app = self.prompt.app
        if not self._wanted or app.is_done:
            return
        self.draft = self.prompt.default_buffer.document
        app.erase_when_done = True
        app.exit(exception=GaveWay)

    def _message(self) -> StyleAndTextTuples:
        app = get_app()
        above = "" if app.is_done else self.tail(max(1, app.output.get_size().rows - AROUND))
        return [*to_formatted_text(ANSI(f"{above}\n")), ("", SIGN)] if above else [("", SIGN)]


def input_line(history: Path, words: Iterable[str]) -> InputLine:
    """A line that remembers what was typed into it, and completes these words."""
    bindings = KeyBindings()
    prompt: PromptSession[str] = PromptSession(
        history=FileHistory(str(history)),
        completer=WordCompleter(list(words), sentence=True),
        complete_while_typing=Condition(lambda: get_app().current_buffer.text.startswith("/")),
        reserve_space_for_menu=4,
        key_bindings=bindings,
    )
    prompt.app.min_redraw_interval = CALM
    line = InputLine(prompt)

    @bindings.add("c-c")
    def _(event: KeyPressEvent) -> None:
        line.interrupted()

    return line
