"""What an agent works with: its tools and their families, its policy, its model, and the folders of its session."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from secrets import token_hex
from typing import Any, Protocol

from palmclaw.agent.briefing import Briefing
from palmclaw.agent.compaction import Compaction
from palmclaw.agent.context import Contents, ModelFacts, SessionContext
from palmclaw.agent.interrupt import Interrupt
from palmclaw.agent.loop import Agent
from palmclaw.agent.routing import ModuleRoutes
from palmclaw.agent.toolbox import Ports, Toolbox
from palmclaw.agent.turn import Turn
from palmclaw.core.desks import Charge, CrewLimits
from palmclaw.core.errors import ConfigError
from palmclaw.core.events import Compacted
from palmclaw.core.families import without
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message
from palmclaw.core.ports import Provider
from palmclaw.core.tools import Module, Service, Tool
from palmclaw.core.values import dataclass
from palmclaw.guard.workspace import Workspace
from palmclaw.runtime.bindings import AgentSettings
from palmclaw.runtime.turns import Work

CHARGED = "charge"
"""The family of the tools that a sub-agent was given by name."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The tools that an agent may be offered, by family; without a `policy` of its own it has the templates'."""

    tools: Mapping[str, Tool]
    modules: Mapping[str, Module]
    routes: ModuleRoutes
    disabled: tuple[str, ...] = ()
    model: str = ""
    name: str = ""
    policy: str = ""


@dataclass(slots=True)
class Kits:
    """Kits by the agent's name; the unnamed agent has everything that is not disabled."""

    tools: Mapping[str, Tool]
    modules: Mapping[str, Module]
    agents: Mapping[str, AgentSettings] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    disabled: tuple[str, ...] = ()
    limits: CrewLimits = CrewLimits()
    _made: dict[str, Kit] = field(default_factory=dict)

    def agent_of(self, session: str) -> str:
        """The agent whose session this is, by its name; empty: the unnamed one, or none of several."""
        name = session.partition(":")[0]
        only = next(iter(self.agents), "") if len(self.agents) == 1 else ""
        return name if name in self.agents else only

    def chosen(self, session: str) -> str:
        """As `agent_of`. Raises ConfigError where there are several and the session is none of theirs."""
        found = self.agent_of(session)
        if not found and self.agents:
            names = ", ".join(self.agents)
            raise ConfigError("agents", f"which agent has the session {session!r}?", f"Name one of {names} before it.")
        return found

    def of(self, name: str) -> Kit:
        """The kit of an agent."""
        if name not in self._made:
            settings = self.agents.get(name, AgentSettings())
            off = {*self.disabled, *settings.disabled}
            if settings.tools:
                off |= self.tools.keys() - set(settings.tools)
            policy = self.policies.get(name, "")
            kit = Kit(self.tools, {}, ModuleRoutes({}, self.tools), (), settings.model, name, policy)
            self._made[name] = self._with(kit, without(self.modules, off), tuple(sorted(off)))
        return self._made[name]

    def charged(self, charge: Charge, name: str) -> Kit:
        """The kit of a sub-agent: its parent's without what no sub-agent has, or of that only what it was given."""
        whole = self.of(name)
        never = {*whole.disabled, *self.limits.never}
        if charge.depth < self.limits.depth:
            never -= {"spawn"} - set(whole.disabled)
        if not charge.tools:
            return self._with(whole, without(self.modules, never), tuple(sorted(never)))
        given = tuple(sorted(t for t in charge.tools if t in self.tools and t not in never))
        off = tuple(sorted(self.tools.keys() - set(given)))
        family = {CHARGED: Module(CHARGED, "", always=True, tools=given)}
        return self._with(whole, family, off)

    def check(self) -> None:
        """Whether every tool that an agent names is there. Raises ConfigError."""
        for name, settings in self.agents.items():
            for key, named in (("tools", settings.tools), ("disabled", settings.disabled)):
                if unknown := sorted(set(named) - self.tools.keys()):
                    raise ConfigError(
                        f"agents.{name}.{key}", f"there is no tool named {', '.join(unknown)}", "palmclaw tools"
                    )

    def _with(self, kit: Kit, modules: Mapping[str, Module], disabled: tuple[str, ...]) -> Kit:
        return replace(kit, modules=modules, routes=ModuleRoutes(modules, self.tools), disabled=disabled)


class Places(Protocol):
    """Where a session's files lie, and what its requests are built from."""

    def workspace(self, session: str) -> Workspace: ...

    def context(self, sessions: Any, facts: ModelFacts | None = None, kit: Kit | None = None) -> SessionContext: ...


async def _nobodys(session: str) -> Charge | None:
    return None


@dataclass(slots=True)
class Bench:
    """Makes the agent for each turn. `charge` tells what a sub-agent was told; `granted` what its tools may use."""

    kits: Kits
    limits: Limits
    ports: Ports
    provider: Provider
    log: Any
    places: Places
    granted: Callable[[Kit, Workspace], Mapping[Service[Any], Any]]
    charge: Callable[[str], Awaitable[Charge | None]] = _nobodys
    compaction: Compaction | None = None
    briefing: Briefing | None = None

    async def agent(self, work: Work) -> Agent:
        """The agent that does this work; a sub-agent has the folders of the session that began it."""
        charge, root = await self.charge(work.session), work.session
        above = charge
        while above is not None:
            root = above.parent
            above = await self.charge(root)
        name = self.kits.chosen(root)
        kit = self.kits.charged(charge, name) if charge else self.kits.of(name)
        limits = replace(self.limits, rounds=min(charge.rounds, self.limits.rounds)) if charge else self.limits
        workspace = self.places.workspace(root)
        toolbox = Toolbox(kit.tools, workspace, self.ports, limits, self.granted(kit, workspace), kit.disabled)
        return Agent(self.provider, self._context(kit), toolbox, limits, self.compaction)

    async def compact(self, session: str, focus: str, interrupt: Interrupt) -> Compacted | None:
        """Sum up all but the newest turn of a session that is at rest; None: there is nothing else.

        Raises Refused, ProviderError, Interrupted.
        """
        turn, context = await self._looking(session)
        turn.interrupt = interrupt
        crowd = await context.crowd(turn, all_of_it=True)
        return await self.compaction.sum_up(turn, crowd, focus) if crowd and self.compaction else None

    async def kept(self, session: str) -> Sequence[Message]:
        """What the next request of a session will still show of its log."""
        turn, context = await self._looking(session)
        return await context.kept(turn)

    async def contents(self, session: str) -> Contents:
        """What the next request of a session would hold."""
        turn, context = await self._looking(session)
        return await context.contents(turn)

    async def _looking(self, session: str) -> tuple[Turn, SessionContext]:
        before = await self.log.before(session)
        model = before.model or await self.default(session)
        kit = self.kits.of(self.kits.agent_of(session))
        return Turn(session, f"look-{token_hex(4)}", model=model, alone=not before.shared), self._context(kit)

    def _context(self, kit: Kit) -> SessionContext:
        return replace(self.places.context(self.log, kit=kit), briefing=self.briefing)

    async def default(self, session: str) -> str:
        """The model of the agent whose session this is, or whose sub-agent's; empty: the configured one."""
        while (charge := await self.charge(session)) is not None:
            session = charge.parent
        return self.kits.of(self.kits.agent_of(session)).model
