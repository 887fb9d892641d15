"""Models beside people: the documents to read where a model differs from a person, and two models compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cranfield.evaluation.estimating import SAME
from cranfield.judging.agree.statistics import Estimate, Grid, JudgedItem, Statistic, estimate, krippendorff_alpha
from cranfield.judging.agree.verdict import FEWEST, VERDICT
from cranfield.words import count

CASES = 3  # of each kind
OVERSTATED = (
    "The better of several models or prompts looks better than it is on the documents it was chosen by: check it on "
    "other queries."
)


class ModelCase(NamedTuple):
    """A document that a model and a person grade differently."""

    query_id: str
    doc_id: str
    person: float
    model: float
    query: str = ""
    title: str = ""
    reason: str = ""  # as the model gave it


def model_cases(items: Iterable[JudgedItem], person: str, model: str) -> tuple[list[ModelCase], list[ModelCase]]:
    """Graded too high and too low by the model: the furthest apart first, and of equal ones those of other queries."""
    both = [item for item in items if person in item.grades and model in item.grades]
    cases = [ModelCase(item.query_id, item.doc_id, item.grades[person], item.grades[model]) for item in both]
    high = [case for case in cases if case.model > case.person]
    return _furthest(high), _furthest(case for case in cases if case.model < case.person)


def _furthest(cases: Iterable[ModelCase]) -> list[ModelCase]:
    ordered = sorted(cases, key=lambda case: (-abs(case.model - case.person), case.query_id, case.doc_id))
    seen: Counter[tuple[float, str]] = Counter()
    keys = []
    for case in ordered:
        apart = abs(case.model - case.person)
        keys.append((-apart, seen[apart, case.query_id]))
        seen[apart, case.query_id] += 1
    return [case for _, case in sorted(zip(keys, ordered, strict=True), key=lambda keyed: keyed[0])][:CASES]


class ModelDifference(NamedTuple):
    """Two models on the same documents, with all people who judged them; the one that agrees better is the first."""

    models: tuple[str, str]
    documents: int
    queries: int
    alphas: tuple[Estimate, Estimate]
    difference: Estimate

    @property
    def sentence(self) -> str:
        one, other = self.models
        value, low, high = self.difference[:3]
        judged = f"{count(self.documents, 'document')} of {count(self.queries, 'query', 'queries')}"
        if value is not None and low is None and abs(value) < SAME and self.queries >= FEWEST:
            shown = f"{VERDICT} {self.alphas[0].value:.2f}"
            return f"No difference: {one} and {other} agree with people equally well on {judged}, {shown}."
        if value is None or low is None or high is None or self.queries < FEWEST:
            why = f": {self.difference.reason}" if self.difference.reason else ""
            return f"{one} vs {other}: too little to tell which agrees better with people, {judged}{why}."
        shown = f"{VERDICT} {value:+.2f} (95% interval {low:+.2f} to {high:+.2f})"
        if low > 0:
            return f"{one} agrees better with people than {other}: {shown}."
        return f"Too close to call: {one} vs {other}, agreement with people, {shown}."


def _of_model(at: int) -> Statistic:
    return lambda sums, grades: krippendorff_alpha(sums.pairs[at] + sums.pairs[at].swapaxes(-1, -2), grades, VERDICT)


def model_difference(
    grid: Grid, models: tuple[int, int], people: Sequence[int], draws: int, seed: int
) -> ModelDifference | None:
    """None where no document was judged by both models and a person.

    Each person's grade is a unit of its own. The same queries are drawn for both models.
    """
    counted = grid.of_models(*models, people)
    if not counted.items:
        return None
    one, other = _of_model(0), _of_model(1)
    statistics: list[Statistic] = [one, other, lambda sums, grades: one(sums, grades) - other(sums, grades)]
    first, second, difference = estimate(counted, statistics, grid.grades, draws, seed)
    if difference.value is not None and difference.value < 0:
        return model_difference(grid, models[::-1], people, draws, seed)
    names = (grid.assessors[models[0]], grid.assessors[models[1]])
    return ModelDifference(names, counted.items, len(counted.query_ids), (first, second), difference)
