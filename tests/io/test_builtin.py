"""The examples that come with the package, by their names."""

import pytest

import cranfield
from cranfield.errors import InputError
from cranfield.io.streams import BUILT_IN_FILES, BUILT_IN_LIST


def test_all_built_in_names_can_be_read():
    for judgments, runs, queries in (
        ("builtin", ("builtin:plain", "builtin:tuned"), 60),
        ("builtin:ten", ("builtin:keywords", "builtin:meaning"), 10),
        ("builtin:qrels", ("builtin:keywords", "builtin:meaning"), 10),
    ):
        found = cranfield.evaluate_runs(judgments, runs, "nDCG@10")
        assert list(found) == [run.partition(":")[2] for run in runs]
        assert {each.counts.queries for each in found.values()} == {queries}
        assert {judgments, *runs} <= set(BUILT_IN_FILES)
    assert cranfield.evaluate("builtin:ten", "builtin:meaning", "AP") == cranfield.evaluate(
        "builtin:qrels", "builtin:meaning", "AP"
    )


def test_built_in_runs_match_the_demo_engines(tmp_path):
    collection = cranfield.open_collection("builtin")
    for kind, name in (("sqlite", "plain"), ("sqlite:tuned", "tuned")):
        system = cranfield.open_system(kind, collection, name=name)
        cranfield.record(system, collection.queries, tmp_path / f"{name}.run")
        system.close()
        recorded = cranfield.evaluate("builtin", tmp_path / f"{name}.run", "nDCG@10 AP R@100")
        stored = cranfield.evaluate("builtin", f"builtin:{name}", "nDCG@10 AP R@100")
        assert dict(stored) == pytest.approx(dict(recorded))


def test_an_unknown_name_lists_the_built_in_files(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="there is no such built-in file") as error:
        cranfield.evaluate("builtin:nothing", "builtin:meaning")
    assert BUILT_IN_LIST in str(error.value)
    for name in BUILT_IN_FILES:
        assert name in BUILT_IN_LIST or name == "builtin:qrels"
    # A file of this name takes precedence.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "builtin").write_text("1 0 a 1\n")
    assert cranfield.evaluate("builtin", {"1": ["a"]}, "RR")["RR"] == 1
