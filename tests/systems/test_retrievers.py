"""Retrievers of LangChain and LlamaIndex as systems, without a wrapper: ids are found where the libraries keep them."""

from types import SimpleNamespace

import pytest

from cranfield import InputError, open_system, record
from cranfield.show.systems_text import recorded_lines
from cranfield.systems.collection import Collection
from cranfield.systems.project import Project
from cranfield.systems.testing import asked, measured

QUERIES = {f"q{n}": f"query number {n}" for n in range(6)}


@pytest.fixture
def store():
    """A vector store of LangChain with ten chunks of each of six documents."""
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.documents import Document
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    chunks = [
        Document(page_content=f"part {part} of document {number}", metadata={"source": f"d{number}.md"})
        for number in range(6)
        for part in range(10)
    ]
    store.add_documents(chunks)
    return store


@pytest.fixture
def index():
    """An index of LlamaIndex with ten chunks of each of six documents."""
    core = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    nodes = [
        TextNode(
            # All are equally similar to any query, so ids set the order; with random ids, documents might not repeat.
            id_=f"d{number} part {part}",
            text=f"part {part} of document {number}",
            metadata={"source": "all from one file"},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"d{number}")},
        )
        for number in range(6)
        for part in range(10)
    ]
    return core.VectorStoreIndex(nodes, embed_model=core.MockEmbedding(embed_dim=4))


def test_a_retriever_of_langchain(store, tmp_path):
    recorded = record(store.as_retriever(), QUERIES, tmp_path / "langchain.run", k=6)
    assert recorded.id_places == ("metadata.source",)
    assert (recorded.rolled_up, recorded.short_of_chunks, recorded.short) == (6, 0, 0)
    lines = "\n".join(recorded_lines(recorded))
    assert "the id of a document is its metadata.source" in lines
    assert "6 queries: chunks of one document count once, at the best rank" in lines
    found = {line.split()[2] for line in (tmp_path / "langchain.run").read_text().splitlines()}
    assert found == {f"d{number}.md" for number in range(6)}


def test_a_retriever_of_langchain_by_the_ids_of_its_chunks(store):
    system = open_system(store.as_retriever(), id="id")
    chunks = [chunk for chunk, _ in system.search("anything", 8)]
    assert len(set(chunks)) == 8
    assert not any(chunk.endswith(".md") for chunk in chunks)


def test_a_retriever_of_llama_index(index, tmp_path):
    retriever = index.as_retriever()
    assert retriever.similarity_top_k == 2  # its default
    recorded = record(retriever, QUERIES, tmp_path / "llama.run", k=5)
    assert recorded.id_places == ("node.ref_doc_id",)
    assert (recorded.rolled_up, recorded.short) == (6, 0)
    found = {line.split()[2] for line in (tmp_path / "llama.run").read_text().splitlines()}
    assert found <= {f"d{number}" for number in range(6)}
    assert len(found) >= 5


def test_a_retriever_that_returns_too_few_chunks_is_reported(tmp_path):
    chunks = [SimpleNamespace(page_content=f"part {n}", metadata={"source": f"d{n // 2}"}) for n in range(4)]
    fixed = SimpleNamespace(invoke=lambda query: chunks)
    recorded = record(fixed, QUERIES, tmp_path / "fixed.run", k=10)
    assert (recorded.rolled_up, recorded.short_of_chunks, recorded.short) == (6, 6, 6)
    assert "6 queries: the system returned too few chunks for 10 documents" in "\n".join(recorded_lines(recorded))


def test_more_chunks_are_requested_until_there_are_enough_documents():
    asked_for = []

    def search(query, k):
        asked_for.append(k)
        return [f"d{n // 10}#{n}" for n in range(min(k, 300))]

    from cranfield.systems.asking import ask
    from cranfield.systems.collapse import collapse_by

    [answer] = ask(open_system(search), [("q", "text")], 5, to_document=collapse_by("#"))
    assert [document for document, _ in answer.ranking] == ["d0", "d1", "d2", "d3", "d4"]
    assert asked_for == [5, 10, 20, 40, 80]
    asked_for.clear()
    [answer] = ask(open_system(search), [("q", "text")], 50, to_document=collapse_by("#"))
    assert len(answer.ranking) == 30
    assert answer.rolled == "short"
    assert asked_for == [50, 100, 200, 400]  # and then it has no more


def test_a_system_that_repeats_one_document_is_not_queried_forever():
    asked_for = []

    def search(query, k):
        asked_for.append(k)
        return [f"only#{n}" for n in range(k)]

    from cranfield.systems.asking import ask
    from cranfield.systems.collapse import collapse_by

    [answer] = ask(open_system(search), [("q", "text")], 10, to_document=collapse_by("#"))
    assert answer.rolled == "short"
    assert max(asked_for) == 640


