"""Judgments of passages and places of chunks: their sources and their errors."""

import csv
import json
from types import SimpleNamespace

import pytest

from cranfield import ChunkRun, Chunks, DuplicateError, InputError, Judgments, PassageJudgments, evaluate
from cranfield.io.placed_rows import names_passages
from cranfield.io.streams import Stream

TEXTS = {"d1": "Cats sleep a lot.\nThey  dream of mice. Cats sleep.", "d2": "Straße und Größe 🐈 am Ende."}
ROWS = [
    {"query_id": "q1", "doc_id": "d1", "quote": "They dream of MICE.", "grade": 2},
    {"query_id": "q1", "doc_id": "d2", "start": 0, "end": 6, "grade": 1},
    {"query_id": "q2", "doc_id": "d2", "grade": 0},
]
FOUND = (("q1", "d1", 18, 38, 2.0), ("q1", "d2", 0, 6, 1.0), ("q2", "d2", None, 27, 0.0))


def written(folder, name, rows):
    path = folder / name
    names = list(dict.fromkeys(key for row in rows for key in row))
    if name.endswith("jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, names, delimiter="\t" if name.endswith("tsv") else ",")
            table.writeheader()
            table.writerows(rows)
    return str(path)


@pytest.mark.parametrize("name", ["passages.jsonl", "passages.csv", "passages.tsv"])
def test_files(tmp_path, name):
    corpus = written(tmp_path, "corpus.jsonl", [{"_id": d, "title": "t", "text": text} for d, text in TEXTS.items()])
    found = PassageJudgments.read(written(tmp_path, name, ROWS), corpus)
    assert found.passages == FOUND
    assert found.sha256 == PassageJudgments.read(ROWS, TEXTS).sha256


def test_quotes_and_places_are_the_same_judgments():
    places = [("q1", "d1", 18, 38, 2), ("q1", "d2", 0, 6, 1), ("q2", "d2", 0)]
    assert PassageJudgments.read(places).sha256 == PassageJudgments.read(ROWS, TEXTS).sha256


@pytest.mark.parametrize("name", ["p.jsonl", "p.csv", "p.tsv"])
def test_files_of_passages_are_recognised(tmp_path, name):
    whole = {"query_id": "q", "doc_id": "d", "grade": 1}
    assert names_passages(Stream(written(tmp_path, name, [whole, {**whole, "doc_id": "e", "quote": "x"}])))
    assert names_passages(Stream(written(tmp_path, name, [{**whole, "start": 1, "end": 2}])))
    assert not names_passages(Stream(written(tmp_path, name, [whole])))
    assert not names_passages(Stream(written(tmp_path, name, [{**whole, "start": 1}])))


def test_other_files_are_not_taken_for_passages(tmp_path):
    for text in (
        "",
        "q 0 d 1\n",
        '{"q": {"d": 1}}',
        '{"broken\n',
        "quote start end\n",
        "\xff",
        '{"start": {"d": 1}, "end": {"d": 1}}',
        f'{{"quote": "{"x" * 99_999}"}}',
    ):
        (tmp_path / "qrels").write_bytes(text.encode("latin-1"))
        assert not names_passages(Stream(tmp_path / "qrels"))


def test_missing_values_in_a_pandas_frame_are_accepted():
    pandas = pytest.importorskip("pandas")
    columns = {"start": [0, None], "end": [4, None], "quote": [None, "mice"], "grade": [1, 2]}
    frame = pandas.DataFrame({"query_id": ["q", "q"], "doc_id": ["d1", "d1"], **columns})
    assert PassageJudgments.read(frame, TEXTS).passages == (("q", "d1", 0, 4, 1.0), ("q", "d1", 33, 37, 2.0))


def test_frames_and_judgments_of_documents(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"query_id": ["q"], "doc_id": ["d1"], "start": [0], "end": [4], "grade": [1]})
    assert PassageJudgments.read(frame).passages == (("q", "d1", 0, 4, 1.0),)
    whole = (("q", "d1", None, None, 1.0),)
    (tmp_path / "qrels.txt").write_text("q 0 d1 1\n")
    for qrels in ({"q": {"d1": 1}}, Judgments.read({"q": {"d1": 1}}), str(tmp_path / "qrels.txt"), [("q", "d1", 1)]):
        assert PassageJudgments.read(qrels).passages == whole


def test_passages_are_read_from_a_store():
    class Kept:
        def to_passages(self):
            return ROWS

    assert PassageJudgments.read(Kept(), TEXTS).passages == FOUND


