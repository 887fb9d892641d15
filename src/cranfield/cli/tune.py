"""`cranfield tune`: which mixture of runs is best, and how good it really is."""

from __future__ import annotations

from typing import Any

import click

from cranfield.cli import options, output
from cranfield.cli.input_options import JudgmentOptions, ReadingOptions, query_column_options, reading_options
from cranfield.cli.measure_options import MeasureOptions
from cranfield.cli.options import file, number, option
from cranfield.cli.run_files import expanded
from cranfield.errors import InputError
from cranfield.evaluation.folds import FOLDS, REPEATS
from cranfield.io.query_columns import COLUMNS
from cranfield.mixing.candidates import POINTS, USUAL_METHODS, read_try
from cranfield.mixing.mixture import DEPTH
from cranfield.words import count


class Tried(click.ParamType[tuple[str, list[Any]]]):
    """A parameter and its values: k=10,60 or k=1..100."""

    name = "parameter"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, list[Any]]:
        try:
            return read_try(str(value))
        except InputError:
            return self.fail(f"'{value}' is not a parameter with its values, such as k=10,60 or k=1..100.", param, ctx)


class SpaceOptions(options.OptionGroup, section="Fusion"):
    tried: tuple[tuple[str, list[Any]], ...] = option(
        "--try",
        parameter="tried",
        type=Tried(),
        multiple=True,
        metavar="NAME=VALUES",
        help="Values to try of a parameter: k=10,60 or k=1..100, normalisation=min-max,z-score, depth=10,100; may be "
        f"repeated. 'cranfield fuse --help' lists methods and parameters [method={','.join(USUAL_METHODS)}].",
    )
    equal: bool = options.flag("--equal-weights", help="Let all runs count alike, instead of tuning their weights.")
    depth: int = options.depth_of_runs(DEPTH, str(DEPTH))


class FoldOptions(options.OptionGroup, section="Comparison"):
    seed: int = options.SEED


class TunedOptions(options.JsonOptions, section="Output"):
    fused: str | None = file("--fused", help="Write the run of the final setting to FILE.")
    settings: int = number("--settings", default=0, help="Also list the N best settings [0].")
    force: bool = options.FORCE


class TunedReading(
    reading_options(  # type: ignore[misc]  # made from the policy
        settings=("ties", "missing", "duplicates", "same_id", "negative", "complete"), means=False
    ),
    query_column_options(tuple(COLUMNS)),  # type: ignore[misc]
):
    """How judgments and runs are read; depth and cover are not settings of a mixture."""


@options.command(
    "tune",
    runs=options.RUNS,
    reading=TunedReading,
)
def command(
    judgments: JudgmentOptions,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    space: SpaceOptions,
    folding: FoldOptions,
    shown: TunedOptions,
    reading: ReadingOptions,
) -> None:
    """Find out which mixture of RUNs is best by the judgments in QRELS, and how good it really is.

    Settings that were chosen on some queries look better on these than they are. So they are chosen on four fifths of
    the queries and measured on the rest, REPEATS times over FOLDS folds: the value is what to expect of settings that
    are chosen like this. Up to two parameters are tried on a grid, more of them at POINTS points. Without -m, the
    measure is nDCG@10.

    \b
    Examples:
      cranfield tune builtin builtin:plain builtin:tuned
      cranfield tune builtin builtin:plain builtin:tuned \\
        --try method=rrf --try k=1..100 --equal-weights --fused fused.run
    """
    from cranfield.mixing.tuning import tune
    from cranfield.show.mixing_text import tuning_text

    wanted = measures.chosen(("nDCG@10",))
    if len(wanted) > 1:
        raise click.UsageError("settings are tuned for one measure; give -m once.")
    tried: dict[str, Any] = dict(space.tried)
    if space.equal:
        tried["weights"] = False
    arguments = reading.arguments()
    with output.shown_progress("tuning") as progress:
        tuning = tune(
            judgments.source,
            expanded(runs),
            wanted[0],
            tried=tried,
            depth=space.depth,
            seed=folding.seed,
            on_start=lambda queries: progress.begin(0, queries),
            on_queries=progress.advance,
            **arguments,
        )
    if shown.fused is not None:
        written = tuning.fuse(shown.fused, force=shown.force)
    shown.write(tuning.to_json, lambda width, paint: tuning_text(tuning, width, paint, most=shown.settings))
    if shown.fused is not None:
        output.say(f"Written: {shown.fused}, {count(written.queries, 'query', 'queries')}", err=shown.form == "json")


options.fill_help(command, REPEATS=str(REPEATS), FOLDS=str(FOLDS), POINTS=str(POINTS))
