"""The `palmclaw` command: a list of commands, each imported only when it runs."""

import os
import shutil
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from palmclaw import __version__
from palmclaw.cli.pages import NarrowContext, run
from palmclaw.core.errors import PalmclawError

if TYPE_CHECKING:
    from palmclaw.cli.texts import Texts

COMMANDS = {
    "approvals": "palmclaw.cli.approvals:approvals",
    "chat": "palmclaw.cli.chat:chat",
    "completion": "palmclaw.cli.completion:completion",
    "config": "palmclaw.cli.settings:config",
    "doctor": "palmclaw.cli.doctor:doctor",
    "logs": "palmclaw.cli.logs:logs",
    "memory": "palmclaw.cli.memory:memory",
    "models": "palmclaw.cli.models:models",
    "pair": "palmclaw.cli.pair:pair",
    "phone": "palmclaw.cli.phone:phone",
    "prompt": "palmclaw.cli.inspect:prompt",
    "serve": "palmclaw.cli.serve:serve",
    "sessions": "palmclaw.cli.sessions:sessions",
    "skills": "palmclaw.cli.skills:skills",
    "status": "palmclaw.cli.process:status",
    "stop": "palmclaw.cli.process:stop",
    "templates": "palmclaw.cli.templates:templates",
    "tools": "palmclaw.cli.inspect:tools",
    "trash": "palmclaw.cli.trash:trash",
    "usage": "palmclaw.cli.usage:usage",
}
SUMMARIES = {
    "approvals": "What may run without asking, and what was allowed for good.",
    "chat": "Talk to the agent: a conversation, or one message.",
    "completion": "Print the shell code that completes commands.",
    "config": "Show and change settings.",
    "doctor": "Check that everything works, and say what to mend.",
    "logs": "Show the log of the gateway.",
    "memory": "Show and change what the agent remembers.",
    "models": "List model services: addresses, keys, prices.",
    "pair": "Say who may talk to the agent in a chat app.",
    "phone": "Look at the virtual phone, or reset it.",
    "prompt": "Show the exact request that a message would send.",
    "serve": "Keep the agent running, for the terminal, chat apps and schedules.",
    "sessions": "List, show, export and delete conversations.",
    "skills": "Show, write, install and switch skills.",
    "status": "Show whether the gateway runs, and what it does.",
    "stop": "End the gateway.",
    "templates": "Show and change what every request begins with.",
    "tools": "List the tools, or explain one.",
    "trash": "List and restore files that the agent deleted.",
    "usage": "Show what was spent on model services.",
}


class Commands(click.Group):
    """A group whose commands are imported when they are used, so that starting stays quick."""

    context_class = NarrowContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def main(self, *args: Any, **how: Any) -> Any:
        """As click does, but in the person's language."""
        return run(super().main, *args, **how)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            said = " ".join(args)[:60]
            raise click.UsageError(f'{error.message}\nTo say it to the agent: palmclaw chat "{said}"', ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="palmclaw")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """PalmClaw: an AI agent that lives on your phone.

    Without a command it opens a conversation. It needs no key: the offline assistant answers until you
    connect a model (palmclaw models lists services).
    """
    if ctx.invoked_subcommand is None:
        command = Commands.get_command(cli, ctx, "chat")
        assert command is not None
        ctx.invoke(command)


def main(argv: list[str] | None = None) -> Any:
    """Run the command line. Errors that a person can mend are one or two lines, never a traceback."""
    try:
        width = min(shutil.get_terminal_size().columns, 100)
        cli.main(argv, prog_name="palmclaw", standalone_mode=True, terminal_width=width, color=colours())
    except PalmclawError as error:
        complain(error)
        sys.exit(1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def colours() -> bool | None:
    """None lets the terminal decide; NO_COLOR (any value) means none at all."""
    return False if os.environ.get("NO_COLOR") else None


def complain(error: PalmclawError) -> None:
    """Say on stderr what is wrong and what to do."""
    words = _words()
    said, hint = words.fault(error.fault)
    click.secho(words("Error: {problem}", problem=said), fg="red", err=True, color=colours())
    if hint:
        click.echo(hint, err=True)


def _words() -> "Texts":
    from palmclaw.cli.texts import texts

    return texts(os.environ)
