"""`cranfield stability`: what if there were fewer judgments?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.view_options import view_options


@click.command("stability")
@click.argument("qrels")
@options.runs
@options.measures
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
@options.policy
@options.formats
@options.id_check
@view_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    fractions: tuple[float, ...],
    design: str,
    repeats: int,
    seed: int,
    form: str,
    file: str | None,
    rel: float | None,
    judged_only: bool,
    imports: tuple[str, ...],
    run_format: str | None,
    qrels_format: str | None,
    check_ids: bool,
    **policy: str | int | None,
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
        options.expanded(runs),
        options.chosen_measures(measures, rel=rel, judged_only=judged_only, imports=imports, default=USUAL_MEASURES),
        fractions or FRACTIONS,
        design=design,
        repeats=repeats,
        seed=seed,
        policy=options.chosen_policy(**policy),
        format=run_format,
        qrels_format=qrels_format,
        check_ids=check_ids,
    )
    data = form == "json"
    output.write([found.to_json() if data else stability_text(found)], file, data=data)
