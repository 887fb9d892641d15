"""Strata of sampled pools in a store: which documents they contain, and how good estimates from them are."""

import json

import pytest
import sqlalchemy as sa

import cranfield
from cranfield import InputError, evaluate, open_store, pool
from cranfield.judging.store.views import OUTSIDE
from tests.judging.store.older import make_older
from tests.program import run as run_program

RANKING = [f"d{n:03}" for n in range(100)]
RELEVANT = {f"d{n:03}" for n in (0, 1, 3, 4, 9, 12, 20, 33, 34, 47, 60, 72, 88)}
QUERY = {"q1": "cats"}


def strata(store):
    """{stratum: documents} of the only query."""
    grouped = store.to_strata()
    found = {}
    for row, group in zip(grouped.row.tolist(), grouped.group.tolist()):
        found.setdefault(grouped.group_ids[group], set()).add(grouped.flat.document_ids[row])
    return found


def judge_all(store, assessor="ann"):
    while task := store.next_for(assessor):
        store.judge("q1", task.doc_id, int(task.doc_id in RELEVANT), assessor=assessor)


def test_the_depth_is_one_stratum_and_the_sample_below_it_another(store):
    found = pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
    judge_all(store)
    assert strata(store) == {"depth 10": set(RANKING[:10]), "11 to 100": set(RANKING[10:])}
    grouped = store.to_strata()
    assert sum(grouped.grades >= 0) == 30 == found.waiting
    assert "pooled:70" in grouped.flat.provenance


def test_a_pool_again_changes_nothing(store):
    for _ in range(2):
        pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
        judge_all(store)
    assert strata(store) == {"depth 10": set(RANKING[:10]), "11 to 100": set(RANKING[10:])}
    assert store.to_strata().grades.tolist().count(-1) == 70


def test_documents_within_the_depth_of_a_later_pool_leave_the_sampled_stratum(store):
    pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
    judge_all(store)
    pool(store, QUERY, {"x": {"q1": RANKING}}, 30, sample_below=20)
    judge_all(store)
    found = strata(store)
    assert found == {
        "depth 10": set(RANKING[:10]),
        "depth 30": set(RANKING[10:30]),
        "11 to 100": set(RANKING[30:]),
    }


def test_documents_found_only_by_a_later_pool_are_a_separate_stratum(store):
    pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
    judge_all(store)
    more = [f"e{n:02}" for n in range(40)]
    pool(store, QUERY, {"x": {"q1": RANKING}, "y": {"q1": RANKING[:10] + more}}, 10, sample_below=40)
    judge_all(store)
    assert strata(store) == {
        "depth 10": set(RANKING[:10]),
        "11 to 100": set(RANKING[10:]),
        "11 to 100 (2)": set(more),
    }


def test_documents_judged_before_pooling_are_not_part_of_the_sample(store):
    """They were not drawn, so they represent only themselves."""
    store.import_qrels({"q1": {"d050": 1, "d005": 1, "never returned": 1}}, "old")
    pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
    judge_all(store)
    found = strata(store)
    assert found[OUTSIDE] == {"d050", "d005", "never returned"}
    assert "d050" not in found["11 to 100"]
    assert len(found["11 to 100"]) == 89


def test_a_store_that_was_never_pooled(store, tmp_path):
    store.import_qrels({"q1": {"a": 1}}, "old")
    with pytest.raises(InputError, match="its documents have no strata") as caught:
        evaluate(store, {"q1": ["a"]}, "xinfAP")
    assert "--sample-below 20" in caught.value.hint


def test_subtopic_measures_do_not_mistake_strata_for_subtopics(store):
    pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
    judge_all(store)
    assert cranfield.GroupedJudgments.read(store).group_ids == ("0",)
    assert evaluate(store, {"q1": RANKING}, "StRecall@5")["StRecall@5"] == 1


def test_the_command_line_reads_strata_from_a_store(tmp_path):
    path, run = tmp_path / "judgments.db", tmp_path / "x.run"
    run.write_text("".join(f"q1 Q0 {d} 1 {100 - n} x\n" for n, d in enumerate(RANKING)))
    with open_store(path, create=True) as store:
        pool(store, QUERY, [run], 10, sample_below=20)
        judge_all(store, "ann")
        expected = evaluate(store, run, "xinfAP infNDCG statAP")
    for options in ([], ["--assessor", "ann"], ["--merge", "max"]):
        done = run_program(
            "evaluate",
            path,
            run,
            "-m",
            "xinfAP",
            "-m",
            "infNDCG",
            "-m",
            "statAP",
            "-m",
            "infAP",
            "--format",
            "json",
            *options,
        )
        assert done.returncode == 0, done.stderr
        [found] = json.loads(done.stdout)["runs"]
        assert {name: found["mean"][name] for name in expected} == pytest.approx(dict(expected), abs=1e-9)


def test_stratified_estimates_are_closer_to_the_truth_than_infap(tmp_path):
    """A pool with a depth and a sample, which differs between many identical queries."""
    queries = {f"q{number}": "cats" for number in range(40)}
    run = dict.fromkeys(queries, RANKING)
    truth = evaluate({"q0": {d: int(d in RELEVANT) for d in RANKING}}, run, "AP nDCG")
    with open_store(tmp_path / "judgments.db", create=True) as store:
        pool(store, queries, {"x": run}, 10, sample_below=30)
        chosen = {query: {} for query in queries}
        for task in store.next_several("ann", 40 * len(queries)):
            chosen[task.query_id][task.doc_id] = int(task.doc_id in RELEVANT)
        assert len({frozenset(documents) for documents in chosen.values()}) == len(queries)
        assert {len(documents) for documents in chosen.values()} == {40}
        store.import_qrels(chosen, "ann", kind="person")
        found = evaluate(store, run, "xinfAP statAP infNDCG infAP")
    error = {name: abs(found[name] - truth["nDCG" if name == "infNDCG" else "AP"]) for name in found}
    assert error["infAP"] > 0.1
    for name in ("xinfAP", "statAP", "infNDCG"):
        assert error[name] < error["infAP"] / 2


def test_a_store_of_version_3_gets_the_strata_of_its_pools(tmp_path):
    path = tmp_path / "old.db"
    with open_store(path, create=True) as store:
        pool(store, QUERY, {"x": {"q1": RANKING}}, 10, sample_below=20)
        judge_all(store)
        store.wait([("q1", "z")], why="somebody asked")
        store.judge("q1", "z", 1, assessor="ann")
        expected = evaluate(store, {"q1": RANKING}, "xinfAP")["xinfAP"]
    make_older(f"sqlite:///{path}", 3)
    assert evaluate(path, {"q1": RANKING}, "xinfAP")["xinfAP"] == expected
    with open_store(path) as store:
        found = strata(store)
    assert found == {"depth": set(RANKING[:10]), "sample": set(RANKING[10:]), OUTSIDE: {"z"}}


def test_migrating_a_store_of_version_4_marks_documents_chosen_to_decide(tmp_path):
    path = tmp_path / "old.db"
    with open_store(path, create=True) as store:
        store.wait([("q1", "a")], why="to decide about old.run, new.run")
        store.wait([("q1", "b")], why="first 10 of x")
    make_older(f"sqlite:///{path}", 4)
    with open_store(path) as store, store._reading() as connection:
        rows = connection.execute(sa.text("select doc_id, chosen_by from waiting order by doc_id")).all()
    assert [tuple(row) for row in rows] == [("a", "decide"), ("b", "")]
