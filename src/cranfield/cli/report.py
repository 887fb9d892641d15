"""`cranfield report`: one page that shows everything."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.view_options import view_options


@click.command("report")
@click.argument("qrels")
@options.runs
@options.measures
@options.written(required=True)
@click.option("--title", default="How good are the results?", help="What stands at its top.")
@click.option(
    "--collection", metavar="DIR", help="Texts of queries and documents: a folder, builtin, or ir_datasets:ID."
)
@options.segments
@options.bounds
@click.option(
    "--queries", type=click.IntRange(0), default=1000, metavar="N", help="Of how many queries to show rankings [1000]."
)
@options.depth(10)
@click.option("--no-charts", is_flag=True, help="Leave charts out, and with them 0.9 MB.")
@click.option(
    "--removal/--no-removal",
    default=None,
    help="A chart of the measures as judgments are removed [where that takes no time].",
)
@options.lengths
@options.policy
@options.formats
@options.id_check
@view_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    file: str,
    title: str,
    collection: str | None,
    by: str | None,
    bounds: bool,
    queries: int,
    k: int,
    no_charts: bool,
    removal: bool | None,
    lengths: str | None,
    rel: float | None,
    judged_only: bool,
    imports: tuple[str, ...],
    run_format: str | None,
    qrels_format: str | None,
    check_ids: bool,
    **policy: str | int | None,
) -> None:
    """Write one HTML page about RUNs measured by the judgments in QRELS; it works offline.

    Leaderboard, charts, two systems side by side, every query with its rankings, and what the measures mean. A RUN may
    also be an evaluation that was saved with 'cranfield evaluate --save'; its rankings are not on the page then.

    \b
    Example:
      cranfield report builtin:qrels builtin:keywords builtin:meaning -o report.html
    """
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.report import write_report

    chosen = options.chosen_measures(
        measures, rel=rel, judged_only=judged_only, imports=imports, default=DEFAULT_MEASURES
    )
    usual = not measures and rel is None and not judged_only  # then a saved evaluation says which measures there are
    written = write_report(
        file,
        qrels,
        options.expanded(runs),
        None if usual else chosen,
        title=title,
        collection=collection,
        segments=by,
        bounds=bounds,
        queries=queries,
        depth=k,
        charts=not no_charts,
        removal=removal,
        lengths=lengths,
        policy=options.chosen_policy(**policy),
        format=run_format,
        qrels_format=qrels_format,
        check_ids=check_ids,
    )
    printed = file == "-"  # then the page is on standard output, and nothing else
    output.say(f"{written.path}: {written.size / 1e6:.1f} MB", err=printed)
    for note in written.left_out:
        output.say(f"  {note}", err=printed)
