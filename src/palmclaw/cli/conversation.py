"""The open conversation: a prompt, slash commands, and turns that Ctrl-C stops."""

import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory

from palmclaw import __version__
from palmclaw.cli.attachments import attached
from palmclaw.core.errors import PalmclawError
from palmclaw.runtime.turns import Turns

if TYPE_CHECKING:
    from palmclaw.cli.chat import Talk

COMMANDS = ("/help", "/new", "/stop", "/tools", "/model", "/attach", "/sessions", "/exit")


async def converse(talk: "Talk", turns: Turns) -> int:
    """Read, answer, repeat. A failed turn does not end the conversation."""
    talk.app.home.history.touch(0o600)  # what was typed is nobody else's business
    note(talk, talk.texts("welcome", version=__version__, provider=await _model(talk), device=talk.app.device.name))
    prompt: PromptSession[str] = PromptSession(
        history=FileHistory(str(talk.app.home.history)), completer=WordCompleter(list(COMMANDS), sentence=True)
    )
    leaving = False
    while True:
        try:
            text = (await prompt.prompt_async("› ")).strip()
        except KeyboardInterrupt:
            if leaving:
                return 0
            leaving = True
            note(talk, talk.texts("leave"))
            continue
        except EOFError:
            return 0
        leaving = False
        if text.startswith("/"):
            if await command(talk, text):
                return 0
        elif text:
            await _turn(talk, turns, text)


async def command(talk: "Talk", text: str) -> bool:
    """Run a slash command; True when the conversation is over."""
    name, _, rest = text.partition(" ")
    if name in ("/exit", "/quit"):
        return True
    actions: dict[str, Callable[[], Awaitable[None]]] = {
        "/help": lambda: _say(talk, talk.texts("help")),
        "/stop": lambda: _say(talk, talk.texts("nothing_to_stop")),
        "/new": lambda: _change(talk, f"chat-{secrets.token_hex(3)}", "new"),
        "/tools": lambda: _tools(talk),
        "/model": lambda: _change_model(talk, rest.strip()) if rest.strip() else _show_model(talk),
        "/attach": lambda: _attach(talk, rest.strip()),
        "/sessions": lambda: _go_to(talk, rest.strip()) if rest.strip() else _sessions(talk),
    }
    action = actions.get(name)
    try:
        await (action() if action else _say(talk, talk.texts("unknown_command", name=name)))
    except PalmclawError as error:
        await _say(talk, f"{error}\n{error.hint}".strip())
    return False


async def _turn(talk: "Talk", turns: Turns, text: str) -> None:
    with talk.stoppable():
        try:
            await talk.answer(turns, text)
        except PalmclawError as error:  # an attachment that could not be kept, say
            note(talk, f"{error}\n{error.hint}".strip())


async def _say(talk: "Talk", text: str) -> None:
    note(talk, text)


def note(talk: "Talk", text: str) -> None:
    talk.screen().note(text)


async def _change(talk: "Talk", session: str, text: str) -> None:
    talk.session = session
    note(talk, talk.texts(text, session=session))


async def _go_to(talk: "Talk", session: str) -> None:
    known = {info.id for info in await talk.app.sessions.listed()}
    await _change(talk, session, "current" if session in known else "new")


async def _show_model(talk: "Talk") -> None:
    note(talk, f"{await _model(talk)}\n{talk.texts('set_model')}")


async def _change_model(talk: "Talk", name: str) -> None:
    """Another model from the next message on, in this conversation; `default` goes back to the configured one."""
    wanted = "" if name == "default" else name
    services = talk.app.services
    choice = services.chosen(wanted)
    services.provider(choice.service)
    await talk.app.sessions.choose_model(talk.session, services.exactly(choice) if wanted else "")
    talk.model = ""
    note(talk, talk.texts("model_set", model=choice))


async def _attach(talk: "Talk", path: str) -> None:
    if not path:
        note(talk, talk.texts("attach_how"))
        return
    talk.files = (*talk.files, *attached([Path(path)]))
    note(talk, talk.texts("attached", name=talk.files[-1].name, mime=talk.files[-1].mime))


async def _tools(talk: "Talk") -> None:
    for name, module in sorted(talk.app.modules.items()):
        note(talk, f"{name}: {', '.join(module.tools)}")


async def _sessions(talk: "Talk") -> None:
    found = await talk.app.sessions.listed()
    if not found:
        note(talk, talk.texts("no_sessions"))
    for info in found:
        mark = "→ " if info.id == talk.session else "  "
        note(talk, f"{mark}{info.id}  {info.title}  {talk.texts('messages', count=info.messages)}")


async def _model(talk: "Talk") -> str:
    """The model that the next message goes to."""
    return str(talk.app.services.chosen(talk.model or await talk.app.sessions.model(talk.session)))
