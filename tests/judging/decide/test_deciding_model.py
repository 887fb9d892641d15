"""The grade model against naive loops and dense matrices, and the choice of documents against exhaustive search."""

from __future__ import annotations

from functools import cache
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from scipy.stats import t as student

from cranfield.judging.decide.candidates import Candidates
from cranfield.judging.decide.choosing import Wanted, choose, slopes
from cranfield.judging.decide.compared_pair import heaviest
from cranfield.judging.decide.grade_model import (
    COUNTS,
    LEAST_NOISE,
    RETURNED,
    START,
    Features,
    GradeModel,
    Groups,
    LinearGrades,
    Observed,
    Prior,
    Variances,
    all_effects_covariance,
    fit,
    improved,
    solved,
)
from cranfield.judging.decide.outlook import MUCH, WIDER, Outlook, judgments_needed, widened
from cranfield.judging.decide.outlook import outlook as outlook_of
from cranfield.judging.pool.order import all_returned_first
from cranfield.measures import parse_measure
from cranfield.measures.arithmetic import gains
from tests.judging.decide import oracle_grades as oracle
from tests.judging.decide.oracle_grades import Problem, random_problem

PROBLEMS = {
    "four grades": random_problem(0),
    "two grades": random_problem(1, thresholds=1),
    "eleven grades": random_problem(2, thresholds=10, queries=3, documents=50),
    "four runs": random_problem(3, runs=4, queries=3),
    "one query judged": random_problem(4, queries=2),
    "hardly anything judged": random_problem(5, share=0.05),
}


def fitted(problem: Problem) -> GradeModel:
    features = Features.of(problem.rank, problem.query)
    return fit(features, problem.queries, problem.level, problem.judged, problem.thresholds)


@cache
def solution_of(name: str) -> tuple[GradeModel, np.ndarray, np.ndarray]:
    """The model, and the mode and the covariance that the loops find with its variances."""
    problem = PROBLEMS[name]
    model = fitted(problem)
    mode = oracle.mode(problem, *model.variances)
    return model, mode, np.linalg.inv(oracle.hessian(problem, mode, *model.variances))


def dense_mean(model: GradeModel) -> np.ndarray:
    return np.concatenate([model.fixed, model.effects.T.ravel()])


def dense_covariance(model: GradeModel) -> np.ndarray:
    """Of thresholds, coefficients and the effects of all queries: these follow the fixed ones by way of `pull`."""
    follow = np.concatenate([np.eye(len(model.fixed)), *np.moveaxis(-model.pull, -1, 0)])
    covariance = follow @ model.covariance @ follow.T
    start = len(model.fixed)
    for own in np.moveaxis(model.effects_covariance, -1, 0):
        covariance[start : start + len(own), start : start + len(own)] += own
        start += len(own)
    return covariance


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_mode_is_the_maximum_of_the_log_posterior(name: str) -> None:
    problem = PROBLEMS[name]
    model, mode, _ = solution_of(name)
    np.testing.assert_allclose(dense_mean(model), mode, atol=2e-3)
    expected = [oracle.relevance(problem, document, mode) for document in range(len(problem.query))]
    np.testing.assert_allclose(model.latent, expected, atol=5e-3)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_covariance_is_the_inverse_of_the_dense_second_derivatives(name: str) -> None:
    model, _, covariance = solution_of(name)
    np.testing.assert_allclose(dense_covariance(model), covariance, atol=2e-3)


def test_before_the_first_grade_the_model_is_its_prior() -> None:
    problem = random_problem(0, share=0.0)
    model, start = fitted(problem), oracle.start_of(problem)
    np.testing.assert_allclose(dense_mean(model), start, atol=1e-12)
    curvature = oracle.hessian(problem, start, *START, step=0.1)  # exact at any step, as the logarithm is quadratic
    np.testing.assert_allclose(dense_covariance(model), np.linalg.inv(curvature), atol=1e-9)


def test_a_query_that_nobody_judged_keeps_its_prior() -> None:
    problem = PROBLEMS["four grades"]
    model = fitted(problem)
    last = problem.queries - 1
    assert not problem.judged[problem.query == last].any()
    assert not model.effects[:, last].any()
    assert not model.pull[:, :, last].any()
    level, side, _ = model.variances
    np.testing.assert_allclose(model.effects_covariance[:, :, last], np.diag([level, side, side]))


