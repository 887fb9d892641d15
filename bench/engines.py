"""One engine, one Parquet run, in a separate process: `python bench/engines.py TOOL ROWS` prints seconds and MB.

`make ROWS` writes the collection, `same TOOL` counts the values that differ from those of a file scan. The time starts
when the library is imported and, for Spark, its session runs: the work is compared, not the start-up.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("data")
DOCUMENTS, DEPTH = 8_841_823, 1000
FREE = 15  # bytes of disk for a row, with room for what engines spill
MEASURES = "AP nDCG@10 RR P@10 R@1000 P@1 P@5 R@10 R@100 Judged@10"
LIMIT = "2GB"

# A thousand documents for each query, all different; one or two of them judged in half of the queries; text ids, ties.
DOCUMENT = f"(hash(query) % {DOCUMENTS} + (1 + hash(query + 7) % {DOCUMENTS // DEPTH}) * place) % {DOCUMENTS}"
RUN = f"""
COPY (
    SELECT query::VARCHAR AS query_id, ({DOCUMENT})::VARCHAR AS doc_id,
           round(-8 * ln((hash(row) % 1000000 + 1) / 1000001), 4) AS score
    FROM (SELECT range AS row, range // {DEPTH} AS query, range % {DEPTH} AS place FROM range($rows))
) TO '$path' (FORMAT parquet)
"""
QRELS = f"""
COPY (
    SELECT query, 0, CASE WHEN place > 0 OR hash(query + 1) % 100 < 55 THEN {DOCUMENT} ELSE {DOCUMENTS + 1} END, 1
    FROM (SELECT query, unnest(CASE WHEN hash(query + 2) % 100 < 7 THEN [0, 1] ELSE [0] END) AS place
          FROM (SELECT range AS query FROM range($rows // {DEPTH})))
) TO '$path' (FORMAT csv, DELIMITER ' ', HEADER false)
"""


def files(rows: int) -> tuple[Path, Path]:
    return DATA / f"{rows}.qrels", DATA / f"{rows}.parquet"


def make(rows: int) -> None:
    import duckdb

    DATA.mkdir(exist_ok=True)
    if shutil.disk_usage(DATA).free < rows * FREE:
        raise SystemExit(f"{rows:,} rows need {rows * FREE / 1e9:.0f} GB of disk for a while")
    connection = duckdb.connect(config={"memory_limit": LIMIT, "temp_directory": str(DATA / "spilled")})
    for path, query in zip(files(rows), (QRELS, RUN), strict=True):
        unfinished = path.with_suffix(".part")
        connection.execute(query.replace("$rows", str(rows)).replace("$path", str(unfinished)))
        unfinished.rename(path)


def evaluate(frame: Any, qrels: str, lazily: bool) -> None:
    import cranfield

    function = cranfield.evaluate_lazily if lazily else cranfield.evaluate
    print(function(qrels, frame, MEASURES), file=sys.stderr)


def polars(qrels: str, run: str, *, lazily: bool = False) -> float:
    import polars

    start = time.perf_counter()
    evaluate(polars.scan_parquet(run), qrels, lazily)
    return time.perf_counter() - start


def duckdb(qrels: str, run: str, *, lazily: bool = False) -> float:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": LIMIT, "temp_directory": str(DATA / "spilled")})
    start = time.perf_counter()
    evaluate(connection.read_parquet(run), qrels, lazily)
    return time.perf_counter() - start


BARE = """
CREATE TEMP TABLE judged AS
    SELECT column0 AS query_id, column2 AS doc_id FROM read_csv('$qrels', delim=' ', all_varchar=true);
CREATE TEMP TABLE hits AS SELECT query_id, doc_id, score FROM run JOIN judged USING (query_id, doc_id);
SELECT count(*), sum(above) FROM (
    SELECT hits.query_id, hits.doc_id, count(*) AS above
    FROM run JOIN hits USING (query_id)
    WHERE run.score > hits.score OR (run.score = hits.score AND run.doc_id > hits.doc_id)
    GROUP BY ALL
)
"""


def bare_sql(qrels: str, run: str) -> float:
    """Only the ranks of the judged documents, by DuckDB: nothing is checked, nothing measured."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": LIMIT, "temp_directory": str(DATA / "spilled")})
    start = time.perf_counter()
    connection.read_parquet(run).create_view("run")
    print(connection.execute(BARE.replace("$qrels", qrels)).fetchall(), file=sys.stderr)
    return time.perf_counter() - start


def duckdb_lazy(qrels: str, run: str) -> float:
    return duckdb(qrels, run, lazily=True)


def polars_lazy(qrels: str, run: str) -> float:
    return polars(qrels, run, lazily=True)


def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.local.dir", str(DATA / "spilled")).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.range(10).count()
    return session


def spark(qrels: str, run: str, *, lazily: bool = False) -> float:
    session = _spark()
    start = time.perf_counter()
    evaluate(session.read.parquet(run), qrels, lazily)
    return time.perf_counter() - start


def spark_lazy(qrels: str, run: str) -> float:
    return spark(qrels, run, lazily=True)


def ranking_metrics(qrels: str, run: str) -> float:
    """Spark's own way: the documents of each ranking in order, as a list, beside the relevant ones; four measures."""
    from pyspark import StorageLevel
    from pyspark.mllib.evaluation import RankingMetrics

    session = _spark()
    start = time.perf_counter()
    judged = session.read.csv(qrels, sep=" ", schema="query_id STRING, iteration STRING, doc_id STRING, grade INT")
    relevant = judged.where("grade > 0").groupBy("query_id").agg({"doc_id": "collect_list"})
    session.read.parquet(run).createOrReplaceTempView("run")
    rankings = session.sql(
        "SELECT query_id, transform(sort_array(collect_list(struct(score, doc_id)), false), x -> x.doc_id) "
        "AS documents FROM run GROUP BY query_id"
    )
    pairs = rankings.join(relevant, "query_id").drop("query_id").rdd.map(tuple).persist(StorageLevel.MEMORY_AND_DISK)
    metrics = RankingMetrics(pairs)
    values = metrics.meanAveragePrecision, metrics.ndcgAt(10), metrics.precisionAt(10), metrics.recallAt(1000)
    print(*values, file=sys.stderr)
    return time.perf_counter() - start


def same(tool: str) -> str:
    """How many values of the whole catalogue differ from those of a file scan, on random data with ties and gaps."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import cranfield
    from tests.engines.conftest import arrow
    from tests.engines.test_lazy import MEASURES, collection, rows_of, scanned

    different = total = 0
    session = _spark() if tool == "spark" else None
    for seed in range(1, 2 if session else 6):
        qrels, run = collection(seed)
        rows = arrow(rows_of(run))
        if tool == "polars":
            import polars

            frame = polars.from_arrow(rows).lazy()
        elif tool == "duckdb":
            import duckdb

            frame = duckdb.connect().from_arrow(rows)
        else:
            assert session
            frame = session.createDataFrame(rows).repartition(3)
        wanted = [row.value for row in scanned(qrels, run, MEASURES).per_query]
        values = [row.value for row in cranfield.evaluate(qrels, frame, MEASURES).per_query]
        different += sum(one != other for one, other in zip(wanted, values, strict=True))
        total += len(wanted)
    return f"{different} of {total:,} values differ"


def peak() -> float:
    """The largest memory in MB of this process and of the JVM and the Python processes that it started."""
    parents, sizes = {}, {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:  # it has ended
            continue
        if "VmHWM" in facts:
            parents[int(facts["Pid"])] = int(facts["PPid"])
            sizes[int(facts["Pid"])] = int(facts["VmHWM"].split()[0]) / 1024

    def is_mine(process: int | None) -> bool:
        return process == os.getpid() or (process in parents and is_mine(parents[process]))

    return sum(size for process, size in sizes.items() if is_mine(process))


def main(tool: str, argument: str) -> None:
    with tempfile.TemporaryDirectory(dir=DATA if DATA.exists() else None) as folder:
        os.environ["TMPDIR"] = folder  # temporary files go where there is room
        if tool == "make":
            make(int(argument))
        elif tool == "same":
            print(same(argument))
        else:
            seconds = globals()[tool](*map(str, files(int(argument))))
            print(seconds, peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
