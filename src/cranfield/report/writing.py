"""write_report(qrels, runs, path): the page, in one file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.comparison.comparing import check_testing
from cranfield.comparison.conclusions import Comparison
from cranfield.engines.sources import Lazy, is_lazy
from cranfield.errors import ComparisonError, CranfieldError, OutputError
from cranfield.evaluation.evaluating import judgments_for
from cranfield.evaluation.naming import require_name
from cranfield.evaluation.query_columns import QueryColumns
from cranfield.evaluation.result import Evaluation
from cranfield.io.query_columns import FROM_FILE
from cranfield.io.target import write_text
from cranfield.measures import DEFAULT_MEASURES, Measure, Measures, parse_measures
from cranfield.ranks.chunk_runs import ChunkRun
from cranfield.ranks.judgments import are_corrected
from cranfield.ranks.passages import PassageJudgments
from cranfield.ranks.policy import Policy
from cranfield.report.content import add_program_data, page
from cranfield.report.encoding import DataWriter
from cranfield.report.gathered import Gathered
from cranfield.report.rendering import rendered
from cranfield.report.request import Request, evaluated, readable_runs, usual_measures
from cranfield.report.sharing import card_format, card_latex, card_markdown, card_svg, shared, write_cards
from cranfield.show.pictures import FORMATS
from cranfield.systems.collection import BUILTIN, Collection, collection_beside, open_collection
from cranfield.words import count

if TYPE_CHECKING:
    from cranfield.systems.testing import ProjectTest, Tested


QUERIES = 1000  # whose rankings are shown
DEPTH = 10
DEEPEST = 1000  # every measure is computed at every cutoff down to it


class ReportFile(NamedTuple):
    """A page that was written: its size in bytes, and what it leaves out, in words.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report("builtin:ten", ["builtin:keywords"], f"{folder}/report.html", "AP", charts=False)
    >>> page.size > 10_000, len(page.left_out)
    (True, 1)
    """

    path: str
    size: int
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<ReportFile {self.path}: {self.size / 1000:,.0f} kB>"


def write_report(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    path: str | os.PathLike[str],
    measures: Measures | None = None,
    *,
    rankings: Mapping[str, Any] | None = None,
    lengths: Any = None,
    title: str | None = None,
    notes: Sequence[str] = (),
    passed: bool | None = None,
    reasons: Sequence[str] = (),
    baseline: str | Mapping[str, str] | None = None,
    collection: Any = None,
    segments: Any = None,
    bounds: bool = False,
    unseen: int = 0,
    queries: int = QUERIES,
    k: int = DEPTH,
    charts: bool = True,
    removal: bool | None = None,
    test: str = "t",
    correction: str | None = None,
    alpha: float = 0.05,
    policy: Policy | None = None,
    format: str | None = None,
    qrels_format: str | None = None,
    check_ids: bool = True,
    weights: Any = None,
    groups: Any = None,
    answerable: Any = None,
    threshold: Any = None,
    query_columns: Any = None,
    comparison: Comparison | None = None,
    command: str | None = None,
    cards: Sequence[str | os.PathLike[str]] = (),
) -> ReportFile:
    """Write a report about runs as one HTML file that loads nothing from elsewhere.

    qrels, runs: those of `evaluate_runs`. A run may also be an `Evaluation`, or the file of a saved one; the page then
        lacks the parts that need its ranks or rankings.
    path: the file to write.
    measures, lengths, policy, format, qrels_format, check_ids: those of `evaluate_runs`.
    rankings: for runs that are evaluations, {name: run} to read their rankings from.
    title: the page's heading; by default the question that the page answers.
    notes: sentences of your own, which come first on the card at the top of the page.
    passed: whether a test of yours passed, which the card then says first; what the page's own comparison says of it
        stands below.
    reasons: why it passed or failed; the first becomes the heading of the card.
    baseline: the name of the run that the others are compared with, or {run: its own baseline}, such as an earlier
        version of the same system; by default the best run is compared with the second.
    collection: what `open_collection` takes, for the texts of queries and documents; by default that of the built-in
        judgments, where these are used.
    segments: {query: segment}, or a file of both, for means of segments and to filter by.
    bounds: show how low and high each mean could be, given the unjudged documents, and whether they reverse a
        difference.
    unseen: how many documents of each query that no run retrieved may have any grade in all bounds, too.
    queries: for how many queries, the worst first, rankings are shown.
    k: how many documents of a ranking, at most 1,000.
    charts: False leaves them out, and saves the 0.9 MB of the library that draws them.
    removal: also measure the runs with fewer judgments; by default if that is quick.
    test, correction, alpha: those of `compare`.
    weights, groups, answerable, threshold, query_columns: what is known of the queries, as for `evaluate`.
    comparison: a comparison of the same evaluations, in place of baseline, test, correction and alpha.
    command: the command line, printed at the foot of the page.
    cards: files to write the card to as well: as a picture (.png, .svg), Markdown (.md) or a row in LaTeX (.tex).
    Returns a `ReportFile`: its size, and what was left out.

    >>> import tempfile
    >>> from pathlib import Path
    >>> runs = ["builtin:keywords", "builtin:meaning"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report("builtin:ten", runs, f"{folder}/report.html", "nDCG@10", charts=False)
    ...     Path(page.path).read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    if not 1 <= k <= DEEPEST or queries < 0:
        hint = f"show 1 to {DEEPEST:,} documents, of 0 or more queries"
        raise CranfieldError(f"{k} documents of {queries} queries cannot be shown.", hint=hint)
    if (ending := Path(path).suffix.lower().removeprefix(".")) in FORMATS:
        hint = "end it in .html" + ("; to get a PDF, print the page from a browser" if ending == "pdf" else "")
        raise OutputError(os.fspath(path), f"a report is an HTML page, not .{ending}.", hint=hint)
    for file in cards:
        card_format(file)
    check_testing(test, correction, alpha)
    named = readable_runs(runs)
    _check_baseline(baseline, list(named))
    wanted = parse_measures(usual_measures(named, DEFAULT_MEASURES) if measures is None else measures)
    known = QueryColumns.read(
        query_columns, weights=weights, segments=segments, groups=groups, answerable=answerable, threshold=threshold
    )
    judgments: Any = None if qrels is None else judgments_for(qrels, named.values(), qrels_format, wanted)
    judgments = known.judged(judgments)
    if are_corrected(judgments):
        hint = "compare the runs by these judgments; or give those of people or of the model"
        raise CranfieldError("a report shows values of queries, and only means are corrected.", hint=hint)
    options: dict[str, Any] = {"policy": policy, "format": format, "lengths": lengths, "check_ids": check_ids}
    options[FROM_FILE] = known
    request = Request(
        qrels=qrels,
        judgments=None if isinstance(judgments, PassageJudgments) else judgments,  # a page shows whole documents
        runs=evaluated(judgments, named, wanted, k if queries else 0, **options),
        rankings=_shown_rankings({**named, **(rankings or {})}, wanted),
        measures=wanted,
        title=title,
        notes=tuple(notes),
        baseline=None if isinstance(baseline, Mapping) else baseline,
        own_baselines=baseline if isinstance(baseline, Mapping) else {},
        command=command,
        collection=_collection(qrels) if collection is None else open_collection(collection),
        segments=known.segments or {},
        bounds=bounds,
        unseen=unseen,
        queries=queries,
        depth=k,
        charts=charts,
        removal=removal,
        test=test,
        correction=correction,
        alpha=alpha,
        format=format,
        given=comparison,
        passed=passed,
        reasons=tuple(reasons),
    )
    gathered = Gathered(request)
    data = DataWriter()
    left_out = add_program_data(data, gathered)
    content = {**page(gathered, datetime.now().astimezone()), "left_out": left_out}
    card = shared(content)
    forms = {"markdown": card_markdown, "latex": card_latex, "svg": card_svg}
    data.add(share={} if card is None else {name: write(card) for name, write in forms.items()})
    write_cards(card, cards)
    size = write_text(path, rendered(content, data, charts), force=True)
    return ReportFile(os.fspath(path), size, tuple(left_out))


def _collection(qrels: Any) -> Collection | None:
    """The built-in collection, for its judgments. A page is shared, so other texts go into it only on request."""
    name = getattr(qrels, "name", qrels)
    return open_collection(BUILTIN) if name == BUILTIN and collection_beside(name) == BUILTIN else None


def _check_baseline(baseline: str | Mapping[str, str] | None, runs: Sequence[str]) -> None:
    """Refuse baselines that are not among the runs, and one that nothing can be compared with."""
    if baseline is None:
        return
    for name in [baseline] if isinstance(baseline, str) else [*baseline, *baseline.values()]:
        require_name(name, runs)
    if len(runs) == 1:
        raise ComparisonError(f"there is no other run to compare with {runs[0]}.", hint="add one")


def _shown_rankings(runs: Mapping[str, Any], measures: Sequence[Measure]) -> dict[str, Any]:
    """The runs whose rankings can be read again; of searches there is not one ranking for each query."""
    if any(measure.definition.table == "searches" for measure in measures):
        return {}
    return {name: run for name, run in runs.items() if _readable(run)}


def _readable(run: Any) -> bool:
    return not (isinstance(run, Evaluation | Lazy | ChunkRun) or hasattr(run, "_evaluated_by") or is_lazy(run))


def write_comparison(comparison: Comparison, path: str | os.PathLike[str], **options: Any) -> ReportFile:
    """Write one HTML page about a comparison, with its own test and correction, and the options of `write_report`.

    The page shows rankings if `compare` read the runs from files or from memory: they are read again.

    comparison: what `compare` returns.
    path: the file to write.
    options: those of `write_report`.
    Returns a `ReportFile`.

    >>> import tempfile
    >>> from cranfield import compare
    >>> comparison = compare("builtin:ten", ["builtin:keywords", "builtin:meaning"], "nDCG@10")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_comparison(comparison, f"{folder}/report.html", charts=False)
    ...     page.size > 10_000
    True
    """
    inputs = comparison._inputs
    unseen = max((pair.reach.unseen for pair in comparison if pair.reach), default=0)
    evaluations = {result.run: result for result in comparison.evaluations}
    if inputs is not None:
        known = {name: value for name, value in inputs.options.items() if name in ("format", "qrels_format")}
        options = {"rankings": inputs.runs, **known, **options}
    return write_report(
        inputs.qrels if inputs is not None else None,
        evaluations,
        path,
        options.pop("measures", comparison.measures),
        comparison=comparison,
        **{"alpha": comparison.alpha, "unseen": unseen, **options},
    )


def write_test(test: ProjectTest, path: str | os.PathLike[str], *, command: str | None = None) -> ReportFile | None:
    """A page of the systems that answered, each beside its accepted run; None if none of them did."""
    runs: dict[str, Evaluation] = {}
    baselines: dict[str, str] = {}
    rankings: dict[str, Any] = {}
    results, collection = test.systems, test.collection
    for tested in results:
        if tested.evaluation is None:
            continue
        accepted = tested.accepted
        # An accepted run of other queries cannot be compared with this one.
        if accepted is not None and accepted.qrels_sha256 == tested.evaluation.qrels_sha256:
            baselines[tested.system] = f"{tested.system} (accepted)"
            runs[baselines[tested.system]] = accepted
            rankings[baselines[tested.system]] = tested.accepted_path
        runs[tested.system] = tested.evaluation
    if not runs:
        return None
    # The page tests as the gate of the project does, so both decide alike.
    gate = next((tested.gate for tested in results if tested.gate is not None), None)
    empty = {tested.system for tested in results if len(tested.recorded.empty) == tested.recorded.answered}
    answered = [tested for tested in results if tested.recorded.answered and tested.system not in empty]
    rankings |= {tested.system: tested.recorded.path for tested in answered}
    decided = not test.passed or any(tested.gate is not None or tested.checks for tested in results)
    return write_report(
        collection.qrels,
        runs,
        path,
        rankings=rankings,
        title=_title(results, bool(baselines)),
        baseline=baselines or None,
        notes=[note for tested in results for note in _notes(tested)],
        passed=test.passed if decided else None,
        reasons=_reasons(test) if decided else (),
        command=command,
        collection=collection,
        test="t" if gate is None else gate.test,
        alpha=0.05 if gate is None else gate.alpha,
    )


def _notes(tested: Tested) -> Iterator[str]:
    """What the test says besides: documents that are gone, new queries, other judgments, queries that failed."""
    recorded = tested.recorded
    if tested.evaluation is not None and not recorded.complete:
        answered = f"{recorded.answered:,} of {count(recorded.queries, 'query', 'queries')}"
        yield f"{tested.system}: {answered} answered; the values are over these only."
    if tested.passed and tested.gate is None:
        yield f"{tested.system}: nothing is accepted yet, so nothing is compared. To accept this:\ncranfield accept"
    for note in (*tested.notes, *tested.not_compared):
        yield f"{tested.system}: {note.removesuffix('.')}."


def _title(results: Sequence[Tested], compared: bool) -> str:
    names = ", ".join(tested.system for tested in results)
    return f"{names}: now vs accepted" if compared else f"Test of {names}"


def _reasons(test: ProjectTest) -> list[str]:
    """Why the test failed, or passed, as the command says it; with the system, if there are several."""
    failed = not test.passed
    return [
        reason if len(test.systems) == 1 else f"{tested.system}: {reason}"
        for tested in test.systems
        if tested.passed != failed
        for reason in (_failures(tested) if failed else _successes(tested))
    ]


def _failures(tested: Tested) -> Iterator[str]:
    yield from (check.message for check in tested.failed_checks)
    if tested.evaluation is None:  # nothing could be checked
        lacking = tested.recorded.queries - tested.recorded.answered
        yield f"{count(lacking, 'query was', 'queries were')} not answered"


def _successes(tested: Tested) -> Iterator[str]:
    yield from (check.message for check in (*(tested.gate.checks if tested.gate is not None else ()), *tested.checks))
