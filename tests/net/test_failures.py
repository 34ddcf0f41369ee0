"""What a refusal means: status and words in, typed error out."""

import json
from typing import Any

import pytest

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
from palmclaw.net.failures import failure, is_web_page, reported, retry_after, shown

HERE = "https://api.example"


def masked(text: str) -> str:
    return text.replace("sk-secret", "***")


def plain(text: str) -> str:
    return text


def error(message: str, code: str = "", kind: str = "") -> bytes:
    return json.dumps({"error": {"message": message, "code": code, "type": kind}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (401, error("Incorrect API key: sk-secret"), AuthFailed, "answered 401: Incorrect API key: ***"),
        (403, b"", AuthFailed, "answered 403."),
        (402, error("Pay first"), QuotaExceeded, "answered 402: Pay first"),
        (429, error("You exceeded it", "insufficient_quota"), QuotaExceeded, "answered 429: You exceeded it"),
        (400, error("Insufficient Balance"), QuotaExceeded, "answered 400: Insufficient Balance"),
        (429, error("Slow down"), RateLimited, "answered 429: Slow down"),
        (400, error("too big", "context_length_exceeded"), ContextOverflow, "answered 400: too big"),
        (400, error("This model's maximum context length is 8192"), ContextOverflow, None),
        (422, error("the prompt is too long"), ContextOverflow, None),
        (400, error("input length and `max_tokens` exceed context limit: 9 + 2 > 10"), ContextOverflow, None),
        (400, error("Your credit balance is too low to access the Anthropic API."), QuotaExceeded, None),
        (400, error("You have reached your specified API usage limits."), QuotaExceeded, None),
        (413, b"<html>Request Entity Too Large</html>", ContextOverflow, "answered 413: a web page"),
        (413, error("Request too large for `x` on tokens per minute (TPM): Limit 6, Requested 9"), OverRate, None),
        (429, error("Request too large for gpt-4 on tokens per min (TPM): Limit 6, Requested 9"), OverRate, None),
        (429, error("Rate limit reached on tokens per min (TPM): Limit 6, Used 5, Requested 2"), RateLimited, None),
        (
            404,
            error("The model `x` does not exist or you do not have access to it.", "model_not_found"),
            ModelNotFound,
            None,
        ),
        (404, b'{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}', ModelNotFound, None),
        (400, error("model gpt-9 does not exist"), ModelNotFound, None),
        (404, b'{"error":"model \'qwen\' not found"}', ModelNotFound, "answered 404: model 'qwen' not found"),
        (400, error("Model Not Exist"), ModelNotFound, "answered 400: Model Not Exist"),
        (400, error("The value of model is invalid"), ModelNotFound, None),
        (400, error("'effort' is not supported with this model.", kind="invalid_request_error"), BadRequest, None),
        (400, error("This model does not support image input; image_url content is not supported"), BadRequest, None),
        (
            400,
            error("Invalid schema for function 'f': for this model every object must be closed; 'x' is invalid."),
            BadRequest,
            None,
        ),
        (400, error("Tools are given to a model; the schema is unknown or invalid"), BadRequest, None),
        (400, error('The model "a/b-1.5" does not exist'), ModelNotFound, None),
        (400, error("Model: `x` is not available"), ModelNotFound, None),
        (400, error("The requested model is not supported."), ModelNotFound, None),
        (400, error("filtered by our content management policy", "content_filter"), ContentFiltered, None),
        (400, error("Output data may contain inappropriate content.", "data_inspection_failed"), ContentFiltered, None),
        (400, error("Unknown field"), BadRequest, "answered 400: Unknown field"),
        (404, b'{"detail": "Not Found"}', NoEndpoint, "answered 404: Not Found"),
        (405, b'{"detail": []}', NoEndpoint, 'answered 405: {"detail": []}'),
        (422, b'{"detail": [{"msg": "field required"}]}', BadRequest, "answered 422: field required"),
        (
            422,
            b'{"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}',
            BadRequest,
            "answered 422: body.stream_options: Extra inputs are not permitted",
        ),
        (409, b'{"message": "busy"}', BadRequest, "answered 409: busy"),
        (400, b'{"error": "model is not loaded"}', BadRequest, "answered 400: model is not loaded"),
        (400, b'[{"error": {"message": "in a list"}}]', BadRequest, "answered 400: in a list"),
        (400, b'{"error": {}}', BadRequest, 'answered 400: {"error": {}}'),
        (400, b"null", BadRequest, "answered 400."),
        (400, b"just words\nand more", BadRequest, "answered 400: just words and more"),
        (400, b"[" * 100_000, BadRequest, None),
        (408, b"", Unavailable, "answered 408."),
        (500, error("boom"), Unavailable, "answered 500: boom"),
        (500, error("Failed to parse tool call arguments as JSON: missing closing quote"), BadCall, None),  # F017
        (502, b"<html>Bad gateway</html>", Unavailable, "answered 502: a web page"),
        (503, error("try later"), Overloaded, "answered 503: try later"),
        (500, error("The engine is currently overloaded"), Overloaded, None),
        (429, error("The engine is currently overloaded"), Overloaded, None),
        (529, error("overloaded"), Overloaded, "answered 529: overloaded"),
    ],
)
def test_statuses(status: int, body: bytes, kind: type[ProviderError], message: str | None) -> None:
    found = failure(HERE, status, {}, body, masked)
    assert type(found) is kind
    assert message is None or str(found) == f"{HERE} {message}"


