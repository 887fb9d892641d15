"""`cranfield stability`: what if there were fewer judgments, or others?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.progress import shown_progress
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
    type=click.Choice(["per-query", "uniform"]),
    default="per-query",
    metavar="DESIGN",
    help="per-query: remove the share of each query's relevant and nonrelevant documents, but keep one of each; "
    "uniform: remove it from all judgments alike [per-query].",
)
@click.option("--repeats", type=int, default=20, help="How often each share is drawn [20].")
@options.seed()
@click.option("--leave-out", is_flag=True, help="Instead, leave each run out of the pool: what would it have lost?")
@click.option(
    "--groups", type=options.FILE, metavar="FILE", help="Runs to leave out together: a file of run and group."
)
@click.option(
    "--pool-depth",
    type=click.IntRange(1),
    metavar="N",
    help="How deep the pool was [the depth to which everything is judged].",
)
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
    leave_out: bool,
    groups: str | None,
    pool_depth: int | None,
    form: str,
    file: str | None,
    reading: ReadingOptions,
) -> None:
    """Remove random shares of the judgments in QRELS, measure RUNs again, and show how the values change.

    With --leave-out, see whether the judgments can be used for a run that was not in their pool: each RUN
    is left out in turn, and documents that no other run returned become unjudged.

    \b
    Examples:
      cranfield stability builtin builtin:plain builtin:tuned --remove 0.5 \\
        -m nDCG@10 -m Bpref
      cranfield stability builtin builtin:plain builtin:tuned --leave-out
    """
    if leave_out:
        _refuse(
            "{} is for random shares and cannot be used with --leave-out.", "fractions", "design", "repeats", "seed"
        )
        output.write(
            _left_out(qrels, runs, measures, groups, pool_depth, form, file, reading), file, data=form == "json"
        )
        return
    _refuse("{} needs --leave-out.", "groups", "pool_depth")

    from cranfield.comparison import stability
    from cranfield.comparison.thinning import FRACTIONS, USUAL_MEASURES
    from cranfield.show.stability_text import stability_text

    with shown_progress("removing judgments"):
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
    output.write(
        [found.to_json() if data else stability_text(found, output.width(file), output.paint(file))], file, data=data
    )


def _refuse(fact: str, *names: str) -> None:
    """Refuse options that were given and mean nothing here."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if option.name in names and given:
            raise click.UsageError(fact.format(option.opts[0]))


def _left_out(
    qrels: str,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    groups: str | None,
    pool_depth: int | None,
    form: str,
    file: str | None,
    reading: ReadingOptions,
) -> list[str]:
    """What each run would have lost had it not been in the pool."""
    from cranfield.comparison import reusability
    from cranfield.comparison.reuse import USUAL_MEASURES
    from cranfield.show.reusability_text import reusability_text

    chosen = measures.chosen(USUAL_MEASURES)
    with shown_progress("leaving runs out"):
        found = reusability(qrels, expanded(runs), chosen, groups=groups, pool_depth=pool_depth, **reading.arguments())
    if form == "json":
        return [found.to_json()]
    return [reusability_text(found, output.width(file), output.paint(file))]
