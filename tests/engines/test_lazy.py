"""Runs in an engine: the same table, hence the same values to the last bit, as the scan of a file."""

import random
import re
import subprocess
import sys

import narwhals
import numpy as np
import pyarrow as pa
import pytest

import cranfield
from cranfield import InputError, Judgments, Policy, PolicyError
from cranfield.engines import engine_rows as frames
from cranfield.engines import lazy_run as lazy
from cranfield.engines.polars import Polars
from cranfield.engines.protocol import Engine
from cranfield.ranks.ranking import rank_scanned
from tests import generated
from tests.engines.conftest import WARNINGS_OF_SPARK, arrow, shared_out
from tests.measures.test_catalogue import variants

pytestmark = WARNINGS_OF_SPARK
MEASURES = [measure for measure in variants("ranks") if measure.definition.name not in ("TBG", "U")]
IDS = [*(f"d{i}" for i in range(30)), "é", "e", "文書", "𝄞", "\uffee", "Z", "z", "a b", "'", '"', "\\x41", "1", "01"]
COLUMNS = ("query", "rank", "grade", "tied", "row", "retrieved", "missing", "judged_grades", "judged_first")


def collection(seed=1):
    """Judgments and a run: ties, gaps, queries that only one of them has, queries with few and many judged."""
    chance = random.Random(seed)
    queries = [*(f"q{i}" for i in range(20)), "é", "文書", "10", "9"]
    run = {
        q: {d: chance.choice([0.5, 1.0, 1.5, chance.random()]) for d in chance.sample(IDS, chance.randint(1, 40))}
        for q in queries[:-4]
    }
    qrels = {
        q: {d: chance.choice([-1, 0, 0, 1, 2, 3]) for d in chance.sample(IDS, chance.choice([1, 3, 30]))}
        for q in queries[4:]
    }
    return qrels, run


def rows_of(run):
    rows = [(q, d, s) for q, ranking in run.items() for d, s in ranking.items()]
    random.Random(2).shuffle(rows)
    return rows


def scanned(qrels, run, measures="AP", **options):
    data = "".join(f"{q}\t{d}\t{s!r}\n" for q, d, s in rows_of(run)).encode()
    quoted = b"query_id\tdoc_id\tscore\n" + data.replace(b'"', b'""""')
    return cranfield.evaluate(qrels, generated.file(quoted), measures, format="tsv", **options)


def assert_same_table(got, wanted):
    for column in COLUMNS:
        np.testing.assert_array_equal(getattr(got, column), getattr(wanted, column), column)
    assert got.extra == wanted.extra


def assert_same(got, wanted):
    assert_same_table(got.ranks, wanted.ranks)
    assert [row[1:3] for row in got.per_query] == [row[1:3] for row in wanted.per_query]
    np.testing.assert_array_equal([row.value for row in got.per_query], [row.value for row in wanted.per_query])


def test_all_measures(lazily, monkeypatch):
    monkeypatch.setattr(lazy, "MANY", 5)  # both ways of counting are used
    qrels, run = collection()
    with shared_out(frame := lazily(rows_of(run))):
        got = cranfield.evaluate(qrels, frame, MEASURES)
    assert_same(got, scanned(qrels, run, MEASURES))
    hits = np.bincount(got.ranks.query)
    assert (hits > 5).any()
    assert ((hits > 0) & (hits <= 5)).any()


@pytest.mark.parametrize(("ties", "many"), [("smaller_doc_id", 0), ("best", 1000), ("worst", 0)])
def test_ties(lazily, monkeypatch, ties, many):
    monkeypatch.setattr(lazy, "MANY", many)
    qrels, run = collection(3)
    run["q5"] = dict.fromkeys(IDS, 0.25)
    policy = Policy(ties=ties, depth=7, missing="skip")
    assert_same(
        cranfield.evaluate(qrels, lazily(rows_of(run)), "AP nDCG@3", policy=policy),
        scanned(qrels, run, "AP nDCG@3", policy=policy),
    )


