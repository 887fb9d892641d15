"""Recall of approximate search: by the rule, one document at a time, whatever distances come from."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield import InputError, compare, neighbour_recall
from cranfield.changes.neighbours import share_interval
from cranfield.changes.vectors import DISTANCES

K = 10


def distance(metric: str, one: Any, other: Any) -> float:
    """Between two vectors, in Python's own numbers."""
    product = math.fsum(float(a) * float(b) for a, b in zip(one, other, strict=True))
    if metric == "dot":
        return -product
    if metric == "cosine":
        return 1 - product / math.sqrt(math.fsum(float(a) ** 2 for a in one) * math.fsum(float(b) ** 2 for b in other))
    return math.sqrt(math.fsum((float(a) - float(b)) ** 2 for a, b in zip(one, other, strict=True)))


def naive(run: dict[str, list[str]], vectors: Any, metric: str, epsilon: float) -> dict[str, float]:
    """The rule, as it is written."""
    queries, documents = vectors
    found = {}
    for query, vector in queries.items():
        far = {document: distance(metric, vector, its) for document, its in documents.items()}
        last = sorted(far.values())[K - 1]
        once = list(dict.fromkeys(run.get(query, [])))[:K]
        near = [document for document in once if far[document] <= last + epsilon * abs(last)]
        found[query] = len(near) / K
    return found


def whole_numbers(seed: int, dimensions: int = 6) -> tuple[dict[str, Any], dict[str, Any]]:
    """Vectors of small whole numbers, so that many documents are equally near."""
    chance = np.random.default_rng(seed)
    return (
        {f"q{at}": chance.integers(1, 4, dimensions) for at in range(25)},
        {f"d{at}": chance.integers(1, 4, dimensions) for at in range(300)},
    )


def careless(vectors: Any, metric: str, seed: int) -> dict[str, list[str]]:
    """An index that overlooks some documents, and returns one twice for the first query; the last is not answered."""
    chance = np.random.default_rng(seed)
    queries, documents = vectors
    run = {}
    for query, vector in queries.items():
        seen = [document for document in documents if chance.random() < 0.8]
        run[query] = sorted(seen, key=lambda d, v=vector: (distance(metric, v, documents[d]), chance.random()))[:K]  # type: ignore[misc]
    run["q0"][1] = run["q0"][0]
    del run["q24"]
    return run


@pytest.mark.parametrize("metric", DISTANCES)
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.05])
def test_the_rule_is_that_of_a_naive_loop(metric: str, epsilon: float) -> None:
    vectors = whole_numbers(1)
    run = careless(vectors, metric, 2)
    found = neighbour_recall(run, k=K, vectors=vectors, metric=metric, epsilon=epsilon)
    wanted = naive(run, vectors, metric, max(epsilon, 1e-12))
    assert found.by_query == pytest.approx(wanted)
    assert found.recall == pytest.approx(sum(wanted.values()) / len(wanted))
    assert found.perfect == sum(value == 1 for value in wanted.values())
    assert [query.recall for query in found.worst] == sorted(value for value in wanted.values() if value < 1)[:10]
    assert any("twice" in warning for warning in found.warnings)
    assert any("lacks 1 query, where nothing is found" in warning for warning in found.warnings)


def scored(vectors: Any, metric: str, depth: int) -> dict[str, dict[str, float]]:
    """The run of an exact index, with float32 scores."""
    queries, documents = vectors
    return {
        query: dict(
            sorted(
                ((document, float(np.float32(-distance(metric, vector, its)))) for document, its in documents.items()),
                key=lambda pair: -pair[1],
            )[:depth]
        )
        for query, vector in queries.items()
    }


@pytest.mark.parametrize("metric", DISTANCES)
def test_scores_of_both_runs_say_the_same_as_vectors(metric: str) -> None:
    vectors = whole_numbers(3)
    exact, everything = scored(vectors, metric, K), scored(vectors, metric, 300)
    ids = careless(vectors, metric, 4)
    ids["q0"] = list(dict.fromkeys(ids["q0"]))
    run = {query: {document: everything[query][document] for document in its} for query, its in ids.items()}
    found = neighbour_recall(run, exact, k=K)
    assert found.by == "scores of both runs"
    assert found.by_query == pytest.approx(naive(ids, vectors, metric, 1e-6))
    assert found.by_ids < found.recall - 0.05  # ties, which ids count as lost
    assert neighbour_recall(run, exact, k=K, vectors=vectors, metric=metric).by_query == found.by_query


def test_negative_inner_products_are_not_made_nearer_by_a_share() -> None:
    """With d = -10 for the k-th neighbour, (1 + ε) · d = -11 would count only what is nearer than the neighbours."""
    exact = {"1": {"a": 20.0, "b": 10.0}, "2": {"a": 3.0, "b": 2.0}}
    run = {"1": {"a": 20.0, "c": 9.5}, "2": {"a": 3.0, "b": 2.0}}
    assert neighbour_recall(run, exact, k=2, epsilon=0.1).by_query == {"1": 1.0, "2": 1.0}
    assert neighbour_recall(run, exact, k=2, epsilon=0.01).by_query == {"1": 0.5, "2": 1.0}


