"""evaluate_lazily: the same values and means to the last bit; nothing but totals leaves the engine.

An engine on this machine also has hashes of documents sorted here, to find duplicates.
"""

import gc
import math
import re
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cranfield
from cranfield import InputError, MeasureError, Policy, PolicyError, evaluate_lazily
from cranfield.engines import lazy_run as lazy
from cranfield.engines import measuring
from cranfield.engines.measuring import UNIT, Totals, exact_sum
from cranfield.engines.polars import Polars
from cranfield.engines.protocol import Engine
from cranfield.engines.spark import Spark
from tests.engines.conftest import WARNINGS_OF_SPARK, arrow, shared_out
from tests.engines.test_lazy import IDS, MEASURES, collection, rows_of, scanned

pytestmark = WARNINGS_OF_SPARK
JUDGMENTS = ("query_id", "doc_id", "grade")


def judgments_of(qrels):
    return [(q, d, g) for q, judged in qrels.items() for d, g in judged.items()]


def assert_same(got, wanted):
    assert got.counts == wanted.counts
    assert dict(got) == dict(wanted)
    rows = got.per_query.collect().to_arrow().to_pylist()
    values = {(row["query_id"], row["measure"]): row["value"] for row in rows}
    assert len(rows) == len(values)
    assert values == {(row.query_id, row.measure): row.value for row in wanted.per_query}
    assert {row["run"] for row in rows} == {got.run}


@pytest.fixture(scope="module")
def by_all_measures(lazily):
    """A frame, its values by all measures, and the number of rows in each transfer out of the engine."""
    sizes, collect, numbers = [], Engine.rows, Engine.numbers

    def of_keys(self, frame):  # hashes of documents are sorted on the machine whose engine this is
        assert frame.collect_schema().names() == ["key"]
        return numbers(self, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy, "MANY", 5)  # both ways of counting are used
        patch.setattr(measuring, "ROWS", 40)
        patch.setattr(Engine, "rows", lambda self, frame: sizes.append(len(rows := collect(self, frame))) or rows)
        patch.setattr(Engine, "numbers", of_keys)
        qrels, run = collection()
        frame = lazily(rows_of(run))
        with shared_out(frame):
            got = evaluate_lazily(lazily(judgments_of(qrels), names=JUDGMENTS), frame, MEASURES)
    return frame, got, sizes


def test_all_measures(by_all_measures, monkeypatch):
    frame, got, _ = by_all_measures
    qrels, run = collection()
    assert_same(got, scanned(qrels, run, MEASURES))
    monkeypatch.setattr(lazy, "MANY", 5)
    monkeypatch.setattr(measuring, "ROWS", 40)
    from_memory = evaluate_lazily(qrels, frame, "AP nDCG@10", name="bm25")
    assert_same(from_memory, scanned(qrels, run, "AP nDCG@10"))
    assert (from_memory.qrels_sha256, from_memory.run_sha256) == (got.qrels_sha256, got.run_sha256)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(ties="smaller_doc_id", depth=7, missing="skip"),
        Policy(ties="best", same_id="drop"),
        Policy(ties="worst", duplicates="best"),
        Policy(negative="nonrelevant"),
        Policy(complete=True, depth=7),
    ],
    ids=str,
)
def test_policies(lazily, monkeypatch, policy):
    monkeypatch.setattr(lazy, "MANY", 3)
    qrels, run = collection(3)
    run["q5"] = dict.fromkeys([*IDS, "q5"], 0.25)
    run["q6"] = {"q6": 1.0}
    measures = "AP nDCG@3 GMAP NumRelRet Judged@10 Bpref infAP NumNonRelRet"
    got = evaluate_lazily(qrels, lazily(rows_of(run)), measures, policy=policy)
    assert_same(got, scanned(qrels, run, measures, policy=policy))


def test_contradictory_options_are_refused(lazily):
    frame = lazily([("q", "a", 1.0)])
    with pytest.raises(PolicyError, match="judged_only"):
        evaluate_lazily({"q": {"a": 1}}, frame, "RR(judged_only=True)", policy=Policy(complete=True))


