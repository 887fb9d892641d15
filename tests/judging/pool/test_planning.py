"""Plans of samples: how many documents to judge, against samples that are really drawn from known grades."""

import numpy as np
import pytest
from scipy.optimize import minimize

import cranfield
from cranfield import InputError, MeasureError, evaluate_runs, open_store, plan_sample, pool
from cranfield.judging.pool import simulated_samples
from cranfield.judging.pool.choice import PoolPlan, choose_all
from cranfield.judging.pool.order import returned_first
from cranfield.judging.pool.relevance_model import DEVIATION, MEAN, OF_QUERIES, STEP, RelevanceModel
from cranfield.judging.pool.simulated_samples import PooledRuns, SimulatedSamples

QUERIES, DOCUMENTS, RANKS, DEPTH = 15, 250, 50, 5
GRADES = (1.0, 2.0)
# How many documents are relevant to a query: many, few, and to most queries hardly any.
RICHES = {"many": (60, 0.5), "few": (8, 0.8), "skewed": (4, 1.8)}


def collection(seed, kind, runs=3):
    """(qrels, runs): documents have a quality, which each run sees with errors, some of which all runs share."""
    chance = np.random.default_rng(seed)
    quality = chance.normal(size=(QUERIES, DOCUMENTS))
    median, deviation = RICHES[kind]
    relevant = np.exp(chance.normal(np.log(median), deviation, QUERIES)).clip(0.6, 150).round()[:, None]
    place = np.argsort(np.argsort(-quality - chance.normal(0, 0.3, quality.shape)))
    grades = (place < relevant).astype(float) + (place < relevant / 4)
    shared = chance.normal(size=quality.shape)
    its = {}
    for run in range(runs):
        score = chance.uniform(0.8, 2) * quality + 0.7 * shared + 0.7 * chance.normal(size=quality.shape)
        order = np.argsort(-score)[:, :RANKS]
        its[f"s{run}"] = {f"q{q}": [f"d{d}" for d in order[q]] for q in range(QUERIES)}
    pooled = {q: {d for ranking in its.values() for d in ranking[q]} for q in its["s0"]}
    return {q: {d: float(grades[int(q[1:]), int(d[1:])]) for d in found} for q, found in pooled.items()}, its


def estimates(qrels, runs, below, measures, draws=30, depth=DEPTH):
    """By draw, run and measure: the means estimated from samples as `pool` draws them, with one seed after another."""
    returned, _ = returned_first(runs, list(qrels), list(qrels), RANKS)
    means = []
    for seed in range(draws):
        strata = {}
        plan = PoolPlan(depth, below, RANKS, None, 0.0, 100 + seed)
        for query, chosen in choose_all(returned, {}, plan, {}).items():
            for document, stratum in chosen.strata.items():
                grade = qrels[query][document] if document in chosen.waiting else -1
                strata.setdefault(query, {}).setdefault(stratum, {})[document] = grade
        means.append([list(its.values()) for its in evaluate_runs(strata, runs, measures).values()])
    return np.array(means)


def true_means(qrels, runs, measures):
    return np.array([list(its.values()) for its in evaluate_runs(qrels, runs, measures).values()])


def within(errors):
    """How far the errors reach in 95% of the samples, of the run that is known least well."""
    return float(np.quantile(np.abs(errors), 0.95, axis=0).max())


@pytest.mark.parametrize("kind", RICHES)
@pytest.mark.parametrize(("measure", "true"), [("xinfAP", "AP"), ("infNDCG", "nDCG")])
def test_a_sample_is_as_precise_as_planned(kind, measure, true):
    """From runs alone, whether many documents are relevant or few."""
    ratios = []
    for seed in (1, 2):
        qrels, runs = collection(seed, kind)
        plan = plan_sample(list(qrels), runs, 0.06, measure, DEPTH, sample_depth=RANKS, seed=seed)
        assert plan.chosen.half_width <= 0.06
        found = estimates(qrels, runs, plan.chosen.sample_below, [measure])
        errors = (found - true_means(qrels, runs, [true]))[:, :, 0]
        ratios.append(within(errors) / 0.06)
        pairs = [errors[:, one] - errors[:, other] for one, other in ((0, 1), (0, 2), (1, 2))]
        assert within(np.array(pairs).T) < 1.3 * plan.chosen.difference
    # Where few are relevant, and nearly all of them returned early, a plan from runs alone can be too optimistic.
    assert np.mean(ratios) < (1 if kind == "many" else 1.25)
    assert min(ratios) > 0.3  # nor does it ask for far more than needed


