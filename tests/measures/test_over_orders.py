"""Policy(ties="expected"): a value is its mean over all orders of ties; the oracle tries every order."""

from itertools import chain, permutations, product

import numpy as np
import pytest

import cranfield
from cranfield import JudgedRanks, Policy, PolicyError, catalogue, evaluate, parse_measure
from cranfield.measures import over_orders
from cranfield.measures.over_orders import averages_exactly
from cranfield.ranks.scan import memory, pure, text
from cranfield.ranks.tables import averaged, ranks
from tests.measures.test_catalogue import VARIANTS

EXPECTED = Policy(ties="expected")
OF_RANKS = [measure for measure in VARIANTS if measure.definition.table == "ranks"]
POLICIES = [{}, {"depth": 4}, {"complete": True}, {"negative": "nonrelevant"}]


def collection(seed, documents=6):
    """Judgments and a run of one query in which most scores are equal, and some documents are not judged."""
    chance = np.random.default_rng(seed)
    names = "abcdefgh"[:documents]
    judged = {name: int(chance.integers(-1, 4)) for name in names if chance.random() < 0.7} | {"missed": 1}
    return judged, dict(zip(names, chance.choice([1.0, 2.0, 3.0], documents).tolist(), strict=True))


def every_order(run):
    """The rankings in all orders of ties, one by one."""
    ties = [[name for name in run if run[name] == score] for score in sorted(set(run.values()), reverse=True)]
    return [list(chain(*orders)) for orders in product(*map(permutations, ties))]


@pytest.mark.parametrize("rest", POLICIES)
@pytest.mark.parametrize("seed", range(5))
def test_a_mean_over_orders_is_exact(seed, rest):
    judged, run = collection(seed)
    depth = "depth" in rest  # beyond which judged_only depends on the order
    measures = [
        measure
        for measure in OF_RANKS
        if averages_exactly(measure)
        and not ((depth or rest.get("complete")) and dict(measure.parameters).get("judged_only"))
    ]
    assert len(measures) > 180
    result = evaluate({"q": judged}, {"q": run}, measures, policy=Policy(ties="expected", **rest), check_ids=False)
    tried = dict(enumerate(every_order(run)))
    values = evaluate(dict.fromkeys(tried, judged), tried, measures, policy=Policy(**rest), check_ids=False)
    for measure in measures:
        assert result.column(measure)[0] == pytest.approx(values.column(measure).mean(), abs=1e-12), measure


@pytest.mark.parametrize("seed", range(2))
def test_other_means_are_of_a_sample(seed, monkeypatch):
    monkeypatch.setattr(over_orders, "ORDERS", 300)
    judged, run = collection(seed)
    measures = [
        parse_measure(name) for name in ("Bpref", "infAP", "PairAccuracy", "binG", "IAP", "AP(denominator=found)@3")
    ]
    result = evaluate({"q": judged}, {"q": run}, measures, policy=EXPECTED)
    tried = dict(enumerate(every_order(run)))
    values = evaluate(dict.fromkeys(tried, judged), tried, measures, check_ids=False)
    for measure in measures:
        every = values.column(measure)
        assert result.column(measure)[0] == pytest.approx(every.mean(), abs=5 * every.std() / 300**0.5 + 1e-12)


def test_every_position_is_equally_likely_in_a_sample():
    table = evaluate({"q": {"a": 1}}, {"q": dict.fromkeys("abcdefgh", 1.0)}, "RR", policy=EXPECTED).ranks
    places = [over_orders.drawn(table, np.array([True]), order).rank[0] for order in range(4000)]
    assert np.abs(np.bincount(places, minlength=9)[1:] - 500).max() < 100


def test_a_sample_is_stated_and_repeats():
    qrels, run = {"q": {"a": 1, "b": 0, "c": 2}}, {"q": dict.fromkeys("abcdx", 1.0)}
    one, two = (evaluate(qrels, run, "nDCG Bpref infAP", policy=EXPECTED) for _ in range(2))
    assert dict(one) == dict(two)
    assert one.warnings == ("Bpref and infAP are means over 128 random orders of ties (seed 0), not over all",)
    assert evaluate(qrels, run, "nDCG", policy=EXPECTED).warnings == ()
    assert evaluate(qrels, {"q": ["a", "b", "c"]}, "Bpref", policy=EXPECTED).warnings == ()
    assert one.signature.startswith("ties:expected|")


