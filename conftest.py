"""How the tests run: what is collected, on which worker, how many examples are tried, and what each leaves behind."""

import functools
import gc
import os
import shutil
import signal
import tempfile
from importlib.util import find_spec

import pytest

os.environ["NUMBA_DISABLE_JIT"] = "1"  # compiling takes ranx a minute; it is asked as plain Python
# There is a worker on each core: threads of small calculations would only wait for each other.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

# Tests write thousands of small files, and stores wait for the disk at every grade: memory does as well.
MEMORY = "/dev/shm"
if os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

# A shell that runs the tests in the background makes them ignore Ctrl-C, and so would the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hardly any test speaks to a server whose certificate it checks, and reading all authorities takes each client long.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = os.devnull

# Their fixtures are for all tests: a browser, and a PostgreSQL server.
pytest_plugins = ("tests.chromium", "tests.postgres")

collect_ignore = []
if not find_spec("torch"):
    collect_ignore += ["src/cranfield/torch", "tests/torch/sharing.py"]  # the others in tests/torch skip themselves
elif not find_spec("triton"):
    collect_ignore += ["src/cranfield/torch/fused.py", "src/cranfield/torch/kernels.py"]
# Every worker would import sentence-transformers for five seconds; tests/torch/test_evaluator.py runs their examples.
collect_ignore += ["src/cranfield/torch/__init__.py", "src/cranfield/torch/evaluator.py"]
if not find_spec("sqlalchemy"):
    collect_ignore += ["src/cranfield/judging", "tests/judging", "tests/io/test_commits.py"]
    collect_ignore += ["src/cranfield/io/database.py", "src/cranfield/io/tables.py"]
    collect_ignore += ["src/cranfield/systems/history", "tests/systems/history"]
# What `make quick` leaves out: simulations, damaged input, other processes, browsers, engines, pages, docstrings and
# libraries that take long to import.
SLOW = (
    *("tests/engines", "tests/torch", "src/cranfield/engines", "src/cranfield/torch"),
    *("tests/cli/test_faults.py", "tests/cli/test_help.py", "tests/systems/test_postgres.py"),
    *("tests/systems/test_pytest_plugin.py", "tests/report/test_browser.py", "tests/io/test_bombs.py"),
    *("tests/comparison/test_unjudged.py", "tests/comparison/test_unjudged_completions.py"),
    *("tests/comparison/test_significance.py", "tests/comparison/test_gate.py", "tests/report/test_report_sources.py"),
    *("tests/measures/test_bounds.py", "tests/io/test_fuzz.py", "tests/io/test_round_trip.py", "tests/fuzz"),
    *("tests/report/test_hostile.py", "tests/show/test_charts.py", "tests/systems/test_recording.py"),
    *("tests/judging", "tests/cli/test_options.py", "tests/cli/test_policies.py", "tests/report/test_report.py"),
    *("tests/comparison/test_one_verdict.py", "tests/systems/test_order.py", "tests/io/test_http_client.py"),
    *("tests/comparison/test_show.py", "tests/io/test_conversion.py", "tests/test_reading_once.py"),
    *("tests/test_pages.py", "tests/test_examples.py", "tests/test_wheel.py", "tests/test_site.py"),
    *("tests/cli/test_terminal.py", "tests/cli/test_progress.py", "tests/cli/test_judge.py", "tests/cli/test_pool.py"),
    *("tests/cli/test_setting_up.py", "tests/comparison/test_correcting.py", "tests/measures/test_catalogue.py"),
    *("tests/show/test_chart_looks.py", "tests/comparison/test_reusability.py", "tests/cli/test_corrected.py"),
    *("tests/systems/history", "tests/comparison/test_sliding.py", "tests/report/test_history_page.py"),
    *("tests/measures/test_finite.py", "tests/cli/test_odd_arguments.py", "tests/comparison/test_standing.py"),
    *("tests/ranks/test_frames.py", "tests/ranks/test_passages.py", "tests/systems/test_retrievers.py"),
    *("tests/show/test_notebook.py", "tests/test_docstrings.py", "tests/test_claims.py"),
    "tests/test_faults.py",
)
# Their tests share a browser, a server, a built site, examples or a library that takes long to import. These groups run
# first, because they take longest.
TOGETHER = {
    "tests/report/test_browser.py": "browser",
    "tests/judging/page/test_browser.py": "browser",
    "tests/judging/page/test_marking.py": "browser",
    "tests/systems/test_postgres.py": "PostgreSQL",
    "tests/test_site.py": "site",
    "tests/test_pages.py": "pages",
    "tests/test_claims.py": "claims",
    "tests/engines/test_per_query.py": "engines",
    "tests/measures/test_bounds.py": "bounds",
    "tests/comparison/test_unjudged_completions.py": "completions",
}


def pytest_addoption(parser):
    """Options of `make test`, `make quick` and `make thorough`."""
    parser.addoption("--examples", type=float, default=1, help="try so many times the usual number of random examples")
    parser.addoption("--workers", type=int, default=1, help="run the tests in so many processes")
    parser.addoption("--quick", action="store_true", help="leave out what takes long")


def pytest_ignore_collect(collection_path, config):
    """With --quick, what is slow is not even imported."""
    place = collection_path.relative_to(config.rootpath).as_posix()
    return (config.getoption("--quick") and place in SLOW) or None


def _examples(config, usual):
    """How many examples to try where a test says `usual`."""
    return max(1, round(usual * config.getoption("--examples")))


@pytest.fixture(scope="session")
def examples(pytestconfig):
    """The same, for tests that draw their examples themselves."""
    return functools.partial(_examples, pytestconfig)


@pytest.fixture
def tries(request):
    """How often the mark `fault` of a test says that it tries; see tests/faults.py."""
    return request.node.get_closest_marker("fault").kwargs["tries"]


def pytest_collection_modifyitems(config, items):
    """Try more or fewer examples than the tests say, where that is asked for, each for as long as it takes."""
    for test in {item.obj for item in items if hasattr(getattr(item, "obj", None), "hypothesis")}:
        usual = test._hypothesis_internal_use_settings
        test.usual_examples = usual.max_examples  # which the table in SECURITY.md shows
        test._hypothesis_internal_use_settings = type(usual)(
            usual, max_examples=_examples(config, usual.max_examples), deadline=None
        )


def _shared(test):
    """What a test shares with others that stay in its process, if it does."""
    file, _, name = test.partition("::")
    if file.startswith("tests/engines/") and "spark" in name:
        return "Spark"
    if name.startswith("test_a_query_with_very_many_documents["):
        return "a large run"
    if "llama_index" in name:
        return "LlamaIndex"
    if file.startswith(("tests/torch/", "src/cranfield/torch/")) or "cranfield.torch" in name:
        return "PyTorch"
    return TOGETHER.get(file)


def pytest_configure(config):
    """Start several workers, where that is asked for and possible."""
    from tests.program import shims
    from tests.workers import FORKS, Workers

    if FORKS and (number := config.getoption("--workers")) > 1:
        shims()  # while one process collects the tests, the server of programs imports what it needs
        config.pluginmanager.register(Workers(number, _shared))


def pytest_collection_finish():
    """What has been imported stays until the end, so the garbage collector need not look at it, nor so often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session")
def _registry():
    from cranfield.measures import registry

    registry.catalogue()  # imports all families, which register themselves only once
    return registry


@pytest.fixture(autouse=True)
def _registry_as_it_was(_registry):
    kept = [(table, dict(table)) for table in (_registry._definitions, _registry._aliases)]
    yield
    for table, before in kept:
        if table != before:
            table.clear()
            table.update(before)
