"""What the tests of every protocol begin with: two tools, a greeting, and providers that are closed in the end."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, Role, Text
from palmclaw.core.plugin import Parts, Plugin
from palmclaw.core.ports import Delta, Findings, Forgetful, Provider, Request
from palmclaw.core.schema import Doc
from palmclaw.core.tools import ToolContext, tool

HI = Request("m", "Be brief.", (Message(Role.USER, (Text("hi"),)),))
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "its name"}},
    "required": ["city"],
}


@dataclass(frozen=True, slots=True)
class Where:
    city: Annotated[str, Doc("its name")]


@tool(module="test")
async def tide(args: Where, ctx: ToolContext) -> str:
    """How high the water stands."""
    return "2 m"


@tool(module="test")
async def again(args: Where, ctx: ToolContext) -> str:
    """The same once more."""
    return "2 m"


async def told(provider: Provider, request: Request = HI) -> list[Delta]:
    return [delta async for delta in provider.stream(request)]


@asynccontextmanager
async def making(plugin: Plugin, home: Path) -> AsyncIterator[Callable[..., Any]]:
    """Gives a maker of providers; they are closed at the end."""
    made: list[Provider] = []

    def build(
        limits: Limits = Limits(),
        findings: Findings | None = None,
        environ: Mapping[str, str] | None = None,
        table: str = "provider",
        **settings: Any,
    ) -> Provider:
        parts = Parts(home, None, limits, environ or {}, findings or Forgetful(), table)
        made.append(plugin.create(plugin.config(**settings), parts))
        return made[-1]

    yield build
    for one in made:
        await one.close()