def test_the_same_chunk_twice_is_an_error():
    twice = SimpleNamespace(page_content="part 1", id="c1", metadata={"source": "d1"})
    [answer] = ask_once([twice, twice])
    assert "document 'd1' appears twice" in answer.error


def ask_once(results):
    from cranfield.systems.asking import ask

    return list(ask(open_system(lambda query, k: results), [("q", "text")], 5))


def test_a_result_without_the_id_of_the_first_is_an_error():
    mixed = [SimpleNamespace(metadata={"source": "d1"}), SimpleNamespace(metadata={}, id="x")]
    [answer] = ask_once(mixed)
    assert "a result has no id at 'metadata.source', where the first one has it" in answer.error


def test_ids_that_do_not_match_the_judgments_are_an_error(store, tmp_path):
    project = Project(tmp_path / "cranfield.toml", "", {}, k=5)

    qrels = {query: {"d1": 1} for query in QUERIES}
    collection = Collection("mine", QUERIES, qrels)

    from contextlib import nullcontext

    from cranfield.measures import parse_measures
    from cranfield.systems.asking import Silent

    silent = lambda _: nullcontext(Silent())  # noqa: E731
    recorded, judged = asked(project, collection, store.as_retriever(), "", tmp_path / "x.run", silent)
    with pytest.raises(InputError, match=r"no judged document is retrieved for any of the 6 queries") as caught:
        measured(recorded, judged.judgments, parse_measures(["RR"]), project.policy)
    assert ".md', 'd" in caught.value.fact
    assert "judgments: 'd1'" in caught.value.fact
    assert "metadata.source" in caught.value.hint


def test_the_id_of_an_open_system_cannot_be_changed():
    system = open_system(lambda query, k: ["a"])
    with pytest.raises(InputError, match="it is already open"):
        open_system(system, id="metadata.source")


def test_settings_say_where_ids_are(tmp_path, monkeypatch):
    (tmp_path / "my_retriever.py").write_text(
        "class Retriever:\n    def search(self, query, k):\n        return [{'meta': {'page': 3}}]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    settings = {"type": "python", "object": "my_retriever:Retriever", "id": "meta.page"}
    assert open_system(settings).search("x", 5) == [("3", 1.0)]
    assert open_system("my_retriever:Retriever", id="meta.page").search("x", 5) == [("3", 1.0)]


def test_a_retriever_of_llama_index_is_not_modified(index, tmp_path):
    retriever = index.as_retriever()
    record(retriever, QUERIES, tmp_path / "llama.run", k=5)
    assert retriever.similarity_top_k == 2


def test_an_index_or_a_vector_store_is_queried_through_its_retriever(index, store, tmp_path):
    for kind, thing in (("llama", index), ("langchain", store)):
        recorded = record(thing, QUERIES, tmp_path / f"{kind}.run", k=6)
        assert (recorded.answered, recorded.short) == (6, 0)
        assert recorded.system == type(thing).__name__


def test_nodes_of_llama_index_without_scores(index):
    nodes = [found.node for found in index.as_retriever(similarity_top_k=3).retrieve("x")]
    returned = open_system(lambda query, k: nodes).answer("x", 3)
    assert returned.id_place == "ref_doc_id"
    without_document = [SimpleNamespace(node_id="n1"), SimpleNamespace(node_id="n2")]
    assert open_system(lambda query, k: without_document).search("x", 3) == [("n1", 2.0), ("n2", 1.0)]


def test_the_error_for_a_missing_id_lists_the_places_searched():
    [answer] = ask_once([SimpleNamespace(metadata={})])
    assert "metadata.source" in answer.error.partition("Hint")[0]
    assert "node_id" in answer.error.partition("Hint")[0]


async def slowly(query, k):
    return ["a"]


async def one_by_one(query, k):
    yield "a"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("search", [slowly, one_by_one])
def test_an_asynchronous_function_is_an_error_with_a_hint(search):
    from cranfield.systems.asking import ask

    [answer] = ask(open_system(search), [("q", "text")], 5)
    assert "asynchronous" in answer.error
    assert "asyncio.run(" in answer.error


@pytest.mark.parametrize("method", ["ainvoke", "aretrieve", "asearch"])
def test_an_object_with_only_asynchronous_methods_is_refused_with_a_hint(method):
    with pytest.raises(InputError, match=f"only asynchronously, with {method}") as caught:
        open_system(SimpleNamespace(**{method: slowly}))
    assert f"asyncio.run(retriever.{method}(query))" in caught.value.hint


def test_a_retriever_without_a_synchronous_method_is_an_error_with_a_hint():
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.retrievers import BaseRetriever

    class Awaited(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise NotImplementedError

        async def _aget_relevant_documents(self, query, *, run_manager):
            return []

    from cranfield.systems.asking import ask

    [answer] = ask(open_system(Awaited()), [("q", "text")], 5)
    assert "asyncio.run(retriever.ainvoke(query))" in answer.error
