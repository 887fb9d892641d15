"""`cranfield accept`: make the last tested result the accepted one."""

from __future__ import annotations

from pathlib import Path

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import IMPORTS, import_measures


@click.command("accept")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@options.config("cranfield.toml")
@IMPORTS
def command(systems: tuple[str, ...], config: Path, imports: tuple[str, ...]) -> None:
    """Accept the result of the last 'cranfield test', for all systems or some; later tests are compared with it.

    \b
    Example:
      cranfield init && cranfield test && cranfield accept
    """
    from cranfield.systems.accepting import accept
    from cranfield.systems.project import read_project
    from cranfield.systems.text.tested import accepted_line

    import_measures(imports)
    for name, (before, now) in accept(read_project(config), systems).items():
        output.say(accepted_line(name, before, now))
