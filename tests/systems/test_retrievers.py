"""Retrievers of LangChain and LlamaIndex as systems, without a wrapper: ids are found where the libraries keep them."""

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest

from cranfield import (
    InputError,
    Query,
    collapse_run,
    compare,
    evaluate,
    evaluate_runs,
    gate,
    open_system,
    record,
    write_report,
)
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
    recorded = record(store.as_retriever(), QUERIES, tmp_path / "langchain.run", k=6, deepen=True)
    assert recorded.id_places == ("metadata.source",)
    assert (recorded.rolled_up, recorded.short_of_chunks, recorded.short) == (6, 0, 0)
    lines = "\n".join(recorded_lines(recorded))
    assert "the id of a document is its metadata.source" in lines
    assert "6 queries: chunks of one document count once, at the place of the first" in lines
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
    recorded = record(retriever, QUERIES, tmp_path / "llama.run", k=5, deepen=True)
    assert recorded.id_places == ("node.ref_doc_id",)
    assert (recorded.rolled_up, recorded.short) == (6, 0)
    found = {line.split()[2] for line in (tmp_path / "llama.run").read_text().splitlines()}
    assert found <= {f"d{number}" for number in range(6)}
    assert len(found) >= 5


def test_a_retriever_that_returns_too_few_chunks_is_reported(tmp_path):
    chunks = [SimpleNamespace(page_content=f"part {n}", metadata={"source": f"d{n // 2}"}) for n in range(4)]
    fixed = SimpleNamespace(invoke=lambda query: chunks)
    recorded = record(fixed, QUERIES, tmp_path / "fixed.run", k=10, deepen=True)
    assert (recorded.rolled_up, recorded.short_of_chunks, recorded.short) == (6, 6, 6)
    assert "6 queries: the system returned too few chunks for 10 documents" in "\n".join(recorded_lines(recorded))


def test_more_chunks_are_requested_until_there_are_enough_documents():
    asked_for = []

    def search(query, k):
        asked_for.append(k)
        return [f"d{n // 10}#{n}" for n in range(min(k, 300))]

    from cranfield.systems.asking import ask
    from cranfield.systems.collapse import collapse_by

    [answer] = ask(open_system(search), [("q", "text")], 5, to_document=collapse_by("#"), deepen=True)
    assert [document for document, _ in answer.ranking] == ["d0", "d1", "d2", "d3", "d4"]
    assert asked_for == [5, 10, 20, 40, 80]
    asked_for.clear()
    [answer] = ask(open_system(search), [("q", "text")], 50, to_document=collapse_by("#"), deepen=True)
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

    [answer] = ask(open_system(search), [("q", "text")], 10, to_document=collapse_by("#"), deepen=True)
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
        measured(recorded, judged.judgments, parse_measures(["RR"]), project)
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
        recorded = record(thing, QUERIES, tmp_path / f"{kind}.run", k=6, deepen=True)
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
def test_what_has_to_be_awaited_is(search):
    assert record(search, QUERIES)._rankings == {query: {"a": 1.0} for query in QUERIES}


@pytest.mark.parametrize("method", ["ainvoke", "aretrieve", "asearch"])
def test_an_object_with_only_asynchronous_methods_is_asked_by_these(method):
    async def ask(query):
        return [query[-1]]

    recorded = record(SimpleNamespace(**{method: ask}), QUERIES, jobs=3)
    assert recorded._rankings == {query: {query[-1]: 1.0} for query in QUERIES}


def test_a_retriever_that_implements_only_its_asynchronous_method():
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever

    class Awaited(BaseRetriever):
        def _get_relevant_documents(self, query, *, run_manager):
            raise NotImplementedError

        async def _aget_relevant_documents(self, query, *, run_manager):
            return [Document(page_content="text", metadata={"source": "a"})]

    assert record(Awaited(), QUERIES)._rankings == {query: {"a": 1.0} for query in QUERIES}


def test_one_event_loop_serves_a_recording_also_within_a_running_one():
    loops = set()

    async def search(query):
        await asyncio.sleep(0)
        loops.add(asyncio.get_running_loop())
        return ["a"]

    async def notebook():  # where asyncio.run() is refused
        record(search, QUERIES, jobs=2)
        return asyncio.get_running_loop()

    own = asyncio.run(notebook())
    assert len(loops) == 1
    assert own not in loops


def test_a_client_of_another_loop_is_refused_at_the_first_query():
    asked = []

    async def notebook():
        future = asyncio.get_running_loop().create_future()

        async def search(query):
            asked.append(query)
            await future

        return record(search, QUERIES)

    recorded = asyncio.run(notebook())
    assert len(asked) == 1
    assert "belongs to another event loop" in recorded.gave_up
    assert "make the client inside of the function" in repr(recorded.failed)


