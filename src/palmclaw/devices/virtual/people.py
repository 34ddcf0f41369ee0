"""Contacts, text messages and calls."""

import re

from palmclaw.core.device import Code
from palmclaw.core.errors import DeviceError
from palmclaw.core.personal import (
    AddContact,
    DeleteContact,
    Dial,
    ListCalls,
    ListContacts,
    ListSms,
    SendSms,
    UpdateContact,
)
from palmclaw.core.phone import Call, Contact, Sms
from palmclaw.core.times import minutes
from palmclaw.devices.virtual.state import Acts, Row, Scene

_NUMBER = re.compile(r"\+?[0-9]{3,15}")


def _contact(row: Row) -> Contact:
    phones, emails = tuple(row.get("phones") or ()), tuple(row.get("emails") or ())
    return Contact(row["id"], row["name"], phones, emails, row.get("org") or "")


def _contacts(scene: Scene, _: ListContacts) -> tuple[Contact, ...]:
    return tuple(_contact(row) for row in scene.rows("contacts"))


def _add(scene: Scene, request: AddContact) -> Contact:
    row: Row = {
        "id": scene.new_id("contacts", "c"),
        "name": request.name,
        "phones": list(request.phones),
        "emails": list(request.emails),
    }
    if request.org:
        row["org"] = request.org
    scene.rows("contacts").append(row)
    return _contact(row)


def _update(scene: Scene, request: UpdateContact) -> Contact:
    row = scene.row("contacts", "id", request.id, "contact")
    if request.name is not None:
        row["name"] = request.name
    if request.phones is not None:
        row["phones"] = list(request.phones)
    if request.emails is not None:
        row["emails"] = list(request.emails)
    if request.org:
        row["org"] = request.org
    elif request.org is not None:
        row.pop("org", None)
    return _contact(row)


def _delete(scene: Scene, request: DeleteContact) -> Contact:
    row = scene.row("contacts", "id", request.id, "contact")
    scene.rows("contacts").remove(row)
    return _contact(row)


def _sms(scene: Scene, row: Row) -> Sms:
    from_me, read = row.get("dir") == "out", bool(row.get("read", True))
    return Sms(row["id"], from_me, row["address"], row["body"], scene.moment(row["time"]), read)


def _messages(scene: Scene, _: ListSms) -> tuple[Sms, ...]:
    newest = [_sms(scene, row) for row in reversed(scene.rows("sms"))]
    return tuple(sorted(newest, key=lambda m: m.time, reverse=True))


def _send(scene: Scene, request: SendSms) -> Sms:
    _reachable(scene, request.to)
    row = {
        "id": scene.new_id("sms", "s"),
        "dir": "out",
        "address": request.to,
        "body": request.text,
        "time": minutes(scene.now),
        "read": True,
    }
    scene.rows("sms").append(row)
    return _sms(scene, row)


def _call(scene: Scene, row: Row) -> Call:
    return Call(row["id"], row["number"], row.get("dir") or "in", scene.moment(row["time"]))


def _calls(scene: Scene, _: ListCalls) -> tuple[Call, ...]:
    newest = [_call(scene, row) for row in reversed(scene.rows("calls"))]
    return tuple(sorted(newest, key=lambda c: c.time, reverse=True))


def _dial(scene: Scene, request: Dial) -> Call:
    _reachable(scene, request.number)
    row = {"id": scene.new_id("calls", "k"), "number": request.number, "dir": "out", "time": minutes(scene.now)}
    scene.rows("calls").append(row)
    return _call(scene, row)


def _reachable(scene: Scene, number: str) -> None:
    if _NUMBER.fullmatch(number) is None:
        raise DeviceError(Code.INVALID, f"{number[:40]!r} is not a telephone number", hint="Example: +85212345678")
    if scene.state["device"]["network"]["airplane"]:
        raise DeviceError(Code.RADIO_OFF, "airplane mode is on, so nothing can be sent and nobody called")


READS: Acts = {ListContacts: _contacts, ListSms: _messages, ListCalls: _calls}
WRITES: Acts = {AddContact: _add, UpdateContact: _update, DeleteContact: _delete, SendSms: _send, Dial: _dial}
