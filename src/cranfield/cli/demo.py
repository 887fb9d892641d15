"""`cranfield demo`: see it work."""

from __future__ import annotations

import click

from cranfield.cli import output


@click.command("demo")
def command() -> None:
    """Ask two live search engines sixty queries, measure them, and compare them."""
    from cranfield.show.demonstration import demonstration_lines
    from cranfield.systems.demonstration import demonstrate

    style = output.head_style()
    for line in demonstration_lines(demonstrate()):
        output.say(style(line) if style and line.startswith(_HEADINGS) else line)


_HEADINGS = ("run ", "Is ", "Queries ", "What ")
