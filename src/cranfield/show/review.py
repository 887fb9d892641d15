"""What a reviewer needs to know of a test, a gate or a comparison, in words: one `Review` for each system.

Every format shows the same reviews: as a comment of a pull request, as annotations, as test cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import NamedTuple

from cranfield.comparison.conclusions import Comparison
from cranfield.comparison.differences import Difference, interval_name, signed
from cranfield.comparison.gate_checks import Check
from cranfield.comparison.gating import GateResult, deciding
from cranfield.comparison.segments import SegmentComparison
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.result import Evaluation
from cranfield.show import comparison_words as words
from cranfield.show.gate_text import basis_text, detectable_text
from cranfield.show.layout import Paint
from cranfield.show.systems_text import milliseconds
from cranfield.systems.misses import Lost
from cranfield.systems.testing import Tested
from cranfield.version import __version__
from cranfield.words import count, percent

FAILED, PASSED, NEW = "failed", "passed", "new"  # new: there is nothing yet to compare with
WORSE, BETTER, BROKEN = "▼", "▲", "✗"


class Row(NamedTuple):
    """A line of the table of a review, in words."""

    what: str
    before: str
    now: str
    difference: str = ""
    interval: str = ""
    said: str = ""


class Case(NamedTuple):
    """A limit, or a query that breaks one, as a test case."""

    name: str
    passed: bool
    message: str


@dataclass(frozen=True, slots=True)
class Review:
    """A system, a candidate of a gate, or a pair of runs, as a reviewer needs to see it.

    heading: the verdict in one line, with both values
    sentences: why; the first ones count most
    before, interval: what the columns of the earlier values and of intervals are called
    doubts: reasons to doubt all of it, which come first
    notes: what could not be compared, and what else is to know
    hint: what to do next, and the command for it
    method: how it was tested
    segments: of the queries, which decide nothing
    """

    name: str
    state: str
    heading: str
    sentences: tuple[str, ...]
    rows: tuple[Row, ...]
    cases: tuple[Case, ...]
    before: str = "before"
    interval: str = "interval"
    lost: tuple[Lost, ...] = ()
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    hint: tuple[str, str] | None = None
    method: str = ""
    segments: SegmentComparison | None = None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A result in all formats: those that are its own, and the reviews that the others are made of.

    source: the command, such as "test"; file: where its limits are set, for annotations
    own: by format, the texts that only this kind of result has
    links: what a comment leads to, by what it is called
    title: of several reviews that belong together
    """

    source: str
    reviews: tuple[Review, ...]
    own: Mapping[str, Callable[[int, Paint], str]]
    file: str = ""
    links: tuple[tuple[str, str], ...] = ()
    title: str = ""

    @property
    def failed_first(self) -> list[Review]:
        return sorted(self.reviews, key=lambda review: review.state != FAILED)


def new_review(name: str, sentence: str, hint: tuple[str, str]) -> Review:
    """The review of something that has nothing to be compared with yet."""
    heading = "Nothing to compare with yet"
    return Review(name, NEW, heading, (sentence,), (), (Case("measured", True, heading),), hint=hint)


def review_of_gate(result: GateResult, lost: Sequence[Lost] = (), *, before: str = "") -> Review:
    """The review of a gate."""
    differences = [measure.difference for measure in result.measures]
    return Review(
        name=result.candidate,
        state=PASSED if result.passed else FAILED,
        heading=_heading(deciding(result), result.checks, result),
        sentences=tuple(_gate_sentences(result, result.checks)),
        rows=(*_rows(differences, result, result.checks), *_empty(*(result._evaluations or ()))),
        cases=_cases(result.checks),
        before=before or result.baseline,
        interval=interval_name(differences[0]),
        lost=tuple(lost),
        doubts=result.warnings,
        method=f"{basis_text(result)}; cranfield {__version__}",
        segments=result.segments,
    )


