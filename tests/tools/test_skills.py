"""The tool that reads skills."""

from typing import Any

import pytest

from palmclaw.cli.counting import tokenizer
from palmclaw.core.codec import decode
from palmclaw.core.errors import ToolError
from palmclaw.core.limits import Limits
from palmclaw.core.messages import user_message
from palmclaw.core.ports import LIMITS, Request
from palmclaw.core.skill import SKILLS, Skill
from palmclaw.core.tools import Effect, ToolContext
from palmclaw.core.wire import compact
from palmclaw.plugins import to_wire
from palmclaw.tools import skills


class Book:
    """Two texts."""

    def __init__(self) -> None:
        flour = "x" * 3_000 + "\n" + "y\n" * 2_000
        self.texts = {("bread", ""): "Knead.\nBake.\n", ("bread", "references/flour.md"): flour}
        self.texts["bread", "long"] = "z" * 9_000 + "\nend"

    async def ready(self, session: str) -> tuple[Skill, ...]:
        return ()

    async def read(self, session: str, name: str, path: str = "") -> str:
        assert session == "main"
        if (name, path) not in self.texts:
            raise ToolError("not_found", "no")
        return self.texts[name, path]


async def read(**values: Any) -> Any:
    context = ToolContext("main", "t", "c", {SKILLS: Book(), LIMITS: Limits()})
    return await skills.skill.handler(decode(skills.skill.arguments, values), context)


async def test_a_body() -> None:
    assert await read(name="bread") == {"text": "Knead.\nBake.\n"}


async def test_a_long_file_in_parts() -> None:
    first = await read(name="bread", path="references/flour.md")
    assert (first["lines"], len(compact(first)) <= Limits().result_chars) == (2_001, True)
    told = first["text"]
    while "next_line" in first:
        first = await read(name="bread", path="references/flour.md", line=first["next_line"])
        told += first["text"]
    assert told == Book().texts["bread", "references/flour.md"]


async def test_a_line_that_is_too_long_is_cut_and_left_behind() -> None:
    found = await read(name="bread", path="long")
    assert (found["next_line"], found["cut"]) == (2, "the last line shown")
    assert await read(name="bread", path="long", line=2) == {"text": "end"}


async def test_what_is_refused_is_an_error() -> None:
    with pytest.raises(ToolError):
        await read(name="cake")


def test_it_only_reads_is_always_there_and_is_cheap() -> None:
    assert (skills.skill.effect, skills.skill.outside, skills.skill.fenced) == (Effect.READ, False, False)
    assert skills.MODULE.always
    body = to_wire("openai_chat")(Request("m", "", (user_message("x"),), (skills.skill,)))
    assert tokenizer({}).count(compact(body["tools"])) <= 60
