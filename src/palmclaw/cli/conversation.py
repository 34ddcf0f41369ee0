"""The open conversation: a line that can be typed in whatever happens, and what happens above it."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import field
from typing import TYPE_CHECKING, TextIO, cast

from palmclaw import __version__
from palmclaw.cli.asking import Asking
from palmclaw.cli.line import Above, InputLine, input_line
from palmclaw.cli.listening import Asked, Listening
from palmclaw.cli.reaching import GONE, is_remote, reached
from palmclaw.cli.screen import above
from palmclaw.cli.slash import FAREWELLS, Slash, completions
from palmclaw.core.errors import PalmclawError
from palmclaw.core.events import Answer, ApprovalAnswered
from palmclaw.core.runtime import NotOpen, Runtime, Stopped
from palmclaw.core.values import dataclass
from palmclaw.storage.brokenoff import BrokenOffTurns

if TYPE_CHECKING:
    from palmclaw.cli.chat import Talk

STOPPED = 130


async def converse(talk: "Talk") -> int:
    """Read and say until the person leaves. A gateway that goes away is looked for again when something is said."""
    talk.app.home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    talk.app.home.history.touch(0o600)  # what was typed is nobody else's business
    line = input_line(talk.app.home.history, completions((*talk.app.settings.services, "offline")))
    unsent: list[str] = []
    is_first = True
    with _screened(talk, line):
        while True:
            try:
                async with reached(talk.app, talk.session) as runtime:
                    conversation = Conversation(talk, runtime, line, unsent)
                    await conversation.greet(is_first=is_first)
                    is_first = False
                    if await conversation.run():
                        return 0
                if unsent:
                    continue
            except PalmclawError as error:
                if is_first:
                    raise
                talk.complain(error)
                if unsent:
                    talk.note(talk.texts("unsent"))
            if (text := await _something(line)) is None:
                return 0
            unsent.append(text)


async def _something(line: InputLine) -> str | None:
    """What is said next while nobody is there to hear it; None: goodbye."""
    line.interrupted = line.cancel
    with suppress(EOFError), line.held():
        while (text := await line.read()) not in FAREWELLS:
            if text:
                return text
    return None


@contextmanager
def _screened(talk: "Talk", line: InputLine) -> Iterator[None]:
    """While the line is open, everything is written above it."""
    output = cast(TextIO, Above(sys.stdout))
    talk.shown, tail = above(talk.texts, output, line.redraw, quiet=talk.style.quiet)
    line.tail = tail.lines
    line.offered = lambda: talk.note(talk.texts("leave"))
    loop = asyncio.get_running_loop()
    line.interrupted = lambda: os._exit(STOPPED)
    loop.add_signal_handler(signal.SIGINT, lambda: line.interrupted())
    try:
        with redirect_stdout(output), redirect_stderr(output):
            yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        output.flush()


@dataclass(slots=True)
class Conversation:
    """As long as one runtime is there. `unsent` is what was said before, or could not be handed over."""

    talk: "Talk"
    runtime: Runtime
    line: InputLine
    unsent: list[str]
    outgoing: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)
    _listening: Listening = field(init=False)
    _hearing: "asyncio.Task[None]" = field(init=False)
    _sending: "asyncio.Task[None]" = field(init=False)
    _asking: "asyncio.Task[Answer] | None" = None
    _asked: Asked | None = None
    _stopping: "asyncio.Task[object] | None" = None
    _has_left: bool = False

    def __post_init__(self) -> None:
        self.talk.is_alone = not is_remote(self.runtime)

    async def greet(self, *, is_first: bool) -> None:
        """Say who is there, and what a crash has broken off."""
        texts, app = self.talk.texts, self.talk.app
        self.talk.refuse_other_phone(self.runtime)
        if is_first:
            provider = await self.talk.chosen()
            self.talk.note(texts("welcome", version=__version__, provider=provider, device=app.device.name))
        if not self.talk.is_alone:
            self.talk.note(texts("attached_here"))
        await self._tell_of_a_crash()

    async def run(self) -> bool:
        """Until the person leaves, or (False) the runtime does."""
        self._listen()
        self.line.interrupted = self.interrupt
        self._sending = asyncio.create_task(self._send())
        self._sending.add_done_callback(lambda task: self.line.give_way())
        try:
            with self.line.held():
                self._has_left = await self._read()
            if self._has_left:
                await self._finish()
            return self._has_left
        finally:
            await self._end()

    async def _end(self) -> None:
        for task in (self._hearing, self._sending, self._asking, self._stopping):
            if task is not None:
                task.cancel()
        await asyncio.gather(self._hearing, self._sending, return_exceptions=True)
        while not self.outgoing.empty():
            self.unsent.append(self.outgoing.get_nowait())

    def interrupt(self) -> None:
        """Ctrl-C: stop what runs; else throw away what is typed; else leave, when it is pressed twice."""
        if self._has_left:
            os._exit(STOPPED)  # what was under way is named "outcome unknown" at the next start
        if self._listening.is_at_work and (self._stopping is None or self._stopping.done()):
            self._stopping = asyncio.create_task(self._stop())
        else:
            self.line.cancel()

    async def _stop(self) -> None:
        try:
            stopped = await self.runtime.stop(self.talk.session)
        except PalmclawError as error:
            self.talk.complain(error)
            return
        if stopped == Stopped():  # it had just come to its end
            self.line.offer()

    def _listen(self) -> None:
        self._listening = Listening(self.talk, self.runtime, self.line.give_way, self._withdrawn)
        self._hearing = asyncio.create_task(self._hear(self._listening))

    async def _hear(self, listening: Listening) -> None:
        try:
            await listening.run()
        except PalmclawError as error:
            if error.code != GONE:
                self.talk.complain(error)
        finally:
            listening.ready.set()
            self.line.give_way()

    async def _change(self, session: str) -> None:
        """Go to another conversation: from now on that one is heard."""
        self.talk.session = session
        hearing = self._hearing
        self._listen()
        hearing.cancel()
        await asyncio.wait({hearing})
        await self._listening.ready.wait()

    async def _read(self) -> bool:
        """Hand on what is typed; True when the person leaves, False when there is nobody to hand it to."""
        while True:
            if self._sending.done():
                self._sending.result()  # it ends by a bug alone
            if self._hearing.done():
                self._hearing.result()
                self.talk.settle()
                self.talk.note(self.talk.texts("gateway_lost"))
                return False
            if self._listening.questions:
                await self._ask(next(iter(self._listening.questions.values())))
                continue
            try:
                text = await self.line.read()
            except EOFError:
                return True
            if text in FAREWELLS:
                return True
            if text:
                self.outgoing.put_nowait(text)

    async def _send(self) -> None:
        """Say one thing after the other, so that the line is free again at once."""
        for text in self.unsent:
            self.outgoing.put_nowait(text)
        self.unsent.clear()
        while True:
            text = await self.outgoing.get()
            try:
                await self._said(text)
            except PalmclawError as error:
                self._not_said(text, error)
            finally:
                self.outgoing.task_done()

    async def _said(self, text: str) -> None:
        slash = Slash(self.talk, self.runtime, self._listening, self._change)
        if text.startswith("/") and await slash.run(text):
            return
        await self._listening.ready.wait()
        inbound = await self.talk.inbound(self.runtime, text)
        listening = self._listening
        async with listening.order:
            listening.said(await self.runtime.take(inbound), text)

    def _not_said(self, text: str, error: PalmclawError) -> None:
        if error.code != GONE:
            self.talk.complain(error)
            return
        from palmclaw.web.client import ConnectionBroke

        if isinstance(error, ConnectionBroke):
            self.talk.complain(error)
            self.talk.note(self.talk.texts("perhaps_stored"))
        else:
            self.unsent.append(text)

    async def _ask(self, asked: Asked) -> None:
        """Take the terminal for a question, and give it back with what was being typed."""
        if self.talk.is_settled(is_ours=asked.is_ours):
            answer = await self.talk.asked(asked.question)
        else:
            if asked.by_crew or asked.session != self.talk.session:
                key = "subagent_asks" if asked.by_crew else "session_asks"
                self.talk.note(self.talk.texts(key, session=asked.session))
            found = await self._answered_here(asked)
            if found is None:
                return
            answer = found
        if self._listening.questions.pop(asked.question.id, None) is not None:
            try:
                await self.runtime.answer(asked.question.id, answer, "terminal")
            except NotOpen as error:
                self.talk.note(str(error))

    async def _answered_here(self, asked: Asked) -> Answer | None:
        """None when the question was withdrawn meanwhile."""
        asking = Asking(self.talk.screen(), asked.question, self.talk.texts, bool(self.line.draft.text))
        asking.stop = lambda: self.runtime.stop(asked.session)
        self._asked, self._asking = asked, asyncio.create_task(asking.answer())
        try:
            await asyncio.wait({self._asking})
            return None if self._asking.cancelled() else self._asking.result()
        finally:
            self._asking.cancel()
            self._asked = None
            self.line.add(asking.stray)

    def _withdrawn(self, asked: Asked, event: ApprovalAnswered | None) -> None:
        """Somebody else has answered, or nobody waits for it any more."""
        if asked is not self._asked or self._asking is None:
            return
        self._asking.cancel()
        said = self.talk.texts("question_over")
        if event is not None:
            said = self.talk.texts("answered_elsewhere", answer=self.talk.texts(f"said_{event.answer.value}"))
        self.talk.note(said)

    async def _finish(self) -> None:
        """What was said is handed over; what is left undone is named."""
        with suppress(TimeoutError):
            async with asyncio.timeout(5):
                await self.outgoing.join()
        try:
            lanes = (await self.runtime.status()).lanes
        except PalmclawError:  # who leaves need not know that the gateway has left too
            return
        running, waiting = sum(bool(lane.turn) for lane in lanes), sum(lane.waiting for lane in lanes)
        if self.talk.is_alone and (running or waiting):
            self.talk.note(self.talk.texts("left", running=running, waiting=waiting))
        elif self._listening.is_at_work:
            self.talk.note(self.talk.texts("gateway_goes_on"))

    async def _tell_of_a_crash(self) -> None:
        """The last turn here did not come to its end."""
        for turn in (await BrokenOffTurns(self.talk.app.database).unfinished(self.talk.session))[-1:]:
            if turn.fault is not None:
                self.talk.tell(turn.fault)
