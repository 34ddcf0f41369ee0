"""A virtual phone in a temporary home, on Monday 15 June 2026 at nine in Hong Kong, and calls to tools on it."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from palmclaw.core.codec import decode
from palmclaw.core.device import DEVICE
from palmclaw.core.errors import Fault, ToolError
from palmclaw.core.plugin import Parts
from palmclaw.core.tools import Preview, Tool, ToolContext
from palmclaw.devices.virtual import VirtualConfig, create
from palmclaw.devices.virtual.phone import VirtualPhone

ZONE = ZoneInfo("Asia/Hong_Kong")
NOW = datetime(2026, 6, 15, 9, 0, tzinfo=ZONE)


class Hands:
    """A clock that only moves when told."""

    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


def phone_in(home: Path, clock: Hands | None = None) -> VirtualPhone:
    """A phone just out of the box."""
    made: VirtualPhone = create.create(VirtualConfig("Asia/Hong_Kong"), Parts(home, clock or Hands()))
    return made


def context(phone: VirtualPhone) -> ToolContext:
    return ToolContext("terminal", "turn-1", "call-1", {DEVICE: phone})


async def run(tool: Tool, phone: VirtualPhone, **arguments: Any) -> Any:
    """Read the arguments as the gate does, then call the handler."""
    return await tool.handler(decode(tool.arguments, arguments), context(phone))


async def preview(tool: Tool, phone: VirtualPhone, **arguments: Any) -> Preview:
    assert tool.preview is not None
    return await tool.preview(decode(tool.arguments, arguments), context(phone))


async def fault(tool: Tool, phone: VirtualPhone, **arguments: Any) -> Fault:
    """What the preview, or else the handler, refuses with; nothing may change by it."""
    before = phone.dump()
    try:
        if tool.preview is not None:
            await preview(tool, phone, **arguments)
        await run(tool, phone, **arguments)
    except ToolError as error:
        assert phone.dump() == before
        return error.fault
    raise AssertionError(f"{tool.name} did not refuse {arguments}")


def gained(before: dict[str, Any], after: dict[str, Any], place: Sequence[str]) -> list[Any]:
    """The rows that a list of the state has gained; everything outside it and the counter must be as before."""
    old, new = dict(before), dict(after)
    for key in place[:-1]:
        rest_old, rest_new = dict(old[key]), dict(new[key])
        assert {k: v for k, v in old.items() if k not in (key, "serial")} == {
            k: v for k, v in new.items() if k not in (key, "serial")
        }
        old, new = rest_old, rest_new
    last = place[-1]
    assert {k: v for k, v in old.items() if k not in (last, "serial")} == {
        k: v for k, v in new.items() if k not in (last, "serial")
    }
    assert new[last][: len(old[last])] == old[last]
    return list(new[last][len(old[last]) :])
