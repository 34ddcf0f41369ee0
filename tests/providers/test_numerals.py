"""Number words of both languages become the digits they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.providers.offline.numerals import number, with_digits, with_ordinals

ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def english(n: int) -> str:
    if n >= 1000:
        return f"{english(n // 1000)} thousand" + (f" {english(n % 1000)}" if n % 1000 else "")
    if n >= 100:
        return f"{english(n // 100)} hundred" + (f" and {english(n % 100)}" if n % 100 else "")
    if n < 20:
        return (*ONES, *TEENS)[n]
    return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")


def chinese(n: int) -> str:
    digits = "零一二三四五六七八九"
    if n < 10:
        return digits[n]
    if n < 100:
        return ("" if n < 20 else digits[n // 10]) + "十" + (digits[n % 10] if n % 10 else "")
    unit, name = (1000, "千") if n >= 1000 else (100, "百")
    rest = n % unit
    gap = "零" if rest and rest < unit // 10 else ""
    tail = "" if not rest else ("一" if 10 <= rest < 20 else "") + chinese(rest)
    return digits[n // unit] + name + gap + tail


@given(st.integers(0, 9_999))
def test_every_english_number_is_read(n: int) -> None:
    assert number(english(n)) == n


@given(st.integers(0, 9_999))
def test_every_chinese_number_is_read(n: int) -> None:
    assert number(chinese(n)) == n


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ten thirty", "10 30"),
        ("nine fifteen pm", "9 15 pm"),
        ("twenty five", "25"),
        ("a hundred things", "a 100 things"),
        ("二零二六年", "2026年"),
        ("两千三", "2300"),
        ("一百二", "120"),
        ("三万五千", "35000"),
        ("someone", "someone"),
    ],
)
def test_runs_of_number_words(words: str, expected: str) -> None:
    assert with_digits(words) == expected


@pytest.mark.parametrize("words", ["", "many", "3.5", "three apples"])
def test_what_is_no_whole_number(words: str) -> None:
    assert number(words) is None


def test_ordinals() -> None:
    assert with_ordinals("the twelfth and the twenty-first") == "the 12th and the 21th"
