"""The gate: every tool call, native or foreign, passes through `Toolbox.run` in one fixed order.

find → validate → resolve → preview → decide → permit → approve → journal → run → bound.
"""

import asyncio
import hashlib
import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from typing import Any

from palmclaw.agent.checks import Arguments, found, resolved, validated
from palmclaw.agent.situation import conditions
from palmclaw.agent.turn import Turn
from palmclaw.core.codec import encode
from palmclaw.core.errors import Denied, DeviceError, Fault, StorageError, ToolError
from palmclaw.core.events import Answer, ApprovalAnswered, ApprovalAsked, Event, ToolProgress
from palmclaw.core.limits import Limits
from palmclaw.core.messages import Message, Role, ToolCall, ToolResult
from palmclaw.core.ports import Approver, CallState, Grant, Grants, Journal, Permissions
from palmclaw.core.results import failed
from palmclaw.core.session import INTERRUPTED, UNKNOWN
from palmclaw.core.text import clipped
from palmclaw.core.tools import Effect, Outcome, Preview, Service, Tool, ToolContext
from palmclaw.core.traffic import Origin
from palmclaw.core.values import dataclass
from palmclaw.core.wire import compact
from palmclaw.guard.policy import NEVER_BOUND, Decision, Situation, Verdict, decide, scopes
from palmclaw.guard.trust import wrapped
from palmclaw.guard.workspace import Workspace

log = logging.getLogger(__name__)
Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Ports:
    """The people and the records that the gate turns to."""

    approver: Approver
    grants: Grants
    permissions: Permissions
    journal: Journal


