"""What the guide to RAG retrievers promises: a recording is what invoke() returns; unequal runs are told of."""

import asyncio

import pytest

from cranfield import compare, evaluate, record

QUERIES = {f"q{n}": f"part {n} of document {n % 7}" for n in range(12)}
RELEVANT = {query: {f"d{n}.md", f"d{n + 5}.md"} for n, query in enumerate(QUERIES)}


@pytest.fixture
def texts():
    """Ten chunks of each of twelve documents, as LangChain has them."""
    documents = pytest.importorskip("langchain_core.documents", reason="langchain-core is not installed")

    def cut(words):
        whole = {f"d{n}.md": [f"w{n * at % 89}" for at in range(60)] for n in range(12)}
        return [
            documents.Document(" ".join(all_words[at : at + words]), metadata={"source": source})
            for source, all_words in whole.items()
            for at in range(0, len(all_words), words)
        ]

    return cut


@pytest.fixture
def dense(texts):
    """A retriever of a vector store with its own number of chunks, which can be asked for more."""
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.vectorstores import InMemoryVectorStore

    def retriever(k, words=6):
        store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
        store.add_documents(texts(words))
        return store.as_retriever(search_kwargs={"k": k})

    return retriever


@pytest.fixture
def fixed(texts):
    """A retriever like LangChain's BM25Retriever: its k is a field, and `invoke` takes none."""
    from langchain_core.retrievers import BaseRetriever

    chunks = texts(6)

    class Fixed(BaseRetriever):
        k: int = 4

        def _get_relevant_documents(self, query, *, run_manager):
            at = sum(map(ord, query)) % len(chunks)
            return (chunks + chunks)[at : at + 3 * self.k : 3]  # some are of the same document

    return Fixed()


def invoked(retriever):
    """The documents that `invoke` returns, each once."""
    return {
        query: list(dict.fromkeys(chunk.metadata["source"] for chunk in retriever.invoke(text)))
        for query, text in QUERIES.items()
    }


def rankings(recorded):
    return {query: sorted(scores, key=scores.get, reverse=True) for query, scores in recorded._rankings.items()}


def test_a_recording_is_what_invoke_returns(dense, fixed):
    for retriever in (dense(4), dense(9), fixed):
        expected = invoked(retriever)
        recorded = record(retriever, QUERIES)
        assert rankings(recorded) == expected
        assert recorded.made.choices == ""
        hits = sum(bool(RELEVANT[query] & set(ids[:5])) for query, ids in expected.items())
        assert evaluate(RELEVANT, recorded, "hit_rate@5")["hit_rate@5"] == pytest.approx(hits / len(QUERIES))
    assert max(map(len, invoked(fixed).values())) > min(map(len, invoked(fixed).values()))  # some chunks rolled up


def test_a_recording_is_what_retrieve_returns():
    core = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    nodes = pytest.importorskip("llama_index.core.schema")
    chunks = [
        nodes.TextNode(
            id_=f"d{n} {part}",
            text=f"part {part}",
            relationships={nodes.NodeRelationship.SOURCE: nodes.RelatedNodeInfo(node_id=f"d{n}")},
        )
        for n in range(6)
        for part in range(3)
    ]
    index = core.VectorStoreIndex(chunks, embed_model=core.MockEmbedding(embed_dim=4))
    retriever = index.as_retriever(similarity_top_k=5)
    expected = {
        query: list(dict.fromkeys(found.node.ref_doc_id for found in retriever.retrieve(text)))
        for query, text in QUERIES.items()
    }
    assert rankings(record(retriever, QUERIES)) == expected


def test_a_notebook_gets_the_same(dense, fixed):
    async def notebook():
        return [rankings(record(retriever, QUERIES, jobs=2)) for retriever in (dense(4), fixed)]

    assert asyncio.run(notebook()) == [invoked(dense(4)), invoked(fixed)]


def test_another_k_is_in_the_name_and_the_signature(dense):
    plain, more = record(dense(4), QUERIES, name="faiss"), record(dense(4), QUERIES, k=10, name="faiss")
    assert (plain.name, more.name) == ("faiss", "faiss (k=10)")
    signatures = [evaluate(RELEVANT, run, "RR").signature for run in (plain, more)]
    assert ["|k:10|" in signature for signature in signatures] == [False, True]


@pytest.mark.parametrize("measure", ["nDCG@10", "R@4", "Success@1", "RR"])
@pytest.mark.parametrize("asked", [{}, {"k": 10}, {"k": 10, "deepen": True}])
def test_a_deepened_retriever_beside_one_that_cannot_be_is_told(dense, fixed, measure, asked):
    deep = record(dense(4), QUERIES, k=10, deepen=True, name="faiss")
    found = compare(RELEVANT, [deep, record(fixed, QUERIES, name="bm25", **asked)], measure)
    kinds = {doubt.kind for doubt in found.doubts}
    assert kinds & {"asked", "depth"}, found.warnings
    if asked.get("deepen"):
        [told] = [doubt.sentence for doubt in found.doubts if doubt.kind == "asked"]
        assert told.startswith("both were asked for 10 documents, but bm25 (k=10, deepened) returns ")
        assert told.endswith(", faiss (k=10, deepened) 10.0")


def test_equally_deepened_retrievers_are_compared_without_a_word(dense):
    runs = [record(dense(k), QUERIES, k=10, deepen=True, name=f"own {k}") for k in (4, 7)]
    assert [doubt.kind for doubt in compare(RELEVANT, runs, "R@4").doubts if doubt.kind != "few-queries"] == []


def test_large_chunks_beside_small_ones_are_told(dense):
    small, large = record(dense(4), QUERIES, name="small"), record(dense(4, words=20), QUERIES, name="large")
    times = large.made.size["characters"] / small.made.size["characters"]
    assert times > 3
    [told] = [doubt.sentence for doubt in compare(RELEVANT, [small, large], "R@4").doubts if doubt.kind == "text"]
    assert f"large returns {times:.1f} × the text of small" in told
