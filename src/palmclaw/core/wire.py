"""What every wire protocol needs of our values: names and ids that services accept, signatures, native attachments."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from palmclaw.core.messages import Media, Message, Reasoning, Role, Stamp, Text, ToolResult
from palmclaw.core.ports import Request

NAME_CHARS = 64
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
DOCUMENTS = frozenset({"application/pdf"})
NOTHING = "(nothing)"
"""Stands for a result without a word, since nothing empty is ever sent."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def compact(value: Any) -> str:
    """JSON without spaces, in the order it was built."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_bytes(wire: Any) -> bytes:
    """A body as it goes out; half characters that no encoding knows become question marks."""
    return compact(wire).encode("utf-8", "replace")


def safe_name(name: str) -> str:
    """A tool's name in the letters that services take: at most 64 letters, digits, `_` and `-`."""
    return _NOT_IN_NAMES.sub("_", name)[:NAME_CHARS] or "unnamed"


def wire_id(call_id: str, fits: re.Pattern[str], form: str = "call_{:.32}") -> str:
    """The id as a service takes it, the same for a call and its result: as it is, or its hash in the `form`."""
    if fits.fullmatch(call_id):
        return call_id
    return form.format(hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest())


def sealed(opaque: str, protocol: str) -> str:
    """A signature as it is stored: with the protocol whose it is before it."""
    return f"{protocol}:{opaque}" if opaque else ""


def signed(signature: str, protocol: str) -> str:
    """The opaque part of a stored signature, or nothing when another protocol made it."""
    return signature.removeprefix(f"{protocol}:") if signature.startswith(f"{protocol}:") else ""


def signatures(request: Request, protocol: str) -> frozenset[str]:
    """Those of the thoughts that go back with this request, because the same model had them."""
    own = (m for m in request.messages if m.role is Role.ASSISTANT and m.model == request.model)
    thoughts = (p for m in own for p in m.parts if isinstance(p, Reasoning))
    return frozenset(found for p in thoughts if (found := signed(p.signature, protocol)))


def worded(message: Message, seen: Collection[Media]) -> str:
    """What a person says, in words: the text, a line for each attachment that is not `seen`, and last the stamp."""
    text = "".join(p.text for p in message.parts if isinstance(p, Text))
    unseen = [p for p in message.parts if isinstance(p, Media) and p not in seen]
    notes = [f"[attached: {p.name or p.id} ({p.mime})]" for p in unseen]
    stamps = [p.text for p in message.parts if isinstance(p, Stamp)]
    return "\n\n".join(w for w in (text, *notes, *stamps) if w.strip())


def filled(result: ToolResult) -> str:
    """What the model reads of a result."""
    return result.content if result.content.strip() else NOTHING


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
