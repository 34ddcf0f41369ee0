"""Shows a turn where stdout is no terminal: the answer as it comes, everything else in short lines on stderr."""

import json
import shutil
from datetime import datetime

import click

from palmclaw.cli.texts import Texts
from palmclaw.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Compacted,
    Event,
    MessageAdded,
    ModelChanged,
    Retrying,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
)
from palmclaw.core.messages import Cut, Role, ToolCall, ToolResult
from palmclaw.core.text import printable, visible
from palmclaw.core.values import dataclass


@dataclass(slots=True)
class Plain:
    """No colours, no library: nothing that a script would pay for."""

    texts: Texts
    quiet: bool = False
    _is_amid: bool = False

    def show(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            click.echo(printable(event.text), nl=False)
            self._is_amid = True
        elif isinstance(event, MessageAdded):
            self._message(event)
        elif isinstance(event, TurnEnded):
            self._ended(event)
        elif not self.quiet:
            for line in lines(event, self.texts):
                click.echo(line, err=True)

    def question(self, asked: ApprovalAsked) -> None:
        for line in question_lines(asked, self.texts):
            click.echo(line, err=True)

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def say(self, text: str) -> None:
        """Words of a tool that are the answer."""
        click.echo(printable(text))

    def settle(self) -> None:
        """The line that is being written ends here."""
        if self._is_amid:
            click.echo()
        self._is_amid = False

    def _message(self, event: MessageAdded) -> None:
        message = event.message
        if message.role is Role.ASSISTANT and message.text:
            click.echo()
            self._is_amid = False
        if message.cut is not Cut.NO:
            click.echo(self.texts(message.cut.value), err=True)

    def _ended(self, event: TurnEnded) -> None:
        if event.error is not None:
            said, hint = self.texts.fault(event.error)
            click.echo(visible(said), err=True)
            if hint:
                click.echo(hint, err=True)
        if event.usage.input and not self.quiet:
            click.echo(cost(event, self.texts), err=True)


def lines(event: Event, texts: Texts) -> list[str]:
    """What a person is told of an event besides the answer: at most a line."""
    if isinstance(event, ToolStarted):
        return [f"· {called(event.call)}"]
    if isinstance(event, ToolProgress):
        return [f"  … {visible(event.text)}"]
    if isinstance(event, ToolEnded) and event.result.error is not None:
        return [f"  ✗ {_failed(event.result, texts)}"]
    if isinstance(event, Retrying):
        reason = visible(texts.fault(event.fault)[0])
        reason += "" if reason.endswith((".", "!", "?", "。", "…", "）")) else "."
        key = "retrying" if event.seconds else "retrying_now"
        return [texts(key, reason=reason, seconds=max(1, round(event.seconds)))]
    if isinstance(event, ModelChanged):
        reason = visible(texts.fault(event.fault)[0])
        return [texts("model_changed", model=event.model, instead_of=event.instead_of, reason=reason)]
    if isinstance(event, Compacted):
        return [_compacted(event, texts)]
    if isinstance(event, ApprovalAnswered):
        return [f"  → {texts(f'said_{event.answer.value}')}"]
    return []


def _failed(result: ToolResult, texts: Texts) -> str:
    """What went wrong with a call: of a no that was said here the person is told as who said it."""
    assert result.error is not None
    if result.error.code == "declined":
        return texts("declined", tool=visible(result.name))
    return visible(texts.told(result.error.message))


def _compacted(event: Compacted, texts: Texts) -> str:
    """What the model no longer sees word for word."""
    messages = texts.count(event.messages, "older message")
    if event.summed:
        return texts("compacted", messages=messages, before=f"{event.before:,}", after=f"{event.after:,}")
    return texts("left_out", messages=messages, reason=visible(texts.told(event.reason)))


def question_lines(asked: ApprovalAsked, texts: Texts) -> list[str]:
    """The whole resolved call, with nothing hidden in it."""
    reason = texts("reason", reason=texts.label(asked.reason))
    inner = [f"│ {visible(texts.label(label))}: {_framed(value)}" for label, value in asked.preview.lines]
    return [f"┌ {visible(texts.label(asked.preview.action))}", *inner, f"└ {reason}"]


def cost(event: TurnEnded, texts: Texts) -> str:
    """What the turn cost, in words; “~” before what the service did not count itself."""
    about = "~" if event.usage.estimated else ""
    return about + texts("tokens", input=event.usage.input, output=event.usage.output, rounds=event.rounds)


def moment(at: str) -> str:
    """A stored moment in the person's own zone."""
    try:
        return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return visible(at)


def wrapped(text: str, indent: str = "") -> str:
    """The text in lines that fit the screen, each after `indent`."""
    width = max(20, min(shutil.get_terminal_size().columns, 100) - 1)
    if text.isascii():
        return click.wrap_text(text, width, indent, indent)
    from palmclaw.cli.wrapping import filled

    return "\n".join(filled(line, width, indent) for line in text.split("\n"))


def called(call: ToolCall) -> str:
    """A call in one short line."""
    arguments = ", ".join(f"{_short(k)}={_short(v)}" for k, v in call.arguments.items())
    return f"{_short(call.name)}({arguments})"


def _framed(value: str) -> str:
    """A value whose own lines cannot be taken for lines of the frame."""
    return visible(value).replace("\n", "\n│     ")


def _short(value: object) -> str:
    plain = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = visible(plain).replace("\n", "⏎")
    return text if len(text) <= 40 else f"{text[:37]}…"
