"""Measures of tasks with several searches: against naive loops, by hand, and never as one ranking by accident."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, MeasureError, compare, evaluate, read_searches
from cranfield.ranks.policy import Policy
from tests import oracle_searches
from tests.measures.test_catalogue import approx, variants

VARIANTS = [
    measure for measure in dict.fromkeys(variants("searches")) if dict(measure.parameters).get("unit") != "words"
]
TOKENS = {document: at + 1 for at, document in enumerate("abcdefgh")}


def rows_of(tasks):
    """Rows with scores and tokens, in an order that says nothing."""
    return [
        {"task": task, "step": step, "doc_id": document, "score": -place, "tokens": TOKENS[document]}
        for task, searches in reversed(tasks.items())
        for step, search in reversed(list(enumerate(searches, 1)))
        for place, document in enumerate(search)
    ]


documents = st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1, max_size=5)
tasks = st.fixed_dictionaries({"1": st.lists(documents, min_size=1, max_size=5), "2": st.lists(documents, max_size=3)})
judgments = st.fixed_dictionaries(
    {
        query: st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=6)
        for query in ("1", "2", "3")
    }
)


@settings(max_examples=60, deadline=None)
@given(tasks, judgments, st.sampled_from([(), (3, 7), (1, 12), (5, 30)]))
def test_measures_equal_their_oracle(searches, qrels, budgets):
    measures = list(VARIANTS)
    ways = itertools.product(budgets, ("documents", "tokens"), ("paid", "free"))
    union = cranfield.catalogue()["UnionR"]
    measures += [union(budget=budget, unit=unit, again=again, cutoff=2) for budget, unit, again in ways]
    result = evaluate(qrels, read_searches(rows_of(searches)), measures, check_ids=False)
    for measure in measures:
        expected = {
            query: oracle_searches.value(measure, searches.get(query, []), grades, TOKENS)
            for query, grades in qrels.items()
        }
        assert result.by_query(measure) == approx(expected), measure.name


def test_an_agent_by_hand():
    qrels = {"t": {"a": 1, "b": 1, "c": 1, "x": 0}}
    run = read_searches({"t": [["x", "y"], ["a", "x"], ["a", "b"], ["y"]]})
    expected = {
        "UnionR": 2 / 3,
        "UnionR(calls=2)": 1 / 3,
        "UnionR(budget=3)": 1 / 3,  # x, y, a
        "UnionR(budget=5, again=paid)": 1 / 3,  # x, y, a, x, a
        "UnionR(budget=5, again=free)": 2 / 3,  # x, y, a, b: four different ones
        "CallR(call=2)": 1 / 3,
        "CallR(call=3)": 2 / 3,
        "CallR(call=3)@1": 1 / 3,
        "CallRR": 1 / 2,
        "FoundBy": 0,
        "FoundBy(calls=2)": 1,
        "NoGain": 2 / 4,
        "Refetched": 3 / 7,
        "Calls": 4,
    }
    result = evaluate(qrels, run, list(expected))
    assert {name: result[name] for name in expected} == approx(expected)


def test_several_searches_are_never_one_ranking(tmp_path):
    rows = [{"query_id": "t", "step": step, "doc_id": d, "score": 1} for step, d in ((1, "a"), (2, "b"))]
    lines, table = tmp_path / "run.jsonl", tmp_path / "run.csv"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    table.write_text("task,step,doc_id,score\n" + "".join(f"t,{row['step']},{row['doc_id']},1\n" for row in rows))
    qrels = {"t": {"a": 1, "b": 1}}
    for run in (lines, table, rows):
        with pytest.raises(InputError, match="several searches for each task"):
            evaluate(qrels, run, "R@10")
        assert evaluate(qrels, run, "UnionR CallR(call=2)").per_query[1].value == 0.5
    with pytest.raises(MeasureError, match="measured on one ranking"):
        evaluate(qrels, read_searches(lines), "R@10 UnionR")
    assert evaluate(qrels, read_searches(lines).one("last"), "R@10")["R@10"] == 0.5


def test_errors():
    run = read_searches({"t": [["a"]]})
    with pytest.raises(InputError, match="no task of the run is judged: run: 't'; judgments: 'u'"):
        evaluate({"u": {"a": 1}}, run, "UnionR")
    with pytest.raises(MeasureError, match="number of tokens in each document is not known"):
        evaluate({"t": {"a": 1}}, run, "UnionR(budget=3, unit=tokens)")
    with pytest.raises(InputError, match="not a list of searches"):
        read_searches({"t": "a"})
    with pytest.raises(InputError, match="is not a search"):
        read_searches({"t": ["a"]})
    with pytest.raises(InputError, match="contains no searches"):
        read_searches({})
    with pytest.raises(InputError, match="there is no search 'best'"):
        run.one("best")
    with pytest.raises(
        cranfield.DuplicateError, match="document 'a' appears twice in the ranking of query 't, search 1'"
    ):
        evaluate({"t": {"a": 1}}, read_searches({"t": [["a", "a"]]}), "UnionR")
    with pytest.raises(InputError, match="cannot be evaluated with lengths"):
        evaluate({"t": {"a": 1}}, run, "UnionR", lengths={"a": 1})


def test_searches_work_wherever_a_run_does():
    qrels = {str(q): {"a": 1, "b": 1} for q in range(12)}
    one = read_searches({str(q): [["x"], ["a"] if q % 3 else ["y"]] for q in range(12)})
    two = read_searches({str(q): [["a"], ["b"] if q % 2 else ["y"]] for q in range(12)})
    result = compare(qrels, {"one": one, "two": two}, "UnionR")
    assert result.differences[0].difference == approx(0.75 - 1 / 3)
    assert (
        evaluate(qrels, one, "UnionR").signature.endswith("searches:24")
        or "searches:24" in evaluate(qrels, one, "UnionR").signature
    )
    assert evaluate(qrels, one, "UnionR", policy=Policy(depth=1))["UnionR"] == approx(1 / 3)


def test_tokens_are_counted_from_texts():
    rows = [
        {"task": "t", "step": 1, "doc_id": d, "rank": r, "text": text}
        for r, d, text in ((1, "a", "x y"), (2, "b", "z"))
    ]
    run = read_searches(rows, tokens=str.split)
    assert run.searches[0].tokens == (2, 1)
    values = evaluate({"t": {"a": 1, "b": 1}}, run, "UnionR(budget=2, unit=tokens) UnionR(budget=1, unit=tokens)")
    assert [row.value for row in values.per_query] == [0.5, 0.0]
