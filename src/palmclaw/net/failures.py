"""What a model service's refusal means, as a typed error with a sentence for a person. Pure."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from palmclaw.core.errors import (
    AuthFailed,
    BadCall,
    BadRequest,
    ContentFiltered,
    ContextOverflow,
    ModelNotFound,
    NoEndpoint,
    Overloaded,
    OverRate,
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
    "billing_error",
    "credit balance is too low",
    "api usage limits",
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
    "exceed context limit",
)
_BAD_CALL = ("parse tool call", "parsing tool call", "tool call arguments as json")
_OVERLOADED = ("overloaded", "server_error", "internal_error", "unavailable", "timeout", "upstream", "engine")
_FILTERED = (
    "content_filter",
    "contentfilter",
    "content filter",
    "content_policy",
    "content management policy",
    "data_inspection_failed",
    "invalid_prompt",
    "bio_policy",
    "policy_violation",
)
_NO_MODEL = ("model_not_found", "no such model", "model not found", "unknown model")
_NAMES_MODEL = re.compile(
    r"\bmodels?\b:?(?: (?:[`'\"][^`'\"]{1,200}[`'\"]|\S{0,80}[0-9/:.-]\S{0,80}))? (?:(?:do(?:es)?|is|was|are) )?"
    r"(?:not exist|not found|not available|not supported|unknown|invalid)\b"
)
"""A model that is not there; between it and that, nothing but its name."""
_OVER_RATE = re.compile(r"request too large.{0,200}(?:tokens per min|\(tpm\))", re.DOTALL)
_WAIT = re.compile(r'(?:retrydelay"?\s*:\s*"|try again in )([0-9]{1,6}(?:\.[0-9]{1,9})?)(ms|s)', re.IGNORECASE)
_NAMED = {
    "request_too_large": 413,
    "invalid_request_error": 400,
    "not_found_error": 404,
    "api_error": 500,
    "timeout_error": 504,
    "server_error": 500,
    "_image": 400,
    "image_": 400,
}
_BUSY = ("overloaded", "over capacity", "at capacity", "high demand", "engine is currently")


def failure(where: str, status: int, headers: Mapping[str, str], body: bytes, redact: Redact) -> ProviderError:
    """The error behind an HTTP answer of 400 and more; `where` is the address without anything secret."""
    words, code = _said(body)
    message = shown(words, redact)
    signs = f"{code} {words} {body.decode('utf-8', 'replace')}" if not is_web_page(body) else ""
    return _typed(status, f"{where} answered {status}" + (f": {message}" if message else "."), signs, headers)


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


def retry_after(headers: Mapping[str, str], words: str = "") -> float | None:
    """How many seconds the service asks to wait: in milliseconds, in seconds, as a date measured by its own clock,
    or in its words."""
    if re.fullmatch(r"[0-9]{1,9}", milliseconds := headers.get("Retry-After-Ms", "").strip()):
        return int(milliseconds) / 1000
    value = headers.get("Retry-After", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
        return float(value)
    if (until := _moment(value)) is not None:
        now = _moment(headers.get("Date", "")) or datetime.now(UTC)
        return max(0.0, (until - now).total_seconds())
    if found := _WAIT.search(words):
        return float(found[1]) / (1000 if found[2].lower() == "ms" else 1)
    return None


def is_web_page(body: bytes) -> bool:
    """Whether a person's browser was expected, not a program."""
    return body.lstrip()[:1] == b"<"


def _typed(status: int, message: str, signs: str, headers: Mapping[str, str]) -> ProviderError:
    wait = retry_after(headers, signs)
    hint = f"The service asks to wait {wait / 60:,.0f} minutes." if wait is not None and wait > 90 else ""
    return _kind(status, signs.lower())(message, hint, retry_after=wait)


def _kind(status: int, signs: str) -> type[ProviderError]:
    """The first row that fits."""
    refused = status in (400, 422)
    rows: tuple[tuple[bool, type[ProviderError]], ...] = (
        (status in (413, 429) and _OVER_RATE.search(signs) is not None, OverRate),
        (status == 402 or (status < 500 and _has(signs, _QUOTA)), QuotaExceeded),
        (status in (400, 403, 422) and _has(signs, _FILTERED), ContentFiltered),
        (status in (401, 403), AuthFailed),
        (status == 429 and _has(signs, _BUSY), Overloaded),
        (status == 429, RateLimited),
        (status == 413 or (refused and _has(signs, _OVERFLOW)), ContextOverflow),
        (refused and _lacks_model(signs), ModelNotFound),
        (status == 404 and re.search(r"\bmodel\b", signs) is not None, ModelNotFound),
        (status in (404, 405), NoEndpoint),
        (status >= 500 and _has(signs, _BAD_CALL), BadCall),
        (status in (503, 529) or (status >= 500 and _has(signs, _BUSY)), Overloaded),
        (status >= 500 or status == 408, Unavailable),
    )
    return next((kind for fits, kind in rows if fits), BadRequest)


def _lacks_model(signs: str) -> bool:
    return _has(signs, _NO_MODEL) or _NAMES_MODEL.search(signs) is not None


def _status_of(signs: str) -> int:
    """The HTTP status that an error word stands for; 0 when it stands for none."""
    if _has(signs, ("rate_limit", "rate limit", "too many requests")):
        return 429
    if _has(signs, _QUOTA):
        return 402
    if _has(signs, _OVERFLOW) or _has(signs, _FILTERED):
        return 400
    if _has(signs, _BUSY):
        return 529
    if _has(signs, ("invalid_api_key", "authentication_error", "permission_error")):
        return 401
    named = next((status for word, status in _NAMED.items() if word in signs), 0)
    return named or (503 if _has(signs, _OVERLOADED) else 0)


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
    if isinstance(place := value.get("loc"), list) and words:  # as FastAPI names the field that it refuses
        words = f"{'.'.join(map(str, place))}: {words}"
    codes = [str(value[k]) for k in ("code", "type", "status") if isinstance(value.get(k), str | int)]
    return words or json.dumps(value, ensure_ascii=False), codes[0] if len(codes) == 1 else " ".join(codes)


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
