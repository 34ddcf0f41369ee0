"""`palmclaw completion`: the shell code that completes commands and options."""

import click
from click.shell_completion import get_completion_class

from palmclaw.cli.pages import Page


@click.command(cls=Page)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the shell code that completes commands.

    \b
    palmclaw completion bash >> ~/.bashrc
    """
    from palmclaw.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(cli, {}, "palmclaw", "_PALMCLAW_COMPLETE").source())
