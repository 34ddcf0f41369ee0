"""The gate's first steps: find the tool, read its arguments, and let each guarded argument through its guard."""

import difflib
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields
from typing import Any

from palmclaw.core.codec import decode_mending, encode
from palmclaw.core.errors import BadArguments, ToolError
from palmclaw.core.messages import ToolCall
from palmclaw.core.tools import Access, CheckedPath, Effect, Outward, Tool
from palmclaw.core.values import dataclass
from palmclaw.guard.network import checked_url
from palmclaw.guard.recipients import checked_guest, checked_number, checked_place
from palmclaw.guard.workspace import Workspace


@dataclass(slots=True)
class Reach:
    """Everything outside itself that a call's arguments touch, gathered while they are resolved."""

    paths: list[CheckedPath] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Arguments:
    """A call's checked arguments: `value` for the handler, `plain` as JSON for digests, and what they reach."""

    value: Any
    plain: dict[str, Any]
    reach: Reach
    mended: tuple[str, ...]


def found(tools: Mapping[str, Tool], disabled: Collection[str], name: str) -> Tool:
    """The tool of that name, or an error that names the near ones."""
    if name in disabled:
        raise ToolError("tool_disabled", f"{name} is switched off", hint="Tell the user; it cannot be used here.")
    if name in tools:
        return tools[name]
    near = difflib.get_close_matches(name, tools, n=3, cutoff=0.5)
    hint = f"Did you mean {', '.join(near)}?" if near else "Look for one with find_tools."
    raise ToolError("unknown_tool", f"there is no tool named {name[:80]!r}", retryable=True, hint=hint)


def validated(tool: Tool, call: ToolCall, limit: int) -> tuple[str, ...]:
    """Check the arguments against the published schema, all problems at once; returns what was mended."""
    _readable(tool, call, limit)
    _, mended = decode_mending(tool.arguments, call.arguments)
    return mended


def resolved(tool: Tool, call: ToolCall, workspace: Workspace, mended: tuple[str, ...]) -> Arguments:
    """The arguments with every path, address and recipient checked by its guard."""
    reach = Reach()
    guards: dict[Outward, tuple[Callable[[str], str], list[str]]] = {
        Outward.URL: (checked_url, reach.urls),
        Outward.RECIPIENT: (checked_number, reach.recipients),
        Outward.GUEST: (checked_guest, reach.recipients),
        Outward.PLACE: (checked_place, reach.recipients),
    }

    def path(text: str, access: Access) -> CheckedPath:
        return workspace.resolve(text, access)

    def outward(text: str, kind: Outward) -> str:
        guard, kept = guards[kind]
        kept.append(guard(text))
        return kept[-1]

    value: Any
    value, _ = decode_mending(tool.arguments, call.arguments, {Access: path, Outward: outward})
    reach.paths += [p for p in _values(value) if isinstance(p, CheckedPath)]
    return Arguments(value, encode(value), reach, mended)


def _values(args: Any) -> list[Any]:
    """Also what was left out: a default path is reached like a given one."""
    return [getattr(args, f.name) for f in fields(args)]


def _readable(tool: Tool, call: ToolCall, limit: int) -> None:
    """Refuse arguments that did not arrive whole; a cut-off call is only good enough to read with."""
    if call.flaw == "too_large" or _size(call.arguments) > limit:
        raise ToolError("too_large", f"the arguments of {tool.name} are larger than {limit:,} characters")
    if call.flaw == "truncated" and tool.effect is not Effect.READ:
        raise BadArguments((f"arguments: the JSON was cut off: {call.raw[:80]}",))
    if call.flaw == "invalid":
        raise BadArguments((f"arguments: not a JSON object: {call.raw[:80]}",))


def _size(value: Any) -> int:
    """Characters of all texts inside a JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(len(str(k)) + _size(v) for k, v in value.items())
    return sum(_size(v) for v in value) if isinstance(value, list) else 1
