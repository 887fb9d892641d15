"""A reranker gets the query and the first documents of a run, and what it makes of them is measured like any system."""

import numpy as np
import pytest

import cranfield
from cranfield import InputError, evaluate, rerank
from cranfield.ranks.run import open_run
from cranfield.systems.queries import columns_of
from tests.program import run

FIRST = {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0, "d4": 0.5}, "q2": {"d2": 2.0, "d1": 1.0}}
QUERIES = {"q1": "cats", "q2": {"text": "dogs", "language": "en"}}
TEXTS = {"d1": "dogs and dogs", "d2": "cats", "d3": "cats cats cats", "d4": "cats cats"}


def counting(query, documents):
    return [float(document.text.count(query)) for document in documents]


def ranking(recorded, query="q1"):
    scores = open_run(recorded).scores(cranfield.Policy())[query]
    return sorted(scores, key=scores.get, reverse=True)


def test_the_first_documents_are_reordered_and_the_others_stay_below():
    assert ranking(rerank(FIRST, counting, QUERIES, TEXTS)) == ["d3", "d4", "d2", "d1"]
    assert ranking(rerank(FIRST, counting, QUERIES, TEXTS, depth=3)) == ["d3", "d2", "d1", "d4"]
    assert ranking(rerank(FIRST, counting, QUERIES, TEXTS, depth=3), "q2") == ["d1", "d2"]
    same = rerank(FIRST, lambda query, documents: [0.0] * len(documents), QUERIES)
    assert ranking(same) == ["d1", "d2", "d3", "d4"]  # equal scores keep the order


def test_a_reranker_gets_columns_and_documents():
    got = []

    def keeping(query, documents):
        got.append((str(query), dict(columns_of(query)), [document.doc_id for document in documents]))
        return {document.doc_id: -place for place, document in enumerate(documents)}

    rerank(FIRST, keeping, QUERIES, TEXTS, depth=2)
    assert got == [("cats", {}, ["d1", "d2"]), ("dogs", {"language": "en"}, ["d2", "d1"])]


def test_queries_of_the_same_text_have_their_own_documents():
    first = {"a": {"d1": 1.0}, "b": {"d2": 1.0}}
    recorded = rerank(first, counting, {"a": "cats", "b": "cats"}, TEXTS)
    assert (ranking(recorded, "a"), ranking(recorded, "b")) == (["d1"], ["d2"])


class CrossEncoder:
    """As that of sentence-transformers: pairs in, an array of scores out."""

    def predict(self, pairs):
        return np.array([text.count(query) for query, text in pairs], np.float32)


def test_a_cross_encoder_as_it_is():
    assert ranking(rerank(FIRST, CrossEncoder(), QUERIES, TEXTS)) == ["d3", "d4", "d2", "d1"]
    pytest.importorskip("sentence_transformers")
    from sentence_transformers import CrossEncoder as Real

    assert callable(Real.predict)


def test_a_compressor_of_langchain_as_it_is():
    pytest.importorskip("langchain_core")
    from langchain_core.documents import BaseDocumentCompressor

    class Longest(BaseDocumentCompressor):
        def compress_documents(self, documents, query, callbacks=None):
            kept = [document for document in documents if query in document.page_content]
            return sorted(kept, key=lambda document: -len(document.page_content))

    assert ranking(rerank(FIRST, Longest(), QUERIES, TEXTS)) == ["d3", "d4", "d2", "d1"]


def test_a_postprocessor_of_llama_index_as_it_is():
    pytest.importorskip("llama_index.core")
    from llama_index.core.postprocessor.types import BaseNodePostprocessor

    class Longest(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes, query_bundle=None):
            return sorted(nodes, key=lambda node: -node.node.get_content().count(query_bundle.query_str))[:2]

    assert ranking(rerank(FIRST, Longest(), QUERIES, TEXTS)) == ["d3", "d4", "d1", "d2"]


