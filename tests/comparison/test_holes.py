"""The documents that runs share: compiled code and numpy agree, and blocks of any size give the same bounds."""

import numpy as np
import pytest

from cranfield import evaluate_runs, parse_measures
from cranfield.comparison.joint import holes
from cranfield.comparison.unjudged import Reaches
from cranfield.measures import completion
from cranfield.native import native
from cranfield.ranks.matching import match_documents
from tests.comparison.reaching import larger


def made(seed):
    """Arguments of `match_documents`: some runs retrieved some of a few documents for some queries."""
    chance = np.random.default_rng(seed)
    queries, runs, documents = (int(chance.integers(low, high)) for low, high in ((0, 5), (1, 5), (1, 300)))
    numbers = chance.integers(-(2**63), 2**63 - 1, documents)
    rankings = [
        [chance.permutation(numbers)[: chance.integers(0, documents + 1)] for _ in range(runs)] for _ in range(queries)
    ]
    count = np.array([[len(ranking) for ranking in row] for row in rankings], dtype=np.int64).reshape(queries, runs)
    start = (np.cumsum(count) - count.reshape(-1)).reshape(count.shape)
    codes = np.concatenate([np.zeros(0, np.int64), *(ranking for row in rankings for ranking in row)])
    return codes, start, count, chance.integers(0, runs, (int(chance.integers(0, 6)), 2))


def test_documents_are_numbered_in_order_of_appearance():
    codes = np.array([7, 5, 5, 9, 7, 3], np.int64)
    start, count = np.array([[0, 2], [4, 5]]), np.array([[2, 2], [1, 1]])
    column, sizes, shared = match_documents(codes, start, count, np.array([[0, 1], [1, 1]]))
    assert (column.tolist(), sizes.tolist(), shared.tolist()) == ([0, 1, 1, 2, 0, 1], [3, 2], [1, 2, 0, 1])


@pytest.mark.skipif(native is None, reason="nothing was compiled")
@pytest.mark.parametrize("seed", range(40))
def test_compiled_code_and_numpy_agree(seed):
    arguments = made(seed)
    for compiled, twin in zip(native.match_documents(*arguments), match_documents(*arguments), strict=True):
        assert compiled.tolist() == twin.tolist()


@pytest.mark.skipif(native is None, reason="nothing was compiled")
@pytest.mark.parametrize(
    ("place", "argument", "named"),
    [
        (1, [[0, -1]], "start"),
        (1, [[0, 5]], "start"),
        (2, [[1, 4]], "count"),
        (2, [[1, -1]], "count"),
        (2, [[1, 1, 1]], "count"),
        (3, [[0, 2]], "pairs"),
        (3, [[-1, 0]], "pairs"),
        (3, [[0, 1, 1]], "pairs"),
    ],
)
def test_bad_arguments_are_refused(place, argument, named):
    arguments = [np.array(each, np.int64) for each in ([1, 2, 3, 4], [[0, 1]], [[1, 3]], [[0, 1]])]
    native.match_documents(*arguments)
    arguments[place] = np.array(argument, np.int64)
    with pytest.raises((ValueError, IndexError), match=rf"^{named}: "):
        native.match_documents(*arguments)


def test_blocks_of_any_size_have_the_same_bounds(monkeypatch):
    judged, runs = {}, {"a": {}, "b": {}, "c": {}}
    for seed in range(7):
        judged[f"q{seed}"], one, other = larger(seed, depth=5 + 3 * seed)
        for name, ranking in (("a", one), ("b", other), ("c", one[:4] if seed else one)):
            runs[name][f"q{seed}"] = ranking
    measures = parse_measures("nDCG@3 nDCG AP AP@5 RR P@5 R@5 ERR Q Bpref R_cap@3")
    evaluations = [*evaluate_runs(judged, runs, measures).values()]
    pairs, queries = [(0, 1), (0, 2), (2, 1)], evaluations[0].query_ids
    whole = Reaches(evaluations, pairs, queries)
    expected = np.array([whole.of(measure) for measure in measures])
    for size in (1, 40):
        monkeypatch.setattr(holes, "ENTRIES", size)
        monkeypatch.setattr(holes, "CELLS", 20 * size)
        monkeypatch.setattr(completion, "TOGETHER", size)
        reaches = Reaches(evaluations, pairs, queries, measures)
        assert np.array([reaches.of(measure) for measure in measures]) == pytest.approx(expected, abs=1e-14)
        monkeypatch.setattr(holes, "native", None)
