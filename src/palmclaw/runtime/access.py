"""Who may speak to the agent: the ids that the configuration names, and those whom the owner let in by a code."""

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from palmclaw.core.errors import ConfigError
from palmclaw.core.messages import iso, utc_now
from palmclaw.core.people import Pairing, People, Person, Role
from palmclaw.core.schema import Doc
from palmclaw.core.text import whole
from palmclaw.core.traffic import Inbound, Origin
from palmclaw.core.values import dataclass
from palmclaw.runtime.words import Words

log = logging.getLogger(__name__)
VALID = timedelta(hours=1)
"""How long a pairing code may be used; as long its sender is not answered again."""
MOST = 3
"""Codes that may be open in one channel."""
ALPHABET = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_NOTED = 200


class Who(StrEnum):
    """What a sender is to us."""

    OWNER = "owner"
    GUEST = "guest"
    STRANGER = "stranger"


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Part of [channels.NAME]. Ids are the channel's own: a name can change hands. Nobody named means nobody."""

    owners: Annotated[tuple[str | int, ...], Doc("ids of those who may do everything")] = ()
    allow: Annotated[tuple[str | int, ...], Doc("ids of those who may talk to the agent")] = ()
    pairing: Annotated[bool, Doc("whether a stranger is given a code that the owner can approve")] = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a sender may do, and what a stranger is told (mostly nothing)."""

    who: Who
    reply: str = ""

    @property
    def may_speak(self) -> bool:
        return self.who is not Who.STRANGER

    @property
    def may_command(self) -> bool:
        """Whether commands, stop words and answers to approvals are heard as such."""
        return self.who is Who.OWNER

    @property
    def origin(self) -> Origin:
        return Origin.OWNER if self.who is Who.OWNER else Origin.OTHER


def new_code() -> str:
    """Eight characters that cannot be taken for each other."""
    return "".join(secrets.choice(ALPHABET) for _ in range(8))


def ids(key: str, written: Iterable[str | int]) -> frozenset[str]:
    """The ids of a list of the configuration, as text; `555|name` is 555. Raises ConfigError for what is no id."""
    return frozenset(_id(key, each) for each in written)


@dataclass(slots=True)
class Access:
    """Judges each message of a channel. `channels` are the settings by the channel's name."""

    channels: Mapping[str, AccessSettings]
    people: People
    words: Words = Words()
    now: Callable[[], datetime] = utc_now
    code: Callable[[], str] = new_code
    _owners: dict[str, frozenset[str]] = field(init=False)
    _allowed: dict[str, frozenset[str]] = field(init=False)
    _noted: dict[tuple[str, str], None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        named = self.channels.items()
        self._owners = {name: ids(f"channels.{name}.owners", s.owners) for name, s in named}
        self._allowed = {name: ids(f"channels.{name}.allow", s.allow) for name, s in named}

    async def judge(self, inbound: Inbound) -> Verdict:
        """Who the sender is. A stranger's first private message is answered with a code. Raises StorageError."""
        channel = inbound.address.channel if inbound.address else ""
        sender = plain_id(inbound.sender)
        if channel not in self.channels or not sender or sender.startswith("@"):
            self._note(channel, inbound)
            return Verdict(Who.STRANGER)
        if sender in self._owners[channel]:
            return Verdict(Who.OWNER)
        role = await self.people.role(channel, sender)
        if role is Role.OWNER:
            return Verdict(Who.OWNER)
        if role is Role.GUEST or sender in self._allowed[channel]:
            return Verdict(Who.GUEST)
        self._note(channel, inbound)
        return Verdict(Who.STRANGER, await self._code_for(channel, sender, inbound))

    async def approve(self, code: str, role: Role = Role.OWNER) -> Person:
        """Let in whoever was given the code, however it is typed. Raises NotOpen."""
        plain = "".join(c for c in code.upper() if c.isalnum())
        return await self.people.admit(plain, role, iso(self.now()))

    async def listed(self) -> tuple[tuple[Person, ...], tuple[Pairing, ...]]:
        """Everybody who was let in, and the codes that are still open."""
        return await self.people.listed(iso(self.now()))

    async def forget(self, channel: str, sender: str) -> bool:
        """Take a person, or a code, away again; False when there was none."""
        return await self.people.forget(channel, plain_id(sender))

    async def findings(self) -> tuple[str, ...]:
        """What the owner should know at the start: in which channels nobody may speak."""
        paired = {person.channel for person in (await self.listed())[0]}
        silent = [n for n in self.channels if not self._owners[n] and not self._allowed[n] and n not in paired]
        return tuple(f"nobody may speak in {name}: {self._way_in(name)}" for name in silent)

    def _way_in(self, channel: str) -> str:
        if self.channels[channel].pairing:
            return "write to it there, and approve the code it answers with: palmclaw pair approve CODE"
        return f"put your id into channels.{channel}.owners"

    async def _code_for(self, channel: str, sender: str, inbound: Inbound) -> str:
        """The words that give a stranger a code; empty when they have one, or many others do."""
        if inbound.group or not self.channels[channel].pairing:
            return ""
        at = self.now()
        pairing = Pairing(self.code(), channel, sender, whole(inbound.name)[:64], iso(at), iso(at + VALID))
        if not await self.people.knock(pairing, MOST):
            return ""
        return self.words("pair", code=pairing.code)

    def _note(self, channel: str, inbound: Inbound) -> None:
        """Log a stranger, once, with the very value that would let them in."""
        sender = plain_id(inbound.sender)[:100]
        if (channel, sender) in self._noted:
            return
        while len(self._noted) >= _NOTED:
            del self._noted[next(iter(self._noted))]
        self._noted[channel, sender] = None
        how = f'to let them in, add "{sender}" to channels.{channel}.allow, or to .owners'
        if not sender.isprintable() or not sender or sender.startswith("@") or channel not in self.channels:
            how = "the channel gives no id by which they could be let in"
        log.warning("%s: message of %r (%.64r) refused; %s", channel, sender, inbound.name, how)


def plain_id(sender: str) -> str:
    """The id of a sender; a channel may write the name behind it (`555|name`)."""
    return whole(sender).partition("|")[0].strip()


def _id(key: str, written: str | int) -> str:
    found = plain_id(str(written))
    if not found:
        raise ConfigError(key, f"{written!r} is empty", "Write the id of the person in this channel.")
    if found.startswith("@"):
        hint = "Write the id: it is in the log when they have written, and palmclaw pair list shows it."
        raise ConfigError(key, f"{found} is a name, and a name can change hands", hint)
    if found == "*":
        raise ConfigError(key, "* does not mean everybody", "Write the id of each person who may talk to the agent.")
    return found
