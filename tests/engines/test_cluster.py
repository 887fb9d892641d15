"""The page "On a cluster", on one: a master and two workers on this machine, each with processes of its own."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

import cranfield
from tests import pages

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not shutil.which("java"), reason="Spark needs Java, which is not installed"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc"),
]
HOME = Path(pyspark.__file__).parent
PAGE = pages.ROOT / "docs/guides/cluster.md"
HEAD, CONNECT = "spark://head:7077", "sc://head:15002"  # as on the page
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
# What a cluster's spark-defaults.conf says; for small queries, compiling takes longer than it saves.
DEFAULTS = f"""
spark.executor.memory 512m
spark.driver.memory 512m
spark.sql.shuffle.partitions 4
spark.sql.adaptive.enabled false
spark.sql.codegen.wholeStage false
spark.sql.codegen.factoryMode NO_CODEGEN
spark.ui.enabled false
spark.driver.extraJavaOptions {QUICK}
spark.executor.extraJavaOptions {QUICK}
spark.connect.grpc.binding.address 127.0.0.1
"""
# A measure that waits where it is first calculated, until that machine is gone.
KILLED = """
import os, sys, time
from pathlib import Path
import cranfield
from pyspark.sql import SparkSession

qrels, run, values, folder = sys.argv[1:]

@cranfield.measure("Waiting")
def waiting(judged):
    "RR, once nobody waits."
    where = Path(folder, "waiting")
    try:
        if len(judged) > 1:
            with where.open("x") as file:
                file.write(str(os.getpid()))
            time.sleep(300)
    except FileExistsError:
        pass
    return cranfield.parse_measure("RR")(judged)

spark = SparkSession.builder.getOrCreate()
result = cranfield.evaluate_lazily(qrels, spark.read.parquet(run), "nDCG@10 AP RR R@100 Waiting")
result.per_query.to_native().write.parquet(values)
"""


@contextmanager
def started(name, *arguments, env, until, folder):
    """A process of Spark, when a line of its log matches; ended with its children."""
    log = folder / f"{name}.log"
    with log.open("w") as file:
        command = [str(HOME / "bin" / "spark-class"), *arguments]
        process = subprocess.Popen(command, env=env, stdout=file, stderr=file, start_new_session=True)
    try:
        for _ in range(1800):
            if found := re.search(until, log.read_text()):
                yield process, found[0]
                break
            if process.poll() is not None:
                pytest.fail(f"{name} ended: {log.read_text()[:6000]}")
            time.sleep(0.1)
        else:
            pytest.fail(f"{name} did not start: {log.read_text()[-2000:]}")
    finally:
        for each in (*descendants(process.pid), process.pid):
            kill(each)
        process.wait()


def kill(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def parents():
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it has ended
            continue
    return found


def descendants(pid):
    of = parents()

    def below(one):
        return one == pid or (one in of and below(of[one]))

    return [one for one in of if one != pid and below(one)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of the master, the workers, and what programs need in their environment."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "conf").mkdir()
    (folder / "conf/spark-defaults.conf").write_text(DEFAULTS)
    env = {
        **os.environ,
        "SPARK_HOME": str(HOME),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    deployed = "org.apache.spark.deploy"
    with ExitStack() as stack:
        here = {"env": env, "folder": folder}
        master = [f"{deployed}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        _, address = stack.enter_context(started("master", *master, until=r"spark://127\.0\.0\.1:\d+", **here))
        workers = []
        for name in ("one", "two"):
            place = ["--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "1g", "-d", str(folder / name)]
            worker = [f"{deployed}.worker.Worker", *place, address]
            process, _ = stack.enter_context(started(name, *worker, until="Successfully registered", **here))
            workers.append(process)
        yield address, workers, env


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Judgments and a run in several files, with ties, and their values."""
    folder = tmp_path_factory.mktemp("files")
    qrels = {f"q{q}": {f"d{(q * 7 + i * 3) % 200}": (q + i) % 4 for i in range(12)} for q in range(60)}
    run = {f"q{q}": {f"d{(q + i) % 200}": ((i * 37 + q) % 40) / 8 for i in range(120)} for q in range(2, 62)}
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, of in qrels.items() for d, g in of.items()))
    rows = [(q, d, score) for q, ranking in run.items() for d, score in ranking.items()]
    (folder / "run.parquet").mkdir()
    for part in range(4):
        columns = dict(zip(("query_id", "doc_id", "score"), zip(*rows[part::4])))
        parquet.write_table(pa.table(columns), folder / "run.parquet" / f"{part}.parquet")
    wanted = cranfield.evaluate(qrels, run, "nDCG@10 AP RR R@100")
    return folder, wanted