def test_a_wrong_path_hints_at_the_address() -> None:
    assert "/v1" in failure(HERE, 404, {}, b"", plain).hint
    assert "provider.model" in failure(HERE, 404, {}, error("no such model"), plain).hint
    assert failure(HERE, 400, {}, b"", plain).hint == ""


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        ({"message": "slow", "code": "rate_limit_exceeded"}, RateLimited, "slow"),
        ({"message": "slow", "code": 429}, RateLimited, "slow"),
        ({"message": "none left", "type": "insufficient_quota"}, QuotaExceeded, "none left"),
        ({"message": "exceeds the context window"}, ContextOverflow, "exceeds the context window"),
        ({"message": "bad key", "code": "invalid_api_key"}, AuthFailed, "bad key"),
        ({"message": "Overloaded", "type": "overloaded_error"}, Overloaded, "Overloaded"),
        ({"message": "Internal server error", "type": "api_error"}, Unavailable, "Internal server error"),
        ({"message": "Request timeout", "type": "timeout_error"}, Unavailable, "Request timeout"),
        ({"message": "pay", "type": "billing_error"}, QuotaExceeded, "pay"),
        ({"message": "not so", "type": "invalid_request_error"}, BadRequest, "not so"),
        ({"message": "too big", "type": "request_too_large"}, ContextOverflow, "too big"),
        ({"message": "model: x", "type": "not_found_error"}, ModelNotFound, "model: x"),
        ({"message": "stopped", "code": "content_filter"}, ContentFiltered, "stopped"),
        ({"message": "flagged", "code": "invalid_prompt"}, ContentFiltered, "flagged"),
        ({"message": "stopped", "code": "bio_policy"}, ContentFiltered, "stopped"),
        ({"message": "stopped", "code": "misalignment_policy_violation"}, ContentFiltered, "stopped"),
        ({"message": "a fault", "code": "server_error"}, Unavailable, "a fault"),
        ({"message": "too big", "code": "image_file_too_large"}, BadRequest, "too big"),
        ({"message": "no image", "code": "invalid_base64_image"}, BadRequest, "no image"),
        ({"message": "gone", "code": 502}, Unavailable, "gone"),
        ({"message": "odd sk-secret"}, ProviderError, "odd ***"),
        ("just words", ProviderError, "just words"),
        ("", ProviderError, "an error without a word"),
        ([], ProviderError, "[]"),
    ],
)
def test_errors_inside_a_stream(value: Any, kind: type[ProviderError], message: str) -> None:
    found = reported(HERE, value, masked)
    assert (type(found), str(found)) == (kind, f"{HERE} reports: {message}")


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After-Ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After-Ms": "soon", "Retry-After": "1"}, 1.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Mon, 15 Jun 2026 10:00:30 GMT", "Date": "Mon, 15 Jun 2026 10:00:00 GMT"}, 30.0),
        ({"Retry-After": "Mon, 15 Jun 2026 10:00:30 -0000", "Date": "Mon, 15 Jun 2026 10:00:00 GMT"}, 30.0),
        ({"Retry-After": "Mon, 15 Jun 2026 10:00:00 GMT", "Date": "Mon, 15 Jun 2026 10:05:00 GMT"}, 0.0),
        ({"Retry-After": "Mon, 15 Jun 1998 10:00:00 GMT"}, 0.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
    limited = failure(HERE, 429, headers, b"", plain)
    assert isinstance(limited, RateLimited)
    assert limited.retry_after == seconds


def test_a_long_wait_is_said() -> None:
    assert "wait 10 minutes" in failure(HERE, 429, {"Retry-After": "600"}, b"", plain).hint
    assert "in a moment" in failure(HERE, 429, {"Retry-After": "5"}, b"", plain).hint
    absurd = {"Retry-After": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}
    assert failure(HERE, 429, absurd, b"", plain).retry_after is None


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (b'[{"error": {"code": 429, "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}]', 34.0),
        (error("Rate limit reached. Please try again in 1.5s."), 1.5),
        (error("Rate limit reached. Please try again in 450ms."), 0.45),
        (error("Rate limit reached."), None),
    ],
)
def test_a_wait_that_stands_in_the_words(body: bytes, seconds: float | None) -> None:
    assert failure(HERE, 429, {}, body, plain).retry_after == seconds
    assert failure(HERE, 429, {"Retry-After": "2"}, body, plain).retry_after == 2.0


def test_words_are_short_visible_and_on_one_line() -> None:
    assert shown("a\n\x1b[31mred\u202e  b", plain) == "a ⟨U+001B⟩[31mred⟨U+202E⟩ b"
    assert shown("x" * 499 + "y", plain) == "x" * 499 + "y"
    assert shown("x" * 100_000, plain) == "x" * 499 + "…"
    assert shown("sk-secret" * 2_000, masked) == "***" * 166 + "*…"


@pytest.mark.parametrize(("body", "page"), [(b" \n<!doctype html>", True), (b'{"a": "<b>"}', False), (b"", False)])
def test_web_pages(body: bytes, page: bool) -> None:
    assert is_web_page(body) is page
