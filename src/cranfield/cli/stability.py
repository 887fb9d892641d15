"""`cranfield stability`: what if there were fewer judgments, or others?"""

from __future__ import annotations

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import InheritingOptions, ReadingOptions, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import flag, number, option
from cranfield.cli.run_files import expanded


class RemovalOptions(options.OptionGroup, section="Comparison"):
    fractions: tuple[float, ...] = option(
        "--remove", type=float, multiple=True, metavar="SHARE", help="A share of the judgments; may be repeated."
    )
    design: str = option(
        "--design",
        type=click.Choice(["per-query", "uniform"]),
        default="per-query",
        metavar="DESIGN",
        help="per-query: remove the share of each query's relevant and nonrelevant documents, but keep one of each; "
        "uniform: remove it from all judgments alike [per-query].",
    )
    repeats: int = option("--repeats", type=int, default=20, metavar="N", help="How often each share is drawn [20].")
    seed: int = options.SEED
    leave_out: bool = flag("--leave-out", help="Instead, leave each run out of the pool: what would it have lost?")
    groups: str | None = options.file("--groups", help="Runs to leave out together: a file of run and group.")
    pool_depth: int | None = number(
        "--pool-depth", least=1, help="How deep the pool was [the depth to which everything is judged]."
    )


@options.command("stability", runs=options.RUNS, reading=reading_options(columns=("weight",)))
def command(
    judgments: InheritingOptions,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    removal: RemovalOptions,
    shown: options.JsonOptions,
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
    from cranfield.comparison.reusability import USUAL_MEASURES, reusability
    from cranfield.comparison.stability import FRACTIONS, stability
    from cranfield.comparison.stability import USUAL_MEASURES as USUAL
    from cranfield.show.stability_text import reusability_text, stability_text

    qrels, settings = judgments.source, reading.arguments()
    if removal.leave_out:
        random = ("fractions", "design", "repeats", "seed")
        options.refuse("{} is for random shares and cannot be used with --leave-out.", *random)
        settings |= removal.values("groups", "pool_depth")
        with output.shown_progress("leaving runs out"):
            lost = reusability(qrels, expanded(runs), measures.chosen(USUAL_MEASURES), **settings)
        shown.write(lost.to_json, lambda width, paint: reusability_text(lost, width, paint))
        return
    options.refuse("{} needs --leave-out.", "groups", "pool_depth")
    settings |= removal.values("design", "repeats", "seed")
    with output.shown_progress("removing judgments"):
        changed = stability(qrels, expanded(runs), measures.chosen(USUAL), removal.fractions or FRACTIONS, **settings)
    shown.write(changed.to_json, lambda width, paint: stability_text(changed, width, paint))
