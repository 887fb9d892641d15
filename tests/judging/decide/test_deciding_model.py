"""The grade model against a dense solve, and the choice of documents against exhaustive search."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from cranfield.judging.decide.candidates import Candidates
from cranfield.judging.decide.compared_pair import choose, slopes
from cranfield.judging.decide.grade_model import (
    EFFECTS,
    FIXED,
    PRIOR_MEAN,
    PRIOR_VARIANCE,
    GradeModel,
    Variances,
    features,
    fit,
    improved,
    solved,
    sums_of,
)
from cranfield.judging.pool.order import all_returned_first
from cranfield.measures import parse_measure
from cranfield.measures.arithmetic import gains

VARIANCES = Variances(0.7, 0.5, 0.2)
QUERIES = 7


class Case:
    """Documents of a few queries, some judged, and the same model as one dense matrix."""

    def __init__(self, seed: int) -> None:
        chance = np.random.default_rng(seed)
        self.query = np.sort(chance.integers(QUERIES, size=60))
        first, second = chance.integers(0, 11, size=(2, 60))
        self.x = features(first, second)
        self.grade = chance.integers(0, 4, size=60).astype(float)
        self.judged = (chance.random(60) < 0.4) & (self.query != 3)  # nothing of one query is judged
        design = np.zeros((60, FIXED + EFFECTS * QUERIES))
        design[:, :FIXED] = self.x
        for place, query in enumerate(self.query):
            start = FIXED + EFFECTS * query
            design[place, start : start + EFFECTS] = self.x[place, :EFFECTS]
        self.design = design

    def sums(self):
        return sums_of(self.x[self.judged], self.query[self.judged], self.grade[self.judged], QUERIES)

    def model(self) -> GradeModel:
        return solved(self.x, self.query, self.sums(), VARIANCES, 1.0)

    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of all coefficients."""
        noise, level, side = VARIANCES
        prior = np.array([*PRIOR_VARIANCE, *(level, side, side) * QUERIES])
        mean = np.array([*PRIOR_MEAN, *([0.0] * EFFECTS * QUERIES)])
        seen = self.design[self.judged]
        covariance = np.linalg.inv(np.diag(1 / prior) + seen.T @ seen / noise)
        return covariance @ (mean / prior + seen.T @ self.grade[self.judged] / noise), covariance

    def grade_covariance(self) -> np.ndarray:
        _, covariance = self.dense()
        return self.design @ covariance @ self.design.T + VARIANCES.noise * np.eye(60)


@pytest.fixture(params=range(5))
def case(request: pytest.FixtureRequest) -> Case:
    return Case(request.param)


def test_expected_grades_match_the_dense_solve(case: Case) -> None:
    mean, _ = case.dense()
    np.testing.assert_allclose(case.model().expected, case.design @ mean, atol=1e-9)


def test_variances_and_covariances_match_the_dense_solve(case: Case) -> None:
    model, expected = case.model(), case.grade_covariance()
    np.testing.assert_allclose(model.variance, np.diag(expected), atol=1e-9)
    weights = np.random.default_rng(1).normal(size=60)
    np.testing.assert_allclose(model.covariance_with(weights), expected @ weights, atol=1e-9)
    for place in range(60):
        np.testing.assert_allclose(model.covariance_with_one(place), expected[place], atol=1e-9)


def test_draws_have_the_mean_and_the_covariance_of_the_dense_solve(case: Case) -> None:
    drawn = case.model().draw(np.random.default_rng(0), 40_000)
    mean, _ = case.dense()
    np.testing.assert_allclose(drawn.mean(axis=0), case.design @ mean, atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), case.grade_covariance(), atol=0.15)


def test_a_variance_update_matches_the_dense_posterior(case: Case) -> None:
    mean, covariance = case.dense()
    second = covariance + np.outer(mean, mean)
    seen, grade = case.design[case.judged], case.grade[case.judged]
    noise = ((grade - seen @ mean) ** 2).sum() + np.trace(seen @ covariance @ seen.T)
    effects = np.diag(second)[FIXED:].reshape(QUERIES, EFFECTS).sum(axis=0)
    found = improved(case.model(), case.sums(), Variances(0.9, 0.4, 0.15))
    assert found.noise == pytest.approx((5 * 0.9 + noise) / (5 + len(grade)))
    assert found.level == pytest.approx((5 * 0.4 + effects[0]) / (5 + QUERIES))
    assert found.side == pytest.approx((10 * 0.15 + effects[1] + effects[2]) / (10 + 2 * QUERIES))


