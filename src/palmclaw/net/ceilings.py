"""How long an answer may be, as a service's refusals say it. Pure."""

import re

LEAST = 512
"""Fewer tokens are no ceiling of a model's, but some other number; more are no floor."""
_NUMBER = r"(\d+(?:[_,]\d{3})*)(?!\d|\.\d)"
_OF_THE_BOUND = re.compile(
    r"max_(?:output_|completion_|new_)?tokens|(?:output|completion) tokens|max_output\b", re.IGNORECASE
)
_NAMED = re.compile(
    rf"(?:<=|>|≤|at most|maximum|no more than|up to|equal to|exceeds?|limit)\D{{0,24}}?{_NUMBER}"
    rf"|range\D{{0,40}}\d+\s*,\s*{_NUMBER}",
    re.IGNORECASE,
)
_WINDOW_LESS_INPUT = re.compile(r"> (?P<window>\d+) - (?P<input>\d+)")
_INPUT_IN_WINDOW = re.compile(r"(?P<input>\d+) \+ (?:`?max_tokens`? )?\d+ > (?P<window>\d+)")
_WINDOW_AND_INPUT = re.compile(
    r"context length is (?P<window>\d+) tokens.{0,160}?\b(?P<input>\d+) (?:in the (?:messages|prompt)|input tokens)",
    re.S,
)
_OF_THE_WINDOW = re.compile(r"context (?:length|window|limit|size)", re.IGNORECASE)


def shorter(words: str, sent: int) -> tuple[int, int] | None:
    """The bound that a refusal of the bound `sent` names: for this request, and for later ones.

    Where it names the model's window, what is left of it now, and from then on half. None where it names nothing.
    """
    window, room = _window(words)
    if not window and _OF_THE_BOUND.search(words) and not _OF_THE_WINDOW.search(words):
        named = (int(re.sub("[_,]", "", one or other)) for one, other in _NAMED.findall(words))
        room = max((n for n in named if n < sent), default=0)
    return (room, window // 2 or room) if LEAST <= room < sent else None


def least(*bounds: int) -> int:
    """The smallest of these bounds, of which 0 is none; 0 where there is none at all."""
    return min((b for b in bounds if b > 0), default=0)


def _window(words: str) -> tuple[int, int]:
    """The model's window and what the input leaves of it; zeros where the words do not say."""
    for pattern in (_WINDOW_LESS_INPUT, _INPUT_IN_WINDOW, _WINDOW_AND_INPUT):
        if found := pattern.search(words):
            return int(found["window"]), int(found["window"]) - int(found["input"])
    return 0, 0
