"""The evaluator accepts models of sentence-transformers, and gives the values of a run with the same scores."""

import csv
import doctest
import importlib

import pytest

import cranfield
from cranfield import InputError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import cranfield.torch  # noqa: E402

QUERIES = {"q1": "red", "q2": "blue", "unjudged": "green"}
DOCUMENTS = {"b": "red red", "a": "red blue", "d": "blue", "c": "red blue"}
QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}


class Model:
    """Counts words: enough of a model for the evaluator."""

    asked = 0

    def encode(self, texts, **options):
        self.asked += 1
        assert options["convert_to_tensor"]
        return torch.tensor([[text.count("red"), text.count("blue")] for text in texts], dtype=torch.float32)


@pytest.mark.parametrize("module", ["cranfield.torch", "cranfield.torch.evaluator"])
def test_examples(module):
    failed, tried = doctest.testmod(importlib.import_module(module))
    assert failed == 0
    assert tried > 0


def test_the_evaluator_ranks_the_whole_corpus(tmp_path):
    evaluator = cranfield.torch.RetrievalEvaluator(
        QRELS, QUERIES, DOCUMENTS, "nDCG@3 RR", similarity="dot", name="colours"
    )
    values = evaluator(Model(), str(tmp_path), epoch=2, steps=10)
    run = {"q1": {"a": 1, "b": 2, "c": 1, "d": 0}, "q2": {"a": 1, "b": 0, "c": 1, "d": 1}}
    expected = cranfield.evaluate(QRELS, run, "nDCG@3 RR")
    assert values == {"colours_nDCG@3": expected["nDCG@3"], "colours_RR": expected["RR"]}
    assert evaluator.result.by_query("RR") == expected.by_query("RR")
    assert evaluator.primary_metric == "colours_nDCG@3"
    assert evaluator.greater_is_better
    evaluator(Model(), str(tmp_path), epoch=3, steps=20)
    with open(tmp_path / "cranfield_evaluation_colours_results.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["epoch", "steps", "nDCG@3", "RR"]
    assert [row[:2] for row in rows[1:]] == [["2", "10"], ["3", "20"]]


def test_a_model_may_embed_queries_and_documents_differently():
    class Two(Model):
        def encode_query(self, texts, **options):
            assert texts == ["red", "blue"]  # unjudged queries are not encoded
            return self.encode(texts, **options).flip(1)

        def encode_document(self, texts, **options):
            return self.encode(texts, **options).flip(1)

    evaluator = cranfield.torch.RetrievalEvaluator(QRELS, QUERIES, DOCUMENTS, "AP RR", primary="RR")
    assert evaluator(Two()) == evaluator(Model())
    assert evaluator.primary_metric == "RR"


def test_invalid_input_is_an_error():
    with pytest.raises(InputError, match="document 'x' is judged, but not among the documents"):
        cranfield.torch.RetrievalEvaluator({"q1": {"x": 1}}, QUERIES, DOCUMENTS)
    with pytest.raises(InputError, match="query 'q9' is judged, but not among the queries"):
        cranfield.torch.RetrievalEvaluator({"q9": {"a": 1}}, QUERIES, DOCUMENTS)
    with pytest.raises(InputError, match="RR is not one of the measures"):
        cranfield.torch.RetrievalEvaluator(QRELS, QUERIES, DOCUMENTS, "AP", primary="RR")
