"""`cranfield compare`: is the difference between runs more than chance?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.cli.correcting_options import CorrectedOptions, corrected_source, refuse_beside
from cranfield.cli.input_options import DocumentOptions, ReadingOptions, reading_options, shown_collection
from cranfield.cli.judging_hints import say_settling
from cranfield.cli.measure_options import PresetOptions
from cranfield.cli.options import option
from cranfield.cli.output import shown_reading
from cranfield.cli.reviewing import ReviewOptions, links
from cranfield.cli.run_files import expanded, with_baseline
from cranfield.cli.run_files import opened as opened_runs
from cranfield.comparison.multiple_testing import CORRECTIONS
from cranfield.comparison.significance import TESTS
from cranfield.errors import ComparisonError
from cranfield.io.streams import stream_name
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.comparison.conclusions import Comparison
    from cranfield.comparison.segments import SegmentComparison
    from cranfield.show.layout import Paint
    from cranfield.systems.collection import Collection
    from cranfield.systems.misses import Lost

SHOWN_PAIRS = 3  # whose queries a comment shows


class ComparisonOptions(
    options.TestOptions, section="Comparison", tests=TESTS, corrections=CORRECTIONS, usual="max-t, or bonferroni"
):
    """Which runs are compared, and how."""

    baseline: str | None = options.BASELINE
    margin: float | None = option(
        "--margin", type=float, metavar="N", help="Also test: not worse by N, and equivalent within N."
    )
    detect: float | None = option(
        "--detect",
        type=float,
        metavar="N",
        help="The smallest difference that matters: say how many queries detect it [0.02].",
    )
    family: str = option(
        "--family",
        type=click.Choice(["measure", "all"]),
        default="measure",
        metavar="FAMILY",
        help="Correct over the pairs of each measure (measure), or over all pairs and all measures (all) [measure].",
    )


class NoBoundOptions(options.OptionGroup, section="Unjudged documents"):
    """Whether to check what unjudged documents could change."""

    no_bounds: bool = option(
        "--no-bounds", is_flag=True, help="Skip the check whether unjudged documents could reverse a difference."
    )
    unseen: int = options.UNSEEN


class ShownOptions(
    NoBoundOptions, ReviewOptions, section="Output", formats=("markdown", "latex", "json", "junit", "github")
):
    """What is shown of a comparison, and how."""

    pairs: bool = option("--pairs", is_flag=True, help="List all pairs of runs.")
    explain: bool = option(
        "--explain", is_flag=True, help="Also show effect sizes, legends, power, and how much runs and measures agree."
    )
    collection: str | None = options.collection()
    segments: str | None = options.SEGMENTS


@options.command(
    "compare",
    judgments=CorrectedOptions,
    runs=options.RUNS,
    measures=PresetOptions,
    comparison=ComparisonOptions,
    shown=ShownOptions,
    documents=DocumentOptions,
    reading=reading_options(),
)
def command(
    judgments: CorrectedOptions,
    runs: tuple[str, ...],
    measures: PresetOptions,
    comparison: ComparisonOptions,
    shown: ShownOptions,
    documents: DocumentOptions,
    reading: ReadingOptions,
) -> None:
    """Compare RUNs by the judgments in QRELS, query by query.

    Says how large each difference is, whether it is more than chance, and whether unjudged documents could reverse it.
    The first measure decides; without any it is nDCG@10.

    \b
    Examples:
      cranfield compare builtin builtin:plain builtin:tuned
      cranfield compare builtin builtin:plain builtin:tuned --format latex
    """
    from cranfield.comparison.comparing import USUAL_MEASURES, compare
    from cranfield.comparison.correlation import reliability
    from cranfield.io.streams import Stream
    from cranfield.show.comparison_markup import comparison_latex, comparison_markdown
    from cranfield.show.comparison_text import comparison_text
    from cranfield.show.comparison_words import verdict
    from cranfield.show.review import Reviewed, reviews_of_comparison

    measures, reading = measures.completed(), measures.conventions(reading)
    qrels, paths, base = judgments.source, expanded(runs), None
    forms = shown.forms
    if comparison.baseline is not None:
        paths, base = with_baseline(paths, comparison.baseline)
    if len(paths) < 2:
        raise _one_run(qrels, paths[0])
    if judgments.correct_with:
        refuse_beside({"--family all": comparison.family == "all", "--pairs": shown.pairs})
        refuse_beside({"--segments": shown.segments, "--weights": reading.weights})
    if shown.segments and "latex" in forms:
        raise click.UsageError("--segments cannot be used with --format latex.")
    if isinstance(qrels, Stream):
        qrels.hashed = "json" in forms  # which contains signatures
    sources = opened_runs(paths, hashed="json" in forms)
    streams = [run for run in sources if isinstance(run, Stream)]
    judged, opened = documents.measured(corrected_source(qrels, judgments.correct_with), sources, paths)
    with shown_reading(f"comparing {count(len(paths), 'run')}", streams):
        compared = compare(
            judged,
            opened,
            measures.chosen(USUAL_MEASURES),
            baseline=None if base is None else opened[base],
            test=comparison.test,
            correction=comparison.correction,
            family=comparison.family,
            permutations=comparison.permutations,
            seed=comparison.seed,
            bounds=not shown.no_bounds,
            unseen=shown.unseen,
            margin=comparison.margin,
            detect=comparison.detect,
            alpha=comparison.alpha,
            lengths=documents.lengths,
            **reading.arguments(),
        )
    collection = shown_collection(qrels, shown.collection)

    def text(width: int, paint: Paint) -> str:
        explained = reliability(compared) if shown.explain else None
        return comparison_text(
            compared, explained, texts=collection.queries, pairs=shown.pairs, width=width, paint=paint
        )

    own: dict[str, Callable[[int, Paint], str]] = {
        "text": text,
        "markdown": lambda width, paint: comparison_markdown(compared),
        "latex": lambda width, paint: comparison_latex(compared),
        "json": lambda width, paint: compared.to_json(),
    }
    if shown.segments:
        own |= _with_segments(own, compared, compared.by_segment(shown.segments), pairs=shown.pairs)
    reviews = tuple(reviews_of_comparison(compared, _lost(compared, collection) if "github" in forms else {}))
    title = verdict(compared) if len(reviews) > 1 else ""
    shown.write(Reviewed("compare", reviews, own, links=links(), title=title))
    if shown.form == "text" and shown.file is None:
        measures.say_preset(compared.evaluations, chosen=True)
    if shown.form == "text" and shown.file is None and compared.pairs == 1 and opened == streams and judged is qrels:
        difference = compared.of(compared.measures[0])[0]
        if difference.could_reverse and not shown.unseen and difference.better + difference.worse:
            in_order = paths[::-1] if base == 1 else paths
            say_settling(qrels, in_order, compared.measures[0].canonical, compared.queries)


def _with_segments(
    own: Mapping[str, Callable[[int, Paint], str]], compared: Comparison, found: SegmentComparison, *, pairs: bool
) -> dict[str, Callable[[int, Paint], str]]:
    """A comparison and that of its segments."""
    from cranfield.show.segments_text import segments_markdown, segments_text

    both = {**compared.to_dict(), "segments": found.to_dict()}
    text, markdown = own["text"], own["markdown"]
    return {
        "json": lambda width, paint: json.dumps(both, indent=2, ensure_ascii=False),
        "markdown": lambda width, paint: f"{markdown(width, paint)}\n\n{segments_markdown(found)}",
        "text": lambda width, paint: (
            f"{text(width, paint)}\n\n{segments_text(found, pairs=pairs, width=width, paint=paint)}"
        ),
    }


def _lost(compared: Comparison, collection: Collection) -> dict[tuple[str, str], Sequence[Lost]]:
    """The queries that lost most, of the pairs that are first in a comment."""
    from cranfield.systems.misses import lost_most

    runs = {evaluation.run: evaluation for evaluation in compared.evaluations}
    pairs = compared.of(compared.measures[0])[:SHOWN_PAIRS]
    return {
        (pair.run, pair.baseline): lost_most(pair, (runs[pair.baseline], runs[pair.run]), collection) for pair in pairs
    }


def _one_run(qrels: Any, run: str) -> ComparisonError:
    """The error for a single run."""
    judged = shlex.quote(stream_name(qrels))
    return ComparisonError(
        f"compare needs at least two runs, and there is only {run}.",
        hint=f"add another run; or measure this one: cranfield evaluate {judged} {shlex.quote(run)}",
    )