def review_of_test(tested: Tested, baseline: str) -> Review:
    """The review of a system of a test; baseline: the folder in which results are accepted."""
    gate, recorded = tested.gate, tested.recorded
    checks = (*(gate.checks if gate is not None else ()), *tested.checks)
    cases = _cases(checks)
    if not recorded.complete:
        answered = f"{recorded.answered:,} of {count(recorded.queries, 'query', 'queries')} answered"
        cases = (Case("every query is answered", tested.passed, answered), *cases)
    if gate is not None:
        rows = list(_rows(tested.differences, gate, checks))
        heading = _heading(deciding(gate), checks, gate)
        sentences, doubts = list(_gate_sentences(gate, checks)), gate.warnings
        method = basis_text(gate)
    else:
        evaluation = tested.evaluation
        rows = [Row(name, "", f"{value:.3f}") for name, value in evaluation.items()] if evaluation else []
        rows += _limits(checks)
        heading, sentences, doubts, method = _alone(tested, checks), list(_broken(checks)), (), ""
        if evaluation is None:
            sentences.insert(0, f"{count(recorded.queries, 'query', 'queries')} asked, none answered.")
        elif tested.passed:
            sentences.append(f"Nothing is accepted yet for {tested.system}, so there is nothing to compare with.")
        elif not recorded.complete:
            sentences.append("Some queries were not answered, so nothing is compared with the accepted result.")
    rows += _empty(*filter(None, (tested.accepted, tested.compared or tested.evaluation)))
    if recorded.latency:
        rows.append(Row("latency, p95", "", milliseconds(recorded.latency["p95"])))
    failures = (f"{query} failed: {error.partition(chr(10))[0]}" for query, error in recorded.failed.items())
    command = f"cranfield accept {tested.system} --because"
    hint = ("If this is intended", f'{command} "…" --worse') if gate is not None and not tested.passed else None
    if gate is None and tested.passed:
        hint = (f"If this is right, accept it and commit the folder {baseline}", f'{command} "the first result"')
    return Review(
        name=tested.system,
        state=FAILED if not tested.passed else PASSED if gate is not None else NEW,
        heading=heading,
        sentences=tuple(sentences),
        rows=tuple(rows),
        cases=cases or (Case("measured", True, heading),),
        before="accepted",
        interval=interval_name(tested.differences[0]) if tested.differences else "",
        lost=tested.lost,
        doubts=doubts,
        notes=(*tested.not_compared, *tested.notes, *islice(failures, 3)),
        hint=hint,
        segments=gate.segments if gate is not None else None,
        method="; ".join(filter(None, (method, f"cranfield {__version__}"))),
    )


def _empty(*runs: Evaluation) -> Iterator[Row]:
    """How often the last run, and the one before it, are rightly and wrongly empty."""
    known = [its.answering for its in runs if its.answering is not None]
    for what, shares in (
        ("rightly empty", [percent(its.rightly_empty) for its in known]),
        ("wrongly empty", [percent(its.wrongly_empty) for its in known]),
    ):
        if shares:
            yield Row(what, shares[0] if shares[1:] else "", shares[-1])


def reviews_of_comparison(comparison: Comparison, lost: Mapping[tuple[str, str], Sequence[Lost]]) -> Iterator[Review]:
    """A review of each pair of runs, by all measures; lost: of the first measure, by pair.

    A pair fails where its run is significantly worse, which says something only beside a baseline.
    """
    first = comparison.measures[0].name
    for main in comparison.of(first):
        same = [each for each in comparison if (each.run, each.baseline) == (main.run, main.baseline)]
        yield Review(
            name=f"{main.run} vs {main.baseline}",
            state=FAILED if main.verdict == "significantly worse" else PASSED,
            heading=_moved(main, *_means(main, comparison), ""),
            sentences=tuple(f"{each.sentence}." for each in same),
            rows=tuple(_difference_row(each, *_means(each, comparison)) for each in same),
            cases=tuple(
                Case(
                    f"{each.measure}: {each.run} vs {each.baseline}",
                    each.verdict != "significantly worse",
                    each.sentence,
                )
                for each in same
            ),
            before=main.baseline,
            interval=interval_name(main),
            lost=tuple(lost.get((main.run, main.baseline), ())),
            doubts=comparison.warnings,
            method=f"{words.basis_text(comparison).rstrip('.')}; cranfield {__version__}",
        )


def _means(difference: Difference, comparison: Comparison) -> tuple[float, float]:
    means = comparison.means[difference.measure]
    return means[difference.baseline], means[difference.run]


def _heading(difference: Difference, checks: Sequence[Check], result: GateResult) -> str:
    """The verdict in one line; what failed comes before what moved."""
    seen = next(measure for measure in result.measures if measure.difference is difference)
    broken = [check for check in checks if not check.passed]
    values = f"{difference.measure} {arrow(seen.baseline, seen.candidate)}"
    if not broken:
        return _moved(difference, seen.baseline, seen.candidate, ", within what is allowed")
    if any(check.name == seen.drop_name for check in broken):
        return f"{WORSE} Search got worse: {values}"
    return f"{BROKEN} {count(len(broken), 'limit')} broken: {values}"


