"""The card at the top of the page: the verdict, one number with its interval, and what it means in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any
from urllib.parse import urlencode

from cranfield.comparison.differences import Change
from cranfield.comparison.doubts import doubt_texts
from cranfield.comparison.pairing import judged_share
from cranfield.evaluation.overview import below_perfect
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.report.gathered import Gathered
from cranfield.report.order import compare_place, order_of, same_leaders
from cranfield.report.pair import VerdictPair
from cranfield.report.sentences import NAME, capital, rounded, sentences_of_one, sentences_of_two, signed
from cranfield.report.verdict import WIDTH, Drawn, directed, verdict_content
from cranfield.words import count, percent, shortened

WORST = 3  # queries named of a single run
TITLE = 48  # letters of a name in the title
NAMED = 5  # runs that are not compared


def card(gathered: Gathered) -> dict[str, Any] | None:
    """The content of the card; None if no measure says how good a run is."""
    if not gathered.means:
        return None
    if gathered.pair is not None:
        content = _verdict(gathered, gathered.pair)
    elif len(gathered.evaluations) == 1:
        content = _alone(gathered, gathered.evaluations[0], gathered.means[0])
    else:
        content = _undecided(gathered, gathered.means[0])
    warnings = dict.fromkeys(text for texts in doubts_about(gathered) for text in texts)
    weighting = dict.fromkeys(f"{capital(its.sentence)}." for run in gathered.evaluations if (its := run.weights))
    sentences = [*gathered.request.notes, *content["sentences"], *weighting]
    return {
        **content,
        **_tested(gathered, content["badge"]),
        "warnings": list(warnings),
        "sentences": sentences,
        "judged": _judged(gathered),
    }


def doubts_about(gathered: Gathered, *, primary: bool = True) -> Iterator[list[str]]:
    """What makes runs unequal by the primary measure, or else by others: that is no doubt about the verdict."""
    compared = [pair.comparison for pair in gathered.own] or filter(None, [gathered.comparison])
    for comparison in compared:
        doubts = [doubt for doubt in comparison.doubts if (gathered.primary.name in doubt.measures) == primary]
        yield doubt_texts(doubts, len(comparison.runs))


def _judged(gathered: Gathered) -> str:
    """How much of what the primary measure looks at is judged, of the run with most and of the one with least."""
    known = (judged_share(result, gathered.primary) for result in gathered.evaluations)
    shares = [share for share in known if share is not None]
    if not shares:
        return ""
    ends = " to ".join(dict.fromkeys(map(percent, (min(shares), max(shares)))))
    cutoff = Scope.of(gathered.primary).cutoff
    return f"{ends} of the {'results' if cutoff is None else f'top {cutoff:,}'} judged"


def _tested(gathered: Gathered, badge: str | None) -> dict[str, Any]:
    """The outcome of a test, which comes first; what the page's own comparison says of it then stands below."""
    request = gathered.request
    if request.passed is None:
        return {"outcome": "", "reasons": [], "two_sided": ""}
    headline, *reasons = [f"{reason.removesuffix('.')}." for reason in request.reasons] or [
        ""
    ]  # in the command's words
    two_sided = f"Tested two-sided: {badge[:1].lower()}{badge[1:]}." if badge and gathered.own else ""
    outcome = "passed" if request.passed else "failed"
    return {"outcome": outcome, "headline": headline, "badge": None, "reasons": reasons, "two_sided": two_sided}


def page_title(gathered: Gathered) -> str:
    if gathered.request.title is not None:
        return gathered.request.title
    runs = [shortened(run, TITLE) for run in gathered.runs]
    if len(runs) == 1:
        return f"How good is {runs[0]}?"
    if gathered.pair is not None and gathered.pair.chosen == "baseline":
        baseline = shortened(gathered.pair.baseline, TITLE)
        if len(runs) > 2:
            return f"Which of {len(runs) - 1} runs is better than {baseline}?"
        return f"Is {shortened(gathered.pair.run, TITLE)} better than {baseline}?"
    return f"Is {runs[1]} better than {runs[0]}?" if len(runs) == 2 else f"Which of {len(runs)} runs is best?"


def place(query: str, pair: VerdictPair | None, measure: Measure) -> str:
    """The address of a query on the page, as its script writes it."""
    sides = {} if pair is None else {"a": pair.baseline, "b": pair.run}
    return f"#{urlencode({'q': query, **sides, 'm': measure.name})}"


def _verdict(gathered: Gathered, pair: VerdictPair) -> dict[str, Any]:
    results = {result.run: result for result in gathered.evaluations}
    comparison, difference = pair.comparison, pair.difference
    sentences = sentences_of_two(gathered.request, pair, results[pair.run], results[pair.baseline])
    sentences[:0] = [f"{other.difference.sentence}." for other in gathered.own if other is not pair]
    if gathered.standings is not None:
        sentences[:0] = same_leaders(gathered, gathered.standings)
    if comparison.left_out:
        which = ("query that only some runs have is", "queries that only some runs have are")
        sentences.append(f"{count(comparison.left_out, *which)} left out.")
    means = comparison.means[pair.measure.name]
    order = order_of(gathered.standings) if gathered.standings is not None else {}
    return {
        **verdict_content(difference, means[pair.baseline], means[pair.run]),
        "tone": pair.kind,
        "verdict": difference.headline,
        "href": compare_place(gathered, pair.run),
        "about": _about(gathered, pair),
        "asked": _asked(gathered),
        "largest": _largest(gathered, pair),
        "sentences": sentences,
        **order,
    }


