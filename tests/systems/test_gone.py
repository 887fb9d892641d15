"""Documents that no longer exist: they count for nobody where that is known, and are named where it is not."""

import json
from contextlib import nullcontext

import pytest

from cranfield.errors import InputError
from cranfield.systems.accepting import accept
from cranfield.systems.asking import Silent
from cranfield.systems.project import read_project
from cranfield.systems.testing import run_test

QUERIES, EACH = 34, 4  # relevant documents of a query, which the engine returns first
CONFIG = """
collection = "."
measures = ["nDCG@10", "R@100"]
k = 6
{settings}
[systems.shop]
type = "python"
object = "shop_of_gone_documents:search"
"""
ENGINE = """
import json, pathlib
HERE = pathlib.Path(__file__).parent
def search(query, k):
    catalogue = json.loads((HERE / "catalogue.json").read_text())
    own = [document for document in catalogue if document.startswith(query + "-")]
    found = (own + ["extra-" + query])[:k]
    return [{"id": document, "text": "seven words about a thing on sale"} for document in found]
"""
ALL = [f"w{query}-{number}" for query in range(QUERIES) for number in range(EACH)]


def shop(folder, settings=""):
    (folder / "shop_of_gone_documents.py").write_text(ENGINE)
    (folder / "queries.tsv").write_text("".join(f"{query}\tw{query}\n" for query in range(QUERIES)))
    judged = (f"{query} 0 w{query}-{number} 1\n" for query in range(QUERIES) for number in range(EACH))
    (folder / "qrels.txt").write_text("".join(judged))
    (folder / "cranfield.toml").write_text(CONFIG.format(settings=settings))
    return read_project(folder / "cranfield.toml")


def sell(folder, documents, *, corpus=""):
    """Which documents the engine has, and which the corpus lists."""
    (folder / "catalogue.json").write_text(json.dumps(documents))
    if corpus:
        listed = [*documents, *(f"extra-w{query}" for query in range(QUERIES))]
        (folder / corpus).write_text("".join(json.dumps({"_id": document}) + "\n" for document in listed))


def tried(project):
    [tested] = run_test(project, lambda _: nullcontext(Silent())).systems
    return tested


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "shop_of_gone_documents", raising=False)
    return tmp_path


LEFT = [document for at, document in enumerate(ALL) if at % 17]
GONE = [document for document in ALL if document not in LEFT]


@pytest.mark.parametrize("settings", ["", 'corpus = "listed.jsonl"'])
def test_a_deleted_document_fails_nothing_if_the_corpus_says_so(folder, settings):
    corpus = "listed.jsonl" if settings else "corpus.jsonl"
    sell(folder, ALL, corpus=corpus)
    project = shop(folder, settings)
    assert "gone:" not in tried(project).evaluation.signature
    accept(project)
    sell(folder, LEFT, corpus=corpus)
    tested = tried(project)
    assert tested.passed, tested.failed_checks
    assert tested.accepted["R@100"] == tested.evaluation["R@100"] == 1.0
    for evaluation in (tested.evaluation, tested.accepted):
        assert f"|gone:{len(GONE)}|" in evaluation.signature
    assert f"{len(GONE)} of {len(ALL)} judged documents no longer exist" in tested.notes[0]
    assert "the accepted run was measured again" in tested.notes[1]
    accept(project)  # of the same judgments, although some of them do not count
    assert tried(project).passed
    sell(folder, [document for document in LEFT if not document.endswith("-1")], corpus="")
    assert not tried(project).passed  # these are in the corpus, and not found


def test_without_that_knowledge_the_vanished_documents_are_named(folder):
    sell(folder, ALL)
    project = shop(folder)
    tried(project)
    accept(project)
    sell(folder, LEFT)
    tested = tried(project)
    assert not tested.passed
    [note] = tested.notes
    assert f"{len(GONE)} relevant documents are in no ranking now ({', '.join(GONE[:1])}" in note
    assert "say which documents exist" in note


def test_the_text_of_deleted_documents_is_not_held_against_the_new_run(folder):
    sell(folder, ALL, corpus="corpus.jsonl")
    project = shop(folder)
    tried(project)
    accept(project)
    few = [document for document in ALL if document.endswith("-0")]
    sell(folder, few, corpus="corpus.jsonl")
    assert "text" not in [doubt.kind for doubt in tried(project).gate.doubts]
    sell(folder, ALL, corpus="corpus.jsonl")  # all are there again, and most are not found
    (folder / "catalogue.json").write_text(json.dumps(few))
    assert "text" in [doubt.kind for doubt in tried(project).gate.doubts]


def test_a_loss_of_documents_that_are_still_returned_is_just_a_loss(folder):
    sell(folder, ALL)
    project = shop(folder)
    tried(project)
    accept(project)
    other = "int(query[1:]) if int(query[1:]) % 2 else (int(query[1:]) + 2) % 34"
    swapped = ENGINE.replace('query + "-"', f'"w" + str({other}) + "-"')
    (folder / "shop_of_gone_documents.py").write_text(swapped)
    __import__("sys").modules.pop("shop_of_gone_documents")
    tested = tried(project)
    assert not tested.passed
    assert tested.notes == ()


def test_a_corpus_without_any_judged_document_is_refused(folder):
    sell(folder, ALL)
    (folder / "corpus.jsonl").write_text('{"_id": "other"}\n')
    with pytest.raises(InputError, match="none of the 136 judged documents exists"):
        tried(shop(folder))
    with pytest.raises(InputError, match=r"nowhere.jsonl: there is no such file"):
        tried(shop(folder, 'corpus = "nowhere.jsonl"'))


def test_a_store_says_who_judged_and_how_many_are_gone():
    from cranfield.ranks.judgments import Judgments
    from cranfield.systems.testing import of_existing

    judgments = Judgments({"1": {"a": 1, "b": 0}, "2": {"a": 2}}, name="view", provenance="assessors:ann")
    left = of_existing(judgments, frozenset("a"))
    assert left.by_query == {"1": {"b": 0.0}}
    assert left.provenance == "assessors:ann|gone:1"
    assert left.sha256 != judgments.sha256


def test_a_query_whose_judged_documents_are_all_gone_is_no_longer_measured(folder):
    sell(folder, ALL, corpus="corpus.jsonl")
    settings = "[gate]\nexcept_queries = ['0']\n[[expect]]\nquery = '0'\nmeasure = 'RR'\nat_least = 1\n"
    project = shop(folder, settings)
    tried(project)
    accept(project)
    assert tried(project).passed
    sell(folder, [document for document in ALL if not document.startswith("w0-")], corpus="corpus.jsonl")
    [check] = tried(project).failed_checks
    assert check.message == "0 (w0): RR is not known, since it failed or none of its judged documents exists"
