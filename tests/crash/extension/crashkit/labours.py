"""Tools that are hard to stop: a program with children of its own, a thread in C code, a large transaction."""

import asyncio
import hashlib
import os
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palmclaw.core.tools import Effect, Module, ToolContext, tool
from palmclaw.guard.processes import PROCESSES

MODULE = Module("labours", "work that takes its time", always=True)
_FAMILY = "sleep 600 & sleep 600 & sh -c 'sleep 600' & wait"


@dataclass(frozen=True, slots=True)
class Labour:
    key: str = ""


@tool(module="labours", effect=Effect.DEVICE)
async def family(args: Labour, ctx: ToolContext) -> Any:
    """Run a program with children."""
    folder = Path(os.environ["PALMCLAW_HOME"])
    finished = await ctx.need(PROCESSES).run(["sh", "-c", _FAMILY], folder, os.environ, 600, 1_000)
    return finished.output


@tool(module="labours", effect=Effect.DEVICE)
async def spin(args: Labour, ctx: ToolContext) -> Any:
    """Count in a thread that cannot be told to end, for a second or two."""
    digest = await asyncio.to_thread(hashlib.pbkdf2_hmac, "sha256", b"bell", b"salt", 3_000_000)
    return digest.hex()


@tool(module="labours", effect=Effect.DEVICE)
async def fill(args: Labour, ctx: ToolContext) -> Any:
    """Write a large transaction into a database of its own."""
    await asyncio.to_thread(_filled, Path(os.environ["PALMCLAW_HOME"]) / "fill.db")
    return "filled"


@tool(module="labours", effect=Effect.DEVICE)
async def tick(args: Labour, ctx: ToolContext) -> Any:
    """Do nothing at all, which is written down before and after."""
    return args.key


def _filled(path: Path) -> None:
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("CREATE TABLE line (text TEXT)")
        connection.execute(_LINES)


_LINES = """
INSERT INTO line WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000)
SELECT 'line ' || i FROM n
"""
