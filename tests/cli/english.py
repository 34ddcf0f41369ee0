"""Finds every English text that the terminal may show, in the source and the commands, to test its Chinese."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from palmclaw.cli.main import COMMANDS, SUMMARIES, cli

SOURCE = Path(__file__).parents[2] / "src/palmclaw"
SAYING = re.compile(r"(.*\.)?(words|texts|_say|_note)|texts\(os\.environ\)")
TOLD = {  # what a person may be shown of these: the places of its arguments
    **{"ConfigError": (1, 2), "StorageError": (0, 1), "HomeBusy": (0, 1), "GatewayGone": (0, 1)},
    **{"ConnectionBroke": (0, 1), "NotOpen": (0,), "SessionNotFound": (0,), "Draining": (0,), "Finding": (2, 3)},
    **{"UsageError": (0,), "ClickException": (0,), "append": (0,), "fail": (1,), "mend": (1,)},
    **{"UnsafePackage": (0, 1), "BrokenSkill": (1,), "Reason": (1, 2)},
}
ONLY_IN = {"append": ("runtime/gateway.py",), "fail": ("core/codec.py",), "mend": ("core/codec.py",)}
NOT_SHOWN = ("tools/", "providers/offline", "devices/virtual/catalog", "evals/")
LOGGED = {"info": 0, "warning": 0, "error": 0, "exception": 0, "log": 1}
LOGS = ("self.log", "diary.log")
"""What a gateway did; what the layers below say of their bugs stays as it is."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def files() -> list[Path]:
    return [p for p in sorted(SOURCE.rglob("*.py")) if not str(p.relative_to(SOURCE)).startswith(NOT_SHOWN)]


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def sentences() -> set[str]:
    """What the commands say themselves: names and sentences."""
    found: set[str] = set()
    for path in SOURCE.glob("cli/*.py"):
        for name, call in calls(path):
            if SAYING.fullmatch(name) and call.args:
                found |= {text for text in constants(call.args[0])}
            if name.endswith(("words.count", "texts.count")):
                found |= set(constants(call.args[1]))
    return found


def constants(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from constants(node.body)
        yield from constants(node.orelse)


def told() -> dict[str, str]:
    """The patterns of errors, hints, findings and lines of the diary, with the file that they stand in."""
    found: dict[str, str] = {}
    for path in files():
        where = str(path.relative_to(SOURCE))
        for name, call in calls(path):
            last = name.rpartition(".")[2]
            if last in ONLY_IN and where not in ONLY_IN[last]:
                continue
            for place in TOLD.get(last, ()):
                if place < len(call.args):
                    found |= dict.fromkeys(patterns(call.args[place], path), where)
            if name.rpartition(".")[0] in LOGS and last in LOGGED:
                found |= dict.fromkeys(map(logged, patterns(call.args[LOGGED[last]], path)), where)
            hints = [k.value for k in call.keywords if k.arg == "hint" and last in TOLD]
            found |= {p: where for hint in hints for p in patterns(hint, path)}
    return {pattern: where for pattern, where in found.items() if re.search("[A-Za-z]{2}", pattern.replace("{}", ""))}


def everything() -> set[str]:
    """The patterns of all texts of more than a word in the source, whoever reads them."""
    found: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(tree(path)) if "chinese" not in path.parts else ():
            if isinstance(node, ast.Constant | ast.JoinedStr):
                found |= {logged(each) for each in patterns(node, path) if len(each) < 400}
    texts = {re.sub(r"\{[^{}]*\}", "{}", each).strip() for each in found}
    return {
        each for each in texts if re.search(r"[a-z]{2} [a-z{]", each) and not re.search(r"\{(?!\})|(?<!\{)\}", each)
    }


def logged(pattern: str) -> str:
    return re.sub(r"%[.\d]*[sdfr]", "{}", pattern.partition("\n")[0])


def patterns(node: ast.expr, path: Path) -> Iterator[str]:
    """The texts that an expression can be, with {} for what is put in."""
    match node:
        case ast.Constant(str(value)):
            yield value
        case ast.JoinedStr():
            parts = (str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
            yield "".join(parts)
        case ast.IfExp():
            yield from patterns(node.body, path)
            yield from patterns(node.orelse, path)
        case ast.BoolOp():
            for operand in node.values:
                yield from patterns(operand, path)
        case ast.BinOp(op=ast.Add()):
            for first in patterns(node.left, path):
                yield from (first + second for second in patterns(node.right, path))
        case ast.Name():
            for found in assigned(node.id, path):
                yield from patterns(found, path)


def assigned(name: str, path: Path) -> Iterator[ast.expr]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == name and name != "said":
                    yield node.value
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=False)
                    yield from (v for t, v in pairs if isinstance(t, ast.Name) and t.id == name)


def commands() -> Iterator[click.Command]:
    """Every command, those of families too."""
    context = click.Context(cli)
    yield cli
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield command
        yield from getattr(command, "commands", {}).values()


def help_texts() -> set[str]:
    """Every paragraph of a help page but examples, and what is said of each option."""
    found = set(SUMMARIES.values())
    for command in commands():
        for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
            if not paragraph.startswith("\b"):
                found.add(" ".join(paragraph.split()))
        for option in command.get_params(click.Context(command)):
            found.add(getattr(option, "help", "") or "")
    return found - {""}
