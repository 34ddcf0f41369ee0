"""Number words of both languages written as digits, so that every later rule reads digits only."""

import re

_SMALL = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
_ROUND = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = {word: n for n, word in enumerate(_SMALL)}
_TENS = {word: n * 10 for n, word in enumerate(_ROUND, 2)}
_ENGLISH = "|".join((*_ONES, *_TENS, "hundred", "thousand"))
_ENGLISH_RUN = re.compile(rf"\b(?:{_ENGLISH})(?:[\s-]+(?:and\s+)?(?:{_ENGLISH}))*\b")
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_CHINESE_RUN = re.compile("[零〇一二两兩三四五六七八九十百千万]+")
_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
)
_ORDINAL_OF = {word: n for n, word in enumerate(_ORDINALS, 1)} | {"thirtieth": 30}
_ORDINAL = re.compile(
    r"\b(?:(twenty|thirty)[\s-])?(" + "|".join(sorted(_ORDINAL_OF, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


def with_digits(text: str) -> str:
    """The text in lower case with number words of both languages as digits: "twenty-five" → "25", "二十五" → "25"."""
    text = _ENGLISH_RUN.sub(lambda m: _english(m[0]), text.lower())
    return _CHINESE_RUN.sub(lambda m: _chinese(m[0]), text)


def with_ordinals(text: str) -> str:
    """English ordinal words as "12th", for dates ("the twelfth of June")."""
    return _ORDINAL.sub(lambda m: f"{_TENS.get((m[1] or '').lower(), 0) + _ORDINAL_OF[m[2].lower()]}th", text)


def number(text: str) -> int | None:
    """The whole number that the text is, or None."""
    found = re.fullmatch(r"\s*(-?\d{1,9})\s*", with_digits(text))
    return int(found[1]) if found else None


def _english(run: str) -> str:
    """One number, or several side by side as in "ten thirty"."""
    said: list[int] = []
    for word in run.replace("-", " ").split():
        if word in ("hundred", "thousand") and said:
            said[-1] = _multiplied(said[-1], 100 if word == "hundred" else 1000)
        elif word in _ONES or word in _TENS:
            _add(said, _ONES.get(word, _TENS.get(word, 0)))
        elif word in ("hundred", "thousand"):
            said.append(100 if word == "hundred" else 1000)
    return " ".join(str(n) for n in said)


def _multiplied(value: int, factor: int) -> int:
    """ "two thousand three" "hundred" multiplies only what follows the thousands."""
    low = value % 1000
    return value - low + low * factor if factor == 100 and low else value * factor


def _add(said: list[int], value: int) -> None:
    """Put the word's value into the last number when it fits there, else begin a new one."""
    last = said[-1] if said else -1
    fits_tens = last % 100 >= 20 and last % 10 == 0 and 0 < value < 10
    fits_hundreds = last > 0 and last % 100 == 0 and value > 0
    if fits_tens or fits_hundreds:
        said[-1] += value
    else:
        said.append(value)


def _chinese(run: str) -> str:
    if not any(c in _UNITS or c == "万" for c in run):
        return "".join(str(_DIGITS[c]) for c in run)
    total = section = digit = 0
    unit = 1
    for char in run:
        if char == "万":
            total, section, digit, unit = (total + section + digit) * 10_000, 0, 0, 10_000
        elif char in _UNITS:
            unit = _UNITS[char]
            section, digit = section + (digit or 1) * unit, 0
        else:
            digit = _DIGITS[char]
            unit = 1 if digit == 0 else unit
    return str(total + section + digit * (unit // 10 if unit > 10 else 1))
