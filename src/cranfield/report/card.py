"""The card at the top of the page: the verdict, one number with its interval, and what it means in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple
from urllib.parse import urlencode

from cranfield.comparison.differences import Change, decisive_p
from cranfield.evaluation.overview import below_perfect
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.report.gathered import Gathered
from cranfield.report.pair import VerdictPair
from cranfield.report.sentences import rounded, sentences_of_one, sentences_of_two, settling_sentence, signed

WORST = 3  # queries named of a single run
NAMED = 5  # runs that are not compared
WIDTH = 400.0  # of the drawings, in the units of their SVG


class Drawn(NamedTuple):
    """An interval, as positions in a drawing that is `WIDTH` wide; `zero` is None if it is not a difference."""

    low: float
    point: float
    high: float
    zero: float | None


def card(gathered: Gathered) -> dict[str, Any] | None:
    """The content of the card; None if no measure says how good a run is."""
    if not gathered.means:
        return None
    if gathered.pair is not None:
        found = _verdict(gathered, gathered.pair)
    elif len(gathered.evaluations) == 1:
        found = _alone(gathered, gathered.evaluations[0], gathered.means[0])
    else:
        found = _undecided(gathered, gathered.means[0])
    return {**found, "sentences": [*gathered.request.notes, *found["sentences"]]}


def page_title(gathered: Gathered) -> str:
    if gathered.request.title is not None:
        return gathered.request.title
    measure, runs = gathered.request.measures[0].name, [each.run for each in gathered.evaluations]
    if gathered.pair is not None and (len(runs) == 2 or gathered.pair.chosen == "baseline"):
        return f"{gathered.pair.run} vs {gathered.pair.baseline} · {measure}"
    if len(runs) == 2:
        return f"{runs[1]} vs {runs[0]} · {measure}"
    return f"{runs[0]} · {measure}" if len(runs) == 1 else f"{len(runs)} runs · {measure}"


def place(query: str, pair: VerdictPair | None, measure: Measure) -> str:
    """The address of a query on the page, as its script writes it."""
    sides = {} if pair is None else {"a": pair.baseline, "b": pair.run}
    return f"#{urlencode({'q': query, **sides, 'm': measure.name})}"


def _verdict(gathered: Gathered, pair: VerdictPair) -> dict[str, Any]:
    results = {each.run: each for each in gathered.evaluations}
    run, baseline = results[pair.run], results[pair.baseline]
    comparison = pair.comparison
    found = pair.difference
    lower = " (lower is better)" if found.lower_is_better else ""
    to_settle = settling_sentence(gathered.request, pair)
    sentences = sentences_of_two(pair, run, baseline, comparison._paired.query_ids, to_settle)
    sentences[:0] = [f"{other.difference.sentence}." for other in gathered.own if other is not pair]
    if gathered.standings is not None:
        sentence = gathered.standings.sentence
        sentences.insert(
            0, sentence if sentence.startswith(gathered.standings.leaders) else f"{sentence[0].upper()}{sentence[1:]}"
        )
        sentences[0] += "."
    if comparison.left_out:
        some = (
            "1 query that only some runs have is"
            if comparison.left_out == 1
            else (f"{comparison.left_out:,} queries that only some runs have are")
        )
        sentences.append(f"{some} left out.")
    better, same, worse = pair.counts
    return {
        "kind": pair.kind,
        "badge": found.headline,
        "about": _about(gathered, pair),
        "number": signed(found.estimate),
        "measure": f"{pair.measure.name}{lower}",
        "of": "" if found.of == "mean" else f"{found.of} of the queries",
        "numbers": _numbers(pair, comparison.means[pair.measure.name]),
        "drawn": _drawn_difference(pair),
        "told": _interval_text(pair),
        "queries": pair.queries,
        "counts": {"better": better, "same": same, "worse": worse},
        "bar": _bar(pair.counts),
        "largest": _largest(gathered, pair),
        "sentences": sentences,
    }


def _about(gathered: Gathered, pair: VerdictPair) -> str:
    if pair.chosen in ("two", "own"):
        return f"{pair.run} vs {pair.baseline}"
    number = len(gathered.evaluations)
    if pair.chosen == "baseline":
        others = "" if number == 2 else f", the best of the other {number - 1} runs," if number > 2 else ""
        return f"{pair.run}{others} vs the baseline, {pair.baseline}"
    return f"{pair.run}, the best of {number} runs, vs {pair.baseline}, the second"


def _numbers(pair: VerdictPair, means: Mapping[str, float]) -> list[str]:
    found = pair.difference
    parts = [f"{rounded(means[pair.baseline])} → {rounded(means[pair.run])}"]
    if pair.kind == "same":
        return [*parts, "the same on every query"]
    if found.constant:
        parts.append("by the same amount on every query")
    else:
        together = "simultaneous " if found.together and found.family > 1 else ""
        parts.append(f"{100 * (1 - found.alpha):g}% {together}interval {signed(found.low)} to {signed(found.high)}")
    many = f" corrected for {found.family:,} comparisons" if found.family > 1 else ""
    return [*parts, f"p {decisive_p(found)}{many}"]


def _drawn_difference(pair: VerdictPair) -> Drawn | None:
    if pair.kind == "same" or not pair.bounded:
        return None
    found = pair.difference
    return _scaled(found.low, found.high, found.estimate)


def _scaled(low: float, high: float, point: float) -> Drawn | None:
    ends = [low, high, point, 0.0]
    least, most = min(ends), max(ends)
    if not most > least:
        return None
    room = 0.08 * (most - least)

    def at(value: float) -> float:
        return round(WIDTH * (value - least + room) / (most - least + 2 * room), 1)

    return Drawn(at(low), at(point), at(high), at(0.0))


def _interval_text(pair: VerdictPair) -> str:
    includes = pair.difference.low <= 0 <= pair.difference.high
    return "The interval includes 0" if includes else "The interval does not include 0"


def _bar(counts: Sequence[int]) -> list[tuple[str, float, float]]:
    total, at, parts = sum(counts), 0.0, []
    for kind, number in zip(("better", "same", "worse"), counts, strict=True):
        wide = WIDTH * number / total
        if number:
            parts.append((kind, round(at, 2), round(wide, 2)))
        at += wide
    return parts


def _largest(gathered: Gathered, pair: VerdictPair) -> list[dict[str, str]]:
    paired = pair.comparison._paired
    columns = paired.columns[pair.measure]
    one, other = (columns[:, paired.runs.index(name)] for name in (pair.baseline, pair.run))
    sign = -1 if pair.difference.lower_is_better else 1
    changes = [
        Change(query, *values) for query, *values in zip(paired.query_ids, one.tolist(), other.tolist(), strict=True)
    ]
    better, _, worse = pair.counts
    found = []
    if better:
        gain = max(changes, key=lambda each: sign * each.difference)
        found.append(_linked(gathered, pair, "Largest gain", "better", gain))
    if worse:
        loss = min(changes, key=lambda each: sign * each.difference)
        found.append(_linked(gathered, pair, "Largest loss", "worse", loss))
    return found


def _linked(gathered: Gathered, pair: VerdictPair, what: str, kind: str, change: Change) -> dict[str, str]:
    return {
        "what": what,
        "kind": kind,
        "number": signed(change.difference),
        "query": gathered.query_text(change.query_id),
        "href": place(change.query_id, pair, pair.measure),
    }


def _alone(gathered: Gathered, result: Evaluation, measure: Measure) -> dict[str, Any]:
    ends = gathered.intervals[result.run].get(measure.name)
    numbers = [f"{len(result.query_ids):,} {'query' if len(result.query_ids) == 1 else 'queries'}"]
    if ends is not None:
        level = f"{100 * (1 - gathered.request.alpha):g}%"
        numbers.insert(0, f"{level} interval {rounded(ends[0])} to {rounded(ends[1])}")
    lower = " (lower is better)" if measure.definition.lower_is_better else ""
    return {
        "kind": "alone",
        "badge": None,
        "about": result.run,
        "number": rounded(result[measure]),
        "measure": f"{measure.name}{lower}",
        "of": "",
        "numbers": numbers,
        "drawn": _drawn_value(result[measure], ends, measure),
        "told": "The interval of the mean",
        "scale": [f"{end:g}" for end in measure.definition.range],
        "worst": [
            {
                "number": rounded(each.value),
                "query": gathered.query_text(each.query_id),
                "href": place(each.query_id, None, measure),
                "reason": each.reason,
            }
            for each in below_perfect(result, measure, WORST)
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
        "One query shows no variation, so there is no verdict."
        if one
        else ("The runs were measured by different judgments or policies, so there is no verdict.")
    )
    shown = ", ".join(f"{each.run} {rounded(each[measure])}" for each in best_first[:NAMED])
    return {
        "kind": "none",
        "badge": "Not compared",
        "about": f"{len(best_first)} runs",
        "number": None,
        "measure": measure.name,
        "of": "",
        "numbers": [f"{measure.name}: {shown}{' …' if len(best_first) > NAMED else ''}"],
        "drawn": None,
        "sentences": [why],
    }
