"""Deletes each check of the gate and its guards in turn, and demands that a test fails.

    python scripts/mutants.py            run them all and write the list into docs/quality.md
    python scripts/mutants.py --list     only name the checks

A check is an `if` of a guarded file whose body refuses or ends something, a `raise` that no `if` of its own leads to,
or a no-follow flag. Its mutant never takes the branch, never raises, or follows.
"""

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parents[1]
GATE = ("tests/agent/test_toolbox.py", "tests/agent/test_loop.py")
SMALL = ("tests/guard/test_small_guards.py", *GATE)
GUARDED = {  # each guarded file with the tests that must notice
    "guard/workspace.py": ("tests/guard/test_workspace.py", "tests/tools/test_files.py"),
    "guard/durable.py": ("tests/guard/test_durable.py", "tests/guard/test_workspace.py"),
    "guard/carrying.py": ("tests/guard/test_carrying.py",),
    "guard/marked.py": ("tests/guard/test_marked.py", "tests/tools/test_files.py"),
    "guard/network.py": ("tests/guard/test_network.py",),
    "guard/recipients.py": SMALL,
    "guard/policy.py": ("tests/guard/test_policy.py", *GATE),
    "guard/trust.py": SMALL,
    "guard/marks.py": ("tests/guard/test_marks.py", "tests/guard/test_small_guards.py"),
    "guard/secrets.py": SMALL,
    "agent/checks.py": GATE,
    "agent/toolbox.py": GATE,
    "agent/situation.py": GATE,
}
BEGIN, END = "<!-- checks: begin -->", "<!-- checks: end -->"
FAILED = re.compile(r"^FAILED (\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One check: where it stands, in words, and the module without it."""

    file: str
    where: str
    what: str
    mutant: str

    @property
    def key(self) -> str:
        return f"`{self.file}` {self.where}: `{self.what}`"


def checks(file: str) -> list[Check]:
    """Every check of a file, in the order of its lines; the same words twice in a function are numbered."""
    source = (ROOT / "src/palmclaw" / file).read_text("utf-8")
    found: list[Check] = []
    for at, node in enumerate(_candidates(ast.parse(source))):
        tree = ast.parse(source)
        target = list(_candidates(tree))[at]
        what = " ".join(_words(target).split())
        where = _place(tree, target)
        _delete(target)
        same = sum(c.where == where and c.what.removesuffix("…") == what[:110] for c in found)
        number = f" ({same + 1})" if same else ""
        found.append(Check(file, where + number, _short(what), ast.unparse(ast.fix_missing_locations(tree))))
        del node
    return found


def _candidates(tree: ast.AST) -> Iterator["ast.AST | Operand"]:
    covered: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _ends(node.body):
            covered |= {id(n) for n in node.body}
            yield node
        elif isinstance(node, ast.Attribute) and node.attr == "O_NOFOLLOW":
            yield node
        elif isinstance(node, ast.BoolOp) or _is_fact(node):
            yield from (Operand(node, index) for index in range(len(node.values)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None and id(node) not in covered:
            yield node


@dataclass(frozen=True)
class Operand:
    """One side of an `and` or `or`, or one fact of the conditions."""

    parent: ast.BoolOp | ast.Dict
    index: int


def _is_fact(node: ast.AST) -> TypeGuard[ast.Dict]:
    """A value of the dictionary of conditions."""
    return (
        isinstance(node, ast.Dict)
        and bool(node.keys)
        and all(
            isinstance(k, ast.Attribute) and isinstance(k.value, ast.Name) and k.value.id == "Condition"
            for k in node.keys
        )
    )


def _ends(body: list[ast.stmt]) -> bool:
    """The branch refuses, returns or skips; writing something down before does not change that."""
    return isinstance(body[-1], ast.Raise | ast.Return | ast.Continue)


def _delete(node: "ast.AST | Operand") -> None:
    if isinstance(node, Operand):
        neutral = isinstance(node.parent, ast.Dict) or isinstance(node.parent.op, ast.And)
        node.parent.values[node.index] = ast.Constant(neutral)
    elif isinstance(node, ast.If):
        node.test = ast.Constant(False)
    elif isinstance(node, ast.Attribute):
        node.attr = "O_RDONLY"
    elif isinstance(node, ast.Raise):
        node.exc, node.cause = ast.parse("AssertionError('deleted')", mode="eval").body, None


def _words(node: "ast.AST | Operand") -> str:
    if isinstance(node, Operand):
        return f"… {ast.unparse(node.parent.values[node.index])} …"
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    return ast.unparse(node)


def _short(text: str) -> str:
    text = text.replace("|", "¦").replace("`", "'")
    return text if len(text) <= 110 else f"{text[:110]}…"


def _place(tree: ast.AST, target: "ast.AST | Operand") -> str:
    target = target.parent if isinstance(target, Operand) else target
    inside = [
        n.name
        for n in ast.walk(tree)
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and any(c is target for c in ast.walk(n))
    ]
    return inside[-1] if inside else "module"


def caught_by(check: Check, folder: Path) -> str:
    """The first test that fails without the check, or an empty text."""
    source = folder / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (source / "palmclaw" / check.file).write_text(check.mutant, "utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", *GUARDED[check.file]]
    environ = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_PROFILE": "quick"}
    try:
        done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=180, check=False)
    except subprocess.TimeoutExpired:
        return "(never ends)"
    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode == 0:
        return ""
    failed = FAILED.search(done.stdout)
    return failed[1] if failed else "(collection)"


def report(rows: list[tuple[Check, str]]) -> str:
    lines = ["| check | fails without it |", "|---|---|"]
    return "\n".join([*lines, *(f"| {check.key} | {test or '**nothing**'} |" for check, test in rows)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only name the checks")
    options = parser.parse_args()
    found = [check for file in GUARDED for check in checks(file)]
    if options.list:
        print("\n".join(check.key for check in found))
        return 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        places = [Path(folder) / str(number) for number in range(len(found))]
        tests = list(pool.map(caught_by, found, places))
    rows = list(zip(found, tests, strict=True))
    document = ROOT / "docs/quality.md"
    head, _, rest = document.read_text("utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    document.write_text(f"{head}{BEGIN}\n{report(rows)}\n{END}{tail}", "utf-8")
    missed = [check for check, test in rows if not test]
    print(f"{len(found)} checks, {len(missed)} of them missed by every test")
    print("\n".join(check.key for check in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
