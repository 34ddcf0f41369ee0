"""Sentence templates → the intent of a sentence and the values of its slots.

hassil matches whole sentences only. It and the templates are loaded at the first sentence, never at import, and a
template is parsed when a sentence first has the words for it.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Any

from palmclaw.core.values import dataclass
from palmclaw.providers.offline.covering import Cover, covers
from palmclaw.providers.offline.folding import MARK, Folding, folding
from palmclaw.providers.offline.templates import Clause, Needs, present, rules_in, satisfied

Read = Callable[[str, str], Any]
Score = tuple[bool, int, int, int]
_DATA = Path(__file__).parent / "data"
_MOST = 400


@dataclass(frozen=True, slots=True)
class Heard:
    """A sentence that was understood: the intent, the fixed values of its template and what its slots hold."""

    intent: str
    slots: Mapping[str, Any]
    loose: bool = False  # where a name ends and a message begins was not said


@dataclass(frozen=True, slots=True)
class Template:
    """One sentence template with what it needs before it can match."""

    intent: str
    text: str
    slots: Mapping[str, Any]
    needs: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The loaded templates of one language; what was parsed of them is kept."""

    language: str
    templates: tuple[Template, ...]
    vocabulary: frozenset[str]
    rules: Mapping[str, str]
    lists: Mapping[str, Any]
    skip_words: tuple[str, ...]
    covers: tuple[Cover, ...]
    fillers: frozenset[str]
    folding: Folding
    parsed_templates: dict[str, Any] = field(default_factory=dict)
    parsed_rules: dict[str, Any] = field(default_factory=dict)

    def heard(self, sentence: str, read: Read) -> Heard | None:
        """The best reading of the whole sentence whose every slot `read` accepts (it gives None for a no)."""
        found = list(self._readings(sentence, read))
        return min(found, key=lambda f: f[0])[1] if found else None

    def covered(self, sentence: str) -> Heard | None:
        """The intent whose ideas the sentence names in words that are all known, in whatever order."""
        spaced, folded = self.language != "zh", self.folding.folded(sentence)[0].replace(MARK, " ")
        found = (c for c in self.covers if c.holds(folded, self.fillers, spaced))
        best = max(found, key=lambda c: len(c.ideas), default=None)
        return None if best is None else Heard(best.intent, best.slots)

    def _readings(self, sentence: str, read: Read) -> Iterator[tuple[Score, Heard]]:
        from hassil.recognize import recognize_all  # noqa: PLC0415  # start-up time: nothing before the first sentence

        folded, offsets = self.folding.folded(sentence)
        for count, result in enumerate(recognize_all(folded, self._candidates(folded.casefold()))):
            if count == _MOST:
                return
            slots = _slots(result.entities_list, sentence, offsets, read)
            if slots is not None:
                wild = [e for e in result.entities_list if e.is_wildcard]
                weak = bool(slots.pop("weak", False))
                score = (weak, len(wild), -result.text_chunks_matched, sum(len(e.text) for e in wild))
                yield score, Heard(result.intent.name, slots, weak)

    def _candidates(self, folded: str) -> Any:
        """The templates that the sentence has the words for, as hassil wants them."""
        from hassil.intents import Intent, Intents, IntentsSettings  # noqa: PLC0415  # start-up time

        spaced = self.language != "zh"
        words = present(self.vocabulary, folded, spaced)
        fitting = [t for t in self.templates if satisfied(t.needs, words)]
        intents: dict[str, Any] = {}
        for template in fitting:
            self._add_rules(template.text)
            intents.setdefault(template.intent, Intent(template.intent)).data.append(self._parsed(template))
        settings = IntentsSettings(ignore_whitespace=not spaced)
        return Intents(self.language, intents, dict(self.lists), self.parsed_rules, list(self.skip_words), settings)

    def _parsed(self, template: Template) -> Any:
        from hassil.intents import IntentData  # noqa: PLC0415  # start-up time

        key = f"{template.intent}\n{template.text}\n{template.slots}"
        if key not in self.parsed_templates:
            self.parsed_templates[key] = IntentData([template.text], slots=dict(template.slots))
        return self.parsed_templates[key]

    def _add_rules(self, text: str) -> None:
        from hassil.parse_expression import parse_sentence  # noqa: PLC0415  # start-up time

        for name in rules_in(text):
            if name not in self.parsed_rules:
                self.parsed_rules[name] = parse_sentence(self.rules[name], keep_text=True)
                self._add_rules(self.rules[name])


@lru_cache(maxsize=2)
def grammar(language: str) -> Grammar:
    """Load the templates of "en" or "zh"; once per process."""
    from hassil.intents import Intents, WildcardSlotList  # noqa: PLC0415  # start-up time

    written, loose = _loaded(f"sentences.{language}.toml"), _loaded(f"loose.{language}.toml")
    rules: dict[str, str] = written["rules"]
    lists = Intents.from_dict({"language": language, "intents": {}, "lists": written["lists"]}).slot_lists
    wild = {name: WildcardSlotList(name=name) for name in written["slots"]}
    skip = tuple(written["skip_words"])
    pauses = tuple(f"{word}，" for word in skip) if language == "zh" else ()
    loosely = tuple(covers(loose["intents"])), frozenset(loose["fillers"].split())
    templates = tuple(_templates(written, rules))
    vocabulary = frozenset(word for t in templates for clause in t.needs for word in clause)
    fold = folding(language, written.get("folds", {}))
    return Grammar(language, templates, vocabulary, rules, lists | wild, (*pauses, *skip), *loosely, fold)


def _loaded(name: str) -> dict[str, Any]:
    with (_DATA / name).open("rb") as file:
        return tomllib.load(file)


def _templates(written: Mapping[str, Any], rules: dict[str, str]) -> Iterator[Template]:
    patterns: Mapping[str, list[str]] = written["patterns"]
    needs = Needs(rules)
    for intent, blocks in written["intents"].items():
        for block in blocks:
            for text in _sentences(block, patterns, rules):
                yield Template(intent, text, block.get("slots", {}), needs.of(text))


def _sentences(block: Mapping[str, Any], patterns: Mapping[str, list[str]], rules: dict[str, str]) -> list[str]:
    """Templates as written, and those of a pattern with its `*` filled in (as a rule, so that it is parsed once)."""
    of = block.get("of", "")
    if "(" in of:
        name = next((n for n, body in rules.items() if body == of), f"of_{len(rules)}")
        rules[name], of = of, f"<{name}>"
    made = [p.replace("*", of) for name in block.get("patterns", ()) for p in patterns[name]]
    return [*block.get("sentences", ()), *made]


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
