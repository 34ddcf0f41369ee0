"""The address book."""

import re
from collections.abc import Sequence
from typing import Any

from palmclaw.core.device import DEVICE, Device
from palmclaw.core.errors import ToolError
from palmclaw.core.personal import AddContact, DeleteContact, ListContacts, UpdateContact
from palmclaw.core.phone import Contact, listed, revision
from palmclaw.core.tools import Effect, Module, Preview, ToolContext, tool
from palmclaw.core.values import dataclass

MODULE = Module("contacts", "", common=True)
_NUMBER = re.compile(r"\+?[0-9*#]{3,20}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True, slots=True)
class SearchArgs:
    """Of contacts_search."""

    query: str = ""
    limit: int = 20


@tool(module="contacts", effect=Effect.READ, permissions=("contacts",), private=True, fenced=True)
async def contacts_search(args: SearchArgs, ctx: ToolContext) -> dict[str, Any]:
    """Find people by any field"""
    found, match = _matching(await ctx.need(DEVICE).do(ListContacts()), args.query)
    return listed("contacts", [shown(c) for c in found], args.limit) | {"match": match}


def _matching(contacts: Sequence[Contact], query: str) -> tuple[list[Contact], str]:
    """Who fits the query, the exact name first, then other names; one exact full name is no ambiguity."""
    wanted = " ".join(query.casefold().split())
    found = [c for c in contacts if _fits(c, wanted)]
    found.sort(key=lambda c: (_joined(c.name) != _joined(wanted), not _is_called(c, wanted)))
    exact = sum(_joined(c.name) == _joined(wanted) for c in found)
    if exact == 1:
        return found, "exact"
    if len(found) == 1 and wanted and not _is_called(found[0], wanted):
        return found, "several"  # fits by its e-mail or company alone: nobody to write to unasked
    return found, ("none", "one", "several")[min(len(found), 2)]


def _fits(contact: Contact, wanted: str) -> bool:
    text = " ".join((contact.name, *contact.emails, contact.org)).casefold()
    return _is_called(contact, wanted) or all(word in text for word in wanted.split())


def _is_called(contact: Contact, wanted: str) -> bool:
    """By name, with or without its spaces, by number, or by an e-mail address."""
    name = contact.name.casefold()
    digits = re.sub(r"[\s().-]", "", wanted)
    number = re.fullmatch(r"\+?[0-9]{3,}", digits) and any(digits in p for p in contact.phones)
    mail = "@" in wanted and any(wanted in e.casefold() for e in contact.emails)
    return bool(number) or mail or all(word in name for word in wanted.split()) or _joined(wanted) in _joined(name)


def _joined(name: str) -> str:
    return "".join(name.casefold().split())


def shown(contact: Contact) -> dict[str, Any]:
    """A contact as results show it."""
    org = {"org": contact.org} if contact.org else {}
    row = {"id": contact.id, "name": contact.name, "phones": list(contact.phones), "emails": list(contact.emails)}
    return row | org


@dataclass(frozen=True, slots=True)
class AddArgs:
    """Of contact_add."""

    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    org: str = ""


async def _add_preview(args: AddArgs, ctx: ToolContext) -> Preview:
    new = AddContact(_name(args.name), _phones(args.phones), _emails(args.emails), args.org)
    return Preview("Add a contact", new.name, _lines(Contact("", new.name, new.phones, new.emails, new.org)))


@tool(module="contacts", effect=Effect.CONTACT, permissions=("contacts",), private=True, preview=_add_preview)
async def contact_add(args: AddArgs, ctx: ToolContext) -> dict[str, Any]:
    """Add contact"""
    new = AddContact(_name(args.name), _phones(args.phones), _emails(args.emails), args.org)
    return shown(await ctx.need(DEVICE).do(new))


@dataclass(frozen=True, slots=True)
class UpdateArgs:
    """Of contact_update."""

    id: str
    name: str | None = None
    phones: tuple[str, ...] | None = None
    emails: tuple[str, ...] | None = None
    org: str | None = None


def _update(args: UpdateArgs) -> UpdateContact:
    name = None if args.name is None else _name(args.name)
    phones = None if args.phones is None else _phones(args.phones)
    emails = None if args.emails is None else _emails(args.emails)
    if (name, phones, emails, args.org) == (None, None, None, None):
        raise ToolError("invalid_arguments", "give at least one field to change", retryable=True)
    return UpdateContact(args.id, name, phones, emails, args.org)


async def _update_preview(args: UpdateArgs, ctx: ToolContext) -> Preview:
    change = _update(args)
    contact = await _existing(ctx.need(DEVICE), args.id)
    fields = {"name": "Name", "phones": "Phones", "emails": "E-mail", "org": "Company"}
    pairs = [(title, getattr(contact, key), getattr(change, key)) for key, title in fields.items()]
    lines = tuple((title, f"{_text(was)} → {_text(new)}") for title, was, new in pairs if new is not None)
    return Preview(f"Change the contact {contact.name}", args.id, lines, revision(contact))


def _text(value: str | tuple[str, ...]) -> str:
    return (value if isinstance(value, str) else ", ".join(value)) or "(none)"


@tool(module="contacts", effect=Effect.CONTACT, permissions=("contacts",), private=True, preview=_update_preview)
async def contact_update(args: UpdateArgs, ctx: ToolContext) -> dict[str, Any]:
    """Change given fields, replacing lists"""
    return shown(await ctx.need(DEVICE).do(_update(args)))


@dataclass(frozen=True, slots=True)
class DeleteArgs:
    """Of contact_delete."""

    id: str


async def _delete_preview(args: DeleteArgs, ctx: ToolContext) -> Preview:
    contact = await _existing(ctx.need(DEVICE), args.id)
    return Preview(f"Delete the contact {contact.name}", args.id, _lines(contact), revision(contact))


@tool(module="contacts", effect=Effect.DELETE, permissions=("contacts",), private=True, preview=_delete_preview)
async def contact_delete(args: DeleteArgs, ctx: ToolContext) -> dict[str, Any]:
    """Delete contact"""
    return {"deleted": shown(await ctx.need(DEVICE).do(DeleteContact(args.id)))}


async def _existing(device: Device, id: str) -> Contact:
    for contact in await device.do(ListContacts()):
        if contact.id == id:
            return contact
    raise ToolError("not_found", f"there is no contact {id[:40]!r}", hint="Find it with contacts_search.")


def _lines(contact: Contact) -> tuple[tuple[str, str], ...]:
    parts = (
        ("Name", contact.name),
        ("Phones", ", ".join(contact.phones)),
        ("E-mail", ", ".join(contact.emails)),
        ("Company", contact.org),
    )
    return tuple((title, text) for title, text in parts if text)


def _name(name: str) -> str:
    if not (clean := " ".join(name.split())):
        raise ToolError("invalid_arguments", "name: must not be empty", retryable=True)
    return clean


def _phones(phones: tuple[str, ...]) -> tuple[str, ...]:
    clean = tuple(re.sub(r"[\s()./-]", "", p) for p in phones)
    return _valid("phones", phones, clean, _NUMBER, "+85212345678")


def _emails(emails: tuple[str, ...]) -> tuple[str, ...]:
    return _valid("emails", emails, tuple(e.strip() for e in emails), _EMAIL, "ann@example.org")


def _valid(
    field: str, given: tuple[str, ...], clean: tuple[str, ...], form: re.Pattern[str], example: str
) -> tuple[str, ...]:
    for index, value in enumerate(clean):
        if form.fullmatch(value) is None:
            problem = f"{field}[{index}]: {given[index][:40]!r} is not valid"
            raise ToolError("invalid_arguments", problem, retryable=True, hint=f"Example: {example}")
    return clean
