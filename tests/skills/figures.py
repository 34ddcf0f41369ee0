"""How well matching does on sentences: `python -m tests.skills.figures` prints the figures of docs/skills.md."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from palmclaw.core.matching import matching
from palmclaw.core.skill import Skill
from palmclaw.storage.skill_shelf import built_in

HERE = Path(__file__).parent
ROOT_PAGE = HERE.parents[1] / "docs" / "skills.md"
TABLE = {  # first requests on which another agent spent up to 9,725 tokens, with the skills that they do call for
    "hi": set(),
    "你好": set(),
    "What time is it?": set(),
    "What's the weather in Tokyo tomorrow?": {"weather"},
    "明天早上8点提醒我开会": {"cron"},
    "Translate this sentence to French: the sea is calm": set(),
    "Explain how photosynthesis works": set(),
    "Search the web for local phone prices": set(),
    "Create an event on Friday at 3pm": {"personal"},
    "List the files in my workspace": {"files"},
    "Write a short poem about the sea": set(),
    "Read report.pdf and give me a summary": {"files", "summarize"},
    "I already read that book; any with a similar style?": set(),
    "Send hello to my Telegram friend": {"channels"},
}


@dataclass(frozen=True, slots=True)
class Figures:
    """A sentence counts by its set of skills."""

    sentences: int
    exact: int
    right: int
    surplus: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.surplus)

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed)

    def __str__(self) -> str:
        rest = f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        return f"{self.sentences} sentences, {self.exact} exactly, {rest}"


def skills() -> tuple[Skill, ...]:
    """The built-in ones, all of them."""
    return tuple(found.skill for found in built_in() if found.skill is not None)


def rows(name: str, wanted: Callable[[int], bool] = lambda number: True) -> Iterator[tuple[str, set[str]]]:
    """Sentences of a file with their skills; `wanted` chooses by their number."""
    for at, line in enumerate((HERE / name).read_text("utf-8").splitlines(), 1):
        row = json.loads(line)
        if wanted(row.get("id", at)):
            yield row["text"], set(row["skills"])


def measured(sentences: Iterator[tuple[str, set[str]]]) -> Figures:
    known = skills()
    found = [({s.name for s in matching(known, [text])}, want) for text, want in sentences]
    return Figures(
        len(found),
        sum(got == want for got, want in found),
        sum(len(got & want) for got, want in found),
        sum(len(got - want) for got, want in found),
        sum(len(want - got) for got, want in found),
    )


def unseen(number: int) -> bool:
    """The third that nobody looked at while the keywords were written."""
    return number % 3 == 0


if __name__ == "__main__":
    print("the table:", measured(iter(TABLE.items())))
    print("strangers' sentences, seen:", measured(rows("sentences.jsonl", lambda n: not unseen(n))))
    print("strangers' sentences, not seen:", measured(rows("sentences.jsonl", unseen)))
    print("all of these:", measured(iter([*TABLE.items(), *rows("sentences.jsonl")])))
    print("other strangers', never looked at:", measured(rows("strangers.jsonl")))
    print("our own sentences:", measured(rows("own.jsonl")))
