"""One fixture runs each test on every engine: `lazily(rows)` is a lazy frame of (query, document, score) rows."""

import os
import shutil
import socket
import sys
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import pyarrow as pa
import pytest

TASKS = "spark.sql.shuffle.partitions"
ADAPTIVE = "spark.sql.adaptive.enabled"
NAMES = ("query_id", "doc_id", "score")
CODE = "-XX:ReservedCodeCacheSize=240m"  # with less, compiled code is dropped and compiled again
UNCHECKED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"

# PySpark calls deprecated functions and leaves sockets open; the other engines give no warnings.
WARNINGS_OF_SPARK = [
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def arrow(rows, kinds=(None, None, None), names=NAMES):
    if isinstance(rows, pa.Table):
        return rows
    return pa.table({name: pa.array(column, kind) for name, column, kind in zip(names, zip(*rows), kinds)})


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if not shutil.which("java"):
        pytest.skip("Spark needs Java, which is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # Spark would start the first Python on the path
    connect = {}  # a second JVM for clients of Spark Connect would take longer than their queries
    if find_spec("grpc") and find_spec("grpc_status"):
        connect = {
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(_free_port()),
        }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            sql.SparkSession.builder.master("local[2,2]")  # a task that fails is tried once more
            .config("spark.driver.memory", "2g")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config(TASKS, "1")  # where sharing out matters, `shared_out` is used
            # For many small queries, compiling each costs more than it saves, and so does planning each stage anew.
            # Spark's own classes need no checking.
            .config(
                "spark.driver.extraJavaOptions", f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmn1g {CODE} {UNCHECKED}"
            )
            .config(ADAPTIVE, "false")
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.shuffle.compress", "false")
            # Small frames stay in two partitions, and are worked on in tasks, as large ones are.
            .config(
                "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
            )
            # Otherwise every expression sends its line of Python to the JVM: half of all their communication.
            .config("spark.python.sql.dataFrameDebugging.enabled", "false")
            .config("spark.sql.dataFrameQueryContext.enabled", "false")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config(map=connect)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        with _known_names():
            yield session
        session.stop()


@contextmanager
def _known_names():
    """Look up each name in the JVM only once: every lookup searches the 300 jars of its class path."""
    from py4j.java_gateway import JavaPackage, JVMView

    with pytest.MonkeyPatch.context() as patch:
        for each in (JVMView, JavaPackage):
            patch.setattr(each, "__getattr__", _remembering(each.__getattr__))
        yield


def _remembering(look_up):
    def remembered(self, name):
        found = look_up(self, name)
        self.__dict__[name] = found
        return found

    return remembered


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module", params=["polars", "duckdb", "spark", "ibis"])
def lazily(request):
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda *rows, **how: session.createDataFrame(arrow(*rows, **how))
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    connection = library.connect() if request.param == "duckdb" else None
    return {
        "polars": lambda *rows, **how: library.from_arrow(arrow(*rows, **how)).lazy(),
        "duckdb": lambda *rows, **how: connection.from_arrow(arrow(*rows, **how)),
        "ibis": lambda *rows, **how: library.memtable(arrow(*rows, **how)),
    }[request.param]


@contextmanager
def shared_out(frame):
    """Spark, if it is the engine of the frame, works as usual: each stage is planned by the results of the last one,
    and two tasks share queries and rows."""
    session = getattr(frame, "sparkSession", None)
    if session is None:
        yield
        return
    usual = {TASKS: "2", ADAPTIVE: "true"}
    before = {name: session.conf.get(name) for name in usual}
    for name, value in usual.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


@pytest.fixture
def fails_once():
    """A function for `mapInArrow` that loses a partition at the first attempt."""

    def fails_once(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        yield from batches
        if context.attemptNumber() == 0 and context.partitionId() == 1:
            raise RuntimeError("lost")

    return fails_once
