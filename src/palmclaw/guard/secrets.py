"""Keeps keys out of logs, errors and exports."""

import re

_PATTERNS = (
    re.compile(r"(?i)(bearer\s+)[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(
        r"(?i)((?:api[_-]?key|access[_-]?token|auth[_-]?token|token|secret|password)[\"']?\s*[:=]\s*[\"']?)[^\s\"',&}]{4,}"
    ),
    re.compile(r"()\b(?:sk|pk|rk|xox[abp]|ghp|gsk)[-_][A-Za-z0-9_-]{8,}"),
)


def redacted(text: str, *known: str) -> str:
    """The text with keys masked: the `known` ones, and whatever looks like one."""
    for secret in known:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    for pattern in _PATTERNS:
        text = pattern.sub(r"\1***", text)
    return text
