"""`palmclaw chat`: a conversation, or one message whose answer goes to stdout."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from palmclaw.agent.interrupt import Interrupt
from palmclaw.app import App, assembled, opened
from palmclaw.cli.attachments import Attached, attached
from palmclaw.cli.plain import Plain
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.events import Answer, ApprovalAsked, Event, Stop, ToolEnded, TurnEnded
from palmclaw.core.ports import Approver, Inbound
from palmclaw.core.text import whole
from palmclaw.runtime.approvals import FixedApprover
from palmclaw.runtime.turns import Turns
from palmclaw.storage.media import MediaFolder

if TYPE_CHECKING:
    from palmclaw.cli.screen import Screen

LOCAL = "main"
FAILED, STOPPED = 1, 130


@click.command()
@click.argument("text", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON event per line on stdout.")
@click.option(
    "--approve",
    type=click.Choice(["ask", "always", "never"]),
    default=None,
    help="Who answers approvals: you (the default in a terminal), or a fixed yes or no.",
)
@click.option("--session", default=LOCAL, show_default=True, metavar="NAME", help="Which conversation.")
@click.option(
    "--device", default="", metavar="NAME", help="Which phone: virtual (the default) or an installed backend."
)
@click.option("--model", default="", metavar="NAME", help="For this once: SERVICE/MODEL, SERVICE or MODEL.")
@click.option("--file", "-f", "paths", multiple=True, type=click.Path(path_type=Path), help="Attach an image or a PDF.")
@click.option("--quiet", "-q", is_flag=True, help="Only the answer and errors.")  # fmt: skip
def chat(text: str | None, approve: str | None, session: str, device: str, paths: tuple[Path, ...], **how: Any) -> None:
    """Talk to the agent.

    With TEXT (or - for standard input) it answers that one message: the answer on stdout, everything else on
    stderr, exit code 0 unless the turn failed. Without TEXT it opens a conversation.

    \b
    palmclaw chat "How much battery is left?"
    palmclaw chat --approve never "text Mei Lin that I'm late"
    palmclaw chat --model offline "turn the torch on"
    palmclaw chat --file photo.jpg "what is this?"
    echo "what's on my calendar?" | palmclaw chat -
    """
    message = given(text)
    if message is not None and not message.strip():
        raise click.UsageError('the message is empty; say something: palmclaw chat "How much battery is left?"')
    session, model = whole(session), whole(how["model"])
    app = assembled(os.environ, device=device)
    app.services.chosen(model)
    style = Style(how["as_json"], how["quiet"], one_shot=message is not None)
    talk = Talk(app, texts(os.environ), session, style, model, attached(paths))
    sys.exit(asyncio.run(talk.once(message, approve) if message is not None else talk.conversation(approve)))


@dataclass(frozen=True, slots=True)
class Style:
    """How a turn is shown."""

    as_json: bool = False
    quiet: bool = False
    one_shot: bool = False


@dataclass(slots=True)
class Talk:
    """One run of the command. `model` is for every turn of it; `files` go with the next message."""

    app: App
    texts: Texts
    session: str
    style: Style
    model: str = ""
    files: tuple[Attached, ...] = ()
    interrupt: Interrupt = field(default_factory=Interrupt)
    _screen: "Plain | Screen | None" = None

    async def once(self, message: str, approve: str | None) -> int:
        """Answer one message; returns the exit code."""
        async with opened(self.app, self.approver(approve), "chat") as turns:
            with self.stoppable():
                return await self.answer(turns, message)

    async def conversation(self, approve: str | None) -> int:
        """Read messages until the person leaves."""
        from palmclaw.cli.conversation import converse

        async with opened(self.app, self.approver(approve), "chat") as turns:
            return await converse(self, turns)

    async def answer(self, turns: Turns, message: str) -> int:
        """Run one turn and show it."""
        self.interrupt = Interrupt()
        code = FAILED
        store, files = MediaFolder(self.app.home.media), self.files
        await self._say_unseen(files)
        media = tuple([await store.put(f.content, f.mime, f.name) for f in files])
        self.files = ()
        inbound = Inbound(self.session, message, model=self.model, media=media)
        async for event in turns.run(inbound, self.interrupt):
            self._show(event)
            if isinstance(event, TurnEnded):
                code = exit_code(event)
        return code

    async def _say_unseen(self, files: tuple[Attached, ...]) -> None:
        """Tell of attachments of which the model will read the name alone."""
        reference = self.model or (await self.app.sessions.model(self.session) if files else "")
        seen = self.app.models().takes(reference) if files else frozenset()
        for file in files:
            if file.mime not in seen and not self.style.as_json:
                model = self.app.services.chosen(reference)
                self.screen().note(self.texts("unseen", model=model, name=file.name))

    def approver(self, approve: str | None) -> Approver:
        """In a terminal the person is asked; elsewhere nobody can be, and that is a no."""
        if approve == "always":
            return FixedApprover(Answer.ONCE)
        if approve == "never":
            return FixedApprover(Answer.NO)
        if self.style.as_json or not on_terminal(sys.stdin, sys.stderr):
            return FixedApprover(Answer.UNASKED)
        return self

    async def ask(self, question: ApprovalAsked) -> Answer:
        """Implements the Approver port at the terminal."""
        from palmclaw.cli.asking import asked

        return await asked(self.screen(), question, self.texts)

    def screen(self) -> "Plain | Screen":
        """Where the turn is shown; the one with colours and Markdown only on a terminal."""
        if self._screen is None:
            self._screen = self._made()
        return self._screen

    def _made(self) -> "Plain | Screen":
        if self.style.one_shot and not on_terminal(sys.stdout):
            return Plain(self.texts, self.style.quiet)
        from palmclaw.cli.screen import terminal

        return terminal(self.texts, one_shot=self.style.one_shot, quiet=self.style.quiet)

    def _show(self, event: Event) -> None:
        if self.style.as_json:
            click.echo(whole(json.dumps(encode(event), ensure_ascii=False)))
            return
        if isinstance(event, ToolEnded) and event.result.said:
            self.screen().say(event.result.said)
        self.screen().show(event)

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """The first Ctrl-C stops the turn, the second one the program."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: stop_or_leave(self))
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)


def given(text: str | None) -> str | None:
    """The one message to answer, from the argument or from standard input; None: open a conversation."""
    if text is not None and text != "-":
        return whole(text)
    if sys.stdin is None:
        raise click.UsageError("there is no message, and standard input is closed")
    if text is None and sys.stdin.isatty():
        return None
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def on_terminal(*streams: TextIO | None) -> bool:
    return all(stream is not None and stream.isatty() for stream in streams)


def stop_or_leave(talk: Talk) -> None:
    if talk.interrupt.is_set:
        os._exit(STOPPED)  # what was under way is named "outcome unknown" at the next start
    talk.interrupt.set()


def exit_code(ended: TurnEnded) -> int:
    """0 for a turn that came to its end, also with a declined call in it."""
    if ended.stop in (Stop.DONE, Stop.TERMINAL_TOOL):
        return 0
    return STOPPED if ended.stop is Stop.CANCELLED else FAILED