def test_numbers_as_ids(lazily):
    qrels, run = {"3": {"9": 1, "10": 2}, "4": {"1": 1}}, {"3": {"9": 2.0, "10": 2.0, "7": 2.0}, "5": {"9": 2.0}}
    judged = lazily([(int(q), int(d), g) for q, d, g in judgments_of(qrels)], names=JUDGMENTS)
    frame = lazily([(int(q), int(d), int(s)) for q, d, s in rows_of(run)])
    assert_same(evaluate_lazily(judged, frame, "AP RR"), scanned(qrels, run, "AP RR"))
    assert_same(evaluate_lazily({"03": {"9": 1}, **qrels}, frame, "RR"), scanned({"03": {"9": 1}, **qrels}, run, "RR"))


def test_nothing_but_totals_leaves_the_engine(by_all_measures):
    _, _, sizes = by_all_measures
    assert max(sizes) == 1


@cache
def large(size):
    """Judgments, the rows of a run with a query of so many documents, and its evaluation."""
    chance = np.random.default_rng(1)
    scores = (chance.integers(0, 50_000, size) / 8).tolist()
    ids = [f"d{i}" for i in range(size)]
    judged = {f"d{i}": i % 3 for i in chance.choice(size, 2000, replace=False).tolist()}
    qrels = {"large": judged, "few": {"d1": 1, "d2": 2}, "small": {"d1": 1}}
    few = {"d1": 1.0, **dict(zip(ids[5:1000], scores[5:1000], strict=True))}
    run = {"large": dict(zip(ids, scores, strict=True)), "few": few, "small": {"d1": 1.0}}
    rows = arrow((query, document, score) for query, found in run.items() for document, score in found.items())
    return qrels, rows.take(chance.permutation(len(rows))), cranfield.evaluate(qrels, run, "AP nDCG@1000 R@1000")


def test_a_query_with_very_many_documents(lazily, request):
    # More than two of the groups of rows that DuckDB shares out to its threads. Spark, which would take a quarter of a
    # minute for so many, splits far fewer over its partitions just as well.
    qrels, rows, wanted = large(10_000 if "spark" in request.node.name else 300_000)
    with shared_out(frame := lazily(rows)):
        assert_same(evaluate_lazily(qrels, frame, "AP nDCG@1000 R@1000"), wanted)
    if "spark" not in request.node.name:  # Spark is slow, so once is enough
        eager = cranfield.evaluate(qrels, frame, "AP nDCG@1000 R@1000")
        assert [row.value for row in eager.per_query] == [row.value for row in wanted.per_query]


@pytest.mark.parametrize(
    ("judged", "fact"),
    [
        ([("q", "a", 1.0), ("q", "a", 2.0)], "the judgments: document 'a' is judged twice for query 'q' (1 and 2)."),
        ([("q", "a", 1.0), ("q", "b", None)], "query 'q', document 'b': the grade is missing"),
        ([("q", "a", 1.0), ("", "b", 1.0)], "query '', document 'b': the query id is missing or empty"),
        ([("q", "a", 1.0), ("q", "b", math.nan)], "query 'q', document 'b': nan is not a finite number"),
    ],
)
def test_judgments_that_cannot_be_used(lazily, judged, fact):
    with pytest.raises(InputError, match=re.escape(fact)):
        evaluate_lazily(lazily(judged, names=JUDGMENTS), lazily([("q", "a", 1.0)]))


def test_runs_that_cannot_be_used(lazily):
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    with pytest.raises(InputError, match=r"the run: document 'a' appears twice in the ranking of query 'q'"):
        evaluate_lazily(qrels, lazily([("q", "a", 1.0), ("q", "a", 2.0)]))
    with pytest.raises(InputError, match=r"1 row cannot be used: query 'q', document 'b': nan is not a finite"):
        evaluate_lazily(qrels, lazily([("q", "a", 1.0), ("q", "b", math.nan)]))
    frame = lazily([("q", "a", 1.0)])
    with pytest.raises(InputError, match="the run: 1 judged query is not in the run: p"):
        evaluate_lazily(qrels, frame, policy=Policy(missing="error"))
    with pytest.raises(PolicyError, match="have no order"):
        evaluate_lazily(qrels, frame, policy=Policy(ties="file"))
    with pytest.raises(MeasureError, match="measured on subtopics"):
        evaluate_lazily(qrels, frame, "alpha_nDCG@10")