def test_scores_that_are_only_ranks_say_nothing_of_distances() -> None:
    exact, run = {"1": ["a", "b", "c"], "2": ["d", "e", "f"]}, {"1": ["a", "b", "x"], "2": ["f", "e", "d"]}
    found = neighbour_recall(run, exact, k=3)
    assert found.by == "ids"
    assert found.by_query == pytest.approx({"1": 2 / 3, "2": 1.0})
    assert "they are not distances" in found.warnings[0]
    assert neighbour_recall({"1": ["a", "x", "b"]}, {"1": ["a", "b", "c"]}, k=3).by == "ids"


def test_scores_of_a_quantised_index_are_not_taken_for_distances() -> None:
    exact = {"1": {"a": -1.0, "b": -2.0, "c": -2.0, "d": -3.0}, "2": {"a": -5.0, "b": -6.0, "c": -6.0}}
    run = {"1": {"a": -1.2, "c": -2.4}, "2": {"a": -5.1, "x": -5.5}}
    found = neighbour_recall(run, exact, k=2)
    assert found.by == "scores of the exact run"
    assert found.by_query == {"1": 1.0, "2": 0.5}
    assert "1 query ends at the distance of the k-th neighbour" in found.warnings[0]


def test_fewer_documents_than_neighbours_are_all_that_is_wanted() -> None:
    found = neighbour_recall({"1": {"a": -1.0}}, {"1": {"a": -1.0, "b": -1.5}}, k=5)
    assert found.by_query == {"1": 0.5}
    assert found.worst[0].missing == ("b",)


def test_what_lost_neighbours_cost_is_what_compare_says() -> None:
    vectors = whole_numbers(5)
    exact, run = scored(vectors, "l2", K), careless(vectors, "l2", 6)
    run["q0"] = list(dict.fromkeys(run["q0"]))
    chance = np.random.default_rng(7)
    qrels = {
        query: {document: int(chance.integers(0, 3)) for document in list(its)[:6]} for query, its in exact.items()
    }
    found = neighbour_recall(run, exact, k=K, vectors=vectors, qrels=qrels)
    [difference] = compare(qrels, {"the run": exact, "the run (2)": run}, "nDCG@10", baseline="the run", bounds=False)
    assert found.cost is not None
    assert found.cost.sentence == difference.sentence
    assert (
        found.meaning == f"Recall of neighbours is a means, not the end. What the lost ones cost: {difference.sentence}"
    )
    without = "without several judged queries, nothing says what the lost ones cost"
    assert without in neighbour_recall(run, exact, k=K).meaning
    assert without in neighbour_recall(run, exact, k=K, qrels={"q1": qrels["q1"]}).meaning
    calculated = neighbour_recall(run, k=K, vectors=vectors, qrels=qrels)
    assert calculated.values == found.values


