"""The fixture, as another project's tests use it."""

import gzip
import os
import subprocess
import sys

import pytest

from tests import program

TESTS = """
import pytest

def nothing(query, k):
    return ["no-such-document", *(["recall"] if "recall" in query else [])]

def other_ids(query, k):
    return [{"metadata": {"source": "/data/files/recall.md"}}]

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

@pytest.mark.search_quality(collection="builtin")
def test_other_ids(search_quality):
    search_quality(other_ids).at_least("nDCG@10", 0.4)

@pytest.mark.search_quality(collection="builtin", retries=0)
def test_broken(search_quality):
    search_quality(broken).at_least("nDCG@10", 0.0)

def test_from_the_configuration(search_quality):
    search_quality("sqlite").at_least("nDCG@10", 0.4)
"""


def run(folder, *arguments, environment=None):
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PY_COLORS": "0", **(environment or {})}
    plugins = ("-p", "no:cacheprovider", "-p", "no:langsmith_plugin")  # the second takes long to import
    return program.run(*plugins, "--strict-markers", *arguments, program="pytest", cwd=folder, env=environment)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_search.py").write_text(TESTS)
    return folder


def test_failures_name_the_worst_queries(folder):
    (folder / "pytest.ini").write_text("[pytest]\nsearch_quality_collection = builtin\n")
    done = run(folder)
    assert "3 failed, 3 passed" in done.stdout, done.stdout + done.stderr
    assert "nothing: nDCG@10 is 0.0" in done.stdout
    assert "and must be at least 0.4" in done.stdout
    assert "other_ids: no judged document is retrieved for any of the 60 queries" in done.stdout
    assert "ids were taken from metadata.source" in done.stdout
    assert "Traceback" not in done.stdout
    assert "0.000  q01: what is precision" in done.stdout
    assert "expected  none  grade 3      precision  Precision" in done.stdout
    assert "1. not judged   no-such-document" in done.stdout
    assert "0 of 60 queries answered by broken" in done.stdout
    assert "q01: RuntimeError: no index" in done.stdout


ACCEPTED = """
import os

def worse(query, k):
    from cranfield import open_collection, open_system
    found = open_system("sqlite", open_collection("builtin")).search(query, k)
    return [document for document, _ in found][::-1][:5]

def chunks(query, k):
    return [{"page": f"{query[:3]}#{n}"} for n in range(k)]

def test_accepted(search_quality):
    system = worse if os.environ.get("WORSE") else "sqlite:tuned"
    asked = search_quality(system, "builtin", name="mine", measures=["nDCG@10"], gate={"tolerance": 0.01})
    asked.not_worse_than_accepted()

def test_settings(search_quality):
    from cranfield import Collection
    pets = Collection("pets", {"1": "cat"}, {"1": {"cat": 1}})
    search_quality(chunks, pets, id="page", collapse="#", k=3).at_least("RR", 1)
"""


def test_not_worse_than_accepted(tmp_path):
    (tmp_path / "test_accepted.py").write_text(ACCEPTED)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "nothing is accepted for 'mine'" in done.stdout
    assert "--accept-search-quality" in done.stdout
    assert "2 passed" in run(tmp_path, "--accept-search-quality").stdout
    assert [path.name.partition("@")[0] for path in sorted((tmp_path / "baseline").iterdir())] == ["mine.json", "mine"]
    assert "2 passed" in run(tmp_path).stdout
    done = run(tmp_path, environment={"WORSE": "1"})
    assert (
        "warning: mine returns at most 5 documents for a query"
        in done.stdout.partition("mine is worse than accepted")[0]
    )
    assert "nDCG@10" in done.stdout
    kept = next((tmp_path / "baseline").glob("mine@*.run.tsv.gz"))
    lines = gzip.decompress(kept.read_bytes()).splitlines(keepends=True)
    kept.write_bytes(gzip.compress(b"".join(lines[:200])))
    done = run(tmp_path)
    assert "1 failed, 1 passed" in done.stdout
    assert "this is not the run that was accepted: its content differs" in done.stdout
    assert "2 passed" in run(tmp_path, "--accept-search-quality").stdout
    assert "2 passed" in run(tmp_path).stdout


MISTAKEN = """
def found(query, k):
    return ["recall"]

def test_setting(search_quality):
    search_quality(found, "builtin", colapse="#")

def test_gate(search_quality):
    search_quality(found, "builtin", name="found", gate={"alpha": 0.6}).not_worse_than_accepted()

def test_collection(search_quality):
    search_quality(found, "no-such-folder")

def test_system(search_quality):
    search_quality("nowhere.at_all:search", "builtin")

def test_measure(search_quality):
    search_quality(found, "builtin").at_least("contex_recall", 0)

def test_no_name(search_quality):
    search_quality(lambda query, k: ["recall"], "builtin").not_worse_than_accepted()

def test_other_folder(search_quality):
    search_quality(found, "builtin", name="../../mine").not_worse_than_accepted()
"""


def test_a_mistake_in_a_call_is_reported_without_internal_code(tmp_path):
    (tmp_path / "test_mistaken.py").write_text(MISTAKEN)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    run(tmp_path, "--accept-search-quality", "-k", "gate or name or folder")
    assert [path.name.partition("@")[0] for path in sorted((tmp_path / "baseline").iterdir())] == [
        "found.json",
        "found",
    ]
    done = run(tmp_path)
    assert "7 failed" in done.stdout, done.stdout + done.stderr
    assert "search_quality: there is no setting 'colapse'." in done.stdout
    assert "alpha=0.6 is not a level" in done.stdout
    assert "no-such-folder" in done.stdout
    assert "there is no module 'nowhere'" in done.stdout
    assert "did you mean context_recall?" in done.stdout
    assert "search_quality: '<lambda>' is not a valid file name" in done.stdout
    assert "search_quality: '../../mine' is not a valid file name" in done.stdout
    assert "During handling of" not in done.stdout
    assert "pytest_plugin.py" not in done.stdout  # no code of ours is shown


def test_a_collection_is_needed(folder):
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = run(folder, "-k", "configuration")
    assert "search_quality needs a collection" in done.stdout


def test_the_plugin_imports_nothing_before_it_is_used(tmp_path):
    code = "import sys, cranfield.pytest_plugin; print(sorted({'numpy', 'cranfield.systems'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
