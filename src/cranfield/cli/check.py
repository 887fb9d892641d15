"""`cranfield check`: find everything that is wrong with files."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.options import RUN_FORMAT


@click.command("check")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("--strict", is_flag=True, help="Warnings fail the check, too.")
@click.option("--format", "shown", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@RUN_FORMAT
@click.option("--qrels-format", help="The same for the judgments.")
@options.judgment_policy
def command(
    qrels: str,
    runs: tuple[str, ...],
    strict: bool,
    shown: str,
    run_format: str | None,
    qrels_format: str | None,
    **policy: str | int | None,
) -> int:
    """Find everything that is wrong with the judgments in QRELS and with RUNs.

    Lists the problems with file and line, then what the files hold, and which measures suit them. The exit code is 0
    if nothing is wrong, 1 if there are errors (with --strict, or warnings), and 2 if a file cannot be read.

    \b
    Example:
      cranfield check builtin:qrels builtin:keywords builtin:meaning
    """
    from cranfield.files.checking import check_files
    from cranfield.files.checking.text import check_json, check_text

    said = any(value is not None for value in policy.values())
    report = check_files(
        qrels,
        runs,
        format=run_format,
        qrels_format=qrels_format,
        policy=options.chosen_policy(**policy) if said else None,
    )
    if shown == "json":
        output.write([check_json(report)], data=True)
    else:
        output.say(check_text(report))
    return 2 if report.unreadable else 0 if report.passes(strict=strict) else 1