@pytest.mark.parametrize("policy", [Policy(negative="nonrelevant"), Policy(complete=True)], ids=str)
def test_policies_for_unjudged_documents(lazily, policy):
    qrels, run = collection(4)
    measures = [each for each in MEASURES if "judged_only" not in dict(each.parameters) or not policy.complete][::4]
    measures = [*measures, *cranfield.parse_measures("Judged@10 Bpref infAP")]
    got = cranfield.evaluate(qrels, lazily(rows_of(run)), dict.fromkeys(measures), policy=policy)
    assert_same(got, scanned(qrels, run, dict.fromkeys(measures), policy=policy))


def test_numbers_as_ids(lazily):
    # 10 sorts before 9 by bytes, so that 9 wins the tie; '007' is not 7.
    qrels = {"3": {"9": 1, "10": 2, "007": 1, "-1": 1, "x": 1, "99999999999999999999": 1}, "03": {"9": 1}}
    run = {"3": {"9": 2.0, "10": 2.0, "7": 2.0, "-1": 2.0}, "4": {"9": 2.0}}
    rows = [(int(q), int(d), int(s)) for q, d, s in rows_of(run)]
    for kinds in ((pa.int32(), pa.int64(), pa.float32()), (pa.int64(), pa.int16(), pa.int64())):
        assert_same(
            cranfield.evaluate(qrels, lazily(rows, kinds)), scanned(qrels, run, cranfield.measures.DEFAULT_MEASURES)
        )


def test_the_largest_numbers_as_ids(lazily):
    largest, smallest = 2**63 - 1, -(2**63)
    frame = lazily([(largest, smallest, 1.0), (largest, 0, 2.0)])
    qrels = {str(largest): {str(smallest): 1}, str(largest + 1): {"0": 1}}
    assert cranfield.evaluate(qrels, frame, "RR").by_query("RR") == {str(largest): 0.5, str(largest + 1): 0.0}


def test_categorical_enum_and_unsigned_ids_in_polars():
    polars = pytest.importorskip("polars")
    rows = polars.DataFrame({"query_id": ["q", "q"], "doc_id": ["b", "a"], "score": [1, 1], "query_as_text": ["", ""]})
    for kind in (polars.Categorical, polars.Enum(["b", "a", "q"])):
        frame = rows.lazy().with_columns(polars.col("query_id", "doc_id").cast(kind))
        assert cranfield.evaluate({"q": {"a": 1}}, frame, "RR")["RR"] == 0.5
    unsigned = polars.LazyFrame({"doc_id": polars.Series([2**64 - 1], dtype=polars.UInt64), "score": [1.0]})
    assert (
        cranfield.evaluate({"1": {str(2**64 - 1): 1}}, unsigned.with_columns(query_id=polars.lit(1)), "RR")["RR"] == 1
    )


def test_ranks_in_place_of_scores_and_negative_zero(lazily):
    names = ("qid", "docno", "rank")
    ranked = lazily([("q", "a", 3), ("q", "b", 1), ("q", "c", 2)], names=names)
    assert cranfield.evaluate({"q": {"a": 1}}, ranked, "RR")["RR"] == 1 / 3
    zeros = lazily([("q", "a", -0.0), ("q", "b", 0.0), ("q", "c", -0.0)])
    assert cranfield.evaluate({"q": {"b": 1}}, zeros, "RR")["RR"] == 1 / 2


def test_a_document_with_the_id_of_its_query(lazily):
    qrels, run = {"a": {"b": 1}, "b": {"c": 1}}, {"a": {"a": 3.0, "b": 2.0, "c": 1.0}, "b": {"b": 1.0}}
    policy = Policy(same_id="drop")
    got = cranfield.evaluate(qrels, lazily(rows_of(run)), "RR", policy=policy)
    assert_same(got, scanned(qrels, run, "RR", policy=policy))
    assert not got.ranks.missing.any()
    mixed = lazily([(1, "1", 2.0), (1, "2", 1.0)])
    assert cranfield.evaluate({"1": {"2": 1}}, mixed, "RR", policy=policy)["RR"] == 1


