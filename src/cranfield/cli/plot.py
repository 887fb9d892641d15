"""`cranfield plot`: a picture for a paper or a talk."""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options, system_options
from cranfield.cli.chunk_options import ChunkOptions, chunk_options
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.progress import shown_progress
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded
from cranfield.cli.view_options import view_options
from cranfield.layout import joined
from cranfield.show.charts import CHARTS
from cranfield.show.pictures import FORMATS


@click.command("plot")
@click.argument("kind", type=click.Choice(list(CHARTS)))
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1, metavar="[RUN...]")
@measure_options
@options.written(required=True)
@click.option(
    "--columns", type=click.IntRange(1, 2), metavar="1|2", help="As wide as one column of a two-column paper, or both."
)
@click.option(
    "--highlight",
    multiple=True,
    metavar="RUN",
    help="Show this run in colour, beside the best, and the others in grey; may be repeated.",
)
@click.option("--dark", is_flag=True, help="Colours for a dark page or slide.")
@system_options.QUERY_IDS
@click.option("--no-title", is_flag=True, help="Leave out the title, for a figure with a caption.")
@options.lengths
@chunk_options()
@reading_options()
@view_options
def command(
    kind: str,
    qrels: str | None,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    file: str,
    columns: int | None,
    highlight: tuple[str, ...],
    dark: bool,
    query_ids: tuple[str, ...],
    no_title: bool,
    lengths: str | None,
    chunked: ChunkOptions,
    reading: ReadingOptions,
) -> None:
    """Draw a chart of RUNs measured by the judgments in QRELS: a file that ends in PICTURES.

    With --query, precision-recall-full draws that query instead of the mean over all. Up to eight runs have a
    colour each; with more, only the best and those named by --highlight are coloured.

    \b
    CHARTS

    \b
    Examples:
      cranfield plot precision-recall builtin builtin:plain builtin:tuned \\
        -o curve.svg
      cranfield plot difference builtin builtin:plain builtin:tuned \\
        -m nDCG@5 --columns 1 -o figure.pdf
    """
    from cranfield.files.chart_files import save_chart
    from cranfield.report.plotting import draw_chart

    if len(query_ids) > 1:
        raise click.UsageError("give one --query, or none for all queries.")
    own: dict[str, Any] = {"query": query_ids[0]} if query_ids else {}
    if highlight:
        own["highlight"] = highlight
    if lengths is not None:
        if CHARTS[kind].of == "stability":
            raise click.UsageError(f"--lengths cannot be used with {kind}.")
        own["lengths"] = lengths
    paths = expanded(runs)
    judged, measured = chunked.measured(qrels, paths, paths)
    with shown_progress("drawing"):
        chosen = measures.chosen(CHARTS[kind].usual)
        spec = draw_chart(kind, judged, measured, chosen, **own, **reading.arguments())
        save_chart(spec, file, columns=columns, title=not no_title, dark=dark)


_WIDEST = max(map(len, CHARTS))
options.fill_help(
    command,
    CHARTS="\n    ".join(f"{name:{_WIDEST}}  {chart.meaning}" for name, chart in CHARTS.items()),
    PICTURES=joined((f".{each}" for each in FORMATS), "or"),
)
