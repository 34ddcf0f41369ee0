"""SKILL.md as people write it: forgiven where it is plain what was meant, else refused with file, line and reason."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palmclaw.core.skill import Requirements, Skill, Source
from palmclaw.storage.skill_file import MOST_BYTES, BrokenSkill, digest, parsed
from tests.children import bare

PLAIN = "---\nname: tidy-notes\ndescription: Tidies notes.\n---\nBody"


def read(text: str | bytes, keywords: bytes = b"") -> Skill:
    return parsed("tidy-notes", text.encode() if isinstance(text, str) else text, keywords)


def refused(text: str | bytes, keywords: bytes = b"") -> str:
    with pytest.raises(BrokenSkill) as caught:
        read(text, keywords)
    return str(caught.value)


def with_front(*lines: str) -> str:
    return "\n".join(["---", "name: tidy-notes", "description: Tidies.", *lines, "---", "Body"])


WORDS = b"# a remark\n\nsort out, tidy up\nclean|clear up\n\nhints:\nmess\n\nnot:\ntidy sum\n"


def test_keywords_that_are_never_heard_are_warned_of() -> None:
    found = read(with_front("metadata:", '  keywords: ["{time} to tidy", tidy]'), "hints:\n… up\n".encode())
    assert found.warnings == (
        "the keyword '{time} to tidy' is never heard: {time} is no kind of word",
        "the keyword '… up' is never heard: it does not begin with a word",
    )


def test_a_whole_skill() -> None:
    text = with_front(
        "license: MIT",
        "compatibility: needs git",
        "allowed-tools: [file_read, file_write]",
        "metadata:",
        "  summary: tidies",
        "  keywords: tidy up, 整理",
        "  always: true",
        "  requires: {bins: [git], anyBins: [jq, yq], env: KEY, os: [Linux], capabilities: [SetTorch]}",
    )
    assert read(text, WORDS) == Skill(
        name="tidy-notes",
        description="Tidies.",
        body="Body",
        summary="tidies",
        keywords=("tidy up", "整理", "sort out", "clean|clear up"),
        hints=("mess",),
        bars=("tidy sum",),
        always=True,
        requires=Requirements(("git",), ("jq", "yq"), ("KEY",), ("linux",), ("SetTorch",)),
        source=Source.USER,
        digest=digest(text.encode(), WORDS),
        license="MIT",
        compatibility="needs git",
        allowed_tools=("file_read", "file_write"),
    )


def test_f082_a_colon_in_the_description() -> None:
    found = read("---\nname: tidy-notes\ndescription: Clean up notes: merge, sort, tag. Flags: --all\n---\nBody")
    assert found.description == "Clean up notes: merge, sort, tag. Flags: --all"
    assert found.warnings == ("line 3: read as if it were quoted; put the text after the first colon between quotes",)


def test_f082_a_colon_in_a_description_of_several_lines() -> None:
    found = read(with_front("license: It's: mine", "  and: yours", "compatibility: any"))
    assert (found.license, found.compatibility) == ("It's: mine and: yours", "any")


def test_f082_what_even_quotes_cannot_mend_is_told_as_it_is() -> None:
    assert refused(with_front("license: a: b", "metadata: {a: [")).startswith("SKILL.md, line 4: no YAML: ")
    assert refused(with_front("metadata: {a: [1, 2}")).startswith("SKILL.md, line 4: no YAML: ")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        f"\n\n{PLAIN}\n\n".encode(),
        PLAIN.replace("---\nBody", "...\nBody").encode(),
    ],
    ids=["utf-8 mark", "utf-16", "utf-16 big", "crlf", "cr", "empty lines", "points"],
)
def test_f083_byte_order_marks_and_line_ends(raw: bytes) -> None:
    found = read(raw)
    assert (found.name, found.description, found.body) == ("tidy-notes", "Tidies notes.", "Body")


def test_f084_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    (tmp_path / "skills" / "a").mkdir(parents=True)
    (tmp_path / "skills" / "a" / "SKILL.md").write_text("---\nname: a\ndescription: Übersicht — 概览\n---\n", "utf-8")
    code = (
        "import sys; from pathlib import Path; from palmclaw.storage.skill_shelf import of_the_owner\n"
        "home = Path(sys.argv[1])\n"
        "for _ in range(2): print(of_the_owner(home / 'skills', home / 'read.json')[0].skill.description.encode())"
    )
    command = [sys.executable, "-X", "utf8=0", "-c", code, str(tmp_path)]
    done = subprocess.run(command, env=bare(LC_ALL="C", PYTHONCOERCECLOCALE="0"), capture_output=True, check=True)
    assert done.stdout.split(b"\n")[:2] == [repr("Übersicht — 概览".encode()).encode()] * 2


def test_f086_no_opening_line() -> None:
    assert refused("name: lamp-code\ndescription: Answer with the lamp code\n-----------\n# Lamp") == (
        "SKILL.md, line 1: the line --- before it is missing: begin with ---, name: …, description: …, and --- again"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "SKILL.md: is empty"),
        ("# Lamp", "SKILL.md, line 1: it has no front matter: begin with ---, name: …, description: …, and --- again"),
        ("---\nname: a\n", "SKILL.md, line 1: the front matter that begins here never ends: write --- after it"),
        ("---\n---\n", "SKILL.md, line 2: the front matter is no table: write name: …, description: …"),
        ("---\n- a\n---\n", "SKILL.md, line 2: the front matter is no table: write name: …, description: …"),
        ("---\nname: tidy-notes\n---\n", "SKILL.md, line 1: description is missing"),
        (
            with_front("license: [MIT]"),
            "SKILL.md, line 4: license must be a text, and is a list; put it between quotes",
        ),
        (with_front("license: 3"), "SKILL.md, line 4: license must be a text, and is a number; put it between quotes"),
        (
            with_front("license: yes"),
            "SKILL.md, line 4: license must be a text, and is true or false; put it between quotes",
        ),
        (
            with_front("license: 2024-01-01"),
            "SKILL.md, line 4: license must be a text, and is a date; put it between quotes",
        ),
        (with_front("metadata: [a]"), "SKILL.md, line 4: metadata must be a table, and is a list"),
        (
            with_front("metadata:", "  keywords: [1]"),
            "SKILL.md, line 5: keywords must be a list of texts, and is a list",
        ),
        (with_front("metadata:", "  always: maybe"), "SKILL.md, line 5: always must be true or false"),
        (with_front("metadata: {requires: git}"), "SKILL.md, line 1: requires must be a table, and is a text"),
        (with_front("x: &a x", "y: *a"), "SKILL.md, line 5: references (*name) are not taken"),
        (with_front("license: 2024-99-99"), ""),
        (with_front("x: !!python/object:os.system {}"), "SKILL.md, line 4: no YAML: "),
        (
            "---\nname: ../tidy-notes\ndescription: a\n---\n",
            "SKILL.md, line 2: name is '../tidy-notes'; it may hold small letters, digits and single hyphens between",
        ),
        (
            "---\nname: Tidy\ndescription: a\n---\n",
            "SKILL.md, line 2: name is 'Tidy'; it may hold small letters, digits and single hyphens between them",
        ),
        (f"---\nname: {'a' * 65}\ndescription: a\n---\n", "SKILL.md, line 2: name has 65 characters; at most 64"),
        (
            "---\nname: other\ndescription: a\n---\n",
            "SKILL.md, line 2: name is other, but the folder is called 'tidy-notes': rename one of them",
        ),
        (
            f"---\nname: tidy-notes\ndescription: {'x' * 2_000}\n---\n",
            "SKILL.md, line 3: description has 2,000 characters; at most 1,024",
        ),
        (
            f"---\nname: tidy-notes\ndescription: {'x' * 1_000_000}\n---\n",
            "SKILL.md: has 1,000,039 bytes; at most 262,144",
        ),
        (with_front("x: " + "y" * 70_000), "SKILL.md, line 1: the front matter has more than 65,536 characters"),
        (b"---\nname: tidy-notes\ndescription: \xff\n---\n", "SKILL.md, line 3: is no UTF-8 text: save it as UTF-8"),
        (b"\xff\xfea", "SKILL.md: is no UTF-16 text: save it as UTF-8"),
        (with_front("x: \x00"), "SKILL.md, line 2: no YAML: it cannot be read"),
    ],
)
def test_what_is_broken_is_named_with_its_line(text: str | bytes, problem: str) -> None:
    if not problem:
        assert read(text).warnings != ()
        return
    assert refused(text).startswith(problem)


@pytest.mark.parametrize("nest", ["[", "{a: ", "- ", "? ", "[]\n"], ids=["list", "table", "dashes", "keys", "many"])
def test_deep_nesting_is_a_reason_and_takes_no_time(nest: str) -> None:
    assert refused(with_front("x: " + nest * 10_000)) == "SKILL.md, line 2: is nested too deeply"


def test_what_is_nested_as_deep_as_lines_can_be() -> None:
    lines = [f"{' ' * depth}x:" for depth in range(340)]
    assert read(with_front(*lines)).name == "tidy-notes"


def test_keywords_in_another_encoding() -> None:
    assert refused(PLAIN, b"a\n\xff") == "keywords.txt, line 2: is no UTF-8 text: save it as UTF-8"


def test_a_missing_name_is_that_of_the_folder() -> None:
    found = read("---\ndescription: a\n---\n")
    assert (found.name, found.warnings) == ("tidy-notes", ("name is missing; read as tidy-notes",))


def test_names_in_other_scripts() -> None:
    assert parsed("整理-笔记", "---\nname: 整理-笔记\ndescription: a\n---\n".encode()).name == "整理-笔记"
    composed = parsed("e\u0301te", "---\nname: \u00e9te\ndescription: a\n---\n".encode())
    assert composed.name == "\u00e9te"


@pytest.mark.parametrize(
    "metadata",
    [
        'metadata: {"openclaw": {"requires": {"bins": ["git"]}, "os": ["linux"]}}',
        'metadata: \'{"palmclaw": {"requires": {"bins": ["git"]}, "platforms": ["linux"]}}\'',
        "metadata: {requires: {bins: git, os: linux}, openclaw: {requires: {bins: [other]}}}",
    ],
)
def test_requirements_as_other_agents_write_them(metadata: str) -> None:
    assert read(with_front(metadata)).requires == Requirements(bins=("git",), os=("linux",))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_skill_or_a_reason(raw: bytes) -> None:
    for content in (raw, b"---\nname: tidy-notes\ndescription: " + raw + b"\n---\nBody"):
        with suppress(BrokenSkill):
            assert read(content).name == "tidy-notes"


def test_the_bound_is_exact() -> None:
    assert len(read(PLAIN + "x" * (MOST_BYTES - len(PLAIN))).body) == MOST_BYTES - len(PLAIN) + 4
    assert "at most" in refused(PLAIN + "x" * (MOST_BYTES - len(PLAIN) + 1))
