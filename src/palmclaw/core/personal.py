"""What can be asked about the owner's people and days: contacts, calendar, messages, calls."""

from datetime import datetime
from typing import ClassVar

from palmclaw.core.device import Capability
from palmclaw.core.phone import Calendar, Call, Contact, Event, Sms
from palmclaw.core.values import dataclass


class ListContacts(Capability[tuple[Contact, ...]]):
    """The whole address book."""

    __slots__ = ()
    permission: ClassVar[str] = "contacts"


@dataclass(frozen=True, slots=True)
class AddContact(Capability[Contact]):
    """A new entry."""

    permission: ClassVar[str] = "contacts"
    name: str
    phones: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    org: str = ""


@dataclass(frozen=True, slots=True)
class UpdateContact(Capability[Contact]):
    """Change what is not None."""

    permission: ClassVar[str] = "contacts"
    id: str
    name: str | None = None
    phones: tuple[str, ...] | None = None
    emails: tuple[str, ...] | None = None
    org: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteContact(Capability[Contact]):
    """Remove an entry; the reply is what was removed."""

    permission: ClassVar[str] = "contacts"
    id: str


class ListCalendars(Capability[tuple[Calendar, ...]]):
    """The calendars, the default one first."""

    __slots__ = ()
    permission: ClassVar[str] = "calendar"


@dataclass(frozen=True, slots=True)
class ListEvents(Capability[tuple[Event, ...]]):
    """Every occurrence that touches the range, by start."""

    permission: ClassVar[str] = "calendar"
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class ReadEvent(Capability[Event]):
    """One event, or the first occurrence of a series."""

    permission: ClassVar[str] = "calendar"
    id: str


@dataclass(frozen=True, slots=True)
class AddEvent(Capability[Event]):
    """A new event in the calendar with that id."""

    permission: ClassVar[str] = "calendar"
    title: str
    start: datetime
    end: datetime
    calendar: str
    location: str = ""
    attendees: tuple[str, ...] = ()
    reminders: tuple[int, ...] = ()
    recurrence: str = ""
    all_day: bool = False


@dataclass(frozen=True, slots=True)
class UpdateEvent(Capability[Event]):
    """Change what is not None; an empty text or list clears the field."""

    permission: ClassVar[str] = "calendar"
    id: str
    title: str | None = None
    start: datetime | None = None
    end: datetime | None = None
    location: str | None = None
    attendees: tuple[str, ...] | None = None
    reminders: tuple[int, ...] | None = None
    recurrence: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteEvent(Capability[Event]):
    """Remove an event with all its occurrences; the reply is what was removed."""

    permission: ClassVar[str] = "calendar"
    id: str


class ListSms(Capability[tuple[Sms, ...]]):
    """Text messages of both directions, newest first."""

    __slots__ = ()
    permission: ClassVar[str] = "sms"


@dataclass(frozen=True, slots=True)
class SendSms(Capability[Sms]):
    """Send a text message."""

    permission: ClassVar[str] = "sms"
    to: str
    text: str


class ListCalls(Capability[tuple[Call, ...]]):
    """The call log, newest first."""

    __slots__ = ()
    permission: ClassVar[str] = "phone"


@dataclass(frozen=True, slots=True)
class Dial(Capability[Call]):
    """Call a number."""

    permission: ClassVar[str] = "phone"
    number: str
