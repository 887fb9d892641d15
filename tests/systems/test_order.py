"""Runs are measured in the order returned: equal, rising and odd scores do not change it."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import InputError, SystemFailure, evaluate, open_system, record
from cranfield.systems.answers import falling, ranking_of
from tests import program
from tests.systems.server import Server, elastic

scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e-50, -1e-45, 16777216.0, 16777217.0, 3.4e38, -3.4028234663852886e38]),
    st.floats(width=64),
    st.floats(width=32),
)


@settings(max_examples=500)
@given(st.lists(scores, max_size=30))
def test_written_scores_fall_for_readers_of_64_and_32_bits(answer):
    ranking = [(f"d{at}", score) for at, score in enumerate(answer)]
    written, became, *_ = falling(ranking)
    assert [doc_id for doc_id, _ in written] == [doc_id for doc_id, _ in ranking]
    shown = [float(repr(score)) for _, score in written]
    with np.errstate(over="ignore"):
        single, returned = np.array(shown, dtype=np.float32), np.array(answer, dtype=np.float32)
    assert np.isfinite(single).all()
    assert all(below < above for above, below in pairwise(shown))
    assert (single[1:] < single[:-1]).all()
    if became == "kept":
        assert written == ranking
    if all(below < above for above, below in pairwise(answer)) and np.isfinite(returned).all():
        assert became != "replaced" or returned.min() < -3e38  # where there may be no lower number


def test_a_score_is_lowered_by_the_smallest_step_and_others_are_kept():
    written, became, *_ = falling([("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 0.3)])
    assert became == "parted"
    step = float(np.nextafter(np.float32(1), np.float32(0)))
    assert [score for _, score in written] == [1.0, step, float(np.nextafter(np.float32(step), np.float32(0))), 0.3]


@pytest.mark.parametrize(
    "answer", [[("a", 0.1), ("b", 0.9)], [("a", float("nan")), ("b", 1.0)], [("a", 1e39), ("b", 1)]]
)
def test_scores_that_contradict_the_order_are_replaced_or_refused(answer):
    assert ranking_of(answer)[:2] == ([("a", 2.0), ("b", 1.0)], "replaced")
    assert ranking_of(answer, order="rank")[:2] == ([("a", 2.0), ("b", 1.0)], "kept")
    with pytest.raises(SystemFailure):
        ranking_of(answer, order="score")


@pytest.fixture
def shop(tmp_path):
    """A shop that sorts by score and then by name, so that equal scores are in the order of the names."""
    (tmp_path / "shop_under_test.py").write_text(
        "def search(query, k):\n    return [('a-good', 1.0), ('y-bad', 1.0), ('z-bad', 1.0)]\n"
    )
    (tmp_path / "queries.tsv").write_text("1\tone\n2\ttwo\n")
    (tmp_path / "qrels.txt").write_text("1 0 a-good 1\n2 0 a-good 1\n")
    (tmp_path / "cranfield.toml").write_text(
        'collection = "."\nmeasures = ["RR"]\n[systems.shop]\ntype = "python"\nobject = "shop_under_test:search"\n'
    )
    return tmp_path


def run(folder, *arguments):
    return program.run(*arguments, cwd=folder)


@pytest.mark.parametrize("name", ["o.run", "o.tsv", "o.jsonl", "o.run.gz", "o.parquet"])
def test_a_recorded_run_is_measured_in_the_order_returned(shop, name):
    done = run(shop, "run", "shop", "queries.tsv", "-o", name)
    assert done.returncode == 0, done.stderr
    assert "2 queries had tied scores; returned order kept" in done.stdout
    assert json.loads((shop / f"{name}.json").read_text())["parted"] == 2
    for ties in ("doc_id", "smaller_doc_id", "best", "worst"):
        measured = run(shop, "evaluate", "qrels.txt", name, "-m", "RR", "--ties", ties, "--format", "json")
        assert '"RR": 1.0' in measured.stdout, measured.stderr


def test_other_tools_read_the_same_order(shop):
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed")
    run(shop, "run", "shop", "queries.tsv", "-o", "o.run")
    rows = [line.split() for line in (shop / "o.run").read_text().splitlines()]
    for single in (False, True):
        ranked = {}
        for query, _, document, _, score, _ in rows:
            ranked.setdefault(query, {})[document] = float(np.float32(score)) if single else float(score)
        evaluator = pytrec_eval.RelevanceEvaluator({"1": {"a-good": 1}, "2": {"a-good": 1}}, {"recip_rank"})
        assert {query: values["recip_rank"] for query, values in evaluator.evaluate(ranked).items()} == {"1": 1, "2": 1}
    assert run(shop, "trec_eval", "-m", "recip_rank", "qrels.txt", "o.run").stdout.split()[-1] == "1.0000"


def test_a_test_and_its_words_follow_the_order_returned(shop):
    settings = shop / "cranfield.toml"
    settings.write_text(settings.read_text().replace('["RR"]', '["P@10", "RR"]'))  # by RR, no query is below perfect
    done = run(shop, "test", "--worst", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split()[:3] == ["shop", "0.1000", "1.0000"]
    assert "2 queries had tied scores; returned order kept" in done.stdout
    assert "returned     1. grade 1      a-good" in done.stdout


def test_the_fixture_follows_the_order_returned_and_the_settings(shop):
    (shop / "test_shop.py").write_text(
        "def test_order(search_quality):\n    search_quality('shop').at_least('RR', 1.0)\n"
        "def test_other(search_quality):\n    search_quality('shop', k=1).at_most('NumRet', 2)\n"
    )
    done = program.run("-q", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin", program="pytest", cwd=shop)
    assert "2 passed" in done.stdout, done.stdout


def test_a_run_from_a_server_keeps_the_order_returned(tmp_path):
    server = Server(lambda query, attempt: elastic([("a-good", 2.0), ("z-bad", 2.0)]))
    try:
        system = open_system({"type": "elasticsearch", "url": server.url})
        recorded = record(system, {"1": "q"}, tmp_path / "o.run")
        system.close()
    finally:
        server.close()
    assert recorded.parted == 1
    assert evaluate({"1": {"a-good": 1}}, tmp_path / "o.run", "RR")["RR"] == 1.0


def test_a_system_in_a_notebook_gives_scores_that_fall():
    system = open_system(lambda query, k: [("a-good", 1.0), ("z-bad", 1.0)])
    assert evaluate({"1": {"a-good": 1}}, {"1": dict(system.search("q", 10))}, "RR")["RR"] == 1.0


def test_scores_are_ignored_on_request():
    server = Server(lambda query, attempt: {"results": [{"id": "a", "score": 1}, {"id": "b", "score": 5}]})
    try:
        for more in ({"score": ""}, {"order": "rank"}):
            system = open_system({"type": "http", "url": server.url, **more})
            assert system.answer("q", 2)[:2] == ([("a", 2.0), ("b", 1.0)], "kept")
            system.close()
    finally:
        server.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"type": "http", "url": "http://h/"},
        {"type": "solr", "url": "http://h/"},
        {"type": "postgres", "sql": "select %(query)s"},
        {"type": "python", "object": "os:getcwd"},
    ],
)
def test_an_order_that_does_not_exist(settings):
    if settings["type"] == "postgres":
        pytest.importorskip("psycopg", reason="psycopg is not installed")
    with pytest.raises(InputError, match="there is no order 'foo'"):
        open_system({**settings, "order": "foo"})


def test_the_order_setting_is_refused_by_sqlite_and_bm25s():
    from cranfield import open_collection

    for kind in ("sqlite", "bm25s"):
        with pytest.raises(InputError, match="there is no setting 'order'"):
            open_system({"type": kind, "order": "rank"}, open_collection("builtin"))