def of_page(language, start=""):
    """The code of the page in one language that begins like this."""
    [found] = [
        block.text
        for block in pages.blocks(PAGE.read_text())
        if block.language == language and block.text.startswith(start)
    ]
    return found


def values_of(path):
    return sorted((row["query_id"], row["measure"], row["value"]) for row in parquet.read_table(path).to_pylist())


def expected(evaluation):
    return sorted((row.query_id, row.measure, row.value) for row in evaluation.per_query)


def test_the_job_of_the_page(cluster, files):
    folder, wanted = files
    (folder / "measure.py").write_text(of_page("python", "import sys"))
    address, _, env = cluster
    command = of_page("sh", "spark-submit").replace(HEAD, address)
    how = {"shell": True, "cwd": folder, "env": env, "capture_output": True, "text": True, "timeout": 300}
    job = subprocess.run(command, **how)
    assert job.returncode == 0, job.stderr[-3000:]
    assert values_of(folder / "values.parquet") == expected(wanted)
    assert all(f"{value:.4f}" in job.stdout for value in wanted.values()), job.stdout


@pytest.fixture(scope="module")
def connected(cluster, tmp_path_factory):
    """The address of a server of Spark Connect on the cluster: what the page's script runs, in the foreground."""
    address, _, env = cluster
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = of_page("sh", "$SPARK_HOME").split()
    assert (HOME / command[0].removeprefix("$SPARK_HOME/")).exists()
    assert command[1:] == ["--master", HEAD]
    server = [
        "org.apache.spark.deploy.SparkSubmit",
        "--class",
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    server += ["--master", address, "--conf", f"spark.connect.grpc.binding.port={port}"]
    folder = tmp_path_factory.mktemp("connect")
    with started("connect", *server, env=env, folder=folder, until="Spark Connect server started"):
        yield f"sc://127.0.0.1:{port}"


def test_spark_connect_of_the_page(cluster, connected, files):
    folder, wanted = files
    asked = of_page("sh", "cranfield evaluate").replace(CONNECT, connected).strip()
    how = {"shell": True, "cwd": folder, "env": cluster[2], "capture_output": True, "text": True, "timeout": 300}
    told = subprocess.run(f"{asked} --format json", **how)
    assert told.returncode == 0, told.stderr[-3000:]
    [result] = json.loads(told.stdout)["runs"]
    assert result["mean"] == {"nDCG@10": wanted["nDCG@10"], "AP": wanted["AP"]}


def test_a_machine_is_lost_in_the_middle(cluster, connected, files, tmp_path):
    folder, wanted = files
    _, workers, env = cluster
    paths = [folder / "qrels.txt", folder / "run.parquet", tmp_path / "values.parquet", tmp_path]
    script = [sys.executable, "-c", KILLED, *map(str, paths)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    job = subprocess.Popen(script, env={**env, "SPARK_REMOTE": connected}, **pipes)
    marker = tmp_path / "waiting"
    for _ in range(3000):
        if marker.exists() and marker.read_text():
            break
        assert job.poll() is None, job.communicate()[1][-3000:]
        time.sleep(0.1)
    waiting = int(marker.read_text())
    [worker] = [worker for worker in workers if waiting in descendants(worker.pid)]
    for process in (*descendants(worker.pid), worker.pid):
        kill(process)
    _, err = job.communicate(timeout=300)
    assert job.returncode == 0, err[-3000:]
    assert worker.wait() == -signal.SIGKILL
    values = values_of(tmp_path / "values.parquet")
    assert [row for row in values if row[1] != "Waiting"] == expected(wanted)
    assert {row[0]: row[2] for row in values if row[1] == "Waiting"} == wanted.by_query("RR")
