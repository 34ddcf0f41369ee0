"""Asks the person at the terminal whether a call may run."""

import asyncio
import termios
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import field
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead
from prompt_toolkit.key_binding.key_processor import KeyPress

from palmclaw.cli.plain import Plain
from palmclaw.cli.texts import Texts
from palmclaw.cli.wrapping import width_of
from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.text import visible
from palmclaw.core.values import dataclass
from palmclaw.runtime.commands import means_stop

if TYPE_CHECKING:
    from palmclaw.cli.screen import Screen

A_MOMENT = 0.5
"""Seconds within which nobody who was typing something else can have read a question."""
ROOM = 8
"""Columns that are left to type an answer in."""
KEYS = {
    "o": Answer.ONCE,
    "y": Answer.ONCE,
    "仅此一次": Answer.ONCE,
    "一次": Answer.ONCE,
    "总是": Answer.ALWAYS,
    "本次对话": Answer.SESSION,
    "本次": Answer.SESSION,
    "yes": Answer.ONCE,
    "once": Answer.ONCE,
    "是": Answer.ONCE,
    "好": Answer.ONCE,
    "s": Answer.SESSION,
    "session": Answer.SESSION,
    "a": Answer.ALWAYS,
    "always": Answer.ALWAYS,
    "n": Answer.NO,
    "no": Answer.NO,
    "不": Answer.NO,
    "否": Answer.NO,
}


@dataclass(slots=True)
class Asking:
    """One question. `is_typing`: the person was writing something when it came; `stray` is what of that came late.

    `stop` ends the turn that asks: a question does not keep anybody from stopping it.
    """

    screen: "Plain | Screen"
    question: ApprovalAsked
    texts: Texts
    is_typing: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    stray: str = ""
    stop: Callable[[], Awaitable[object]] | None = None
    _prompt: "PromptSession[str]" = field(default_factory=lambda: PromptSession(erase_when_done=True))

    async def answer(self) -> Answer:
        """Show the call and read until there is an answer; Ctrl-C and the end of input are a no.

        What is unclear is asked again, with what may be said; nothing but its deadline ends that.
        """
        self.screen.question(self.question)
        await self._forget_typed_ahead()
        while True:
            try:
                reply = await self._prompt.prompt_async(
                    FormattedText([("bold", asked(self.question, self.texts, get_terminal_size().columns))]),
                    handle_sigint=False,  # Ctrl-C is a key here, and the turn keeps its own handler
                )
            except (EOFError, KeyboardInterrupt):
                return Answer.NO
            if self.stop is not None and (reply.strip().lower() == "/stop" or means_stop(reply)):
                await self.stop()
                return Answer.NO
            answer = KEYS.get(unicodedata.normalize("NFKC", reply).strip().lower().strip(".!。"))
            if answer is not None and (answer is Answer.NO or answer in self.question.scopes):
                return answer
            self._explain(reply.strip())

    def _explain(self, reply: str) -> None:
        """What may be answered: in short after something unclear, at length when that is asked for."""
        if reply not in ("?", "？"):
            self.screen.note(self.texts("unclear", keys=keys(self.question)))
            return
        target = visible(self.question.preview.target)
        for answer in (*self.question.scopes, Answer.NO):
            self.screen.note(self.texts(f"explain_{answer.value}", target=target))
        self.screen.note(self.texts("explain_waiting"))

    async def _forget_typed_ahead(self) -> None:
        """What was typed before the question could be read cannot be its answer."""
        source = self._prompt.app.input
        keys = get_typeahead(source)
        with source.raw_mode():
            if self.is_typing:
                await self.sleep(A_MOMENT)
            keys += source.read_keys()
        self.stray = typed(keys)
        clear_typeahead(source)
        termios.tcflush(source.fileno(), termios.TCIFLUSH)


def typed(keys: list[KeyPress]) -> str:
    """The characters among some keys."""
    return "".join(key.data for key in keys if len(key.data) == 1 and key.data.isprintable())


def keys(question: ApprovalAsked) -> str:
    """The letters that may be typed."""
    return ", ".join((*(answer.value[0] for answer in question.scopes), "n"))


def asked(question: ApprovalAsked, texts: Texts, columns: int) -> str:
    """The question and what may be answered; on a narrow screen one answer a line, and room of its own to type in."""
    line = f"{texts('approve')} {choices(question, texts)} "
    if width_of(line) + ROOM <= columns:
        return line
    answers = choices(question, texts).split(" · ")
    return "\n".join((texts("approve"), *(f"  {answer}" for answer in answers), "› "))


def choices(question: ApprovalAsked, texts: Texts) -> str:
    """The answers that are possible for this call, in words."""
    target = visible(question.preview.target)
    lasting = [texts(f"choice_{s.value}", target=target) for s in question.scopes if s is not Answer.ONCE]
    return "".join((texts("choices"), *lasting, texts("choice_no")))
