"""Talking to the person, and finding tools that are not offered yet."""

from typing import Annotated, Any

from palmclaw.core.ports import ROUTES
from palmclaw.core.schema import Length
from palmclaw.core.tools import Effect, Module, Outcome, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("base", "asking the user, finding tools", always=True)


@dataclass(frozen=True, slots=True)
class Ask:
    question: Annotated[str, Length(1, 2_000)]
    choices: list[str] | None = None


@tool(module="base", effect=Effect.READ, here=True)
async def ask(args: Ask, ctx: ToolContext) -> Outcome:
    """Ask user and wait"""
    choices = [f"{number}. {choice}" for number, choice in enumerate(args.choices or [], 1)]
    return Outcome({"asked": True}, said="\n".join([args.question, *choices]), terminal=True)


@dataclass(frozen=True, slots=True)
class FindTools:
    need: Annotated[str, Length(1, 200)]


@tool(module="base", effect=Effect.READ, here=True)
async def find_tools(args: FindTools, ctx: ToolContext) -> dict[str, Any]:
    """Load more tools:"""
    found = ctx.need(ROUTES).find(ctx.session, args.need)
    if not found:
        return {"tools": [], "hint": "Nothing fits; name one of the families in this tool's description."}
    return {"tools": [t.name for t in found]}
