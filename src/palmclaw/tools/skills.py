"""Reading skills: instructions for a matter that the owner, or we, have written down."""

from typing import Annotated, Any

from palmclaw.core.lines import part
from palmclaw.core.ports import LIMITS
from palmclaw.core.schema import Between, Length
from palmclaw.core.skill import SKILLS
from palmclaw.core.tools import Effect, Module, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("skills", "instructions for a matter", always=True)
OVERHEAD = 90
"""Characters that say where to read on."""


@dataclass(frozen=True, slots=True)
class ReadSkill:
    """Of skill."""

    name: Annotated[str, Length(1, 200)]
    path: Annotated[str, Length(0, 1_000)] = ""
    line: Annotated[int, Between(1, 1_000_000)] = 1


@tool(module="skills", effect=Effect.READ)
async def skill(args: ReadSkill, ctx: ToolContext) -> dict[str, Any]:
    """Read a skill, or a file it names"""
    text = await ctx.need(SKILLS).read(ctx.session, args.name, args.path)
    lines = text.splitlines(keepends=True)
    found = part(lines, args.line, 0, len(lines), ctx.need(LIMITS).result_chars - OVERHEAD)
    if not found.line:
        return {"text": found.text}
    rest: dict[str, Any] = {"next_line": found.line + bool(found.char), "lines": len(lines)}
    return rest | ({"cut": "the last line shown"} if found.char else {}) | {"text": found.text}