def test_simulated_samples_err_as_drawn_ones_do():
    """With the true grades as the only world, errors have the mean and the deviation of real samples."""
    qrels, runs = collection(3, "few")
    returned, _ = returned_first(runs, list(qrels), list(qrels), RANKS)
    plan, measures = PoolPlan(DEPTH, 8, RANKS, None, 0.0, 1), ["xinfAP", "infNDCG", "statAP"]
    real = estimates(qrels, runs, 8, measures, draws=60) - true_means(qrels, runs, ["AP", "nDCG"])[:, [0, 1, 0]]
    everything = PooledRuns(returned, tuple(runs), {}, {}, GRADES)
    for at, name in enumerate(measures):
        first = SimulatedSamples(everything, plan, cranfield.parse_measure(name))
        truth = np.array([qrels[query][document] for query, document in first.documents])
        samples = SimulatedSamples(everything, plan, cranfield.parse_measure(name), [truth])
        [errors] = samples.errors(samples.sample(8), samples=150).mean(axis=3)
        deviation = errors.std(axis=0)
        assert real[:, :, at].std(axis=0) == pytest.approx(deviation, rel=0.35)
        assert real[:, :, at].mean(axis=0) == pytest.approx(errors.mean(axis=0), abs=4 * deviation.max() / 60**0.5)


def test_nothing_is_uncertain_where_everything_is_judged():
    qrels, runs = collection(1, "many")
    plan = plan_sample(list(qrels), runs, 1e-6, "xinfAP", DEPTH, sample_depth=RANKS)
    assert plan.chosen == plan.samples[-1]
    assert plan.chosen[1:] == (plan.pooled, 0.0, 0.0, 0.0)
    assert "no sample is enough" in plan.sentence


def test_larger_samples_are_more_precise_and_the_smallest_that_is_enough_is_chosen():
    qrels, runs = collection(1, "few")
    plan = plan_sample(list(qrels), runs, 0.08, "AP", DEPTH, sample_depth=RANKS)
    assert plan.measure == "xinfAP"
    documents, widths = ([row[at] for row in plan.samples] for at in (1, 2))
    assert documents == sorted(set(documents))
    assert widths == sorted(widths, reverse=True)
    enough = [row for row in plan.samples if row.half_width <= 0.08]
    assert plan.chosen == enough[0]
    below = plan.chosen.sample_below - 1
    pooled = PooledRuns(
        *returned_first(runs, list(qrels), list(qrels), RANKS)[:1], tuple(runs), {}, {}, (1.0, 2.0, 3.0)
    )
    samples = SimulatedSamples(pooled, PoolPlan(DEPTH, 1, RANKS, None, 0.0, 0), cranfield.parse_measure("xinfAP"))
    assert samples.half_widths(samples.sample(below)).cautious > 0.08
    assert all(row.likely <= row.half_width for row in plan.samples)


def test_pool_lets_as_many_documents_wait_as_planned(tmp_path):
    qrels, runs = collection(2, "few")
    plan = plan_sample(list(qrels), runs, 0.1, depth=DEPTH, sample_depth=RANKS, seed=3)
    drawn = {"sample_below": plan.chosen.sample_below, "sample_depth": plan.sample_depth, "seed": 3}
    found = pool(tmp_path / "judgments.db", {query: query for query in qrels}, runs, DEPTH, **drawn)
    assert (found.waiting, found.documents) == (plan.chosen.documents, plan.pooled)