def test_queries_with_very_many_documents(lazily, request):
    chance = np.random.default_rng(1)
    run, qrels = {"small": {"d1": 1.0}}, {"small": {"d1": 1}}
    # Spark sorts and counts a tenth of the rows in the same ways, in a quarter of a minute less.
    sizes = (10_000, 2_000) if "spark" in request.node.name else (100_000, 20_000)
    for query, size, judged in (("heavily judged", sizes[0], 2000), ("hardly judged", sizes[1], lazy.MANY)):
        scores = chance.integers(0, 5000, size) / 8
        run[query] = {f"d{i}": score for i, score in enumerate(scores.tolist())}
        qrels[query] = {f"d{i}": i % 3 for i in chance.choice(size, judged, replace=False).tolist()}
    judgments, policy = Judgments.read(qrels), Policy()
    found = lazy.LazyRun(frames.EngineRows(frame := lazily(rows_of(run)), "the run", policy), judgments)
    with shared_out(frame):
        row, _ = found.hits
        seen = found.scanned
    by_window = {judgments.query_ids[at] for at in judgments.query[row[found.heavy]].tolist()}
    assert by_window == {"heavily judged"}  # the others are counted
    got = rank_scanned(judgments, seen, policy, "the run")
    assert_same_table(got, cranfield.evaluate(qrels, run).ranks)


def test_duplicate_documents_are_an_error_unless_the_best_is_kept(lazily):
    rows = [("q", "a", 1.0), ("q", "b", 2.0), ("q", "a", 3.0), ("p", "é", 1.0), ("p", "é", 1.0), ("p", "é", 0.5)]
    with pytest.raises(cranfield.InputError) as caught:
        cranfield.evaluate({"q": {"a": 1}}, lazily(rows))
    assert str(caught.value) == (
        "the run: document 'é' appears 3 times in the ranking of query 'p'; also 'a' of query 'q'.\n"
        "Hint: keep one, or choose the highest score with policy=Policy(duplicates='best')"
    )
    got = cranfield.evaluate({"q": {"a": 1, "b": 1}}, lazily(rows), "RR P@2", policy=Policy(duplicates="best"))
    assert (got["RR"], got["P@2"], got.ranks.retrieved.tolist()) == (1, 1, [2])


@pytest.mark.parametrize(
    ("row", "fact"),
    [
        (("q", "b", float("nan")), "query 'q', document 'b': nan is not a finite number"),
        (("q", "b", float("-inf")), "query 'q', document 'b': -inf is not a finite number"),
        (("q", "b", None), "query 'q', document 'b': the score is missing"),
        (("q", None, 1.0), "query 'q', document '': the document id is missing or empty"),
        (("", "b", 1.0), "query '', document 'b': the query id is missing or empty"),
    ],
)
def test_rows_that_cannot_be_used(lazily, row, fact):
    with pytest.raises(InputError, match=f"^the run: 1 row cannot be used: {re.escape(fact)}.$"):
        cranfield.evaluate({"q": {"a": 1}}, lazily([("q", "a", 1.0), row]))


def test_columns_that_cannot_be_used(lazily):
    qrels = {"q": {"a": 1}}
    for rows, names, fact in [
        ([("q", "a", "1")], ("query_id", "doc_id", "score"), "column 'score' contains String, not numbers."),
        ([("q", 1.5, 1.0)], ("query_id", "doc_id", "score"), "column 'doc_id' contains Float64, not ids."),
        (
            [("q", "a", 1.0)],
            ("query_id", "title", "score"),
            "required columns are missing; it has query_id, title, score.",
        ),
    ]:
        with pytest.raises(InputError, match=re.escape(fact)):
            cranfield.evaluate(qrels, lazily(rows, names=names))
    with pytest.raises(InputError, match="it contains no rankings"):
        cranfield.evaluate(qrels, _empty(lazily))


