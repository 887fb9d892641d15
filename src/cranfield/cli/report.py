"""`cranfield report`: one page that shows everything."""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.chunk_options import ChunkOptions, chunk_options
from cranfield.cli.command_line import command_line
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.progress import shown_progress
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded, with_baseline
from cranfield.cli.view_options import view_options
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS
from cranfield.layout import wrapped


@click.command("report")
@click.argument("qrels")
@options.runs
@measure_options
@options.written(required=True)
@click.option("--title", help="The title of the page [the runs that are compared, and the measure].")
@options.baseline
@options.how_tested(TESTS, CORRECTIONS, "max-t, or bonferroni")
@options.collection("builtin if QRELS is", queries=False)
@options.segments
@options.bounds
@click.option(
    "--queries", type=click.IntRange(0), default=1000, metavar="N", help="How many queries to show rankings for [1000]."
)
@options.depth(10)
@click.option("--no-charts", is_flag=True, help="Leave out the charts, which take 0.9 MB.")
@click.option(
    "--removal/--no-removal",
    default=None,
    help="Also chart the measures as judgments are removed [if that is quick].",
)
@options.lengths
@chunk_options()
@reading_options()
@view_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    file: str,
    title: str | None,
    baseline: str | None,
    collection: str | None,
    by: str | None,
    bounds: bool,
    queries: int,
    k: int,
    no_charts: bool,
    removal: bool | None,
    lengths: str | None,
    test: str,
    correction: str | None,
    alpha: float,
    chunked: ChunkOptions,
    reading: ReadingOptions,
) -> None:
    """Write one HTML page about RUNs measured by the judgments in QRELS; it works offline.

    Leaderboard, charts, two systems side by side, every query with its rankings, and what the measures mean. A RUN may
    also be an evaluation saved with 'cranfield evaluate --save'; the page then does not show its rankings.

    \b
    Example:
      cranfield report builtin builtin:plain builtin:tuned -o report.html
    """
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.report import write_report
    from cranfield.report.request import readable_runs

    chosen = measures.chosen(DEFAULT_MEASURES)
    paths, base = expanded(runs), None
    if baseline is not None:
        paths, base = with_baseline(paths, baseline)
    judged, measured = chunked.measured(qrels, paths, paths)
    with shown_progress("writing the report"):
        named = readable_runs(measured)
        written = write_report(
            judged,
            named,
            file,
            None if measures.usual else chosen,  # a saved evaluation says which measures there are
            title=title,
            baseline=None if base is None else list(named)[base],
            command=command_line(),
            collection=collection,
            segments=by,
            bounds=bounds,
            queries=queries,
            k=k,
            charts=not no_charts,
            removal=removal,
            lengths=lengths,
            test=test,
            correction=correction,
            alpha=alpha,
            **reading.arguments(),
        )
    printed = file == "-"  # then the page is on standard output, and nothing else
    output.say(f"{written.path}: {written.size / 1e6:.1f} MB", err=printed)
    for note in written.left_out:
        for line in wrapped(note, "  ", width=output.width(), break_words=False):
            output.say(output.paint(err=printed).dim(line), err=printed)
