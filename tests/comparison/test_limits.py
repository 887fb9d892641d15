"""The limits of a gate: for single queries, for how a system answered, and what a query must find."""

import json
from pathlib import Path

import pytest

from cranfield import ComparisonError, InputError, evaluate, gate, record
from cranfield.comparison.limits import EXPECT, expectations
from cranfield.io.queries import Queries, read_queries
from cranfield.io.query_columns import EXPECTED
from tests.comparison.made import qrels_for, run_of_ranks
from tests.reviews import as_junit, as_markdown

ROOT = Path(__file__).parents[2]
N = 30
QRELS = qrels_for(N)
GOOD = run_of_ranks([1] * N)
FIRST, SECOND = list(QRELS)[:2]
TEXTS = {FIRST: "red shoes"}
JUDGED = {query: {**grades, **dict.fromkeys("xyz", 0)} for query, grades in QRELS.items()}
RELEVANT = next(iter(QRELS[FIRST]))


def failed(result):
    return {check.name: check.message for check in result.checks if not check.passed}


def changed(**rankings):
    names = {"first": FIRST, "second": SECOND}
    return {**GOOD, **{names[name]: ranking for name, ranking in rankings.items()}}


def test_a_query_that_becomes_empty_fails():
    two = changed(first=[], second=[])
    assert failed(gate(QRELS, GOOD, two, "RR", texts=TEXTS)) == {
        "no query becomes empty": f"2 queries that returned documents return none now: {FIRST} (red shoes), {SECOND}"
    }
    lacking = {query: ranking for query, ranking in GOOD.items() if query != FIRST}
    assert [*failed(gate(QRELS, GOOD, lacking, "RR"))] == ["no query becomes empty"]
    assert gate(QRELS, GOOD, two, "RR", may_become_empty=True).passed
    assert gate(QRELS, GOOD, two, "RR", except_queries=[FIRST, SECOND]).passed
    assert not gate(QRELS, GOOD, two, "RR", except_queries=[FIRST]).passed
    assert gate(QRELS, two, two, "RR").passed  # it was empty before


def test_an_engine_that_returns_nothing_fails_though_it_never_did():
    nothing = {query: [] for query in QRELS}
    assert failed(gate(QRELS, nothing, nothing, "RR")) == {"something is returned": "no query returned a document"}


def test_no_query_may_lose_more_than_the_limit():
    worse = changed(first=["x", "y", "z", RELEVANT])
    assert gate(JUDGED, GOOD, worse, "RR").passed
    assert gate(JUDGED, GOOD, worse, "RR", max_drop=0.75).passed
    found = gate(JUDGED, GOOD, worse, "RR nDCG@10", max_drop=0.7, texts=TEXTS)
    title = "no query gets worse by more than 0.7 in RR"
    message = f"1 query got worse by more than 0.7 in RR: {FIRST} (red shoes) 1.000 → 0.250"
    assert failed(found) == {title: message}
    assert gate(JUDGED, GOOD, worse, "RR", max_drop=0.7, except_queries=[FIRST]).passed
    assert not gate(JUDGED, GOOD, worse, "RR", max_drop=0.7, tolerance=0.9, beyond_tolerance=True).passed
    for form in (json.dumps(found.to_dict()), as_junit(found), as_markdown(found)):
        assert "got worse by more than 0.7 in RR" in form
        assert "red shoes" in form


def test_a_rise_of_a_measure_of_which_less_is_better_is_a_drop():
    worse = changed(first=["x", "y", "z", RELEVANT])
    drop = N * gate(JUDGED, GOOD, worse, "E").measures[0].drop  # of the one query
    assert drop > 0
    assert [*failed(gate(JUDGED, GOOD, worse, "E", max_drop=drop - 0.01))] == [
        f"no query gets worse by more than {drop - 0.01:g} in E"
    ]
    assert gate(JUDGED, GOOD, worse, "E", max_drop=drop + 0.01).passed