def test_the_order_of_documents_within_a_query_changes_nothing() -> None:
    problem = random_problem(7)
    order = np.lexsort((np.random.default_rng(0).random(len(problem.query)), problem.query))
    shuffled = Problem(
        problem.rank[:, order],
        problem.query[order],
        problem.level[order],
        problem.judged[order],
        problem.thresholds,
        problem.queries,
    )
    np.testing.assert_allclose(fitted(shuffled).latent, fitted(problem).latent[order], atol=1e-9)


# Learning how much queries differ


@pytest.mark.parametrize("name", ["four grades", "four runs"])
def test_a_variance_update_matches_the_dense_posterior(name: str) -> None:
    problem = PROBLEMS[name]
    features = Features.of(problem.rank, problem.query).only(problem.judged)
    observed = Observed.of(features, problem.level[problem.judged], problem.thresholds)
    variances, start = Variances(0.7, 0.4, 0.3), Variances(0.5, 0.6, 0.2)
    prior = Prior.of(problem.thresholds, problem.runs, variances)
    solution = solved(observed, prior, variances, prior.mean, 30)
    mode = oracle.mode(problem, *variances)
    second = np.diag(np.linalg.inv(oracle.hessian(problem, mode, *variances))) + mode**2
    of_queries = second[problem.fixed :].reshape(problem.queries, problem.effects)[observed.groups.queries]
    through = np.einsum("eeq->eq", all_effects_covariance(solution)) + solution.effects**2
    np.testing.assert_allclose(through.T, of_queries, atol=2e-3)
    found = improved(solution, problem.thresholds, start)
    judged = len(observed.groups.queries)
    level = (COUNTS.level * start.level + of_queries[:, 0].sum()) / (COUNTS.level + judged)
    side = (COUNTS.side * start.side + of_queries[:, 1:].sum()) / (COUNTS.side + judged * problem.runs)
    of_runs = slice(problem.thresholds, problem.thresholds + problem.runs)
    squares = second[of_runs] - mode[of_runs] ** 2 + (mode[of_runs] - RETURNED) ** 2
    run = (COUNTS.run * start.run + squares.sum()) / (COUNTS.run + problem.runs)
    assert found == pytest.approx((level, side, run), abs=2e-3)


def drawn_from_the_model(
    seed: int, level: float, side: float, queries: int, documents: int
) -> tuple[Problem, list[float]]:
    """Grades drawn from the model itself, by loops, and the thresholds and coefficients behind them."""
    chance = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), documents)
    rank = chance.integers(-4, 11, size=(2, len(query))).clip(0)
    problem = Problem(rank, query, np.zeros(len(query), dtype=np.int64), np.ones(len(query), dtype=bool), 3, queries)
    truth = [0.4, 1.3, 2.4, *(0.7, 0.1), *(0.9, 0.6), 0.3]  # thresholds, s, b and a
    effects = chance.normal(0, [sqrt(level), sqrt(side), sqrt(side)], (queries, 3))
    parameters = np.concatenate([truth, effects.ravel()])
    noise = chance.normal(size=len(query))
    for document in range(len(query)):
        latent = oracle.relevance(problem, document, parameters) + noise[document]
        problem.level[document] = sum(latent > threshold for threshold in truth[:3])
    return problem, truth


@pytest.mark.parametrize(("level", "side"), [(1.2, 0.2), (0.2, 1.0)])
def test_what_is_learned_from_data_of_the_model_comes_near_the_truth(level: float, side: float) -> None:
    problem, truth = drawn_from_the_model(0, level, side, queries=150, documents=20)
    model = fitted(problem)
    assert model.variances[:2] == pytest.approx((level, side), rel=0.3)
    sides = np.sqrt(np.diag(model.covariance))
    for value, expected, error in zip(model.fixed, truth, sides, strict=True):
        assert abs(value - expected) < 3.5 * error


def test_many_queries_are_enough_of_them_to_learn_from() -> None:
    """Variances are estimated from some of the queries; all of them count for the mode."""
    problem, _ = drawn_from_the_model(1, 1.0, 0.3, queries=1100, documents=4)
    model = fitted(problem)
    # A few documents of each query tell little, and many steps would be needed: it stays on the side of the start.
    assert START.level + 0.2 < model.variances.level < 1.0
    assert START.side < model.variances.side < 0.3
    assert np.abs(model.effects).sum(axis=1).all()


