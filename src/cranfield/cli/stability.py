"""`cranfield stability`: what if there were fewer judgments?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded
from cranfield.cli.view_options import view_options


@click.command("stability")
@click.argument("qrels")
@options.runs
@measure_options
@click.option("--remove", "fractions", type=float, multiple=True, help="A share of the judgments; may be repeated.")
@click.option(
    "--design",
    default="per-query",
    show_default=True,
    help="per-query: the share goes from each query's relevant and nonrelevant documents, of which one is left; "
    "uniform: from all judgments alike.",
)
@click.option("--repeats", type=int, default=20, show_default=True, help="How often each share is drawn.")
@options.seed()
@options.printed("json")
@reading_options()
@view_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    fractions: tuple[float, ...],
    design: str,
    repeats: int,
    seed: int,
    form: str,
    file: str | None,
    reading: ReadingOptions,
) -> None:
    """Remove random shares of the judgments in QRELS, measure RUNs again, and see how far they move.

    \b
    Example:
      cranfield stability builtin:qrels builtin:keywords builtin:meaning -m nDCG@10 -m Bpref --remove 0.5
    """

    from cranfield.comparison import stability
    from cranfield.comparison.thinning import FRACTIONS, USUAL_MEASURES
    from cranfield.show.stability_text import stability_text

    found = stability(
        qrels,
        expanded(runs),
        measures.chosen(USUAL_MEASURES),
        fractions or FRACTIONS,
        design=design,
        repeats=repeats,
        seed=seed,
        **reading.arguments(),
    )
    data = form == "json"
    output.write([found.to_json() if data else stability_text(found)], file, data=data)
