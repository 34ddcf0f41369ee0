"""Which encoding a file's bytes are in, as far as bytes can tell."""

import codecs
import unicodedata

from palmclaw.core.errors import ToolError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS = frozenset(range(32)) - {8, 9, 10, 12, 13, 27}


def text_of(raw: bytes) -> tuple[str, str] | None:
    """(text, encoding), or None for what is no text. UTF-8 and byte-order marks are certain, the rest a guess."""
    for mark, name in _BOMS:
        if raw.startswith(mark):
            return _decoded(raw, name)
    if found := _decoded(raw, "utf-8"):
        return None if _is_binary(raw) else found
    if _is_binary(raw):
        return None
    chinese = _decoded(raw, "gb18030")
    if chinese and _is_chinese(chinese[0]):
        return chinese
    return _decoded(raw, "cp1252") or _decoded(raw, "latin-1")


def read(raw: bytes, name: str) -> tuple[str, str]:
    """As `text_of`; ToolError for what is no text."""
    if (found := text_of(raw)) is None:
        raise ToolError("binary", f"{name} is not text ({len(raw):,} bytes, starts with {raw[:8].hex(' ')})")
    return found


def written(text: str, encoding: str, name: str) -> bytes:
    """The bytes of a text in the encoding that its file has. Raises ToolError."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise ToolError("encoding", f"{name} is {encoding} and cannot hold the new text") from error


def _decoded(raw: bytes, name: str) -> tuple[str, str] | None:
    try:
        return raw.decode(name), name
    except UnicodeDecodeError:
        return None


def _is_binary(raw: bytes) -> bool:
    """A NUL, or more than a few control characters, in the first 8 KB."""
    head = raw[:8192]
    return 0 in head or sum(b in _CONTROLS for b in head) > len(head) // 50


def _is_chinese(text: str) -> bool:
    foreign = [c for c in text if ord(c) > 127]
    wide = sum(unicodedata.east_asian_width(c) in "WF" and not 0xA000 <= ord(c) < 0xFF00 for c in foreign)
    return wide * 10 >= len(foreign) * 9
