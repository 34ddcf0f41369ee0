"""What every wire protocol needs of our values: names and ids that services accept, signatures, native attachments."""

import re
from collections.abc import Collection, Mapping
from typing import Any

from palmclaw.core.messages import Media, Message

NAME_CHARS = 64
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
DOCUMENTS = frozenset({"application/pdf"})
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def safe_name(name: str) -> str:
    """A tool's name in the letters that services take: at most 64 letters, digits, `_` and `-`."""
    return _NOT_IN_NAMES.sub("_", name)[:NAME_CHARS] or "unnamed"


def sealed(opaque: str, protocol: str) -> str:
    """A signature as it is stored: with the protocol whose it is before it."""
    return f"{protocol}:{opaque}" if opaque else ""


def signed(signature: str, protocol: str) -> str:
    """The opaque part of a stored signature, or nothing when another protocol made it."""
    return signature.removeprefix(f"{protocol}:") if signature.startswith(f"{protocol}:") else ""


def attached(message: Message, media: Mapping[str, bytes]) -> tuple[Media, ...]:
    """The attachments that the model is to see itself: images and documents whose bytes are at hand."""
    parts = (p for p in message.parts if isinstance(p, Media))
    return tuple(p for p in parts if p.id in media and p.mime in IMAGES | DOCUMENTS)


def without(schema: Any, words: Collection[str]) -> Any:
    """A JSON Schema without some of its words; names of properties are never taken for words."""
    if isinstance(schema, list):
        return [without(s, words) for s in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in words}
    return {
        key: {name: without(s, words) for name, s in value.items()} if key == "properties" else without(value, words)
        for key, value in kept.items()
    }
