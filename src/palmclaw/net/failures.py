"""What a model service's refusal means, as a typed error with a sentence for a person. Pure."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from palmclaw.core.errors import (
    AuthFailed,
    BadReply,
    BadRequest,
    ContextOverflow,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Unavailable,
)
from palmclaw.core.text import visible

MESSAGE_CHARS = 500
Redact = Callable[[str], str]

_QUOTA = (
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "insufficient_balance",
    "billing_hard_limit",
)
_OVERFLOW = (
    "context_length",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "too many tokens",
    "input is too long",
    "reduce the length",
)
_BAD_CALL = ("parse tool call", "parsing tool call", "tool call arguments as json")
_OVERLOADED = ("overloaded", "server_error", "internal_error", "unavailable", "timeout", "upstream", "engine")
_ADDRESS_HINT = "Is the address right? It mostly ends in /v1: palmclaw config get provider.base_url"


def failure(where: str, status: int, headers: Mapping[str, str], body: bytes, redact: Redact) -> ProviderError:
    """The error behind an HTTP answer of 400 and more; `where` is the address without anything secret."""
    words, code = _said(body)
    message = shown(words, redact)
    return _typed(
        status, f"{where} answered {status}" + (f": {message}" if message else "."), f"{code} {words}", headers
    )


def reported(where: str, error: Any, redact: Redact) -> ProviderError:
    """The error that a service reports inside a stream that began well."""
    words, code = _words(error)
    message = f"{where} reports: {shown(words, redact) or 'an error without a word'}"
    signs = f"{code} {words}".lower()
    status = int(code) if code.isdecimal() and len(code) == 3 else _status_of(signs)
    return _typed(status, message, signs, {}) if status else ProviderError(message)


def shown(text: str, redact: Redact) -> str:
    """A service's words on one line: secrets masked, control characters made visible, at most 500 characters."""
    line = visible(" ".join(redact(text).split()))
    return line if len(line) <= MESSAGE_CHARS else line[: MESSAGE_CHARS - 1] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the service asks to wait: given as seconds, or as a date measured by its own clock."""
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
        return float(value)
    until = _moment(value)
    if until is None:
        return None
    now = _moment(headers.get("Date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def is_web_page(body: bytes) -> bool:
    """Whether a person's browser was expected, not a program."""
    return body.lstrip()[:1] == b"<"


def _typed(status: int, message: str, signs: str, headers: Mapping[str, str]) -> ProviderError:
    signs = signs.lower()
    if status == 402 or (status < 500 and _has(signs, _QUOTA)):
        return QuotaExceeded(message)
    if status in (401, 403):
        return AuthFailed(message)
    if status == 429:
        return RateLimited(message, retry_after(headers))
    if status == 413 or (status in (400, 422) and _has(signs, _OVERFLOW)):
        return ContextOverflow(message)
    if status >= 500 and _has(signs, _BAD_CALL):
        return BadReply(
            message, "The model wrote a tool call that its service could not read: ask for something smaller."
        )
    if status >= 500 or status == 408:
        return Unavailable(message)
    return BadRequest(message, _ADDRESS_HINT if status in (404, 405) else "")


def _status_of(signs: str) -> int:
    """The HTTP status that an error word stands for; 0 when it stands for none."""
    if _has(signs, ("rate_limit", "rate limit", "too many requests")):
        return 429
    if _has(signs, _QUOTA):
        return 402
    if _has(signs, _OVERFLOW):
        return 400
    if _has(signs, ("invalid_api_key", "authentication_error", "permission_error")):
        return 401
    return 503 if _has(signs, _OVERLOADED) else 0


def _has(text: str, signs: tuple[str, ...]) -> bool:
    return any(sign in text for sign in signs)


def _said(body: bytes) -> tuple[str, str]:
    """The service's own words and its code for them."""
    if is_web_page(body):
        return "a web page", ""
    text = body.decode("utf-8", "replace")
    try:
        return _words(json.loads(text))
    except (ValueError, RecursionError):
        return text, ""


def _words(value: Any) -> tuple[str, str]:
    """`{"error": {"message", "code", "type"}}` in all the shapes that services give it."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return ("" if value is None else str(value)), ""
    for key in ("error", "errors", "detail"):
        if isinstance(inner := value.get(key), dict | list) and inner:
            return _words(inner)
    words = next((value[k] for k in ("message", "msg", "error", "detail") if isinstance(value.get(k), str)), "")
    codes = [str(value[k]) for k in ("code", "type", "status") if isinstance(value.get(k), str | int)]
    return words or json.dumps(value, ensure_ascii=False), codes[0] if len(codes) == 1 else " ".join(codes)


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
