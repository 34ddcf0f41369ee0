"""Asks the person at the terminal whether a call may run."""

import termios
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input.typeahead import clear_typeahead

from palmclaw.cli.plain import Plain
from palmclaw.cli.texts import Texts
from palmclaw.core.events import Answer, ApprovalAsked
from palmclaw.core.text import visible

if TYPE_CHECKING:
    from palmclaw.cli.screen import Screen

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
    "": Answer.NO,
    "不": Answer.NO,
    "否": Answer.NO,
}


async def asked(screen: "Plain | Screen", question: ApprovalAsked, texts: Texts) -> Answer:
    """Show the call and read one answer; Enter, Ctrl-C, Ctrl-D and anything unclear twice are a no."""
    screen.question(question)
    prompt: PromptSession[str] = PromptSession()
    _forget_typed_ahead(prompt)
    for _ in range(2):
        try:
            reply = await prompt.prompt_async(
                FormattedText([("bold", f"{texts('approve')} {choices(question, texts)} ")]),
                handle_sigint=False,  # Ctrl-C is a key here, and the turn keeps its own handler
            )
        except (EOFError, KeyboardInterrupt):
            return Answer.NO
        answer = KEYS.get(reply.strip().lower())
        if answer is not None and (answer is Answer.NO or answer in question.scopes):
            return answer
        screen.note(texts("unclear"))
    return Answer.NO


def _forget_typed_ahead(prompt: "PromptSession[str]") -> None:
    """What was typed before the question was there cannot be its answer."""
    clear_typeahead(prompt.app.input)
    termios.tcflush(prompt.app.input.fileno(), termios.TCIFLUSH)


def choices(question: ApprovalAsked, texts: Texts) -> str:
    """The answers that are possible for this call, in words."""
    target = visible(question.preview.target)
    lasting = [texts(f"choice_{s.value}", target=target) for s in question.scopes if s is not Answer.ONCE]
    return "".join((texts("choices"), *lasting, texts("choice_no")))
