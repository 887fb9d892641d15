"""`cranfield agreement`: how far do assessors agree?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.reading_options import RUN_FORMAT
from cranfield.cli.run_files import expanded
from cranfield.cli.view_options import ASSESSORS, KINDS_OF_ASSESSORS
from cranfield.judging.kinds import BY_PEOPLE


@click.command("agreement")
@click.argument("store")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@measure_options
@ASSESSORS
@KINDS_OF_ASSESSORS
@click.option(
    "--disagreements", type=click.IntRange(0), default=10, metavar="N", help="How many disagreements to list [10]."
)
@click.option(
    "--draws",
    type=int,
    default=2000,
    help="How many samples of the queries are drawn for intervals [2000].",
)
@options.seed()
@RUN_FORMAT
@options.printed("json")
def command(
    store: str,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    assessors: tuple[str, ...],
    kinds: tuple[str, ...],
    disagreements: int,
    draws: int,
    seed: int,
    run_format: str | None,
    form: str,
    file: str | None,
) -> None:
    """Show how well the assessors of STORE agree on the documents that several of them judged.

    Cohen's kappa, weighted kappa and Krippendorff's alpha for each pair of assessors and all together, by grade and by
    query, and the documents whose grades are furthest apart. With RUNs, also whether their order depends on whose
    grades are used. STORE is a file or the URL of a PostgreSQL database.

    \b
    Examples:
      cranfield agreement judgments.db --assessor ann --assessor bob
      cranfield agreement judgments.db runs/*.run -m AP
    """
    from cranfield.judging.agreeing import agreement
    from cranfield.judging.agreement_text import agreement_text

    chosen = measures.chosen(("nDCG@10",))
    if len(chosen) > 1:
        raise click.UsageError("the runs are ranked by one measure; give -m once.")
    found = agreement(
        store,
        assessors or None,
        runs=expanded(runs) or None,
        measure=chosen[0].name,
        kinds=kinds or BY_PEOPLE,
        worst=disagreements,
        draws=draws,
        seed=seed,
        format=run_format,
    )
    text = found.to_json() if form == "json" else agreement_text(found, output.width(file), output.paint(file))
    output.write([text], file, data=form == "json")
