"""GPU kernels count the same as plain PyTorch; most of these tests need a GPU."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from cranfield import InputError, Policy  # noqa: E402
from cranfield.torch import FullCorpus, counting  # noqa: E402
from cranfield.torch.products import largest_finite, rounding_edges  # noqa: E402

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")

CASES = (  # documents, judged documents of a query, different scores, the tile in which the judged ones are
    (torch.float64, 1, 1, 3, 0),
    (torch.float16, 700, 1, 40, 0),
    (torch.float16, 512, 2, 3, 0),
    (torch.float32, 300, 1, 0, 7),
    (torch.bfloat16, 300, 1, 9, -5),
    (torch.float16, 300, 14, 90, 0),
    (torch.float64, 300, 14, 0, -5),
    (torch.float32, 130, 100, 1, 0),
    (torch.float32, 300, 280, 200, 0),
    (torch.bfloat16, 5000, 900, 0, 0),
    (torch.float32, 5000, 40, -1, 0),
)


def counts(kind, scores, row, own, column, judged, tile):
    seen = torch.full_like(own, -1)
    counter = kind(row, own, column, judged, seen)
    counter.add(scores, tile * scores.shape[1])
    return {**counter.counted()._asdict(), "seen": seen}


@gpu
@pytest.mark.parametrize(("dtype", "n", "most", "levels", "tile"), CASES)
def test_the_kernels_count_the_same_as_plain_torch(dtype, n, most, levels, tile, monkeypatch):
    from cranfield.torch import kernels

    monkeypatch.setattr(kernels, "_SPAN", 2048)
    torch.manual_seed(n + most)
    scores = torch.randint(0, levels, (3, n)).float() if levels > 0 else torch.randn(3, n)
    if levels < 0:  # nearly all in one bucket
        scores[:, 1:] *= 1e-6
    scores = scores.to("cuda", dtype)
    scores[2, n // 2 :] = -torch.inf
    mask = torch.rand(3, n, device="cuda") < most / n
    mask[1] = False
    mask[0, 0] = True
    row, column = mask.nonzero(as_tuple=True)
    own = scores[row, column].masked_fill(scores[row, column] == -torch.inf, torch.inf)
    judged = mask.sum(1).cpu().numpy()
    found, expected = (
        counts(kind, scores, row, own, column, judged, tile) for kind in (kernels.DeviceCounter, counting.PlainCounter)
    )
    for name in found:
        assert found[name].tolist() == expected[name].tolist(), name


@gpu
@pytest.mark.parametrize("judged", [1, 20])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_the_kernels_detect_scores_that_are_not_finite(bad, judged):
    from cranfield.torch.kernels import DeviceCounter

    scores = torch.randn(2, 200, device="cuda").half()
    scores[1, 150] = bad
    row = torch.arange(2, device="cuda").repeat_interleave(judged)
    column = torch.arange(judged, device="cuda").repeat(2)
    found = counts(DeviceCounter, scores, row, scores[row, column], column, np.full(2, judged), 0)
    assert found["odd"].tolist() == [0, 1]


@gpu
@pytest.mark.parametrize("judged", [1, 3, 30])
@pytest.mark.parametrize(
    ("dtype", "scores", "dimensions"),
    [
        (torch.bfloat16, None, 48),
        (torch.bfloat16, None, 50),  # rows that the device cannot copy in units of 16 bytes
        (torch.bfloat16, torch.float32, 48),
        (torch.float16, None, 48),
        (torch.float32, None, 48),
        (torch.int8, None, 50),
    ],
)
def test_ranks_of_whole_numbers_match_float64(dtype, scores, judged, dimensions):
    """Their products are exact in every arithmetic, and only rounded to the precision of the scores."""
    torch.manual_seed(judged)
    queries, documents = (torch.randint(-6, 7, (rows, dimensions), device="cuda") for rows in (150, 3001))
    row = torch.arange(150).repeat_interleave(judged)
    column = (torch.rand(150, 3001).argsort(1)[:, :judged]).sort(1).values.flatten()
    exact = (queries.double() @ documents.double().T).to(scores or (torch.int32 if dtype == torch.int8 else dtype))
    exact = exact.double().cpu()
    own = exact[row, column][:, None]
    shards = [documents[:1000].to(dtype), documents[1000:].to(dtype)]
    corpus = FullCorpus((row, column, torch.ones(len(row))), queries.to(dtype), shards, tile=700, dtype=scores)
    for ties, first in (("doc_id", torch.gt), ("smaller_doc_id", torch.lt)):
        before = (exact[row] == own) & first(torch.arange(3001), column[:, None])
        expected = 1 + ((exact[row] > own) | before).sum(1)
        found = corpus.ranks(Policy(ties=ties))
        rank = torch.empty_like(expected)
        rank[torch.from_numpy(found.row)] = torch.from_numpy(found.rank)
        assert rank.tolist() == expected.tolist()


@gpu
def test_a_product_that_overflows_is_an_error():
    queries = torch.zeros(2, 16, device="cuda").half()
    queries[1, :2] = 1
    documents = torch.zeros(300, 16, device="cuda").half()
    documents[7, 0], documents[7, 1] = 65504, 15  # 65519 is rounded to 65504
    assert FullCorpus(([1], [7], [1]), queries, documents).ranks().rank.tolist() == [1]
    documents[7, 1] = 16
    with pytest.raises(InputError, match="a score of query 1 is not a finite number"):
        FullCorpus(([1], [3], [1]), queries, documents).ranks()
    assert FullCorpus(([1], [7], [1]), queries, documents, dtype=torch.float32).ranks().rank.tolist() == [1]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_values_between_the_edges_round_to_the_score(dtype):
    own = torch.arange(-(1 << 15), 1 << 15).to(torch.int16).view(dtype)
    own = own[own.abs() < torch.finfo(dtype).max]  # beyond the very largest, scores are not finite
    low, high = rounding_edges(own, own.float())
    assert torch.equal(low.to(dtype), own)
    assert torch.equal(high.to(dtype), own)
    above, below = torch.tensor(torch.inf), torch.tensor(-torch.inf)
    assert (torch.nextafter(high, above).to(dtype) > own).all()
    assert (torch.nextafter(low, below).to(dtype) < own).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_largest_product_that_is_finite(dtype):
    largest = torch.tensor(largest_finite(dtype))
    assert largest.to(dtype).item() == torch.finfo(dtype).max
    assert torch.nextafter(largest, torch.tensor(torch.inf)).to(dtype).isinf()
