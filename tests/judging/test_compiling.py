"""What all stores ask of their databases is compiled once, not for every store."""

from sqlalchemy.sql.compiler import SQLCompiler

from cranfield import open_store


def test_a_second_store_compiles_nothing(tmp_path, monkeypatch):
    compiled = []
    made = SQLCompiler.__init__
    monkeypatch.setattr(SQLCompiler, "__init__", lambda *given, **more: compiled.append(1) or made(*given, **more))

    def fill(name):
        compiled.clear()
        with open_store(tmp_path / name, create=True) as store:
            store.add_queries({"q": "cats"})
            store.add_documents({"d": {"text": "about cats"}})
            store.wait([("q", "d")])
            store.judge("q", "d", 2, assessor="ann")
            return len(compiled), [(event.doc_id, event.grade) for event in store.events()]

    _, said = fill("first.db")
    assert fill("second.db") == (0, said)
    assert said == [("d", 2)]