def test_a_written_run_says_what_it_reranks(tmp_path):
    recorded = rerank(FIRST, counting, QUERIES, TEXTS, 3, path=tmp_path / "r.run", name="mine")
    assert recorded.name == "mine (reranks the run to depth 3)"
    assert open_run(tmp_path / "r.run").made.reranks == "reranks the run to depth 3"
    assert "|reranks-the-run-to-depth-3|" in evaluate({"q1": {"d3": 1}}, tmp_path / "r.run", "RR").signature
    assert recorded.latency["p50"] >= 0


@pytest.mark.parametrize(
    ("reranker", "problem"),
    [
        (lambda query, documents: [1.0], "returned 1 scores for 4 documents"),
        (lambda query, documents: ["x"] * len(documents), "'x', which is not a score"),
        (lambda query, documents: [float("nan")] * len(documents), "returned the score nan"),
        (lambda query, documents: {"d9": 1.0}, "a score for d9, which it was not given"),
        (lambda query, documents: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_failure_is_told_and_its_query_is_not_in_the_run(reranker, problem):
    recorded = rerank(FIRST, reranker, {"q1": "cats"}, TEXTS, retries=0)
    assert problem in recorded.failed["q1"]
    assert not recorded.answered


def test_a_query_that_the_first_run_lacks_has_no_documents():
    recorded = rerank(FIRST, counting, {**QUERIES, "q3": "birds"}, TEXTS)
    assert not recorded.failed
    assert recorded.empty == ("q3",)
    with pytest.raises(InputError, match="it has none of these queries"):
        rerank(FIRST, counting, {"q3": "birds"}, TEXTS)


def test_a_reranked_run_is_as_tuned_as_its_first_stage():
    tuned = cranfield.tune("builtin", ["builtin:plain", "builtin:tuned"], methods="combsum").run(name="mixed")
    queries = cranfield.open_collection("builtin").judged_queries()
    reranked = rerank(tuned, lambda query, documents: [0.0] * len(documents), queries, depth=5, name="same")
    compared = cranfield.compare("builtin", {"plain": "builtin:plain", "same": reranked})
    [doubt] = [doubt for doubt in compared.doubts if doubt.kind == "tuned-here"]
    assert doubt.sentence.startswith("same is made of mixed, the best of 22 settings on 60 of 60 queries compared here")


def test_wordllama_reranks():
    pytest.importorskip("wordllama", reason="wordllama is not installed")
    assert ranking(rerank(FIRST, "wordllama", QUERIES, TEXTS))[-1] == "d1"  # dogs, where cats were asked for
    recorded = rerank(FIRST, "wordllama", {"q1": " ", "q2": "dogs"}, TEXTS)
    assert ranking(recorded) == ["d1", "d2", "d3", "d4"]  # nothing is asked, and the order is kept
    assert ranking(recorded, "q2") == ["d1", "d2"]
    with pytest.raises(InputError, match="this is not a reranker") as error:
        rerank(FIRST, "wordlama", QUERIES, TEXTS)
    assert "wordllama" in error.value.hint


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="1 of 4 documents to rerank have no text: d4"):
        rerank(FIRST, counting, QUERIES, {name: text for name, text in TEXTS.items() if name != "d4"})
    with pytest.raises(InputError, match="cannot rerank"):
        rerank(FIRST, object(), QUERIES)
    with pytest.raises(InputError, match="is not a number of documents"):
        rerank(FIRST, counting, QUERIES, depth=0)


def test_another_first_run_is_not_resumed(tmp_path):
    rerank(FIRST, counting, QUERIES, TEXTS, path=tmp_path / "r.run", name="mine")
    again = rerank(FIRST, counting, QUERIES, TEXTS, path=tmp_path / "r.run", name="mine", resume=True)
    assert again.answered == 2
    other = {query: dict(reversed(its.items())) for query, its in FIRST.items()}
    other["q1"] = {"d3": 2.0, "d1": 1.0}
    with pytest.raises(cranfield.OutputError, match="made in a different way"):
        rerank(other, counting, QUERIES, TEXTS, path=tmp_path / "r.run", name="mine", resume=True)


def test_the_ideal_order_is_the_best_of_all(tmp_path):
    from itertools import permutations

    chance = np.random.default_rng(2)
    for _ in range(20):
        grades = {f"d{at}": int(chance.integers(-1, 3)) for at in range(5)}
        qrels, run = {"q": {**grades, "z": 2}}, {"q": ["d0", "x", "d1", "d2", "d3", "d4"]}
        for measure in ("nDCG@3", "AP", "RR"):
            best = max(
                evaluate(qrels, {"q": [*order, *run["q"][4:]]}, measure)[measure]
                for order in permutations(run["q"][:4])
            )
            assert cranfield.headroom(qrels, run, measure, depth=4).ideal == pytest.approx(best)


def test_a_run_is_reranked_on_the_command_line(tmp_path):
    from tests.program import run

    (tmp_path / "mine.py").write_text("def shorter(query, documents):\n    return [-len(d.text) for d in documents]\n")
    done = run(
        "run", "mine:shorter", "builtin", "--rerank", "builtin:plain", "--depth", "10", "-o", "r.run", cwd=tmp_path
    )
    shown = " ".join(done.stdout.split())
    assert "r.run: 60 of 60 queries answered by shorter (reranks plain to depth 10)" in shown, done.stderr
    assert "Before: nDCG@10 0.4346, and 0." in shown
    assert "so nothing is gained" in shown
    assert "1 query returned no documents: q52" in shown
    assert done.returncode == 0


def test_every_depth_says_what_is_gained_and_where_it_hurts():
    qrels = {"q1": {"d3": 2, "d1": 1}, "q2": {"d2": 1}}
    found = cranfield.rerank_by_depth(qrels, FIRST, counting, QUERIES, TEXTS, [3, 1, 3], "nDCG@2")
    assert [its.depth for its in found] == [1, 3]
    before = evaluate(qrels, FIRST, "nDCG@2")
    for its in found:
        recorded = rerank(FIRST, counting, QUERIES, TEXTS, depth=its.depth)
        after = evaluate(qrels, recorded, "nDCG@2")
        assert (its.before, its.value) == pytest.approx((before["nDCG@2"], after["nDCG@2"]))
        assert its.ideal == pytest.approx(cranfield.headroom(qrels, FIRST, "nDCG@2", its.depth).ideal)
        gaps = dict(zip(after.query_ids, after.column("nDCG@2") - before.column("nDCG@2"), strict=True))
        assert dict(its.helped) == pytest.approx({query: gap for query, gap in gaps.items() if gap > 0}, abs=1e-4)
        assert dict(its.hurt) == pytest.approx({query: gap for query, gap in gaps.items() if gap < 0}, abs=1e-4)
        assert 0 < its.latency["p50"] <= its.latency["max"]
    with pytest.raises(InputError, match="no depth is given"):
        cranfield.rerank_by_depth(qrels, FIRST, counting, QUERIES, TEXTS, [])


def test_a_query_that_fails_counts_as_it_was():
    def failing(query, documents):
        if str(query) == "dogs":
            raise ValueError
        return counting(query, documents)

    [at] = cranfield.rerank_by_depth({"q1": {"d3": 1}, "q2": {"d2": 1}}, FIRST, failing, QUERIES, TEXTS, [2], "RR")
    assert at.failed == 1
    assert "q2" not in dict((*at.helped, *at.hurt))


def test_depths_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lengths.py").write_text("def short(query, documents): return [-len(d.text) for d in documents]\n")
    command = "run", "lengths:short", "builtin", "--rerank", "builtin:plain", "--depths", "5,20", "-o", "short.run"
    lines = run(*command).stdout.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("depth"))
    assert lines[start].split() == ["depth", "nDCG@10", "ideal", "gained", "helped", "hurt", "p50", "p95"]
    assert [line.split()[0] for line in lines[start + 1 : start + 3]] == ["5", "20"]
    assert max(map(len, lines)) <= 80
    assert "--depths needs --rerank" in run("run", "sqlite", "builtin", "--depths", "5", "-o", "x.run").stderr