def test_a_drop_into_unjudged_documents_proves_nothing():
    new = changed(first=["x", "y", "z", RELEVANT])
    found = gate(QRELS, GOOD, new, "RR", max_drop=0.7, texts=TEXTS)
    assert found.passed
    [doubt] = [doubt for doubt in found.doubts if doubt.kind == "unjudged-drops"]
    assert doubt.facts == {"judge": {FIRST: ["x", "y", "z"]}}
    assert f"judge these first: {FIRST} (red shoes): x, y, z" in doubt.sentence
    assert doubt.sentence in found.warnings
    assert "no query is shown to be worse" in found.checks[1].message
    two = {**QRELS, FIRST: {**QRELS[FIRST], "x": 0, "y": 0}}  # the third alone cannot make up for it
    assert not gate(two, GOOD, new, "RR", max_drop=0.66).passed
    assert gate(two, GOOD, new, "RR", max_drop=0.67).passed
    before = changed(first=[RELEVANT, "x", "y", "z"])  # none of them is new
    assert not gate(QRELS, before, new, "RR", max_drop=0.7).passed


@pytest.fixture
def recorded(tmp_path):
    """Two recorded runs with the facts beside them: the second took longer, and a query of it failed."""
    for name, p95, lost in (("old", 0.1, ()), ("new", 0.25, (FIRST,))):
        path = tmp_path / f"{name}.run"

        def search(query, k, lost=lost):
            if query in lost:
                raise RuntimeError("no index")
            return GOOD[query]

        record(search, {query: query for query in QRELS}, path, force=True, retries=0)
        facts = json.loads((tmp_path / f"{name}.run.json").read_text())
        facts["latency"]["p95"] = p95
        (tmp_path / f"{name}.run.json").write_text(json.dumps(facts))
    return str(tmp_path / "old.run"), str(tmp_path / "new.run")


def test_latency_and_failures_are_those_beside_the_run(recorded, tmp_path):
    message = f"1 of 30 queries failed; none may: {FIRST}"
    assert failed(gate(QRELS, *recorded, "RR")) == {"none may fail": message}
    for share in (1, 0.04):
        assert gate(QRELS, *recorded, "RR", max_failed=share).passed
    assert not gate(QRELS, *recorded, "RR", max_failed=0.03).passed
    limits = {"max_failed": 1, "max_p95": 0.25, "max_p95_ratio": 2.5}
    assert gate(QRELS, *recorded, "RR", **limits).passed
    found = failed(gate(QRELS, *recorded, "RR", **{**limits, "max_p95": 0.2, "max_p95_ratio": 2}))
    assert found == {
        "p95 is at most 2 times what it was": "p95 is 250 ms, previously 100 ms (2.5 times); it may be at most 2 times "
        "what it was",
        "p95 is at most 200 ms": "p95 is 250 ms and must be at most 200 ms",
    }
    with (tmp_path / "new.run").open("a") as file:  # no longer the run that these facts are about
        file.write(f"{FIRST} Q0 x 1 1.0 t\n")
    unknown = failed(gate(QRELS, *recorded, "RR", **limits))
    assert [*unknown] == ["p95 is at most 2.5 times what it was", "p95 is at most 250 ms"]
    assert all("the latency of new is not known" in message for message in unknown.values())


def test_empty_answers_may_be_limited():
    two = changed(first=[], second=[])
    assert gate(QRELS, two, two, "RR", max_empty=2).passed
    message = f"2 of 30 queries returned nothing; at most 1 may: {FIRST}, {SECOND}"
    assert failed(gate(QRELS, two, two, "RR", max_empty=1)) == {"at most 1 may return nothing": message}
    assert not gate(QRELS, two, two, "RR", max_empty=0.05).passed


