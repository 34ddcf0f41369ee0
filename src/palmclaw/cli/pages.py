"""Help pages and complaints about a command line: narrow enough for a phone, in the person's language."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import click


class NarrowFormatter(click.HelpFormatter):
    """Leaves most of a phone's 40 columns to the explanations."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, max(12, self.width // 4)), col_spacing)


class NarrowContext(click.Context):
    """A context whose help fits the screen."""

    formatter_class = NarrowFormatter

    def make_formatter(self) -> click.HelpFormatter:
        """One that writes Chinese, where that is spoken."""
        if not is_chinese():
            return super().make_formatter()
        from palmclaw.cli.chinese.pages import ChineseFormatter

        return ChineseFormatter(width=self.terminal_width, max_width=self.max_content_width)


class Page(click.Command):
    """A command with such a help page."""

    context_class = NarrowContext


class Family(click.Group):
    """A command of several; each is listed with the first sentence about it, whole."""

    context_class = NarrowContext
    command_class = Page

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does, but never cut off."""
        rows = [(name, summary(command.help or "")) for name, command in sorted(self.commands.items())]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def summary(help_text: str) -> str:
    """Its first sentence, on one line."""
    paragraph = " ".join(help_text.partition("\n\n")[0].split())
    if not is_chinese():
        return paragraph.partition(". ")[0].rstrip(".") + "."
    from palmclaw.cli.chinese.reading import help_of

    return help_of(paragraph).partition("。")[0] + "。"


def run(command: Callable[..., Any], *args: Any, standalone_mode: bool = True, **how: Any) -> Any:
    """Run a click command as click does; where Chinese is spoken, what is wrong with a command line is told in it."""
    if not (standalone_mode and is_chinese()):
        return command(*args, standalone_mode=standalone_mode, **how)
    from palmclaw.cli.chinese.pages import complaining

    return complaining(lambda: command(*args, standalone_mode=False, **how))


def is_chinese() -> bool:
    """Whether the person is spoken to in Chinese. Nothing is read to say no where no variable speaks of it."""
    if not any(value.lower().startswith("zh") for value in os.environ.values()):
        return False
    from palmclaw.runtime.words import language

    return language(os.environ) == "zh"