def test_values_that_are_not_finite(lazily):
    frame = lazily([(query, "a", 1.0) for query in "123"])
    with pytest.raises(MeasureError, match=r"nDCG\(gain=exponential\) of query '2' is not a finite number: grade 2000"):
        evaluate_lazily({"1": {"a": 1}, "2": {"a": 2000}, "3": {"a": 1}}, frame, "nDCG(gain=exponential)")
    with pytest.raises(MeasureError, match="the mean of CG over 3 queries is not a finite number"):
        evaluate_lazily({query: {"a": 1e308} for query in "123"}, frame, "CG")


def test_an_error_of_a_measure_that_arrives_as_text():
    engine = Spark(None, "the run")
    text = "An exception was thrown from the Python worker. Please see the stack trace below.\nTraceback:\n"

    def fail():
        raise RuntimeError(f"{text}cranfield.errors.MeasureError: CG of query '1' is odd.\nHint: do this\n\n\tat java")

    with pytest.raises(MeasureError) as error:
        engine.guarded(fail)
    assert (error.value.fact, error.value.hint) == ("CG of query '1' is odd.", "do this")


def test_a_run_that_is_not_in_an_engine_is_refused():
    with pytest.raises(InputError) as error:
        evaluate_lazily({"q": {"a": 1}}, {"q": ["a"]})
    assert str(error.value) == (
        "the run: evaluate_lazily needs a run in an engine, not a dict.\n"
        "Hint: give a DuckDB relation, a polars.LazyFrame, a PySpark DataFrame (classic or Connect) or an Ibis table; "
        "or the path of Parquet files and engine='duckdb', 'polars' or 'spark'"
    )


def test_spark_releases_the_values_with_the_last_reference(spark):
    def kept():
        return spark.sparkContext._jsc.getPersistentRDDs().size()

    before = kept()
    run = spark.createDataFrame(arrow([("q", "b", 2.0), ("q", "a", 1.0)]))
    got = evaluate_lazily(spark.createDataFrame(arrow([("q", "a", 1)], names=JUDGMENTS)), run, "RR")
    assert kept() == before + 1
    values = got.per_query
    del got
    assert values.collect()["value"].to_list() == [0.5]
    assert kept() == before + 1
    del values
    gc.collect()
    assert kept() == before


def test_relations_of_two_connections():
    duckdb = pytest.importorskip("duckdb")
    run = duckdb.connect().from_arrow(arrow([("q", "a", 1.0)]))
    qrels = duckdb.connect().from_arrow(arrow([("q", "a", 1.0)], names=JUDGMENTS))
    with pytest.raises(InputError, match="the engine duckdb failed"):
        evaluate_lazily(qrels, run)


def test_judgments_in_another_engine():
    duckdb, polars = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    run = duckdb.connect().from_arrow(arrow([("q", "b", 2.0), ("q", "a", 1.0)]))
    qrels = polars.from_arrow(arrow([("q", "a", 1)], names=JUDGMENTS)).lazy()
    assert evaluate_lazily(qrels, run, "RR")["RR"] == 0.5


@pytest.mark.parametrize("engine", ["duckdb", "polars", "spark"])
def test_parquet_files(tmp_path, engine, request):
    pytest.importorskip({"spark": "pyspark"}.get(engine, engine))
    if engine == "spark":
        request.getfixturevalue("spark")
    for folder in ("run", "qrels/query_id=q", "qrels/query_id=p"):
        (tmp_path / folder).mkdir(parents=True)
    pa.parquet.write_table(arrow([("q", "b", 2.0), ("q", "a", 1.0)]), tmp_path / "run/1.parquet")
    pa.parquet.write_table(arrow([("p", "b", 2.0)]), tmp_path / "run/2.parquet")
    for query, document in (("q", "a"), ("p", "b")):
        table = pa.table({"doc_id": [document], "grade": [1]})
        pa.parquet.write_table(table, tmp_path / f"qrels/query_id={query}/1.parquet")
    folder, pattern = tmp_path / "qrels", str(tmp_path / "qrels/*/*.parquet")
    # What a path means does not depend on the function: Spark, which takes seconds, gets each path and function once.
    for qrels in (folder,) if engine == "spark" else (folder, pattern):
        got = evaluate_lazily(qrels, tmp_path / "run", "RR", engine=engine)
        assert (got["RR"], got.counts.queries, got.run) == (0.75, 2, "run")
    for qrels in (pattern,) if engine == "spark" else (folder, pattern):
        assert cranfield.evaluate(qrels, tmp_path / "run", "RR", engine=engine)["RR"] == 0.75