def _about(gathered: Gathered, pair: VerdictPair) -> str:
    if pair.chosen in ("two", "own"):
        return f"{shortened(pair.run, NAME)} vs {shortened(pair.baseline, NAME)}"
    number = len(gathered.evaluations)
    if pair.chosen == "baseline":
        others = "" if number == 2 else f", the best of the other {number - 1} runs," if number > 2 else ""
        return f"{shortened(pair.run, NAME)}{others} vs the baseline, {shortened(pair.baseline, NAME)}"
    two = f"{shortened(pair.run, NAME)} vs {shortened(pair.baseline, NAME)}"
    return f"The best two{'' if pair.kind == 'same' else ' that differ'}: {two}"


def _asked(gathered: Gathered) -> bool:
    """Whether the title names what is compared, so that the card need not."""
    request = gathered.request
    return len(gathered.runs) == 2 and (request.title is None or request.passed is not None)


def _largest(gathered: Gathered, pair: VerdictPair) -> list[dict[str, str]]:
    paired = pair.comparison._paired
    columns = paired.columns[pair.measure]
    one, other = (columns[:, paired.runs.index(name)] for name in (pair.baseline, pair.run))
    sign = -1 if pair.difference.lower_is_better else 1
    changes = [
        Change(query, *values) for query, *values in zip(paired.query_ids, one.tolist(), other.tolist(), strict=True)
    ]
    gain, loss = (most(changes, key=lambda change: sign * change.difference) for most in (max, min))
    better, _, worse = pair.counts
    return [
        {
            "what": what,
            "kind": kind,
            "number": signed(change.difference),
            "query": gathered.query_text(change.query_id),
            "href": place(change.query_id, pair, pair.measure),
        }
        for what, kind, number, change in (
            ("Largest gain", "better", better, gain),
            ("Largest loss", "worse", worse, loss),
        )
        if number
    ]


def _alone(gathered: Gathered, result: Evaluation, measure: Measure) -> dict[str, Any]:
    ends = gathered.intervals[result.run].get(measure.name)
    numbers = [count(len(result.query_ids), "query", "queries")]
    if ends is not None:
        level = f"{100 * (1 - gathered.request.alpha):g}%"
        numbers.insert(0, f"{level} interval {rounded(ends[0])} to {rounded(ends[1])}")
    return {
        "kind": "alone",
        "badge": None,
        "about": shortened(result.run, NAME),
        "asked": gathered.request.title is None,
        "number": rounded(result[measure]),
        "measure": directed(measure.name, lower=measure.definition.lower_is_better),
        "of": "weighted mean" if result.weights else "",
        "numbers": numbers,
        "drawn": _drawn_value(result[measure], ends, measure),
        "told": "The interval of the mean",
        "scale": [f"{end:g}" for end in measure.definition.range],
        "worst": [
            {
                "number": rounded(query.value),
                "query": gathered.query_text(query.query_id),
                "href": place(query.query_id, None, measure),
                "reason": query.reason,
            }
            for query in below_perfect(result, measure, WORST)
        ],
        "sentences": sentences_of_one(result, measure),
    }


def _drawn_value(value: float, ends: tuple[float, float] | None, measure: Measure) -> Drawn | None:
    """A mean and its interval on the whole scale of its measure, if that has two ends."""
    least, most = measure.definition.range
    if ends is None or not isfinite(least) or not isfinite(most):
        return None
    low, point, high = (round(WIDTH * (end - least) / (most - least), 1) for end in (ends[0], value, ends[1]))
    return Drawn(low, point, high, None)


def _undecided(gathered: Gathered, measure: Measure) -> dict[str, Any]:
    """Several runs that are not compared: their values, and why there is no verdict."""
    best_first = gathered.best_first
    one = len(gathered.query_ids) == 1
    why = (
        "One query shows no variation" if one else "The runs were measured by different judgments, policies or weights"
    )
    shown = ", ".join(f"{shortened(result.run, NAME)} {rounded(result[measure])}" for result in best_first[:NAMED])
    return {
        "kind": "none",
        "badge": "Not compared",
        "about": f"{len(best_first)} runs",
        "asked": False,
        "number": None,
        "measure": best_first[0].heading(measure),
        "of": "",
        "numbers": [f"{best_first[0].heading(measure)}: {shown}{' …' if len(best_first) > NAMED else ''}"],
        "drawn": None,
        "sentences": [f"{why}, so there is no verdict."],
    }
