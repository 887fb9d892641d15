"""One engine, one Parquet run, in a process of its own: `python bench/engines.py TOOL QRELS RUN` prints seconds and MB.

`python bench/engines.py make MILLIONS` writes the collection. The time starts when the library is imported and, for
Spark, its session runs: what is compared is the work, not the start.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).with_name("data")
DOCUMENTS, DEPTH, CHUNK = 8_841_823, 1000, 500
MEASURES = "AP nDCG@10 RR P@10 R@1000"


def make(millions: int) -> None:
    """A thousand documents for each query, one or two of them judged in half of the queries; text ids, some ties."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    DATA.mkdir(exist_ok=True)
    qrels, run = DATA / f"{millions}m.qrels", DATA / f"{millions}m.parquet"
    chance = np.random.default_rng(millions)
    unfinished, writer = run.with_suffix(".part"), None
    with qrels.open("w") as qrels_file:
        for first in range(0, millions * 1_000_000 // DEPTH, CHUNK):
            start = chance.integers(0, DOCUMENTS, (CHUNK, 1))
            step = chance.integers(1, DOCUMENTS // DEPTH, (CHUNK, 1))
            documents = (start + step * np.arange(DEPTH)) % DOCUMENTS  # all different
            query = np.repeat(np.arange(first, first + CHUNK), DEPTH)
            scores = np.round(chance.gamma(4, 4, CHUNK * DEPTH), 4)
            columns = [pa.array(query).cast(pa.string()), pa.array(documents.ravel()).cast(pa.string()), scores]
            table = pa.table(columns, names=["query_id", "doc_id", "score"])
            writer = writer or pq.ParquetWriter(unfinished, table.schema)
            writer.write_table(table)
            judged = documents[:, :2].tolist()
            for at, (one, two) in enumerate(judged):
                qrels_file.write(f"{first + at} 0 {one if chance.random() < 0.55 else DOCUMENTS + 1} 1\n")
                if chance.random() < 0.07:
                    qrels_file.write(f"{first + at} 0 {two} 1\n")
    assert writer is not None
    writer.close()
    unfinished.rename(run)


def evaluate(frame: Any, qrels: str) -> None:
    import cranfield

    print(cranfield.evaluate(qrels, frame, MEASURES), file=sys.stderr)


def polars(qrels: str, run: str) -> float:
    import polars

    start = time.perf_counter()
    evaluate(polars.scan_parquet(run), qrels)
    return time.perf_counter() - start


def duckdb(qrels: str, run: str) -> float:
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(DATA / "spilled")})
    start = time.perf_counter()
    evaluate(connection.read_parquet(run), qrels)
    return time.perf_counter() - start


def _spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.local.dir", str(DATA / "spilled")).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.range(10).count()
    return session


def spark(qrels: str, run: str) -> float:
    session = _spark()
    start = time.perf_counter()
    evaluate(session.read.parquet(run), qrels)
    return time.perf_counter() - start


def ranking_metrics(qrels: str, run: str) -> float:
    """Spark's own way: the documents of each ranking in order, as a list, beside the relevant ones."""
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
    pairs = rankings.join(relevant, "query_id").drop("query_id").rdd.map(tuple).cache()
    metrics = RankingMetrics(pairs)
    values = metrics.meanAveragePrecision, metrics.ndcgAt(10), metrics.precisionAt(10), metrics.recallAt(1000)
    print(*values, file=sys.stderr)
    return time.perf_counter() - start


def peak() -> float:
    """The largest memory in MB of this process and of the JVM that it started."""
    total = 0.0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            facts = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        except OSError:  # it has ended
            continue
        mine = int(facts["Pid"]) == os.getpid()
        if mine or (facts["Name"].strip() == "java" and int(facts["PPid"]) == os.getpid()):
            total += int(facts["VmHWM"].split()[0]) / 1024
    return total


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(int(sys.argv[2]))
    else:
        print(globals()[sys.argv[1]](*sys.argv[2:]), peak())