def test_values_of_a_query_do_not_depend_on_others():
    """Not even on the last bit: an engine measures queries in batches of its own."""
    many = {str(seed): collection(seed, 8) for seed in range(30)}
    qrels, runs = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    measures = "nDCG@5 AP RR Q ERR RBP Bpref"
    together = evaluate(qrels, runs, measures, policy=EXPECTED)
    for at, query in enumerate(qrels):
        alone = evaluate({query: qrels[query]}, {query: runs[query]}, measures, policy=EXPECTED)
        assert [alone.column(name)[0] for name in measures.split()] == [
            together.column(name)[at] for name in measures.split()
        ]


def test_the_twin_in_python_gives_the_same(monkeypatch):
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, runs = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    natively = evaluate(qrels, runs, "nDCG@5 AP RR Q ERR infAP", policy=EXPECTED)
    for module in (averaged, ranks):
        monkeypatch.setattr(module, "native", None)
    assert dict(evaluate(qrels, runs, "nDCG@5 AP RR Q ERR infAP", policy=EXPECTED)) == dict(natively)


def test_every_source_gives_the_same(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, runs = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    rows = [(query, document, score) for query, ranking in runs.items() for document, score in ranking.items()]
    file = tmp_path / "system.run"
    file.write_text("".join(f"{query} Q0 {document} 1 {score} x\n" for query, document, score in rows))
    measures = "nDCG@5 AP RR P@3 Q infAP"
    frame = polars.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    wanted = dict(evaluate(qrels, runs, measures, policy=EXPECTED))
    assert dict(evaluate(qrels, frame, measures, policy=EXPECTED)) == wanted
    assert dict(evaluate(qrels, file, measures, policy=EXPECTED)) == wanted
    for module in (text, memory, pure):
        monkeypatch.setattr(module, "native", None, raising=False)
    for source in (file, runs, frame):
        assert dict(evaluate(qrels, source, measures, policy=EXPECTED)) == wanted


def test_large_tables_are_calculated_in_parts(monkeypatch):
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, runs = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    at_once = evaluate(qrels, runs, "nDCG@5 AP RR ERR", policy=EXPECTED)
    monkeypatch.setattr(over_orders, "AT_ONCE", 20)
    assert dict(evaluate(qrels, runs, "nDCG@5 AP RR ERR", policy=EXPECTED)) == dict(at_once)


@pytest.mark.parametrize("k", [None, 1, 3, 10])
def test_ndcg_is_that_of_scikit_learn(k):
    """It takes the ideal from the documents given, so only those are judged here."""
    metrics = pytest.importorskip("sklearn.metrics")
    chance = np.random.default_rng(7)
    for _ in range(20):
        grades, scores = chance.integers(0, 4, 12), chance.integers(0, 3, 12).astype(float)
        names = [f"d{number}" for number in range(12)]
        qrels, run = ({"q": dict(zip(names, column.tolist(), strict=True))} for column in (grades, scores))
        name = "nDCG" if k is None else f"nDCG@{k}"
        ours = evaluate(qrels, run, name, policy=EXPECTED)[name]
        assert ours == pytest.approx(metrics.ndcg_score([grades], [scores], k=k), abs=1e-12)


def test_the_formula_of_a_large_tie():
    """McSherry and Najork: of n tied documents, one of them relevant, RR is the harmonic number over n."""
    n = 5000
    run = {f"d{number}": 1.0 for number in range(n)}
    result = evaluate({"q": {"d7": 1}}, {"q": run}, "RR AP P@10 R@10 Success@10 nDCG", policy=EXPECTED)
    harmonic = sum(1 / rank for rank in range(1, n + 1))
    assert result["RR"] == pytest.approx(harmonic / n) == result["AP"]
    assert result["R@10"] == pytest.approx(10 / n) == result["Success@10"]
    assert result["P@10"] == pytest.approx(1 / n)


def test_a_mean_lies_between_the_worst_and_the_best_order():
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, runs = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    worst, mean, best = (
        evaluate(qrels, runs, "nDCG AP RR P@3 RBP", policy=Policy(ties=ties)) for ties in ("worst", "expected", "best")
    )
    for name in ("nDCG", "AP", "RR", "P@3", "RBP"):
        assert worst[name] < mean[name] < best[name]
        assert mean.tie_range(name) == (worst[name], best[name])
    assert mean.tie_warning == ""


def test_runs_are_compared_by_their_means_over_orders(tmp_path):
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, one = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    two = {query: {document: -score for document, score in ranking.items()} for query, ranking in one.items()}
    comparison = cranfield.compare(qrels, {"one": one, "two": two}, "AP", policy=EXPECTED)
    means = [evaluate(qrels, run, "AP", policy=EXPECTED)["AP"] for run in (one, two)]
    difference = comparison.differences[0]
    assert difference.difference == pytest.approx(means[1] - means[0])
    assert difference.reach is None  # bounds are of one order
    saved = tmp_path / "one.json"
    evaluate(qrels, one, "AP", policy=EXPECTED, name="one").save(saved)
    assert cranfield.Evaluation.load(saved).policy == EXPECTED


def test_thinned_judgments_are_of_open_ties_too():
    many = {str(seed): collection(seed, 8) for seed in range(20)}
    qrels, run = ({query: pair[at] for query, pair in many.items()} for at in (0, 1))
    table = evaluate(qrels, run, "AP", policy=EXPECTED).ranks
    chance = np.random.default_rng(0)
    gone = chance.random(len(table.judged_row)) < 0.5
    left: dict[str, dict[str, int]] = {query: {} for query in qrels}
    pairs = [(query, document) for query in sorted(qrels, key=str.encode) for document in sorted(qrels[query])]
    assert len(pairs) == len(gone)
    [thinned] = ranks.without([table], gone)
    judgments = cranfield.Judgments.read(qrels)
    for row, document in enumerate(judgments.document_ids):
        if not gone[row]:
            query = judgments.query_ids[judgments.query[row]]
            left[query][document] = qrels[query][document]
    again = evaluate(left, run, "AP nDCG RR", policy=EXPECTED, check_ids=False)
    for name in ("AP", "nDCG", "RR"):
        by_query = dict(zip(again.query_ids, again.column(name).tolist(), strict=True))
        values = dict(zip(thinned.query_ids, parse_measure(name)(thinned).tolist(), strict=True))
        for query, value in by_query.items():
            assert value == pytest.approx(values[query], abs=1e-12)


@pytest.mark.parametrize(
    ("call", "fact"),
    [
        (
            lambda: evaluate({"1": {"a": {"x": 1}}}, {"1": ["a"]}, "alpha_nDCG", policy=EXPECTED),
            "measured on subtopics",
        ),
        (lambda: cranfield.explain({"1": {"a": 1}}, {"1": ["a"]}, "1", policy=EXPECTED), "rank by rank"),
        (lambda: evaluate({"1": {"a": 1}}, {"1": ["a"]}, "RR", policy=EXPECTED).bounds("RR"), "no bounds"),
        (lambda: cranfield.fuse([{"1": ["a"]}, {"1": ["b"]}], policy=EXPECTED), "order, which is needed here"),
        (
            lambda: evaluate({"1": {"a": 1}}, {"1": ["a"]}, "TBG", policy=EXPECTED, lengths={"a": 3}),
            "cannot be combined with lengths",
        ),
    ],
)
def test_what_has_one_order_is_refused(call, fact):
    with pytest.raises(PolicyError, match=fact):
        call()


def test_a_measure_of_your_own_is_sampled():
    def deepest(judged: JudgedRanks):
        return judged.sum(judged.rank * (judged.rank == judged.last(judged.rank)[judged.query]))

    over = {name for name, definition in catalogue().items() if definition.averages_ties}
    assert {"P", "R", "RR", "AP", "DCG", "nDCG", "RBP", "ERR", "Q", "Success"} <= over
    measure = cranfield.measure("Deepest", range=(0.0, float("inf")))
    measure(deepest)
    run = {"q": {"a": 1.0, "b": 1.0}}
    result = evaluate({"q": {"a": 1}}, run, "Deepest", policy=EXPECTED)
    assert result["Deepest"] == pytest.approx(1.5, abs=0.2)
    assert "Deepest is a mean over 128 random orders" in result.warnings[0]