BAD = {
    "cats": ({"quote": "Dogs bark."}, r"p.jsonl:1: the quote 'Dogs bark\.' is not in document 'd1'\."),
    "twice": ({"quote": "Cats sleep"}, r"p.jsonl:1: the quote 'Cats sleep' appears 2 times in document 'd1'\."),
    "elsewhere": ({"quote": "mice", "start": 0, "end": 4}, r"the quote 'mice' is not at 0 to 4 of document 'd1'"),
    "no end": ({"start": 3}, r"p.jsonl:1: there is no end\."),
    "empty": ({"start": 3, "end": 3}, r"3 to 3 is empty"),
    "long": ({"start": 3, "end": 300}, r"it ends at 300, but document 'd1' has 50 characters"),
    "negative": ({"start": -3, "end": 3}, r"the start -3 is not a whole number from 0"),
    "grade": ({"grade": "good"}, r"the grade 'good' is not a finite number"),
    "query": ({"query_id": ""}, r"p.jsonl:1: query: the id is empty\."),
    "no query": ({"query_id": None}, r"p.jsonl:1: there is no query\."),
    "empty quote": ({"quote": ""}, r"p.jsonl:1: the quote '' is not in document 'd1'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_rows_are_an_error(tmp_path, name):
    changed, fact = BAD[name]
    row = {"query_id": "q", "doc_id": "d1", "grade": 1, **changed}
    with pytest.raises(InputError, match=fact):
        PassageJudgments.read(written(tmp_path, "p.jsonl", [row]), TEXTS)


def test_duplicate_passages_and_quotes_without_texts_are_an_error():
    with pytest.raises(DuplicateError, match=r"row 2: the passage 0 to 4 of document 'd1' is judged twice"):
        PassageJudgments.read([("q", "d1", 0, 4, 1), ("q", "d1", 0, 4, 2)])
    with pytest.raises(InputError, match=r"without the text of document 'd1'") as caught:
        PassageJudgments.read(ROWS)
    assert "give the documents" in str(caught.value)
    with pytest.raises(InputError, match="it contains no judgments"):
        PassageJudgments.read([])


PLACES = {"a": ("d1", 0, 17), "b": ("d1", 10, 38)}


@pytest.mark.parametrize("name", ["chunks.jsonl", "chunks.csv", "chunks.tsv"])
def test_files_of_chunks(tmp_path, name):
    rows = [{"chunk": chunk, "document": d, "start": s, "end": e} for chunk, (d, s, e) in PLACES.items()]
    found = Chunks.read(written(tmp_path, name, rows))
    assert {chunk: place[:3] for chunk, place in found.places.items()} == PLACES
    counted = Chunks.read(written(tmp_path, name, [{**row, "tokens": 7} for row in rows]))
    assert [place.tokens for place in counted.places.values()] == [7, 7]


def test_chunks_of_splitters():
    langchain = [
        SimpleNamespace(id="a", page_content=TEXTS["d1"][:17], metadata={"source": "d1", "start_index": 0}),
        SimpleNamespace(id="b", page_content=TEXTS["d1"][10:38], metadata={"source": "d1", "start_index": 10}),
    ]
    dumped = [{"id": each.id, "page_content": each.page_content, "metadata": each.metadata} for each in langchain]
    llama = [
        SimpleNamespace(node_id=chunk, text="…", ref_doc_id=d, start_char_idx=s, end_char_idx=e, metadata={})
        for chunk, (d, s, e) in PLACES.items()
    ]
    for chunks in (langchain, dumped, llama):
        assert {chunk: place[:3] for chunk, place in Chunks.read(chunks, TEXTS).places.items()} == PLACES


def test_the_text_of_a_chunk_must_be_at_its_start():
    def langchain(text, start):
        metadata = {"source": "d1", "start_index": start}
        return [SimpleNamespace(id="a", page_content=text, metadata=metadata)]

    joined = Chunks.read(langchain("They dream of mice.", 18), TEXTS)  # one blank where the document has two
    assert joined.places["a"][:3] == ("d1", 18, 38)
    with pytest.raises(
        InputError, match=r"the text of chunk 'a' is not at 3 of document 'd1'.*\n.*has the text changed"
    ):
        Chunks.read(langchain("They dream of mice.", 3), TEXTS)
    with pytest.raises(InputError, match="ends at 65"):
        Chunks.read(langchain("Cats sleep a lot.", 48), TEXTS)


def test_results_of_a_langchain_retriever_are_read():
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    parts = [
        Document(TEXTS[d][s:e], id=chunk, metadata={"source": d, "start_index": s})
        for chunk, (d, s, e) in PLACES.items()
    ]
    store.add_documents(parts)
    found = store.similarity_search_with_score("cats", k=2)
    for chunks in (parts, store.similarity_search("cats", k=2), found):
        assert {chunk: place[:3] for chunk, place in Chunks.read(chunks, TEXTS).places.items()} == PLACES
    run = {"q": {document.id: score for document, score in found}}
    assert evaluate([("q", "d1", 0, 17, 1)], ChunkRun(run, Chunks.read(found)), "R@2")["R@2"] == 1
    with pytest.raises(InputError, match="row 1: there is no chunk"):
        Chunks.read([Document("Cats", metadata={"source": "d1", "start_index": 0})])


def test_nodes_of_a_llama_index_splitter_and_retriever_are_read():
    pytest.importorskip("llama_index.core")
    from llama_index.core import Document, MockEmbedding, VectorStoreIndex
    from llama_index.core.node_parser import SentenceSplitter

    splitter = SentenceSplitter(chunk_size=8, chunk_overlap=0)
    nodes = splitter.get_nodes_from_documents([Document(text=text, doc_id=d) for d, text in TEXTS.items()])
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))
    found = index.as_retriever(similarity_top_k=2).retrieve("cats")
    places = Chunks.read(nodes, TEXTS).places
    assert len(places) == len(nodes) > 2
    for node in nodes:
        document, start, end, *_ = places[node.node_id]
        assert TEXTS[document][start:end] == node.text
    assert set(Chunks.read(found).places) == {each.node.node_id for each in found}