# Drawing


@pytest.mark.parametrize("name", ["four grades", "two grades", "four runs"])
def test_draws_follow_the_dense_normal_distribution(name: str) -> None:
    """How often a document, and two documents together, get a grade or more."""
    problem = PROBLEMS[name]
    model, mode, covariance = solution_of(name)
    lines, count = oracle.design(problem), 40_000
    drawn = model.draw(np.random.default_rng(0), count)
    assert drawn.shape == (count, len(problem.query))
    assert set(np.unique(drawn)) == set(range(problem.thresholds + 1))
    above = [lines - np.eye(problem.size)[step] for step in range(problem.thresholds)]  # relevance less a threshold
    for step, each in enumerate(above):
        expected = norm.cdf(each @ mode / np.sqrt(1 + np.einsum("df,fg,dg->d", each, covariance, each)))
        np.testing.assert_allclose((drawn > step).mean(axis=0), expected, atol=0.02)
    chance = np.random.default_rng(1)
    for _ in range(60):
        one, other = chance.choice(len(problem.query), 2, replace=False)
        both = above[0][[one, other]]
        expected = multivariate_normal.cdf(both @ mode, np.zeros(2), both @ covariance @ both.T + np.eye(2))
        assert (drawn[:, [one, other]] > 0).all(axis=1).mean() == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("count", [1, 8, 9])
def test_draws_come_in_pairs_with_opposite_random_numbers(count: int) -> None:
    """Of two opposite draws around a mean above the threshold, at least one is above it, and never both are below."""
    problem = PROBLEMS["two grades"]
    model = fitted(problem)
    drawn = model.draw(np.random.default_rng(3), count)
    assert drawn.shape == (count, len(problem.query))
    half = (count + 1) // 2
    pairs = drawn[: count - half] + drawn[half:]
    likely = model.latent > model.fixed[0]
    assert (pairs[:, likely] >= 1).all()
    assert (pairs[:, ~likely] <= 1).all()


def test_completions_keep_the_grades_of_judged_documents() -> None:
    runs = {name: {f"q{q}": list(order) for q in range(3)} for name, order in (("a", "uvwx"), ("b", "xwyz"))}
    known = Candidates.of(all_returned_first(runs, 4), {"q1": {"u": 2.0, "w": 0.4, "unseen": 7.0}}, (0, 1, 3))
    levels = np.random.default_rng(0).integers(0, 3, (5, len(known.doc_ids)))
    completions = known.levels[known.completed(levels)]
    assert (completions[:, known.judged] == known.grade[known.judged]).all()
    assert (completions[:, ~known.judged] == np.array([0, 1, 3])[levels[:, ~known.judged]]).all()


@pytest.mark.parametrize("queries", [1, 30, 2_000])
def test_products_are_summed_query_by_query_however_many_there_are(queries: int) -> None:
    chance = np.random.default_rng(queries)
    query = 7 + 2 * np.sort(chance.integers(queries, size=3 * queries))
    left, right = chance.normal(size=(2, len(query))), chance.normal(size=(3, len(query)))
    groups = Groups.of(query)
    assert groups.queries.tolist() == sorted(set(query.tolist()))
    expected = [left[:, query == one] @ right[:, query == one].T for one in groups.queries]
    np.testing.assert_allclose(groups.products(left, right), np.moveaxis(expected, 0, -1), atol=1e-12)


# Grades as linear functions


def random_linear(seed: int, documents: int = 40, queries: int = 6, fixed: int = 5, effects: int = 3) -> LinearGrades:
    chance = np.random.default_rng(seed)
    roots = chance.normal(size=(queries, effects, effects))
    root = chance.normal(size=(fixed, fixed))
    return LinearGrades(
        np.sort(np.append(chance.integers(queries - 1, size=documents - 1), queries - 1)),
        chance.normal(size=(fixed, documents)),
        chance.normal(size=(effects, documents)),
        root @ root.T / fixed,
        np.moveaxis(roots @ roots.transpose(0, 2, 1) / effects + 0.1 * np.eye(effects), 0, -1),
        chance.uniform(0.2, 1.0, documents),
    )


