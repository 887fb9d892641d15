"""`cranfield compare`: is the difference between runs more than chance?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.comparison.corrections import CORRECTIONS
from cranfield.comparison.significance import TESTS


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN...")
@click.option("-m", "--measure", "measures", multiple=True, help="A measure; the first decides [nDCG@10].")
@click.option("-b", "--baseline", metavar="RUN", help="Compare every run with this one, not all pairs.")
@click.option("--test", default="t", show_default=True, help=f"{options.listed(TESTS)}.")
@click.option(
    "--correction",
    help=f"For a family of several pairs: {options.listed(CORRECTIONS)}. [default: max-t, or bonferroni]",
)
@click.option(
    "--family",
    type=click.Choice(["measure", "all"]),
    default="measure",
    show_default=True,
    help="What is corrected together: the pairs of a measure, or all pairs × all measures.",
)
@click.option("--margin", type=float, metavar="N", help="Also test: not worse by N, and equivalent within N.")
@click.option("--pairs", is_flag=True, help="List all pairs, however many runs there are.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="For tests that draw.")
@click.option("--seed", type=int, default=0, show_default=True, help="For tests that draw.")
@click.option(
    "--no-bounds", is_flag=True, help="Do not find out whether unjudged documents could reverse a difference."
)
@click.option(
    "--format",
    "shown",
    type=click.Choice(["text", "markdown", "latex", "json"]),
    default="text",
    show_default=True,
    help="How to print it.",
)
@options.policy
@options.formats
@options.id_check
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    baseline: str | None,
    test: str,
    correction: str | None,
    family: str,
    margin: float | None,
    pairs: bool,
    alpha: float,
    permutations: int,
    seed: int,
    no_bounds: bool,
    shown: str,
    run_format: str | None,
    qrels_format: str | None,
    check_ids: bool,
    **policy: str | int | None,
) -> None:
    """Compare RUNs by the judgments in QRELS, query by query.

    Says how large each difference is, whether it is more than chance, and whether unjudged documents could reverse it.

    \b
    Examples:
      cranfield compare builtin:qrels builtin:keywords builtin:meaning
      cranfield compare builtin:qrels builtin:keywords builtin:meaning --format latex
    """
    from cranfield.comparison import compare
    from cranfield.comparison.comparing import USUAL_MEASURES
    from cranfield.comparison.reliability import reliability
    from cranfield.evaluation import saving as saved
    from cranfield.evaluation.result import Evaluation
    from cranfield.show.comparison import comparison_latex, comparison_markdown, comparison_text

    paths = runs if baseline is None or baseline in runs else (baseline, *runs)
    opened = [Evaluation.load(path) if saved.is_saved(path) else path for path in paths]
    found = compare(
        qrels,
        opened,
        measures or USUAL_MEASURES,
        baseline=None if baseline is None else opened[paths.index(baseline)],
        test=test,
        correction=correction,
        family=family,
        margin=margin,
        alpha=alpha,
        permutations=permutations,
        seed=seed,
        bounds=not no_bounds,
        policy=options.chosen_policy(**policy),
        format=run_format,
        qrels_format=qrels_format,
        check_ids=check_ids,
    )
    if shown == "json":
        output.write([found.to_json()], data=True)
    elif shown == "text":
        output.say(comparison_text(found, reliability(found), pairs=pairs))
    else:
        output.say({"markdown": comparison_markdown, "latex": comparison_latex}[shown](found))
