"""Runs that an engine hands out in order are ranked in one pass; any others by its expressions, with equal results."""

import random
from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, Judgments, Policy
from cranfield.engines import streamed
from cranfield.engines.engine_rows import EngineRows
from cranfield.io.text import Scattered
from cranfield.native import native
from tests import generated
from tests.engines.conftest import arrow
from tests.engines.test_lazy import IDS, MEASURES, assert_same, collection, scanned

pytestmark = pytest.mark.skipif(native is None, reason="the native scan is not compiled")


@pytest.fixture(scope="module", params=["polars", "duckdb"])
def in_order(request):
    """A lazy frame whose rows stay in their order."""
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    if request.param == "polars":
        return lambda *rows, **how: library.from_arrow(arrow(*rows, **how)).lazy()
    connection = library.connect()
    return lambda *rows, **how: connection.from_arrow(arrow(*rows, **how))


@pytest.fixture
def passes(monkeypatch):
    """What each stream has found: None where a row was not plain, "scattered" where a query came again."""
    found = []
    scan = streamed.scan_stream

    def noted(*given):
        found.append("scattered")
        found[-1] = scan(*given)
        return found[-1]

    monkeypatch.setattr("cranfield.engines.lazy_run.scan_stream", noted)
    return found


def rows_of(run):
    """The queries one after the other, the documents of each in any order."""
    chance = random.Random(1)
    return [(q, d, s) for q, ranking in run.items() for d, s in chance.sample(sorted(ranking.items()), len(ranking))]


def test_all_measures(in_order, passes, monkeypatch):
    monkeypatch.setattr(streamed, "ROWS", 30)
    qrels, run = collection()
    got = cranfield.evaluate(qrels, in_order(rows_of(run)), MEASURES)
    assert passes[0] is not None
    assert_same(got, scanned(qrels, run, MEASURES))


@settings(max_examples=40, deadline=None)
@given(generated.collections(), st.integers(1, 20), st.integers(0, 2**32))
def test_any_size_of_blocks_finds_what_a_scan_in_memory_finds(collection, rows, seed):
    polars = pytest.importorskip("polars")
    qrels, run = collection
    judgments, policy = Judgments.read(qrels), Policy()
    frame = polars.from_arrow(arrow(rows_of(run), (pa.string(), pa.string(), pa.float64()))).lazy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streamed, "ROWS", rows)
        pieces = EngineRows(frame, "the run", policy).stream(random.Random(seed).randint(1, 30))
        found = streamed.scan_stream(pieces, judgments)
    wanted = cranfield.ranks.run.open_run(run).read(judgments, policy).scanned
    assert (found.extra, found.retrieved.tolist()) == (wanted.extra, wanted.retrieved.tolist())
    assert sorted(zip(*found.found, strict=True)) == sorted(zip(*wanted.found, strict=True))


@pytest.mark.parametrize("again", ["q1", "other"])
def test_rows_of_a_query_that_are_apart_are_sorted_or_left_to_the_expressions(in_order, passes, monkeypatch, again):
    monkeypatch.setattr(streamed, "ROWS", 3)
    run = [(again, f"d{i}", float(i)) for i in range(5)]
    between = [("q2", f"d{i}", float(i)) for i in range(7)]
    rows = [*run, *between, (again, "d5", 9.0)]
    qrels = {"q1": {"d4": 1, "d0": 1}, "q2": {"d6": 1}}
    got = cranfield.evaluate(qrels, in_order(rows), "AP")
    sorted_by_the_engine = "duckdb" in type(in_order([("q", "d", 1.0)])).__module__
    assert (passes[0], len(passes), None in passes) == ("scattered", 1 + sorted_by_the_engine, False)
    assert (got.counts.queries, got.ranks.extra) == (2, int(again == "other"))
    assert got.by_query("AP") == {"q1": pytest.approx((1 / 2 + 2 / 6) / 2) if again == "q1" else 0.0, "q2": 1.0}


