"""Systems that live in this process, and what counts as an answer."""

import sys
from types import SimpleNamespace

import pytest

from cranfield.errors import InputError, MissingLibrary, SystemFailure
from cranfield.systems.answers import ranking_of
from cranfield.systems.collapse import collapse_by, collapse_run
from cranfield.systems.collection import Collection, Document, open_collection
from cranfield.systems.opening import open_system

DOCUMENTS = [
    Document("cat", "Cats", "A cat sleeps and purrs."),
    Document("dog", "Dogs", "A dog barks at cats."),
    Document("fox", "Foxes", "The fox jumps."),
]
SMALL = Collection("small", {"1": "cat"}, {"1": {"cat": 1}}, lambda: iter(DOCUMENTS))


def node(node_id, metadata, score=None):
    return SimpleNamespace(node=SimpleNamespace(node_id=node_id, metadata=metadata), score=score)


@pytest.mark.parametrize(
    "target",
    [
        lambda query, k: ["a", "b"][:k],
        lambda query, top_k=5: [("a", 2), ("b", 1)][:top_k],
        lambda query: {"b": 1, "a": 2},
        SimpleNamespace(search=lambda query, *, limit: [{"id": "a", "score": 2}, {"id": "b", "score": 1}][:limit]),
        SimpleNamespace(retrieve=lambda query: [node("a", {}, 2.0), node("b", {}, 1.0)]),
        SimpleNamespace(retrieve=lambda query: [node("x1", {"doc_id": "a"}), node("x2", {"doc_id": "b"})]),
        SimpleNamespace(invoke=lambda query: [SimpleNamespace(id="x1", metadata={"_id": name}) for name in "ab"]),
    ],
)
def test_anything_that_answers_is_a_system(target):
    assert open_system(target).search("q", 2) == [("a", 2.0), ("b", 1.0)]


def test_modules_are_imported_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "live_engine_for_test.py").write_text(
        "class Engine:\n    def search(self, query, k):\n        return [query] * 1\n"
        "def make():\n    return Engine()\ndef broken(query, k):\n    raise RuntimeError('no index')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("Engine", "make"):
        assert open_system(f"live_engine_for_test:{name}").search("x", 3) == [("x", 1.0)]
    with pytest.raises(SystemFailure, match="RuntimeError: no index"):
        open_system("live_engine_for_test:broken").search("x", 3)
    with pytest.raises(InputError, match="has no 'nothing'"):
        open_system("live_engine_for_test:nothing")
    with pytest.raises(InputError, match="there is no module 'no_such_module'"):
        open_system("no_such_module:x")
    with pytest.raises(InputError, match="this is not a system"):
        open_system("nothing")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "NoneType, not a list"),
        ("abc", "str, not a list"),
        ([("a", 1, 2)], "3 parts"),
        ([{"title": "x"}], "no id under any of"),
        ([("a", 1.0), ("b", "high")], "'high'"),
        ({"a": float("nan")}, "not finite"),
        ([True], "no id"),
        ({"a": None}, "score None"),
        ([""], "the id is empty"),
    ],
)
def test_invalid_answers_are_refused(answer, message):
    with pytest.raises(SystemFailure, match=message):
        ranking_of(answer)


def test_sqlite_finds_words_and_stems():
    plain, tuned = open_system("sqlite", SMALL), open_system("sqlite:tuned", SMALL)
    assert [doc_id for doc_id, _ in plain.search("cat", 5)] == ["cat"]
    assert [doc_id for doc_id, _ in tuned.search("the cat", 5)] == ["cat", "dog"]
    assert plain.search('"NEAR( OR *:', 5) == []
    assert plain.search("?!", 5) == []
    weighed = open_system({"type": "sqlite", "stem": True, "weights": {"title": 0, "text": 1}}, SMALL)
    assert {doc_id for doc_id, _ in weighed.search("cat", 5)} == {"cat", "dog"}
    with pytest.raises(InputError, match="there is no setting 'steem'"):
        open_system({"type": "sqlite", "steem": True}, SMALL)
    with pytest.raises(InputError, match="no field 'body'"):
        open_system({"type": "sqlite", "weights": {"body": 1}}, SMALL)
    with pytest.raises(InputError, match="needs documents to index"):
        open_system("sqlite")


def test_bm25s():
    pytest.importorskip("bm25s", reason="bm25s is not installed")
    system = open_system({"type": "bm25s", "k1": 1.2}, SMALL, name="mine")
    assert [doc_id for doc_id, _ in system.search("fox jumps", 5)] == ["fox"]
    assert system.search("zebra", 5) == []
    assert system.name == "mine"


def test_wordllama():
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    system = open_system({"type": "wordllama"}, open_collection("builtin"), name="mine")
    found = system.search("how deep should I pool", 3)
    assert len(found) == 3
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert any("pool" in doc_id for doc_id, _ in found)
    assert system.search("  ", 3) == []
    assert system.name == "mine"


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'cranfield\[postgres\]'"):
        open_system({"type": "postgres", "table": "t", "columns": ["a"]})


def test_sqlite_finds_documents_of_the_builtin_collection():
    collection = open_collection("builtin")
    for name in ("sqlite", "sqlite:tuned"):
        system = open_system(name, collection)
        assert system.search("bm25 parameters k1", 3)[0][0] == "bm25-parameters"
        assert len(system.search("the", 1000)) <= 1000
        system.close()


def test_chunks_become_documents(tmp_path):
    (tmp_path / "map.tsv").write_text("c1\tA\nc2\tA\nc3\tB\n")
    by_file = collapse_by(str(tmp_path / "map.tsv"))
    assert [by_file(chunk) for chunk in ("c1", "c3")] == ["A", "B"]
    with pytest.raises(InputError, match="does not contain the id 'c9'"):
        by_file("c9")
    (tmp_path / "bad.tsv").write_text("a b c\n")
    for rule, message in [
        ("(a)(b)", "2 groups"),
        ("(", "not a regular expression"),
        (str(tmp_path / "bad.tsv"), "3 col"),
    ]:
        with pytest.raises(InputError, match=message):
            collapse_by(rule)
    with pytest.raises(InputError, match="does not match"):
        collapse_by("^([0-9]+)-")("x")
    (tmp_path / "chunks.run").write_text("q Q0 a#2 1 3 t\nq Q0 b#1 2 2 t\nq Q0 a#1 3 1 t\n")
    assert collapse_run(tmp_path / "chunks.run", "#") == {"q": {"a": 3.0, "b": 2.0}}
    assert collapse_run({"q": {"x_1": 1.0, "y_1": 2.0}}, {"x_1": "x", "y_1": "y"}) == {"q": {"y": 2.0, "x": 1.0}}
