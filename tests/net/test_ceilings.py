"""How long an answer may be, out of a refusal's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.net.ceilings import LEAST, least, shorter


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for c-3-5", (8_192, 8_192)),
        ("max_tokens is too large: 32000. This model supports at most 16384 completion tokens", (16_384, 16_384)),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", (8_192, 8_192)),
        ("Range of max_tokens should be [1,8192]", (8_192, 8_192)),
        ("max_tokens (32000) exceeds the maximum output tokens (16_384)", (16_384, 16_384)),
        ("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the"
         " `context_window` for this model", (8_192, 8_192)),
        ("The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum value, "
         "expected a value <= 12288, but got 32000 instead. Request id: 0217752964393142fa5020000", (12_288, 12_288)),
        ("max_output_tokens must be at most 16,384.", (16_384, 16_384)),
        ("'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192"
         " tokens and your request has 500 input tokens (32000 > 8192 - 500). None", (7_692, 4_096)),
        ("input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease", (10_000, 100_000)),
        ("This model's maximum context length is 8192 tokens. However, you requested 32064 tokens (64 in the messages,"
         " 32000 in the completion). Please reduce the length of the messages or completion.", (8_128, 4_096)),
        ("This model's maximum context length is 8192 tokens. However, you requested 32000 output tokens and your "
         "prompt contains at least 192 input tokens, for a total of at least 32192 tokens.", (8_000, 4_096)),
        ("max_tokens is too large (32000 > 8192 - 8000).", None),
        ("This model's maximum context length is 8192 tokens, which max_tokens exceeds", None),
        ("prompt is too long: 210000 tokens > 200000 maximum", None),
        ("max_tokens: must be at least 1", None),
        ("max_tokens must be at most 255", None),
        ("max_tokens must be at most 32000", None),
        ("Unknown parameter: max_tokens", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_bound_that_a_refusal_names(words: str, found: tuple[int, int] | None) -> None:
    assert shorter(words, 32_000) == found
    assert shorter(words, 0) is None


@given(st.text(st.sampled_from("max_tokens >0123456789,-+=[]()range"), max_size=60), st.integers(0, 100_000))
def test_a_lesson_always_asks_for_less(words: str, sent: int) -> None:
    found = shorter(f"max_tokens at most {words}", sent)
    assert found is None or (LEAST <= found[0] < sent and found[1] > 0)


def test_the_smallest_of_the_bounds_that_are_any() -> None:
    assert [least(), least(0, 0), least(0, 5), least(7, 5), least(7, 0)] == [0, 0, 5, 5, 7]
