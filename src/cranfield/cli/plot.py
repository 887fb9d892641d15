"""`cranfield plot`: a picture for a paper or a talk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cranfield.cli import options, output
from cranfield.cli.frontier import FrontierOptions
from cranfield.cli.input_options import DocumentOptions, JudgmentOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import argument, flag, option
from cranfield.cli.run_files import expanded, opened
from cranfield.measures import Measure
from cranfield.show.charts import CHARTS
from cranfield.show.pictures import FORMATS
from cranfield.words import count, joined


class ChartOptions(options.OptionGroup, section="Chart"):
    kind: str = argument(type=click.Choice(list(CHARTS)))
    file: str = options.written(required=True)
    columns: int | None = option(
        "--columns",
        type=click.IntRange(1, 2),
        metavar="1|2",
        help="As wide as one column of a two-column paper, or both.",
    )
    highlight: tuple[str, ...] = option(
        "--highlight",
        multiple=True,
        metavar="RUN",
        help="Show this run in colour, beside the best, and the others in grey; may be repeated.",
    )
    dark: bool = flag("--dark", help="Colours for a dark page or slide.")
    query_ids: tuple[str, ...] = options.QUERY_IDS
    no_title: bool = flag("--no-title", help="Leave out the title, for a figure with a caption.")


class PlotJudgmentOptions(JudgmentOptions):
    qrels: str | None = argument(required=False)  # charts of measures alone need none


@options.command("plot", runs=argument(nargs=-1, metavar="[RUN...]"), reading=reading_options())
def command(
    chart: ChartOptions,
    judgments: PlotJudgmentOptions,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    compared: FrontierOptions,
    documents: DocumentOptions,
    reading: ReadingOptions,
) -> None:
    """Draw a chart of RUNs measured by the judgments in QRELS: a file that ends in PICTURES.

    The charts difference, slopes and scatter take two runs, the baseline first. heatmap and ranks show the best
    hundred runs, and heatmap up to 200 queries. With --query, precision-recall-full draws that query instead of the
    mean over all. Up to eight runs have a colour each; with more, only the best and those named by --highlight are
    coloured. frontier takes runs that 'cranfield run' or 'test' has recorded, or --values.

    \b
    CHARTS

    \b
    Examples:
      cranfield plot precision-recall builtin builtin:plain builtin:tuned \\
        -o curve.svg
      cranfield plot difference builtin builtin:plain builtin:tuned \\
        -m nDCG@5 --columns 1 -o figure.pdf
    """
    from cranfield.report.plotting import draw_chart, save_chart

    if len(chart.query_ids) > 1:
        raise click.UsageError("give one --query, or none for all queries.")
    own: dict[str, Any] = {"query": chart.query_ids[0]} if chart.query_ids else {}
    if chart.highlight:
        own["highlight"] = chart.highlight
    own |= compared.arguments()
    if documents.lengths is not None:
        if CHARTS[chart.kind].of == "stability":
            raise click.UsageError(f"--lengths cannot be used with {chart.kind}.")
        own["lengths"] = documents.lengths
    paths = expanded(runs)
    judged, measured = documents.measured(judgments.source, opened(paths), paths)
    with output.shown_progress("drawing"):
        chosen = measures.chosen(CHARTS[chart.kind].usual)
        spec = draw_chart(chart.kind, judged, measured, chosen, **own, **reading.arguments())
        save_chart(spec, chart.file, columns=chart.columns, title=not chart.no_title, dark=chart.dark)
    output.say(f"wrote {chart.file}: {_drawn(chart, chosen, len(paths))}")


def _drawn(chart: ChartOptions, measures: Sequence[Measure], runs: int) -> str:
    """What is drawn, such as "distribution of nDCG@10, 2 runs"."""
    shown = CHARTS[chart.kind]
    if shown.of == "nothing":
        return f"{chart.kind}, {shown.meaning}"
    query = f" of query {chart.query_ids[0]}" if chart.query_ids else ""
    measured = "" if shown.only else f" of {', '.join(measure.name for measure in measures)}"
    return f"{chart.kind}{query}{measured}, {count(runs, 'run')}"


_WIDEST = max(map(len, CHARTS))
_CHARTS = (f"{name:{_WIDEST}}  {chart.meaning}" for name, chart in CHARTS.items())
_PICTURES = joined((f".{name}" for name in FORMATS), "or")
options.fill_help(command, CHARTS="\n    ".join(_CHARTS), PICTURES=_PICTURES)
