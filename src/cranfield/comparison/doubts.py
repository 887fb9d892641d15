"""What makes a pair of runs unequal, so that their difference may not be due to how well they rank.

Everything follows from what evaluations know already. `KINDS` lists what is looked for; each kind is one function of
two runs and a measure. One more is about all runs together: too few queries differ for any test of means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cranfield.comparison.pairing import Paired
from cranfield.evaluation.estimating import SAME, Columns, estimated
from cranfield.evaluation.evidence import SavedEvidence
from cranfield.evaluation.result import Evaluation
from cranfield.evaluation.tie_ranges import ARBITRARY, TieRange
from cranfield.evaluation.weighting import by_group, effective_queries
from cranfield.measures import Measure
from cranfield.measures.scope import Scope
from cranfield.ranks.columns import Integers, Numbers
from cranfield.ranks.rising import RISING
from cranfield.words import count, joined, listed, percent

SHORTER = 0.9  # of the other ranking: one that is hardly shorter counts as equally long
OFTEN, SEVERAL = 0.2, 5  # of the queries, and how many at least: fewer short rankings are a system's own
MORE_TEXT = 1.5  # times that of the other run: a difference that is told
FEW = "few-queries"
ENOUGH = 10  # queries that differ: of fewer, if nearly all gain, 95% intervals miss in 12 to 21% of samples
FELT = 0.25  # of the standard error of the difference: what ties move by less decides nothing


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason to doubt a comparison: a run that is unlike others in more than how well it ranks.

    kind: "tuned-here", "own-settings", "missing-queries", "depth", "asked", "text", "rising-scores", "ties";
        "not-known" for an evaluation that was saved without what the others are found by; "few-queries", which is about
        all runs: few queries differ; or, of a gate with `max_drop`, "unjudged-drops": queries that fell only because
        documents are not judged
    run: the run that it is about; others: those that it differs from
    measures: those that it concerns
    brief: the fact about the run in a few words; sentence: the same in full
    facts: its numbers

    >>> from cranfield import compare
    >>> qrels, run = {str(q): {"a": 1} for q in range(12)}, {str(q): ["a"] for q in range(12)}
    >>> [doubt] = compare(qrels, {"whole": run, "cut": {"1": ["a"]}}, "RR").doubts
    >>> doubt
    <Doubt: cut lacks 11 of 12 queries, which count 0>
    >>> doubt.kind, doubt.run, doubt.others, doubt.facts, doubt.to_dict()["brief"]
    ('missing-queries', 'cut', ('whole',), {'missing': 11, 'judged': 12}, '11 of 12')
    """

    kind: str
    run: str
    others: tuple[str, ...]
    measures: tuple[str, ...]
    brief: str
    sentence: str
    facts: dict[str, Any]

    def __repr__(self) -> str:
        return f"<Doubt: {self.sentence}>"

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """The doubt as plain values, ready for JSON."""
        return asdict(self)


class Found(NamedTuple):
    """What is wrong with a run beside another; `size` says which of several is told."""

    brief: str
    sentence: str
    facts: dict[str, Any]
    size: float = 0.0


class Side:
    """A run of a pair by one measure, with what several pairs need."""

    def __init__(self, evaluation: Evaluation, measure: Measure) -> None:
        self.evaluation, self.measure, self.run = evaluation, measure, evaluation.run
        self.evidence = evaluation._evidence

    @cached_property
    def seen(self) -> Integers:
        """How many documents of each query the measure looks at; 0 where nothing was returned."""
        facts = self.evaluation.facts(self.measure)
        return np.where(self.limit > 0, np.minimum(self.limit, facts.retrieved), facts.retrieved)

    @cached_property
    def limit(self) -> Integers:
        """How many of each query it would look at; 0 for all, or where that depends on which ones are judged."""
        cutoff = self.evaluation.facts(self.measure).cutoff
        return np.zeros_like(cutoff) if Scope.of(self.measure).judged_only else np.maximum(cutoff, 0)

    @cached_property
    def least(self) -> int:
        return int(self.seen.min(initial=np.iinfo(np.int64).max, where=self.seen > 0))

    @cached_property
    def most(self) -> int:
        return int(self.seen.max(initial=0))

    @cached_property
    def deepest(self) -> int:
        return int(self.evaluation.facts(self.measure).retrieved.max(initial=0))

    @cached_property
    def ties(self) -> TieRange | None:
        """The range of the mean over all orders of ties; None where it is not known, or the order was chosen."""
        if not self.evidence.has_ties or self.evaluation.policy.ties not in ARBITRARY:
            return None
        return self.evaluation._tie_ranges({self.measure: self.values})[self.measure]

    @property
    def mean(self) -> float:
        return self.evaluation[self.measure]

    @property
    def values(self) -> Numbers:
        return self.evaluation._columns[self.measure]

    def beside(self, other: Side) -> tuple[Integers | slice, Integers | slice]:
        """Where the queries that both were measured on are, in this one and in the other."""
        here, there = self.evaluation.query_ids, other.evaluation.query_ids
        if here == there:
            return slice(None), slice(None)
        place = {query: at for at, query in enumerate(there)}
        both = [(at, place[query]) for at, query in enumerate(here) if query in place]
        one, two = np.array(both, dtype=np.int64).reshape(-1, 2).T
        return one, two


