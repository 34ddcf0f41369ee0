"""Rules of shape that no other tool checks: sizes, broad excepts, what is loaded when, what must be installed."""

import ast
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.children import bare

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src/palmclaw").rglob("*.py"))
BROAD = {"agent/toolbox.py": 1, "runtime/turns.py": 1, "runtime/reception.py": 1}
LATE = (
    *("rich", "prompt_toolkit", "yaml", "hassil", "tomlkit", "aiohttp.web"),
    *("palmclaw.runtime.delivery", "palmclaw.runtime.reception", "palmclaw.agent.consolidation"),
    *("palmclaw.core.capabilities", "palmclaw.core.personal", "palmclaw.devices.virtual.acts"),
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT / "src/palmclaw"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_no_module_is_longer_than_a_sitting(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 350


def test_functions_are_short() -> None:
    lengths = {
        f"{name(path)}:{f.name}": (f.end_lineno or f.lineno) - f.lineno + 1 for path in SOURCES for f in functions(path)
    }
    assert {k: v for k, v in lengths.items() if v > 40} == {}
    ordered = sorted(lengths.values())
    assert ordered[int(len(ordered) * 0.99)] <= 30


def test_broad_excepts_stand_in_three_places() -> None:
    found = {name(p): len(re.findall(r"except Exception\b", p.read_text("utf-8"))) for p in SOURCES}
    assert {k: v for k, v in found.items() if v} == BROAD


def test_every_public_thing_says_what_it_is() -> None:
    silent = [
        name(path) for path in SOURCES if path.stat().st_size and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def loaded(code: str) -> set[str]:
    """The names of all modules after running `code` in a fresh process."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules))"]
    return set(subprocess.run(command, env=bare(), capture_output=True, text=True, check=True, cwd=ROOT).stdout.split())


def test_starting_loads_nothing_that_the_first_request_does_not_need(home_dir: Path) -> None:
    code = (
        "import os\n"
        "from palmclaw.app import assembled\n"
        "from palmclaw import house\n"
        "from palmclaw.cli import chat\n"
        "os.environ['PALMCLAW_BASE_URL'] = 'http://127.0.0.1:9/v1'\n"
        "app = assembled(os.environ); app.models().local"
    )
    assert [m for m in LATE if m in loaded(code)] == []


def test_a_module_defines_and_does_nothing_at_import(tmp_path: Path) -> None:
    code = f"import os; os.environ['PALMCLAW_HOME'] = {str(tmp_path / 'home')!r}\n"
    names = [name(p).removesuffix(".py").replace("/", ".").removesuffix(".__init__") for p in SOURCES]
    code += "\n".join(f"import palmclaw.{n}" for n in names if n not in ("__init__", "__main__"))
    assert "palmclaw.app" in loaded(code)
    assert not (tmp_path / "home").exists()


COMPILED_ON_ANDROID = {  # what plain pip finds for Android, checked for 3.13 and 3.14 (docs/decisions/002)
    "aiohttp": "has Android wheels",
    "frozenlist": "builds pure, has pure wheels",
    "multidict": "builds pure, has pure wheels",
    "propcache": "builds pure, has pure wheels",
    "yarl": "builds pure, has pure wheels",
    "pyyaml": "builds pure Python from its sdist",
    "wcwidth": "has pure wheels",
}


def required(distribution: str, seen: set[str]) -> set[str]:
    for line in importlib.metadata.requires(distribution) or ():
        found = re.match(r"[\w.-]+", line)
        if found is None or "extra ==" in line:
            continue
        needed = found[0].lower().replace("_", "-")
        try:
            importlib.metadata.distribution(needed)
        except importlib.metadata.PackageNotFoundError:
            continue  # needed on another platform or Python only
        if needed not in seen:
            seen.add(needed)
            required(needed, seen)
    return seen


def test_nothing_required_needs_a_compiler_on_a_phone() -> None:
    for needed in sorted(required("palmclaw", set())):
        files = importlib.metadata.distribution(needed).files or ()
        compiled = [f for f in files if f.suffix in (".so", ".pyd")]
        assert not compiled or needed in COMPILED_ON_ANDROID, f"{needed} has compiled parts: {compiled[:3]}"


def test_the_version_is_said_once() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f'__version__ = "{declared}"' in (ROOT / "src/palmclaw/__init__.py").read_text()


def test_the_list_of_checks_is_whole() -> None:
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts/mutants.py")
    assert spec is not None
    assert spec.loader is not None
    mutants = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = mutants
    spec.loader.exec_module(mutants)
    listed = (ROOT / "docs/quality.md").read_text("utf-8")
    missing = [c.key for file in mutants.GUARDED for c in mutants.checks(file) if f"| {c.key} |" not in listed]
    assert missing == [], "run python scripts/mutants.py"
    assert "**nothing**" not in listed


def test_the_scripts_are_plain_sh() -> None:
    for script in ("run", "test", ".ci/run"):
        text = (ROOT / script).read_text()
        assert text.startswith("#!/bin/sh\n")
        assert "/tmp" not in text
        assert "/usr/bin/env" not in text
        subprocess.run(["sh", "-n", str(ROOT / script)], check=True)
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == "exec ./test"