def test_a_function_fails_at_its_deadline():
    release = threading.Event()

    def search(query):
        if query.endswith("3"):
            release.wait(20)
        return ["a"]

    async def slow(query):
        if query.endswith("3"):
            await asyncio.sleep(20)
        return ["a"]

    for function in (search, slow):
        recorded = record(function, QUERIES, timeout=0.2)
        assert recorded.answered == 5
        assert recorded.failed == {"q3": "no answer within 0.2 seconds; the call may still be running."}
    release.set()


def chunks(*documents):
    return [
        SimpleNamespace(page_content=f"text {at}", metadata={"source": document})
        for at, document in enumerate(documents)
    ]


def test_a_system_is_asked_once_and_measured_as_it_is():
    asked = []

    class Retriever:
        search_kwargs = {"k": 4}  # noqa: RUF012
        _expects_other_args = True

        def invoke(self, query, k=4):
            asked.append(k)
            return chunks(*"aabacdef")[:k]

    recorded = record(Retriever(), {"1": "x"}, name="faiss")
    assert asked == [4]
    assert list(recorded._rankings["1"]) == ["a", "b"]  # the others close up
    assert recorded.made.size == {"documents": 2, "chunks": 4, "characters": 24, "words": 8}
    assert (recorded.name, recorded.k, recorded.rolled_up, recorded.reasked) == ("faiss", None, 1, 0)
    assert "with 2 documents each" in repr(recorded)
    more = record(Retriever(), {"1": "x"}, name="faiss", k=6)
    assert (more.name, list(more._rankings["1"])) == ("faiss (k=6)", ["a", "b", "c", "d"])
    asked.clear()
    deep = record(Retriever(), {"1": "x"}, name="faiss", k=5, deepen=True)
    assert asked == [5, 10]
    assert (deep.name, deep.reasked, len(deep._rankings["1"])) == ("faiss (k=5, deepened)", 1, 5)
    with pytest.raises(InputError, match="to how many documents is not said"):
        record(Retriever(), {"1": "x"}, deepen=True)


def test_k_is_the_functions_own_unless_it_needs_one():
    def own(query, k=3):
        return [f"d{n}" for n in range(k)]

    def needed(query, k):
        return own(query, k)

    def other_name(query, results=2):
        return own(query, results)

    def documents(function, **options):
        recorded = record(function, {"1": "x"}, **options)
        return recorded.made.size["documents"], recorded.made.k

    assert documents(own) == (3, None)
    assert documents(own, k=7) == (7, 7)
    assert documents(needed) == (100, 100)
    assert documents(other_name) == (2, None)
    assert documents(other_name, k=4) == (4, 4)
    assert documents(lambda query: own(query)) == (3, None)
    assert documents(lambda query: own(query), k=2) == (2, 2)  # the rest is cut off


def test_latency_is_that_of_one_exchange():
    def search(query, k):
        time.sleep(0.02)
        return chunks(*"aaaaaaaabcdefghij")[:k]

    recorded = record(search, {"1": "x"}, k=4, deepen=True)
    assert recorded.reasked == 2
    assert recorded.latency["max"] < 0.04


def test_cost_is_the_third_value_of_a_function():
    recorded = record(lambda query: (["a", "b"], [2.0, 1.0], 0.5 if query == "x" else 1.5), {"1": "x", "2": "y"})
    assert recorded.cost == {"mean": 1.0, "total": 2.0}
    assert recorded.by_query["cost"] == [0.5, 1.5]
    assert recorded._rankings["1"] == {"a": 2.0, "b": 1.0}
    wrong = record(lambda query: (["a"], [1.0, 2.0], 3), {"1": "x"})
    assert "they are not results, scores and a cost" in wrong.failed["1"]


def test_columns_of_a_query_are_parameters():
    seen = []

    def search(query, k=2, *, language, user="nobody"):
        seen.append((query, language, user))
        return ["a"]

    rows = {"1": {"text": "shoes", "language": "en", "count": 7}, "2": Query("schuhe", language="de", user="u2")}
    assert record(search, rows).complete
    assert seen == [("shoes", "en", "nobody"), ("schuhe", "de", "u2")]
    refused = record(search, {"1": "shoes", "2": "boots"})
    assert refused.gave_up
    assert "the function needs 'language', which the query has no column for" in refused.failed["1"]
    everything = []
    record(lambda query, **columns: everything.append(columns) or ["a"], {"1": rows["1"]})
    assert everything == [{"language": "en", "count": 7}]
    by_place = []
    record(lambda query, language: by_place.append(language) or ["a"], {"1": rows["1"]}, k=3)
    assert by_place == ["en"]


