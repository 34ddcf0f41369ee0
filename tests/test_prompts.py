"""What the model is told names only what there is, and costs no more than it may."""

import re
from pathlib import Path

import pytest

from palmclaw import plugins
from palmclaw.app import PROMPTS
from palmclaw.cli.counting import VOCABULARY, tokenizer
from palmclaw.core import errors, session
from palmclaw.core.errors import Fault, PalmclawError
from palmclaw.core.templates import NAMES, filled
from palmclaw.storage.templates import Templates

QUOTED = re.compile(r"`([^`\n]+)`")
SNAKE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def codes() -> set[str]:
    """Every code of an error that a model may meet."""
    classes = {c.code for c in vars(errors).values() if isinstance(c, type) and issubclass(c, PalmclawError)}
    return classes | {f.code for f in vars(session).values() if isinstance(f, Fault)} | {"declined", "denied"}


def texts() -> list[tuple[str, str]]:
    """Every text that can stand in a prompt, besides the tools' own."""
    _, modules = plugins.tools()
    files = [(p.name, filled(p.read_text("utf-8"), {"agent": "Ada"}, p.name)) for p in sorted(PROMPTS.glob("*.md"))]
    return [*files, *((name, module.prompt) for name, module in modules.items() if module.prompt)]


@pytest.mark.parametrize(("name", "text"), texts())
def test_a_prompt_names_only_what_there_is(name: str, text: str) -> None:
    tools, modules = plugins.tools()
    known = {*tools, *modules, *codes()}
    named = {*QUOTED.findall(text), *SNAKE.findall(text)}
    assert named - known == set()


def test_all_templates_together_cost_at_most_400_tokens() -> None:
    counter = tokenizer({})
    assert counter.name == VOCABULARY
    whole = "\n".join(filled((PROMPTS / f"{n}.md").read_text("utf-8"), {"agent": "PalmClaw"}, n) for n in NAMES)
    assert counter.count(whole) <= 400
    assert counter.count(Templates(PROMPTS, Path("/nowhere")).policy()) <= 320
