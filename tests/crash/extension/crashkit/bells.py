"""Tools of which every effect is a line in a file, so that it can be counted afterwards."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from random import random
from typing import Any

from tests.crash.windows import FOLDER, Windows

from palmclaw.core.desks import CREW, Charge
from palmclaw.core.tools import Effect, Module, ToolContext, tool

MODULE = Module("crashkit", "ringing bells", always=True)


@dataclass(frozen=True, slots=True)
class Ring:
    key: str


@tool(module="crashkit", effect=Effect.DEVICE)
async def ring(args: Ring, ctx: ToolContext) -> Any:
    """Ring a bell that everybody hears, once."""
    return await _rung(args.key)


@tool(module="crashkit", effect=Effect.SEND)
async def shout(args: Ring, ctx: ToolContext) -> Any:
    """As ring, but the owner is asked."""
    return await _rung(args.key)


@tool(module="crashkit", effect=Effect.READ)
async def look(args: Ring, ctx: ToolContext) -> Any:
    """Look at the bell for a while."""
    await asyncio.sleep(0.05 * random())
    return {"seen": args.key}


@dataclass(frozen=True, slots=True)
class Delegate:
    task: str


@tool(module="crashkit", effect=Effect.WRITE_WORKSPACE)
async def delegate(args: Delegate, ctx: ToolContext) -> Any:
    """Give a task to a sub-agent."""
    return await ctx.need(CREW).spawn(ctx.session, ctx.turn, Charge(args.task, "bell", ""), tainted=ctx.tainted)


async def _rung(key: str) -> Any:
    windows = Windows.of(os.environ)
    try:
        await asyncio.sleep(0.01 * random())
        windows.mark("before effect")
        _write(key)
        windows.mark("after effect")
        await asyncio.sleep(0.01 * random())
    finally:
        windows.close()
    return {"rung": key}


def _write(key: str) -> None:
    """One line, on the disk when this returns; nowhere in particular when nobody counts."""
    if FOLDER not in os.environ:
        return
    descriptor = os.open(Path(os.environ[FOLDER]) / "rung", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, f"{key}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