def test_what_a_query_must_find():
    run = changed(first=["x", "new", RELEVANT])
    wanted = [
        {"query": FIRST, "find": ["new", RELEVANT], "in_first": 2},
        {"query": FIRST, "find": "gone"},
        {"query": FIRST, "measure": "RR", "at_least": 0.5},
        {"query": FIRST, "measure": "P@1", "at_most": 0.5},
    ]
    found = gate(QRELS, run, run, "RR", expect=wanted, texts=TEXTS)
    shown = f"{FIRST} (red shoes)"
    assert failed(found) == {
        f"{FIRST}: {RELEVANT} is in the first 2": f"{shown}: {RELEVANT} is at rank 3 and must be in the first 2",
        f"{FIRST}: gone is in the first 10": f"{shown}: gone is not in the first 100 and must be in the first 10",
        f"{FIRST}: RR is at least 0.5": f"{shown}: RR is 0.333 and must be at least 0.5",
    }
    assert len(found.checks) == 6


def test_a_query_that_is_not_judged_may_have_to_find_something(tmp_path):
    lines = [f"{query} Q0 {document} {at} {-at} t" for query in GOOD for at, document in enumerate(GOOD[query], 1)]
    (tmp_path / "a.run").write_text("\n".join([*lines, "golden Q0 d1 1 9 t", "golden Q0 d2 2 8 t", ""]))
    expected = [{"query": "golden", "find": ["d1", "d2"], "in_first": 1}]
    for run in (tmp_path / "a.run", {**GOOD, "golden": ["d1", "d2"]}):
        found = gate(QRELS, GOOD, run, "RR", expect=expected)
        assert failed(found) == {"golden: d2 is in the first 1": "golden: d2 is at rank 2 and must be in the first 1"}


def test_a_saved_evaluation_has_no_documents_to_find(tmp_path):
    saved = evaluate(QRELS, GOOD, "RR", name="saved")
    saved.save(tmp_path / "saved.json")
    expected = [{"query": FIRST, "find": RELEVANT}]
    with pytest.raises(InputError, match="the documents of saved are not known"):
        gate(None, evaluate(QRELS, GOOD, "RR"), tmp_path / "saved.json", "RR", expect=expected)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ({"query": "nope", "find": "a"}, "expect 1: query 'nope' is not one of the judged queries"),
        ({"query": FIRST, "measure": "nDGC@10", "at_least": 1}, "expect 1: there is no measure 'nDGC'"),
        ({"query": FIRST}, "expect 1: it does not say what to expect"),
        ({"query": FIRST, "find": "a", "measure": "RR"}, "it does not say what to expect"),
        ({"query": FIRST, "find": []}, "find names no document"),
        ({"query": FIRST, "find": "a", "in_first": 0}, "in_first = 0 is not a number of documents"),
        ({"query": FIRST, "find": "a", "at_least": 0.5}, "a measure needs at_least or at_most"),
        ({"query": FIRST, "fnd": "a"}, "there is no setting 'fnd'"),
        ("q17", "this is not a table"),
    ],
)
def test_wrong_expectations_are_refused(expected, message):
    with pytest.raises(InputError) as error:
        gate(QRELS, GOOD, GOOD, "RR", expect=[expected])
    assert message in str(error.value)
    assert error.value.hint


GOLDEN = """query_id;query;Must find;within;measure;at_least;owner
{0};red shoes;x|new {1};2;RR;0.5;ann
{2};boots;;;;;
golden;not judged;d1 d2;;;;
"""


