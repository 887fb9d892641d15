"""`cranfield demo`: see it work."""

from __future__ import annotations

import click


@click.command("demo")
def command() -> None:
    """Ask two live search engines sixty queries, measure them, and compare them."""
    from cranfield.show.demonstration import demonstration_lines
    from cranfield.systems.demonstration import demonstrate

    for line in demonstration_lines(demonstrate()):
        # Headings stand out on a terminal; elsewhere click leaves the colours out.
        click.echo(click.style(line, bold=True) if line.startswith(_HEADINGS) else line)


_HEADINGS = ("run ", "Is ", "Queries ", "What ")
