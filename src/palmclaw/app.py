"""The composition root: the only module that names concrete classes."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from palmclaw import config, plugins
from palmclaw.agent.context import ModelFacts, SessionContext
from palmclaw.agent.loop import Agent
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.agent.toolbox import Ports, Toolbox
from palmclaw.config import Settings
from palmclaw.core.device import DEVICE
from palmclaw.core.errors import ConfigError, StorageError
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.ports import CLOCK, LIMITS, ROUTES, Approver
from palmclaw.core.tools import Module, Service
from palmclaw.guard.marks import MARKS, Marks
from palmclaw.guard.workspace import TRASH, WORKSPACE, Workspace
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.runtime.budget import Budget
from palmclaw.runtime.models import Models
from palmclaw.runtime.patience import Patience
from palmclaw.runtime.turns import Turns
from palmclaw.services import Services
from palmclaw.storage.database import Database
from palmclaw.storage.findings import FindingsFile
from palmclaw.storage.journal import Approvals, CallJournal
from palmclaw.storage.ledger import RequestLedger
from palmclaw.storage.lock import HomeLock
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import Sessions


class MachineClock:
    """The machine's own time, whatever the phone's clock was set to."""

    def now(self) -> datetime:
        """In the machine's zone."""
        return datetime.now().astimezone()


@dataclass(slots=True)
class App:
    """Everything that is there once the configuration is read; turns need `opened`."""

    home: Home
    settings: Settings
    environ: Mapping[str, str]
    device: Any
    tools: plugins.Tools
    modules: dict[str, Module]
    database: Database
    outside: Mapping[str, Path] = field(default_factory=dict)
    _services: Services | None = field(default=None)
    _models: Models | None = field(default=None)
    _routes: ModuleRoutes | None = field(default=None)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.database)

    @property
    def ledger(self) -> RequestLedger:
        return RequestLedger(self.database, MachineClock())  # money is spent in the machine's own days

    @property
    def services(self) -> Services:
        """The model services that there are."""
        if self._services is None:
            findings = FindingsFile(self.home.findings)
            parts = Parts(self.home.root, self.device, self.settings.limits, self.environ, findings)
            self._services = Services(self.settings, parts)
        return self._services

    def models(self) -> Models:
        """The model services as one; each is connected when it is first asked."""
        if self._models is None:
            limits, ledger = self.settings.limits, self.ledger
            budget = Budget(self.settings.budget, ledger)
            patience = Patience(limits.retries, limits.retry_seconds)
            self._models = Models(self.services, ledger, budget, self.settings.fallbacks, patience)
        return self._models

    def routes(self) -> ModuleRoutes:
        if self._routes is None:
            self._routes = ModuleRoutes(self.modules, self.tools)
        return self._routes

    def context(self, sessions: Sessions, facts: ModelFacts | None = None) -> SessionContext:
        """What a session's requests are built from; `facts` of other models than the ones that will be asked."""
        media = MediaFolder(self.home.media)
        return SessionContext(
            policy(), sessions, sessions, media, facts or self.models(), self.routes(), self.tools, self.modules,
            self.settings.limits,
        )  # fmt: skip

    def workspace(self, session: str) -> Workspace:
        """The folders that a session's file tools may reach, made if they are not there."""
        roots = {"session": self.home.workspace(session), "shared": self.home.shared}
        try:
            for folder in roots.values():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(f"cannot write in {self.home.root}: {error.strerror}", _CHOOSE_HOME) from error
        return Workspace({**roots, **self.outside}, hidden=(self.home.root,))


_CHOOSE_HOME = "Make the folder writable, or choose another with PALMCLAW_HOME."


def assembled(environ: Mapping[str, str], *, device: str = "", readonly: bool = True) -> App:
    """Read the configuration and build what needs no lock. Raises ConfigError."""
    home = home_of(environ)
    settings = config.load(home, environ)
    parts = Parts(home.root, None, settings.limits, environ)
    table = {k: v for k, v in settings.device.items() if k != "name"}
    phone = plugins.build(Kind.DEVICE, device or settings.device_name, table, parts)
    tools, modules = plugins.tools()
    offered = _without_disabled(settings, tools, modules)
    database, outside = Database(home.database, readonly), config.outside(settings.files.outside, home)
    return App(home, settings, environ, phone, _described(tools, offered), offered, database, outside)


@asynccontextmanager
async def opened(app: App, approver: Approver, purpose: str = "chat") -> AsyncIterator[Turns]:
    """Own the home, close what a crash left open, and be ready to run turns.

    Raises ConfigError, HomeBusy, StorageError.
    """
    services = app.services
    services.provider(services.chosen("").service)  # what is wrong with it is said before anything is opened
    async with AsyncExitStack() as stack:
        lock = HomeLock(app.home.lock)
        lock.acquire(purpose)
        stack.callback(lock.release)
        app.database = Database(app.home.database)
        stack.push_async_callback(app.database.close)
        stack.push_async_callback(app.models().close)
        _log_to(app.home)
        turns = _turns(app, approver)
        await turns.recover()
        yield turns


def _turns(app: App, approver: Approver) -> Turns:
    sessions, journal = Sessions(app.database), CallJournal(app.database)
    ports = Ports(approver, Approvals(app.database), app.device, journal)
    limits, disabled, marks = app.settings.limits, app.settings.tools.disabled, Marks(app.home.marks)

    def agent(session: str) -> Agent:
        workspace = app.workspace(session)
        toolbox = Toolbox(app.tools, workspace, ports, limits, _granted(app, workspace, marks), disabled)
        return Agent(app.models(), app.context(sessions), toolbox, limits)

    return Turns(sessions, journal, app.device, agent, str(app.services.chosen("")))


def policy() -> str:
    """The text that every request begins with."""
    return (files("palmclaw") / "prompts" / "AGENT.md").read_text("utf-8").strip()


def _granted(app: App, workspace: Workspace, marks: Marks) -> dict[Service[Any], Any]:
    return {
        DEVICE: app.device,
        CLOCK: app.device,
        ROUTES: app.routes(),
        WORKSPACE: workspace,
        LIMITS: app.settings.limits,
        MARKS: marks,
        TRASH: app.home.trash,
    }


def _described(tools: plugins.Tools, modules: dict[str, Module]) -> plugins.Tools:
    """`find_tools` says which families there are; the list is data, so an installed family appears in it."""
    ordered = sorted((m for m in modules.values() if not m.always), key=lambda m: m.name)
    families = "; ".join(f"{m.name} ({m.about})" if m.about else m.name for m in ordered)
    finder = tools["find_tools"]
    return tools.having(replace(finder, description=f"{finder.description} {families}"))


def _without_disabled(settings: Settings, tools: plugins.Tools, modules: dict[str, Module]) -> dict[str, Module]:
    """The families without what the owner has switched off; a family with nothing left is not there at all."""
    off = set(settings.tools.disabled)
    if unknown := sorted(off - set(tools)):
        raise ConfigError("tools.disabled", f"there is no tool named {', '.join(unknown)}", "palmclaw tools")
    left = {n: replace(m, tools=tuple(t for t in m.tools if t not in off)) for n, m in modules.items()}
    return {name: module for name, module in left.items() if module.tools}


def _log_to(home: Home) -> None:
    """Bugs are written to a file of the home; the level can be raised by nobody but the owner of the code."""
    root = logging.getLogger("palmclaw")
    if not root.handlers:
        handler = logging.FileHandler(home.log, encoding="utf-8", delay=True)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
        root.addHandler(handler)
        root.propagate = False