def _moved(difference: Difference, before: float, now: float, allowed: str) -> str:
    name = difference.measure
    if not difference.better and not difference.worse and abs(now - before) < SAME:
        return f"No difference: {name} {now:.3f}"
    if difference.verdict == "significantly better":
        return f"{BETTER} Search got better: {name} {arrow(before, now)}"
    if difference.verdict == "significantly worse":
        return f"{WORSE} Search got worse{allowed}: {name} {arrow(before, now)}"
    return f"Too close to call: {name} {signed(difference.difference, 3)}"


def arrow(before: float, now: float) -> str:
    """Two values, with enough decimals to tell them apart.

    >>> arrow(0.4834, 0.4479), arrow(0.48341, 0.48349), arrow(0.5, 0.5)
    ('0.483 → 0.448', '0.4834 → 0.4835', '0.500 → 0.500')
    """
    digits = next((n for n in range(3, 9) if f"{before:.{n}f}" != f"{now:.{n}f}"), 3)
    return f"{before:.{digits}f} → {now:.{digits}f}"


def _alone(tested: Tested, checks: Sequence[Check]) -> str:
    """The heading where there is no comparison."""
    if tested.evaluation is None:
        return f"{BROKEN} No query was answered"
    name = next(iter(tested.evaluation))
    value = f"{tested.evaluation.heading(name)} {tested.evaluation[name]:.3f}"
    broken = sum(not check.passed for check in checks)
    if broken:
        return f"{BROKEN} {count(broken, 'limit')} broken: {value}"
    return f"Measured: {value}; nothing is accepted yet" if tested.passed else f"{BROKEN} Failed: {value}"


def _gate_sentences(result: GateResult, checks: Sequence[Check]) -> Iterator[str]:
    yield from _broken(checks)
    difference = deciding(result)
    if result.passed:
        yield f"{difference.sentence}."
    queries = difference.better + difference.same + difference.worse
    sampled = "sampled queries" if difference.corrected else difference.units
    yield (
        f"Of {queries:,} {sampled}: {BETTER} {difference.better:,} better, {difference.same:,} the same, "
        f"{WORSE} {difference.worse:,} worse."
    )
    kept = sum(check.passed for check in checks)
    if result.passed and kept == len(checks):
        yield f"All {kept} limits kept." if kept > 1 else "The limit is kept."
        seen = next(measure for measure in result.measures if measure.difference is difference)
        yield f"{detectable_text(seen, result)}."


def _broken(checks: Sequence[Check]) -> Iterator[str]:
    yield from (f"{check.message}." for check in checks if not check.passed)


def _rows(differences: Sequence[Difference], result: GateResult, checks: Sequence[Check]) -> Iterator[Row]:
    failed = {check.name for check in checks if not check.passed}
    gated = {measure.measure: measure for measure in result.measures}
    for difference in differences:
        seen = gated.get(difference.measure)
        if seen is not None:
            row = _difference_row(difference, seen.baseline, seen.candidate)
            broken = seen.drop_name in failed
            yield row._replace(said=f"{WORSE} worse, limit broken") if broken else row
        elif result._evaluations is not None:
            before, after = result._evaluations
            yield _difference_row(difference, before[difference.measure], after[difference.measure])
    yield from _limits(checks)


def _difference_row(difference: Difference, before: float, now: float) -> Row:
    digits = next((n for n in range(3, 6) if f"{before:.{n}f}" != f"{now:.{n}f}"), 3)
    said = {"Better": f"{BETTER} better", "Worse": f"{WORSE} worse"}.get(
        difference.headline, difference.headline.lower()
    )
    interval = ""
    if difference.has_interval and difference._of_means and isfinite(difference.low) and isfinite(difference.high):
        interval = f"{signed(difference.low, 3)} to {signed(difference.high, 3)}"
    change = signed(difference.difference, 3)
    return Row(difference.measure, f"{before:.{digits}f}", f"{now:.{digits}f}", change, interval, said)


def _limits(checks: Sequence[Check]) -> Iterator[Row]:
    if checks:
        kept = sum(check.passed for check in checks)
        said = "" if kept == len(checks) else f"{BROKEN} {count(len(checks) - kept, 'limit')} broken"
        yield Row("limits", "", f"{kept} of {len(checks)} kept", said=said)


def _cases(checks: Sequence[Check]) -> tuple[Case, ...]:
    """A case of each limit, and of each query that breaks it."""
    cases: list[Case] = []
    for check in checks:
        cases.append(Case(check.name, check.passed, check.message))
        if not check.passed:
            cases += [Case(f"{check.name}: {query}", False, f"{query}: {check.message}") for query in check.queries]
    return tuple(cases)
