"""Cutting, counting and showing text; never inside a character."""

import re
import unicodedata

MARKER = "...[truncated]"
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_HALF = re.compile("[\ud800-\udfff]")


def clipped(text: str, limit: int, more: str = "") -> str:
    """At most `limit` characters of `text`, then the marker with the real size and how to read on."""
    if len(text) <= limit:
        return text
    end = limit
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    note = f"{end} of {len(text)} characters" + (f"; {more}" if more else "")
    return f"{text[:end]}\n{MARKER} ({note})"


def whole(text: str) -> str:
    """The text with halves of one character joined; a half that stays alone becomes U+FFFD.

    JSON writes an emoji as two escapes, and a stream may be cut between them.
    """
    if _HALF.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def visible(text: str) -> str:
    """The text with control, direction and zero-width characters written out, so that nothing hides from a reader."""
    return "".join(_shown(c) for c in text)


def _shown(char: str) -> str:
    if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return char
    return f"⟨U+{ord(char):04X}⟩"


def tokens(text: str) -> int:
    """About how many tokens a model counts, in pure Python: 4 bytes of ASCII or 1.5 other characters to one.

    Measured against o200k: within a fifth for English, JSON and Chinese; never meant for a bill.
    """
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain * 10 // 42) + -(-(len(text) - plain) * 2 // 3)


def printable(text: str) -> str:
    """The text without what could steer a terminal or turn its direction; emoji joiners stay."""
    return "".join(c for c in text if c in "\n\t" or not _steers(c))


def _steers(char: str) -> bool:
    return unicodedata.category(char) == "Cc" or char in _DIRECTIONS
