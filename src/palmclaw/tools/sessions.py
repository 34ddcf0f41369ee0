"""Other conversations: looking at them, speaking in them, and giving work to sub-agents."""

from typing import Annotated, Any, Literal

from palmclaw.core.desks import CONVERSATIONS, CREW, Charge, SessionLine
from palmclaw.core.errors import BadArguments
from palmclaw.core.schema import Between, Length
from palmclaw.core.tools import Effect, Module, Outcome, Place, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("sessions", "other conversations, sub-agents", requires=("memory",))
HERE = "here"


@dataclass(frozen=True, slots=True)
class SessionsArgs:
    """Of sessions."""

    action: Literal["list", "status", "search", "send"]
    session: Place = ""
    text: Annotated[str, Length(0, 20_000)] = ""


def _effect(args: SessionsArgs) -> Effect:
    return Effect.SEND if args.action == "send" else Effect.READ


async def _preview(args: SessionsArgs, ctx: ToolContext) -> Preview:
    if args.action != "send":
        return Preview(f"Look at conversations: {args.action}")
    return await _letter(args.session, args.text, ctx)


@tool(module="sessions", effect=_effect, preview=_preview, private=True, fenced=True)
async def sessions(args: SessionsArgs, ctx: ToolContext) -> Outcome:
    """Conversations. status, send: of one session; search: text, in one or all"""
    desk = ctx.need(CONVERSATIONS)
    if args.action == "send":
        return await _sent(args.session, args.text, ctx)
    if args.action == "search":
        found = await desk.search(args.text, args.session)
        rows = [{"session": f.session, "who": f.role, "at": f.at, "text": f.text} for f in found]
        return Outcome({"found": rows}, tainted=any(f.tainted for f in found))
    if args.action == "status":
        return Outcome(_shown(await desk.found(args.session or ctx.session)))
    lines = await desk.listed()
    return Outcome({"sessions": [_shown(line) for line in lines[:30]], "more": max(0, len(lines) - 30)})


@dataclass(frozen=True, slots=True)
class MessageArgs:
    """Of message."""

    text: Annotated[str, Length(1, 20_000)]
    to: Place = HERE


def _message_effect(args: MessageArgs) -> Effect:
    return Effect.READ if args.to == HERE else Effect.SEND


async def _message_preview(args: MessageArgs, ctx: ToolContext) -> Preview:
    return Preview("Answer") if args.to == HERE else await _letter(args.to, args.text, ctx)


@tool(module="sessions", effect=_message_effect, preview=_message_preview, here=True)
async def message(args: MessageArgs, ctx: ToolContext) -> Outcome:
    """Send to a chat (channel:chat) and end"""
    if args.to == HERE:
        return Outcome({"sent": True}, said=args.text, terminal=True)
    return await _sent(args.to, args.text, ctx)


@dataclass(frozen=True, slots=True)
class SpawnArgs:
    """Of spawn."""

    task: Annotated[str, Length(1, 8_000)]
    label: Annotated[str, Length(0, 60)] = ""
    tools: list[str] | None = None
    rounds: Annotated[int, Between(1, 100)] = 10


async def _spawn_preview(args: SpawnArgs, ctx: ToolContext) -> Preview:
    lines = (("Task", args.task), ("Tools", ", ".join(args.tools or ["all"])), ("Rounds", str(args.rounds)))
    return Preview("Start a sub-agent", "", lines)


@tool(module="sessions", effect=Effect.DELEGATE, preview=_spawn_preview)
async def spawn(args: SpawnArgs, ctx: ToolContext) -> dict[str, Any]:
    """Start sub-agent; its result comes as a message"""
    label = args.label.strip() or " ".join(args.task.split())[:40]
    charge = Charge(args.task, label, ctx.session, tuple(args.tools or ()), args.rounds)
    session = await ctx.need(CREW).spawn(ctx.session, ctx.turn, charge, tainted=ctx.tainted, private=ctx.private)
    return {"started": session, "label": label}


async def _letter(to: str, text: str, ctx: ToolContext) -> Preview:
    """Who will read it, in their own words, and the whole text."""
    _whole(to, text)
    session, address = await ctx.need(CONVERSATIONS).target(to)
    where = address.session if address else f"the conversation {session}"
    return Preview("Send a message", where, (("To", where), ("Text", text)))


async def _sent(to: str, text: str, ctx: ToolContext) -> Outcome:
    _whole(to, text)
    key = f"tool:{ctx.turn}:{ctx.call_id}"
    how = await ctx.need(CONVERSATIONS).deliver(to, text, key, tainted=ctx.tainted)
    return Outcome({"stored": True, "delivery": how}, terminal=True)


def _whole(to: str, text: str) -> None:
    missing = [f"{name}: must not be empty" for name, value in (("session", to), ("text", text)) if not value.strip()]
    if missing:
        raise BadArguments(tuple(missing))


def _shown(line: SessionLine) -> dict[str, Any]:
    shown = {"id": line.id, "title": line.title[:60], "state": line.state, "used": line.updated[:16]}
    return shown | ({"sub_agent_of": line.parent, "label": line.label} if line.parent else {})
