"""`cranfield evaluate`: measure runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options, output
from cranfield.cli.chunk_options import ChunkOptions, chunk_options
from cranfield.cli.correcting_options import CORRECT_WITH, CorrectionOptions, refuse_beside
from cranfield.cli.engine_options import EngineCommand, in_engine
from cranfield.cli.known_queries import query_texts
from cranfield.cli.measure_options import MeasureOptions, measure_options
from cranfield.cli.reading_options import ReadingOptions, reading_options
from cranfield.cli.run_files import expanded, tag
from cranfield.cli.view_options import view_options
from cranfield.layout import joined
from cranfield.read.formats import readable

if TYPE_CHECKING:
    from cranfield.evaluation.overview import Overview

VALUES = ("tsv", "csv", "jsonl")  # formats that contain only rows of values
DATA = (*VALUES, "json")
WITH_WORST = ("text", "json")
MANY = 6  # from this many runs on, they are numbered, best first


@click.command("evaluate", cls=EngineCommand)
@click.argument("qrels")
@options.runs
@measure_options
@click.option("-q", "--per-query", is_flag=True, help="Also print the value of every query.")
@options.worst(0)
@options.bounds
@click.option(
    "--unseen", type=click.IntRange(0), metavar="M", help="With --bounds: up to M relevant documents may be missing."
)
@click.option(
    "--scale", metavar="GRADES", help="With --bounds: the grades that unjudged documents may have, such as 0,1,2,3."
)
@click.option(
    "--sort",
    metavar="MEASURE",
    help="List the best run first, by this measure [with 6 runs or more: the first measure].",
)
@options.segments
@click.option(
    "--weights", type=options.FILE, metavar="FILE", help="How much each query counts: a file of query and weight."
)
@options.lengths
@chunk_options()
@click.option(
    "--save", type=options.FILE, metavar="FILE", help="Save the evaluation of one run, to compare with later."
)
@options.printed(*DATA, "markdown", "latex")
@options.collection()
@options.verbose
@click.option(
    "--names",
    type=click.Choice(("file", "tag")),
    default="file",
    help="Name runs after their file, or by the tag in it [file].",
)
@reading_options()
@view_options
@CORRECT_WITH
def command(
    qrels: str,
    runs: tuple[str, ...],
    per_query: bool,
    worst: int,
    bounds: bool,
    unseen: int | None,
    scale: str | None,
    sort: str | None,
    by: str | None,
    weights: str | None,
    lengths: str | None,
    save: str | None,
    form: str,
    file: str | None,
    collection: str | None,
    verbose: bool,
    names: str,
    measures: MeasureOptions,
    reading: ReadingOptions,
    engine: str | None,
    engine_settings: dict[str, str],
    correct_with: tuple[str, ...],
    chunked: ChunkOptions,
) -> None:
    """Measure one or more RUNs against the judgments in QRELS.

    A RUN is a file, a pattern such as 'runs/*.gz', a folder, or - for standard input; plain or compressed; in the
    format FORMATS.

    \b
    Example:
      cranfield evaluate builtin builtin:plain builtin:tuned --worst 3
    """
    from cranfield.read.streams import Stream

    if names == "tag" and engine:
        raise click.UsageError("--names tag needs TREC runs, which no --engine reads.")
    if not bounds and (unseen is not None or scale is not None):
        raise click.UsageError(f"--{'scale' if unseen is None else 'unseen'} needs --bounds.")
    paths = expanded(runs) if engine is None else []
    if save and len(paths or runs) > 1:
        raise click.UsageError("--save takes one run.")
    if correct_with:
        beside = {"--per-query": per_query, "--worst": worst, "--bounds": bounds, "--by": by, "--weights": weights}
        beside |= {"--engine": engine, "--names": names == "tag"}
        refuse_beside(beside)
        _corrected(
            CorrectionOptions.of(qrels, correct_with), paths, measures, reading, lengths, save, form, file, verbose
        )
        return
    signed = verbose or save is not None or file not in (None, "-") or form not in ("text", *VALUES)
    opened = [Stream(run, hashed=signed) for run in paths]
    if signed:
        from cranfield.read.hashing import hash_largest

        hash_largest(paths)
    judged, measured = chunked.measured(qrels, opened, paths)
    from cranfield.cli.progress import shown_reading
    from cranfield.evaluation.evaluating import evaluate_runs
    from cranfield.evaluation.naming import named_runs
    from cranfield.evaluation.overview import best_first, overview
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.show.view import View

    chosen = measures.chosen(DEFAULT_MEASURES)
    grades = _read_grades(scale) if scale is not None else None
    lazy = in_engine(runs, engine, reading.format, engine_settings) if engine else []
    with shown_reading(f"evaluating in {engine}" if engine else "evaluating", opened):
        results = evaluate_runs(
            Stream(judged, hashed=signed) if isinstance(judged, str) and engine is None else judged,
            named_runs(measured or lazy, name_of=tag if names == "tag" else None),
            chosen,
            lengths=lengths,
            engine=engine,
            **reading.arguments(),
        )
    evaluations = list(results.values())
    counted, parts = _read_beside(weights, by)
    if save:
        evaluations[0].save(save)
    found = overview(
        evaluations,
        per_query=per_query,
        worst=worst if form in WITH_WORST else 0,
        bounds=bounds and form not in VALUES,
        unseen=unseen or 0,
        scale=grades,
        warnings=form not in VALUES,
        weights=counted,
        segments=parts,
    )
    ranked = _ranked_by(found, sort, measures, form)
    view = View(found if ranked is None else best_first(found, ranked), ranked)
    texts = query_texts(qrels, collection) if worst or collection else {}
    output.write(_lines(view, form, file, verbose=verbose, texts=texts), file, data=form in DATA)
    if form == "text" and file is None and engine is None and judged is qrels:
        from cranfield.cli.judging_hints import pool_command, say_unjudged

        say_unjudged(evaluations, lambda: pool_command(qrels, runs))


options.fill_help(command, FORMATS=joined(readable(["run"]), "or"))


def _corrected(
    correction: CorrectionOptions,
    runs: list[str],
    measures: MeasureOptions,
    reading: ReadingOptions,
    lengths: str | None,
    save: str | None,
    form: str,
    file: str | None,
    verbose: bool,
) -> None:
    """Evaluate by a model's grades that people correct."""
    from cranfield.judging.correcting import evaluate_corrected
    from cranfield.measures import DEFAULT_MEASURES
    from cranfield.show.corrected_markup import corrected_latex, corrected_markdown
    from cranfield.show.corrected_text import corrected_data, corrected_text

    found = evaluate_corrected(
        correction.store,
        runs,
        measures.chosen(DEFAULT_MEASURES),
        **correction.arguments(),
        **reading.arguments(),
        lengths=lengths,
    )
    if save:
        found.save(save)
    if form == "text":
        signatures = verbose or file not in (None, "-")
        output.write([corrected_text(found, output.width(file), output.paint(file), signatures=signatures)], file)
    elif form in ("markdown", "latex"):
        output.write([corrected_latex(found) if form == "latex" else corrected_markdown(found)], file)
    else:
        output.write(corrected_data(found, form), file, data=True)


