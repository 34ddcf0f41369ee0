"""Help pages in Chinese, whose characters are two columns wide and whose lines may break anywhere."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import click

from palmclaw.cli.chinese.reading import help_of, told
from palmclaw.cli.wrapping import filled, width_of

_ADDED = re.compile(r"  \[(.*)\]$")
_HEADINGS = {"Options": "选项", "Commands": "命令", "Positional arguments": "参数"}
_USAGE = (("[OPTIONS]", "[选项]"), ("[COMMAND]", "[命令]"), ("COMMAND", "命令"), ("[ARGS]...", "[参数]…"))


class ChineseFormatter(click.HelpFormatter):
    """Translates what it is given, and lays it out by columns."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        for english, chinese in _USAGE:
            args = args.replace(english, chinese)
        prefix = prefix or "用法："
        lines = filled(f"{prog} {args}".rstrip(), self.width - 1, " " * width_of(prefix))
        self.write(f"{prefix}{lines.lstrip()}\n")

    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{_HEADINGS.get(heading, heading)}：\n")

    def write_text(self, text: str) -> None:
        indent = " " * self.current_indent
        paragraphs = [_paragraph(each, self.width, indent) for each in text.split("\n\n")]
        self.write("\n\n".join(paragraphs) + "\n")

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        rows = list(rows)
        least = min(max(width_of(first) for first, _ in rows), max(12, self.width // 4))
        column = self.current_indent + least + col_spacing
        for first, second in rows:
            start = f"{'':>{self.current_indent}}{first}"
            lines = filled(_explained(second), self.width - 1, " " * column).split("\n")
            if width_of(start) + col_spacing <= column:
                lines[0] = start + lines[0][width_of(start) :]
            else:
                lines.insert(0, start)
            self.write("\n".join(lines) + "\n")


def complaining(command: Callable[[], Any]) -> NoReturn:
    """Run a command, and end with its exit code."""
    try:
        code = command()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.message, err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        complain(error)
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("已取消。", err=True)
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def complain(error: click.ClickException) -> None:
    """What is wrong with a command line, below how it is used."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        how = f"{error.ctx.command_path} {error.ctx.help_option_names[0]}"
        click.echo(f"{error.ctx.get_usage()}\n查看帮助：{how}\n", err=True)
    click.secho(f"错误：{told(error.format_message())}", err=True)


def _paragraph(text: str, width: int, indent: str) -> str:
    if text.startswith("\b\n"):
        return "\n".join(f"{indent}{line}" for line in text.splitlines()[1:])
    return filled(help_of(text), width, indent)


def _explained(text: str) -> str:
    """What an option does, and what click has added to that."""
    added = _ADDED.search(text)
    if added is None:
        return help_of(text)
    facts = added[1].replace("default: ", "默认：").replace("required", "必填")
    return f"{help_of(text[: added.start()])}  [{facts}]"