def test_tensors_give_what_arrays_give(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    queries, documents = whole_numbers(8)
    run = careless((queries, documents), "cosine", 9)
    arrays = [(list(its), np.stack(list(its.values())).astype(np.float32)) for its in (queries, documents)]
    tensors = [(ids, torch.from_numpy(array)) for ids, array in arrays]
    file = tmp_path / "vectors.npz"
    (query_ids, query_array), (document_ids, document_array) = arrays
    np.savez(file, query_ids=query_ids, queries=query_array, document_ids=document_ids, documents=document_array)
    wanted = neighbour_recall(run, vectors=(queries, documents), metric="cosine")
    for vectors in (arrays, tensors, file, str(file)):
        assert neighbour_recall(run, vectors=vectors, metric="cosine").values == wanted.values


def test_blocks_find_the_same_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = whole_numbers(10)
    run = careless(vectors, "l2", 11)
    wanted = neighbour_recall(run, vectors=vectors).values
    monkeypatch.setattr("cranfield.changes.vectors._DOCUMENTS", 7)
    monkeypatch.setattr("cranfield.changes.vectors._QUERIES", 4)
    assert neighbour_recall(run, vectors=vectors).values == wanted


@pytest.mark.parametrize("kind", ["l2", "dot"])
def test_an_index_of_faiss(kind: str) -> None:
    faiss = pytest.importorskip("faiss")
    chance = np.random.default_rng(0)
    documents = chance.integers(0, 4, (1500, 7)).astype(np.float32)
    queries = chance.integers(0, 4, (30, 7)).astype(np.float32)
    metric = faiss.METRIC_L2 if kind == "l2" else faiss.METRIC_INNER_PRODUCT
    exact, graph = faiss.IndexFlat(7, metric), faiss.IndexHNSWFlat(7, 16, metric)
    graph.hnsw.efSearch = 40
    sign = -1.0 if kind == "l2" else 1.0
    runs = []
    for index in (exact, graph):
        index.add(documents)
        found = index.search(queries, K)
        rows = zip(*(part.tolist() for part in found), strict=True)
        runs.append(
            {
                f"q{query}": {f"d{place}": sign * score for score, place in zip(*row, strict=True) if place >= 0}
                for query, row in enumerate(rows)
            }
        )
    vectors = ([f"q{at}" for at in range(30)], queries), ([f"d{at}" for at in range(1500)], documents)
    by_vectors = neighbour_recall(runs[1], runs[0], vectors=vectors, metric=kind)
    by_scores = neighbour_recall(runs[1], runs[0])
    assert by_scores.by == "scores of both runs"
    assert by_scores.values == by_vectors.values
    assert by_vectors.recall > by_vectors.by_ids + 0.1  # ids would call equally near documents lost
    everything = {query: list(its) for query, its in runs[1].items()}
    as_dicts = tuple(dict(zip(ids, array, strict=True)) for ids, array in vectors)
    assert by_vectors.by_query == pytest.approx(naive(everything, as_dicts, kind, 1e-6))


@pytest.mark.parametrize(
    ("population", "mean"),
    [
        (lambda chance, n: (chance.random(n) > 0.02) * 1.0, 0.98),  # a few queries find nothing
        (lambda chance, n: 1 - 0.1 * (chance.random(n) < 0.1), 0.99),  # a few lose one of ten
        (lambda chance, n: chance.binomial(10, chance.beta(50, 0.5, n)) / 10, 50 / 50.5),
    ],
)
def test_intervals_of_shares_that_are_nearly_all_1_hold(population: Any, mean: float) -> None:
    chance = np.random.default_rng(0)
    held = [low - 1e-9 <= mean <= high for low, high in (share_interval(population(chance, 50)) for _ in range(400))]
    assert np.mean(held) > 0.94


def test_errors_say_what_is_wrong(tmp_path: Path) -> None:
    vectors = whole_numbers(1)
    run = {"q0": ["d1", "unknown"]}
    with pytest.raises(InputError, match="the documents: 'unknown' has no vector"):
        neighbour_recall(run, vectors=vectors)
    with pytest.raises(InputError, match="there are no exact neighbours"):
        neighbour_recall(run)
    with pytest.raises(InputError, match="there is no metric 'manhattan'"):
        neighbour_recall(run, vectors=vectors, metric="manhattan")
    with pytest.raises(InputError, match="2 ids do not go with an array of"):
        neighbour_recall(run, vectors=((["1", "2"], np.zeros((3, 2))), vectors[1]))
    with pytest.raises(InputError, match="'d1' appears twice"):
        neighbour_recall(run, vectors=(vectors[0], (["d1", "d1"], np.zeros((2, 6)))))
    with pytest.raises(InputError, match="queries have 2 dimensions, those of the documents 6"):
        neighbour_recall(run, vectors=({"q0": [1, 2]}, vectors[1]))
    with pytest.raises(InputError, match="not finite"):
        neighbour_recall(run, vectors=({"q0": [np.nan] * 6}, vectors[1]))
    path = tmp_path / "vectors.npz"
    with pytest.raises(InputError, match="no such file"):
        neighbour_recall(run, vectors=path)
    path.write_text("text")
    with pytest.raises(InputError, match="it is not a file of arrays"):
        neighbour_recall(run, vectors=path)
    np.savez(path, documents=np.zeros(3))
    with pytest.raises(InputError, match="it has no array 'query_ids'"):
        neighbour_recall(run, vectors=path)
    distances = {"1": {f"d{at}": float(at) for at in range(30)}}
    with pytest.raises(InputError, match="negate them if they are distances"):
        neighbour_recall(distances, distances)


def test_an_exact_run_that_is_short_of_k_is_warned_of() -> None:
    exact = {"1": {"a": -1.0, "b": -2.0, "c": -4.0}, "2": {"a": -1.0, "b": -3.0}}
    found = neighbour_recall({"1": ["a", "b", "c"], "2": ["a"]}, exact, k=3)
    assert found.by_query == {"1": 1.0, "2": 0.5}
    assert found.warnings[-1] == "the run has fewer than 3 neighbours for 1 query: recall there is of as many as it has"


@pytest.mark.parametrize("vectors", [{"a": [1, 0], "b": [1]}, {"a": ["x", "y"]}, {"a": "x"}, (["a"], [None])])
def test_what_is_no_vector_is_an_error(vectors: Any) -> None:
    with pytest.raises(InputError, match="the documents: they are not vectors of numbers, all of one length"):
        neighbour_recall({"1": ["a"]}, vectors=({"1": [0, 0]}, vectors))


def test_the_recorded_simulation_keeps_what_is_promised() -> None:
    known = json.loads((Path(__file__).parents[2] / "bench" / "nearby.json").read_text())
    assert known["worlds"] >= 2000
    assert len({its["population"] for its in known["recall"]}) == 7
    for its in known["recall"]:
        assert its["held"] > 0.935, its
