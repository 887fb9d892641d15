"""`cranfield check`: find everything that is wrong with files."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.progress import shown_progress
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded
from cranfield.cli.view_options import view_options


@click.command("check")
@click.argument("qrels")
@options.runs
@click.option("--strict", is_flag=True, help="Fail on warnings, too.")
@options.printed("json")
@reading_options(settings=("negative", "complete"), id_check=False)  # which documents count as judged
@view_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    strict: bool,
    form: str,
    file: str | None,
    reading: ReadingOptions,
) -> int:
    """Find all errors in the judgments in QRELS and in RUNs.

    Lists the problems with file and line, then what the files contain, and which measures suit them. The exit code is
    0 if nothing is wrong, 1 if there are errors (or, with --strict, warnings), and 2 if a file cannot be read.

    \b
    Example:
      cranfield check builtin builtin:plain builtin:tuned
    """
    from cranfield.files.checking import check_files
    from cranfield.files.checking.text import check_json, check_text

    with shown_progress("checking"):
        report = check_files(qrels, expanded(runs), **reading.arguments())
    data = form == "json"
    found = check_json(report) if data else check_text(report, output.width(file), output.paint(file))
    output.write([found], file, data=data)
    return 2 if report.unreadable else 0 if report.passes(strict=strict) else 1
