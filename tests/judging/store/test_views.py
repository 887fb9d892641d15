"""Judgments as a view of the events."""

import runpy

import pytest

from cranfield import (
    Evaluation,
    GroupedJudgments,
    InputError,
    Judgments,
    convert_file,
    evaluate,
    evaluate_lazily,
    open_store,
)
from cranfield.cli import agreement as command
from cranfield.cli import input_options
from cranfield.judging.store.merging import KINDS, RULES, AssessorKind, Rule
from cranfield.systems.collection import open_collection
from tests.program import ROOT, run


def fill(store):
    for document, grades in {
        "agreed": {"ann": 2, "bob": 2, "cid": 2},
        "most": {"ann": 3, "bob": 1, "cid": 3},
        "tied": {"ann": 0, "bob": 3},
        "wide": {"cid": 0, "ann": 3, "bob": 1},
        "once": {"bob": 1},
    }.items():
        for who, grade in grades.items():
            store.judge("q1", document, grade, assessor=who)
    store.judge("q2", "settled", 0, assessor="ann")
    store.judge("q2", "settled", 3, assessor="bob")
    store.judge("q2", "settled", 2, assessor="ann", adjudicates=True)
    store.judge("q2", "cannot", None, assessor="ann")
    store.judge("q3", "machine", 3, assessor="gpt", kind="model")


@pytest.fixture
def filled(where):
    with open_store(where, create=True) as store:
        fill(store)
        yield store


SETTLED = {"settled": 2.0}


@pytest.mark.parametrize(
    ("rule", "most", "tied", "wide"),
    [("majority", 3, 0, 0), ("median", 3, 0, 1), ("max", 3, 3, 3), ("min", 1, 0, 0), ("latest", 3, 3, 1)],
)
def test_rules(filled, rule, most, tied, wide):
    view = filled.view(merge=rule)
    expected = {"agreed": 2.0, "most": most, "tied": tied, "wide": wide, "once": 1.0}
    assert view.by_query == {"q1": expected, "q2": SETTLED}
    assert view.provenance == f"judges:3|merge:{rule}|adjudicated:1|conflicts:3"


def test_every_rule_is_tried_above_and_has_a_meaning():
    assert list(RULES) == ["majority", "median", "max", "min", "latest"]
    assert all(rule.meaning for rule in RULES.values())


def test_a_new_rule_is_one_entry(filled, monkeypatch):
    monkeypatch.setitem(RULES, "first", Rule("the grade that was given first", lambda grades: grades[0]))
    assert filled.view(merge="first").by_query["q1"]["wide"] == 0.0
    assert "merge:first" in filled.view(merge="first").provenance
    with pytest.raises(InputError, match="no rule 'sum'") as caught:
        filled.view(merge="sum")
    assert caught.value.hint.endswith(", first")
    assert "latestorfirst[" in offered("merge")
    assert "| `first` | the grade that was given first |" in table("merging")


def test_a_new_kind_of_assessor_is_one_entry(filled, monkeypatch):
    monkeypatch.setitem(KINDS, "crowd", AssessorKind("strangers who were paid", people=False))
    filled.judge("q1", "crowded", 1, assessor="zoe", kind="crowd")
    assert "crowded" not in filled.view().by_query["q1"]
    assert filled.view(kinds=["crowd"]).by_query["q1"] == {"crowded": 1.0}
    with pytest.raises(InputError, match="no kind of assessor 'dog'") as caught:
        filled.judge("q1", "a", 1, assessor="rex", kind="dog")
    assert caught.value.hint.endswith(", crowd")
    assert "model,clicksorcrowd[" in offered("kinds")
    assert "| `crowd` | strangers who were paid | no |" in table("kinds")


def offered(option):
    """The help of an option if it is declared now."""
    declared, _ = runpy.run_path(input_options.__file__)["JudgmentOptions"].declared[option]
    return "".join(declared.attributes["help"].split())


def table(name):
    filled = runpy.run_path(str(ROOT / "docs" / "site" / "tables.py"))["filled"]
    return filled(f"<!-- table: {name} -->\n<!-- end -->")


def test_assessors_are_chosen(filled):
    assert filled.view(["bob"]).by_query["q1"] == {"agreed": 2.0, "most": 1.0, "tied": 3.0, "wide": 1.0, "once": 1.0}
    assert filled.view("bob").provenance == "judges:1|merge:majority|adjudicated:1"
    assert filled.view(["ann", "cid"]).by_query["q2"] == SETTLED
    for chosen, message in [(["zoe"], "there is no assessor 'zoe'"), ([], "no assessor is selected")]:
        with pytest.raises(InputError, match=message):
            filled.view(chosen)
    with pytest.raises(InputError, match="there is no rule 'mean' to merge grades") as caught:
        filled.view(merge="mean")
    assert all(rule in caught.value.hint for rule in RULES)


def test_a_model_is_never_mixed_in_silently(filled):
    assert "q3" not in filled.view().by_query
    both = filled.view(kinds=["model", "person"])
    assert both.by_query["q3"] == {"machine": 3.0}
    assert "kinds:person,model" in both.provenance
    with pytest.raises(InputError, match="there is no kind of assessor 'robot'"):
        filled.view(kinds=["robot"])


def test_the_error_gives_a_hint_if_only_a_model_has_judged(store):
    store.judge("q", "d", 1, assessor="gpt", kind="model")
    with pytest.raises(InputError, match="no judgments") as caught:
        store.view()
    assert "kinds=['model']" in caught.value.hint


