"""The ranks in a whole corpus match those from one product of all embeddings."""

from functools import cache

import numpy as np
import pytest

from cranfield import CranfieldError, InputError, Policy
from tests.measures.test_catalogue import VARIANTS

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cranfield.torch import FullCorpus, evaluate, products  # noqa: E402
from tests.torch.test_scores import same  # noqa: E402


def embeddings(seed, queries=6, documents=50, dimensions=4, dtype=torch.float32):
    """Small whole numbers, so that products are exact in any order and ties are common."""
    chance = np.random.default_rng(seed)

    def draw(rows):
        return torch.tensor(chance.integers(-2, 3, (rows, dimensions))).to(dtype)

    judged = [(q, d, d % 4) for q in range(queries) for d in range(documents) if chance.random() < 0.12]
    return draw(queries), draw(documents), tuple(map(torch.tensor, zip(*judged)))


def scores_of(queries, documents, similarity):
    if similarity == "l2":
        return -(queries[:, None].double() - documents.double()).square().sum(2)
    return queries.double() @ documents.double().T


EIGHT_BITS = (torch.int8, torch.float8_e4m3fn, torch.float8_e5m2)


@cache
def by_all_scores(similarity):
    """The numbers are the same in every type."""
    queries, documents, judgments = embeddings(1)
    return evaluate(judgments, scores_of(queries, documents, similarity), VARIANTS)


@pytest.mark.parametrize("similarity", ["dot", "l2"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, *EIGHT_BITS], ids=str)
def test_tiles_give_the_same_values_as_all_scores_at_once(dtype, similarity):
    queries, documents, judgments = embeddings(1, dtype=dtype)
    for tile in (7, 50, 1000):
        found = FullCorpus(judgments, queries, documents, similarity, tile=tile).evaluate(VARIANTS)
        same(found, by_all_scores(similarity))


def test_all_forms_of_documents_give_the_same_values(tmp_path, monkeypatch):
    queries, documents, judgments = embeddings(2)
    monkeypatch.setattr(products, "_AT_ONCE", 20)  # so that the queries come in blocks as well
    expected = evaluate(judgments, queries @ documents.T, "AP nDCG@5 bpref")
    np.save(tmp_path / "documents.npy", documents.numpy())
    shards = [documents[:9], documents[9:10], documents[10:]]
    ways = [
        documents,
        np.load(tmp_path / "documents.npy", mmap_mode="r"),
        shards,
        [shard.numpy() for shard in shards],
        lambda: iter(shards),
    ]
    for way in ways:
        same(FullCorpus(judgments, queries, way, tile=8).evaluate("AP nDCG@5 bpref"), expected)


def test_several_devices_share_the_tiles(monkeypatch):
    queries, documents, judgments = embeddings(5)
    monkeypatch.setattr(products, "_AT_ONCE", 20)
    monkeypatch.setattr(FullCorpus, "_ahead", lambda self: torch.zeros(len(judgments[0])))  # all are counted again
    shared = FullCorpus(judgments, queries, documents, tile=7, devices=["cpu", torch.device("cpu"), "cpu"])
    same(shared.evaluate("AP nDCG@5 bpref"), evaluate(judgments, queries @ documents.T, "AP nDCG@5 bpref"))


def test_progress_is_shown(capfd, monkeypatch):
    queries, documents, judgments = embeddings(6)
    seen = []

    def watch(pieces, total):
        for piece in pieces:
            seen.append(total)
            yield piece

    expected = FullCorpus(judgments, queries, documents).evaluate("AP")
    shards = [documents[:20], documents[20:]]
    same(FullCorpus(judgments, queries, shards, tile=8, progress=watch).evaluate("AP"), expected)
    assert seen == [7] * 7  # three tiles of the first shard, four of the second
    assert capfd.readouterr() == ("", "")
    same(FullCorpus(judgments, queries, documents, progress=True).evaluate("AP"), expected)
    assert capfd.readouterr() == ("", "")  # shown only on a terminal
    bars = []
    monkeypatch.setattr("cranfield.torch.corpus.watched", lambda pieces, *how: bars.append(how) or pieces)
    same(FullCorpus(judgments, queries, documents, tile=8, progress=True).evaluate("AP"), expected)
    assert [what for what, tiles in bars] == ["counting"]


def test_random_embeddings_have_the_ranks_of_the_product():
    torch.manual_seed(3)
    queries, documents = torch.randn(5, 32), torch.randn(400, 32)
    judgments = (torch.arange(5), torch.arange(5) * 70 + 3, torch.ones(5))
    for similarity in ("dot", "cosine", "l2"):
        exact = {
            "dot": queries.double() @ documents.double().T,
            "cosine": torch.nn.functional.cosine_similarity(queries[:, None].double(), documents.double(), dim=2),
            "l2": -torch.cdist(queries.double(), documents.double()),
        }[similarity]
        found = FullCorpus(judgments, queries, documents, similarity, tile=64).ranks()
        assert found.rank.tolist() == (1 + (exact > exact[judgments[:2]][:, None]).sum(1)).tolist()


