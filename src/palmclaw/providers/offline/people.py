"""Scripts about people: contacts, text messages and calls. Nothing is sent before one person is certain."""

import re
from collections.abc import Generator
from difflib import SequenceMatcher
from typing import Any

from palmclaw.providers.offline.said import Ended, Said, at, chosen, left_out, moment_of, rows, told
from palmclaw.providers.offline.script import Call, Question, Script, Step
from palmclaw.providers.offline.understanding import understood

_DELIMITER = re.compile(r"\s*[,，:：—]\s*|\s+(?=[\"“])|\s*(?=[“「])")
_NUMBER = re.compile(r"(?:\+\d+|\d{3,})(?:[\s-]?\(?\d+\)?)*(?<=\d)(?![A-Za-z])")
Row = dict[str, Any]


def contact_find(said: Said) -> Script:
    name = said.slots.get("person") or ""
    value = yield Call("contacts_search", {"query": name} if name else {})
    found = rows(value, "contacts")
    if not found:
        return said.say("nobody", name=name) if name else said.say("contacts_none")
    cards = [_card(c) for c in found]
    alone = name and (at(value, "match") == "exact" or (len(cards) == 1 and left_out(value) == 0))
    return cards[0] if alone else told(said, "contacts", value, cards)


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
    digits = re.sub(r"[\s()-]", "", name)
    if re.fullmatch(r"\+?\d{3,15}", digits):
        return {"name": digits, "phones": [digits]}
    value = yield Call("contacts_search", {"query": name})
    found = rows(value, "contacts")
    if not found:
        raise Ended(said.say("nobody", name=name))
    if at(value, "match") in ("exact", "one") or (at(value, "match") is None and len(found) == 1 and not _more(value)):
        return found[0]
    return (yield from _one_of(said, found, left_out(value)))


def _more(value: Any) -> bool:
    return left_out(value) != 0


def _one_of(said: Said, found: list[Row], more: int | None) -> Generator[Step, Any, Row]:
    names = [str(c.get("name")) for c in found]
    position = yield from chosen(said, "which_contact", names, more)
    return found[position]


def _parted(said: Said, run_on: str) -> Generator[Step, Any, tuple[Row, str]]:
    """ "Mei Lin I'm late": only the contacts can tell where the name ends, only the digits where a number does."""
    head, *rest = _DELIMITER.split(run_on, maxsplit=1)
    if rest and head.strip():
        return (yield from _person(said, head.strip())), rest[0].strip('"“”「」 ')
    if re.match(r"\+?\d", run_on):
        return _numbered(said, run_on)
    first = _first_name(run_on)
    value = yield Call("contacts_search", {"query": first})
    found = rows(value, "contacts")
    if not found:
        raise Ended(said.say("nobody", name=first))
    longest = max(_shared(run_on, str(c.get("name"))) for c in found)
    fitting = [c for c in found if _shared(run_on, str(c.get("name"))) == longest]
    certain = len(fitting) == 1 and (not _more(value) or str(fitting[0].get("name")) == run_on[:longest].strip())
    person = fitting[0] if certain else (yield from _one_of(said, fitting, left_out(value)))
    text = run_on[longest or len(first) :].strip(" ,，")
    return person, (yield from _after_name(said, person, longest or len(first), text))


def _numbered(said: Said, run_on: str) -> tuple[Row, str]:
    """The number that the words begin with. Digits that may be of the message as well are asked about."""
    found = _NUMBER.match(run_on)
    if found is None or len(re.sub(r"\D", "", found[0])) < 3:
        raise Ended(said.say("nobody", name=run_on.split()[0]))
    groups = found[0].split()
    known = len(groups) == 1 or found[0][0] in "+0" or min(len(g) for g in groups) >= 4
    if not known:
        raise Ended(said.say("where_number_ends", number=groups[0]))
    number = re.sub(r"[\s()-]", "", found[0])
    return {"name": number, "phones": [number]}, run_on[found.end() :].strip(" ,，")


def _shared(text: str, name: str) -> int:
    """How many characters of the text are the whole name, or whole words that it begins with."""
    words = name.split() if name.isascii() else [name]
    best = at_end = 0
    for word in words:
        gap = len(text[at_end:]) - len(text[at_end:].lstrip())
        if not _begins(text[at_end + gap :], word):
            return best
        best = at_end = at_end + gap + len(word)
    return best


def _begins(text: str, name: str) -> bool:
    after = text[len(name) : len(name) + 1]
    return text.casefold().startswith(name.casefold()) and not (after.isascii() and after.isalnum())


def _after_name(said: Said, person: Row, known: int, text: str) -> Generator[Step, Any, str]:
    """The message; its first words may be the rest of the name, nearly said."""
    unsaid = str(person.get("name"))[known:].split()
    near = " ".join(text.split()[: len(unsaid)])
    if not unsaid or not near or not _nearly(near, " ".join(unsaid)):
        return text
    without = text[len(near) :].strip(" ,，")
    if not without:
        return ""
    position = yield from chosen(said, "which_text", (without, text), name=person.get("name"))
    return (without, text)[position]


def _nearly(words: str, name: str) -> bool:
    words, name = words.casefold(), name.casefold()
    short = len(words) >= 2 and name.startswith(words)
    return short or SequenceMatcher(None, words, name).ratio() >= 0.6


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
    value = yield Call("sms_list", {"unread": True})
    found = rows(value, "messages")
    return told(said, "unread", value, [_sms(said, m) for m in found]) if found else said.say("unread_none")


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