def test_chunks_are_located_by_their_texts():
    parts = ["Cats sleep", "a lot.", "They dream of mice.", "Cats sleep."]
    found = Chunks.read([(f"c{at}", "d1", part) for at, part in enumerate(parts)], TEXTS)
    assert [place[1:3] for place in found.places.values()] == [(0, 10), (11, 17), (18, 38), (39, 50)]
    with pytest.raises(InputError, match=r"row 1: the text of chunk 'c' appears 2 times in document 'd1'"):
        Chunks.read([("c", "d1", "Cats sleep")], TEXTS)
    with pytest.raises(InputError, match=r"the text of chunk 'c' is not in document 'd1'"):
        Chunks.read([("c", "d1", "Dogs")], TEXTS)
    with pytest.raises(InputError, match=r"without the text of document 'd9'"):
        Chunks.read([("c", "d9", "Dogs")], TEXTS)
    with pytest.raises(InputError, match=r"chunk 'c' appears twice") as caught:
        Chunks.read([("c", "d1", 0, 3), ("c", "d1", 0, 4)])
    assert caught.type is DuplicateError


def test_places_of_chunks_are_checked():
    with pytest.raises(InputError, match=r"row 1 has 5 columns"):
        Chunks.read({"a": ("d1", 0, 5, 9)})
    read = Chunks.read({"a": ("d1", 0, 5)}, TEXTS)
    assert Chunks.read(read.places, TEXTS).places == read.places


@pytest.mark.parametrize("tokens", [5, lambda text: 2.5, lambda text: -1, lambda text: None])
def test_bad_token_counters_are_an_error(tokens):
    with pytest.raises(InputError, match=r"tokens"):
        Chunks.read([("a", "d1", 0, 5)], TEXTS, tokens=tokens)


def test_chunks_out_of_order_are_an_error():
    with pytest.raises(InputError, match="list the chunks of a document in their order"):
        Chunks.read(
            [("c1", "d1", "a lot."), ("c0", "d1", "Cats sleep"), ("c2", "d1", "dream"), ("c3", "d1", "a")], TEXTS
        )


def test_a_chunk_run_is_named_after_its_file(tmp_path):
    run = tmp_path / "small.run"
    run.write_text("q Q0 a 1 2.0 x\nq Q0 b 2 1.0 x\nother Q0 a 1 1.0 x\n")
    found = evaluate([("q", "d1", 20, 38, 1)], ChunkRun(str(run), PLACES), "RR")
    assert (found.run, found["RR"], found.counts.extra) == ("small", 0.5, 1)


@pytest.mark.parametrize("shape", ["passages.jsonl", "passages.csv", "passages.tsv", "rows", "a frame"])
def test_passages_are_not_taken_for_judgments_of_documents(tmp_path, shape):
    rows = [{"query_id": "q1", "doc_id": "d2", "start": 0, "end": 6, "grade": 1}]
    if shape == "a frame":
        judged = pytest.importorskip("polars").DataFrame(rows)
    else:
        judged = rows if shape == "rows" else written(tmp_path, shape, rows)
    with pytest.raises(InputError, match="these are judgments of passages"):
        evaluate(judged, {"q1": ["d2"]}, "RR")
    assert PassageJudgments.read(judged, TEXTS).passages == (("q1", "d2", 0, 6, 1.0),)