@pytest.fixture(scope="module")
def of_two_queries(lazily):
    """An evaluation as texts and as a dict, and its values, which outlive it."""
    got = evaluate_lazily({"q": {"a": 1}, "p": {"a": 1}}, lazily([("q", "a", 1.0), ("x", "a", 1.0)]), "RR", name="bm25")
    with pytest.raises(KeyError):
        got["AP"]
    return str(got), repr(got), got.to_dict(), got["recip_rank"], got.per_query


def test_the_values_outlive_the_result(of_two_queries):
    gc.collect()
    rows = of_two_queries[-1].collect().to_arrow().to_pylist()
    assert sorted(rows, key=lambda row: row["query_id"]) == [
        {"run": "bm25", "query_id": "p", "measure": "RR", "value": 0.0},
        {"run": "bm25", "query_id": "q", "measure": "RR", "value": 1.0},
    ]


def test_only_the_values_are_left_behind(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    values = evaluate_lazily({"q": {"a": 1}}, polars.from_arrow(arrow([("q", "a", 1.0)])).lazy(), "RR").per_query
    assert [path.name for path in tmp_path.rglob("*.parquet")] == ["per_query.parquet"]
    assert len(values.collect()) == 1
    with pytest.raises(InputError, match="appears twice"):
        evaluate_lazily({"q": {"a": 1}}, polars.from_arrow(arrow([("q", "a", 1.0), ("q", "a", 1.0)])).lazy(), "RR")
    assert len(list(tmp_path.iterdir())) == 1


def test_polars_in_parts(monkeypatch):
    polars = pytest.importorskip("polars")
    qrels, run = collection()
    monkeypatch.setattr(Polars, "rows_at_once", 50)
    monkeypatch.setattr(lazy, "MANY", 5)
    frame = polars.from_arrow(arrow(rows_of(run))).lazy()
    assert_same(evaluate_lazily(qrels, frame, "AP nDCG"), scanned(qrels, run, "AP nDCG"))


def test_a_task_of_spark_that_fails_once(spark, fails_once):
    qrels, run = collection()

    frame = spark.createDataFrame(arrow(rows_of(run))).repartition(4)
    judged = spark.createDataFrame(arrow(judgments_of(qrels), names=JUDGMENTS))
    with shared_out(shaky := frame.mapInArrow(fails_once, frame.schema)):
        got = evaluate_lazily(judged, shaky, "AP")
    assert_same(got, scanned(qrels, run, "AP"))


def test_an_evaluation_as_text_and_as_dict(of_two_queries):
    printed, represented, as_dict, value, _ = of_two_queries
    assert (
        printed
        == "bm25\nRR  0.5000\n2 queries; 1 judged but not in the run (counts 0); 1 in the run but not judged (ignored)"
    )
    assert represented.startswith("<LazyEvaluation of bm25: RR=0.5000; 2 queries")
    assert as_dict["mean"] == {"RR": 0.5}
    assert value == 0.5


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), max_size=50))
def test_exact_sums(values):
    try:
        wanted = math.fsum(values)
    except OverflowError:
        return
    assert exact_sum(np.array(values, dtype=np.float64)) / 2**UNIT == wanted


def test_totals_travel_as_text():
    totals = Totals(2, 3, 1, 1, 0, 5, 1, -7, 2**70, ("q",), (3 << 1200, -1))
    assert Totals.from_json(totals.to_json()) == totals
    assert (totals + Totals.none(2)) == totals
