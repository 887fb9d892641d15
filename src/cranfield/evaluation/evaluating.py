"""evaluate(qrels, run, measures) → Evaluation: the mean of each measure, and the value of each query."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from cranfield.drawing import as_html, plotted
from cranfield.engines.sources import Lazy, is_lazy, open_lazily, stays_in_engine
from cranfield.errors import InputError, MeasureError, either, given
from cranfield.evaluation.from_ranks import digest_of, evaluation_of, refuse_missing
from cranfield.evaluation.hashes import InputHashes
from cranfield.evaluation.naming import named_runs
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.weighting import Weights
from cranfield.io.source import run_name
from cranfield.io.streams import Stream
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measure, parse_measures
from cranfield.measures.registry import require_ranks
from cranfield.native import CORES
from cranfield.ranks.chosen_warning import chosen_warning
from cranfield.ranks.chunk_runs import ChunkRun, are_of_passages, passages_for
from cranfield.ranks.judgments import Judgments, are_corrected
from cranfield.ranks.overlap import RunIds, check_overlap
from cranfield.ranks.policy import Policy
from cranfield.ranks.ranking import TieOrders, rank_scanned
from cranfield.ranks.run import EVERYTHING, NOTHING, Reading, Run, Wants, open_run
from cranfield.ranks.scan.ahead import is_scanning
from cranfield.ranks.scan.parallel import in_parallel
from cranfield.ranks.tables.ranks import JudgedRanks
from cranfield.words import count, listed

if TYPE_CHECKING:
    from cranfield.evaluation.corrected import CorrectedJudgments
    from cranfield.ranks.grouped_judgments import GroupedJudgments
    from cranfield.ranks.passages import PassageJudgments
    from cranfield.show.charts.parts import Spec


class Options(TypedDict, total=False):
    """How runs and judgments are read: what `evaluate` takes, for all functions that evaluate several runs."""

    policy: Policy | None
    format: str | None
    qrels_format: str | None
    lengths: Any
    engine: str | None
    check_ids: bool
    weights: Any


def evaluate(
    qrels: Any,
    run: Any,
    measures: Measures = DEFAULT_MEASURES,
    *,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    lengths: Any = None,
    name: str | None = None,
    engine: str | None = None,
    check_ids: bool = True,
    weights: Any = None,
) -> Evaluation:
    """Measure how good a run is.

    qrels, run: a path, "-" for standard input, an open binary file, a dict of dicts, rows (query, document, value) or
        a frame; `run` may also be {query: [documents, best first]}, and `qrels` a `Judgments` to read them only once.
        The rows of a lazy frame, such as a `polars.LazyFrame` or a DuckDB relation, stay in their engine. Judgments of
        passages (`PassageJudgments`) measure a `ChunkRun`, which says where the chunks of a run are. A model's grades
        that people correct are `corrected_judgments`.
    measures: names such as "nDCG@10", separated by spaces or in a list.
    policy: the conventions; see `Policy`.
    format, qrels_format: the format of the run and of the judgments, if it cannot be detected from the file.
    lengths: of the documents, {document: length} or a file of two columns, for TBG and U.
    name: the run's name in the result; by default that of its file.
    engine: the name of an engine, such as "duckdb", that reads the Parquet files of a path, a pattern or a folder as
        one run. `evaluate_lazily` leaves even the values of the queries there.
    check_ids: a run that shares no query with the judgments is an error, and so is one that retrieves no judged
        document (in memory, only for five queries or more). False turns the error into a warning: see
        `Evaluation.warnings`.
    weights: how much each query counts in a mean, such as how often people ask it: {query: weight}, or a file of both.
        Every query needs one; only proportions matter.
    Returns an `Evaluation`.

    Dict runs are probed only for judged documents; a ranking in a dict that holds none of them is counted, and its
    scores are not checked.

    >>> evaluate({"q1": {"a": 3, "b": 1, "c": 2}}, {"q1": {"b": 0.9, "a": 0.8}}, ["nDCG@3", "R@3"])
    <Evaluation of the run: nDCG@3=0.6075, R@3=0.6667; 1 query>
    """
    wanted = parse_measures(measures)
    if isinstance(run, ChunkRun) or are_of_passages(qrels):
        from cranfield.evaluation.chunked import evaluate_chunks

        if lengths is not None or engine is not None or qrels_format is not None:
            raise InputError(
                "the run", "runs of chunks cannot be evaluated with lengths, an engine or a format of judgments."
            )
        policy = policy or Policy()
        result = evaluate_chunks(qrels, run, wanted, policy, name=name, format=format, check_ids=check_ids)
        return result.weighted(weights)
    read: Any = judgments_for(qrels, (), qrels_format, wanted, engine)
    opened = open_lazily(run, engine, format) if stays_in_engine(run, engine) else open_run(run, format)
    policy = policy or Policy()
    result = evaluate_run(read, opened, wanted, policy, name=name, lengths=lengths, check_ids=check_ids)
    return result.weighted(weights)


def evaluate_run(
    read: Judgments | GroupedJudgments | CorrectedJudgments,
    run: Run | Lazy,
    wanted: Sequence[Measure],
    policy: Policy,
    *,
    name: str | None = None,
    lengths: Any = None,
    check_ids: bool = True,
    wants: Wants = NOTHING,
) -> Evaluation:
    """The evaluation of a run that is open; wants: what its reading must answer besides the ranks."""
    if are_corrected(read):
        read._check(wanted, policy)
    judgments = read if isinstance(read, Judgments) else read.flat
    grouped: Any = None if isinstance(read, Judgments) or are_corrected(read) else read
    reading: Reading | None = None
    if isinstance(run, Lazy):
        from cranfield.engines.lazy_run import LazyRun

        if lengths is not None:
            raise InputError(run.name, _LENGTHS, hint=_EAGER)
        ids: RunIds = (lazy_run := LazyRun.of(run, judgments, policy))
        place, scanned, in_memory = run.name, lazy_run.scanned, False
    else:
        every = Wants(first=EVERYTHING, held=True) if lengths is not None else NOTHING
        ids = reading = run.read(judgments, policy, wants | every)
        place, scanned, in_memory = run.place, reading.scanned, run.stream is None
    warnings = check_overlap(judgments, scanned, ids, in_memory=in_memory, refuse=check_ids)

    def evaluated(grades: Judgments, judged: JudgedRanks, orders: TieOrders | None) -> Evaluation:
        if lengths is not None and reading is not None:
            if policy.ties == "expected":
                from cranfield.measures.over_orders import one_order

                raise one_order("cannot be combined with lengths, which belong to one order.")
            from cranfield.ranks.whole_rankings import with_lengths

            judged = with_lengths(judged, reading.first(grades.query_ids, EVERYTHING), lengths, place)
            orders = None  # another order of ties changes the lengths above a document
        refuse_missing(judged, policy, place)
        digest = (reading and reading.sha256) or partial(digest_of, judged)
        return evaluation_of(
            name or (run_name(place) if isinstance(run, Lazy) else run.name),
            wanted,
            judged,
            policy,
            InputHashes(grades._hash, digest),
            {} if grouped is None else _tables(grouped, judged, wanted, policy),
            reading=reading,
            warnings=warnings,
            doubts=tuple(filter(None, [chosen_warning(grades)])),
            orders=orders,
            provenance=grades.provenance,
        )

    if are_corrected(read):
        if reading is None:
            raise InputError("engine", "runs that stay in an engine cannot be corrected.", hint="leave out the engine")
        by_model, by_people = (evaluated(grades, reading.ranks(grades), None) for grades in read.judges)
        evaluation = replace(by_model, basis=read.basis, by_people=by_people)
    else:
        judged = rank_scanned(judgments, scanned, policy, place)
        evaluation = evaluated(judgments, judged, TieOrders(judgments, scanned, policy))
    if reading is not None:
        reading.without_counts()
    return evaluation


class Evaluations(dict[str, Evaluation]):
    """The result of `evaluate_runs`: a dict of evaluations by run, which notebooks show as one table.

    >>> from cranfield import evaluate_runs
    >>> results = evaluate_runs({"q": {"a": 1}}, {"good": {"q": ["a"]}, "bad": {"q": ["b", "a"]}}, "RR")
    >>> results
    <Evaluations of 2 runs: good, bad>
    >>> results["bad"]["RR"]
    0.5
    """

    def __repr__(self) -> str:
        return f"<Evaluations of {count(len(self), 'run')}: {listed(list(self))}>"

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.values()))

    def _repr_html_(self) -> str:
        return as_html("evaluations", list(self.values()))

    def plot(self, kind: str = "distribution", measure: str | Measure | None = None, **options: Any) -> Spec:
        """A chart of these runs.

        kind: one that `cranfield plot --help` lists; "difference", "slopes" and "scatter" take two runs.
        measure: any of its names, or a `Measure`; by default the first that was measured.
        options: those of the chart, as for `draw_chart`.
        Returns the specification, as a dict.

        >>> from cranfield import evaluate_runs
        >>> evaluate_runs({"1": {"a": 1}, "2": {"b": 1}}, {"one": {"1": ["a"], "2": ["b"]}}, "RR").plot()
        <chart: RR of the queries>
        """
        return plotted(kind, list(self.values()), measure, **options)


def evaluate_runs(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures = DEFAULT_MEASURES,
    **options: Unpack[Options],
) -> Evaluations:
    """Evaluate several runs against judgments that are read once: {name: run}, or paths.

    qrels, measures: those of `evaluate`.
    runs: {name: run}, or a list of runs or paths; a run is what `evaluate` takes.
    options: policy, format, qrels_format, lengths, engine, check_ids and weights, as in `evaluate`; they hold for all
        runs.
    Returns `Evaluations`, which is a dict {name: Evaluation}.

    >>> results = evaluate_runs({"q": {"a": 1}}, {"good": {"q": ["a"]}, "bad": {"q": ["b", "a"]}}, "RR")
    >>> {name: result["RR"] for name, result in results.items()}
    {'good': 1.0, 'bad': 0.5}
    """
    return read_runs(qrels, runs, measures, lambda _: NOTHING, **options)


def read_runs(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: Measures,
    wants: Callable[[Judgments], Wants],
    **options: Unpack[Options],
) -> Evaluations:
    """Evaluate several runs, each read once for all that is wanted: the one place with threads.

    wants: what the readings must answer besides the ranks, given the judgments
    """
    measures = parse_measures(measures)
    weights = options.pop("weights", None)
    weights = None if weights is None else Weights.read(weights)
    engine, format, policy = options.get("engine"), options.get("format"), options.get("policy") or Policy()
    opened = partial(open_lazily, engine=engine, format=format) if engine is not None else None
    named = named_runs(runs, opened=opened)
    judgments: Any = judgments_for(qrels, named.values(), options.pop("qrels_format", None), measures, engine)
    grades = judgments if isinstance(judgments, Judgments) else getattr(judgments, "flat", None)
    asked = NOTHING if grades is None else wants(grades)

    def one(named_run: tuple[str, Any]) -> tuple[str, Evaluation]:
        name, run = named_run
        if are_of_passages(judgments) or stays_in_engine(run, engine):
            return name, evaluate(judgments, run, measures, name=name, **options).weighted(weights)
        result = evaluate_run(
            judgments,
            open_run(run, format),
            measures,
            policy,
            name=name,
            lengths=options.get("lengths"),
            check_ids=options.get("check_ids", True),
            wants=asked,
        )
        return name, result.weighted(weights)

    # An engine has threads of its own.
    return Evaluations(in_parallel(one, named.items(), threads_for(named.values()) if engine is None else 1))


def threads_for(runs: Collection[Any]) -> int:
    """How many runs to read at a time: few files are split into blocks, and so are files that are already scanned."""
    files = all(isinstance(run, str | os.PathLike | Stream | Run) for run in runs)
    return CORES if files and len(runs) >= 2 * CORES and not is_scanning() else 1


def judgments_for(
    qrels: Any, runs: Iterable[Any], format: str | None, wanted: Sequence[Measure], engine: str | None = None
) -> Judgments | GroupedJudgments | PassageJudgments | CorrectedJudgments:
    """The judgments that runs are measured by: of passages, if one of the runs is of chunks."""
    if are_corrected(qrels):
        return qrels
    judgments = passages_for(qrels, runs)
    if not are_of_passages(judgments):
        return read_judgments(judgments, format, wanted, engine)
    if format is not None:
        raise InputError(judgments.name, "judgments of passages take no format.", hint="leave it out")
    return judgments


def read_judgments(
    qrels: Any, format: str | None, wanted: Sequence[Measure], engine: str | None = None
) -> Judgments | GroupedJudgments:
    """The judgments, with their groups where a measure needs them."""
    if engine is not None:
        from cranfield.engines.sources import is_many, open_parquet

        qrels = open_parquet(qrels, engine) if is_many(qrels) else qrels
    if is_lazy(qrels):
        from cranfield.engines.lazy_run import collected

        qrels = collected(qrels, "the judgments")
    tables = {measure.definition.table for measure in wanted}
    if tables <= {"ranks"}:
        return Judgments.read(qrels, format)
    _refuse_strata_beside_others(wanted)
    _refuse_passages(wanted)
    from cranfield.ranks.grouped_judgments import GroupedJudgments

    grouped = GroupedJudgments.read(qrels, format, strata="strata" in tables)
    if "ranks" in tables:
        grouped.to_judgments()  # an ordinary measure needs one grade for each document
    return grouped


def _refuse_strata_beside_others(wanted: Sequence[Measure]) -> None:
    """Refuse measures of strata together with other measures of groups: a group cannot be both."""
    named = {
        measure.definition.table: measure.name for measure in reversed(wanted) if measure.definition.table != "ranks"
    }
    strata = named.pop("strata", None)
    if strata and named:
        table, other = next(iter(named.items()))
        raise MeasureError(f"{strata} reads groups as strata, {other} as {table}.", hint="evaluate them separately")


def _refuse_passages(wanted: Sequence[Measure]) -> None:
    """Refuse measures of passages, where the judgments are of documents."""
    named = next((measure.name for measure in wanted if measure.definition.table == "passages"), None)
    if named:
        raise MeasureError(
            f"{named} is measured on passages of documents.",
            hint="give judgments of passages, and the run with its chunks: "
            + either("ChunkRun(run, chunks)", given("chunks")),
        )


def _tables(
    grouped: GroupedJudgments, judged: JudgedRanks, wanted: Sequence[Measure], policy: Policy
) -> dict[str, Any]:
    """The tables of judgments with groups that the measures need, all from one scan."""
    names = {measure.definition.table for measure in wanted}
    tables: dict[str, Any] = {}
    if "subtopics" in names:
        from cranfield.ranks.tables.subtopics import SubtopicRanks

        tables["subtopics"] = SubtopicRanks.of(grouped, judged)
    if "preferences" in names:
        from cranfield.ranks.tables.preferences import PreferenceRanks

        tables["preferences"] = PreferenceRanks.of(grouped, judged)
    if "groups" in names:
        from cranfield.ranks.tables.groups import GroupRanks

        tables["groups"] = GroupRanks.of(grouped, judged, policy)
    if "strata" in names:
        from cranfield.ranks.tables.strata import StratumRanks

        tables["strata"] = StratumRanks.of(grouped, judged)
    return tables


def value(measure: str | Measure, grades: Sequence[float | None], missed: Sequence[float] = ()) -> float:
    """The value of a measure for one ranking, given the grades of its documents in rank order.

    measure: its name, such as "nDCG@10", or a `Measure`.
    grades: of the documents of the ranking; None for one that was not judged.
    missed: the grades of judged documents that the ranking lacks.
    Returns the value.

    >>> round(value("nDCG@5", [3, 2, 3, 0, 1]), 4)
    0.9724
    >>> round(value("R@5", [1, 1, 1, 0, 0], missed=[1, 1, 1, 1]), 4)
    0.4286
    """
    wanted = parse_measure(measure)
    require_ranks(wanted)
    return float(wanted(JudgedRanks.of_grades(grades, missed))[0])


_LENGTHS = "lengths need all documents of every ranking, but these stay in the engine."
_EAGER = "collect the run, or leave out the engine, to evaluate it in memory"