def _empty(lazily):
    import narwhals as nw

    return nw.from_native(lazily([("q", "a", 1.0)])).filter(nw.col("score") > 2).to_native()


def test_policies_and_options_that_do_not_apply_are_refused(lazily):
    frame = lazily([("q", "a", 1.0)])
    for setting in ({"ties": "file"}, {"duplicates": "first"}, {"duplicates": "last"}):
        with pytest.raises(PolicyError, match="the rows of a lazy frame have no order"):
            cranfield.evaluate({"q": {"a": 1}}, frame, policy=Policy(**setting))
    with pytest.raises(InputError, match="1 judged query is not in the run: p"):
        cranfield.evaluate({"q": {"a": 1}, "p": {"a": 1}}, frame, policy=Policy(missing="error"))
    with pytest.raises(InputError, match="lengths need all documents"):
        cranfield.evaluate({"q": {"a": 1}}, frame, "AP", lengths={"a": 1})
    with pytest.raises(InputError, match="engine='duckdb' is for files"):
        cranfield.evaluate({"q": {"a": 1}}, frame, "AP", engine="duckdb")


def test_judgments_in_an_engine(lazily):
    qrels = lazily([("q", "a", 1), ("q", "b", 0)], names=("query_id", "doc_id", "grade"))
    frame = lazily([("q", "a", 1.0), ("q", "b", 2.0)])
    assert cranfield.evaluate(qrels, frame, "RR")["RR"] == 0.5


def test_a_collation_does_not_change_the_order():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("PRAGMA default_collation=nocase")
    connection.execute("CREATE TABLE run (query_id VARCHAR, doc_id VARCHAR COLLATE noaccent, score FLOAT)")
    connection.execute(
        "INSERT INTO run VALUES ('q', 'a', 1), ('q', 'B', 1), ('Q', 'A', 1), ('q', 'A', 1), ('q', 'é', 1)"
    )
    got = cranfield.evaluate({"q": {"B": 1, "A": 1}, "Q": {"a": 1}}, connection.table("run"), "AP")
    assert got.ranks.rank.tolist() == [3, 4]
    assert got.ranks.retrieved.tolist() == [1, 4]


def test_a_collation_of_spark_does_not_change_the_order(spark):
    frame = spark.createDataFrame(arrow([("q", "a", 1.0), ("q", "B", 1.0), ("q", "A", 1.0)]))
    frame = frame.selectExpr("query_id", "doc_id COLLATE UTF8_LCASE AS doc_id", "score")
    assert cranfield.evaluate({"q": {"B": 1, "A": 1}}, frame, "AP").ranks.rank.tolist() == [2, 3]