def missing_queries(one: Side, other: Side) -> Found | None:
    """One lacks judged queries that the other has."""
    lacking = one.evidence.lacking
    if not lacking or other.evidence.lacking is None or lacking <= other.evidence.lacking:
        return None
    counts = one.evaluation.counts
    brief = f"{counts.missing:,} of {counts.judged:,}"
    queries = "queries" if counts.judged > 1 else "query"
    fate = f"which {'counts' if counts.missing == 1 else 'count'} 0"
    if one.evaluation.policy.missing == "skip":
        fate = "so only the others are compared"
    facts = {"missing": counts.missing, "judged": counts.judged}
    return Found(brief, f"{one.run} lacks {brief} {queries}, {fate}", facts)


def depth(one: Side, other: Side) -> Found | None:
    """Rankings of one end where those of the other go on, and the measure looks further.

    Either no ranking of one is as long as those of the other, or many do not reach the measure's cutoff, and those of
    the other do. Without a cutoff, only the first counts: how many documents an engine matches is its own affair.
    """
    if one.least > SHORTER * other.most:
        return None
    here, there = one.beside(other)
    mine, its, limit = one.seen[here], other.seen[there], one.limit[here]
    both = (mine > 0) & (its > 0)
    cut = both & (one.most <= SHORTER * its)
    short = both & (limit > 0) & (its == limit) & (mine <= SHORTER * its)
    all_queries, queries = int(both.sum()), int((cut | short).sum())
    if queries < max(SEVERAL, OFTEN * all_queries):
        return None
    facts = {"deepest": one.deepest, "other_deepest": other.deepest, "shorter": queries, "queries": all_queries}
    cutoff = Scope.of(one.measure).cutoff
    looks = f"{one.measure} looks at {'more' if cutoff is None else f'the first {cutoff:,}'}"
    if cut.any():
        longest = f"at most {count(one.most, 'document')} for a query"
        sentence = f"{one.run} returns {longest}, {other.run} up to {other.deepest:,}; {looks}"
        return Found(f"at most {one.most:,}", sentence, facts, other.deepest)
    brief = f"on {queries:,} of {all_queries:,} queries"
    return Found(brief, f"{one.run} returns fewer documents than {other.run} {brief}; {looks}", facts, queries)


def asked(one: Side, other: Side) -> Found | None:
    """One was recorded in another way: something was chosen instead of what the system returns by itself.

    Or both were to have k documents each, and one has no more to give: many retrievers ignore the k they are asked for.
    """
    mine, its = one.evidence.made, other.evidence.made
    if mine is None or its is None or mine.choices < its.choices:  # told of one of the two
        return None
    if any(made.fusion or made.reranks for made in (mine, its)):  # made of other runs, and nothing was asked
        return None
    sentence = f"{one.run} was asked {mine.how}, {other.run} {its.how}"
    if mine.choices == its.choices:
        documents, others = (made.size.get("documents", 0.0) for made in (mine, its))
        if not mine.deepened or documents > SHORTER * others:
            return None
        had = f"{one.run} returns {documents:.1f} on average, {other.run} {others:.1f}"
        sentence = f"both were asked for {count(mine.k or 0, 'document')}, but {had}"
    return Found(mine.choices, sentence, {"choices": mine.choices, "other_choices": its.choices})


