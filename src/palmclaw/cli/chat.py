"""`palmclaw chat`: a conversation, or one message whose answer goes to stdout."""

import asyncio
import errno
import json
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from palmclaw.app import App, assembled
from palmclaw.cli.attachments import Attached, attached
from palmclaw.cli.following import FAILED, Following
from palmclaw.cli.pages import Page
from palmclaw.cli.plain import Plain
from palmclaw.cli.reaching import GONE, is_remote, reached
from palmclaw.cli.texts import Texts, texts
from palmclaw.core.codec import encode
from palmclaw.core.errors import ConfigError, Fault, PalmclawError, StorageError
from palmclaw.core.events import Answer, ApprovalAsked, Event, Standing, Taken, ToolEnded, TurnStarted
from palmclaw.core.runtime import Runtime
from palmclaw.core.text import whole
from palmclaw.core.traffic import SUBAGENT, Fate, Inbound, Mode, QueueChange, Receipt
from palmclaw.core.values import dataclass
from palmclaw.runtime.bindings import agent_for

if TYPE_CHECKING:
    from palmclaw.cli.screen import Screen

LOCAL = "main"
FIXED = {"always": Answer.ONCE, "never": Answer.NO}


@click.command(cls=Page)
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
@click.option(
    "--queue",
    type=click.Choice([mode.value for mode in Mode]),
    metavar="MODE",
    help="What TEXT does where something runs: steer, collect, followup or interrupt.",
)
@click.option("--quiet", "-q", is_flag=True, help="Only the answer and errors.")  # fmt: skip
def chat(text: str | None, approve: str | None, session: str, device: str, paths: tuple[Path, ...], **how: Any) -> None:
    """Talk to the agent.

    With TEXT (or - for standard input) it answers that one message: the answer on stdout, everything else on
    stderr, exit code 0 unless the turn failed. Without TEXT it opens a conversation. Where a gateway runs
    (palmclaw serve), both go through it.

    \b
    palmclaw chat "How much battery is left?"
    palmclaw chat --approve never "text Mei Lin that I'm late"
    palmclaw chat --model offline "turn the torch on"
    palmclaw chat --file photo.jpg "what is this?"
    palmclaw chat --queue interrupt "no, the other one"
    echo "what's on my calendar?" | palmclaw chat -
    """
    message = given(text)
    if message is not None and not message.strip():
        raise click.UsageError('the message is empty; say something: palmclaw chat "How much battery is left?"')
    session, model = whole(session), whole(how["model"])
    app = assembled(os.environ, device=device)
    app.services.chosen(model)
    session = of_an_agent(app, session)
    style = Style(how["as_json"], how["quiet"], one_shot=message is not None, device=device)
    talk = Talk(app, texts(os.environ), session, style, approve, model, attached(paths), _mode(how["queue"]))
    sys.exit(run(talk.once(message) if message is not None else talk.conversation()))


def _mode(named: str | None) -> QueueChange:
    return QueueChange(mode=Mode(named) if named else None)


def run(work: Coroutine[None, None, int]) -> int:
    """Run to the end; told to go, leave at once, and what was under way goes on at the next start. The exit code."""
    told: list[int] = []

    async def until_told() -> int:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGHUP, signal.SIGTERM):
            if signal.getsignal(number) is signal.SIG_DFL:
                asyncio.get_running_loop().add_signal_handler(number, _leave, number, told, task)
        return await work

    try:
        return asyncio.run(until_told())
    except asyncio.CancelledError:
        return 128 + told[0]
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return 128 + signal.SIGHUP  # the terminal is gone


