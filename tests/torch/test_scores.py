"""Tensors give the same values as dicts of the same data, for every measure."""

import subprocess
import sys

import numpy as np
import pytest

import cranfield
from cranfield import InputError, MeasureError, Policy, PolicyError
from tests.measures.test_catalogue import VARIANTS

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cranfield.torch import evaluate  # noqa: E402

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def dicts(scores, judged):
    """The same as dicts; ids are padded, so that the larger column is the larger id. `judged` is (q, d, grade)s."""
    run = {
        f"{q:05}": {f"{d:05}": float(score) for d, score in enumerate(row.double().tolist()) if score > -np.inf}
        for q, row in enumerate(scores)
    }
    qrels = {}
    for q, d, grade in judged:
        qrels.setdefault(f"{q:05}", {})[f"{d:05}"] = float(grade)
    return qrels, {query: ranking for query, ranking in run.items() if ranking}


def ids(scores):
    return [f"{q:05}" for q in range(len(scores))]


def same(ours, theirs):
    assert ours.query_ids == theirs.query_ids
    assert ours.counts == theirs.counts
    for measure in theirs.measures:
        assert ours.column(measure).tolist() == theirs.column(measure).tolist(), measure.name


def collection(seed, queries=7, documents=23, share=0.3, levels=None, dtype=torch.float32):
    """Scores, few of them different if `levels`, and a list of judgments; a negative grade is pooled, not judged."""
    chance = np.random.default_rng(seed)
    values = (
        chance.normal(size=(queries, documents)) if levels is None else chance.integers(0, levels, (queries, documents))
    )
    judged = [
        (q, d, chance.choice([-1, 0, 1, 2, 3, 0.5]))
        for q in range(queries)
        for d in range(documents)
        if chance.random() < share
    ]
    return torch.tensor(values).to(dtype), judged


def columns(judged):
    query, document, grade = zip(*judged)
    return torch.tensor(query), torch.tensor(document), torch.tensor(grade, dtype=torch.float64)


TIES = ["doc_id", "smaller_doc_id", "file", "best", "worst"]


def test_means_over_orders_of_ties_are_the_same():
    scores, judged = collection(5, levels=3)
    run, policy = dicts(scores, judged), Policy(ties="expected")
    measures = "nDCG@5 AP RR P@3 infAP"
    ours = evaluate(columns(judged), scores, measures, policy=policy, query_ids=ids(scores))
    same(ours, cranfield.evaluate(*run, measures, policy=policy))


@pytest.mark.parametrize(
    ("dtype", "ties"), [*((torch.float32, ties) for ties in TIES), *((dtype, "doc_id") for dtype in DTYPES)], ids=str
)
def test_every_measure_has_the_same_values_as_from_dicts(dtype, ties):
    for seed, (share, levels) in enumerate([(0.06, None), (0.15, 4), (0.8, 6)]):
        scores, judged = collection(seed, share=share, levels=levels, dtype=dtype)
        qrels, run = dicts(scores, judged)
        policy = Policy(ties=ties)
        ours = evaluate(columns(judged), scores, VARIANTS, policy=policy, query_ids=ids(scores))
        same(ours, cranfield.evaluate(qrels, run, VARIANTS, policy=policy))


@pytest.mark.parametrize("depth", [1, 5])
def test_a_depth_cuts_the_rankings(depth):
    scores, judged = collection(1, levels=5)
    policy = Policy(depth=depth)
    ours = evaluate(columns(judged), scores, VARIANTS, policy=policy, query_ids=ids(scores))
    same(ours, cranfield.evaluate(*dicts(scores, judged), VARIANTS, policy=policy))


@pytest.mark.parametrize("policy", [Policy(negative="nonrelevant"), Policy(complete=True, depth=9)], ids=str)
def test_policies_for_unjudged_documents(policy):
    scores, judged = collection(3, levels=5)
    measures = [each for each in VARIANTS if "judged_only" not in dict(each.parameters) or not policy.complete]
    ours = evaluate(columns(judged), scores, measures, policy=policy, query_ids=ids(scores))
    same(ours, cranfield.evaluate(*dicts(scores, judged), measures, policy=policy))


def test_all_forms_of_judgments_give_the_same_values():
    scores, judged = collection(2)
    query, document, grade = columns(judged)
    shape = tuple(scores.shape)
    mask = torch.zeros(shape, dtype=torch.bool)
    mask[query, document] = True
    dense = torch.zeros(shape, dtype=torch.float64)
    dense[query, document] = grade
    shuffled = torch.randperm(len(query))
    sparse = torch.sparse_coo_tensor(
        torch.stack((query, document))[:, shuffled], grade[shuffled], shape, check_invariants=True
    )
    expected = evaluate((query, document, grade), scores, VARIANTS)
    same(evaluate(sparse, scores, VARIANTS), expected)
    same(evaluate(sparse.coalesce(), scores, VARIANTS), expected)
    same(evaluate(dense, scores, VARIANTS, judged=mask), expected)
    same(evaluate(dense.masked_fill(~mask, torch.nan), scores, VARIANTS, judged=True), expected)


def test_a_dense_zero_is_a_judgment_only_where_the_mask_says_so():
    scores, relevance = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0, 1, 0]])
    assert evaluate(relevance, scores, "Judged@3")["Judged@3"] == pytest.approx(1 / 3)
    assert evaluate(relevance, scores, "Judged@3", judged=True)["Judged@3"] == 1
    assert evaluate(relevance, scores, "RR")["RR"] == evaluate(relevance, scores, "RR", judged=True)["RR"] == 0.5


