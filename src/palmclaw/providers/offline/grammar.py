"""Sentence templates → the intent of a sentence and the values of its slots.

hassil matches whole sentences only. It and the templates are loaded at the first sentence, never at import.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

Read = Callable[[str, str], Any]
_DATA = Path(__file__).parent / "data"
_MARK = "⁝"  # stands for a colon, which hassil would drop
_COLON = re.compile(r"(?<![0-9])[:：](?!//)|(?<=[0-9])[:：](?![0-9/])")
_SPACE_AT_CJK = re.compile(r"(?<=[\u3000-\u9fff\uff00-\uffef])\s+|\s+(?=[\u3000-\u9fff\uff00-\uffef])")
_MOST = 400


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence that was understood: the intent, the fixed values of its template and what its slots hold."""

    intent: str
    slots: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The loaded templates of one language."""

    language: str
    intents: Any

    def heard(self, sentence: str, read: Read) -> Heard | None:
        """The best reading of the whole sentence whose every slot `read` accepts (it gives None for a no)."""
        found = list(self._readings(sentence, read))
        return min(found, key=lambda f: f[0])[1] if found else None

    def _readings(self, sentence: str, read: Read) -> Iterator[tuple[tuple[int, int, int], Heard]]:
        from hassil.recognize import recognize_all  # noqa: PLC0415  # start-up time: nothing before the first sentence

        folded, offsets = _folded(sentence, self.language)
        for count, result in enumerate(recognize_all(folded, self.intents)):
            if count == _MOST:
                return
            slots = _slots(result.entities_list, sentence, offsets, read)
            if slots is not None:
                wild = [e for e in result.entities_list if e.is_wildcard]
                score = (len(wild), -result.text_chunks_matched, sum(len(e.text) for e in wild))
                yield score, Heard(result.intent.name, slots)


@lru_cache(maxsize=2)
def grammar(language: str) -> Grammar:
    """Load the templates of "en" or "zh"; once per process."""
    from hassil.intents import Intents  # noqa: PLC0415  # start-up time

    with (_DATA / f"sentences.{language}.toml").open("rb") as file:
        written = tomllib.load(file)
    patterns: dict[str, list[str]] = written.get("patterns", {})
    intents = {
        name: {"data": [_block(block, patterns) for block in blocks]} for name, blocks in written["intents"].items()
    }
    return Grammar(
        language,
        Intents.from_dict(
            {
                "language": language,
                "settings": {"ignore_whitespace": language == "zh"},
                "skip_words": written["skip_words"],
                "expansion_rules": written["rules"],
                "lists": written["lists"] | {name: {"wildcard": True} for name in written["slots"]},
                "intents": intents,
            }
        ),
    )


def _block(block: Mapping[str, Any], patterns: Mapping[str, list[str]]) -> dict[str, Any]:
    """Templates as written, and those of a pattern with its `*` filled in."""
    of = block.get("of", "")
    made = [p.replace("*", of) for name in block.get("patterns", ()) for p in patterns[name]]
    return {"sentences": [*block.get("sentences", ()), *made], "slots": block.get("slots", {})}


def _folded(sentence: str, language: str) -> tuple[str, list[int]]:
    """The sentence as the templates expect it, and for each of its characters the place in the original."""
    mark = _MARK if language == "zh" else f" {_MARK} "
    chars: list[str] = []
    offsets: list[int] = []
    colons = {m.start() for m in _COLON.finditer(sentence)}
    gaps = {i for m in _SPACE_AT_CJK.finditer(sentence) for i in range(*m.span())}
    for at, char in enumerate(sentence):
        piece = mark if at in colons else "" if at in gaps else "'" if char in "‘’" else char
        chars.append(piece)
        offsets += [at] * len(piece)
    return "".join(chars), [*offsets, len(sentence)]


def _slots(entities: list[Any], sentence: str, offsets: list[int], read: Read) -> dict[str, Any] | None:
    slots: dict[str, Any] = {}
    for entity in entities:
        if not entity.is_wildcard:
            slots[entity.name] = entity.value
            continue
        start, end = entity.text_span
        value = read(entity.name, _original(sentence, offsets[start], offsets[max(start, end - 1)] + 1))
        if value is None:
            return None
        slots[entity.name] = value
    return slots


def _original(sentence: str, start: int, end: int) -> str:
    """The words as they were written, with the ?, ! and … that closed the sentence."""
    tail = re.match(r"[?？!！…]+", sentence[end:])
    return sentence[start : end + (tail.end() if tail else 0)].strip()
