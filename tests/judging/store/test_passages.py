"""Parts of documents that people graded, as judgments."""

import pytest

from cranfield import ChunkRun, InputError, PassageJudgments, evaluate, open_store
from tests.program import run as run_program


def test_grades_of_the_same_part_are_merged_and_others_stay_apart(store):
    for who, grade in (("ann", 3), ("bob", 1), ("cid", 1)):
        store.judge("q1", "d1", grade, assessor=who, part=(0, 10))
    store.judge("q1", "d1", 2, assessor="ann", part=(5, 12))
    store.judge("q1", "d2", 0, assessor="ann")
    store.judge("q2", "d1", 1, assessor="bob", part=(20, 30))
    assert [tuple(each) for each in store.to_passages()] == [
        ("q1", "d1", 0, 10, 1.0),
        ("q1", "d1", 5, 12, 2.0),
        ("q1", "d2", None, None, 0.0),
        ("q2", "d1", 20, 30, 1.0),
    ]
    assert [tuple(each)[2:] for each in store.to_passages(["ann"])] == [(0, 10, 3.0), (5, 12, 2.0), (None, None, 0.0)]
    assert store.to_passages(merge="max")[0].grade == 3.0


def test_a_passage_whose_grade_was_removed_is_omitted(store):
    store.judge("q1", "d1", 3, assessor="ann", part=(0, 10))
    store.judge("q1", "d1", 1, assessor="ann", part=(20, 30))
    store.judge("q1", "d1", None, assessor="ann", part=(0, 10))
    assert [each.start for each in store.to_passages()] == [20]


def test_without_passages(store):
    store.judge("q1", "d1", 3, assessor="ann")
    with pytest.raises(InputError, match="no passage is marked") as caught:
        store.to_passages()
    assert "select text" in caught.value.hint


def test_passages_of_models_are_included_only_on_request(store):
    store.judge("q1", "d1", 3, assessor="gpt", kind="model", part=(0, 10))
    with pytest.raises(InputError, match="no passage is marked"):
        store.to_passages()
    assert len(store.to_passages(kinds=["model"])) == 1
    with pytest.raises(InputError, match="there is no assessor 'eve'"):
        store.to_passages(["eve"])


def test_grades_of_parts_take_precedence_over_the_grade_of_the_document(store):
    store.judge("q1", "d1", 3, assessor="ann")
    store.judge("q1", "d1", 2, assessor="ann", part=(0, 10))
    assert [tuple(each) for each in store.to_passages()] == [("q1", "d1", 0, 10, 2.0)]


def test_a_store_judges_runs_of_chunks(store):
    store.judge("q1", "d1", 2, assessor="ann", part=(10, 20))
    store.judge("q1", "d2", 0, assessor="ann")
    chunks = {"d1#0": ("d1", 0, 12), "d1#1": ("d1", 12, 30), "d2#0": ("d2", 0, 50)}
    run = ChunkRun({"q1": ["d2#0", "d1#0", "d1#1"]}, chunks)
    named = evaluate(store.name, run, "RR")
    assert named["RR"] == evaluate(store, run, "RR")["RR"] == pytest.approx(1 / 3)
    assert "judges:1|merge:majority" in named.signature
    assert PassageJudgments.read(store.name).sha256 == PassageJudgments.read(store).sha256


def test_on_the_command_line(tmp_path):
    with open_store(tmp_path / "judgments.db", create=True) as opened:
        opened.judge("q1", "d1", 2, assessor="ann", part=(10, 20))
    (tmp_path / "chunks.csv").write_text("chunk_id,doc_id,start,end\nd1#0,d1,0,12\nd1#1,d1,12,30\n")
    (tmp_path / "my.run").write_text("q1 Q0 d1#0 1 2 my\nq1 Q0 d1#1 2 1 my\n")
    done = run_program("evaluate", "judgments.db", "my.run", "--chunks", "chunks.csv", "-m", "RR", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == ["my", "0.5000"]