def test_a_file_of_queries_says_what_they_must_find(tmp_path):
    (tmp_path / "queries.csv").write_text(GOLDEN.format(FIRST, RELEVANT, SECOND))
    queries = read_queries(tmp_path / "queries.csv")
    run = {**changed(first=["x", "new", RELEVANT]), "golden": ["d1", *"abcdefghij", "d2"]}
    found = gate(QRELS, run, run, "RR", expect=queries, texts=queries)
    assert failed(found) == {
        f"{FIRST}: {RELEVANT} is in the first 2": f"{FIRST} (red shoes): {RELEVANT} is at rank 3 and must be in the "
        "first 2",
        f"{FIRST}: RR is at least 0.5": f"{FIRST} (red shoes): RR is 0.333 and must be at least 0.5",
        "golden: d2 is in the first 10": "golden (not judged): d2 is at rank 12 and must be in the first 10",
    }
    assert [check.name for check in found.checks if check.name.startswith(f"{SECOND}:")] == []
    without = {query: ranking for query, ranking in run.items() if query != "golden"}
    missed = failed(gate(QRELS, run, without, "RR", expect=queries, texts=queries))
    assert "golden (not judged): d1 is not in the first 100" in missed["golden: d1 is in the first 10"]


@pytest.mark.parametrize("name", [name for names in EXPECTED.values() for name in names])
def test_every_name_of_such_a_column_is_known_and_documented(name):
    setting = next(setting for setting, names in EXPECTED.items() if name in names)
    cells = {"find": "D1", "in_first": "3", "measure": "RR", "at_least": "0.5", "at_most": "0.5"}
    columns = {"find": "D9", "measure": "P@1", "at_least": "0"}
    columns = {key: value for key, value in columns.items() if key != setting} | {name: cells[setting]}
    read = expectations(Queries({"q": "text"}, {key: {"q": value} for key, value in columns.items()}), "")
    assert any(str(getattr(expected, setting)) in (cells[setting], "('D1',)") for expected in read)
    assert f"`{name}`" in (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")


def test_lists_and_numbers_are_what_they_are():
    columns = {"expected": {"q": ["a b", 7]}, "within": {"q": 3.0}, "measure": {"p": "RR"}}
    [expected] = expectations(Queries({"q": "text", "p": "other"}, columns), "")
    assert (expected.find, expected.in_first) == (("a b", "7"), 3)


@pytest.mark.parametrize(
    ("header", "cells", "message"),
    [
        ("must_find,within", "D1,many", "queries.csv: query 'q1': in_first = 'many' is not a number"),
        ("must_find,within", "D1,0", "queries.csv: query 'q1': in_first = 0 is not a number of documents"),
        ("must_find,within", "D1,2.5", "queries.csv: query 'q1': in_first must be a whole number"),
        ("must_find", "|", "queries.csv: query 'q1': find names no document"),
        ("at_least", "0.5", "queries.csv: query 'q1': it does not say what to expect"),
        ("measure,at_least", "RR,nan", "queries.csv: query 'q1': at_least = 'nan' is not a number"),
        ("measure,at_least", "nDGC,1", "queries.csv: query 'q1': there is no measure 'nDGC'"),
        ("must_find,expected", "a,b", "queries.csv: the columns 'must_find' and 'expected' all say find"),
    ],
)
def test_wrong_columns_are_refused_with_file_and_query(header, cells, message, tmp_path):
    empty = "," * len(cells.split(","))
    text = f"query_id,query,{header}\nq1,red shoes,{cells}\nq2,boots{empty}\n"
    (tmp_path / "queries.csv").write_text(text)
    with pytest.raises(InputError) as error:
        expectations(read_queries(tmp_path / "queries.csv"), "")
    assert message in str(error.value)


@pytest.mark.parametrize(
    "limit",
    [{"max_drop": 0}, {"max_p95": -1}, {"max_p95_ratio": float("nan")}, {"max_failed": 1.5}, {"max_empty": -1}],
)
def test_wrong_limits_are_refused(limit):
    with pytest.raises(ComparisonError, match=next(iter(limit))):
        gate(QRELS, GOOD, GOOD, "RR", **limit)


def test_an_unknown_exception_is_refused():
    with pytest.raises(InputError, match="except_queries: query 'nope'"):
        gate(QRELS, GOOD, GOOD, "RR", except_queries=["nope"])


def test_the_settings_of_an_expectation_are_documented():
    assert all(setting.meaning for setting in EXPECT.values())
