"""The only place that turns a number, an e-mail address or a chat from the model into one that may be written to."""

import re
import unicodedata

from palmclaw.core.errors import ToolError
from palmclaw.core.text import visible

_NUMBER = re.compile(r"\+?[0-9]{3,15}")
_EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_PUNCTUATION = re.compile(r"[ ().\-/\u00a0\u2010-\u2015]")


def checked_number(text: str) -> str:
    """The number as digits with an optional plus; service codes (`*21#`), names and letters are refused."""
    number = _PUNCTUATION.sub("", unicodedata.normalize("NFKC", text.strip()))
    if not _NUMBER.fullmatch(number):
        raise ToolError(
            "invalid_recipient",
            f"{visible(text)[:60]!r} is not a phone number",
            retryable=True,
            hint="Find the person's number with contacts_search and use it, like +85291110003.",
        )
    return number


def checked_guest(text: str) -> str:
    """A name as it is, or an e-mail address in its plain form; what only looks like an address is refused."""
    plain = unicodedata.normalize("NFKC", text.strip())
    if "@" in plain and not _EMAIL.fullmatch(plain):
        raise ToolError("invalid_recipient", f"{visible(text)[:60]!r} is not an e-mail address", retryable=True)
    return plain


def checked_place(text: str) -> str:
    """The name of a conversation or a chat in its plain form; what hides signs is refused."""
    plain = unicodedata.normalize("NFKC", text.strip())
    if visible(plain) != plain or "\n" in plain or "\t" in plain or len(plain) > 300:
        raise ToolError(
            "invalid_recipient", f"{visible(text)[:60]!r} is not the name of a conversation", retryable=True
        )
    return plain
