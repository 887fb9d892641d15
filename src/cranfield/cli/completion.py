"""`cranfield completion`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from cranfield.cli import output


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that makes a SHELL complete commands and options.

    \b
    Example, for the start file of bash:
      eval "$(cranfield completion bash)"
    """
    kind = get_completion_class(shell)
    assert kind is not None
    output.write([kind(context.find_root().command, {}, "cranfield", "_CRANFIELD_COMPLETE").source()])