@dataclass(frozen=True, slots=True)
class Checked:
    """A call that has been found, read and decided upon."""

    call: ToolCall
    tool: Tool
    args: Arguments
    effect: Effect | None
    context: ToolContext
    decision: Decision


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of a session, with the checks that stand before them."""

    tools: Mapping[str, Tool]
    workspace: Workspace
    ports: Ports
    limits: Limits = Limits()
    services: Mapping[Service[Any], Any] = field(default_factory=dict)
    disabled: Collection[str] = ()

    def only_reads(self, call: ToolCall) -> bool:
        """True when the call may run beside others of its round."""
        tool = self.tools.get(call.name)
        return tool is not None and tool.effect is Effect.READ

    async def run(self, call: ToolCall, turn: Turn, emit: Emit) -> Message:
        """Run one call through the gate. A failing tool becomes a failed result; only storage failures travel."""
        try:
            return await self._gated(call, turn, emit)
        except ToolError as error:
            return failed(call, error.fault)
        except StorageError:
            raise
        except Exception:  # a bug in a tool must not end the turn
            log.exception("tool %s crashed", call.name)
            if call.id in turn.under_way:
                return await self.abandon(call, turn)
            return failed(call, Fault("internal", f"{call.name} has a bug; it has been logged"))

    async def abandon(self, call: ToolCall, turn: Turn) -> Message:
        """Close a call that was cut off: not run, or outcome unknown when its effect was under way."""
        if call.id not in turn.under_way:
            return failed(call, INTERRUPTED)
        turn.under_way.discard(call.id)
        message = failed(call, UNKNOWN)
        await self.ports.journal.end(turn.id, call.id, CallState.UNKNOWN, message.results[0])
        return message

    async def _gated(self, call: ToolCall, turn: Turn, emit: Emit) -> Message:
        tool = found(self.tools, self.disabled, call.name)
        mended = validated(tool, call, self.limits.argument_chars)
        args = resolved(tool, call, self.workspace, mended)
        context = self._context(call, turn, emit)
        effect = tool.effect_of(args.value)
        decision = decide(_situation(call, tool, args, turn, effect))
        if decision.verdict is Verdict.DENY:  # before the preview: its refusals would tell a stranger facts
            raise _denied(tool, decision)
        if (tool.name, effect) in turn.declined:
            raise _declined(tool)
        checked = Checked(call, tool, args, effect, context, decision)
        preview = await self._previewed(checked)
        async with turn.dialog:  # calls that run together must not open one dialog twice
            await self._permit(checked, turn, emit)
        if preview is None:
            preview = await self._preview(checked)
        checked = _stricter(checked, preview, turn)
        if checked.decision.verdict is Verdict.ASK:
            await self._approve(checked, preview, turn, emit)
        return await self._journaled(checked, preview, turn)

    def _context(self, call: ToolCall, turn: Turn, emit: Emit) -> ToolContext:
        def progress(text: str) -> None:
            emit(ToolProgress(call.id, text))

        return ToolContext(turn.session, turn.id, call.id, self.services, progress, turn.tainted, turn.private)

    async def _previewed(self, checked: Checked) -> Preview | None:
        """What a person would be shown; None when the phone must first grant the reading of it."""
        try:
            return await self._preview(checked)
        except DeviceError as error:
            if error.code == "permission_denied":
                return None
            raise

    async def _preview(self, checked: Checked) -> Preview:
        tool, seconds = checked.tool, self.limits.tool_seconds
        if tool.preview is None:
            return _plain_preview(tool, checked.args)
        try:
            async with asyncio.timeout(seconds):
                return await tool.preview(checked.args.value, checked.context)
        except TimeoutError as error:
            text = f"the phone did not answer within {seconds:g} s; nothing was done"
            raise ToolError("timeout", text, retryable=True) from error

    async def _permit(self, checked: Checked, turn: Turn, emit: Emit) -> None:
        """Every device permission of the tool: granted, or asked for once in this turn and then granted."""
        for permission in checked.tool.permissions:
            state = await self.ports.permissions.state(permission)
            if state is Grant.GRANTED:
                continue
            if state is Grant.DENIED or permission in turn.refused:
                raise _no_permission(permission, "is not granted")
            if turn.tainted or turn.origin is Origin.OTHER:
                raise _no_permission(permission, "is not granted, and may not be asked for in this conversation")
            emit(ToolProgress(checked.call.id, f"waiting for the {permission} permission"))
            if not await self._granted(permission):
                turn.refused.add(permission)
                raise _no_permission(permission, "was refused")

    async def _granted(self, permission: str) -> bool:
        try:
            async with asyncio.timeout(self.limits.permission_seconds):
                return await self.ports.permissions.request(permission) is Grant.GRANTED
        except TimeoutError:
            return False

    async def _approve(self, checked: Checked, preview: Preview, turn: Turn, emit: Emit) -> None:
        """Ask the owner, unless an earlier lasting yes covers the call; a no is final for the turn."""
        tool, effect = checked.tool, checked.effect
        if (tool.name, effect) in turn.declined:
            raise _declined(tool)
        allowed = scopes(effect, tainted=turn.tainted, target=preview.target, bindable=tool.bindable)
        if len(allowed) > 1 and await self.ports.grants.holds(turn.session, tool.name, preview.target):
            return
        digest = _digest(checked, preview)
        shown_effect = effect or Effect.EXECUTE
        question = ApprovalAsked(
            secrets.token_hex(4), checked.call, shown_effect, preview, checked.decision.reason, allowed
        )
        emit(question)
        answer = await self.ports.approver.ask(turn.session, turn.id, question)
        emit(ApprovalAnswered(question.id, checked.call.id, answer))
        if answer not in allowed and answer is not Answer.UNASKED:
            answer = Answer.NO
        await self.ports.grants.add(turn.session, tool.name, preview.target, answer)
        if answer is Answer.UNASKED:
            raise Denied("not_asked", f"nobody could be asked, so {tool.name} was not done", hint=_TELL)
        if answer is Answer.NO:
            turn.declined.add((tool.name, effect))
            raise _declined(tool)
        if _digest(checked, await self._preview(checked)) != digest:
            raise ToolError(
                "changed_since_approval",
                "what was approved has changed meanwhile; nothing was done",
                retryable=True,
                hint="Look at it again and ask again.",
            )

    async def _journaled(self, checked: Checked, preview: Preview, turn: Turn) -> Message:
        """Run the call; anything but a read is written down before its effect and after it."""
        if checked.effect is Effect.READ:
            return await self._ran(checked, turn)
        call, effect = checked.call, checked.effect or Effect.EXECUTE
        await self.ports.journal.begin(turn.id, call, effect, _digest(checked, preview))
        turn.under_way.add(call.id)
        try:
            message = await self._ran(checked, turn)
        except ToolError as error:
            message = failed(call, error.fault)
        if call.id in turn.under_way:  # else an interrupt has closed the call before it came back
            await self.ports.journal.end(turn.id, call.id, _state(message), message.results[0])
            turn.under_way.discard(call.id)
        return message

    async def _ran(self, checked: Checked, turn: Turn) -> Message:
        tool, context = checked.tool, checked.context
        seconds = tool.timeout or self.limits.tool_seconds
        try:
            async with asyncio.timeout(seconds):
                value = await tool.handler(checked.args.value, context)
        except TimeoutError:
            return failed(checked.call, _timed_out(checked, seconds))
        return self._bounded(checked, value if isinstance(value, Outcome) else Outcome(value))

    def _bounded(self, checked: Checked, outcome: Outcome) -> Message:
        """The result as the model will read it: short, and fenced when it came from outside."""
        tool, value = checked.tool, outcome.value
        text = value if isinstance(value, str) else compact(encode(value))
        content = clipped(text, self.limits.result_chars, "ask for less, or for the next part")
        tainted = tool.outside or outcome.tainted
        result = ToolResult(
            checked.call.id,
            tool.name,
            wrapped(content) if tainted or tool.fenced else content,
            said=outcome.said,
            terminal=outcome.terminal,
            mended=checked.args.mended,
        )
        return Message(Role.TOOL, (result,), tainted=tainted, private=tool.private or outcome.private)


_TELL = "Tell the user; do not try another way around it."


def _situation(call: ToolCall, tool: Tool, args: Arguments, turn: Turn, effect: Effect | None) -> Situation:
    return Situation(effect, turn.origin, turn.tainted, call.as_text, conditions(tool, args.reach, turn))


def _stricter(checked: Checked, preview: Preview, turn: Turn) -> Checked:
    """The call as the facts show it, when they make it a stricter one than its arguments did."""
    if preview.effect is None:
        return checked
    decision = decide(_situation(checked.call, checked.tool, checked.args, turn, preview.effect))
    if decision.verdict is Verdict.DENY:
        raise _denied(checked.tool, decision)
    bound = checked.effect in NEVER_BOUND  # a deletion that also sends stays one that is never allowed for good
    if bound or decision.verdict < checked.decision.verdict:
        return checked
    return replace(checked, effect=preview.effect, decision=decision)


def _plain_preview(tool: Tool, args: Arguments) -> Preview:
    """For a tool without words of its own: its description, and every argument."""
    said = {key: value for key, value in args.plain.items() if value not in ("", None, [], {})}
    lines = tuple((key, value if isinstance(value, str) else compact(value)) for key, value in said.items())
    reach = (*args.reach.recipients, *args.reach.urls, *(p.shown for p in args.reach.paths))
    return Preview(tool.description.split(". ")[0], reach[0] if len(reach) == 1 else "", lines)


def _digest(checked: Checked, preview: Preview) -> str:
    """Binds an approval to the resolved arguments and to the state of what they touch."""
    bound = compact([checked.tool.name, checked.args.plain, encode(preview)])
    return hashlib.sha256(bound.encode()).hexdigest()


def _state(message: Message) -> CallState:
    error = message.results[0].error
    if error is None:
        return CallState.DONE
    return CallState.UNKNOWN if error.code == UNKNOWN.code else CallState.FAILED


def _timed_out(checked: Checked, seconds: float) -> Fault:
    text = f"{checked.tool.name} did not answer within {seconds:g} s"
    if checked.effect is Effect.READ:
        return Fault("timeout", text, retryable=True)
    return Fault(UNKNOWN.code, f"{text}; whether it took effect is unknown", hint=UNKNOWN.hint)


def _denied(tool: Tool, decision: Decision) -> Denied:
    return Denied("denied", f"{tool.name} {decision.reason}; that is not allowed here", hint=_TELL)


def _no_permission(permission: str, why: str) -> Denied:
    return Denied("permission_denied", f"the {permission} permission {why}", hint=_PERMISSION)


_PERMISSION = "Say so; the owner can grant it in the phone's settings for this app."


def _declined(tool: Tool) -> Denied:
    return Denied("declined", f"the owner said no to {tool.name}; nothing was done", hint=_TELL)
