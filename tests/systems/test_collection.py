"""Collections in folders, the built-in one, and those of ir_datasets."""

import gzip
import re
import sys
from collections import Counter
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import pytest

from cranfield import Judgments
from cranfield.errors import InputError
from cranfield.io.queries import read_queries
from cranfield.systems.collection import Collection, Document, kept_in_memory, open_collection
from cranfield.systems.collection_files import folder_of_queries


@pytest.fixture
def beir(tmp_path):
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "d1", "title": "T", "text": "one"}\n{"_id": 2, "text": "two words"}\n'
    )
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": " first "}\n\n{"_id": "q2", "text": "second"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t2\n")
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\n")
    return tmp_path


def test_the_layout_of_beir(beir):
    collection = open_collection(beir)
    assert collection.queries == {"q1": "first", "q2": "second"}
    assert list(collection.documents()) == [Document("d1", "T", "one"), Document("2", "", "two words")]
    assert collection.judged_queries() == {"q1": "first"}
    assert open_collection(beir, split="dev").judged_queries() == {"q2": "second"}
    assert list(collection.ids()) == ["d1", "2"]
    assert open_collection(collection) is collection


def test_the_layout_of_trec(tmp_path):
    (tmp_path / "queries.tsv").write_text("\ufeff301\tinternational crime\r\n302\tpolio\n", encoding="utf-8")
    (tmp_path / "qrels.txt.gz").write_bytes(gzip.compress(b"301 0 d1 1\n"))
    collection = open_collection(tmp_path)
    assert collection.queries == {"301": "international crime", "302": "polio"}
    assert collection.judged_queries() == {"301": "international crime"}
    assert list(collection.documents()) == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.tsv", "1 no tab\n", "q.tsv:1: every line begins with a number"),
        ("q.tsv", "1\tx\n1\ty\n", "q.tsv:2: query '1' appears twice"),
        ("q.tsv", "1\tx\n2\t \n", "q.tsv:2: query '2' has no text"),
        ("q.tsv", "\n", "no queries"),
        ("q.jsonl", "{}\n", "an empty object"),
        ("q.jsonl", '{"_id": "1"\n', "q.jsonl:1: this is not JSON"),
        ("q.jsonl", '["1"]\n', "is not a JSON object"),
        ("q.jsonl", '{"_id": null, "text": "x"}\n', "'_id' is missing or is not an id"),
        ("q.txt", "301 polio\n302 crime\n", "every line begins with a number: are these ids?"),
        ("q.txt", "<top>\n<num> Number: 301\n", "no column is the text of a query"),
        ("q.txt", "1\tred\nblue\n", "q.txt:2: 1 cell, but line 1 has 2"),
        ("q.csv", "id,text\n1,red\n1,blue\n", "q.csv:3: query '1' appears twice"),
        ("q.csv", "id,text\n1,\n", "q.csv:2: query '1' has no text"),
    ],
)
def test_bad_queries_are_errors_with_their_place(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        read_queries(tmp_path / name)
    assert message in str(caught.value)


def test_anything_but_a_collection_is_refused(beir, tmp_path):
    for where, message in [
        (tmp_path / "none", "there is no such folder"),
        (beir / "corpus.jsonl", "is a file"),
        (beir / "qrels", "there are no queries"),
    ]:
        with pytest.raises(InputError, match=message):
            open_collection(where)
    with pytest.raises(InputError, match="there is no split 'train'"):
        open_collection(beir, split="train")
    (beir / "qrels" / "test.tsv").rename(beir / "qrels" / "train.tsv")
    with pytest.raises(InputError, match="none is called 'test'"):
        open_collection(beir)


class Doc(NamedTuple):
    doc_id: str
    title: str
    text: str


class Query(NamedTuple):
    query_id: str
    text: str


def test_ir_datasets(monkeypatch):
    dataset = SimpleNamespace(
        has_queries=lambda: True,
        has_qrels=lambda: True,
        has_docs=lambda: True,
        queries_iter=lambda: iter([Query("q", "words")]),
        qrels_iter=lambda: iter([SimpleNamespace(query_id="q", doc_id="d", relevance=2)]),
        docs_iter=lambda: iter([Doc("d", "T", "body")]),
    )
    fake = ModuleType("ir_datasets")
    fake.load = lambda name: {"tiny/test": dataset}[name]
    monkeypatch.setitem(sys.modules, "ir_datasets", fake)
    collection = open_collection("ir_datasets:tiny/test")
    assert collection.queries == {"q": "words"}
    assert collection.qrels == {"q": {"d": 2.0}}
    assert list(collection.documents()) == [Document("d", "T", "body")]
    with pytest.raises(InputError, match="has no collection"):
        open_collection("ir_datasets:other")


def test_the_builtin_collection_keeps_its_promises():
    collection = open_collection("builtin")
    documents = list(collection.documents())
    judgments = Judgments.read(collection.qrels)
    assert len(documents) >= 200
    assert len({document.doc_id for document in documents}) == len(documents)
    assert all(document.title and 2 <= len(re.findall(r"[.?!:;]( |$)", document.text)) <= 6 for document in documents)
    assert len(collection.queries) >= 50
    assert set(judgments.query_ids) == set(collection.queries)
    known = {document.doc_id for document in documents}
    for query, grades in judgments.by_query.items():
        assert set(grades) <= known
        counts = Counter(grades.values())
        assert set(counts) <= {0, 1, 2, 3}, query
        assert counts[0] >= 1, query
        assert counts[3] + counts[2] >= 1, query


@pytest.mark.parametrize(("room", "read"), [(100, 1), (9, 3)])
def test_a_small_corpus_is_kept_and_a_large_one_is_read_again(monkeypatch, room, read):
    documents = [Document("a", "A", "alpha"), Document("b", "B", "beta")]  # 11 letters
    readings = []

    def corpus():
        readings.append(1)
        yield from documents

    monkeypatch.setattr("cranfield.systems.collection.KEPT", room)
    collection = kept_in_memory(Collection("mine", {"1": "cats"}, {"1": {"a": 1}}, corpus))
    assert next(collection.documents()) == documents[0]  # a corpus that was only partly read is not kept
    readings.clear()
    assert [list(collection.documents()) for _ in range(3)] == [documents] * 3
    assert len(readings) == read


def test_the_name_of_the_built_in_collection_stands_for_its_judgments():
    from cranfield import Judgments

    collection = open_collection("builtin")
    assert Judgments.read("builtin").by_query == Judgments.read(collection.qrels).by_query


@pytest.mark.parametrize("qrels", ["qrels/test.tsv", "qrels/./test.tsv", "test.tsv"])
def test_judgments_belong_to_the_folder_of_their_queries(qrels, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").mkdir()
    for path in ("queries.jsonl", "test.tsv", "qrels/test.tsv"):
        (tmp_path / path).touch()
    assert folder_of_queries(qrels) == "."
