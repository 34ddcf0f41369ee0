"""The composition root: the only module that names concrete classes."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from palmclaw import config, plugins
from palmclaw.agent.context import ModelFacts, SessionContext
from palmclaw.config import Settings
from palmclaw.core.channels import Channel
from palmclaw.core.errors import ConfigError, StorageError
from palmclaw.core.families import configured, gone, unbarred, without
from palmclaw.core.plugin import Kind, Parts
from palmclaw.core.tools import Module
from palmclaw.core.values import dataclass
from palmclaw.guard.workspace import Workspace
from palmclaw.kits import Kit, Kits
from palmclaw.paths import Home
from palmclaw.paths import home as home_of
from palmclaw.runtime.budget import Budget
from palmclaw.runtime.models import Models
from palmclaw.runtime.patience import Patience
from palmclaw.services import Services
from palmclaw.storage.database import Database
from palmclaw.storage.findings import FindingsFile
from palmclaw.storage.ledger import RequestLedger
from palmclaw.storage.machine import ThisMachine
from palmclaw.storage.media import MediaFolder
from palmclaw.storage.sessions import Sessions
from palmclaw.storage.skills import SkillFolders
from palmclaw.storage.templates import Templates

PROMPTS = Path(__file__).parent / "prompts"


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
    own: Mapping[str, Path] = field(default_factory=dict)
    opening: Callable[[Path], Database] = Database
    barred: frozenset[str] = frozenset()
    kits: Kits = field(init=False)
    templates: Templates = field(init=False)
    _services: Services | None = field(default=None)
    _models: Models | None = field(default=None)
    _skills: SkillFolders | None = field(default=None)

    def __post_init__(self) -> None:
        self.templates = Templates(PROMPTS, self.home.root)
        policies = config.policies(self.settings.agents, self.home)
        disabled = (*self.settings.tools.disabled, *sorted(self.barred))
        self.kits = Kits(self.tools, self.modules, self.settings.agents, policies, disabled, self.settings.subagents)

    @property
    def sessions(self) -> Sessions:
        return Sessions(self.database)

    @property
    def ledger(self) -> RequestLedger:
        return RequestLedger(self.database, MachineClock())  # money is spent in the machine's own days

    @property
    def skills(self) -> SkillFolders:
        """The skills that there are; a look costs little while nothing changes."""
        if self._skills is None:
            self._skills = SkillFolders(self.home, ThisMachine(self.environ, self.device), self._place)
            self._skills.extensions = plugins.skill_folders
        return self._skills

    def _place(self, session: str) -> Path | None:
        """The folder of a session's files, if it is there."""
        place = self.own.get(self.kits.agent_of(session)) or self.home.workspace(session)
        return place if place.is_dir() else None

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

    def context(self, sessions: Sessions, facts: ModelFacts | None = None, kit: Kit | None = None) -> SessionContext:
        """What a session's requests are built from; `facts` of other models than the ones that will be asked."""
        media, kit = MediaFolder(self.home.media), kit or self.kits.of("")
        policy, own = kit.policy or self.templates.policy(kit.name), facts or self.models()
        return SessionContext(
            policy, sessions, sessions, media, own, kit.routes, kit.tools, kit.modules, self.settings.limits
        )

    def workspace(self, session: str) -> Workspace:
        """The folders that a session's file tools may reach, made if they are not there."""
        own = self.own.get(self.kits.agent_of(session))
        roots = {"session": own or self.home.workspace(session), "shared": self.home.shared}
        try:
            for folder in roots.values():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(f"cannot write in {self.home.root}: {error.strerror}", _CHOOSE_HOME) from error
        return Workspace({**roots, **self.outside}, hidden=(self.home.root,))

    def exactly(self, name: str) -> str:
        """What a person means by a model's name. Raises ConfigError."""
        choice = self.services.chosen(name)
        self.services.provider(choice.service)
        return self.services.exactly(choice)

    def channels(self) -> dict[str, Channel]:
        """Every channel that is configured. Raises ConfigError."""
        made: dict[str, Channel] = {}
        known = plugins.names(Kind.CHANNEL.value)
        for name, settings in self.settings.channels.items():
            if settings.kind not in known:
                there = ", ".join(known) or "none yet"
                problem = f"this version has no channel {settings.kind!r}; there are: {there}"
                raise ConfigError(f"channels.{name}", problem, f"palmclaw config unset channels.{name}")
            limits = self.settings.limits
            parts = Parts(self.home.root, self.device, limits, self.environ, table=f"channels.{name}")
            made[name] = plugins.build(Kind.CHANNEL, settings.kind, settings.options, parts)
        return made


_CHOOSE_HOME = "Make the folder writable, or choose another with PALMCLAW_HOME."


def assembled(environ: Mapping[str, str], *, device: str = "", readonly: bool = True) -> App:
    """Read the configuration and build what needs no lock. Raises ConfigError."""
    home = home_of(environ)
    settings = config.load(home, environ)
    parts = Parts(home.root, None, settings.limits, environ)
    table = {k: v for k, v in settings.device.items() if k != "name"}
    phone = plugins.build(Kind.DEVICE, device or settings.device_name, table, parts)
    tools, modules = plugins.tools()
    families = configured(modules, settings.modules, tools)
    barred = gone(families, settings.modules)
    offered = _without_disabled(settings, tools, families)
    database, outside = Database(home.database, readonly), config.outside(settings.files.outside, home)
    own = config.workspaces(settings.agents, home)
    described = _described(tools, offered)
    app = App(home, settings, environ, phone, described, offered, database, outside, own, barred=barred)
    app.kits.check()
    return app


def prompt(name: str) -> str:
    """A text for the model that is nobody's to change."""
    return (PROMPTS / f"{name}.md").read_text("utf-8").strip()


def _described(tools: plugins.Tools, modules: dict[str, Module]) -> plugins.Tools:
    """`find_tools` says which families there are; the list is data, so an installed family appears in it."""
    ordered = sorted((m for m in modules.values() if not m.always), key=lambda m: m.name)
    families = "; ".join(f"{m.name} ({m.about})" if m.about else m.name for m in ordered)
    finder = tools["find_tools"]
    return tools.having(replace(finder, description=f"{finder.description} {families}"))


def _without_disabled(settings: Settings, tools: plugins.Tools, modules: dict[str, Module]) -> dict[str, Module]:
    """The families without what the owner has switched off."""
    off = set(settings.tools.disabled)
    if unknown := sorted(off - set(tools)):
        raise ConfigError("tools.disabled", f"there is no tool named {', '.join(unknown)}", "palmclaw tools")
    return without(unbarred(modules, settings.modules), off)
