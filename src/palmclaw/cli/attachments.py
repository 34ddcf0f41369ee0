"""Files that go along with a message."""

import mimetypes
from collections.abc import Iterable
from pathlib import Path

from palmclaw.core.errors import ConfigError
from palmclaw.core.values import dataclass
from palmclaw.core.wire import DOCUMENTS, IMAGES

MAX_BYTES = 5_000_000
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"%PDF-": "application/pdf",
}


@dataclass(frozen=True, slots=True)
class Attached:
    """A file as it was read: its bytes, what they are, and its name."""

    content: bytes
    mime: str
    name: str


def attached(paths: Iterable[Path]) -> tuple[Attached, ...]:
    """The files, read. Raises ConfigError with the path and what is wrong."""
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> Attached:
    try:
        path = path.expanduser()
        size = path.stat().st_size if path.is_file() else None
        content = path.read_bytes() if size is not None and size <= MAX_BYTES else b""
    except (OSError, RuntimeError) as error:  # the latter for a home that nobody has
        raise ConfigError(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if size is None:
        raise ConfigError(str(path), "is no file" if path.exists() else "there is no such file")
    if size > MAX_BYTES:
        raise ConfigError(str(path), f"{size:,} bytes are too many; at most {MAX_BYTES:,} go along", "Make it smaller.")
    mime = kind_of(content, path.name)
    if mime not in IMAGES | DOCUMENTS:
        hint = "Images (PNG, JPEG, GIF, WebP) and PDF go along; a text can be pasted, or piped: palmclaw chat -"
        raise ConfigError(str(path), f"a model cannot look at a file of the kind {mime or 'unknown'}", hint)
    return Attached(content, mime, path.name)


def kind_of(content: bytes, name: str) -> str:
    """What the bytes are by their beginning, whatever the file is called; else what the name says of others."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    found = next((mime for sign, mime in _BEGINNINGS.items() if content.startswith(sign)), "")
    guessed = mimetypes.guess_type(name)[0] or ""
    return found or ("" if guessed in IMAGES | DOCUMENTS else guessed)