def tuned_here(one: Side, other: Side) -> Found | None:
    """The settings of one were chosen by its values on the very queries that are compared."""
    tuned = one.evidence.made.tuned if one.evidence.made is not None else None
    if tuned is None:
        return None
    every = one.evaluation.query_ids
    seen = len(tuned.queries.intersection(every))
    if not seen:
        return None
    brief = f"the best of {count(tuned.tried, 'setting')} on {seen:,} of {count(len(every), 'query', 'queries')}"
    which = f"is made of {tuned.part}," if tuned.part else "was tuned: it is"
    sentence = (
        f"{one.run} {which} {brief} compared here, so its value and p are too good to be true; "
        "compare it on other queries, or by 'cranfield tune'"
    )
    return Found(brief, sentence, {"settings": tuned.tried, "tuned_on": seen, "queries": len(every)}, seen)


def own_settings(one: Side, other: Side) -> Found | None:
    """Somebody chose the settings of a mixture, and nobody knows on which queries."""
    made = one.evidence.made
    if made is None or made.fusion is None or made.tuned is not None or not made.fusion.chosen:
        return None
    brief = joined(made.fusion.chosen, "and")
    sentence = (
        f"{one.run} is a mixture with {brief}: if that was chosen on queries that are compared here, its value and p "
        "are too good to be true; 'cranfield tune' measures the choice on other queries"
    )
    return Found(brief, sentence, {"chosen": list(made.fusion.chosen)})


def text(one: Side, other: Side) -> Found | None:
    """One returns much more text, which a prompt pays for and a measure of documents does not see."""
    mine, its = (side.evidence.made.size.get("characters", 0) if side.evidence.made else 0 for side in (one, other))
    if not its or mine <= MORE_TEXT * its:
        return None
    times = f"{mine / its:.1f}" if mine < 10 * its else f"{mine / its:,.0f}"
    brief = f"{times} × the text"
    sentence = (
        f"{one.run} returns {brief} of {other.run} ({mine:,.0f} and {its:,.0f} characters for a query), "
        f"which matters if it goes into a prompt"
    )
    return Found(brief, sentence, {"characters": mine, "other_characters": its}, mine / its)


def rising_scores(one: Side, other: Side) -> Found | None:
    """Scores of one may be distances."""
    if not one.evidence.distances:
        return None
    return Found("", f"{one.run}: {one.evidence.distances}", {"rising": one.evidence.distances == RISING})


def ties(one: Side, other: Side) -> Found | None:
    """The order of equal scores moves a mean by more than chance hides."""
    if one.ties is None or not one.ties.matters:
        return None
    low, high = sorted(one.ties)
    here, there = one.beside(other)
    apart = (one.values[here] - other.values[there])[:, None]
    weight = one.evaluation._weight()
    its, queries = one.evaluation.weights, one.evaluation.query_ids
    group, drawn = (None, None) if its is None else (its.group(queries), its.probabilities(queries))
    columns = Columns(
        apart,
        None if weight is None else weight[here],
        None if group is None else group[here],
        probability=None if drawn is None else drawn[here],
    )
    error = float(estimated(columns).error[0]) if len(apart) > 1 else 0.0
    if high - low < FELT * error:
        return None
    reverses = low < other.mean if one.mean > other.mean else high > other.mean
    tied = one.evaluation.counts.tied
    sentence = (
        f"{one.run} has equal scores ({percent(tied)} of its judged documents): another order puts {one.measure} "
        f"between {low:.4f} and {high:.4f}{f', enough to reverse its difference from {other.run}' if reverses else ''}"
    )
    facts = {"low": low, "high": high, "tied": tied, "could_reverse": reverses}
    return Found(f"{low:.4f} to {high:.4f}", sentence, facts, float(reverses))


def not_known(one: Side, other: Side) -> Found | None:
    """One was saved without what the other kinds need."""
    if one.evidence.lacking is not None and one.evidence.distances is not None:
        if isinstance(one.evidence, SavedEvidence) and one.evidence.other_weights:
            return Found("", f"{one.run} was saved with other weights, so its ties are not checked", {})
        return None
    return Found("", f"{one.run} was saved without its ties and missing queries, so these are not checked", {})


class Kind(NamedTuple):
    """What is looked for in each pair of runs.

    found: what is wrong with the first run beside the second; None if nothing is
    several: the beginning of a sentence about several runs, after their number
    of_measure: whether it depends on the measure
    """

    found: Callable[[Side, Side], Found | None]
    several: str
    of_measure: bool = False


