"""The fixture, as another project's tests use it."""

import os
import subprocess
import sys

import pytest

TESTS = """
import pytest

def nothing(query, k):
    return ["no-such-document"]

def broken(query, k):
    raise RuntimeError("no index")

@pytest.mark.search_quality(collection="builtin")
def test_good(search_quality):
    asked = search_quality("sqlite:tuned")
    assert asked.at_least("nDCG@10", 0.4).at_most("nDCG@10", 0.9) is asked
    assert asked.evaluate("RR")["RR"] > 0.5

def test_named_in_the_call(search_quality):
    search_quality("sqlite", "builtin", k=5).at_least("R@5", 0.1)

@pytest.mark.search_quality(collection="builtin")
def test_too_low(search_quality):
    search_quality(nothing).at_least("nDCG@10", 0.4)

@pytest.mark.search_quality(collection="builtin", retries=0)
def test_broken(search_quality):
    search_quality(broken).at_least("nDCG@10", 0.0)

def test_from_the_configuration(search_quality):
    search_quality("sqlite").at_least("nDCG@10", 0.4)
"""


def run(folder, *arguments):
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PY_COLORS": "0"}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_search.py").write_text(TESTS)
    return folder


def test_failures_name_the_worst_queries(folder):
    (folder / "pytest.ini").write_text("[pytest]\nsearch_quality_collection = builtin\n")
    done = run(folder)
    assert "2 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "nothing: nDCG@10 is 0.0000 and must be at least 0.4" in done.stdout
    assert "0.0000  q01: what is precision" in done.stdout
    assert "expected  none  grade 3      precision  Precision" in done.stdout
    assert "1. not judged   no-such-document" in done.stdout
    assert "0 of 60 queries answered by broken" in done.stdout
    assert "q01: RuntimeError: no index" in done.stdout


def test_a_collection_is_needed(folder):
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = run(folder, "-k", "configuration")
    assert "search_quality needs a collection" in done.stdout


def test_the_plugin_imports_nothing_before_it_is_used(tmp_path):
    code = "import sys, cranfield.pytest_plugin; print(sorted({'numpy', 'cranfield.systems'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
