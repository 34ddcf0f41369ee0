"""The word by which a model says that nothing is to be sent. Pure."""

import json
import re

from palmclaw.core.values import dataclass

TOKEN = "NO_REPLY"
_ALONE = re.compile(rf"[\W_]*(?:{TOKEN}[\W_]*)+", re.IGNORECASE)
_THOUGHT = re.compile(r"\s*<(think|thinking|reasoning)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_BETWEEN_LETTERS = re.compile(r"[\W_]+")
_AROUND = "*_.!。！"
_HELD_AT_MOST = 400


def silent(text: str) -> bool:
    """Whether a whole answer is the token: in any case, repeated, in punctuation, as JSON, or behind a thought."""
    bare = text
    while thought := _THOUGHT.match(bare):
        bare = bare[thought.end() :]
    return _ALONE.fullmatch(bare) is not None or _is_action(bare)


def without_token(text: str) -> str:
    """What is to be sent of an answer: nothing if it is the token, else the text without the token at its end."""
    return "" if silent(text) else _stripped(text)


def ends_silently(text: str) -> bool:
    """Whether an answer is the token, or ends with it: a job that has nothing to tell says so like that."""
    return without_token(text) != text


@dataclass(slots=True)
class Hush:
    """Passes on what is being said, but holds back what may yet become the token."""

    _held: str = ""
    _has_spoken: bool = False
    _before: str = ""

    def feed(self, delta: str) -> str:
        """What can be shown now."""
        self._held += delta
        if not self._has_spoken and len(self._held) <= _HELD_AT_MOST and _may_be_silent(self._held):
            return ""
        end = max(0, _withheld(self._before + self._held) - len(self._before))
        shown, self._held = self._held[:end], self._held[end:]
        if shown:
            self._has_spoken, self._before = True, ""
        return shown

    def pause(self) -> str:
        """Nothing came for a while: blank space alone need not be held back."""
        if not self._has_spoken or not self._held or self._held.strip():
            return ""
        shown, self._held, self._before = self._held, "", "\n"
        return shown

    def rest(self) -> str:
        """What is left at the end of the answer; nothing where it was the token."""
        held, self._held = self._held, ""
        if not self._has_spoken:
            return without_token(held)
        return _stripped(self._before + held)[len(self._before) :]


def _stripped(text: str) -> str:
    """Without the tokens at the end and the space before them; as it is where there are none."""
    end = len(text.rstrip())
    kept = len(text)
    while (word := _last_word(text, end)) is not None and _bare(word) == TOKEN:
        kept = end = len(text[: end - len(word)].rstrip())
    return text[:kept]


def _withheld(text: str) -> int:
    """Where the last words begin that are the token, or may become it; with the space before them."""
    end = len(text)
    is_last = True
    while (word := _last_word(text, end)) is not None:
        bare = _bare(word)
        if bare != TOKEN and not (is_last and TOKEN.startswith(bare)):
            break
        end, is_last = len(text[: end - len(word)].rstrip()), False
    return end


def _last_word(text: str, end: int) -> str | None:
    """What stands behind the last space; None where there is no space, or too much for a token behind it."""
    for at in range(end - 1, max(-1, end - 40), -1):
        if text[at].isspace():
            return text[at + 1 : end]
    return None


def _bare(word: str) -> str:
    return word.strip(_AROUND)


def _may_be_silent(text: str) -> bool:
    """Whether more of the same could make the whole text the token."""
    letters = _BETWEEN_LETTERS.sub("", text).upper()
    token = _BETWEEN_LETTERS.sub("", TOKEN)
    said = letters.removeprefix("ACTION")
    return (token * (len(said) // len(token) + 1)).startswith(said) or "ACTION".startswith(letters)


def _is_action(text: str) -> bool:
    """The token in the shape of a call."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and list(value) == ["action"] and _ALONE.fullmatch(str(value["action"])) is not None