def _leave(number: int, told: list[int], task: "asyncio.Task[int]") -> None:
    """Say nothing more: there may be no terminal to say it to."""
    if told:
        os._exit(128 + number)
    told.append(number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        if number == signal.SIGHUP and os.isatty(descriptor):
            os.dup2(nowhere, descriptor)
    task.cancel()


@dataclass(frozen=True, slots=True)
class Style:
    """How a turn is shown; `device` is the phone that was asked for."""

    as_json: bool = False
    quiet: bool = False
    one_shot: bool = False
    device: str = ""


@dataclass(slots=True)
class Talk:
    """One run of the command. `model` is for every turn of it, `queue` for its message; `files` go with the next one.

    `shown` is where it is shown, once that is known; `is_alone`: no gateway has the home, this process has.
    """

    app: App
    texts: Texts
    session: str
    style: Style
    approve: str | None = None
    model: str = ""
    files: tuple[Attached, ...] = ()
    queue: QueueChange = QueueChange()
    is_alone: bool = True
    shown: "Plain | Screen | None" = None

    async def once(self, message: str) -> int:
        """Answer one message; returns the exit code."""
        async with reached(self.app, self.session, at_once=False) as runtime:
            self.refuse_other_phone(runtime)
            following = Following(self, runtime)
            try:
                with following.stoppable():
                    code = await self._answer(following, message)
            except StorageError as error:
                if error.code != GONE:
                    raise
                self.complain(error)
                code = None
        if code is None:
            click.echo(self.texts("stored" if following.row else "perhaps_stored"), err=True)
        return FAILED if code is None else code

    async def conversation(self) -> int:
        """Read messages until the person leaves."""
        from palmclaw.cli.conversation import converse

        return await converse(self)

    async def _answer(self, following: Following, message: str) -> int | None:
        """Say something and show what comes of it; None when the runtime ends before."""
        runtime = following.runtime
        inbound = await self.inbound(runtime, message)
        async with aclosing(runtime.events(self.session)) as signals:
            first = await anext(signals)  # from here on nothing is missed
            if isinstance(first.event, Standing):
                following.stood(first.event)
            receipt = await runtime.take(inbound)
            following.row = receipt.id
            if receipt.fate is Fate.ANSWERED:
                self.answered(receipt)
                return 0
            return await following.to_the_end(signals)

    async def inbound(self, runtime: Runtime, message: str) -> Inbound:
        """The message with what goes along; attachments are stored."""
        files = self.files
        await self._say_unseen(files)
        media = tuple([await runtime.keep(f.content, f.mime, f.name) for f in files])
        self.files = ()
        return Inbound(self.session, message, model=self.model, media=media, queue=self.queue)

    def refuse_other_phone(self, runtime: Runtime) -> None:
        """A gateway has its phone already. Raises ConfigError."""
        if self.style.device and is_remote(runtime):
            hint = "Leave --device out, or end the gateway first: palmclaw stop"
            raise ConfigError("--device", "the gateway that runs has its own phone", hint)

    async def chosen(self) -> str:
        """The model that the next message goes to."""
        return str(self.app.services.chosen(self.model or await self.app.sessions.model(self.session)))

    async def _say_unseen(self, files: tuple[Attached, ...]) -> None:
        """Tell of attachments of which the model will read the name alone."""
        reference = self.model or (await self.app.sessions.model(self.session) if files else "")
        seen = self.app.models().takes(reference) if files else frozenset()
        for file in files:
            if file.mime not in seen and not self.style.as_json:
                model = self.app.services.chosen(reference)
                self.screen().note(self.texts("unseen", model=model, name=file.name))

    async def asked(self, question: ApprovalAsked) -> Answer:
        """In a terminal the person is asked; elsewhere nobody can be, and that is a no."""
        if self.approve in FIXED:
            return FIXED[self.approve]
        if self.style.as_json or not on_terminal(sys.stdin, sys.stderr):
            return Answer.UNASKED
        from palmclaw.cli.asking import Asking

        return await Asking(self.screen(), question, self.texts).answer()

    def is_settled(self, *, is_ours: bool) -> bool:
        """Whether the answer to a question is known without asking; a fixed one is for turns that are ours."""
        return self.style.as_json or (is_ours and self.approve in FIXED)

    def note(self, text: str) -> None:
        """Say something that is not the answer."""
        if not self.style.as_json:
            self.screen().note(text)

    def tell(self, fault: Fault) -> None:
        """Say what went wrong outside of a turn of ours."""
        self.note("\n".join(part for part in self.texts.fault(fault) if part))

    def complain(self, error: PalmclawError) -> None:
        """Say what went wrong, in any style."""
        if self.style.as_json or self.style.one_shot:
            click.echo("\n".join(part for part in self.texts.fault(error.fault) if part), err=True)
        else:
            self.tell(error.fault)

    def answered(self, receipt: Receipt) -> None:
        """Say what the runtime itself answers."""
        if self.style.as_json:
            self.show(Taken(receipt))
        else:
            self.screen().say(receipt.text)

    def screen(self) -> "Plain | Screen":
        """Where the turn is shown; the one with colours and Markdown only on a terminal."""
        if self.shown is None:
            self.shown = self._made()
        return self.shown

    def _made(self) -> "Plain | Screen":
        if self.style.one_shot and not on_terminal(sys.stdout):
            return Plain(self.texts, self.style.quiet)
        from palmclaw.cli.screen import terminal

        return terminal(self.texts, one_shot=self.style.one_shot, quiet=self.style.quiet)

    def settle(self) -> None:
        """What was being said comes to no end: it stands as it is."""
        if self.shown is not None:
            self.shown.settle()

    def show(self, event: Event | TurnStarted | Taken) -> None:
        """Show one event of the turn, or of what becomes of a message."""
        if self.style.as_json:
            click.echo(whole(json.dumps(encode(event), ensure_ascii=False)))
            return
        if isinstance(event, ToolEnded) and event.result.said:
            self.screen().say(event.result.said)
        if not isinstance(event, TurnStarted | Taken):
            self.screen().show(event)


def of_an_agent(app: App, session: str) -> str:
    """The session of the agent that talks in the terminal. Raises ConfigError where none of several does."""
    agents = app.settings.agents
    if len(agents) < 2 or app.kits.agent_of(session) or session.startswith(SUBAGENT):
        return session
    return f"{agent_for(None, agents)}:{session}"


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
