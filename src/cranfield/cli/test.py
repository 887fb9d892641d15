"""`cranfield test`: test live systems against the accepted result. Exit 0: passed, 1: failed, 2: not decided."""

from __future__ import annotations

from pathlib import Path

import click

from cranfield.cli import options, output
from cranfield.cli.command_line import command_line
from cranfield.cli.measure_options import IMPORTS, import_measures


@click.command("test")
@click.argument("systems", nargs=-1, metavar="[SYSTEM]...")
@options.config("cranfield.toml")
@options.worst(3)
@IMPORTS
@click.option(
    "--report",
    type=options.FILE,
    metavar="FILE",
    help="Write a page that compares each system with its accepted version, with the texts of queries and documents.",
)
def command(systems: tuple[str, ...], config: Path, worst: int, imports: tuple[str, ...], report: str | None) -> int:
    """Ask the systems of cranfield.toml every query, measure, and compare with the accepted result.

    It fails if a query fails, if a measure falls below its minimum, or if it is worse than accepted: beyond the
    tolerance and beyond chance.

    \b
    Example:
      cranfield init && cranfield test && cranfield accept
    """
    from cranfield.cli.asking_progress import shown_asking
    from cranfield.cli.judging_hints import say_unjudged
    from cranfield.read.settings import SETTINGS_FILE
    from cranfield.systems.project import read_project
    from cranfield.systems.testing import run_test
    from cranfield.systems.text.tested import tested_lines

    import_measures(imports)
    project = read_project(config)
    found = run_test(project, shown_asking, systems, worst)
    for line in tested_lines(found, worst, output.width(), output.paint()):
        output.say(line)
    judge = ["cranfield", "judge", *(["--config", str(config)] if str(config) != SETTINGS_FILE else [])]
    say_unjudged([tested.evaluation for tested in found.systems if tested.evaluation], lambda: judge)
    if report is not None:
        from cranfield.report import write_test

        written = write_test(found, report, command=command_line())
        output.say(
            f"\n{written.path}: {written.size / 1e6:.1f} MB"
            if written
            else "\nno query was answered, so no report was written"
        )
    return 0 if found.passed else 1
