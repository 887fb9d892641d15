"""The sentences of evaluations, checks, advice and stability: correct for any number, and in plain English."""

import re

import pytest

from cranfield import advise, evaluate, explain
from cranfield.comparison.stability import stability
from cranfield.evaluation.overview import overview
from cranfield.show.stability_text import stability_text
from cranfield.show.view import View


def flat(text):
    return " ".join(str(text).split())


def collection(queries, relevant=3, judged=6):
    return {f"q{q}": {f"d{d}": int(d < relevant) for d in range(judged)} for q in range(queries)}


def advice_text(qrels, runs, measures=()):
    return flat(advise(qrels, runs, measures or None))


def test_one_query_and_one_missing_query_are_singular():
    run = {f"q{q}": ["d0", "d1", "d5"] for q in range(49)}
    text = advice_text(collection(50), {"mine": run})
    assert "mine: 1 of 50 judged queries is not in it and count 0." not in text
    assert "mine: 1 of 50 judged queries is not in it and counts 0." in text
    assert "there is only 1 query. Values usually vary more" in advice_text(collection(1), {"mine": run})


def test_a_share_of_queries_is_shown_as_a_count():
    qrels = collection(3) | {"none": {"d0": 0}}
    run = {query: ["d0", "d1"] for query in qrels}
    assert "1 of 4 queries has no relevant document and scores 0 for every system." in advice_text(qrels, {"mine": run})


def test_a_run_that_ends_in_s_needs_no_apostrophe():
    run = {f"q{q}": ["d0", *(f"u{i}" for i in range(9))] for q in range(50)}
    text = advice_text(collection(50), {"keywords": run})
    assert "only 10% of all documents that keywords retrieves are judged" in text
    assert "keywords's" not in text


def test_the_judged_share_is_not_rounded_up_to_100_percent():
    run = {f"q{q}": [f"d{d}" for d in range(6)] for q in range(60)}
    run["q0"] = [*run["q0"][:5], "u"]
    text = advice_text(collection(60), {"mine": run})
    assert "the median query has 3 relevant documents" in text
    assert "at least 99% of what each run retrieves is judged" in text


@pytest.mark.parametrize(
    ("measure", "caution"),
    [
        ("nDCG@2", "the judgments are binary: linear and exponential gains differ by a constant factor at most."),
        ("RR", "it only looks at the first relevant document, and the median query has 3."),
        ("P@5", "no ranking of mine has more than 2 documents, fewer than the cutoff."),
        ("Accuracy(documents=1000)", "in a large collection nearly all documents are irrelevant"),
    ],
)
def test_cautions_about_measures(measure, caution):
    run = {f"q{q}": ["d0", "d1"] for q in range(50)}
    assert caution in advice_text(collection(50), {"mine": run}, [measure])


def test_bounds_say_how_documents_that_are_not_retrieved_count():
    result = evaluate(collection(2), {"q0": ["d0", "u"], "q1": ["d1"]}, "R@10")
    text = View(overview([result], bounds=True)).describe_bounds([0, 1])
    assert text.endswith("; those it did not retrieve count as not relevant")


def test_only_retrieved_documents_count_as_tied():
    result = evaluate({"q": {"a": 1, "b": 0, "c": 1}}, {"q": {"a": 1.0, "b": 1.0}}, "RR")
    assert result.describe_counts() == "1 query; 100.0% of the retrieved judged documents have tied scores"


def test_a_query_without_documents_is_explained():
    text = str(explain({"1": {"a": 2, "b": 1}, "2": {"a": 1}}, {"2": ["a"]}, "1"))
    assert text.startswith("query 1: nothing retrieved\n")
    assert "ideal order: a (2), b (1)" in text


def test_stability_promises_nothing():
    run = {f"q{q}": ["d0", "d4", "d1", "d5"] for q in range(8)}
    other = {f"q{q}": ["d4", "d0"] for q in range(8)}
    text = flat(stability_text(stability(collection(8), {"one": run, "two": other}, "AP", repeats=2)))
    assert "is safe" not in text
    assert "keeping at least one of each" in text
    assert re.search(r"averaged over the repeats, and the lowest of them\. At 1 the order is the same\.$", text)
