"""Which of several agents a conversation belongs to, and what its session is called."""

import re
from collections.abc import Mapping
from typing import Annotated

from palmclaw.core.errors import ConfigError
from palmclaw.core.schema import Doc
from palmclaw.core.traffic import SUBAGENT, Address
from palmclaw.core.values import dataclass

TERMINAL = "terminal"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """[agents.NAME]. Without `tools` it has all of them but the disabled ones."""

    model: Annotated[str, Doc("the model it asks, as service/model")] = ""
    tools: Annotated[tuple[str, ...], Doc("the only tools it has")] = ()
    disabled: Annotated[tuple[str, ...], Doc("tools it does not have")] = ()
    workspace: Annotated[str, Doc("a folder of its own for its files")] = ""
    policy: Annotated[str, Doc("a text file in place of the one every request begins with")] = ""
    bindings: Annotated[tuple[str, ...], Doc("channel, channel:chat, channel:chat:thread or terminal")] = ()


def agent_for(address: Address | None, agents: Mapping[str, AgentSettings]) -> str:
    """The name of the agent that talks there; None is the terminal. Raises ConfigError: it is never guessed."""
    if len(agents) <= 1:
        return next(iter(agents), "")
    for place in _places(address):
        for name, settings in agents.items():
            if place in settings.bindings:
                return name
    there = "; ".join(f"{name} is bound to {', '.join(a.bindings) or 'nothing'}" for name, a in agents.items())
    where = _places(address)[0]
    raise ConfigError("agents", f"which agent talks in {where}? {there}", f"Add {where!r} to the bindings of one.")


def session_for(agent: str, address: Address) -> str:
    """The session of a conversation; that of the unnamed agent has no prefix."""
    return f"{agent}:{address.session}" if agent else address.session


def check(agents: Mapping[str, AgentSettings]) -> None:
    """Names that can stand in a session's name, bindings that lead to one agent only. Raises ConfigError."""
    bound: dict[str, str] = {}
    for name, settings in agents.items():
        if name == SUBAGENT.rstrip(":"):
            raise ConfigError(f"agents.{name}", "that is what sub-agents are called", "Give it another name.")
        if not _NAME.fullmatch(name):
            raise ConfigError(f"agents.{name}", "a name has letters, digits, _ and - only, at most 32")
        for binding in settings.bindings:
            key = f"agents.{name}.bindings"
            if not all(part.strip() == part != "" for part in binding.split(":")):
                raise ConfigError(
                    key, f"{binding!r} is no place", "Write channel, channel:chat or channel:chat:thread."
                )
            if bound.setdefault(binding, name) != name:
                raise ConfigError(key, f"{binding} is bound to {bound[binding]} already", "Take it out of one of them.")


def _places(address: Address | None) -> tuple[str, ...]:
    """What a binding may say of a place, the most exact first."""
    if address is None:
        return (TERMINAL,)
    chat = f"{address.channel}:{address.chat}"
    return (f"{chat}:{address.thread}", chat, address.channel) if address.thread else (chat, address.channel)
