"""`cranfield evaluate`: measure runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from cranfield.cli import options, output
from cranfield.cli.correcting_options import CorrectedOptions, corrected_source, refuse_beside
from cranfield.cli.input_options import (
    ChosenEngine,
    DocumentOptions,
    EngineCommand,
    ReadingOptions,
    query_texts,
    reading_options,
)
from cranfield.cli.measure_options import PresetOptions
from cranfield.cli.options import option
from cranfield.cli.other_tools import OtherToolOptions, print_other_numbers
from cranfield.cli.run_files import expanded, tag
from cranfield.io.formats import readable
from cranfield.words import joined

if TYPE_CHECKING:
    from cranfield.evaluation.overview import Overview
    from cranfield.evaluation.result import Evaluation
    from cranfield.judging.decide import ModelledValue
    from cranfield.measures import Measure
    from cranfield.show.view import View

VALUES = ("tsv", "csv", "jsonl")  # formats that contain only rows of values
DATA = (*VALUES, "json")
WITH_WORST = ("text", "json")
MANY = 6  # from this many runs on, they are numbered, best first


class BoundOptions(options.OptionGroup, section="Unjudged documents"):
    """How low and how high values could be."""

    bounds: bool = options.BOUNDS
    unseen: int | None = option(
        "--unseen",
        type=click.IntRange(0),
        metavar="N",
        help="In bounds, N documents of each query that no run returned may have any grade, too [0].",
    )
    scale: str | None = option(
        "--scale",
        metavar="GRADES",
        help="With --bounds or --modelled: grades of unjudged documents, as 0,1,2,3.",
    )

    modelled: bool = option(
        "--modelled",
        is_flag=True,
        help="Also estimate each mean as if all documents that these RUNs return first were judged.",
    )

    def check(self) -> None:
        """Refuse settings of bounds that are not wanted."""
        if not self.bounds and self.unseen is not None:
            raise click.UsageError("--unseen needs --bounds.")
        if not (self.bounds or self.modelled) and self.scale is not None:
            raise click.UsageError("--scale needs --bounds or --modelled.")

    @property
    def grades(self) -> tuple[float, ...] | None:
        """The grades that unjudged documents may have."""
        if self.scale is None:
            return None
        from cranfield.measures.completion import read_scale

        return read_scale(self.scale.split(","))


class QueryOptions(options.OptionGroup, section="Queries"):
    """Which values of queries are shown, and how they are summed up."""

    per_query: bool = option("-q", "--per-query", is_flag=True, help="Also print the value of every query.")
    worst: int = options.worst(0)
    collection: str | None = options.collection()
    segments: str | None = options.SEGMENTS

    def read_segments(self) -> dict[str, str] | None:
        """The segments of queries; without a file of them, nothing is imported."""
        if self.segments is None:
            return None
        from cranfield.io.pairs import read_segments

        return read_segments(self.segments)


class NameOptions(options.OptionGroup, section="Input"):
    """How runs are named."""

    names: str = option(
        "--names",
        type=click.Choice(("file", "tag")),
        default="file",
        help="Name runs after their file, or by the tag in it [file].",
    )


class EvaluationOptions(
    QueryOptions,
    BoundOptions,
    NameOptions,
    options.PrintOptions,
    section="Output",
    formats=(*DATA, "markdown", "latex"),
):
    """What is shown of an evaluation, and how."""

    sort: str | None = option(
        "--sort",
        metavar="MEASURE",
        help="List the best run first, by this measure [with 6 runs or more: the first measure].",
    )
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, help="Also print the signature: everything that the values depend on."
    )
    save: str | None = options.file("--save", help="Save the evaluation of one run, to compare with later.")

    @property
    def signatures(self) -> bool:
        """Whether a text has the signature; files always contain it."""
        return self.verbose or self.file not in (None, "-")

    @property
    def signed(self) -> bool:
        """Whether the signature is needed."""
        return self.signatures or self.save is not None or self.form not in ("text", *VALUES)


@options.command(
    "evaluate",
    cls=EngineCommand,
    judgments=CorrectedOptions,
    runs=options.RUNS,
    measures=PresetOptions,
    shown=EvaluationOptions,
    other=OtherToolOptions,
    documents=DocumentOptions,
    reading=reading_options(),
)
def command(
    judgments: CorrectedOptions,
    runs: tuple[str, ...],
    measures: PresetOptions,
    shown: EvaluationOptions,
    other: OtherToolOptions,
    documents: DocumentOptions,
    reading: ReadingOptions,
    engine: ChosenEngine,
) -> None:
    """Measure one or more RUNs against the judgments in QRELS.

    A RUN is a file, a pattern such as 'runs/*.gz', a folder, or - for standard input; plain or compressed; in the
    format FORMATS.

    \b
    Example:
      cranfield evaluate builtin builtin:plain builtin:tuned --worst 3
    """
    from cranfield.io.streams import Stream

    if shown.names == "tag" and engine.name:
        raise click.UsageError("--names tag needs TREC runs, which no --engine reads.")
    shown.check()
    measures, reading = measures.completed(), measures.conventions(reading)
    paths = expanded(runs) if engine.name is None else []
    if shown.save and len(paths or runs) > 1:
        raise click.UsageError("--save takes one run.")
    qrels = judgments.source
    if judgments.correct_with:
        beside: dict[str, object] = {"--per-query": shown.per_query, "--worst": shown.worst, "--bounds": shown.bounds}
        beside |= {"--segments": shown.segments, "--weights": reading.weights}
        beside |= {"--engine": engine.name, "--names": shown.names == "tag", "--modelled": shown.modelled}
        refuse_beside(beside)
    if shown.modelled:
        _check_modelled(shown, engine.name, paths)
    if engine.name is not None:
        qrels = judgments.qrels if judgments.view is None and judgments.same_text is None else qrels
    elif isinstance(qrels, Stream):
        qrels.hashed = shown.signed
    if other.given:
        alone: dict[str, object] = {"--bounds": shown.bounds, "--worst": shown.worst, "--save": shown.save}
        alone |= {"--segments": shown.segments, "--weights": reading.weights, "--lengths": documents.lengths}
        alone |= {"--engine": engine.name, "--modelled": shown.modelled, "--correct-with": judgments.correct_with}
        print_other_numbers(other, qrels, paths, measures, shown, reading, alone)
        return
    opened = [Stream(run, hashed=shown.signed) for run in paths]
    judged, measured = documents.measured(corrected_source(qrels, judgments.correct_with), opened, paths)
    from cranfield.cli.output import shown_reading
    from cranfield.evaluation.evaluating import evaluate_runs
    from cranfield.evaluation.naming import named_runs
    from cranfield.evaluation.overview import best_first, overview
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.show.view import View

    chosen = measures.chosen(DEFAULT_MEASURES)
    grades = shown.grades
    lazy = engine.opened(runs, reading.format)
    with shown_reading(f"evaluating in {engine.name}" if engine.name else "evaluating", opened):
        results = evaluate_runs(
            judged,
            named_runs(measured or lazy, name_of=tag if shown.names == "tag" else None),
            chosen,
            lengths=documents.lengths,
            engine=engine.name,
            **reading.arguments(),
        )
    evaluations = list(results.values())
    segments = shown.read_segments()
    if shown.save:
        evaluations[0].save(shown.save)
    values = overview(
        evaluations,
        per_query=shown.per_query,
        worst=shown.worst if shown.form in WITH_WORST else 0,
        rel=measures.rel,
        bounds=shown.bounds and shown.form not in VALUES,
        unseen=shown.unseen or 0,
        scale=grades,
        warnings=shown.form not in VALUES,
        segments=segments,
    )
    ranked = _ranked_by(values, shown, measures)
    modelled = _modelled(results, paths, chosen, shown, reading.format) if shown.modelled else ()
    view = View(values if ranked is None else best_first(values, ranked), ranked, modelled)
    texts = query_texts(qrels, shown.collection) if shown.worst or shown.collection else {}
    output.write(_lines(view, shown, texts), shown.file, data=shown.form in DATA)
    if shown.form == "text" and shown.file is None and engine.name is None:
        measures.say_preset(evaluations)
    if shown.form == "text" and shown.file is None and engine.name is None and judged is qrels:
        from cranfield.cli.judging_hints import pool_command, say_unjudged

        say_unjudged(evaluations, lambda: pool_command(qrels, runs))


def _check_modelled(shown: EvaluationOptions, engine: str | None, paths: Sequence[str]) -> None:
    if engine is not None or "-" in paths:
        raise click.UsageError("--modelled reads RUNs twice, so it takes files, without --engine.")
    if shown.form not in WITH_WORST:
        raise click.UsageError(f"--modelled prints {joined(WITH_WORST, 'or')}, not {shown.form}.")


def _modelled(
    results: Mapping[str, Evaluation],
    paths: Sequence[str],
    measures: Sequence[Measure],
    shown: EvaluationOptions,
    form: str | None,
) -> list[ModelledValue]:
    from cranfield.judging.decide import modelled_values

    [reading, *_] = (result._ranked().reading for result in results.values())
    if reading is None:
        raise click.UsageError("--modelled cannot be used with chunks or an engine.")
    runs = dict(zip(results, paths, strict=True))
    return [
        value
        for measure in measures
        for value in modelled_values(reading.judgments, runs, measure, scale=shown.grades, format=form)
    ]


options.fill_help(command, FORMATS=joined(readable(["run"]), "or"))


def _ranked_by(values: Overview, shown: EvaluationOptions, measures: PresetOptions) -> str | None:
    """The measure that ranks the runs: the one given with --sort, or the first if there are many runs."""
    named = values.evaluations[0]
    if shown.sort is None:
        return next(iter(named)) if len(values.evaluations) >= MANY and shown.form == "text" else None
    from cranfield.measures import parse_measure

    wanted = measures.with_all(parse_measure(shown.sort))
    for name, measure in zip(named, named.measures, strict=True):
        if measure == wanted:
            return name
    raise click.UsageError(f"--sort {shown.sort}: the measures are {', '.join(named)}; add -m {shown.sort}.")


def _lines(view: View, shown: EvaluationOptions, texts: Mapping[str, str]) -> Iterable[str]:
    if shown.form == "text":
        from cranfield.show.evaluation_text import table

        width, paint = output.width(shown.file), output.paint(shown.file)
        return [table(view, width, paint, signatures=shown.signatures, texts=texts)]
    from cranfield.show import evaluation_markup as markup

    if shown.form in ("markdown", "latex"):
        return [getattr(markup, shown.form)(view)]
    if shown.form == "json":
        return [markup.as_json(view)]
    return (
        markup.json_lines(view)
        if shown.form == "jsonl"
        else markup.separated(view, "," if shown.form == "csv" else "\t")
    )
