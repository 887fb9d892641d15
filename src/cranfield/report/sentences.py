"""Numbers as the page prints them, and plain sentences about one or two runs; each is a count that can be checked."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from cranfield.comparison import differences
from cranfield.evaluation.estimating import SAME
from cranfield.evaluation.query_facts import FactColumns
from cranfield.evaluation.result import Evaluation
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers
from cranfield.report.pair import VerdictPair
from cranfield.report.request import Request
from cranfield.show.comparison_words import power_sentence, reach_text
from cranfield.systems.settling_commands import ADVICE, settling_commands
from cranfield.words import count, percent, shortened, visible

NAME = 32  # letters of a name in tables and sentences
BRIEF = 22  # ... and where one is chosen, and at an axis
NARROW = 18  # ... and in tables where there is little room


def rounded(value: float) -> str:
    """A value with three decimals."""
    text = f"{value:.{differences.DIGITS}f}"
    return f"{abs(float(text)):.{differences.DIGITS}f}" if float(text) == 0 else text.replace("-", "−")


def signed(number: float) -> str:
    """A difference with its sign, and with more decimals where three would make it 0.

    >>> signed(0.0373), signed(-0.00002), signed(0.0), signed(float("inf"))
    ('+0.037', '−0.00002', '0.000', 'no end')
    """
    return rounded(0) if abs(number) < SAME else differences.signed(number).replace("-", "−")


def short_names(runs: Sequence[str], most: int = NAME) -> dict[str, str]:
    """Names that fit a line, with their middle left out; whole where two would look the same."""
    short = {run: shortened(run, most) for run in runs}
    times = Counter(short.values())
    return {run: name if times[name] == 1 else visible(run) for run, name in short.items()}


class Seen(NamedTuple):
    """What a measure sees of a run's rankings, for queries that have a relevant document.

    nothing: how many of them have none down to the cutoff; first: the rank of the first one, 0 for none
    share: of the documents down to the cutoff that is judged, over all queries; None where none was retrieved
    """

    run: str
    nothing: int
    first: Integers
    queries: int
    all_queries: int
    share: float | None


def seen(result: Evaluation, measure: Measure, query_ids: Sequence[str]) -> Seen | None:
    """What the measure sees; None if it does not look at the same ranks of each ranking, or not at ranks."""
    if measure.definition.table != "ranks" or not Scope.of(measure).one_depth:
        return None
    place = {query: at for at, query in enumerate(result.query_ids)}
    at = np.array([place[query] for query in query_ids], dtype=np.int64)
    facts = result.facts(measure)
    has = facts.relevant[at] > 0
    return Seen(
        run=result.run,
        nothing=int((facts.found[at][has] == 0).sum()),
        first=facts.first[at][has],
        queries=int(has.sum()),
        all_queries=len(at),
        share=FactColumns(*(getattr(facts, column.name)[at] for column in fields(facts))).judged_share(),
    )


def sentences_of_one(result: Evaluation, measure: Measure) -> list[str]:
    facts = seen(result, measure, result.query_ids)
    if facts is None or not facts.queries:
        return []
    top, of, what = _top(measure), _of_queries(facts), _relevant(measure)
    sentences = [f"Every query{_with_relevant(facts)} finds something {what}{top}."]
    if facts.nothing:
        sentences = [f"Nothing {what}{top}: {facts.nothing:,} of {of}."]
    if Scope.of(measure).cutoff != 1:
        firsts = int((facts.first == 1).sum())
        sentences.append(f"The first result is {what} for {firsts:,} of {of}.")
    return [*sentences, *_unjudged(measure, [facts])]


def sentences_of_two(request: Request, pair: VerdictPair, run: Evaluation, baseline: Evaluation) -> list[str]:
    """The sentences about two runs over the compared queries."""
    queries = pair.comparison._paired.query_ids
    both = [facts for result in (baseline, run) if (facts := seen(result, pair.measure, queries)) is not None]
    sentences: list[str] = []
    if len(both) == 2 and both[0].queries:
        sentences += [_nothing(pair.measure, *both), *_firsts(pair.measure, *both)]
    sentences += _decision(pair)
    if len(both) == 2:
        sentences += _unjudged(pair.measure, both)
    return [*sentences, *_reversal(request, pair)]


def _nothing(measure: Measure, before: Seen, now: Seen) -> str:
    top, what = _top(measure), _relevant(measure)
    if not before.nothing and not now.nothing:
        return f"Every query{_with_relevant(now)} finds something {what}{top} with both runs."
    of = f" of {_of_queries(now)}" if _with_relevant(now) else ""
    counts = [count(before.nothing, "query", "queries"), f"{now.nothing:,}"]
    (one, first), (other, then) = zip(map(_named, (before, now)), counts, strict=True)
    return f"Nothing {what}{top}: {one} {first}{of}, {other} {then}."


def _firsts(measure: Measure, before: Seen, now: Seen) -> Iterator[str]:
    """On how many queries the first relevant result comes earlier or later; a missing one comes after all others."""
    if Scope.of(measure).cutoff == 1:
        return
    far = np.iinfo(np.int64).max
    one, other = (np.where(facts.first > 0, facts.first, far) for facts in (before, now))
    earlier, later = int((other < one).sum()), int((other > one).sum())
    if earlier or later:
        up = count(earlier, "query", "queries") if earlier else "no query"
        down = f"{later:,}" if later and earlier else count(later, "query", "queries") if later else "none"
        yield f"{_named(now)} moves the first relevant result{_top(measure)} up on {up}, down on {down}."


def _decision(pair: VerdictPair) -> Iterator[str]:
    difference = pair.difference
    if difference.significant and difference.direction * difference.difference < 0:
        other = f"The mean moves the other way ({signed(difference.difference)})"
        yield f"{other}; the test compares the {difference.of} of the queries."
    if pair.kind != "close" or not difference.detectable or not difference.spread:
        return
    yield f"{power_sentence(difference, pair.comparison.units)}."


def _unjudged(measure: Measure, runs: Sequence[Seen]) -> Iterator[str]:
    lacking = [(facts.run, 1 - facts.share) for facts in runs if facts.share is not None and facts.share < 1]
    if lacking:
        cutoff = Scope.of(measure).cutoff
        what = "results" if cutoff is None else "first results" if cutoff == 1 else f"top {cutoff:,}"
        shares = ", ".join(f"{shortened(run, NAME)} {percent(share)}" for run, share in lacking)
        if len(runs) == 1:
            shares = percent(lacking[0][1])
        yield f"Unjudged, so counted as not relevant: {shares} of the {what}."


def _reversal(request: Request, pair: VerdictPair) -> Iterator[str]:
    difference = pair.difference
    if difference.reach is None:
        return
    if difference.could_reverse and pair.kind != "same":
        ends = reach_text(difference.reach).replace("-", "−")
        yield f"{capital(difference.reach.documents)} could reverse this ({ends})."
        if not difference.reach.unseen:  # which nobody can be asked to judge
            yield _settling_sentence(request, pair)
    elif (
        not difference.could_reverse
        and pair.kind in ("better", "worse")
        and difference.reach.low < difference.reach.high
    ):
        yield f"{capital(difference.reach.documents)} can't reverse this."


def _top(measure: Measure) -> str:
    cutoff = Scope.of(measure).cutoff
    return "" if cutoff is None else " at rank 1" if cutoff == 1 else f" in the top {cutoff:,}"


def _relevant(measure: Measure) -> str:
    rel = Scope.of(measure).rel
    return "relevant" if rel is None or rel == 1 else f"relevant (grade {rel:g} or higher)"


def _of_queries(facts: Seen) -> str:
    return f"{count(facts.queries, 'query', 'queries')}{_with_relevant(facts)}"


def _with_relevant(facts: Seen) -> str:
    return "" if facts.queries == facts.all_queries else " with a relevant document"


def _named(facts: Seen) -> str:
    return shortened(facts.run, NAME)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


UNKNOWN = (
    f"{ADVICE}, with cranfield judge --decide. It needs a store of judgments, which cranfield pool fills, and the "
    "files of both runs; this page does not know where they all are."
)


def _settling_sentence(request: Request, pair: VerdictPair) -> str:
    """How to settle a difference, with the commands on lines of their own if everything for them is known."""
    runs = [request.rankings.get(name) for name in (pair.baseline, pair.run)]
    commands = settling_commands(request.qrels, runs, pair.measure.canonical)
    return "\n".join([f"{ADVICE}:", *map(shlex.join, commands)]) if commands else UNKNOWN
