"""Text messages and telephone calls."""

from collections.abc import Sequence
from typing import Annotated, Any

from palmclaw.core.device import DEVICE, Device
from palmclaw.core.errors import DeviceError
from palmclaw.core.personal import Dial, ListCalls, ListContacts, ListSms, SendSms
from palmclaw.core.phone import Contact, Sms, listed, same_number
from palmclaw.core.schema import Length
from palmclaw.core.times import minutes
from palmclaw.core.tools import Effect, Module, Preview, Recipient, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("messages", "SMS, calls", requires=("contacts",), common=True)


@dataclass(frozen=True, slots=True)
class ListArgs:
    """Of sms_list."""

    address: str = ""
    unread: bool | None = None
    query: str = ""
    limit: int = 20


@tool(module="messages", effect=Effect.READ, permissions=("sms",), private=True, outside=True)
async def sms_list(args: ListArgs, ctx: ToolContext) -> dict[str, Any]:
    """List latest text messages. Address: number or full name"""
    device = ctx.need(DEVICE)
    people = await _people(device)
    messages = await device.do(ListSms())
    rows = [_shown(m, _named(people, m.address)) for m in messages if _fits(m, _named(people, m.address), args)]
    return listed("messages", rows, args.limit)


def _fits(message: Sms, name: str, args: ListArgs) -> bool:
    address = args.address.strip().casefold()
    known = address in ("", message.address.casefold(), name.casefold()) or same_number(address, message.address)
    if args.unread is not None and message.read == args.unread:
        return False
    return known and args.query.strip().casefold() in message.body.casefold()


def _shown(message: Sms, name: str) -> dict[str, Any]:
    who = {"id": message.id, "from_me": message.from_me, "address": message.address, **_name(name)}
    return who | {"body": message.body, "time": minutes(message.time), "read": message.read}


@dataclass(frozen=True, slots=True)
class SendArgs:
    """Of sms_send."""

    to: Recipient
    text: Annotated[str, Length(1)]


async def _send_preview(args: SendArgs, ctx: ToolContext) -> Preview:
    to = _who(await _people(ctx.need(DEVICE)), args.to)
    return Preview("Send a text message", args.to, (("To", to), ("Text", args.text)))


@tool(module="messages", effect=Effect.SEND, permissions=("sms",), private=True, preview=_send_preview)
async def sms_send(args: SendArgs, ctx: ToolContext) -> dict[str, Any]:
    """Send text message to number"""
    device = ctx.need(DEVICE)
    people = await _people(device)
    sent = await device.do(SendSms(args.to, args.text))
    return {"sent": True, "to": sent.address, **_name(_named(people, sent.address)), "text": sent.body}


@dataclass(frozen=True, slots=True)
class CallsArgs:
    """Of calls_list."""

    limit: int = 20


@tool(module="messages", effect=Effect.READ, permissions=("phone",), private=True)
async def calls_list(args: CallsArgs, ctx: ToolContext) -> dict[str, Any]:
    """List latest calls"""
    device = ctx.need(DEVICE)
    people = await _people(device)
    rows = [
        {"id": c.id, "number": c.number, **_name(_named(people, c.number)), "direction": c.direction}
        | {"time": minutes(c.time)}
        for c in await device.do(ListCalls())
    ]
    return listed("calls", rows, args.limit)


@dataclass(frozen=True, slots=True)
class CallArgs:
    """Of call."""

    number: Recipient


async def _call_preview(args: CallArgs, ctx: ToolContext) -> Preview:
    return Preview("Call", args.number, (("To", _who(await _people(ctx.need(DEVICE)), args.number)),))


@tool(
    module="messages",
    effect=Effect.SEND,
    permissions=("phone",),
    private=True,
    bindable=False,
    preview=_call_preview,
)
async def call(args: CallArgs, ctx: ToolContext) -> dict[str, Any]:
    """Call number"""
    device = ctx.need(DEVICE)
    people = await _people(device)
    made = await device.do(Dial(args.number))
    return {"calling": made.number, **_name(_named(people, made.number))}


async def _people(device: Device) -> Sequence[Contact]:
    """The address book, for names beside numbers; empty where it may not be read."""
    try:
        return await device.do(ListContacts())
    except DeviceError:
        return ()


def _named(people: Sequence[Contact], number: str) -> str:
    """Who has that number; all of them, where several share it."""
    return " / ".join(c.name for c in people if any(same_number(p, number) for p in c.phones))


def _who(people: Sequence[Contact], number: str) -> str:
    name = _named(people, number)
    return f"{name} ({number})" if name else number


def _name(name: str) -> dict[str, str]:
    return {"name": name} if name else {}
