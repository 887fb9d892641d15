"""`cranfield report`: one page that shows everything."""

from __future__ import annotations

from cranfield.cli import options, output
from cranfield.cli.input_options import DocumentOptions, InheritingOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import PresetOptions
from cranfield.cli.options import flag, number, option
from cranfield.cli.run_files import expanded, opened, with_baseline
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS
from cranfield.show.layout import wrapped


class ReportTestOptions(
    options.TestOptions, tests=TESTS, corrections=CORRECTIONS, usual="max-t, or bonferroni", draws=False
):
    baseline: str | None = options.BASELINE


class ReportPageOptions(options.OptionGroup, section="Page"):
    file: str = options.written(required=True)
    title: str | None = option(
        "--title", metavar="TEXT", help="The title of the page [the runs that are compared, and the measure]."
    )
    cards: tuple[str, ...] = option(
        "--card",
        multiple=True,
        metavar="FILE",
        help="Also write the card at the top of the page: .png, .svg, .md or .tex; may be repeated.",
    )
    collection: str | None = options.collection("builtin if QRELS is", queries=False)
    segments: str | None = options.SEGMENTS
    bounds: bool = options.BOUNDS
    unseen: int = options.UNSEEN
    queries: int = number("--queries", default=1000, help="How many queries to show rankings for [1000].")
    k: int = options.depth(10)
    no_charts: bool = flag("--no-charts", help="Leave out the charts, which take 0.9 MB.")
    removal: bool | None = option(
        "--removal/--no-removal",
        default=None,
        help="Also chart the measures as judgments are removed [if that is quick].",
    )


@options.command("report", runs=options.RUNS, reading=reading_options())
def command(
    judgments: InheritingOptions,
    runs: tuple[str, ...],
    measures: PresetOptions,
    comparison: ReportTestOptions,
    page: ReportPageOptions,
    documents: DocumentOptions,
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

    measures, reading = measures.completed(), measures.conventions(reading)
    chosen = measures.chosen(DEFAULT_MEASURES)
    paths, base = expanded(runs), None
    if comparison.baseline is not None:
        paths, base = with_baseline(paths, comparison.baseline)
    judged, measured = documents.measured(judgments.source, opened(paths), paths)
    with output.shown_progress("writing the report"):
        named = readable_runs(measured)
        written = write_report(
            judged,
            named,
            page.file,
            None if measures.usual else chosen,  # a saved evaluation says which measures there are
            baseline=None if base is None else list(named)[base],
            command=output.command_line(),
            lengths=documents.lengths,
            charts=not page.no_charts,
            **comparison.values("test", "correction", "alpha"),
            **page.values("title", "cards", "collection", "segments", "bounds", "unseen", "queries", "k", "removal"),
            **reading.arguments(),
        )
    printed = page.file == "-"  # then the page is on standard output, and nothing else
    output.say(f"{written.path}: {written.size / 1e6:.1f} MB", err=printed)
    for note in written.left_out:
        for line in wrapped(note, "  ", width=output.width(), break_words=False):
            output.say(output.paint(err=printed).dim(line), err=printed)
