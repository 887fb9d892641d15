"""`cranfield stability`: what if there were fewer judgments?"""

from __future__ import annotations

import click

from cranfield.cli import options, output


@click.command("stability")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure such as nDCG@10; may be repeated.")
@click.option("--remove", "fractions", type=float, multiple=True, help="A share of the judgments; may be repeated.")
@click.option(
    "--design",
    default="per-query",
    show_default=True,
    help="per-query: the share goes from each query's relevant and nonrelevant documents, of which one is left; "
    "uniform: from all judgments alike.",
)
@click.option("--repeats", type=int, default=20, show_default=True, help="How often each share is drawn.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws.")
@click.option("--format", "shown", type=click.Choice(["text", "json"]), default="text", show_default=True)
@options.policy
@options.formats
@options.id_check
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    fractions: tuple[float, ...],
    design: str,
    repeats: int,
    seed: int,
    shown: str,
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
    from cranfield.show.comparison import stability_text

    found = stability(
        qrels,
        runs,
        measures or USUAL_MEASURES,
        fractions or FRACTIONS,
        design=design,
        repeats=repeats,
        seed=seed,
        policy=options.chosen_policy(**policy),
        format=run_format,
        qrels_format=qrels_format,
        check_ids=check_ids,
    )
    if shown == "json":
        output.write([found.to_json()], data=True)
    else:
        output.say(stability_text(found))
