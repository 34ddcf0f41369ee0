"""Shows a turn on a terminal: Markdown as it streams, tool lines, approvals. Loaded at the first sign of life."""

import sys
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown
from rich.text import Text as Line

from palmclaw.cli.texts import Texts
from palmclaw.core.events import (
    Answer,
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    MessageAdded,
    Stop,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from palmclaw.core.messages import Cut, Role, ToolCall
from palmclaw.core.text import printable, visible


@dataclass(slots=True)
class Screen:
    """`answers` is where the answer goes, `notes` everything else (stderr for a one-shot)."""

    answers: Console
    notes: Console
    texts: Texts
    quiet: bool = False
    _pending: str = ""
    _live: Live | None = None
    _streamed: bool = field(default=False)

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
        self.notes.print(Line(f"┌ {asked.preview.action}", style="bold yellow"))
        for label, value in asked.preview.lines:
            self.notes.print(Line.assemble(("│ ", "yellow"), (f"{label}: ", "dim"), visible(value)))
        self.notes.print(Line(f"└ {self.texts('reason', reason=asked.reason)}", style="yellow"))

    def settle(self) -> None:
        """Print what is still in motion for good."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        if self._pending.strip():
            self.answers.print(markdown(self._pending))
        self._pending = ""

    def _stream(self, text: str) -> None:
        self._streamed = True
        self._pending += text
        done, self._pending = complete_blocks(self._pending)
        if done:
            self._quiet_live()
            self.answers.print(markdown(done))
        if self.answers.is_terminal:
            self._moving().update(markdown(self._pending))

    def _moving(self) -> Live:
        if self._live is None:
            self._live = Live(console=self.answers, refresh_per_second=12, transient=True, vertical_overflow="ellipsis")
            self._live.start()
        return self._live

    def _quiet_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _message(self, event: MessageAdded) -> None:
        message = event.message
        if message.role is not Role.ASSISTANT:
            return
        self.settle()
        if message.cut is not Cut.NO:
            self.notes.print(Line(self.texts(message.cut.value), style="yellow"))

    def _note(self, event: Event) -> None:
        if isinstance(event, ToolStarted):
            self.settle()
            self.notes.print(Line(f"· {called(event.call)}", style="cyan"))
        elif isinstance(event, ToolProgress):
            self.notes.print(Line(f"  … {event.text}", style="dim"))
        elif isinstance(event, ToolEnded):
            self._result(event)
        elif isinstance(event, ApprovalAnswered):
            style = "red" if event.answer is Answer.NO else "green"
            self.notes.print(Line(f"  → {self.texts(f'said_{event.answer.value}')}", style=style))

    def _result(self, event: ToolEnded) -> None:
        error = event.result.error
        if error is not None:
            self.notes.print(Line(f"  ✗ {error.message}", style="red"))

    def _ended(self, event: TurnEnded) -> None:
        self.settle()
        if event.error is not None:
            style = "yellow" if event.stop in (Stop.CANCELLED, Stop.DONE) else "red"
            self.notes.print(Line(event.error.message, style=style))
            if event.error.hint:
                self.notes.print(Line(event.error.hint, style="dim"))
        if event.usage.input and not self.quiet:
            use = event.usage
            text = self.texts("tokens", input=use.input, output=use.output, rounds=event.rounds)
            self.notes.print(Line(text, style="dim"))


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


def called(call: ToolCall) -> str:
    """A call in one short line."""
    arguments = ", ".join(f"{k}={_short(v)}" for k, v in call.arguments.items())
    return f"{call.name}({arguments})"


def _short(value: object) -> str:
    text = visible(str(value)).replace("\n", "⏎")
    return text if len(text) <= 40 else f"{text[:37]}…"


def terminal(texts: Texts, *, one_shot: bool, quiet: bool) -> Screen:
    """One console for a conversation; for a single message the answer alone goes to stdout."""
    answers = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    notes = Console(file=sys.stderr, highlight=False) if one_shot else answers
    return Screen(answers, notes, texts, quiet)
