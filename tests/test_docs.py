"""The documents are true: every command in them runs, every extension has its row, both languages say the same."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from palmclaw import config, plugins
from palmclaw.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = (
    *("README.md", "README.zh-CN.md", "CONTRIBUTING.md", "bench/README.md", "docs/quality.md", "docs/cost.md"),
    *("docs/context.md", "docs/memory.md", "docs/routing.md", "docs/skills.md"),
    *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/protocols/*.md")),
)
ELSEWHERE = ("pkg ", "git clone", "cd ", "sh run", "apt", "ln -s")  # on a phone, or before there is a clone
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text("utf-8")
    return [body for found, body in BLOCK.findall(text) if found == language]


def lines(block: str) -> list[str]:
    """Its commands, without what is remarked on them."""
    said = (line.partition("  #")[0].strip() for line in block.splitlines() if not line.startswith("#"))
    return [line for line in said if line]


def commands() -> list[str]:
    return sorted({line for page in PAGES for block in blocks(page, "sh") for line in lines(block)})


def with_a_gateway() -> list[list[str]]:
    """The blocks that start one: they are run as a whole."""
    found = [lines(block) for page in PAGES for block in blocks(page, "sh")]
    return [block for block in found if any(line.startswith("./run serve") for line in block)]


def alone() -> list[str]:
    """The commands of the program that can be run by themselves."""
    together = {line for block in with_a_gateway() for line in block}
    return [c for c in commands() if c.startswith("./run ") and c not in together]


def palmclaw(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "palmclaw", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("command", alone())
def test_every_run_command_works_as_it_is_written(command: str, home_dir: Path) -> None:
    arguments = shlex.split(command)[1:]
    if arguments[:2] == ["sessions", "show"]:
        assert palmclaw("chat", "turn the torch on").returncode == 0
    done = palmclaw(*arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", with_a_gateway(), ids=lambda block: block[1])
def test_a_block_with_a_gateway_works_as_it_is_written(block: list[str], home_dir: Path) -> None:
    assert block[-1] == "./run stop", "it must not go on after the block"
    try:
        for line in block:
            done = palmclaw(*shlex.split(line)[1:])
            assert done.returncode == 0, f"{line}: {done.stderr}"
    finally:
        palmclaw("stop")


def test_every_other_command_is_one_we_know() -> None:
    known = {
        "./run",
        "./test",
        "./test --quick",
        "./test tests/agent",
        ".venv/bin/python bench/run.py",
        ".venv/bin/python bench/gateway.py",
        ".venv/bin/python bench/load.py",
        ".venv/bin/python bench/routing.py",
        ".venv/bin/python scripts/mutants.py",
        ".venv/bin/python -m palmclaw.plugins",
    }
    for command in commands():
        fine = command.startswith(("./run ", *ELSEWHERE)) or command.split(" --")[0] in known or command in known
        assert fine, f"nothing runs {command!r}"


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_both_readmes_name_every_command(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert [c for c in COMMANDS if f"| `{c}` |" not in text] == []


def test_both_readmes_have_the_same_commands_but_for_the_sentences() -> None:
    def shape(page: str) -> list[str]:
        lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
        return [line for line in lines if '"' not in line and "sessions show" not in line]

    assert shape("README.md") == shape("README.zh-CN.md")


def test_every_extension_has_a_row_in_the_quality_table() -> None:
    text = (ROOT / "docs/quality.md").read_text("utf-8")
    names = [n for folder in ("providers", "devices", "tools") for n in plugins.names(folder)]
    assert [n for n in names if f"`{n}`" not in text] == []


def test_the_tool_in_the_guide_works(tmp_path: Path) -> None:
    source = blocks("CONTRIBUTING.md", "python")[0]
    (tmp_path / "dice_package.py").write_text(source)
    info = tmp_path / "dicey-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dicey\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[palmclaw.tools]\ndice = dice_package\n")
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "PALMCLAW_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "palmclaw", "tools", "dice_roll", "--json"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)[0]["parameters"]["properties"] == {
        "sides": {"type": "integer"},
        "count": {"type": "integer"},
    }


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / page).read_text("utf-8")):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page}: {target}"


def test_the_change_log_has_a_place_for_what_is_new() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert "## Unreleased" in text or f"## {version}" in text


def test_nothing_names_this_workplace() -> None:
    forbidden = re.compile(r"/work/|\.library|pypi\.org/simple|files\.pythonhosted")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for file in listed:
        path = ROOT / file
        if (
            path.suffix in (".py", ".md", ".toml", ".sql", ".json", "")
            and file != "tests/test_docs.py"
            and path.exists()
        ):
            assert not forbidden.search(path.read_text("utf-8")), file


@pytest.mark.parametrize("page", ["docs/messages.md"])
def test_every_setting_that_is_shown_is_one(page: str) -> None:
    shown = blocks(page, "toml")
    assert shown
    for block in shown:
        config.decoded(tomllib.loads(block), Path("config.toml"))
