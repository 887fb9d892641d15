"""`cranfield demo`: see it work."""

from __future__ import annotations

import click

from cranfield.cli import output


@click.command("demo")
def command() -> None:
    """Ask two live search engines sixty queries, measure them, and compare them."""
    from cranfield.systems.demonstration import demonstrate
    from cranfield.systems.text.demonstration import demonstration_lines

    for line in demonstration_lines(demonstrate(), output.width(), output.paint()):
        output.say(line)
