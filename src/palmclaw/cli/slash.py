"""What begins with a slash in the open conversation: done here, or passed on to the runtime."""

import secrets
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from palmclaw.cli.attachments import attached
from palmclaw.cli.waiting import InLine, in_line, short
from palmclaw.core.errors import PalmclawError
from palmclaw.core.runtime import NotOpen, Runtime
from palmclaw.core.traffic import SUBAGENT, Drop, Mode
from palmclaw.core.values import dataclass
from palmclaw.runtime.commands import NAMES

if TYPE_CHECKING:
    from palmclaw.cli.chat import Talk
    from palmclaw.cli.listening import Listening

LOCAL = ("/help", "/new", "/tools", "/model", "/attach", "/sessions", "/withdraw", "/exit")
REMOTE = tuple(f"/{name}" for name in NAMES if f"/{name}" not in LOCAL)
FAREWELLS = ("/exit", "/quit")


def completions(services: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Every command, with its arguments where they are known."""
    queue = [f"/queue {mode}" for mode in Mode] + [f"/queue drop:{drop}" for drop in Drop]
    models = [f"/model {name}" for name in (*services, "default")]
    return (*sorted((*LOCAL, *REMOTE)), *queue, "/queue debounce:", "/queue cap:", "/queue reset", *models)


Change = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Slash:
    """Runs commands. `change` goes to another conversation."""

    talk: "Talk"
    runtime: Runtime
    listening: "Listening"
    change: Change

    async def run(self, text: str) -> bool:
        """Do what the command says; False for one that is the runtime's."""
        name, _, rest = text.partition(" ")
        actions: dict[str, Callable[[str], Awaitable[None]]] = {
            "/help": self._help,
            "/new": self._new,
            "/tools": self._tools,
            "/model": self._model,
            "/attach": self._attach,
            "/sessions": self._sessions,
            "/withdraw": self._withdraw,
        }
        if name not in actions and name in REMOTE:
            return False
        try:
            await actions.get(name, self._unknown)(rest.strip() if name in actions else name)
        except PalmclawError as error:
            self.talk.complain(error)
        return True

    async def _help(self, rest: str) -> None:
        self._say("help")

    async def _unknown(self, name: str) -> None:
        self._say("unknown_command", name=name)

    async def _new(self, rest: str) -> None:
        await self.change(f"chat-{secrets.token_hex(3)}")
        self._say("new", session=self.talk.session)

    async def _sessions(self, session: str) -> None:
        found = await self.talk.app.sessions.listed()
        if session:
            await self.change(session)
            self._say("current" if session in {info.id for info in found} else "new", session=session)
            return
        shown = [info for info in found if not info.id.startswith(SUBAGENT)]
        for info in shown:
            mark = "→ " if info.id == self.talk.session else "  "
            self.talk.note(f"{mark}{info.id}  {info.title}  {self.talk.texts.count(info.messages, 'message')}")
        if not shown:
            self._say("no_sessions")

    async def _tools(self, rest: str) -> None:
        for name, module in sorted(self.talk.app.modules.items()):
            self.talk.note(f"{name}: {', '.join(module.tools)}")

    async def _model(self, name: str) -> None:
        """Another model from the next message on, in this conversation; `default` goes back to the configured one."""
        if not name:
            self.talk.note(f"{await self.talk.chosen()}\n{self.talk.texts('set_model')}")
            return
        wanted = "" if name == "default" else name
        services = self.talk.app.services
        choice = services.chosen(wanted)
        services.provider(choice.service)
        await self.runtime.choose_model(self.talk.session, services.exactly(choice) if wanted else "")
        self.talk.model = ""
        self._say("model_set", model=choice)

    async def _attach(self, path: str) -> None:
        if not path:
            self._say("attach_how")
            return
        self.talk.files = (*self.talk.files, *attached([Path(path)]))
        self._say("attached", name=self.talk.files[-1].name, mime=self.talk.files[-1].mime)

    async def _withdraw(self, number: str) -> None:
        """Take back a message that waits: by its number in line, else the newest one of the person's own."""
        line = await in_line(self.listening, self.talk.app.database)
        if not line:
            self._say("nothing_waits")
            return
        if not number:
            own = [each for each in line if each.is_mine] or [each for each in line if each.is_typed]
            await self._take_back(own[-1]) if own else self._show_line(line)
            return
        at = int(number) if number.isdecimal() and len(number) < 9 else 0
        if not 0 < at <= len(line):
            raise NotOpen(self.talk.texts("withdraw_how", count=len(line)))
        await self._take_back(line[at - 1])

    async def _take_back(self, each: InLine) -> None:
        """Its words are quoted, and whose they are where they are not the person's own."""
        async with self.listening.order:
            await self.runtime.withdraw(each.row)
            self.listening.took_back(each.row)
        if each.is_mine:
            self._say("taken_back", text=short(each.text))
        else:
            self._say("taken_back_of", who=each.who(self.talk.texts), text=short(each.text))

    def _show_line(self, line: Sequence[InLine]) -> None:
        self._say("none_of_yours")
        for number, each in enumerate(line, 1):
            self._say("in_line", number=number, who=each.who(self.talk.texts), text=short(each.text))
        self._say("withdraw_how", count=len(line))

    def _say(self, key: str, **values: object) -> None:
        self.talk.note(self.talk.texts(key, **values))