def test_a_dense_row_without_a_relevant_document_counts_zero():
    scores, relevance = torch.tensor([[3.0, 2.0], [1.0, 2.0]]), torch.tensor([[0, 0], [0, 1]])
    result = evaluate(relevance, scores, "RR")
    assert result.by_query("RR") == {"0": 0, "1": 1}
    assert (result.counts.queries, result.counts.no_relevant) == (2, 1)


def test_a_query_that_columns_do_not_name_is_extra():
    result = evaluate(([1], [0], [1]), torch.tensor([[3.0, 2.0], [1.0, 2.0]]), "RR")
    assert result.by_query("RR") == {"1": 0.5}
    assert result.counts.extra == 1


def test_minus_infinity_is_not_retrieved():
    scores, judged = collection(3, levels=3, share=0.5)
    scores[0, :5], scores[2, 11:], scores[4] = -torch.inf, -torch.inf, -torch.inf
    for missing in ("zero", "skip"):
        policy = Policy(missing=missing)
        ours = evaluate(columns(judged), scores, VARIANTS, policy=policy, query_ids=ids(scores))
        same(ours, cranfield.evaluate(*dicts(scores, judged), VARIANTS, policy=policy))
        assert ours.counts.missing == 1
    with pytest.raises(InputError, match="1 judged query is not in the run: 00004"):
        evaluate(columns(judged), scores, "RR", policy=Policy(missing="error"), query_ids=ids(scores))


def test_all_tied_and_a_single_document():
    for scores in (torch.zeros(3, 9), torch.ones(3, 1, dtype=torch.float16)):
        judged = [(q, d, 1 + q) for q in range(3) for d in range(0, scores.shape[1], 2)]
        ours = evaluate(columns(judged), scores, VARIANTS, query_ids=ids(scores))
        same(ours, cranfield.evaluate(*dicts(scores, judged), VARIANTS))


def test_scores_may_be_non_contiguous_and_require_a_gradient():
    scores, judged = collection(4)
    turned = scores.t().contiguous().t().requires_grad_()
    same(evaluate(columns(judged), turned, VARIANTS), evaluate(columns(judged), scores, VARIANTS))


def test_many_blocks_give_the_same_values_as_one(monkeypatch):
    from cranfield.torch import counting

    scores, judged = collection(5, queries=11, levels=9, share=0.5)
    expected = evaluate(columns(judged), scores, VARIANTS)
    monkeypatch.setitem(counting._AT_ONCE, "cpu", 50)
    same(evaluate(columns(judged), scores, VARIANTS), expected)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_invalid_score_is_an_error_that_names_its_place(bad, dtype):
    scores, judged = collection(6, dtype=dtype)
    scores[3, 17] = bad
    with pytest.raises(InputError, match=f"the score of document 17 for query 3 is {bad}"):
        evaluate(columns(judged), scores, "RR")


def test_invalid_input_is_an_error():
    scores = torch.zeros(2, 3)
    wrong = [
        ((torch.zeros(2, 3, dtype=torch.int64), ([0], [0], [1])), "the run cannot be"),
        ((torch.zeros(3), ([0], [0], [1])), "the run cannot be"),
        (([[1.0]], ([0], [0], [1])), "the run cannot be list"),
        ((scores, torch.zeros(2, 2)), r"its shape is \(2, 2\), that of the scores \(2, 3\)"),
        ((scores, torch.zeros(2, 3)), "it contains no judgments"),
        ((scores, ([0, 0], [1, 1], [1, 2])), "document 1 is judged twice for query 0"),
        ((scores, ([2], [1], [1])), "query 2 is judged, but the scores have 2"),
        ((scores, ([0], [-1], [1])), "document -1 is judged, but the scores have 3"),
        ((scores, ([0], [1], [torch.nan])), "grade of document 1 for query '0' is nan"),
        ((scores, ([0, 1], [1], [1])), "its columns have 2, 1 and 1 rows"),
        ((scores, {"0": {"1": 1}}), "cannot be read from dict"),
        ((torch.full((2, 3), -torch.inf), ([0, 1], [0, 0], [1, 1])), "it contains no rankings"),
        ((torch.zeros(2, 0), ([0], [0], [1])), "document 0 is judged, but the scores have 0"),
    ]
    for (run, qrels), message in wrong:
        with pytest.raises(InputError, match=message):
            evaluate(qrels, run, "RR")
    with pytest.raises(InputError, match="there are 1 for 2 rows"):
        evaluate(([0], [0], [1]), scores, "RR", query_ids=["a"])
    with pytest.raises(InputError, match="the query 'a' appears twice"):
        evaluate(([0], [0], [1]), scores, "RR", query_ids=["a", "a"])
    with pytest.raises(InputError, match=r"a tensor of torch\.float32"):
        evaluate(torch.zeros(2, 3), scores, "RR", judged=torch.ones(2, 3))
    with pytest.raises(PolicyError, match="same_id='drop' compares ids"):
        evaluate(([0], [0], [1]), scores, "RR", policy=Policy(same_id="drop"))
    with pytest.raises(MeasureError, match="measured on subtopics, which tensors do not provide"):
        evaluate(([0], [0], [1]), scores, "alpha_nDCG@10")


def test_without_torch_the_error_names_the_extra():
    code = "import sys; sys.modules['torch'] = None; import cranfield; cranfield.evaluate; import cranfield.torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "cranfield.torch needs the library torch, which is not installed." in done.stderr
    assert "pip install 'cranfield[torch]'" in done.stderr