KINDS = {
    "tuned-here": Kind(
        tuned_here, "were tuned on queries that are compared here, so their values are too good to be true"
    ),
    "own-settings": Kind(
        own_settings, "are mixtures with settings that, if chosen on queries compared here, make them look too good"
    ),
    "missing-queries": Kind(missing_queries, "lack queries that others have"),
    "depth": Kind(depth, "return fewer documents than others, and {measure} looks at more", of_measure=True),
    "asked": Kind(asked, "were asked in another way than others, or returned less than they were asked for"),
    "text": Kind(text, "return much more text than others"),
    "rising-scores": Kind(
        rising_scores,
        "have scores that may be distances",
    ),
    "ties": Kind(ties, "have equal scores whose order decides {measure}", of_measure=True),
    "not-known": Kind(not_known, "were saved without their ties and missing queries, so these are not checked"),
}


def few_differ(values: Paired, measures: Sequence[Measure], pairs: Sequence[tuple[int, int]]) -> tuple[Doubt, ...]:
    """Few queries differ in any pair, so that the mean rests on them; none is a finding of its own."""
    found = {}
    weight, unit = np.ones(len(values.query_ids)), "queries" if values.group is None else "groups"
    for measure in () if values.proxies else measures:
        units = by_group(values.weights, values.query_ids, values.contrast(measure, pairs).values)
        weight = np.ones(len(units.names)) if units.weight is None else units.weight
        differs = (np.abs(units.values) > SAME).any(axis=1) & (weight > 0)
        if differs.any() and effective_queries(weight[differs]) < ENOUGH:
            found[measure.name] = differs
    if not found:
        return ()
    (name, differs), all_queries = next(iter(found.items())), int((weight > 0).sum())
    differing, effective = int(differs.sum()), effective_queries(weight[differs])
    few = f"{all_queries:,} {unit}"
    if effective < differing * (1 - 1e-9):
        few = f"{differing} of {few} differ by {name}, and with their weights they count as {effective:.2g}"
    elif differing < all_queries:
        few = f"{differing} of {few} {'differs' if differing == 1 else 'differ'} by {name}"
    sentence = f"only {few}; with so few, interval and p-value are rough"
    facts = {"differing": differing, "effective": effective, "queries": all_queries}
    return (Doubt(FEW, values.runs[-1], values.runs[:-1], tuple(found), f"{differing}", sentence, facts),)


def doubts_about(
    evaluations: Sequence[Evaluation], measures: Sequence[Measure], pairs: Iterable[tuple[int, int]]
) -> tuple[Doubt, ...]:
    """What makes the compared pairs unequal: for each kind and run one doubt, told by the first measure that has it."""
    both_ways = [pair for one, other in pairs for pair in ((one, other), (other, one))]
    doubts: list[Doubt] = []
    for name, kind in KINDS.items():
        found: dict[str, list[tuple[Found, str, str]]] = {}
        for measure in measures if kind.of_measure else measures[:1]:
            sides = [Side(evaluation, measure) for evaluation in evaluations]
            for one, other in both_ways:
                if (its := kind.found(sides[one], sides[other])) is not None:
                    found.setdefault(sides[one].run, []).append((its, sides[other].run, measure.name))
        for run, every in found.items():
            others = tuple(dict.fromkeys(other for _, other, _ in every))
            concerned = tuple(dict.fromkeys(measure for *_, measure in every))
            told = max((its for its, _, measure in every if measure == concerned[0]), key=lambda its: its.size)
            all_measures = concerned if kind.of_measure else tuple(measure.name for measure in measures)
            doubts.append(Doubt(name, run, others, all_measures, told.brief, told.sentence, told.facts))
    return tuple(doubts)


def doubt_texts(doubts: Sequence[Doubt], runs: int) -> list[str]:
    """A sentence for each kind of doubt, without a full stop; it counts and lists the runs where they are several."""
    texts = []
    for name, kind in KINDS.items():
        about = [doubt for doubt in doubts if doubt.kind == name]
        if len(about) == 1:
            texts.append(about[0].sentence)
        elif about:
            names = [f"{doubt.run} ({doubt.brief})" if doubt.brief else doubt.run for doubt in about]
            what = kind.several.format(measure=about[0].measures[0])
            texts.append(f"{len(about):,} of {runs:,} runs {what}: {listed(names)}")
    return texts + [doubt.sentence for doubt in doubts if doubt.kind not in KINDS]
