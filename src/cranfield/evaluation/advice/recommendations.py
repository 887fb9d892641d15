"""Which measures suit the data: each rule looks at the facts and recommends a measure, or says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from cranfield.evaluation.advice.collection_facts import Facts
from cranfield.words import shortened

DEEP = 100  # documents in a ranking: nobody reads so many, but another ranker may


class Recommendation(NamedTuple):
    """A measure that suits the data, and why."""

    measure: str
    why: str

    def __repr__(self) -> str:
        return f"<Recommendation {self.measure}: {shortened(self.why, 100)}>"


def graded_gain(facts: Facts) -> Iterator[Recommendation]:
    """Grades are worth something only to a measure with a gain."""
    if facts.graded:
        yield Recommendation(
            f"nDCG@{facts.first_page}",
            f"the judgments are graded up to {facts.highest:g}, and it rewards the best documents most, on a scale "
            "from 0 to 1 for every query. The gain is the grade; gain=exponential gives the highest grade far more "
            "weight, for users who need the best documents.",
        )


def first_answer(facts: Facts) -> Iterator[Recommendation]:
    if facts.one_answer:
        yield Recommendation(
            f"RR@{facts.first_page}", "most queries have a single relevant document, so only its rank matters."
        )


def whole_ranking(facts: Facts) -> Iterator[Recommendation]:
    """AP needs several relevant documents, and judgments that do not miss many."""
    if not facts.one_answer and facts.relevant > 1 and not facts.incomplete(None):
        percent = int(100 * facts.least_judged(None)[1])  # rounded down: 100% is all of it
        share = "all" if percent == 100 else f"at least {percent}%"
        judged = f"and {share} of what each run retrieves is judged."
        if not facts.runs:
            judged = "so use it if most of what a run retrieves is judged."
        why = f"the median query has {facts.relevant:g} relevant documents, it looks at the whole ranking, {judged}"
        yield Recommendation("AP", why)


def first_page_precision(facts: Facts) -> Iterator[Recommendation]:
    k = facts.first_page
    if float((facts.n_relevant() >= k).mean()) > 0.5:
        yield Recommendation(f"P@{k}", f"most queries have at least {k} relevant documents, so it can reach 1.")


def preference(facts: Facts) -> Iterator[Recommendation]:
    """Bpref leaves unjudged documents out, but needs some that are judged not relevant."""
    if facts.incomplete(None) and facts.nonrelevant and facts.relevant:
        coarse = facts.relevant <= 2
        yield Recommendation(
            "Bpref10" if coarse else "Bpref",
            f"{facts.judged_text(None)}, and it ignores unjudged documents"
            + ("; with so few relevant documents Bpref itself would be coarse." if coarse else "."),
        )


def condensed(facts: Facts) -> Iterator[Recommendation]:
    """If the first page is full of unjudged documents, the order of the judged ones still counts."""
    k = facts.first_page
    if facts.graded and facts.incomplete(k):
        yield Recommendation(
            f"nDCG(judged_only=True)@{k}",
            f"{facts.judged_text(k)}, and it leaves the rest out instead of counting them as not relevant.",
        )


def sampled(facts: Facts) -> Iterator[Recommendation]:
    if facts.pooled:
        yield Recommendation(
            "infAP",
            "negative grades mark documents that were pooled but not judged; it estimates AP from those that were.",
        )


def bounds(facts: Facts) -> Iterator[Recommendation]:
    k = facts.first_page
    if facts.incomplete(k):
        yield Recommendation(
            "RBPResidual",
            f"{facts.judged_text(k)}; RBP would lie between its value and its value plus this if every document were "
            "judged.",
        )


def coverage(facts: Facts) -> Iterator[Recommendation]:
    """Deep rankings are for those who must miss nothing, and for another ranker."""
    depth = min((run.deepest for run in facts.runs), default=0)
    if depth >= DEEP:
        k = 1000 if depth >= 1000 else 100
        judged = facts.judged_text(k)
        known = f" {judged[0].upper()}{judged[1:]}, so it is the recall of what is known to be relevant."
        yield Recommendation(
            f"R@{k}",
            "the rankings are deep: how much of what is relevant could a second ranker or a patient reader still find?"
            + (known if facts.incomplete(k) else ""),
        )


def judged_beside(facts: Facts) -> Iterator[Recommendation]:
    if facts.runs and not facts.complete:
        yield Recommendation(
            f"Judged@{facts.first_page}",
            f"the share of the first {facts.first_page} documents that is judged: report it with the other values.",
        )


RECOMMENDATIONS: tuple[Callable[[Facts], Iterator[Recommendation]], ...] = (
    *(graded_gain, first_answer, whole_ranking, first_page_precision, preference),
    *(condensed, sampled, bounds, coverage, judged_beside),
)
