"""`cranfield compare`: is the difference between runs more than chance?"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.chunk_options import ChunkOptions, chunk_options
from cranfield.cli.correcting_options import CORRECT_WITH, CorrectionOptions, refuse_beside
from cranfield.cli.judging_hints import say_settling
from cranfield.cli.known_queries import query_texts
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.progress import shown_reading
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded, with_baseline
from cranfield.cli.view_options import view_options
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS
from cranfield.errors import ComparisonError
from cranfield.layout import count
from cranfield.read.streams import stream_name

if TYPE_CHECKING:
    from cranfield.comparison import Comparison
    from cranfield.comparison.corrected_pairs import CorrectedComparison
    from cranfield.measures import Measure


@click.command("compare")
@click.argument("qrels")
@options.runs
@measure_options
@options.baseline
@options.significance(TESTS, CORRECTIONS, "max-t, or bonferroni")
@click.option(
    "--family",
    type=click.Choice(["measure", "all"]),
    default="measure",
    help="Correct over the pairs of each measure, or over all pairs and all measures [measure].",
)
@click.option("--margin", type=float, metavar="N", help="Also test: not worse by N, and equivalent within N.")
@click.option("--pairs", is_flag=True, help="List all pairs of runs.")
@click.option(
    "--explain", is_flag=True, help="Also show effect sizes, legends, power, and how much runs and measures agree."
)
@options.collection()
@click.option("--no-bounds", is_flag=True, help="Skip the check whether unjudged documents could reverse a difference.")
@options.lengths
@chunk_options()
@options.printed("markdown", "latex", "json")
@reading_options()
@view_options
@CORRECT_WITH
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: MeasureOptions,
    baseline: str | None,
    test: str,
    correction: str | None,
    family: str,
    margin: float | None,
    pairs: bool,
    explain: bool,
    collection: str | None,
    alpha: float,
    permutations: int,
    seed: int,
    no_bounds: bool,
    lengths: str | None,
    form: str,
    file: str | None,
    reading: ReadingOptions,
    correct_with: tuple[str, ...],
    chunked: ChunkOptions,
) -> None:
    """Compare RUNs by the judgments in QRELS, query by query.

    Says how large each difference is, whether it is more than chance, and whether unjudged documents could reverse it.
    The first measure decides; without any it is nDCG@10.

    \b
    Examples:
      cranfield compare builtin builtin:plain builtin:tuned
      cranfield compare builtin builtin:plain builtin:tuned --format latex
    """

    from cranfield.comparison import compare
    from cranfield.comparison.comparing import USUAL_MEASURES
    from cranfield.comparison.reliability import reliability
    from cranfield.evaluation import saving as saved
    from cranfield.evaluation.result import Evaluation
    from cranfield.read.streams import Stream
    from cranfield.show.comparison_markup import comparison_latex, comparison_markdown
    from cranfield.show.comparison_text import comparison_text

    paths = expanded(runs)
    base = None
    if baseline is not None:
        paths, base = with_baseline(paths, baseline)
    if len(paths) < 2:
        raise _one_run(qrels, paths[0])
    if correct_with:
        beside = {f"--test {test}": test != "t", "--family all": family == "all", "--pairs": pairs}
        refuse_beside(beside)
        found_corrected = _corrected(
            CorrectionOptions.of(qrels, correct_with),
            paths,
            measures.chosen(USUAL_MEASURES),
            base,
            correction=correction or "bonferroni",
            alpha=alpha,
            margin=margin,
            lengths=lengths,
            **reading.arguments(),
        )
        from cranfield.show.corrected_markup import corrected_comparison_latex, corrected_comparison_markdown
        from cranfield.show.corrected_text import corrected_comparison_text

        forms: dict[str, Callable[[CorrectedComparison], str]] = {
            "text": lambda found: corrected_comparison_text(found, output.width(file), output.paint(file)),
            "markdown": corrected_comparison_markdown,
            "latex": corrected_comparison_latex,
            "json": lambda found: found.to_json(),
        }
        output.write([forms[form](found_corrected)], file, data=form == "json")
        return
    streams = [Stream(path) for path in paths]
    judged, measured = chunked.measured(qrels, streams, paths)
    opened = [Evaluation.load(path) if saved.is_saved(path) else run for path, run in zip(paths, measured, strict=True)]
    with shown_reading(f"comparing {count(len(paths), 'run')}", streams):
        found = compare(
            judged,
            opened,
            measures.chosen(USUAL_MEASURES),
            baseline=None if base is None else opened[base],
            test=test,
            correction=correction,
            family=family,
            margin=margin,
            alpha=alpha,
            permutations=permutations,
            seed=seed,
            bounds=not no_bounds,
            lengths=lengths,
            **reading.arguments(),
        )
    texts: dict[str, Callable[[Comparison], str]] = {
        "text": lambda found: comparison_text(
            found,
            reliability(found) if explain else None,
            pairs=pairs,
            width=output.width(file),
            paint=output.paint(file),
            texts=query_texts(qrels, collection),
        ),
        "markdown": comparison_markdown,
        "latex": comparison_latex,
        "json": lambda found: found.to_json(),
    }
    output.write([texts[form](found)], file, data=form == "json")
    if form == "text" and file is None and found.pairs == 1 and opened == streams and judged is qrels:
        difference = found.of(found.measures[0])[0]
        if difference.could_reverse and difference.better + difference.worse:
            in_order = paths[::-1] if base == 1 else paths
            say_settling(qrels, in_order, found.measures[0].canonical)


def _one_run(qrels: Any, run: str) -> ComparisonError:
    """The error for a single run."""
    judged = shlex.quote(stream_name(qrels))
    return ComparisonError(
        f"compare needs at least two runs, and there is only {run}.",
        hint=f"add another run; or measure this one: cranfield evaluate {judged} {shlex.quote(run)}",
    )


def _corrected(
    chosen: CorrectionOptions, paths: list[str], measures: Sequence[Measure], baseline: int | None, **settings: Any
) -> CorrectedComparison:
    """Compare by a model's grades that people correct."""
    from cranfield.evaluation.naming import named_runs
    from cranfield.judging.correcting import compare_corrected

    runs = named_runs(paths)
    base = None if baseline is None else list(runs)[baseline]
    return compare_corrected(chosen.store, runs, measures, baseline=base, **chosen.arguments(), **settings)