def dense(linear: LinearGrades) -> np.ndarray:
    """The covariance of all grades, one by one."""
    count = len(linear.query)
    found = np.zeros((count, count))
    for one in range(count):
        for other in range(count):
            found[one, other] = linear.fixed[:, one] @ linear.covariance @ linear.fixed[:, other]
            if linear.query[one] == linear.query[other]:
                of_query = linear.effects_covariance[:, :, linear.query[one]]
                found[one, other] += linear.own[:, one] @ of_query @ linear.own[:, other]
        found[one, one] += linear.noise[one]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_covariances_of_linear_grades_match_dense_matrices(seed: int) -> None:
    linear = random_linear(seed)
    expected, weights = dense(linear), np.random.default_rng(seed).normal(size=40)
    np.testing.assert_allclose(linear.variance, np.diag(expected))
    np.testing.assert_allclose(linear.covariance_with(weights), expected @ weights)
    assert linear.variance_of(weights) == pytest.approx(weights @ expected @ weights)
    for place in range(40):
        np.testing.assert_allclose(linear.covariance_with_one(place), expected[place], atol=1e-12)
    places = np.array([2, 5, 17, 31])
    np.testing.assert_allclose(dense(linear.only(places)), expected[np.ix_(places, places)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("judged", [1, 7, 30, 39])
def test_what_is_left_after_judging_is_a_dense_normal_distribution_conditioned(seed: int, judged: int) -> None:
    linear = random_linear(seed)
    order = np.random.default_rng(seed).permutation(40)
    known, rest = order[:judged], order[judged:]
    before = dense(linear)
    with_known = before[np.ix_(rest, known)]
    expected = before[np.ix_(rest, rest)] - with_known @ np.linalg.solve(before[np.ix_(known, known)], with_known.T)
    chance = np.random.default_rng(1)
    for _ in range(5):
        weights = chance.normal(size=40)  # what is judged adds nothing, whatever it weighs
        [left] = linear.variances_given(order, [judged], weights)
        assert left == pytest.approx(weights[rest] @ expected @ weights[rest])


@pytest.mark.parametrize("name", ["four grades", "two grades", "eleven grades", "hardly anything judged"])
@pytest.mark.parametrize("worth", ["linear", "bent"])
def test_linear_grades_follow_the_parameters_as_dense_matrices_say(name: str, worth: str) -> None:
    """The slope of a grade, in the mean over all relevances that it may have; the noise is the rest of its variance."""
    problem = PROBLEMS[name]
    model, mode, covariance = solution_of(name)
    of_levels = np.arange(problem.thresholds + 1.0) ** (1 if worth == "linear" else 2)
    lines, unit = oracle.design(problem), np.eye(problem.size)
    middle = unit[: problem.thresholds].mean(axis=0)
    slope, totals = np.zeros((len(lines), problem.size)), []
    for document, line in enumerate(lines):
        spread = sqrt(1 + (line - middle) @ covariance @ (line - middle))
        at_least = [1.0]
        for step in range(problem.thresholds):
            distance = (line - unit[step]) @ mode / spread
            slope[document] += (
                (of_levels[step + 1] - of_levels[step]) * norm.pdf(distance) / spread * (line - unit[step])
            )
            at_least.append(norm.cdf(distance))
        chance = -np.diff([*at_least, 0.0])
        totals.append(chance @ of_levels**2 - (chance @ of_levels) ** 2)
    shared = slope @ covariance @ slope.T
    noise = np.maximum(np.array(totals) - np.diag(shared), LEAST_NOISE * np.array(totals))
    linear = model.linear(of_levels)
    np.testing.assert_allclose(dense(linear), shared + np.diag(noise), atol=0.01 * of_levels[-1] ** 2 / 9)


# Choosing


def exhaustive(covariance: np.ndarray, wanted: list[Wanted], count: int) -> list[int]:
    """One document after the other: the one that takes most of the variances of all pairs, as shares of them."""
    weights = [np.where(pair.open, pair.weights, 0.0) for pair in wanted]
    can = np.flatnonzero(np.any([pair.open for pair in wanted], axis=0))
    known: list[int] = []

    def shares_left(places: list[int]) -> float:
        total = 0.0
        for line in weights:
            seen, before = covariance[places] @ line, line @ covariance @ line
            total += 1 - seen @ np.linalg.solve(covariance[np.ix_(places, places)], seen) / before
        return total

    for _ in range(count):
        known.append(min((p for p in can if p not in known), key=lambda place: shares_left([*known, place])))
    return known


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("pairs", [1, 3])
def test_the_choice_matches_exhaustive_search(seed: int, pairs: int) -> None:
    linear, chance = random_linear(seed), np.random.default_rng(seed + 100)
    # Unlike scales, which must not matter, and documents that are open for some of the pairs only.
    wanted = [Wanted(10.0**pair * chance.normal(size=40), chance.random(40) < 0.6) for pair in range(pairs)]
    expected = exhaustive(dense(linear), wanted, 8)
    assert choose(linear, wanted, 8).tolist() == expected


def test_the_choice_ends_when_no_document_is_open() -> None:
    linear = random_linear(0)
    open_ = np.zeros(40, dtype=bool)
    assert choose(linear, [Wanted(np.ones(40), open_)], 5).tolist() == []
    open_[[3, 9]] = True
    assert sorted(choose(linear, [Wanted(np.ones(40), open_)], 5).tolist()) == [3, 9]


def test_a_shortlist_gives_the_same_choice_as_all_candidates() -> None:
    chance = np.random.default_rng(0)
    query = np.sort(chance.integers(400, size=6_000))
    judged = chance.random(6_000) < 0.1
    features = Features.of(chance.integers(0, 11, size=(2, 6_000)), query)
    linear = fit(features, 400, chance.integers(0, 4, size=6_000), judged, 3).linear(np.arange(4.0))
    wanted = [Wanted(chance.normal(size=6_000), ~judged)]
    assert choose(linear, wanted, 10).tolist() == choose(linear, wanted, 200)[:10].tolist()


@pytest.mark.parametrize("count", [0, 1, 17, 60])
def test_of_equal_weights_the_first_come_first(count: int) -> None:
    weights = np.random.default_rng(count).integers(-5, 6, size=60) / 10
    assert heaviest(weights, count).tolist() == sorted(range(60), key=lambda place: -abs(weights[place]))[:count]


# How each grade moves a difference


@pytest.mark.parametrize("scale", [(0, 1, 2, 3), tuple(range(40))])
def test_grades_of_completions_are_sorted_query_by_query(scale: tuple[int, ...]) -> None:
    chance = np.random.default_rng(len(scale))
    runs = {name: {f"q{q}": [f"d{d}" for d in chance.permutation(12)[:5]] for q in range(6)} for name in "ab"}
    known = Candidates.of(all_returned_first(runs, 5), {"q1": {"d3": 2.0}, "q2": {"unseen": 1.5}}, scale)
    completions = known.completed(chance.integers(0, len(known.steps), (3, len(known.doc_ids))))
    grades = known.levels[completions]
    assert set(np.unique(grades)) <= {1.5, *scale}
    expected = [-np.sort(-line[known.query == query]) for line in grades for query in range(6)]
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
    assert slopes(known, parsed, (0, 1), np.searchsorted(known.levels, grades[None]))[:6] == pytest.approx(expected)


# The outlook


@pytest.mark.parametrize("name", ["nDCG@10", "P@10"])
@pytest.mark.parametrize("seed", range(3))
def test_the_outlook_matches_loops_over_completions(name: str, seed: int) -> None:
    """The more is judged, the farther completions are taken apart; differences between queries stay as they are."""
    chance = np.random.default_rng(seed)
    drawn = chance.normal(0.03, 0.05, 12) + chance.normal(0, 0.02, (60, 1)) + chance.normal(0, 0.03, (60, 12))
    judged = 0.1 * (1 + seed)
    lines = [line + WIDER * judged * (line.mean() - drawn.mean()) for line in drawn]
    np.testing.assert_allclose(widened(drawn, judged), lines)
    means, within = [line.mean() for line in lines], [line.var(ddof=1) / 12 for line in lines]
    t = [mean / sqrt(error) for mean, error in zip(means, within, strict=True)]
    critical = student.ppf(0.975, 11)
    found = outlook_of(drawn, 0.05, parse_measure(name), judged)
    assert found.difference == pytest.approx(drawn.mean())
    assert found.from_judging == pytest.approx(np.var(means, ddof=1))
    assert found.from_judging == pytest.approx((1 + WIDER * judged) ** 2 * drawn.mean(axis=1).var(ddof=1))
    assert found.from_queries == pytest.approx(np.mean(within))
    assert (found.full_low, found.full_high) == pytest.approx(
        norm.interval(0.95, drawn.mean(), np.std(means, ddof=1)), rel=1e-6
    )
    half = critical * sqrt(np.var(means, ddof=1) + np.mean(within))
    assert (found.low, found.high) == pytest.approx((drawn.mean() - half, drawn.mean() + half))
    of_t = norm(np.mean(t), np.std(t, ddof=1))
    assert found.better == pytest.approx(of_t.sf(critical))
    assert found.worse == pytest.approx(of_t.cdf(-critical))
    assert sum(found.probabilities) == pytest.approx(1)
    assert found.share_from_judging == pytest.approx(found.from_judging / (found.from_judging + found.from_queries))


def test_a_smaller_value_may_be_the_better_one() -> None:
    lines = np.random.default_rng(0).normal(-0.3, 0.1, (40, 12))
    found = outlook_of(lines, 0.05, parse_measure("Unjudged@10"), 0.5)
    assert found.better > 0.9 > found.worse


def test_one_completion_has_no_doubt_about_its_verdict() -> None:
    lines = np.random.default_rng(0).normal(0.2, 0.1, (1, 12))
    found = outlook_of(lines, 0.05, parse_measure("P@10"), 1.0)
    assert (found.better, found.worse, found.neither, found.from_judging) == (1, 0, 0, 0)
    assert found.full_low == found.full_high == pytest.approx(lines.mean())
    flat = outlook_of(np.zeros((1, 12)), 0.05, parse_measure("P@10"), 1.0)
    assert (flat.verdict, flat.share_from_judging) == ("neither", 0)


# How many judgments it takes


def outlook(t: float, deviation: float, judging: float, queries: float) -> Outlook:
    critical = 2.0
    better, worse = oracle.below((t - critical) / deviation), oracle.below((-critical - t) / deviation)
    parts = {"from_judging": judging, "from_queries": queries, "better": better, "worse": worse}
    ends = dict.fromkeys(("difference", "low", "high", "full_low", "full_high"), 0.0)
    return Outlook(**ends, **parts, neither=1 - better - worse, t=t, t_deviation=deviation, critical=critical)


def naive_needed(now: Outlook, left_after: np.ndarray, steps: np.ndarray, confidence: float) -> tuple[float, float]:
    """Ways to a verdict: t moves as far as its variance falls, and each look is the one that a decision would take."""
    chance, lengths = np.random.default_rng(5), []
    for _ in range(1_000):
        t, before = now.t, now.t_deviation**2
        for step, left in zip(steps, left_after, strict=True):
            variance = now.t_deviation**2 * left
            t += chance.normal() * sqrt(max(before - variance, 0.0))
            before = variance
            then = outlook(t, max(sqrt(variance), 1e-9), now.from_judging * left, now.from_queries)
            if then.sure(confidence) or step == steps[-1]:
                lengths.append(step)
                break
    low, high = np.quantile(lengths, (0.1, 0.9))
    return float(low), float(high)


NEEDED = {
    "clear": outlook(4.0, 1.5, 1.0, 1.0),
    "clearly worse": outlook(-3.5, 1.2, 0.5, 1.0),
    "near the critical value": outlook(2.0, 1.0, 1.0, 1.0),
    "nothing between them, and most uncertainty from the queries": outlook(0.2, 0.92, 0.2, 1.0),
    "nothing between them, and most uncertainty from judging": outlook(0.0, 1.0, 3.0, 1.0),
    "nothing known": outlook(0.0, 3.0, 1.0, 0.3),
}


@pytest.mark.parametrize("name", NEEDED)
@pytest.mark.parametrize("power", [0.6, 1.0, 2.0])
def test_the_judgments_needed_are_those_of_ways_drawn_one_by_one(name: str, power: float) -> None:
    now, steps = NEEDED[name], np.arange(0, 101)
    left_after = (1 - steps / 100) ** power
    found = judgments_needed(now, left_after, steps, 0.97)
    assert 0 <= found[0] <= found[1] <= 100
    assert found == pytest.approx(naive_needed(now, left_after, steps, 0.97), abs=10)


def test_a_sure_verdict_needs_no_judgment_and_a_stubborn_one_all() -> None:
    steps = np.arange(0, 11) * 7
    left_after = np.linspace(1, 0, 11)
    assert judgments_needed(outlook(9.0, 0.5, 1.0, 1.0), left_after, steps, 0.97) == (0, 0)
    # While nothing is learned, nothing becomes final before all is judged.
    left_after = np.array([1.0] * 10 + [0.0])
    assert judgments_needed(outlook(2.0, 1.0, 1.0, 1.0), left_after, steps, 0.97) == (70, 70)


def test_neither_becomes_final_only_where_the_queries_are_the_greater_uncertainty() -> None:
    now = outlook(0.0, 0.5, 3.0, 1.0)  # t is surely not significant, but 3/4 of what is uncertain is not judged
    assert now.neither > 0.99
    assert not now.sure(0.97)
    steps = np.arange(0, 101)
    left = 1 - steps / 100
    few, _ = judgments_needed(now, left, steps, 0.97)
    assert few == np.argmax(3 * left / (3 * left + 1) <= MUCH)


# Edges


@pytest.mark.parametrize("level", [0, 3])
def test_grades_that_are_all_the_same_leave_a_sane_model(level: int) -> None:
    problem = random_problem(0, documents=80)
    problem.level[:] = level
    model = fitted(problem)
    drawn = model.draw(np.random.default_rng(0), 200)[:, ~problem.judged]
    assert np.isfinite(dense_mean(model)).all()
    assert abs(drawn.mean() - level) < 1
    assert drawn.std() > 0.1  # it is never sure of the others
    assert (np.diff(model.fixed[:3]) > 0).all()


def test_extreme_grades_do_not_break_the_fit() -> None:
    """Every document of half of the queries has the highest grade, of the others the lowest."""
    problem = random_problem(0, queries=8, documents=200, share=1.0)
    problem.level[:] = np.where(problem.query % 2, 3, 0)
    model = fitted(problem)
    assert np.isfinite(dense_covariance(model)).all()
    np.linalg.cholesky(model.covariance)
    assert model.variances.level > 2
    odd = model.latent[problem.query % 2 == 1]
    assert odd[problem.judged[problem.query % 2 == 1]].min() > model.latent[problem.query % 2 == 0].max()


def test_a_grade_beyond_the_scale_counts_as_the_nearest_of_it() -> None:
    runs = {"a": {"q": list("uvwx"), "r": ["u"]}, "b": {"q": list("xwvu"), "r": ["v"]}}
    returned = all_returned_first(runs, 4)
    known = Candidates.of(returned, {"q": {"u": 17.0, "v": 1.4, "w": 0.2}, "r": {"v": 2.6}}, (0, 1, 2, 3))
    named = {known.names_of(place): level for place, level in enumerate(known.level.tolist())}
    assert known.steps.tolist() == [0, 1, 3]  # nobody gave a 2
    assert (named["q", "u"], named["q", "v"], named["q", "w"], named["r", "v"]) == (2, 1, 0, 2)
    # Its own grade still counts in values.
    assert known.levels[known.completed(np.zeros((1, len(known.doc_ids)), dtype=np.int64))].max() == 17.0


def test_a_scale_with_gaps_has_its_levels_in_the_middle_between_grades() -> None:
    runs = {"a": {"q": list("uvw"), "r": ["u"]}, "b": {"q": list("wvu"), "r": ["u"]}}
    known = Candidates.of(all_returned_first(runs, 3), {"q": {"u": 0.0, "v": 5.1, "w": 10.0}}, (0, 10))
    assert known.level.tolist() == [0, 1, 1, 0]


def test_sixty_three_runs_share_one_model() -> None:
    chance = np.random.default_rng(0)
    problem = random_problem(0, runs=63, queries=10, documents=300)
    problem.rank[:] = np.where(chance.random(problem.rank.shape) < 0.3, problem.rank, 0)
    model = fitted(problem)
    assert np.isfinite(dense_mean(model)).all()
    assert (np.linalg.eigvalsh(model.covariance) > 0).all()
    assert (np.linalg.eigvalsh(np.moveaxis(model.effects_covariance, -1, 0)) > 0).all()
    assert (model.linear(np.arange(4.0)).noise > 0).all()
    drawn = model.draw(np.random.default_rng(0), 20)
    assert 0 <= drawn.min() <= drawn.max() <= 3