def test_judgments_make_a_plan_more_exact_and_are_not_asked_for_again(tmp_path):
    """A first pool is judged; the same plan then knows how much is relevant."""
    qrels, runs = collection(4, "few")
    how = {"measure": "xinfAP", "depth": DEPTH, "sample_depth": RANKS}
    before = plan_sample(list(qrels), runs, 0.05, **how)
    with open_store(tmp_path / "judgments.db", create=True) as store:
        first = pool(store, {query: query for query in qrels}, runs, DEPTH)
        for query, document in [(q, d) for q, its in qrels.items() for d in its]:
            if any(document in run[query][:DEPTH] for run in runs.values()):
                store.judge(query, document, qrels[query][document], assessor="ann")
        after = plan_sample(list(qrels), runs, 0.05, judgments=store, **how)
        assert after.judged == first.documents
        assert after.samples[-1].documents == after.pooled - after.judged
        spread = [np.mean([row.half_width / row.likely for row in plan.samples[:-1]]) for plan in (before, after)]
        assert spread[1] < spread[0]
        flat = plan_sample(list(qrels), runs, 0.05, judgments=store.view(), **how)
        assert flat.judged == after.judged
        # Once the planned sample is judged, too, the same question needs nothing more.
        below = after.chosen.sample_below
        pool(store, {query: query for query in qrels}, runs, DEPTH, sample_below=below, sample_depth=RANKS)
        while tasks := store.next_several("ann", 500):
            for task in tasks:
                store.judge(task.query_id, task.doc_id, qrels[task.query_id][task.doc_id], assessor="ann")
        done = plan_sample(list(qrels), runs, 0.07, judgments=store, **how)
        assert done.chosen.documents == 0
        assert done.sentence.startswith("To know xinfAP within 0.07, nothing more must be judged")


@pytest.mark.parametrize("known", [0, 40, 400])
@pytest.mark.parametrize("grade", [0, 1])
def test_the_model_is_fitted_as_a_dense_optimiser_does(known, grade):
    chance = np.random.default_rng(known)
    query, x = np.repeat(np.arange(20), 30), chance.random(600)
    grades = np.full(600, np.nan)
    grades[chance.choice(600, known, replace=False)] = chance.integers(0, 3, known)
    model = RelevanceModel(query, x, 20, GRADES, grades)
    seen = ~np.isnan(grades)
    reaches = grades[seen] >= GRADES[grade]
    mean = MEAN - [STEP * grade, 0]

    def loss(unknown):
        logit = unknown[0] + unknown[2:][query[seen]] + unknown[1] * x[seen]
        prior = (((unknown[:2] - mean) / DEVIATION) ** 2).sum() + ((unknown[2:] / OF_QUERIES) ** 2).sum()
        return (np.logaddexp(0, logit) - reaches * logit).sum() + prior / 2

    best = minimize(loss, np.zeros(22), tol=1e-10)
    fit = model._fitted(grade)
    assert [*fit.both, *fit.effects] == pytest.approx(best.x, abs=1e-3)
    worlds = np.array(list(model.worlds(1000, np.random.default_rng(1))))
    assert (worlds[:, seen] == grades[seen]).all()
    # Documents that are not judged have a grade as often as the normal distributions around the fit say.
    a, b, level = np.random.default_rng(2).multivariate_normal(best.x[:3], covariance(loss, best.x)[:3, :3], 20_000).T
    unseen = np.flatnonzero(~seen & (query == 0))
    expected = (1 / (1 + np.exp(-(a + level + b * x[unseen][:, None])))).mean(axis=1)
    assert (worlds[:, unseen] >= GRADES[grade]).mean(axis=0) == pytest.approx(expected, abs=0.06)


def covariance(loss, at, step=1e-3):
    """The inverse of the second derivatives, from differences."""
    moves = np.eye(len(at)) * step
    second = [
        [
            loss(at + one + other) - loss(at + one - other) - loss(at - one + other) + loss(at - one - other)
            for other in moves
        ]
        for one in moves
    ]
    return np.linalg.inv(np.array(second) / (4 * step**2))


