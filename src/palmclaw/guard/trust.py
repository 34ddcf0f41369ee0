"""Marks what strangers wrote, so that a model reads it as data; the text itself can never say where it ends."""

import re
import secrets

_TAG = re.compile(r"\A<outside id=(?P<id>[0-9a-f]{8})>\n(?P<body>.*)\n</outside id=(?P=id)>\Z", re.DOTALL)
_LOOKALIKE = re.compile(r"<(?=/?\s*(?:outside|system|assistant|user|tool)\b)", re.IGNORECASE)


def wrapped(content: str) -> str:
    """Fence outside content with a boundary nobody can guess; look-alike tags inside lose their angle bracket."""
    boundary = secrets.token_hex(4)
    return f"<outside id={boundary}>\n{_LOOKALIKE.sub('‹', content)}\n</outside id={boundary}>"


def unwrapped(content: str) -> str:
    """The content inside a fence made by `wrapped`, or the text itself when there is none."""
    found = _TAG.match(content)
    return found["body"] if found else content
