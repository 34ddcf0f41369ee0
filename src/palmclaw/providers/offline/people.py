"""Scripts about people: contacts, text messages and calls. Nothing is sent before one person is certain."""

import re
from collections.abc import Generator
from typing import Any

from palmclaw.providers.offline.said import Ended, Said, at, chosen, moment_of, rows
from palmclaw.providers.offline.script import Call, Question, Script, Step
from palmclaw.providers.offline.understanding import understood

_DELIMITER = re.compile(r"\s*[,，:：—]\s*|\s+(?=[\"“])|\s*(?=[“「])")
Row = dict[str, Any]


def contact_find(said: Said) -> Script:
    name = said.slots.get("person") or ""
    found = rows((yield Call("contacts_search", {"query": name} if name else {})), "contacts")
    if not found:
        return said.say("nobody", name=name) if name else said.say("contacts_none")
    cards = [_card(c) for c in found]
    return cards[0] if len(cards) == 1 else said.say.lines(said.say("contacts", count=len(cards)), cards)


def _card(contact: Row) -> str:
    return f"{contact.get('name')}: {', '.join([*contact.get('phones', ()), *contact.get('emails', ())]) or '–'}"


def contact_add(said: Said) -> Script:
    card = said.slots["contact"]
    name = said.slot("person") or card.name
    if not name:
        name = yield Question(said.say("what_name"), lambda reply: free(reply, said))
    ways = {"phones": list(card.phones), "emails": list(card.emails)}
    yield Call("contact_add", {"name": name} | {k: v for k, v in ways.items() if v})
    return said.say("contact_added", name=name)


def text_someone(said: Said) -> Script:
    run_on = said.slot("reader", "latin")
    if run_on is not None:
        person, text = yield from _parted(said, run_on)
    else:
        person, text = (yield from _person(said, said.slots["person"])), said.slot("text", "short")
    name, number = yield from _number(said, person)
    if not text:
        text = yield Question(said.say("what_text", name=name), lambda reply: free(reply, said))
    yield Call("sms_send", {"to": number, "text": text})
    return said.say("sent", name=name, text=text)


def call_someone(said: Said) -> Script:
    person = yield from _person(said, said.slots["person"])
    name, number = yield from _number(said, person)
    yield Call("call", {"number": number})
    return said.say("calling", name=name)


def free(reply: str, said: Said) -> str | None:
    """Any words, unless they are a command of their own."""
    found = understood(reply, said.now)
    return None if found.commands or found.crowded else reply.strip()


def _person(said: Said, name: str) -> Generator[Step, Any, Row]:
    """The one contact that is meant; a number stands for itself."""
    if re.fullmatch(r"\+?\d{3,15}", name):
        return {"name": name, "phones": [name]}
    value = yield Call("contacts_search", {"query": name})
    found = rows(value, "contacts")
    if not found:
        raise Ended(said.say("nobody", name=name))
    if at(value, "match") in ("exact", "one") or len(found) == 1:
        return found[0]
    return (yield from _one_of(said, found))


def _one_of(said: Said, found: list[Row]) -> Generator[Step, Any, Row]:
    names = [str(c.get("name")) for c in found]
    position = yield from chosen(said, "which_contact", names)
    return found[position]


def _parted(said: Said, run_on: str) -> Generator[Step, Any, tuple[Row, str]]:
    """ "Mei Lin I'm late": only the contacts can tell where the name ends."""
    head, *rest = _DELIMITER.split(run_on, maxsplit=1)
    if rest and head.strip():
        return (yield from _person(said, head.strip())), rest[0].strip('"“”「」 ')
    found = rows((yield Call("contacts_search", {"query": _first_name(run_on)})), "contacts")
    exact = sorted((c for c in found if _begins(run_on, str(c.get("name")))), key=lambda c: -len(str(c.get("name"))))
    if exact:
        return exact[0], run_on[len(str(exact[0].get("name"))) :].strip(" ,，")
    if not found:
        raise Ended(said.say("nobody", name=_first_name(run_on)))
    person = found[0] if len(found) == 1 else (yield from _one_of(said, found))
    return person, run_on[len(_first_name(run_on)) :].strip(" ,，")


def _begins(text: str, name: str) -> bool:
    after = text[len(name) : len(name) + 1]
    return text.casefold().startswith(name.casefold()) and not (after.isascii() and after.isalnum())


def _first_name(text: str) -> str:
    latin = re.match(r"[A-Za-z'-]+", text)
    return latin[0] if latin else text.split()[0][: 3 if len(text) == 3 else 2]


def _number(said: Said, person: Row) -> Generator[Step, Any, tuple[str, str]]:
    name, numbers = str(person.get("name")), [str(p) for p in person.get("phones") or ()]
    if not numbers:
        raise Ended(said.say("no_number", name=name))
    position = 0 if len(numbers) == 1 else (yield from chosen(said, "which_number", numbers, name=name))
    return name, re.sub(r"[\s()-]", "", numbers[position])


def unread_messages(said: Said) -> Script:
    found = rows((yield Call("sms_list", {"unread": True})), "messages")
    if not found:
        return said.say("unread_none")
    head = said.say("unread_one") if len(found) == 1 else said.say("unread", count=len(found))
    return said.say.lines(head, [_sms(said, m) for m in found])


def recent_messages(said: Said) -> Script:
    found = rows((yield Call("sms_list", {"limit": 10})), "messages")
    return said.say.lines(said.say("messages"), [_sms(said, m) for m in found]) if found else said.say("messages_none")


def _sms(said: Said, row: Row) -> str:
    when = moment_of(row.get("time"), said.now)
    who = said.say("you") if row.get("from_me") else row.get("name") or row.get("address")
    return f"{who} ({said.say.moment(when, said.now) if when else '?'}): {row.get('body')}"


def calls(said: Said) -> Script:
    found = rows((yield Call("calls_list", {"limit": 10})), "calls")
    lines = [f"{c.get('name') or c.get('number')} ({c.get('direction')}, {c.get('time')})" for c in found]
    return said.say.lines(said.say("calls"), lines) if lines else said.say("calls_none")