def _read_beside(weights: str | None, by: str | None) -> tuple[dict[str, float] | None, dict[str, str] | None]:
    """The weights and segments of queries, from their files; without such files, nothing is imported."""
    if weights is None and by is None:
        return None, None
    from cranfield.read.pairs import read_numbers, read_words

    return read_numbers(weights, "weight") if weights else None, read_words(by, "segment") if by else None


def _read_grades(scale: str) -> tuple[float, ...]:
    from cranfield.measures.completion import read_scale

    return read_scale(scale.split(","))


def _ranked_by(found: Overview, sort: str | None, measures: MeasureOptions, form: str) -> str | None:
    """The measure that ranks the runs: the one given with --sort, or the first if there are many runs."""
    named = found.evaluations[0]
    if sort is None:
        return next(iter(named)) if len(found.evaluations) >= MANY and form == "text" else None
    from cranfield.measures import parse_measure

    wanted = measures.with_all(parse_measure(sort))
    for name, measure in zip(named, named.measures, strict=True):
        if measure == wanted:
            return name
    raise click.UsageError(f"--sort {sort}: the measures are {', '.join(named)}; add -m {sort}.")


def _lines(view: Any, form: str, file: str | None, *, verbose: bool, texts: Mapping[str, str]) -> Iterable[str]:
    if form == "text":
        from cranfield.show.evaluation_text import table

        # Files always contain the signature.
        signatures = verbose or file not in (None, "-")
        return [table(view, output.width(file), output.paint(file), signatures=signatures, texts=texts)]
    if form in ("markdown", "latex"):
        from cranfield.show import evaluation_markup

        return [getattr(evaluation_markup, form)(view)]
    from cranfield.show import evaluation_data

    if form == "json":
        return [evaluation_data.as_json(view)]
    return (
        evaluation_data.json_lines(view)
        if form == "jsonl"
        else evaluation_data.separated(view, "," if form == "csv" else "\t")
    )