def test_many_runs_and_many_queries_are_planned_by_some_of_them():
    qrels, runs = collection(5, "many", runs=9)
    nine = plan_sample(list(qrels), runs, 0.08, depth=DEPTH, sample_depth=RANKS)
    assert nine.runs == 9
    copies = [f"{query} {copy}" for query in qrels for copy in range(14)]
    its = {name: {query: ranking[query.split()[0]] for query in copies} for name, ranking in list(runs.items())[:2]}
    many = plan_sample(copies, its, 0.02, depth=DEPTH, sample_depth=RANKS)
    assert many.queries == 14 * QUERIES
    assert (
        many.samples[-1].documents
        == many.pooled
        == sum(len({*its["s0"][query], *its["s1"][query]}) for query in copies)
    )


def test_some_queries_stand_for_all_and_unanswered_ones_count(monkeypatch):
    qrels, runs = collection(6, "many")
    copies = [f"{query} {copy}" for query in qrels for copy in range(6)]
    its = {name: {query: ranking[query.split()[0]] for query in copies} for name, ranking in runs.items()}

    def width(queries):
        returned, _ = returned_first(its, queries, queries, RANKS)
        pool = PooledRuns(returned, tuple(its), {}, {}, GRADES)
        samples = SimulatedSamples(pool, PoolPlan(DEPTH, 10, RANKS, None, 0.0, 1), cranfield.parse_measure("infNDCG"))
        return samples.half_widths(samples.sample(10)).likely

    all_of_them = width(copies)
    assert width([*copies, *map(str, range(len(copies)))]) == pytest.approx(all_of_them / 2)  # to them, no run answers
    monkeypatch.setattr(simulated_samples, "MOST_QUERIES", 30)
    assert width(copies) == pytest.approx(all_of_them, rel=0.25)


def test_runs_may_miss_queries():
    qrels, runs = collection(1, "few")
    runs["empty"] = {"q1": runs["s0"]["q1"]}
    plan = plan_sample([*qrels, "of no run"], runs, 0.1, depth=DEPTH, sample_depth=RANKS)
    assert (plan.queries, plan.runs) == (QUERIES + 1, 4)


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"within": 0}, "within=0 is not a number above 0"),
        ({"within": float("nan")}, "is not a number above 0"),
        ({"within": True}, "is not a number above 0"),
        ({"depth": 100}, "a sample from below rank 100 down to rank 100 is empty"),
        ({"depth": 50}, "no run returns a document between rank 51 and rank 100, so there is no sample"),
        ({"query_ids": ["q99"]}, "query 'q99' is not among the queries"),
    ],
)
def test_what_cannot_be_planned_is_an_error(options, fact):
    qrels, runs = collection(1, "few")
    with pytest.raises(InputError, match=fact):
        plan_sample(list(qrels), runs, **{"within": 0.1, **options})


@pytest.mark.parametrize("measure", ["nDCG@10", "P@5", "infAP", "AP(cutoff=10)"])
def test_measures_without_strata_are_refused(measure):
    with pytest.raises(MeasureError, match="is not estimated from a sample") as error:
        plan_sample(["q"], {"x": {"q": list("abcdefghijklmno")}}, 0.1, measure)
    assert "AP means xinfAP" in error.value.hint


def test_parameters_of_a_measure_are_those_of_its_estimate():
    runs = {"x": {"q": [f"d{n}" for n in range(40)]}}
    assert plan_sample(["q"], runs, 0.1, "AP(rel=2)").measure == "xinfAP(rel=2)"


def test_a_store_whose_queries_were_sampled_cannot_sample_documents(tmp_path):
    qrels, runs = collection(1, "few")
    with open_store(tmp_path / "judgments.db", create=True) as store:
        pool(store, {query: query for query in qrels}, runs, DEPTH, sample=5)
        with pytest.raises(InputError, match="sample of queries that are judged completely"):
            plan_sample(list(qrels), runs, 0.1, depth=DEPTH, sample_depth=RANKS, judgments=store)


def test_the_same_seed_gives_the_same_plan():
    qrels, runs = collection(1, "few")
    one, two, other = (plan_sample(list(qrels), runs, 0.1, depth=DEPTH, sample_depth=RANKS, seed=s) for s in (1, 1, 2))
    assert one == two
    assert one.samples[0].half_width != other.samples[0].half_width
    assert one.to_dict()["chosen"]["documents"] == one.chosen.documents
    assert repr(one).startswith("<SamplePlan xinfAP within 0.1: ")