def test_tokens_are_counted_where_a_function_counts_them():
    recorded = record(lambda query: chunks("a", "b"), {"1": "x"}, tokens=lambda text: text.split("e"))
    assert recorded.made.size["tokens"] == 4


def test_a_recording_says_what_went_wrong_wherever_it_is_used():
    def broken(query):
        raise ConnectionRefusedError("nobody listens")

    recorded = record(broken, QUERIES, retries=0, name="shop")
    assert "0 of 6 queries answered; 6 queries failed (q0: ConnectionRefusedError: nobody listens)" in repr(recorded)
    with pytest.raises(InputError, match=r"shop: no query was answered: .*nobody listens"):
        evaluate({"q1": {"a": 1}}, recorded)
    assert "nobody listens" in recorded._repr_html_()


def test_what_looks_deeper_than_what_came_back_is_said():
    recorded = record(lambda query: ["a", "b"], QUERIES, name="two")
    qrels = {query: {"a": 1, "b": 1, "c": 1} for query in QUERIES}
    result = evaluate(qrels, recorded, "P@1 R@100 AP RR@2")
    assert result.warnings == ("R@100 and AP look deeper than what came back: at most 2 documents for a query",)
    assert "k:" not in result.signature
    chosen = evaluate(qrels, record(lambda query, k: ["a", "b"], QUERIES, k=9), "P@1")
    assert "|k:9|" in chosen.signature


def test_a_system_that_has_no_more_documents_is_not_said_to_be_cut_off():
    qrels = {query: {"a": 1, "b": 1, "c": 1} for query in QUERIES}

    def matches(query, k):
        return ["a", "b", "c"][: 1 + int(query[-1]) % 3]

    def cut_off(query, k):
        return ["a", "b"]

    def warnings(function, k):
        return evaluate(qrels, record(function, QUERIES, k=k), "R@10").warnings

    assert warnings(matches, 10) == ()
    assert warnings(matches, 3) == warnings(lambda query: matches(query, 3), None)
    assert warnings(matches, 3) == ("R@10 looks deeper than what came back: at most 3 documents for a query",)
    assert warnings(cut_off, 10) == ("R@10 looks deeper than what came back: at most 2 documents for a query",)


def test_runs_made_differently_are_compared_with_that_said_first(tmp_path):
    qrels = {query: {"a": 1} for query in QUERIES}

    def search(query, k=1):
        return chunks("a", "b")[:k]

    plain = record(search, QUERIES, tmp_path / "plain.run", name="plain")
    more = record(search, QUERIES, tmp_path / "more.run", k=2)
    for runs in ([plain, more], [tmp_path / "plain.run", tmp_path / "more.run"]):
        doubts = {doubt.kind: doubt.sentence for doubt in compare(qrels, runs, "RR").doubts}
        assert "was asked for 2 results, plain with its own settings" in doubts["asked"]
        assert "returns 2.0 × the text of plain (12 and 6 characters for a query), which matters" in doubts["text"]
    saved = evaluate(qrels, more, "RR")
    saved.save(tmp_path / "more.json")
    again = compare(None, [evaluate(qrels, plain, "RR"), tmp_path / "more.json"], "RR")
    assert "asked" in [doubt.kind for doubt in again.doubts]
    (tmp_path / "more.run").write_text((tmp_path / "plain.run").read_text())  # no longer what was recorded
    assert not [
        doubt
        for doubt in compare(qrels, [tmp_path / "plain.run", tmp_path / "more.run"]).doubts
        if doubt.kind == "asked"
    ]


def test_a_recording_is_a_run_wherever_one_is_taken(tmp_path):
    qrels = {query: {"a": 1} for query in QUERIES}
    good, bad = (record(lambda query, ids=ids: list(ids), QUERIES, name=ids) for ids in ("ab", "ba"))
    assert [result["RR"] for result in evaluate_runs(qrels, [good, bad], "RR").values()] == [1.0, 0.5]
    assert list(compare(qrels, [good, bad], "RR").runs) == ["ab", "ba"]
    assert not gate(qrels, good, bad, "RR").passed
    write_report(qrels, [good, bad], tmp_path / "report.html", "RR")
    assert (tmp_path / "report.html").stat().st_size > 1000
    assert collapse_run(good, "#")["q1"] == {"a": 2.0, "b": 1.0}
