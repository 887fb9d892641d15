"""Flat columns, in batches or in several processes, give the same values as dicts of the same data."""

import subprocess
import sys

import numpy as np
import pytest

import cranfield
from cranfield import InputError
from tests.measures.test_catalogue import VARIANTS

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cranfield.torch import RetrievalMeasures, evaluate_flat  # noqa: E402
from tests.torch.test_scores import same  # noqa: E402


def columns(seed, queries=9, longest=40):
    chance = np.random.default_rng(seed)
    indexes = np.repeat(np.arange(queries) * 3, chance.integers(1, longest, queries))
    chance.shuffle(indexes)
    preds = chance.integers(0, 12, len(indexes)) / 8
    target = chance.integers(0, 4, len(indexes)) * (chance.random(len(indexes)) < 0.4)
    target[indexes == 3] = 0  # a query without a relevant document
    return torch.tensor(target), torch.tensor(preds, dtype=torch.float32), torch.tensor(indexes)


def dicts(target, preds, indexes, judged):
    qrels, run = {}, {}
    for place, (grade, score, query, known) in enumerate(zip(*(c.tolist() for c in (target, preds, indexes, judged)))):
        run.setdefault(str(query), {})[f"{place:05}"] = score
        judgments = qrels.setdefault(str(query), {})
        if known:
            judgments[f"{place:05}"] = grade
    return qrels, run


@pytest.mark.parametrize("seed", [1, 2])
def test_every_measure_has_the_same_values_as_from_dicts(seed):
    data = columns(seed)
    same(evaluate_flat(*data, VARIANTS), cranfield.evaluate(*dicts(*data, data[0] != 0), VARIANTS))
    judged = torch.ones(len(data[0]), dtype=torch.bool)
    same(evaluate_flat(*data, VARIANTS, judged=judged), cranfield.evaluate(*dicts(*data, judged), VARIANTS))


def test_values_agree_with_torchmetrics():
    metrics = pytest.importorskip("torchmetrics.retrieval", reason="torchmetrics is not installed")
    target, _, indexes = columns(3)
    # Without ties, which torchmetrics breaks arbitrarily, and above 0, because its AP ignores lower scores.
    preds = torch.randperm(len(target)) / len(target) + 1.0
    ours = evaluate_flat(target, preds, indexes, "nDCG AP RR P@5 R@5")
    binary = (preds, target > 0, indexes)
    assert ours["nDCG"] == pytest.approx(float(metrics.RetrievalNormalizedDCG()(preds, target, indexes)), abs=1e-6)
    assert ours["AP"] == pytest.approx(float(metrics.RetrievalMAP()(*binary)), abs=1e-6)
    assert ours["RR"] == pytest.approx(float(metrics.RetrievalMRR()(*binary)), abs=1e-6)
    assert ours["P@5"] == pytest.approx(float(metrics.RetrievalPrecision(top_k=5)(*binary)), abs=1e-6)
    assert ours["R@5"] == pytest.approx(float(metrics.RetrievalRecall(top_k=5)(*binary)), abs=1e-6)


def test_batches_give_the_same_values_as_all_rows_at_once():
    data = columns(4)
    collected = RetrievalMeasures("AP nDCG@5")
    for part in torch.arange(len(data[0])).split(17):
        collected.update(*(column[part] for column in data))
    same(collected.compute(), evaluate_flat(*data, "AP nDCG@5"))
    collected.reset()
    with pytest.raises(InputError, match="it contains no rankings"):
        collected.compute()


def test_invalid_input_is_an_error():
    target, preds, indexes = columns(5)
    with pytest.raises(InputError, match=r"qrels, run and queries have [0-9]+, 1 and "):
        evaluate_flat(target, preds[:1], indexes, "RR")
    with pytest.raises(InputError, match="qrels, run and queries have 2, 1 and 2 rows"):
        RetrievalMeasures("RR").update(target[:2], preds[:1], indexes[:2])
    with pytest.raises(
        InputError, match=r"the run must be floating numbers.*\nHint: the order is: qrels, run, queries"
    ):
        evaluate_flat(target, target, indexes, "RR")
    with pytest.raises(InputError, match="the order is: qrels, run, queries"):
        RetrievalMeasures("RR").update(preds, target, indexes)
    with pytest.raises(InputError, match="it must be a mask: one bool for each row"):
        evaluate_flat(target, preds, indexes, "RR", judged=target)
    preds[indexes == 6] = torch.nan
    with pytest.raises(InputError, match="a score of query 6 is nan"):
        evaluate_flat(target, preds, indexes, "RR")


PROCESS = """
import sys
import torch
from torch import distributed
from cranfield.torch import RetrievalMeasures
from tests.torch.test_ragged import columns

rank = int(sys.argv[2])
distributed.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
target, preds, indexes = columns(6)
half = len(preds) // 3
mine = slice(0, half) if rank == 0 else slice(half, None)
collected = RetrievalMeasures("AP nDCG@5 Judged@10")
collected.update(target[mine], preds[mine], indexes[mine])
print(collected.compute().to_json())
alone = RetrievalMeasures("RR")
if rank:
    alone.update(torch.tensor([1]), torch.tensor([0.5]), torch.tensor([0]))
assert alone.compute()["RR"] == 1.0
distributed.destroy_process_group()
"""


def test_two_processes_gather_the_rows_of_both(tmp_path):
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "meeting")]
    running = [
        subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for rank in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in running]
    expected = evaluate_flat(*columns(6), "AP nDCG@5 Judged@10").to_json()
    assert [out.strip() for out, _ in outputs] == [expected] * 2, outputs[0][1][-2000:] + outputs[1][1][-2000:]
