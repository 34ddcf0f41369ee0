"""Shows a turn on a terminal: Markdown as it streams, tool lines, approvals. Loaded at the first sign of life."""

import sys
from collections.abc import Callable
from typing import Protocol, TextIO

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text as Line

from palmclaw.cli.plain import cost, lines, question_lines
from palmclaw.cli.texts import Texts
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    MessageAdded,
    ModelChanged,
    Retrying,
    Stop,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnEnded,
)
from palmclaw.core.messages import Cut, Role
from palmclaw.core.text import printable, visible
from palmclaw.core.values import dataclass

TAIL_LINES = 8
LONGEST = 4_000
"""Characters of a block that is still being written, of which no more is laid out at each step."""


class Tail(Protocol):
    """Shows the end of what is still being said, in place, until it is whole."""

    def show(self, text: str) -> None:
        """Instead of what was shown before; empty: nothing."""
        ...


@dataclass(slots=True)
class LiveTail:
    """In the last lines of a screen that nothing else is on."""

    console: Console
    _live: Live | None = None

    def show(self, text: str) -> None:
        """Instead of what was shown before; empty: nothing."""
        if not text and self._live is not None:
            self._live.stop()
            self._live = None
        elif text and self.console.is_terminal:
            self._moving().update(markdown(text))

    def _moving(self) -> Live:
        if self._live is None:
            self._live = Live(console=self.console, refresh_per_second=12, transient=True, vertical_overflow="ellipsis")
            self._live.start()
        return self._live


@dataclass(slots=True)
class PromptTail:
    """In the lines above an open prompt, which is told to draw itself anew and asks for them then."""

    console: Console
    redraw: Callable[[], None]
    _text: str = ""
    _lines: str = ""

    def show(self, text: str) -> None:
        """Instead of what was shown before; empty: nothing."""
        self._text, self._lines = text, ""
        self.redraw()

    def lines(self, most: int) -> str:
        """At most so many lines of it, with their colours; empty when nothing is being said."""
        if self._text.strip() and not self._lines:
            with self.console.capture() as captured:
                self.console.print(markdown(self._text[-LONGEST:]))
            self._lines = captured.get().rstrip()
        return "\n".join(self._lines.split("\n")[-min(most, TAIL_LINES) :])


@dataclass(slots=True)
class Screen:
    """`answers` is where the answer goes, `notes` everything else (stderr for a one-shot)."""

    answers: Console
    notes: Console
    texts: Texts
    tail: Tail
    quiet: bool = False
    _pending: str = ""

    def show(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._stream(event.text)
        elif isinstance(event, MessageAdded):
            self._message(event)
        elif isinstance(event, TurnEnded):
            self._ended(event)
        elif not self.quiet:
            self._note(event)

    def question(self, asked: ApprovalAsked) -> None:
        """The whole resolved call, with nothing hidden in it."""
        self.settle()
        for line in question_lines(asked, self.texts):
            self.notes.print(Line(line, style="yellow"))

    def settle(self) -> None:
        """Print what is still in motion for good."""
        self.tail.show("")
        if self._pending.strip():
            self.answers.print(markdown(self._pending))
        self._pending = ""

    def _stream(self, text: str) -> None:
        self._pending += text
        done, self._pending = complete_blocks(self._pending)
        if done.strip():
            self.tail.show("")
            self.answers.print(markdown(done))
        self.tail.show(self._pending)

    def _message(self, event: MessageAdded) -> None:
        message = event.message
        if message.role is not Role.ASSISTANT:
            return
        self.settle()
        if message.cut is not Cut.NO:
            self.notes.print(Line(self.texts(message.cut.value), style="yellow"))

    def note(self, text: str) -> None:
        self.notes.print(Line(text, style="dim"))

    def say(self, text: str) -> None:
        """Words of a tool that are the answer."""
        self.settle()
        self.answers.print(markdown(text))

    def _note(self, event: Event) -> None:
        if isinstance(event, Retrying | ModelChanged) and self._pending:
            return  # the answer goes on in the middle of a word
        self.settle()
        for line in lines(event, self.texts):
            self.notes.print(Line(line, style=_style(event)))

    def _ended(self, event: TurnEnded) -> None:
        self.settle()
        if event.error is not None:
            style = "yellow" if event.stop in (Stop.CANCELLED, Stop.DONE) else "red"
            said, hint = self.texts.fault(event.error)
            self.notes.print(Line(visible(said), style=style))
            if hint:
                self.notes.print(Line(hint, style="dim"))
        if event.usage.input and not self.quiet:
            self.notes.print(Line(cost(event, self.texts), style="dim"))


def markdown(text: str) -> Markdown:
    """No remote images, no clickable links whose address is hidden."""
    return Markdown(printable(text.strip("\n")), hyperlinks=False)


def complete_blocks(text: str) -> tuple[str, str]:
    """Split off the leading blocks that later text cannot change: up to the last blank line outside a code fence."""
    cut, fenced, at = 0, False, 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not line.strip() and not fenced and line.endswith("\n"):
            cut = at
    return text[:cut], text[cut:]


def _style(event: Event) -> str:
    if isinstance(event, ToolStarted):
        return "cyan"
    failed = isinstance(event, ToolEnded) or (isinstance(event, ApprovalAnswered) and event.answer is Answer.NO)
    return "red" if failed else "dim"


def terminal(texts: Texts, *, one_shot: bool, quiet: bool) -> Screen:
    """One console for a conversation; for a single message the answer alone goes to stdout."""
    answers = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    notes = Console(file=sys.stderr, highlight=False) if one_shot else answers
    return Screen(answers, notes, texts, LiveTail(answers), quiet)


def above(texts: Texts, file: TextIO, redraw: Callable[[], None], *, quiet: bool) -> tuple[Screen, PromptTail]:
    """The screen above a prompt that stays open; what is still being said stands in the prompt's own lines."""
    console = Console(file=file, highlight=False, soft_wrap=False)
    tail = PromptTail(console, redraw)
    return Screen(console, console, texts, tail, quiet), tail