def test_spark_connect(tmp_path, spark):
    """A client without its own JVM connects to the server that a plugin runs in the session of the other tests."""
    script = tmp_path / "connect.py"
    script.write_text(
        "import cranfield, sys\n"
        "from pyspark.sql import SparkSession\n"
        "session = SparkSession.builder.remote(sys.argv[1]).getOrCreate()\n"
        "rows = [('q', 'a', 1.0), ('q', 'b', 2.0), ('p', 'a', 1.0)]\n"
        "frame = session.createDataFrame(rows, 'query_id string, doc_id string, score double')\n"
        "qrels = {'q': {'a': 1}, 'p': {'a': 1}}\n"
        "print(cranfield.evaluate(qrels, frame, 'RR')['RR'])\n"
        "print(cranfield.evaluate_lazily(qrels, frame, 'RR')['RR'])\n"
        "print(type(frame).__module__)\n"
        "session.stop()\n"
    )
    port = spark.conf.get("spark.connect.grpc.binding.port", None)
    if port is None:
        pytest.skip("Spark Connect needs grpcio and grpcio-status, which are not installed")
    command = [sys.executable, script, f"sc://127.0.0.1:{port}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == ["0.75", "0.75", "pyspark.sql.connect.dataframe"], done.stderr[-2000:]


def test_measures_of_groups(lazily):
    qrels = {"q1": {"s1": {"a": 1, "b": 1}, "s2": {"b": 1, "c": 2}}, "q2": {"s1": {"x": 1}}}
    run = {"q1": {"a": 3.0, "x": 2.5, "b": 2.0, "c": 2.0}, "q2": {"y": 1.0, "x": 1.0}}
    measures = "alpha_nDCG@3 ERR_IA@3 StRecall@2"
    got = cranfield.evaluate(qrels, lazily(rows_of(run)), measures)
    assert dict(got) == dict(cranfield.evaluate(qrels, run, measures))


def test_documents_with_equal_hash_keys_are_not_duplicates(lazily, monkeypatch):
    """A hash that is the same for all documents requires a second check, and changes no result."""
    with_key = Engine.with_key

    def one_key(self, frame):
        keyed = with_key(self, frame)
        return None if keyed is None else keyed.with_columns(key=narwhals.lit(0))

    monkeypatch.setattr(Engine, "with_key", one_key)
    qrels, run = collection()
    assert_same(cranfield.evaluate(qrels, lazily(rows_of(run)), "AP"), scanned(qrels, run, "AP"))
    with pytest.raises(InputError, match="document 'a' appears twice in the ranking of query 'q'"):
        cranfield.evaluate({"q": {"a": 1}}, lazily([("q", "a", 1.0), ("q", "b", 1.0), ("q", "a", 2.0)]))


def test_a_task_of_spark_that_fails_once(spark, fails_once):
    qrels, run = collection()

    frame = spark.createDataFrame(arrow(rows_of(run))).repartition(4)
    with shared_out(shaky := frame.mapInArrow(fails_once, frame.schema)):
        got = cranfield.evaluate(qrels, shaky, "AP")
    assert_same(got, scanned(qrels, run, "AP"))


def test_a_failure_of_spark_is_reported(spark):
    frame = spark.sql("SELECT 'q' AS query_id, 'a' AS doc_id, CAST(raise_error('broken') AS DOUBLE) AS score")
    with pytest.raises(InputError, match=r"the run: the engine spark failed \(.*broken"):
        cranfield.evaluate({"q": {"a": 1}}, frame, "AP")


def test_polars_groups_in_parts_when_there_is_too_much(monkeypatch):
    polars = pytest.importorskip("polars")
    qrels, run = collection()
    frame = polars.from_arrow(arrow(rows_of(run))).lazy()
    monkeypatch.setattr(Polars, "rows_at_once", 50)
    monkeypatch.setattr(lazy, "MANY", 5)
    assert len(frames.EngineRows(frame, "", Policy()).parts) > 5
    assert_same(cranfield.evaluate(qrels, frame, "AP"), scanned(qrels, run, "AP"))
    for twice in [("é", "d1", 1.0), ("é", "d1", 1.0)], [("", "d", 1.0)], [(None, "d", 1.0)]:
        with pytest.raises(InputError, match=r"appears twice|missing or empty"):
            cranfield.evaluate(qrels, polars.from_arrow(arrow(rows_of({**run, "é": {}}) + twice)).lazy(), "AP")


def test_means_over_orders_of_ties_are_the_same(lazily):
    qrels, run = collection()
    policy, measures = Policy(ties="expected"), "nDCG@10 AP RR P@5 ERR infAP"
    wanted = scanned(qrels, run, measures, policy=policy)
    assert wanted.counts.tied > 0.5
    frame = lazily(rows_of(run))
    got = cranfield.evaluate(qrels, frame, measures, policy=policy)
    totals = cranfield.evaluate_lazily(qrels, frame, measures, policy=policy)
    for name in measures.split():
        np.testing.assert_array_equal(got.column(name), wanted.column(name), name)
    assert dict(totals) == pytest.approx(dict(wanted), abs=1e-15)
    assert totals.warnings == ("infAP is a mean over 128 random orders of ties (seed 0), not over all",)