@pytest.mark.parametrize(("most", "found"), [(30, False), (100, True)])
def test_a_query_of_very_many_rows_is_left_to_the_expressions(monkeypatch, most, found):
    narwhals = pytest.importorskip("narwhals")
    monkeypatch.setattr(streamed, "ROWS", 10)
    monkeypatch.setattr(streamed, "MOST", most)
    rows = arrow([("q", f"d{i}", float(i)) for i in range(100)], names=("query", "document", "value"))
    pieces = (narwhals.from_native(rows[at : at + 10]) for at in range(0, 100, 10))
    with nullcontext() if found else pytest.raises(Scattered):
        assert streamed.scan_stream(pieces, Judgments.read({"q": {"d90": 1}})).found.above.tolist() == [9]


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.filterwarnings("error")
def test_what_is_not_plain_is_left_to_the_expressions(in_order, passes, monkeypatch, rows):
    monkeypatch.setattr(streamed, "ROWS", rows)
    qrels = {"q": {"a": 1}}
    for row, fact in [
        (("q", "a", 2.0), "document 'a' appears twice in the ranking of query 'q'"),
        (("q", "b", float("inf")), "inf is not a finite number"),
        (("q", "b", None), "the score is missing"),
        (("q", "", 1.0), "the document id is missing or empty"),
        ((None, "b", 1.0), "the query id is missing or empty"),
    ]:
        with pytest.raises(InputError, match=fact):
            cranfield.evaluate(qrels, in_order([("q", "a", 1.0), row]))
    assert passes == [None] * 5
    best = Policy(duplicates="best")
    assert (
        cranfield.evaluate(qrels, in_order([("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0)]), "RR", policy=best)[
            "RR"
        ]
        == 1
    )
    same = Policy(same_id="drop")
    assert cranfield.evaluate(qrels, in_order([("q", "q", 3.0), ("q", "a", 1.0)]), "RR", policy=same)["RR"] == 1
    assert passes == [None] * 6  # rows that are left out are not even asked for


@pytest.mark.parametrize(
    "kinds", [(pa.int32(), pa.uint64(), pa.float32()), (pa.int64(), pa.int16(), pa.int64())], ids=str
)
def test_numbers_as_ids_and_ranks_as_scores(in_order, passes, kinds):
    qrels = {"3": {"9": 1, "10": 2, "007": 1, "x": 1}, "03": {"9": 1}}
    rows = [(3, 9, 2), (3, 10, 2), (3, 7, 2), (4, 9, 2)]
    run = {"3": {"9": 2.0, "10": 2.0, "7": 2.0}, "4": {"9": 2.0}}
    assert_same(cranfield.evaluate(qrels, in_order(rows, kinds)), cranfield.evaluate(qrels, run))
    ranked = in_order([("q", "a", 3), ("q", "b", 1), ("q", "c", 2)], names=("qid", "docno", "rank"))
    assert cranfield.evaluate({"q": {"a": 1}}, ranked, "RR")["RR"] == 1 / 3
    assert None not in passes


def test_an_engine_that_fails_on_the_way_is_reported():
    duckdb = pytest.importorskip("duckdb")
    frame = duckdb.sql(
        "SELECT 'q' AS query_id, range::VARCHAR AS doc_id, "
        "CASE WHEN range < 900000 THEN 1.5 ELSE error('broken')::DOUBLE END AS score FROM range(1000000)"
    )
    with pytest.raises(InputError, match=r"the run: the engine duckdb failed \(.*broken"):
        cranfield.evaluate({"q": {"1": 1}}, frame, "AP")


@pytest.mark.parametrize("query", ["(range % 2)::VARCHAR", "(range // 2000000)::VARCHAR", "nullif(range // 10, 1)"])
def test_the_connection_can_be_used_while_it_has_more_rows(query):
    """Rows are apart, or all are well, or one has no query; in the first and the last case many rows are left."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows = f"SELECT {query} AS query_id, range::VARCHAR AS doc_id, range AS score FROM range(4000000)"
    try:
        found = cranfield.evaluate({"0": {"0": 1}, "1": {"3999999": 1}}, connection.sql(rows), "RR")
    except InputError as error:
        assert "the query id is missing" in str(error)  # noqa: PT017 (the other two are right)
        assert "nullif" in query
    else:
        assert found.by_query("RR") == {"0": 1 / 2_000_000, "1": 1}
    assert connection.sql("SELECT 1").fetchall() == [(1,)]


def test_ties_and_long_rankings(in_order, passes, monkeypatch):
    monkeypatch.setattr(streamed, "ROWS", 1000)
    chance = np.random.default_rng(1)
    run = {
        f"q{i}": {f"d{at}": score / 8 for at, score in enumerate(chance.integers(0, 500, 3000).tolist())}
        for i in range(4)
    }
    run["tied"] = dict.fromkeys(IDS, 0.25)
    qrels = {query: {document: at % 3 for at, document in enumerate([*ranking][::7])} for query, ranking in run.items()}
    for ties in ("doc_id", "smaller_doc_id", "best", "expected"):
        policy = Policy(ties=ties)
        got = cranfield.evaluate(qrels, in_order(rows_of(run)), "AP nDCG@10", policy=policy)
        assert_same(got, cranfield.evaluate(qrels, run, "AP nDCG@10", policy=policy))
    assert None not in passes
