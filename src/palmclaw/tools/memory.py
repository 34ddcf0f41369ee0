"""What is remembered across conversations, and what was said in them."""

from typing import Annotated, Any

from palmclaw.core.errors import ToolError
from palmclaw.core.memory import MEMORY, RECALL, Add, By, Done, Drop, Entry, How, MemoryBroken, Source
from palmclaw.core.notes import meant, numbered, page, recalled
from palmclaw.core.remembering import ENTRY, SECTION, worded
from palmclaw.core.schema import Length
from palmclaw.core.tools import Effect, Module, Outcome, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module(
    "memory",
    "long-term memory, past conversations",
    keywords=(
        *("remember", "memory", "memorise", "memorize", "forget", "forgot", "recall", "remind me what"),
        *("from now on", "keep in mind", "i told you", "i said", "you know about me", "my name is", "call me"),
        *("记住", "记得", "记忆", "忘掉", "忘记", "忘了", "别忘", "回忆", "以后都", "我叫", "跟你说过", "告诉过你"),
    ),
)
SHOWN = 8
"""Entries that are named where several fit."""


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """Of memory_read."""

    section: str = ""


@tool(module="memory", effect=Effect.READ, private=True)
async def memory_read(args: ReadArgs, ctx: ToolContext) -> str:
    """All, numbered"""
    text = await _text(ctx)
    shown = numbered(text, args.section.strip())
    if shown is None:
        names = ", ".join(dict.fromkeys(e.section for e in page(text).entries if e.section)) or "none"
        raise ToolError("not_found", f"there is no section {args.section[:60]!r}; there are: {names}")
    return shown or "(nothing is remembered yet)"


@dataclass(frozen=True, slots=True)
class WriteArgs:
    """Of memory_write."""

    text: Annotated[str, Length(1, ENTRY)]
    section: Annotated[str, Length(0, SECTION)] = ""


async def _write_preview(args: WriteArgs, ctx: ToolContext) -> Preview:
    text = worded(args.text)
    lines = (("Text", text), ("Section", args.section.strip()))
    return Preview("Remember in every conversation", "", tuple(line for line in lines if line[1]))


@tool(module="memory", effect=Effect.PERSIST, preview=_write_preview)
async def memory_write(args: WriteArgs, ctx: ToolContext) -> dict[str, Any]:
    """Remember a lasting fact"""
    (done,) = await ctx.need(MEMORY).change([Add(args.text, args.section)], _told(ctx))
    return _shown(done)


@dataclass(frozen=True, slots=True)
class ForgetArgs:
    """Of memory_forget."""

    entry: Annotated[str, Length(1, ENTRY)]


async def _forget_preview(args: ForgetArgs, ctx: ToolContext) -> Preview:
    entry = await _meant(args.entry, ctx)
    lines = (("Text", entry.text), ("Section", entry.section))
    return Preview("Forget", "", tuple(line for line in lines if line[1]), entry.text)


@tool(module="memory", effect=Effect.PERSIST, preview=_forget_preview)
async def memory_forget(args: ForgetArgs, ctx: ToolContext) -> dict[str, Any]:
    """By number or words"""
    entry = await _meant(args.entry, ctx)
    (done,) = await ctx.need(MEMORY).change([Drop(entry.text)], _told(ctx))
    return _shown(done)


@dataclass(frozen=True, slots=True)
class SearchArgs:
    """Of memory_search."""

    words: Annotated[str, Length(1, 300)]


# `here`: whoever is not the owner sees their own conversation and nothing else (`Recall.sight`).
@tool(module="memory", effect=Effect.READ, fenced=True, here=True)
async def memory_search(args: SearchArgs, ctx: ToolContext) -> Outcome:
    """Memory and past chats"""
    recall = ctx.need(RECALL)
    sight = await recall.sight(ctx.session, ctx.turn)
    found = await recall.recall(args.words, sight.sessions)
    entries = recalled(await _text(ctx), args.words) if sight.memory else ()
    value: dict[str, Any] = {"memory": [f"{e.number}. {e.text}" for e in entries]} if entries else {}
    value["found"] = [{"session": f.session, "who": f.role, "at": f.at, "text": f.text} for f in found]
    if any(f.near for f in found):
        value["note"] = "No message holds all the words; these hold some."
    is_private = bool(entries) or any(f.session != ctx.session for f in found)
    return Outcome(value, tainted=any(f.tainted for f in found), private=is_private)


async def _text(ctx: ToolContext) -> str:
    """The memory. Raises ToolError where others would read along."""
    if not (await ctx.need(RECALL).sight(ctx.session, ctx.turn)).memory:
        raise ToolError("not_here", "the memory is the owner's; it is not shown where others read along")
    kept = await ctx.need(MEMORY).read()
    if kept.warning and not kept.text:
        raise MemoryBroken(kept.warning, "Tell the user.")
    return kept.text


async def _meant(asked: str, ctx: ToolContext) -> Entry:
    """The one entry that is meant. Raises ToolError."""
    found = meant(await _text(ctx), asked)
    if len(found) == 1:
        return found[0]
    if not found:
        raise ToolError("not_found", f"nothing like {asked[:60]!r} is remembered", hint="See memory_read.")
    which = "; ".join(f"{e.number}. {e.text[:60]}" for e in found[:SHOWN])
    raise ToolError("ambiguous", f"{len(found)} entries fit: {which}", retryable=True, hint="Use the number.")


def _told(ctx: ToolContext) -> Source:
    return Source(By.AGENT, ctx.session)


def _shown(done: Done) -> dict[str, Any]:
    how = "already there" if done.how is How.KEPT else done.how.value
    shown = {"how": how, "text": done.text, "before": done.before}
    return {key: value for key, value in shown.items() if value}