def test_the_choice_matches_exhaustive_search(case: Case) -> None:
    model, left = case.model(), ~case.judged
    weights = np.where(left, np.random.default_rng(2).normal(size=60), 0.0)
    covariance = case.grade_covariance()
    known: list[int] = []

    def variance_left(places: list[int]) -> float:
        """The variance of the weighted sum, once these are judged."""
        seen = covariance[places] @ weights
        return float(weights @ covariance @ weights - seen @ np.linalg.solve(covariance[np.ix_(places, places)], seen))

    for _ in range(6):
        open_ = [place for place in np.flatnonzero(left) if place not in known]
        known.append(min(open_, key=lambda place: variance_left([*known, place])))
    chosen = choose(model, weights, left, 6)
    assert chosen.place.tolist() == known
    before = float(weights @ covariance @ weights)
    assert chosen.worth.sum() == pytest.approx(before - variance_left(known))


@pytest.mark.parametrize("scale", [(0, 1, 2, 3), tuple(range(40))])
def test_grades_of_completions_are_sorted_query_by_query(scale: tuple[int, ...]) -> None:
    chance = np.random.default_rng(len(scale))
    runs = {name: {f"q{q}": [f"d{d}" for d in chance.permutation(12)[:5]] for q in range(6)} for name in "ab"}
    known = Candidates.of(all_returned_first(runs, 5), {"q1": {"d3": 2.0}, "q2": {"unseen": 1.5}}, scale)
    completions = known.rounded(chance.normal(1, len(scale), (3, len(known.doc_ids))))
    assert set(np.unique(completions)) <= {1.5, *scale}
    expected = [-np.sort(-line[known.query == query]) for line in completions for query in range(6)]
    assert known.falling(completions).tolist() == np.concatenate(expected).tolist()


@pytest.mark.parametrize("measure", ["nDCG@3", "nDCG(gain={0:0,1:5,2:1,3:2})@3"])
def test_documents_of_one_grade_share_their_place_in_the_ideal(measure: str) -> None:
    """The slope of nDCG is the mean over all orders of documents that have the same grade."""
    parsed = parse_measure(measure)
    runs = {"a": {"q": list("uvwxyz"), "r": ["u"]}, "b": {"q": list("zyuvxw"), "r": ["u"]}}
    known = Candidates.of(all_returned_first(runs, 6), {}, (0, 1, 2, 3))
    grades = np.array([1.0, 3, 1, 0, 1, 2, 1])  # u v w x y z, and u of r
    gain = gains(grades[:6], dict(parsed.parameters).get("gain", "linear"))
    by_rank = np.array([1, 1 / np.log2(3), 0.5, 0, 0, 0])
    weight = by_rank[known.rank[1][:6] - 1] - by_rank[known.rank[0][:6] - 1]
    orders = [order for order in permutations(range(6)) if list(gain[list(order)]) == sorted(gain, reverse=True)]
    found = []
    for order in orders:
        in_ideal = by_rank[np.argsort(order)]
        ideal = in_ideal @ gain
        found.append((weight - (weight @ gain) / ideal * in_ideal) / ideal)
    steepness = (gains(np.array([3.0]), dict(parsed.parameters).get("gain", "linear"))[0]) / 3
    expected = steepness * np.mean(found, axis=0)
    assert slopes(known, parsed, (0, 1), grades[None])[:6] == pytest.approx(expected)


def test_a_shortlist_gives_the_same_choice_as_all_candidates() -> None:
    chance = np.random.default_rng(0)
    query = np.sort(chance.integers(400, size=6_000))
    x = features(*chance.integers(0, 11, size=(2, 6_000)))
    judged = chance.random(6_000) < 0.1
    model = fit(x, query, 400, chance.integers(0, 4, size=6_000).astype(float), judged, 3.0)
    weights = np.where(judged, 0.0, chance.normal(size=6_000))
    few = choose(model, weights, ~judged, 10)
    assert few.place.tolist() == choose(model, weights, ~judged, 200).place[:10].tolist()


def test_a_binary_scale_stretches_the_priors() -> None:
    query = np.repeat(np.arange(3), 4)
    x = features(np.arange(12) % 4, np.arange(12) % 3)
    nothing = np.zeros(12, dtype=bool)
    wide, narrow = (fit(x, query, 3, np.zeros(12), nothing, top) for top in (3.0, 1.0))
    np.testing.assert_allclose(narrow.expected * 3, wide.expected)
    np.testing.assert_allclose(narrow.variance * 9, wide.variance)