def test_half_embeddings_can_be_compared_in_float32():
    queries = torch.tensor([[1.0, 1.0]], dtype=torch.bfloat16)
    documents = torch.tensor([[256.0, 0.0], [256.0, 1.0]], dtype=torch.bfloat16)  # 257 rounds to 256
    judgments = ([0, 0], [0, 1], [1, 1])
    assert FullCorpus(judgments, queries, documents).ranks().tied.all()
    assert not FullCorpus(judgments, queries, documents, dtype=torch.float32).ranks().tied.any()


def test_scores_that_differ_from_their_tile_are_counted_again(monkeypatch):
    queries, documents, judgments = embeddings(4)
    expected = evaluate(judgments, queries @ documents.T, "AP nDCG@5")
    ahead, passes = FullCorpus._ahead, []
    monkeypatch.setattr(FullCorpus, "_ahead", lambda self: ahead(self) + 1e-3)
    count = FullCorpus._count
    monkeypatch.setattr(FullCorpus, "_count", lambda self, own: passes.append(1) or count(self, own))
    same(FullCorpus(judgments, queries, documents).evaluate("AP nDCG@5"), expected)
    assert len(passes) == 2


def test_products_that_change_each_time_are_an_error(monkeypatch):
    queries, documents, judgments = embeddings(5)
    product, times = FullCorpus._scores, []
    monkeypatch.setattr(
        FullCorpus, "_scores", lambda self, q, tile: times.append(1) or product(self, q, tile) + len(times)
    )
    with pytest.raises(CranfieldError, match="the same product gave different scores"):
        FullCorpus(judgments, queries, documents).ranks()


def test_ties_and_depth_follow_the_policy():
    queries, documents, judgments = embeddings(6)
    for policy in (Policy(ties="best", depth=9), Policy(ties="file")):
        expected = evaluate(judgments, queries @ documents.T, "AP nDCG@5", policy=policy)
        same(FullCorpus(judgments, queries, documents).evaluate("AP nDCG@5", policy=policy), expected)


def test_invalid_input_is_an_error():
    queries, documents, judgments = embeddings(7)
    with pytest.raises(InputError, match="there is no similarity 'manhattan'"):
        FullCorpus(judgments, queries, documents, "manhattan")
    with pytest.raises(InputError, match="an iterator can be read only once"):
        FullCorpus(judgments, queries, iter([documents]))
    with pytest.raises(InputError, match=r"the shape \(50, 3\) does not go with queries of \(6, 4\)"):
        FullCorpus(judgments, queries, documents[:, :3]).ranks()
    with pytest.raises(InputError, match="document 50 is judged, but the corpus has 50"):
        FullCorpus(([0], [50], [1]), queries, [documents]).ranks()
    with pytest.raises(InputError, match="they are not embeddings"):
        FullCorpus(judgments, [[1.0]], documents)
    documents[31, 2] = torch.nan
    with pytest.raises(InputError, match="a score of query 0 is not a finite number"):
        FullCorpus(judgments, queries, documents, tile=16).ranks()


def test_integer_scores_are_exact_where_floating_point_is_not():
    """Two scores of int8 embeddings that float32 cannot tell apart: 2**24 and one more."""
    queries = torch.full((1, 1100), 127, dtype=torch.int8)
    documents = torch.full((2, 1100), 127, dtype=torch.int8)
    documents[:, 1041:] = 0
    queries[0, 1099] = 1
    documents[1, 1099] = 1  # the score of the second is larger by one
    exact = (queries.long() @ documents.long().T)[0]
    assert exact.min() > 1 << 24
    assert exact[1] == exact[0] + 1
    for judged, rank in ((0, 2), (1, 1)):
        found = FullCorpus(([0], [judged], [1]), queries, documents, tile=1).ranks(Policy(ties="worst"))
        assert found.rank.tolist() == [rank]


def test_embeddings_of_8_bits_that_do_not_fit():
    queries, documents, judgments = embeddings(3, dtype=torch.int8)
    with pytest.raises(InputError, match="normalised"):
        FullCorpus(judgments, queries, documents, "cosine")
    with pytest.raises(InputError, match="make both the same"):
        FullCorpus(judgments, queries, documents.float()).evaluate("RR")
    with pytest.raises(InputError, match="scores cannot be"):
        FullCorpus(judgments, queries, documents, dtype=torch.int64)
    wide = FullCorpus(judgments, queries, documents, dtype=torch.float32).evaluate("AP")
    same(wide, FullCorpus(judgments, queries, documents).evaluate("AP"))