def test_the_last_adjudication_counts_and_it_can_be_undone(filled):
    filled.judge("q2", "settled", 1, assessor="eve", adjudicates=True)
    assert filled.view().by_query["q2"] == {"settled": 1.0}
    filled.undo("eve")
    filled.undo("ann", doc_id="settled")
    assert filled.view(merge="max").by_query["q2"] == {"settled": 3.0}  # her own grade still counts
    assert filled.view(merge="min").by_query["q2"] == {"settled": 0.0}


def test_conflicts_are_unsettled_disagreements(filled):
    assert [(each.doc_id, each.grades) for each in filled.conflicts()] == [
        ("tied", {"ann": 0.0, "bob": 3.0}),
        ("wide", {"cid": 0.0, "ann": 3.0, "bob": 1.0}),
        ("most", {"ann": 3.0, "bob": 1.0, "cid": 3.0}),
    ]
    assert [each.doc_id for each in filled.conflicts(["ann", "cid"])] == ["wide"]


def test_a_document_has_the_highest_grade_of_its_parts(store):
    store.judge("q", "a", 1, assessor="ann", part=(0, 10))
    store.judge("q", "a", 3, assessor="ann", part=(10, 20))
    store.judge("q", "b", 3, assessor="ann", part=(0, 10))
    store.judge("q", "b", 1, assessor="ann")  # of the whole document, which takes precedence
    view = store.view()
    assert view.by_query == {"q": {"a": 3.0, "b": 1.0}}
    assert view.provenance == "judges:1|merge:majority|parts:1"


RUN = {"q1": ["most", "tied", "x"], "q2": ["settled"]}


def test_a_store_is_accepted_wherever_judgments_are(filled, where, tmp_path):
    expected = evaluate(filled.view(), RUN, "nDCG@3 AP")
    for qrels in (filled, where):
        found = evaluate(qrels, RUN, "nDCG@3 AP")
        assert dict(found) == dict(expected)
        assert found.signature == expected.signature
        assert GroupedJudgments.read(qrels).flat.provenance == expected.provenance
    assert "|judges:3|merge:majority|adjudicated:1|conflicts:3|" in expected.signature
    expected.save(tmp_path / "saved.json")
    assert Evaluation.load(tmp_path / "saved.json").signature == expected.signature
    assert Judgments.read(where).sha256 == filled.view().sha256


def test_a_store_is_accepted_for_runs_in_an_engine(filled, where):
    polars = pytest.importorskip("polars")
    run = polars.LazyFrame({"query_id": ["q1", "q2"], "doc_id": ["most", "settled"], "score": [1.0, 1.0]})
    for qrels in (filled, where):
        lazily = evaluate_lazily(qrels, run, "RR")
        assert "|judges:3|merge:majority|adjudicated:1|conflicts:3|" in lazily.signature
        assert "|judges:3|" in evaluate(qrels, run, "RR").signature


def test_judgments_from_elsewhere_have_no_provenance():
    assert Judgments.read({"q": {"d": 1}}).provenance == ""
    assert "judges" not in evaluate({"q": {"d": 1}}, {"q": ["d"]}, "RR").signature


def test_a_store_is_converted_and_comes_back(filled, where, tmp_path):
    done = convert_file(where, tmp_path / "qrels.txt")
    assert (done.role, done.rows, done.notes) == ("qrels", 6, ())
    assert Judgments.read(tmp_path / "qrels.txt").by_query == filled.view().by_query
    with open_store(tmp_path / "again.db", create=True) as store:
        store.import_qrels(tmp_path / "qrels.txt", "all")
        assert store.view().by_query == filled.view().by_query


def test_sqlite_and_postgresql_give_the_same_views(new_database, tmp_path):
    views = []
    for where in (tmp_path / "judgments.db", new_database()):
        with open_store(where, create=True) as store:
            fill(store)
            store.wait([(f"q{n % 3}", f"Ä{n}") for n in range(20)], assessors=2)
            order = [(task.query_id, task.doc_id) for task in store.next_several("ann", 30)]
            events = [(e.number, e.query_id, e.doc_id, e.grade, e.undoes, e.adjudicates) for e in store.events()]
            merged = [(view.by_query, view.sha256, view.provenance) for view in map(store.view, [None] * 5, RULES)]
            views.append((order, events, merged, store.conflicts(), store.progress()))
    assert views[0] == views[1]


def test_the_command_line_takes_a_store(filled, where, tmp_path):
    done = run("convert", where, tmp_path / "qrels.txt")
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "a.run").write_text("q1 Q0 most 1 2 x\nq1 Q0 tied 2 1 x\nq2 Q0 settled 1 1 x\n")
    done = run("evaluate", where, tmp_path / "a.run", "-m", "RR", "-v")
    assert done.returncode == 0, done.stderr
    assert "judges:3|merge:majority" in done.stdout.replace("\n", "")
    assert run("check", where, tmp_path / "a.run").returncode == 0
    if "://" not in where:
        failed = run("evaluate", tmp_path / "qrels.txt", where)
        assert "a store contains judgments, not a run." in failed.stderr


def test_a_store_from_a_pipe_is_refused(filled, tmp_path):
    if "://" in filled.name:
        pytest.skip("a server has no bytes")
    with open(filled.name, "rb") as file, pytest.raises(InputError, match="cannot be read from a pipe"):
        evaluate(file, RUN, "RR")


def test_a_collection_may_have_a_store(tmp_path):
    (tmp_path / "queries.tsv").write_text("q1\tcats\n")
    with open_store(tmp_path / "judgments.db", create=True) as store:
        store.judge("q1", "d1", 1, assessor="ann")
    collection = open_collection(tmp_path)
    assert evaluate(collection.qrels, {"q1": ["d1"]}, "RR")["RR"] == 1.0


def test_the_command_knows_all_kinds():
    [kinds] = [each for each in command.command.params if each.name == "kinds"]
    assert list(kinds.type.choices) == list(KINDS)
